/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.cpp: exact data and exact results. Floats are whole numbers or powers of two, summed as
 * integers and multiplied as exponents; extremes are compared by their bits; integers wrap as bits.
 */
#include "tests/kernels/emu/harness.h"

#include "base/rng.h"

#include <cmath>
#include <cstdlib>

namespace rtune_emu {
namespace {

/* ---- element access by dtype ----------------------------------------------------------------- */

uint64_t element_bits(rtune_dtype dtype, const void *data, size_t i) {
    uint64_t bits = 0;
    const size_t size = rtune_dtype_size(dtype);
    memcpy(&bits, static_cast<const char *>(data) + i * size, size);
    return bits;
}
void set_bits(rtune_dtype dtype, void *data, size_t i, uint64_t bits) {
    const size_t size = rtune_dtype_size(dtype);
    memcpy(static_cast<char *>(data) + i * size, &bits, size);
}
double float_of(rtune_dtype dtype, uint64_t bits) {
    float single;
    double full;
    memcpy(&single, &bits, sizeof single);
    memcpy(&full, &bits, sizeof full);
    return dtype == RTUNE_F32 ? double(single) : full;
}
uint64_t float_bits(rtune_dtype dtype, double value) {
    return dtype == RTUNE_F32 ? bits_of(float(value)) : bits_of(value);
}
uint64_t mask_of(rtune_dtype dtype) { return ~uint64_t(0) >> (64 - 8 * rtune_dtype_size(dtype)); }
bool is_float(rtune_dtype dtype) { return rtune_dtype_info(dtype)->is_float; }
uint64_t sign_bit(rtune_dtype dtype) { return (mask_of(dtype) >> 1) + 1; }

/* An integer's bits, extended to 64 by its sign. */
uint64_t extended(rtune_dtype dtype, uint64_t bits) {
    const bool negative = rtune_dtype_info(dtype)->is_signed && (bits & sign_bit(dtype));
    return negative ? bits | ~mask_of(dtype) : bits;
}
/* A key that orders all values of a dtype but NaN as unsigned numbers; -0 below +0. */
uint64_t order_key(rtune_dtype dtype, uint64_t bits) {
    const uint64_t sign = sign_bit(dtype);
    if (!rtune_dtype_info(dtype)->is_signed) return bits;
    if (!is_float(dtype)) return bits ^ sign;
    return bits & sign ? ~bits & mask_of(dtype) : bits | sign;
}
bool is_nan(rtune_dtype dtype, uint64_t bits) {
    return is_float(dtype) && std::isnan(float_of(dtype, bits));
}
uint64_t canonical_nan(rtune_dtype dtype) {
    return dtype == RTUNE_F32 ? 0x7fc00000u : 0x7ff8000000000000u;
}

/* ---- running results ------------------------------------------------------------------------- */

/* The result so far, in a form that no order of operations can change. */
struct state {
    bool empty;
    int64_t sum;   /* of whole floats */
    int exponent;  /* of a product of powers of two */
    bool negative; /* sign of that product */
    uint64_t word; /* integers: wrapped; extremes: the bits */
};

void add_extreme(const rtune_problem &p, state *s, uint64_t bits) {
    const rtune_dtype dtype = p.dtype;
    if (s->empty) {
        s->word = is_nan(dtype, bits) ? canonical_nan(dtype) : bits;
        return;
    }
    if (is_nan(dtype, s->word) || is_nan(dtype, bits)) {
        if (p.nan_rule == RTUNE_NAN_PROPAGATE)
            s->word = canonical_nan(dtype);
        else if (!is_nan(dtype, bits))
            s->word = bits;
        return;
    }
    const bool above = order_key(dtype, bits) > order_key(dtype, s->word);
    if (above == (p.op == RTUNE_MAX)) s->word = bits;
}

void add_element(const rtune_problem &p, state *s, uint64_t bits) {
    int exponent = 0;
    switch (p.op) {
    case RTUNE_SUM:
        if (is_float(p.dtype))
            s->sum += int64_t(float_of(p.dtype, bits));
        else
            s->word += extended(p.dtype, bits);
        break;
    case RTUNE_PROD:
        if (is_float(p.dtype)) {
            const double fraction = frexp(float_of(p.dtype, bits), &exponent);
            if (fabs(fraction) != 0.5) abort(); /* not a power of two: not exact */
            s->exponent += exponent - 1;
            s->negative ^= fraction < 0;
        } else {
            s->word = (s->empty ? 1 : s->word) * extended(p.dtype, bits);
        }
        break;
    case RTUNE_MIN:
    case RTUNE_MAX:
        add_extreme(p, s, bits);
        break;
    default:
        abort(); /* an op with kernels and without a reference */
    }
    s->empty = false;
}

uint64_t result_of(const rtune_problem &p, const state &s) {
    const rtune_dtype dtype = rtune_result_dtype(&p);
    if (p.op == RTUNE_SUM && is_float(dtype)) return float_bits(dtype, double(s.sum));
    if (p.op == RTUNE_PROD && is_float(dtype))
        return float_bits(dtype, ldexp(s.negative ? -1.0 : 1.0, s.exponent));
    if (p.op == RTUNE_PROD && s.empty) return 1;
    return s.word & mask_of(dtype);
}

/* ---- data ------------------------------------------------------------------------------------ */

uint64_t exact_element(const rtune_problem &p, rtune_rng *rng) {
    const uint64_t random = rtune_rng_u64(rng), pick = rtune_rng_below(rng, 1000);
    if (!is_float(p.dtype)) return (p.op == RTUNE_PROD ? random | 1 : random) & mask_of(p.dtype);
    if (p.op == RTUNE_SUM) {
        /* f32: 2^16 of them stay below 2^24 in sum. */
        const uint64_t bound = p.dtype == RTUNE_F32 ? 100 : uint64_t(1) << 32;
        return float_bits(p.dtype, double(int64_t(random % (2 * bound + 1)) - int64_t(bound)));
    }
    if (p.op == RTUNE_PROD) return float_bits(p.dtype, random & 1 ? 1.0 : -1.0);
    if (p.nan_rule == RTUNE_NAN_IGNORE && pick < 100)
        return canonical_nan(p.dtype) | sign_bit(p.dtype);
    if (pick < 110) return random & sign_bit(p.dtype); /* zeros of either sign */
    return is_nan(p.dtype, random & mask_of(p.dtype)) ? 0 : random & mask_of(p.dtype);
}

} // namespace

void fill_exact(const rtune_problem &problem, void *data, size_t count, uint64_t seed) {
    rtune_rng rng = {seed, 0};
    for (size_t i = 0; i < count; i++)
        set_bits(problem.dtype, data, i, exact_element(problem, &rng));
    if (problem.op != RTUNE_PROD || !is_float(problem.dtype)) return;
    /* 32 twos and 32 halves: no partial product leaves 2^-32 ... 2^32. Some at the front, where
     * every n has them. */
    for (unsigned k = 0; k < 64; k++)
        set_bits(problem.dtype, data,
                 size_t(rtune_rng_below(&rng, k < 16 && count > 32 ? 32 : count)),
                 float_bits(problem.dtype, k % 2 ? 2.0 : 0.5));
}

void reference_prefixes(const rtune_problem &problem, const void *data, size_t count,
                        uint64_t *results) {
    state s = {true, 0, 0, false, 0};
    for (size_t i = 0; i < count; i++) {
        results[i] = result_of(problem, s);
        add_element(problem, &s, element_bits(problem.dtype, data, i));
    }
    results[count] = result_of(problem, s);
}

uint64_t reference_combine(const rtune_problem &problem, uint64_t a, uint64_t b) {
    rtune_problem on_results = problem;
    state s = {true, 0, 0, false, 0};
    on_results.dtype = rtune_result_dtype(&problem);
    add_element(on_results, &s, a);
    add_element(on_results, &s, b);
    return result_of(on_results, s);
}

} // namespace rtune_emu
