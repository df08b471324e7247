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

void fill(const rtune_support_fill_args &a) {
    const size_t size = rtune_support_bits(a.dtype) / 8;
    unsigned char *out = static_cast<unsigned char *>(a.out);
    for (rtune_s_u64 i = 0; i < a.n; i++) {
        const rtune_s_u64 x = rtune_support_element(a.dtype, a.data, a.seed, a.first + i);
        std::memcpy(out + i * size, &x, size); /* little-endian: the low bytes are the element */
    }
}

/* Counting goes on from what the words hold. */
void reference(const rtune_support_reference_args &a) {
    const rtune_support_recipe recipe = {a.dtype, a.data, a.fold};
    for (rtune_s_u64 i = 0; i < a.n; i++)
        rtune_support_count(a.words, recipe, a.seed, a.first + i, a.first + i);
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

void fake_support_describe(fake_support_kind kind, const void *params, fake_support_call *call) {
    *call = fake_support_call{nullptr, 0, nullptr, 0, 0};
    if (kind == FAKE_SUPPORT_FILL) {
        const auto a = read<rtune_support_fill_args>(params);
        call->out = a.out;
        call->out_bytes = a.n * (rtune_support_bits(a.dtype) / 8);
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

void fake_support_do(fake_support_kind kind, const void *params) {
    if (kind == FAKE_SUPPORT_FILL) fill(read<rtune_support_fill_args>(params));
    if (kind == FAKE_SUPPORT_REFERENCE) reference(read<rtune_support_reference_args>(params));
}
