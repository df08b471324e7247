// SPDX-License-Identifier: Apache-2.0
/* tests/tuner/support_host.cpp: the device's own text of the generator, behind a C interface. */
#include "tests/tuner/support_host.h"

#include "kernels/device/support.cuh"

#include <cstring>

template <class D> static uint64_t element(uint32_t data, uint64_t seed, uint64_t i) {
    typename D::type value = rtune_support_value<D>(data, seed, i);
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class D> static void count(uint32_t data, uint64_t seed, uint64_t i, uint64_t words[8]) {
    rtune_support_words w;
    for (int k = 0; k < 8; k++)
        w.word[k] = words[k];
    rtune_support_count<D>(&w, data, seed, i);
    for (int k = 0; k < 8; k++)
        words[k] = w.word[k];
}

uint64_t support_element(enum support_dtype dtype, uint32_t data, uint64_t seed, uint64_t i) {
    switch (dtype) {
    case SUPPORT_F32:
        return element<rtune_support_f32>(data, seed, i);
    case SUPPORT_F64:
        return element<rtune_support_f64>(data, seed, i);
    case SUPPORT_I32:
        return element<rtune_support_i32>(data, seed, i);
    default:
        return element<rtune_support_i64>(data, seed, i);
    }
}

void support_count(enum support_dtype dtype, uint32_t data, uint64_t seed, uint64_t i,
                   uint64_t words[8]) {
    switch (dtype) {
    case SUPPORT_F32:
        count<rtune_support_f32>(data, seed, i, words);
        break;
    case SUPPORT_F64:
        count<rtune_support_f64>(data, seed, i, words);
        break;
    case SUPPORT_I32:
        count<rtune_support_i32>(data, seed, i, words);
        break;
    default:
        count<rtune_support_i64>(data, seed, i, words);
        break;
    }
}
