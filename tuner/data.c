/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.c: the generator of kernels/device/support.cuh in C, and what follows from its words. The
 * functions of the two files are the same line by line; tests/tuner compares them.
 */
#include "tuner/data.h"

#include "base/parse.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOW_MASK ((UINT64_C(1) << 26) - 1)
#define SIGN_BIT (UINT64_C(1) << 63)

static bool has_generator(enum rtune_dtype dtype) {
    return dtype == RTUNE_F32 || dtype == RTUNE_F64 || dtype == RTUNE_I32 || dtype == RTUNE_I64;
}

static bool is_float(enum rtune_dtype dtype) { return rtune_dtype_info(dtype)->is_float; }

static bool is_prod(enum rtune_data data) {
    return data == RTUNE_DATA_PROD_EXACT || data == RTUNE_DATA_PROD_RANDOM;
}

enum rtune_status rtune_data_select(const struct rtune_problem *problem, enum rtune_data_set set,
                                    enum rtune_data *data, struct rtune_error *err) {
    bool random = set == RTUNE_SET_RANDOM;
    bool known = has_generator(problem->dtype) && problem->mode == RTUNE_PLAIN;
    if (!known || (random && !is_float(problem->dtype)))
        return rtune_err_set(err, RTUNE_UNSUPPORTED, "%s data for %s: no generator",
                             random ? "random" : "exact", rtune_dtype_name(problem->dtype));
    switch (problem->op) {
    case RTUNE_SUM:
        *data = random ? RTUNE_DATA_SUM_RANDOM : RTUNE_DATA_SUM_EXACT;
        return RTUNE_OK;
    case RTUNE_PROD:
        *data = random ? RTUNE_DATA_PROD_RANDOM : RTUNE_DATA_PROD_EXACT;
        return RTUNE_OK;
    case RTUNE_MIN:
    case RTUNE_MAX:
        *data = RTUNE_DATA_EXTREME;
        return RTUNE_OK;
    default:
        return rtune_err_set(err, RTUNE_UNSUPPORTED, "data for %s: no generator",
                             rtune_op_name(problem->op));
    }
}

/* ---- the generator --------------------------------------------------------------------------- */

static uint32_t float_class(enum rtune_data data, uint64_t seed, uint64_t i) {
    uint64_t r = rtune_rng_at(seed, i);
    uint32_t sign = (uint32_t)(r >> 63), magnitude = 0;
    if (i > 0) {
        unsigned octave = 63u - (unsigned)__builtin_clzll(i);
        uint64_t mask = (UINT64_C(1) << octave) - 1;
        if (data == RTUNE_DATA_PROD_EXACT) {
            uint64_t place = rtune_rng_at(~seed, octave) & mask;
            if ((i & mask) == place) magnitude = 1 + (octave & 1);
        } else if ((i & (mask >> 5)) == 0) {
            magnitude = ((r >> 32) & 1023) < 425 ? 1 : 2;
        }
    }
    return magnitude << 1 | sign;
}

static uint32_t element_class(enum rtune_data data, enum rtune_dtype dtype, uint64_t seed,
                              uint64_t i) {
    if (is_float(dtype)) return float_class(data, seed, i);
    return (uint32_t)(rtune_rng_at(seed, i) >> 61);
}

/* Arithmetic shifts, as every compiler that this builds with does them. */
static int64_t element_k(enum rtune_data data, enum rtune_dtype dtype, uint64_t seed, uint64_t i) {
    uint64_t r = rtune_rng_at(seed, i);
    int32_t high = (int32_t)(r >> 32);
    switch (dtype) {
    case RTUNE_F32:
        return data == RTUNE_DATA_SUM_EXACT ? (int64_t)(r >> 61) * 2 - 7 : high >> 8;
    case RTUNE_F64:
        return data == RTUNE_DATA_SUM_EXACT ? (high | 1) : (int64_t)r >> 11;
    case RTUNE_I32:
        return data == RTUNE_DATA_EXTREME ? high >> 1 : (high | 1);
    default:
        return data == RTUNE_DATA_EXTREME ? (int64_t)r >> 1 : ((int64_t)r | 1);
    }
}

static uint64_t odd(uint32_t c) { return rtune_rng_at(0x6f6464, c) | 1; }

static uint64_t bits_of(enum rtune_dtype dtype, double x) {
    uint64_t bits = 0;
    float f = (float)x;
    if (dtype == RTUNE_F32)
        memcpy(&bits, &f, sizeof(f));
    else
        memcpy(&bits, &x, sizeof(x));
    return bits;
}

static uint64_t low_bits(enum rtune_dtype dtype, uint64_t value) {
    return rtune_dtype_size(dtype) == 4 ? value & UINT32_MAX : value;
}

/* The power of two that k is a multiple of. */
static double k_scale(enum rtune_data data, enum rtune_dtype dtype) {
    if (data == RTUNE_DATA_SUM_EXACT) return 1.0;
    return dtype == RTUNE_F32 ? 0x1p-23 : 0x1p-52;
}

static uint64_t bits_of_k(enum rtune_data data, enum rtune_dtype dtype, int64_t k) {
    if (!is_float(dtype)) return low_bits(dtype, (uint64_t)k);
    return bits_of(dtype, (double)k * k_scale(data, dtype));
}

static double class_value(enum rtune_data data, uint32_t c) {
    bool exact = data == RTUNE_DATA_PROD_EXACT;
    double x = c >> 1 == 0 ? 1.0 : c >> 1 == 1 ? (exact ? 2.0 : 1.5) : (exact ? 0.5 : 0.75);
    return c & 1 ? -x : x;
}

uint64_t rtune_data_element(enum rtune_data data, enum rtune_dtype dtype, uint64_t seed,
                            uint64_t i) {
    if (!is_prod(data)) return bits_of_k(data, dtype, element_k(data, dtype, seed, i));
    uint32_t c = element_class(data, dtype, seed, i);
    return is_float(dtype) ? bits_of(dtype, class_value(data, c)) : low_bits(dtype, odd(c));
}

/* ---- words ----------------------------------------------------------------------------------- */

void rtune_data_words_init(struct rtune_data_words *words, enum rtune_data data) {
    memset(words, 0, sizeof(*words));
    if (data == RTUNE_DATA_EXTREME) words->word[0] = UINT64_MAX;
}

void rtune_data_words_add(struct rtune_data_words *words, enum rtune_data data,
                          enum rtune_dtype dtype, uint64_t seed, uint64_t i) {
    if (is_prod(data)) {
        words->word[element_class(data, dtype, seed, i)]++;
        return;
    }
    int64_t k = element_k(data, dtype, seed, i);
    if (data == RTUNE_DATA_EXTREME) {
        uint64_t key = (uint64_t)k ^ SIGN_BIT;
        if (key < words->word[0]) words->word[0] = key;
        if (key > words->word[1]) words->word[1] = key;
    } else {
        words->word[0] += (uint64_t)(k >> 26);
        words->word[1] += (uint64_t)k & LOW_MASK;
    }
}

void rtune_data_words_drop(struct rtune_data_words *words, enum rtune_data data,
                           enum rtune_dtype dtype, uint64_t seed, uint64_t i) {
    if (data == RTUNE_DATA_EXTREME) return;
    if (is_prod(data)) {
        words->word[element_class(data, dtype, seed, i)]--;
        return;
    }
    int64_t k = element_k(data, dtype, seed, i);
    words->word[0] -= (uint64_t)(k >> 26);
    words->word[1] -= (uint64_t)k & LOW_MASK;
}

/* ---- pokes ----------------------------------------------------------------------------------- */

/* A NaN with a payload and a sign: the result must be the canonical one all the same. */
static uint64_t nan_bits(enum rtune_dtype dtype, bool canonical) {
    if (dtype == RTUNE_F32) return canonical ? 0x7fc00000u : 0xffc00123u;
    return canonical ? UINT64_C(0x7ff8000000000000) : UINT64_C(0xfff8000000000123);
}

static uint64_t extreme_bits(const struct rtune_problem *problem) {
    bool min = problem->op == RTUNE_MIN;
    if (is_float(problem->dtype)) return bits_of(problem->dtype, min ? -2.0 : 2.0);
    uint64_t top = problem->dtype == RTUNE_I32 ? UINT64_C(1) << 31 : SIGN_BIT;
    return min ? top : top - 1;
}

struct rtune_poke rtune_data_poke(const struct rtune_problem *problem, enum rtune_data_set set,
                                  uint64_t seed, const struct rtune_data_words *words,
                                  uint64_t place) {
    struct rtune_poke poke = {.active = true, .place = place};
    bool extreme = problem->op == RTUNE_MIN || problem->op == RTUNE_MAX;
    if (extreme && set == RTUNE_SET_EXACT) {
        poke.bits = extreme_bits(problem);
    } else if (extreme) {
        uint64_t best = words->word[problem->op == RTUNE_MAX];
        for (int tries = 0; tries < 3 && problem->n > 1; tries++) {
            int64_t k = element_k(RTUNE_DATA_EXTREME, problem->dtype, seed, poke.place);
            if (((uint64_t)k ^ SIGN_BIT) != best) break;
            poke.place = (poke.place + 1) % problem->n;
        }
        poke.bits = nan_bits(problem->dtype, false);
    } else if (problem->op == RTUNE_PROD && set == RTUNE_SET_EXACT && is_float(problem->dtype)) {
        poke.bits = bits_of(problem->dtype, -2.0);
    } else {
        poke.active = false;
    }
    return poke;
}

/* ---- expectations ---------------------------------------------------------------------------- */

static bool poke_in_range(const struct rtune_data_view *view) {
    return view->poke.active && view->poke.place >= view->first &&
           view->poke.place - view->first < view->problem.n;
}

static double unit_roundoff(enum rtune_dtype dtype) {
    return dtype == RTUNE_F32 ? 0x1p-24 : 0x1p-53;
}

static void expect_sum(const struct rtune_data_view *view, uint64_t chain,
                       struct rtune_expect *expect) {
    enum rtune_dtype dtype = view->problem.dtype;
    const uint64_t *w = view->words.word;
    uint64_t total = (w[0] << 26) + w[1];
    if (!is_float(dtype)) {
        expect->bits = low_bits(expect->dtype, total);
    } else if (view->set == RTUNE_SET_EXACT) {
        expect->bits = bits_of(dtype, (double)(int64_t)total);
    } else {
        long double k = (long double)(int64_t)w[0] * 0x1p26L + (long double)w[1];
        expect->exact = false;
        expect->value = (double)(k * (long double)k_scale(RTUNE_DATA_SUM_RANDOM, dtype));
        expect->tolerance = ((double)chain + 64.0) * unit_roundoff(dtype) * (double)view->problem.n;
    }
}

static uint64_t power_u64(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* 1.5^ups * 0.75^downs, multiplied so that no intermediate leaves the range of double. */
static long double factor_product(uint64_t ups, uint64_t downs) {
    long double x = 1.0L;
    while (ups + downs > 0) {
        bool up = downs == 0 || (ups > 0 && x < 1.0L);
        x *= up ? 1.5L : 0.75L;
        if (up)
            ups--;
        else
            downs--;
    }
    return x;
}

static void expect_float_prod(const struct rtune_data_view *view, struct rtune_expect *expect) {
    const uint64_t *w = view->words.word;
    enum rtune_dtype dtype = view->problem.dtype;
    double sign = (w[1] + w[3] + w[5]) & 1 ? -1.0 : 1.0;
    if (view->set == RTUNE_SET_RANDOM) {
        uint64_t ups = w[2] + w[3], downs = w[4] + w[5];
        expect->exact = false;
        expect->value = sign * (double)factor_product(ups, downs);
        expect->tolerance =
            ((double)(ups + downs) + 64.0) * unit_roundoff(dtype) * fabs(expect->value);
        return;
    }
    int exponent = (int)(int64_t)(w[2] + w[3] - w[4] - w[5]);
    double value = sign * ldexp(1.0, exponent);
    if (poke_in_range(view)) {
        uint32_t c = float_class(RTUNE_DATA_PROD_EXACT, view->seed, view->poke.place);
        value = value / class_value(RTUNE_DATA_PROD_EXACT, c) * -2.0;
    }
    expect->bits = bits_of(dtype, value);
}

static void expect_prod(const struct rtune_data_view *view, struct rtune_expect *expect) {
    if (is_float(view->problem.dtype)) {
        expect_float_prod(view, expect);
        return;
    }
    uint64_t product = 1;
    for (uint32_t c = 0; c < 8; c++) {
        uint64_t factor = odd(c);
        if (view->problem.dtype == RTUNE_I32) factor = (uint64_t)(int64_t)(int32_t)(uint32_t)factor;
        product *= power_u64(factor, view->words.word[c]);
    }
    expect->bits = low_bits(expect->dtype, product);
}

static void expect_extreme(const struct rtune_data_view *view, struct rtune_expect *expect) {
    const struct rtune_problem *p = &view->problem;
    uint64_t key = view->words.word[p->op == RTUNE_MAX];
    expect->bits = bits_of_k(RTUNE_DATA_EXTREME, p->dtype, (int64_t)(key ^ SIGN_BIT));
    if (!poke_in_range(view)) return;
    bool ignore = p->nan_rule == RTUNE_NAN_IGNORE && p->n > 1;
    if (view->set == RTUNE_SET_EXACT)
        expect->bits = view->poke.bits;
    else if (!ignore)
        expect->bits = nan_bits(p->dtype, true);
}

void rtune_data_expect(const struct rtune_data_view *view, uint64_t chain,
                       struct rtune_expect *expect) {
    memset(expect, 0, sizeof(*expect));
    expect->exact = true;
    expect->dtype = rtune_result_dtype(&view->problem);
    expect->size = (uint32_t)rtune_dtype_size(expect->dtype);
    switch (view->problem.op) {
    case RTUNE_SUM:
        expect_sum(view, chain, expect);
        break;
    case RTUNE_PROD:
        expect_prod(view, expect);
        break;
    default:
        expect_extreme(view, expect);
        break;
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static double double_of(enum rtune_dtype dtype, uint64_t bits) {
    if (dtype == RTUNE_F32) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof(f));
        return (double)f;
    }
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void print_value(enum rtune_dtype dtype, uint64_t bits, char *text, size_t size) {
    if (is_float(dtype)) {
        double x = double_of(dtype, bits);
        if (isfinite(x))
            rtune_print_double(x, text, size);
        else
            snprintf(text, size, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
    } else {
        int64_t value = dtype == RTUNE_I32 ? (int32_t)(uint32_t)bits : (int64_t)bits;
        snprintf(text, size, "%lld", (long long)value);
    }
}

bool rtune_data_matches(const struct rtune_expect *expect, const void *result, unsigned char poison,
                        char *detail, size_t size) {
    unsigned char untouched[8];
    char got_text[40], want_text[40];
    uint64_t got = 0;
    memcpy(&got, result, expect->size);
    if (expect->exact) {
        if (got == expect->bits) return true;
        print_value(expect->dtype, expect->bits, want_text, sizeof(want_text));
    } else {
        double x = double_of(expect->dtype, got);
        if (fabs(x - expect->value) <= expect->tolerance) return true;
        rtune_print_double(expect->value, want_text, sizeof(want_text));
    }
    memset(untouched, poison, sizeof(untouched));
    if (memcmp(untouched, result, expect->size) == 0) {
        snprintf(detail, size, "wrong result: nothing was written instead of %s", want_text);
        return false;
    }
    print_value(expect->dtype, got, got_text, sizeof(got_text));
    snprintf(detail, size, "wrong result: %s instead of %s (bits %016llx)", got_text, want_text,
             (unsigned long long)got);
    return false;
}
