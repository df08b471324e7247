/* SPDX-License-Identifier: Apache-2.0 */
/* data.c: a recipe for every kind of op. */
#include "tests/reference/data.h"

#include "tests/reference/element.h"

#include "base/rng.h"

#include <math.h>

static bool is_extreme(enum rtune_op op) { return op >= RTUNE_MIN && op <= RTUNE_ARGMAX; }
static bool is_logic(enum rtune_op op) { return op >= RTUNE_ANY && op <= RTUNE_COUNT_NONZERO; }

/* A NaN that is not the canonical one: negative, with a payload. */
static uint64_t odd_nan(enum rtune_dtype dtype) {
    return element_nan(dtype) | ((element_mask(dtype) >> 1) + 1) | 0x2a;
}

/* Whole numbers small enough that 2^17 terms stay exact. */
static double exact_term(enum rtune_op op, enum rtune_dtype dtype, uint64_t random) {
    uint64_t bound = dtype == RTUNE_F64 ? UINT64_C(1) << 30 : 100;
    if (op == RTUNE_SUMSQ || op == RTUNE_DOT) bound = dtype == RTUNE_F64 ? 100000 : 8;
    return (double)(int64_t)(random % (2 * bound + 1)) - (double)bound;
}

/* Magnitudes over 2^8, and fractions of every bit that the dtype has. */
static double rounding_term(enum rtune_op op, uint64_t random) {
    const double fraction = (double)(random >> 12) * 0x1p-52; /* in [0, 1) */
    if (op == RTUNE_PROD) return random & 3 ? 1 : 1 + (fraction - 0.5) * 0x1p-6;
    return ldexp(random & 1 ? 1 + fraction : -1 - fraction, (int)(random >> 1 & 7) - 4);
}

static uint64_t special(enum rtune_dtype dtype, uint64_t random) {
    const uint64_t sign = random & 1 ? (element_mask(dtype) >> 1) + 1 : 0;
    switch (random >> 1 & 3) {
    case 0:
        return element_round(dtype, INFINITY) | sign;
    case 1:
        return odd_nan(dtype);
    case 2:
        return ((random >> 3 & 7) + 1) | sign; /* subnormal */
    default:
        return sign;
    }
}

static uint64_t float_element(const struct rtune_problem *p, enum reference_data set,
                              uint64_t random, uint64_t pick) {
    const enum rtune_dtype dtype = p->dtype;
    const bool ignores = p->nan_rule == RTUNE_NAN_IGNORE;
    if (set == REFERENCE_SPECIAL && pick % 512 == 0) return special(dtype, random);
    if (is_logic(p->op))
        return pick % 2 ? random & 1 ? 0 : element_mask(dtype) / 2 + 1 : pick % 128;
    if (is_extreme(p->op)) {
        if (ignores && pick % 8 == 0) return odd_nan(dtype);
        if (pick % 8 == 1) return random & 1 ? 0 : (element_mask(dtype) >> 1) + 1;
        return element_round(dtype, rounding_term(RTUNE_SUM, random));
    }
    if (set != REFERENCE_EXACT) return element_round(dtype, rounding_term(p->op, random));
    if (p->op == RTUNE_PROD) return element_round(dtype, random & 1 ? 1 : -1);
    return element_round(dtype, exact_term(p->op, dtype, random));
}

/* Extremes among narrow integers would be there at once, so the ends of the range are left out. */
static uint64_t integer_element(const struct rtune_problem *p, uint64_t random, uint64_t pick) {
    const uint64_t mask = element_mask(p->dtype);
    if (p->op == RTUNE_PROD) return (random | 1) & mask;
    if (p->op == RTUNE_BAND) return pick % 512 ? mask : mask ^ (UINT64_C(1) << random % 64 & mask);
    if (p->op == RTUNE_BOR) return pick % 512 ? 0 : UINT64_C(1) << random % 64 & mask;
    if (is_logic(p->op)) return pick % 2 ? 0 : random & mask;
    if (is_extreme(p->op) && element_is_signed(p->dtype))
        return (uint64_t)((int64_t)element_extend(p->dtype, random & mask) / 2) & mask;
    if (is_extreme(p->op)) return (random & mask) / 2 + mask / 4;
    return random & mask;
}

void reference_fill(const struct rtune_problem *problem, enum reference_data set, uint64_t seed,
                    void *data, uint64_t count) {
    const enum rtune_dtype dtype = problem->dtype;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t random = rtune_rng_at(seed, i), pick = rtune_rng_at(~seed, i);
        uint64_t bits = element_is_float(dtype) ? float_element(problem, set, random, pick)
                                                : integer_element(problem, random, pick);
        /* One odd element among many. */
        if (problem->op == RTUNE_ANY && pick % 4096) bits = 0;
        if (problem->op == RTUNE_ALL && pick % 4096) bits |= 1;
        element_put(dtype, data, i, bits);
    }
    if (problem->op != RTUNE_PROD || !element_is_float(dtype) || set != REFERENCE_EXACT) return;
    /* 8 twos and 8 halves, in front, where most n have them: no product leaves 2^-8 ... 2^8. */
    for (uint64_t k = 0; k < 16 && k * 3 < count; k++)
        element_put(dtype, data, k * 3, element_round(dtype, k % 2 ? 2 : 0.5L));
}

uint64_t reference_spike(const struct rtune_problem *problem, uint64_t seed) {
    const enum rtune_dtype dtype = problem->dtype;
    const uint64_t mask = element_mask(dtype), sign = (mask >> 1) + 1;
    bool max = problem->op == RTUNE_MAX || problem->op == RTUNE_ARGMAX;
    if (problem->op == RTUNE_MINMAX) max = seed & 1;
    if (element_is_float(dtype)) return element_round(dtype, max ? INFINITY : -INFINITY);
    if (element_is_signed(dtype)) return max ? sign - 1 : sign;
    return max ? mask : 0;
}
