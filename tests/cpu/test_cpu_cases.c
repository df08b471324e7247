/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_cases.c: inputs whose least or greatest element, or its index, reductions elsewhere got
 * wrong, with the right answer, on every cpu kernel and number of threads. The names say the kind:
 * identities, NaN, signed zero, ties.
 */
#include "tests/cpu/everywhere.h"

#include "base/num.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const enum rtune_dtype floats[] = {RTUNE_F16, RTUNE_BF16, RTUNE_F32, RTUNE_F64};
static const enum rtune_dtype all_dtypes[] = {RTUNE_I8,  RTUNE_U8,   RTUNE_I16, RTUNE_U16,
                                              RTUNE_I32, RTUNE_U32,  RTUNE_I64, RTUNE_U64,
                                              RTUNE_F16, RTUNE_BF16, RTUNE_F32, RTUNE_F64};

/* min or max, and their arg op, of n copies of value, in every type of floats. */
static void check_equal(bool greatest, enum rtune_nan rule, double value, uint64_t n) {
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(floats); k++) {
        struct rtune_problem problem = problem_of(greatest ? RTUNE_MAX : RTUNE_MIN, floats[k], n);
        void *x = equal_elements(floats[k], value, n);
        problem.nan_rule = rule;
        check_value(&problem, x, value);
        problem.op = greatest ? RTUNE_ARGMAX : RTUNE_ARGMIN;
        check_arg(&problem, x, value, 0);
        free(x);
    }
}

/* A01: the identity of min is +inf, not the largest finite value. */
static void test_all_infinite(void **state) {
    static const uint64_t sizes[] = {1, 10, 1000, 8193};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
        for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
            check_equal(false, (enum rtune_nan)rule, INFINITY, sizes[k]);
            check_equal(true, (enum rtune_nan)rule, -INFINITY, sizes[k]);
        }
}

/* A03: max of negatives. */
static void test_all_negative(void **state) {
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(floats); k++) {
        const uint64_t n = floats[k] == RTUNE_BF16 ? 200 : 777;
        struct rtune_problem problem = problem_of(RTUNE_MAX, floats[k], n);
        void *x = equal_elements(floats[k], 0, n);
        for (uint64_t i = 0; i < n; i++)
            put(floats[k], x, i, -(double)(i + 1));
        check_value(&problem, x, -1);
        problem.op = RTUNE_ARGMAX;
        check_arg(&problem, x, -1, 0);
        free(x);
    }
}

/* max and argmax under both rules, with a NaN at place and the greatest other value at rest. */
static void check_one_nan(enum rtune_dtype dtype, const void *x, uint64_t n, uint64_t place,
                          double value, uint64_t rest) {
    struct rtune_problem problem = problem_of(RTUNE_MAX, dtype, n);
    check_value(&problem, x, NAN);
    problem.op = RTUNE_ARGMAX;
    check_arg(&problem, x, NAN, place);
    problem.nan_rule = RTUNE_NAN_IGNORE;
    check_arg(&problem, x, value, rest);
    problem.op = RTUNE_MAX;
    check_value(&problem, x, value);
}

/* A05: one NaN, anywhere. */
static void test_one_nan(void **state) {
    enum { N = 4096 };
    static const uint64_t places[] = {0, 1, 31, 32, 255, 2048, 4095};
    static const double small[] = {1, 5, NAN, 2, 3};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(floats); k++) {
        void *x = equal_elements(floats[k], 0, N);
        for (uint64_t i = 0; i < 5; i++)
            put(floats[k], x, i, small[i]);
        check_one_nan(floats[k], x, 5, 2, 5, 1);
        for (size_t j = 0; j < RTUNE_ARRAY_SIZE(places); j++) {
            for (uint64_t i = 0; i < N; i++)
                put(floats[k], x, i, (double)(i * 37 % 128) / 128);
            put(floats[k], x, places[j], NAN);
            /* 83 * 37 is 127 modulo 128 */
            check_one_nan(floats[k], x, N, places[j], 127.0 / 128, 83);
        }
        free(x);
    }
}

/* A07: nothing but NaN. */
static void test_all_nan(void **state) {
    static const uint64_t sizes[] = {1, 33, 5000};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
        for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
            check_equal(false, (enum rtune_nan)rule, NAN, sizes[k]);
            check_equal(true, (enum rtune_nan)rule, NAN, sizes[k]);
        }
}

/* NaNs that fill what one thread gets: the rule holds where partial results meet, too. */
static void test_nan_halves(void **state) {
    enum { N = 4096 };
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(floats); k++)
        for (uint64_t half = 0; half < 2; half++) {
            void *x = equal_elements(floats[k], 5, N);
            for (uint64_t i = half * N / 2; i < (half + 1) * N / 2; i++)
                put(floats[k], x, i, NAN);
            for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
                const double value = rule == RTUNE_NAN_PROPAGATE ? NAN : 5;
                const uint64_t bits = bits_of(floats[k], value);
                const uint64_t index = (half == 0) == (rule == RTUNE_NAN_IGNORE) ? N / 2 : 0;
                const unsigned size = 8 * (unsigned)rtune_dtype_size(floats[k]);
                struct rtune_problem problem = problem_of(RTUNE_MIN, floats[k], N);
                problem.nan_rule = (enum rtune_nan)rule;
                check_value(&problem, x, value);
                problem.op = RTUNE_MAX;
                check_value(&problem, x, value);
                problem.op = RTUNE_MINMAX;
                check_bits(&problem, x, size < 64 ? bits | bits << size : bits, bits);
                problem.op = RTUNE_ARGMIN;
                check_arg(&problem, x, value, index);
            }
            free(x);
        }
}

/* A09: the first of equals. */
static void test_ties(void **state) {
    enum { N = 1000003 };
    static const double first[] = {2, 3, 0, 3, 3}, second[] = {1, 3, 1, 3, 1};
    static const double zeros[] = {1, 0.0, -0.0, 0.0}, more[] = {1, -0.0, 0.0, -0.0};
    struct rtune_problem problem = problem_of(RTUNE_ARGMIN, RTUNE_I32, N);
    void *sevens = equal_elements(RTUNE_I32, 7, N);
    (void)state;
    check_arg(&problem, sevens, 7, 0);
    problem.op = RTUNE_ARGMAX;
    check_arg(&problem, sevens, 7, 0);
    free(sevens);
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(all_dtypes); k++) {
        unsigned char x[5 * 8];
        problem = problem_of(RTUNE_ARGMAX, all_dtypes[k], 5);
        for (uint64_t i = 0; i < 5; i++)
            put(all_dtypes[k], x, i, first[i]);
        check_arg(&problem, x, 3, 1);
        for (uint64_t i = 0; i < 5; i++)
            put(all_dtypes[k], x, i, second[i]);
        problem.op = RTUNE_ARGMIN;
        check_arg(&problem, x, 1, 0);
    }
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(floats); k++) {
        unsigned char x[4 * 8];
        problem = problem_of(RTUNE_ARGMIN, floats[k], 4);
        for (uint64_t i = 0; i < 4; i++)
            put(floats[k], x, i, zeros[i]);
        check_arg(&problem, x, 0.0, 1);
        for (uint64_t i = 0; i < 4; i++)
            put(floats[k], x, i, more[i]);
        check_arg(&problem, x, -0.0, 1);
        put(floats[k], x, 0, -1);
        problem.op = RTUNE_ARGMAX;
        check_arg(&problem, x, -0.0, 1);
    }
}

/* Zeros of both signs in different blocks and parts are ties, too. */
static void test_far_ties(void **state) {
    enum { N = 100000 };
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(floats); k++) {
        struct rtune_problem problem = problem_of(RTUNE_ARGMIN, floats[k], N);
        void *x = equal_elements(floats[k], 1, N);
        put(floats[k], x, 30001, 0.0);
        put(floats[k], x, 60001, -0.0);
        put(floats[k], x, 99999, -0.0);
        check_arg(&problem, x, 0.0, 30001);
        free(x);
    }
}

/* A12: by value, not by magnitude. */
static void test_negated_ramp(void **state) {
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(floats); k++) {
        struct rtune_problem problem = problem_of(RTUNE_ARGMAX, floats[k], 10);
        unsigned char x[10 * 8];
        for (uint64_t i = 0; i < 10; i++)
            put(floats[k], x, i, -(double)(i + 1));
        check_arg(&problem, x, -1, 0);
        problem.op = RTUNE_ARGMIN;
        check_arg(&problem, x, -10, 9);
    }
}

/* Every block better than the one before it. */
static void test_descending(void **state) {
    enum { N = 50000 };
    struct rtune_problem problem = problem_of(RTUNE_ARGMIN, RTUNE_I32, N);
    void *x = equal_elements(RTUNE_I32, 0, N);
    (void)state;
    for (uint64_t i = 0; i < N; i++)
        put(RTUNE_I32, x, i, -(double)i);
    check_arg(&problem, x, 1 - N, N - 1);
    free(x);
}

/* A13: zeros of one sign, and -0 < +0. */
static void test_zeros(void **state) {
    static const uint64_t sizes[] = {1024, 8192, 8193, 16385};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
        for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
            struct rtune_problem problem = problem_of(RTUNE_MAX, RTUNE_F32, sizes[k]);
            void *x = equal_elements(RTUNE_F32, -0.0, sizes[k]);
            check_equal(true, (enum rtune_nan)rule, -0.0, sizes[k]);
            check_equal(false, (enum rtune_nan)rule, 0.0, sizes[k]);
            problem.nan_rule = (enum rtune_nan)rule;
            put(RTUNE_F32, x, sizes[k] / 3, 0.0);
            check_value(&problem, x, 0.0);
            problem.op = RTUNE_MIN;
            check_value(&problem, x, -0.0);
            problem.op = RTUNE_MINMAX;
            check_bits(&problem, x, 0x80000000, 0);
            free(x);
        }
}

/* A23: 64-bit integers keep their low bit. */
static void test_large_integers(void **state) {
    const int64_t x[] = {9007199254740992, 9007199254740993}, y[] = {9007199254740992, 1};
    const uint64_t z[] = {UINT64_MAX - 1, UINT64_MAX, 5};
    struct rtune_problem problem = problem_of(RTUNE_MAX, RTUNE_I64, 2);
    (void)state;
    check_int(&problem, x, 9007199254740993);
    problem.op = RTUNE_ARGMAX;
    check_bits(&problem, x, 9007199254740993, 1);
    problem.op = RTUNE_MIN;
    check_int(&problem, x, 9007199254740992);
    problem.op = RTUNE_SUM;
    check_int(&problem, y, 9007199254740993);
    problem = problem_of(RTUNE_ARGMAX, RTUNE_U64, 3);
    check_bits(&problem, z, UINT64_MAX, 1);
    problem.op = RTUNE_MINMAX;
    check_bits(&problem, z, 5, UINT64_MAX);
}

/* A35: truth is being nonzero, and the result is 0 or 1. */
static void test_truth(void **state) {
    static const struct {
        enum rtune_dtype dtype;
        double x[3];
        uint64_t n;
        int any, all, count;
    } cases[] = {
        {RTUNE_U8, {2, 4, 6}, 3, 1, 1, 3},
        {RTUNE_F32, {0.5}, 1, 1, 1, 1},
        {RTUNE_I32, {256, 0}, 2, 1, 0, 1},
        {RTUNE_I64, {4294967296.0}, 1, 1, 1, 1},
        {RTUNE_F32, {1, 0}, 2, 1, 0, 1},
        {RTUNE_F16, {-0.0, 0.0, -0.0}, 3, 0, 0, 0},
        {RTUNE_F64, {NAN, -0.0}, 2, 1, 0, 1},
        {RTUNE_BF16, {NAN, 0x1p-133, 1}, 3, 1, 1, 3},
        {RTUNE_F16, {0x1p-24, 0x1p-24}, 2, 1, 1, 2},
        {RTUNE_I16, {-32768, 0}, 2, 1, 0, 1},
    };
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(cases); k++) {
        struct rtune_problem problem = problem_of(RTUNE_ANY, cases[k].dtype, cases[k].n);
        unsigned char x[3 * 8];
        for (uint64_t i = 0; i < cases[k].n; i++)
            put(cases[k].dtype, x, i, cases[k].x[i]);
        check_int(&problem, x, cases[k].any);
        problem.op = RTUNE_ALL;
        check_int(&problem, x, cases[k].all);
        problem.op = RTUNE_COUNT_NONZERO;
        check_int(&problem, x, cases[k].count);
    }
}

/* The same past what a lane of 8 or 16 bits counts to. */
static void test_many_truths(void **state) {
    enum { N = 600000 };
    static const enum rtune_dtype dtypes[] = {RTUNE_I8, RTUNE_U16, RTUNE_F16, RTUNE_F32};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(dtypes); k++) {
        struct rtune_problem problem = problem_of(RTUNE_COUNT_NONZERO, dtypes[k], N);
        void *x = equal_elements(dtypes[k], 0, N);
        check_int(&problem, x, 0);
        problem.op = RTUNE_ANY;
        check_int(&problem, x, 0);
        put(dtypes[k], x, N - 1, 1);
        check_int(&problem, x, 1);
        free(x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_infinite),   cmocka_unit_test(test_all_negative),
        cmocka_unit_test(test_one_nan),        cmocka_unit_test(test_all_nan),
        cmocka_unit_test(test_nan_halves),     cmocka_unit_test(test_ties),
        cmocka_unit_test(test_far_ties),       cmocka_unit_test(test_negated_ramp),
        cmocka_unit_test(test_descending),     cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_large_integers), cmocka_unit_test(test_truth),
        cmocka_unit_test(test_many_truths),
    };
    return cmocka_run_group_tests(tests, everywhere_setup, everywhere_teardown);
}
