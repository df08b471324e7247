/* SPDX-License-Identifier: Apache-2.0 */
/* data_expect.c: from the words of a range to the result that it must give, and comparing. */
#include "base/parse.h"
#include "tuner/data_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIGN_BIT (UINT64_C(1) << 63)

static bool is_float(enum rtune_dtype dtype) { return rtune_dtype_info(dtype)->is_float; }

/* ---- numbers --------------------------------------------------------------------------------- */

/* x >= 0 rounded once, half to even, to a type of 16 bits: with the exponent's range, digits. */
static uint64_t narrow(double x, int least_exponent, int digits, uint64_t infinity) {
    if (x == 0) return 0;
    if (isinf(x)) return infinity;
    int exponent = ilogb(x);
    if (exponent < least_exponent) exponent = least_exponent;
    /* The leading digit, if there is one, adds 1 to the exponent's field. */
    uint64_t bits = ((uint64_t)(exponent - least_exponent) << (digits - 1)) +
                    (uint64_t)rint(ldexp(x, digits - 1 - exponent));
    return bits < infinity ? bits : infinity;
}

static uint64_t bits_of(enum rtune_dtype dtype, double x) {
    uint64_t bits = 0, sign = signbit(x) ? 0x8000 : 0;
    float f = (float)x;
    switch (dtype) {
    case RTUNE_F16:
        return sign | narrow(fabs(x), -14, 11, 0x7c00);
    case RTUNE_BF16:
        return sign | narrow(fabs(x), -126, 8, 0x7f80);
    case RTUNE_F32:
        memcpy(&bits, &f, sizeof(f));
        return bits;
    default:
        memcpy(&bits, &x, sizeof(x));
        return bits;
    }
}

static double double_of(enum rtune_dtype dtype, uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    double x;
    float f;
    if (dtype == RTUNE_BF16) low <<= 16;
    memcpy(&f, &low, sizeof(f));
    memcpy(&x, &bits, sizeof(x));
    if (dtype == RTUNE_F64) return x;
    if (dtype != RTUNE_F16) return (double)f;
    int field = (int)(bits >> 10 & 31), digits = (int)(bits & 1023);
    x = field == 31 ? (digits ? NAN : INFINITY)
                    : ldexp(digits + (field ? 1024 : 0), (field ? field : 1) - 25);
    return bits & 0x8000 ? -x : x;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static struct rtune_recipe recipe_of(const struct rtune_data_view *view) {
    struct rtune_recipe recipe = {.dtype = view->problem.dtype};
    (void)rtune_data_select(&view->problem, view->set, &recipe, NULL);
    return recipe;
}

/* Terms are integers times 2^-this. */
static int term_shift(const struct rtune_recipe *r) {
    int shift = (int)rtune_support_shift((rtune_s_u32)r->dtype, r->data);
    return r->fold == RTUNE_S_SUMSQ || r->fold == RTUNE_S_DOT ? 2 * shift : shift;
}

static double unit_roundoff(enum rtune_dtype dtype) {
    return dtype == RTUNE_F64 ? 0x1p-53 : 0x1p-24;
}

static uint64_t total_of(const struct rtune_data_view *view, const struct rtune_recipe *r) {
    uint64_t total = (view->words.word[0] << 26) + view->words.word[1];
    if (!rtune_data_in_range(view, 0)) return total;
    return total - rtune_data_term_at(r, view->seed, view->poke.place[0]) +
           rtune_support_term((rtune_s_u32)r->dtype, r->fold, RTUNE_DATA_POKED_K, 0);
}

static void expect_bound(const struct rtune_data_view *view, const struct rtune_recipe *r,
                         uint64_t chain, struct rtune_expect *expect) {
    const uint64_t *w = view->words.word;
    double u = unit_roundoff(expect->dtype), magnitudes = (double)view->problem.n;
    double steps = ((double)chain + 64.0) * u;
    long double k = (long double)(int64_t)w[0] * 0x1p26L + (long double)w[1];
    expect->exact = false;
    expect->value = (double)ldexpl(k, -term_shift(r));
    expect->tolerance = view->problem.mode == RTUNE_KAHAN
                            ? 3 * u * fabs(expect->value) + steps * steps * magnitudes
                            : steps * magnitudes;
}

static void put(struct rtune_expect *expect, size_t at, size_t size, uint64_t bits) {
    memcpy(expect->bytes + at, &bits, size); /* little-endian: the low bytes are the value */
}

static void expect_sum(const struct rtune_data_view *view, uint64_t chain,
                       struct rtune_expect *expect) {
    const struct rtune_recipe r = recipe_of(view);
    const size_t size = rtune_dtype_size(expect->dtype);
    if (view->set == RTUNE_SET_RANDOM) {
        expect_bound(view, &r, chain, expect);
        return;
    }
    uint64_t total = total_of(view, &r);
    if (view->problem.mode == RTUNE_FIXED)
        put(expect, 0, 8, total << (RTUNE_DATA_SCALE_BITS - term_shift(&r)));
    else if (is_float(view->problem.dtype))
        put(expect, 0, size,
            bits_of(expect->dtype, ldexp((double)(int64_t)total, -term_shift(&r))));
    else
        put(expect, 0, size, total);
}

/* ---- products -------------------------------------------------------------------------------- */

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
    const uint32_t dtype = (uint32_t)view->problem.dtype, data = RTUNE_S_PROD_EXACT;
    double sign = (w[1] + w[3] + w[5]) & 1 ? -1.0 : 1.0;
    if (view->set == RTUNE_SET_RANDOM) {
        uint64_t ups = w[2] + w[3], downs = w[4] + w[5];
        expect->exact = false;
        expect->value = sign * (double)factor_product(ups, downs);
        expect->tolerance =
            ((double)(ups + downs) + 64.0) * unit_roundoff(expect->dtype) * fabs(expect->value);
        return;
    }
    double value = sign * ldexp(1.0, (int)(int64_t)(w[2] + w[3] - w[4] - w[5]));
    if (rtune_data_in_range(view, 0)) {
        rtune_s_u32 c = rtune_support_class(dtype, data, view->seed, view->poke.place[0]);
        value = value / ((double)rtune_support_class_k(dtype, data, c) / 2) * -2.0;
    }
    put(expect, 0, rtune_dtype_size(expect->dtype), bits_of(expect->dtype, value));
}

static void expect_prod(const struct rtune_data_view *view, struct rtune_expect *expect) {
    const uint32_t dtype = (uint32_t)view->problem.dtype;
    uint64_t product = 1;
    if (is_float(view->problem.dtype)) {
        expect_float_prod(view, expect);
        return;
    }
    for (uint32_t c = 0; c < 8; c++)
        product *= power_u64((uint64_t)rtune_support_class_k(dtype, RTUNE_S_PROD_EXACT, c),
                             view->words.word[c]);
    put(expect, 0, rtune_dtype_size(expect->dtype), product);
}

/* ---- extremes -------------------------------------------------------------------------------- */

static uint64_t bits_of_key(enum rtune_dtype dtype, uint64_t key) {
    int64_t k = (int64_t)(key ^ SIGN_BIT);
    const uint32_t code = (uint32_t)dtype;
    if (!is_float(dtype)) return rtune_data_low(dtype, (uint64_t)k);
    return rtune_support_float(code, k, rtune_support_shift(code, RTUNE_S_EXTREME));
}

static uint64_t expected_extreme(const struct rtune_data_view *view, bool least) {
    const struct rtune_problem *p = &view->problem;
    const uint64_t *poked = &view->poke.bits[0];
    bool ignore = p->nan_rule == RTUNE_NAN_IGNORE && p->n > 1;
    uint64_t rest = bits_of_key(p->dtype, view->words.word[least ? 0 : 1]);
    if (!rtune_data_in_range(view, 0)) return rest;
    if (view->set == RTUNE_SET_RANDOM) return ignore ? rest : rtune_data_nan(p->dtype, true);
    return p->n == 1 || *poked == rtune_data_beyond(p->dtype, least) ? *poked : rest;
}

static void expect_extreme(const struct rtune_data_view *view, struct rtune_expect *expect) {
    size_t size = rtune_dtype_size(expect->dtype);
    enum rtune_op op = view->problem.op;
    put(expect, 0, size, expected_extreme(view, op != RTUNE_MAX));
    if (op == RTUNE_MINMAX) put(expect, size, size, expected_extreme(view, false));
}

static void expect_arg(const struct rtune_data_view *view, struct rtune_expect *expect) {
    const struct rtune_problem *p = &view->problem;
    const struct rtune_poke *poke = &view->poke;
    bool least = p->op == RTUNE_ARGMIN;
    uint64_t bits = bits_of_key(p->dtype, view->words.word[least ? 0 : 1]);
    uint64_t index = view->words.word[least ? 2 : 3];
    uint32_t nan = poke->count - 1; /* of RANDOM data: the last poke */
    bool lost = view->set == RTUNE_SET_RANDOM && rtune_data_in_range(view, nan) &&
                (p->nan_rule == RTUNE_NAN_PROPAGATE || p->n == 1);
    if (lost) {
        bits = rtune_data_nan(p->dtype, true);
        index = poke->place[nan];
    } else if (rtune_data_in_range(view, 0)) {
        bits = poke->bits[0];
        index = poke->place[0];
    }
    put(expect, 0, rtune_dtype_size(p->dtype), bits);
    put(expect, 8, 8, index - view->first);
}

/* ---- logic and bits -------------------------------------------------------------------------- */

static uint64_t expected_word(const struct rtune_data_view *view) {
    uint64_t w = view->words.word[0], poked = view->poke.bits[0];
    bool in = rtune_data_in_range(view, 0);
    switch (view->problem.op) {
    case RTUNE_ANY:
        return w > 0 || in;
    case RTUNE_ALL:
        return w == view->problem.n && !in;
    case RTUNE_BAND:
        return in ? w & poked : w;
    case RTUNE_BOR:
        return in ? w | poked : w;
    default:
        return w;
    }
}

void rtune_data_expect(const struct rtune_data_view *view, uint64_t chain,
                       struct rtune_expect *expect) {
    const enum rtune_op op = view->problem.op;
    memset(expect, 0, sizeof(*expect));
    expect->exact = true;
    expect->problem = view->problem;
    expect->dtype = rtune_result_dtype(&view->problem);
    expect->size = (uint32_t)rtune_result_size(&view->problem);
    if (op <= RTUNE_DOT)
        expect_sum(view, chain, expect);
    else if (op == RTUNE_PROD)
        expect_prod(view, expect);
    else if (rtune_data_is_arg(op))
        expect_arg(view, expect);
    else if (rtune_data_is_extreme(op))
        expect_extreme(view, expect);
    else
        put(expect, 0, rtune_dtype_size(expect->dtype), expected_word(view));
}

/* ---- comparing ------------------------------------------------------------------------------- */

static uint64_t read_bits(const unsigned char *bytes, size_t size) {
    uint64_t bits = 0;
    memcpy(&bits, bytes, size);
    return bits;
}

static int print_value(enum rtune_dtype dtype, uint64_t bits, char *text, size_t size) {
    const struct rtune_dtype_info *info = rtune_dtype_info(dtype);
    if (info->is_float) {
        double x = double_of(dtype, bits);
        if (!isfinite(x))
            return snprintf(text, size, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        rtune_print_double(x, text, size);
        return (int)strlen(text);
    }
    if (!info->is_signed) return snprintf(text, size, "%llu", (unsigned long long)bits);
    return snprintf(text, size, "%lld", (long long)rtune_support_extend((rtune_s_u32)dtype, bits));
}

/* "-2 at 17", "-2, 3", "42, flags 1", "42". */
static void print_result(const struct rtune_expect *expect, const unsigned char *bytes, char *text,
                         size_t size) {
    size_t part = rtune_dtype_size(expect->dtype);
    int used = print_value(expect->dtype, read_bits(bytes, part), text, size);
    if (used < 0 || (size_t)used >= size) return;
    text += used;
    size -= (size_t)used;
    if (rtune_data_is_arg(expect->problem.op)) {
        snprintf(text, size, " at %lld", (long long)read_bits(bytes + 8, 8));
    } else if (expect->problem.mode == RTUNE_FIXED) {
        snprintf(text, size, ", flags %u", (unsigned)read_bits(bytes + 8, 4));
    } else if (expect->problem.op == RTUNE_MINMAX && size > 2) {
        snprintf(text, size, ", ");
        (void)print_value(expect->dtype, read_bits(bytes + part, part), text + 2, size - 2);
    }
}

static bool within(const struct rtune_expect *expect, const unsigned char *got) {
    if (expect->exact) return memcmp(got, expect->bytes, expect->size) == 0;
    double x = double_of(expect->dtype, read_bits(got, expect->size));
    return fabs(x - expect->value) <= expect->tolerance;
}

bool rtune_data_matches(const struct rtune_expect *expect, const void *result, unsigned char poison,
                        char *detail, size_t size) {
    unsigned char untouched[16];
    char got_text[80], want_text[80];
    const unsigned char *got = result;
    if (within(expect, got)) return true;
    if (expect->exact)
        print_result(expect, expect->bytes, want_text, sizeof(want_text));
    else
        rtune_print_double(expect->value, want_text, sizeof(want_text));
    memset(untouched, poison, sizeof(untouched));
    if (memcmp(untouched, got, expect->size) == 0) {
        snprintf(detail, size, "wrong result: nothing was written instead of %s", want_text);
        return false;
    }
    print_result(expect, got, got_text, sizeof(got_text));
    snprintf(detail, size, "wrong result: %s instead of %s (bits %016llx)", got_text, want_text,
             (unsigned long long)read_bits(got, expect->size < 8 ? expect->size : 8));
    return false;
}
