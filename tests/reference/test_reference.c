/* SPDX-License-Identifier: Apache-2.0 */
/* The reference itself, against values worked out by hand, and the checker against wrong results.
 */
#include "tests/reference/data.h"
#include "tests/reference/element.h"
#include "tests/reference/reference.h"

#include "tests/golden/reproducible.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rtune_problem problem(enum rtune_op op, enum rtune_dtype dtype, uint64_t n) {
    return RTUNE_PROBLEM(op, dtype, n);
}
static struct reference_result of(const struct rtune_problem *p, const void *in, const void *in2,
                                  double scale) {
    struct reference_result result;
    struct rtune_args args = RTUNE_ARGS(in, NULL);
    args.in2 = in2;
    args.scale = scale;
    reference_compute(p, &args, &result);
    return result;
}
static uint64_t word(const struct reference_result *result, size_t at) {
    uint64_t bits = 0;
    assert_true(result->exact && !result->open && !result->empty);
    memcpy(&bits, result->bytes + at, result->size - at < 8 ? result->size - at : 8);
    return bits;
}
static double number(const struct reference_result *result) {
    return element_value(result->size == 4 ? RTUNE_F32 : RTUNE_F64, word(result, 0));
}

static void test_half_formats(void **state) {
    static const struct {
        enum rtune_dtype dtype;
        uint64_t bits;
        double value;
    } known[] = {
        {RTUNE_F16, 0x3c00, 1},
        {RTUNE_F16, 0x7bff, 65504},
        {RTUNE_F16, 0x0001, 0x1p-24},
        {RTUNE_F16, 0x0400, 0x1p-14},
        {RTUNE_F16, 0xc000, -2},
        {RTUNE_F16, 0x7c00, INFINITY},
        {RTUNE_F16, 0x3555, 0.333251953125},
        {RTUNE_BF16, 0x3f80, 1},
        {RTUNE_BF16, 0x0001, 0x1p-133},
        {RTUNE_BF16, 0x7f7f, 0x1.fep127},
        {RTUNE_BF16, 0xff80, -INFINITY},
        {RTUNE_F32, 0x3f800000, 1},
        {RTUNE_F32, 1, 0x1p-149},
        {RTUNE_F64, 1, 0x1p-1074},
    };
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        assert_true(element_value(known[k].dtype, known[k].bits) == known[k].value);
        assert_int_equal(element_round(known[k].dtype, known[k].value), known[k].bits);
    }
    assert_int_equal(element_round(RTUNE_F16, 65519.99L), 0x7bff);
    assert_int_equal(element_round(RTUNE_F16, 65520), 0x7c00); /* a tie, to even */
    assert_int_equal(element_round(RTUNE_F16, 2049), 0x6800);  /* 2048 */
    assert_int_equal(element_round(RTUNE_F16, 2051), 0x6802);  /* 2052 */
    assert_int_equal(element_round(RTUNE_F16, -0x1p-25), 0x8000);
    assert_int_equal(element_round(RTUNE_BF16, 5000), 0x459c); /* 4992 */
    assert_int_equal(element_nan(RTUNE_F16), 0x7e00);
    assert_int_equal(element_nan(RTUNE_BF16), 0x7fc0);
    assert_int_equal(element_nan(RTUNE_F64), UINT64_C(0x7ff8000000000000));
}

/* Every f32 and f64 round-trips, and agrees with the host. */
static void test_formats_round_trip(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        const uint64_t bits = rtune_rng_at(5, i);
        const uint32_t half = (uint32_t)bits;
        float f;
        double d;
        memcpy(&f, &half, sizeof f);
        memcpy(&d, &bits, sizeof d);
        if (!isnan(d)) {
            assert_true(element_value(RTUNE_F64, bits) == d);
            assert_int_equal(element_round(RTUNE_F64, d), bits);
        }
        if (isnan(f)) continue;
        const float rounded = (float)(f * 1.0000001);
        uint32_t want;
        memcpy(&want, &rounded, sizeof want);
        assert_int_equal(element_round(RTUNE_F32, f * 1.0000001), want);
        assert_int_equal(element_round(RTUNE_BF16, element_value(RTUNE_BF16, half >> 16)),
                         element_is_nan(RTUNE_BF16, half >> 16) ? 0x7fc0 : half >> 16);
    }
}

static void test_exact_sums(void **state) {
    struct exact sum = {{0}};
    (void)state;
    exact_add(&sum, 1e308);
    exact_add(&sum, 1);
    exact_add(&sum, -1e308);
    assert_true(exact_value(&sum) == 1);
    exact_add(&sum, 0x1p-1074);
    exact_add(&sum, -1);
    assert_true(exact_value(&sum) == 0x1p-1074L);
    exact_add_product(&sum, 0x1p-1074, -0x1p-1074);
    exact_add(&sum, -0x1p-1074);
    assert_true(exact_value(&sum) == ldexpl(-1, -2148));
    exact_add_product(&sum, 0x1p-1074, 0x1p-1074);
    exact_add_product(&sum, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023);
    exact_add_product(&sum, -0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023);
    assert_true(exact_value(&sum) == 0);
    exact_add(&sum, -3);
    exact_add(&sum, 0x1p-60);
    assert_true(exact_value(&sum) == -3 + 0x1p-60L);
    assert_true(exact_distance(&sum, -3) == 0x1p-60L);
    for (int i = 0; i < 1000; i++)
        exact_add(&sum, ldexp(i % 2 ? -1 : 1, i / 2 - 250));
    assert_true(exact_value(&sum) == -3 + 0x1p-60L);
}

static void test_integers(void **state) {
    const int8_t x[] = {-128, 100, 100, 3};
    const uint16_t y[] = {65535, 65535, 2};
    struct rtune_problem p = problem(RTUNE_SUM, RTUNE_I8, 4);
    struct reference_result r = of(&p, x, NULL, 1);
    (void)state;
    assert_int_equal(word(&r, 0), 75);
    p.op = RTUNE_SUMSQ, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 16384 + 20000 + 9);
    p.op = RTUNE_ASUM, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 331);
    p.op = RTUNE_DOT, p.n = 3, r = of(&p, x, x + 1, 1);
    assert_int_equal((int64_t)word(&r, 0), -12800 + 10000 + 300);
    p.op = RTUNE_ASUM, p.acc = RTUNE_NATIVE, p.n = 1, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 128);
    p = problem(RTUNE_SUM, RTUNE_U16, 3), p.acc = RTUNE_NATIVE, r = of(&p, y, NULL, 1);
    assert_int_equal(word(&r, 0), 0);
    p.op = RTUNE_PROD, p.acc = RTUNE_WIDE, r = of(&p, y, NULL, 1);
    assert_int_equal(word(&r, 0), UINT64_C(65535) * 65535 * 2);
    p.op = RTUNE_BXOR, r = of(&p, y, NULL, 1);
    assert_int_equal(word(&r, 0), 2);
    p.op = RTUNE_MINMAX, r = of(&p, y, NULL, 1);
    assert_int_equal(word(&r, 0), 0xffff0002u);
}

static void test_extremes(void **state) {
    const float nan = -NAN, x[] = {3, -0.0f, nan, 0.0f, 7};
    struct rtune_problem p = problem(RTUNE_MIN, RTUNE_F32, 5);
    struct reference_result r = of(&p, x, NULL, 1);
    (void)state;
    assert_int_equal(word(&r, 0), 0x7fc00000);
    p.op = RTUNE_ARGMIN, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 0x7fc00000);
    assert_int_equal(word(&r, 8), 2);
    p.nan_rule = RTUNE_NAN_IGNORE, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 0x80000000u); /* as it is */
    assert_int_equal(word(&r, 8), 1);
    p.op = RTUNE_ARGMAX, p.n = 3, r = of(&p, x + 1, NULL, 1);
    assert_int_equal(word(&r, 8), 0); /* a tie of zeros */
    p.op = RTUNE_MAX, r = of(&p, x + 1, NULL, 1);
    assert_int_equal(word(&r, 0), 0); /* +0 above -0 */
    p.n = 1, r = of(&p, x + 2, NULL, 1);
    assert_int_equal(word(&r, 0), 0x7fc00000);
    p.n = 0;
    assert_true(of(&p, x, NULL, 1).empty);
}

static void test_float_sums(void **state) {
    const float x[] = {1, 2, INFINITY, -3, -INFINITY}, big[] = {3e38f, 3e38f, -3e38f};
    const uint16_t ones[3] = {0x7bff, 0x4c00, 0}; /* 65504, 16 */
    struct rtune_problem p = problem(RTUNE_SUM, RTUNE_F32, 2);
    struct reference_result r = of(&p, x, NULL, 1);
    (void)state;
    assert_true(number(&r) == 3);
    p.n = 4, r = of(&p, x, NULL, 1);
    assert_true(number(&r) == (double)INFINITY);
    p.n = 5, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 0x7fc00000);
    p.n = 2, p.mode = RTUNE_KAHAN, r = of(&p, big, NULL, 1);
    assert_int_equal(word(&r, 0), 0x7f800000);
    p.n = 3;
    assert_true(of(&p, big, NULL, 1).open);
    p = problem(RTUNE_SUM, RTUNE_F16, 2), p.acc = RTUNE_NATIVE, r = of(&p, ones, NULL, 1);
    assert_int_equal(word(&r, 0), 0x7c00);
    p.acc = RTUNE_WIDE, r = of(&p, ones, NULL, 1);
    assert_true(number(&r) == 65520);
    p = problem(RTUNE_PROD, RTUNE_F64, 0), r = of(&p, ones, NULL, 1);
    assert_true(number(&r) == 1);
}

static void test_fixed(void **state) {
    const double x[] = {0.5, 1.5, -2.5, NAN, 1e300, 0.1};
    struct rtune_problem p = problem(RTUNE_SUM, RTUNE_F64, 3);
    struct reference_result r;
    (void)state;
    p.mode = RTUNE_FIXED, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 0 + 2 - 2);
    assert_int_equal(word(&r, 8), 0);
    p.n = 5, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), INT64_MAX);
    assert_int_equal(word(&r, 8), RTUNE_FIXED_NAN | RTUNE_FIXED_RANGE);
    /* 0.1 x 5 in one rounding is above 0.5; rounded to f64 first it would be 0.5 and so 0. */
    p.n = 1, r = of(&p, x + 5, NULL, 5);
    assert_int_equal(word(&r, 0), 1);
    r = of(&p, x + 5, NULL, -5);
    assert_int_equal(word(&r, 0), UINT64_MAX);
    p.op = RTUNE_SUMSQ, r = of(&p, x + 1, NULL, 0x1p50);
    assert_int_equal(word(&r, 0), UINT64_C(9) << 48);
}

/* A sum of few elements, worked out here in the order of docs/REPRODUCIBLE.md. */
static void test_reproducible(void **state) {
    enum { N = 3 * 2048 + 5 }; /* f32: leaves of 2048 */
    static float x[N];
    float leaf[4];
    struct rtune_problem p = problem(RTUNE_SUM, RTUNE_F32, N);
    (void)state;
    reference_fill(&p, REFERENCE_ROUNDING, 1, x, N);
    for (int l = 0; l < 4; l++) {
        float a[128] = {0};
        for (int i = 2048 * l; i < N && i < 2048 * (l + 1); i++)
            a[i % 128] += x[i];
        for (int d = 64; d > 0; d /= 2)
            for (int k = 0; k < d; k++)
                a[k] += a[k + d];
        leaf[l] = a[0];
    }
    p.mode = RTUNE_REPRODUCIBLE;
    struct reference_result r = of(&p, x, NULL, 1);
    assert_true(number(&r) == (double)((leaf[0] + leaf[1]) + (leaf[2] + leaf[3])));
    p.n = 3 * 2048, r = of(&p, x, NULL, 1);
    assert_true(number(&r) == (double)((leaf[0] + leaf[1]) + leaf[2]));
    p.n = 0, r = of(&p, x, NULL, 1);
    assert_int_equal(word(&r, 0), 0);
}

static void test_golden(void **state) {
    static double memory[2][GOLDEN_N_MAX];
    (void)state;
    for (size_t k = 0; k < GOLDEN_ROWS; k++) {
        const struct golden_row *row = &golden_rows[k];
        struct rtune_problem p = problem(row->op, row->dtype, row->n);
        p.mode = RTUNE_REPRODUCIBLE;
        for (uint64_t i = 0; i < row->n; i++) {
            element_put(row->dtype, memory[0], i, golden_element(row->dtype, row->seed, i));
            element_put(row->dtype, memory[1], i, golden_element(row->dtype, row->seed + 1, i));
        }
        const struct reference_result r = of(&p, memory[0], memory[1], 1);
        assert_int_equal(word(&r, 0), row->bits);
    }
}

/* Inexact sums: an interval that has the exact value and not much else. */
static void test_bounds(void **state) {
    static float x[10000];
    char message[256];
    struct rtune_problem p = problem(RTUNE_SUM, RTUNE_F32, 10000);
    (void)state;
    reference_fill(&p, REFERENCE_ROUNDING, 3, x, 10000);
    double sum = 0;
    for (int i = 0; i < 10000; i++)
        sum += (double)x[i];
    for (int mode = RTUNE_PLAIN; mode <= RTUNE_KAHAN; mode++) {
        p.mode = (enum rtune_mode)mode;
        const struct reference_result r = of(&p, x, NULL, 1);
        const float good = (float)sum, bad = good + 10;
        assert_false(r.exact || r.open);
        assert_true(reference_check(&p, &r, &good, message, sizeof message));
        assert_false(reference_check(&p, &r, &bad, message, sizeof message));
        assert_non_null(strstr(message, "should be from"));
    }
    assert_true(of(&p, x, NULL, 1).high - of(&p, x, NULL, 1).low < 1e-3L);
}

static void test_wrong_bits_are_caught(void **state) {
    const int32_t x[] = {1, 2};
    char message[256];
    int64_t got = 3;
    struct rtune_problem p = problem(RTUNE_SUM, RTUNE_I32, 2);
    struct reference_result r = of(&p, x, NULL, 1);
    (void)state;
    assert_true(reference_check(&p, &r, &got, message, sizeof message));
    got |= INT64_MIN;
    assert_false(reference_check(&p, &r, &got, message, sizeof message));
    assert_string_equal(message, "0x8000000000000003, should be 0x0000000000000003");
}

static void test_accumulate(void **state) {
    const uint8_t x[] = {200, 100};
    const float y[] = {1, 2};
    const float half[2] = {0.5f, 9};
    uint64_t old = UINT64_MAX;
    struct rtune_problem p = problem(RTUNE_SUM, RTUNE_U8, 2);
    struct reference_result r = of(&p, x, NULL, 1);
    (void)state;
    reference_accumulate(&p, &old, &r);
    assert_int_equal(word(&r, 0), 299);
    p.op = RTUNE_MINMAX, r = of(&p, x, NULL, 1);
    old = 0xff96; /* {150, 255} */
    reference_accumulate(&p, &old, &r);
    assert_int_equal(word(&r, 0), 0xff64);
    p = problem(RTUNE_MINMAX, RTUNE_F32, 2), r = of(&p, y, NULL, 1);
    reference_accumulate(&p, half, &r);
    assert_true(memcmp(r.bytes, half, 8) == 0);
    p.op = RTUNE_SUM, r = of(&p, y, NULL, 1);
    reference_accumulate(&p, half, &r);
    assert_true(number(&r) == 3.5);
    p.op = RTUNE_ALL, old = 0, r = of(&p, y, NULL, 1);
    reference_accumulate(&p, &old, &r);
    assert_int_equal(word(&r, 0), 0);
}

static struct reference_result norm_of(enum rtune_dtype dtype, enum rtune_acc acc,
                                       enum rtune_mode mode, const double *x, uint64_t n) {
    unsigned char in[64];
    struct rtune_problem p = problem(RTUNE_SUMSQ, dtype, n);
    p.acc = acc;
    p.mode = mode;
    p.flags = RTUNE_ROOT;
    for (uint64_t i = 0; i < n; i++)
        element_put(dtype, in, i, element_round(dtype, x[i]));
    return of(&p, in, NULL, 1);
}

static void test_root(void **state) {
    static const enum rtune_mode modes[] = {RTUNE_PLAIN, RTUNE_KAHAN, RTUNE_REPRODUCIBLE};
    static const double sides[] = {-3, 4}, ones[] = {1, 1}, large[] = {30000, -40000},
                        huge[] = {1.5e19, 1.5e19}, tiny[] = {1e-25},
                        strange[] = {-INFINITY, 1, NAN};
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct reference_result r = norm_of(RTUNE_F32, RTUNE_WIDE, modes[m], sides, 2);
        assert_true(number(&r) == 5);
        r = norm_of(RTUNE_F32, RTUNE_WIDE, modes[m], ones, 2);
        assert_int_equal(word(&r, 0), 0x3fb504f3); /* 1.41421354 */
        r = norm_of(RTUNE_F64, RTUNE_WIDE, modes[m], ones, 2);
        assert_int_equal(word(&r, 0), UINT64_C(0x3ff6a09e667f3bcd));
        r = norm_of(RTUNE_F32, RTUNE_WIDE, modes[m], ones, 0);
        assert_int_equal(word(&r, 0), 0);
        r = norm_of(RTUNE_F32, RTUNE_WIDE, modes[m], strange, 2);
        assert_int_equal(word(&r, 0), 0x7f800000);
        r = norm_of(RTUNE_F32, RTUNE_WIDE, modes[m], strange, 3);
        assert_int_equal(word(&r, 0), 0x7fc00000);
    }
    struct reference_result r = norm_of(RTUNE_F16, RTUNE_NATIVE, RTUNE_PLAIN, large, 2);
    assert_int_equal(word(&r, 0), 0x7a1a); /* 50000 is 49984 */
    r = norm_of(RTUNE_BF16, RTUNE_NATIVE, RTUNE_PLAIN, ones, 2);
    assert_int_equal(word(&r, 0), 0x3fb5);
    /* Within bounds where the sum of the squares overflows f32, or they underflow. */
    r = norm_of(RTUNE_F32, RTUNE_WIDE, RTUNE_KAHAN, huge, 2);
    assert_true(!r.exact && !r.open && isinf(r.low) && isinf(r.high));
    r = norm_of(RTUNE_F32, RTUNE_WIDE, RTUNE_PLAIN, tiny, 1);
    assert_true(!r.exact && r.low >= 0 && r.low <= 0 && r.high < 0x1p-70);
}

/* The bounds of a norm are the roots of those of its sum. */
static void test_root_bounds(void **state) {
    enum { N = 1000 };
    static float x[N];
    struct rtune_problem p = problem(RTUNE_SUMSQ, RTUNE_F32, N);
    char message[256];
    (void)state;
    reference_fill(&p, REFERENCE_ROUNDING, 7, x, N);
    const struct reference_result sum = of(&p, x, NULL, 1);
    p.flags = RTUNE_ROOT;
    const struct reference_result norm = of(&p, x, NULL, 1);
    assert_false(sum.exact || norm.exact);
    const float ends[] = {sqrtf((float)sum.low), sqrtf((float)sum.high)};
    assert_true(norm.low >= ends[0] && norm.low <= ends[0]);
    assert_true(norm.high >= ends[1] && norm.high <= ends[1]);
    for (int k = 0; k < 2; k++) {
        const float beyond = nextafterf(ends[k], k ? INFINITY : 0);
        assert_true(reference_check(&p, &norm, &ends[k], message, sizeof message));
        assert_false(reference_check(&p, &norm, &beyond, message, sizeof message));
    }
}

/* Sizes agree with the library's, and no data set leaves a result open. */
static void test_every_problem_has_a_reference(void **state) {
    enum { N = 4097 };
    static uint64_t x[N], y[N];
    struct rtune_problem p;
    unsigned count = 0;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &p); k++, count++) {
        assert_int_equal(reference_size(&p), rtune_result_size(&p));
        for (int set = 0; set < REFERENCE_DATA_COUNT; set++) {
            p.n = N;
            reference_fill(&p, (enum reference_data)set, 1, x, N);
            reference_fill(&p, (enum reference_data)set, 2, y, N);
            const struct reference_result r = of(&p, x, y, 1000.3);
            assert_false(r.open && set != REFERENCE_SPECIAL);
            if (set == REFERENCE_EXACT) assert_true(r.exact);
        }
    }
    assert_true(count > 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_formats),
        cmocka_unit_test(test_formats_round_trip),
        cmocka_unit_test(test_exact_sums),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_float_sums),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_wrong_bits_are_caught),
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_root_bounds),
        cmocka_unit_test(test_every_problem_has_a_reference),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
