// SPDX-License-Identifier: Apache-2.0
/*
 * tests/fake/fake_generator.cpp: compiles the generator of kernels/device/support.cuh for the host
 * and loops over it as its kernels do.
 */
#include "tests/fake/fake_generator.h"

#include "kernels/device/support.cuh"

#include <cstring>

namespace {

template <class A> A read(const void *params) {
    A args;
    std::memcpy(&args, params, sizeof args);
    return args;
}

template <class D> void fill(const rtune_support_fill_args &a) {
    typename D::type *out = static_cast<typename D::type *>(a.out);
    for (rtune_s_u64 i = 0; i < a.n; i++)
        out[i] = rtune_support_value<D>(a.data, a.seed, a.first + i);
}

template <class D> void reference(const rtune_support_reference_args &a) {
    rtune_support_words words = {{a.data == 4 ? ~0ull : 0ull, 0, 0, 0, 0, 0, 0, 0}};
    for (rtune_s_u64 i = 0; i < a.n; i++)
        rtune_support_count<D>(&words, a.data, a.seed, a.first + i);
    if (a.data == 4) {
        if (words.word[0] < a.words[0]) a.words[0] = words.word[0];
        if (words.word[1] > a.words[1]) a.words[1] = words.word[1];
        return;
    }
    for (int j = 0; j < 8; j++)
        a.words[j] += words.word[j];
}

template <class D> void run(fake_support_kind kind, const void *params) {
    if (kind == FAKE_SUPPORT_FILL) fill<D>(read<rtune_support_fill_args>(params));
    if (kind == FAKE_SUPPORT_REFERENCE) reference<D>(read<rtune_support_reference_args>(params));
}

} // namespace

size_t fake_support_param_bytes(fake_support_kind kind) {
    switch (kind) {
    case FAKE_SUPPORT_FILL:
        return sizeof(rtune_support_fill_args);
    case FAKE_SUPPORT_REFERENCE:
        return sizeof(rtune_support_reference_args);
    case FAKE_SUPPORT_READ:
        return sizeof(rtune_support_read_args);
    case FAKE_SUPPORT_SPIN:
        return sizeof(rtune_support_spin_args);
    case FAKE_SUPPORT_EMPTY:
        return sizeof(rtune_support_empty_args);
    }
    return 0;
}

void fake_support_describe(fake_support_kind kind, fake_support_dtype dtype, const void *params,
                           fake_support_call *call) {
    *call = fake_support_call{nullptr, 0, nullptr, 0, 0};
    if (kind == FAKE_SUPPORT_FILL) {
        const auto a = read<rtune_support_fill_args>(params);
        call->out = a.out;
        call->out_bytes = a.n * (dtype == FAKE_SUPPORT_F64 || dtype == FAKE_SUPPORT_I64 ? 8 : 4);
    } else if (kind == FAKE_SUPPORT_REFERENCE) {
        const auto a = read<rtune_support_reference_args>(params);
        call->out = a.words;
        call->out_bytes = 8 * sizeof *a.words;
    } else if (kind == FAKE_SUPPORT_READ) {
        const auto a = read<rtune_support_read_args>(params);
        call->in = a.in;
        call->in_bytes = a.bytes;
    } else if (kind == FAKE_SUPPORT_SPIN) {
        call->turns = read<rtune_support_spin_args>(params).turns;
    }
}

void fake_support_do(fake_support_kind kind, fake_support_dtype dtype, const void *params) {
    switch (dtype) {
    case FAKE_SUPPORT_F32:
        return run<rtune_support_f32>(kind, params);
    case FAKE_SUPPORT_F64:
        return run<rtune_support_f64>(kind, params);
    case FAKE_SUPPORT_I32:
        return run<rtune_support_i32>(kind, params);
    case FAKE_SUPPORT_I64:
        return run<rtune_support_i64>(kind, params);
    case FAKE_SUPPORT_NO_DTYPE:
        return;
    }
}
