/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_cases.c: inputs that reductions elsewhere got wrong, with the right answer, on every cpu
 * kernel and number of threads. The names say the kind: identities, NaN, signed zero, integer
 * width, alignment.
 */
#include "tests/cpu/everywhere.h"

#include "base/num.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct rtune_problem problem_of(enum rtune_op op, enum rtune_dtype dtype, uint64_t n) {
    return RTUNE_PROBLEM(op, dtype, n);
}

/* n equal floats of either type, freed by the caller. */
static void *equal_f32(float value, uint64_t n) {
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (uint64_t i = 0; i < n; i++)
        x[i] = value;
    return x;
}

static void *equal_f64(double value, uint64_t n) {
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (uint64_t i = 0; i < n; i++)
        x[i] = value;
    return x;
}

/* op over n copies of value is result, in f32 and f64, under a NaN rule. */
static void check_equal(enum rtune_op op, enum rtune_nan rule, double value, uint64_t n,
                        double result) {
    struct rtune_problem narrow = problem_of(op, RTUNE_F32, n), full = problem_of(op, RTUNE_F64, n);
    void *x = equal_f32((float)value, n), *y = equal_f64(value, n);
    narrow.nan_rule = full.nan_rule = rule;
    check_f32(&narrow, x, (float)result);
    check_f64(&full, y, result);
    free(x);
    free(y);
}

/* A01: the identity of min is +inf, not the largest finite value. */
static void test_all_infinite(void **state) {
    static const uint64_t sizes[] = {1, 10, 1000, 8193};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
        for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
            check_equal(RTUNE_MIN, (enum rtune_nan)rule, INFINITY, sizes[k], INFINITY);
            check_equal(RTUNE_MAX, (enum rtune_nan)rule, -INFINITY, sizes[k], -INFINITY);
        }
}

/* A03: max of negatives. */
static void test_all_negative(void **state) {
    enum { N = 777 };
    float x[N];
    double y[N];
    struct rtune_problem narrow = problem_of(RTUNE_MAX, RTUNE_F32, N);
    struct rtune_problem full = problem_of(RTUNE_MAX, RTUNE_F64, N);
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = -(float)(i + 1), y[i] = -(double)(i + 1);
    check_f32(&narrow, x, -1.0f);
    check_f64(&full, y, -1.0);
}

/* A05: one NaN, anywhere. */
static void test_one_nan(void **state) {
    enum { N = 4096 };
    static const int places[] = {0, 1, 31, 32, 255, 2048, 4095};
    float small[] = {1, 5, NAN, 2, 3}, x[N];
    struct rtune_problem problem = problem_of(RTUNE_MAX, RTUNE_F32, 5);
    (void)state;
    check_f32(&problem, small, NAN);
    problem.nan_rule = RTUNE_NAN_IGNORE;
    check_f32(&problem, small, 5.0f);
    problem.n = N;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(places); k++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(i * 37 % N) / N;
        const int largest = (N - 1) * 2989 % N; /* 2989 is 37's inverse modulo 4096 */
        assert_true(x[largest] == (float)(N - 1) / N);
        x[places[k]] = NAN;
        const float rest = places[k] == largest ? (float)(N - 2) / N : (float)(N - 1) / N;
        problem.nan_rule = RTUNE_NAN_PROPAGATE;
        check_f32(&problem, x, NAN);
        problem.nan_rule = RTUNE_NAN_IGNORE;
        check_f32(&problem, x, rest);
    }
}

/* A07: nothing but NaN. */
static void test_all_nan(void **state) {
    static const uint64_t sizes[] = {1, 33, 5000};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
        for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
            check_equal(RTUNE_MIN, (enum rtune_nan)rule, NAN, sizes[k], NAN);
            check_equal(RTUNE_MAX, (enum rtune_nan)rule, NAN, sizes[k], NAN);
        }
}

/* NaNs that fill what one thread gets: the rule holds where partial results meet, too. */
static void test_nan_halves(void **state) {
    enum { N = 4096 };
    float x[N];
    double y[N];
    (void)state;
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < N; i++)
            x[i] = i / (N / 2) == half ? NAN : 5.0f, y[i] = x[i];
        for (int op = 0; op < 2; op++) {
            struct rtune_problem narrow = problem_of(op ? RTUNE_MIN : RTUNE_MAX, RTUNE_F32, N);
            struct rtune_problem full = problem_of(narrow.op, RTUNE_F64, N);
            check_f32(&narrow, x, NAN);
            check_f64(&full, y, NAN);
            narrow.nan_rule = full.nan_rule = RTUNE_NAN_IGNORE;
            check_f32(&narrow, x, 5.0f);
            check_f64(&full, y, 5.0);
        }
    }
}

/* A13: zeros of one sign, and -0 < +0. */
static void test_zeros(void **state) {
    static const uint64_t sizes[] = {1024, 8192, 8193, 16385};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
        for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
            struct rtune_problem problem = problem_of(RTUNE_MAX, RTUNE_F32, sizes[k]);
            float *x = equal_f32(-0.0f, sizes[k]);
            check_equal(RTUNE_MAX, (enum rtune_nan)rule, -0.0, sizes[k], -0.0);
            check_equal(RTUNE_MIN, (enum rtune_nan)rule, 0.0, sizes[k], 0.0);
            problem.nan_rule = (enum rtune_nan)rule;
            x[sizes[k] / 3] = 0.0f;
            check_f32(&problem, x, 0.0f);
            problem.op = RTUNE_MIN;
            check_f32(&problem, x, -0.0f);
            free(x);
        }
    check_equal(RTUNE_SUM, RTUNE_NAN_PROPAGATE, -0.0, 1025, 0.0);
}

/* A19: a 64-bit result of 32-bit elements, in every merge. */
static void test_wide_integers(void **state) {
    const int32_t six[6] = {1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30};
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_I32, 6);
    int32_t *x = malloc(100003 * sizeof *x);
    (void)state;
    check_int(&problem, six, 6442450944);
    problem.acc = RTUNE_NATIVE;
    check_int(&problem, six, 0x80000000);
    assert_non_null(x);
    for (int i = 0; i < 100003; i++)
        x[i] = INT32_MIN;
    problem = problem_of(RTUNE_SUM, RTUNE_I32, 100003);
    check_int(&problem, x, INT64_C(100003) * INT32_MIN);
    for (int i = 0; i < 100003; i++)
        x[i] = INT32_MAX;
    check_int(&problem, x, INT64_C(100003) * INT32_MAX);
    for (int i = 0; i < 100003; i++)
        x[i] = 1;
    x[17] = x[99000] = -65536, x[50000] = 3;
    problem.op = RTUNE_PROD;
    check_int(&problem, x, INT64_C(3) << 32);
    free(x);
}

/* A21: idle lanes of a product are 1. */
static void test_product_of_ones(void **state) {
    struct rtune_problem narrow = problem_of(RTUNE_PROD, RTUNE_F32, 1000003);
    struct rtune_problem wide = problem_of(RTUNE_PROD, RTUNE_I64, 65);
    struct rtune_problem small = problem_of(RTUNE_PROD, RTUNE_I32, 65);
    void *x = equal_f32(1.0f, narrow.n);
    int64_t y[65];
    int32_t z[65];
    (void)state;
    for (int i = 0; i < 65; i++)
        y[i] = z[i] = 1;
    check_f32(&narrow, x, 1.0f);
    check_int(&wide, y, 1);
    check_int(&small, z, 1);
    free(x);
}

/* A23: 64-bit integers keep their low bit. */
static void test_large_integers(void **state) {
    const int64_t x[] = {9007199254740992, 9007199254740993}, y[] = {9007199254740992, 1};
    struct rtune_problem problem = problem_of(RTUNE_MAX, RTUNE_I64, 2);
    (void)state;
    check_int(&problem, x, 9007199254740993);
    problem.op = RTUNE_MIN;
    check_int(&problem, x, 9007199254740992);
    problem.op = RTUNE_SUM;
    check_int(&problem, y, 9007199254740993);
}

/* A25: one element between two pages that fault. */
static void test_one_element(void **state) {
    struct rtune_problem problem;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        const size_t size = rtune_dtype_size(problem.dtype);
        struct guarded memory;
        problem.n = 1;
        guarded_make(&memory, size);
        data_fill(&problem, DATA_EXACT, k, memory.end - size, 1);
        const struct expected expected = reference(&problem, DATA_EXACT, memory.end - size);
        check_everywhere(&problem, memory.end - size, &expected);
        guarded_free(&memory);
    }
}

/* A27: bases aligned to one element only. */
static void test_unaligned(void **state) {
    enum { N = 4097, ALL = 5000, OFFSETS = 4 };
    static float x[ALL];
    static double y[ALL];
    static int32_t z[ALL];
    (void)state;
    for (int offset = 0; offset < OFFSETS; offset++) {
        struct rtune_problem narrow = problem_of(RTUNE_SUM, RTUNE_F32, N);
        struct rtune_problem full = problem_of(RTUNE_SUM, RTUNE_F64, N);
        struct rtune_problem integers = problem_of(RTUNE_SUM, RTUNE_I32, N);
        for (int i = 0; i < N; i++)
            x[offset + i] = (float)(i % 100), y[offset + i] = i % 100, z[offset + i] = i % 100;
        check_f32(&narrow, x + offset, 202656.0f);
        check_f64(&full, y + offset, 202656.0);
        check_int(&integers, z + offset, 202656);
    }
}

/* A37: more threads than elements. */
static void test_tiny(void **state) {
    const float x[] = {1.25f, 2.5f};
    const int32_t y[] = {7};
    struct rtune_problem two = problem_of(RTUNE_SUM, RTUNE_F32, 2);
    struct rtune_problem one = problem_of(RTUNE_SUM, RTUNE_I32, 1);
    (void)state;
    check_f32(&two, x, 3.75f);
    check_int(&one, y, 7);
}

static float get_f32(const union rtune_cpu_value *value) {
    float x;
    memcpy(&x, value->bytes, sizeof x);
    return x;
}

/* A42: running sums of ones do not stall at 2^24. */
static void test_many_ones(void **state) {
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F32, UINT64_C(1) << 25);
    struct rtune_config config = rtune_config_default(&problem, false);
    void *x = equal_f32(1.0f, problem.n);
    (void)state;
    for (size_t k = 0; (config.items = rtune_cpu_items_at(RTUNE_F32, RTUNE_ISA_BASE, k)); k++) {
        for (int isa = 0; isa <= (int)rtune_isa_detect(); isa++) {
            struct rtune_cpu_kernel kernel;
            union rtune_cpu_value value;
            assert_int_equal(
                rtune_cpu_kernel_find(&problem, &config, (enum rtune_isa)isa, &kernel, NULL),
                RTUNE_OK);
            kernel.reduce(x, problem.n, &value);
            assert_float_equal(get_f32(&value), 33554432.0f, 33554432.0f * 1e-6f);
        }
        const union rtune_cpu_value value =
            device_reduce(everywhere_device(4), &problem, &config, 4, x);
        assert_float_equal(get_f32(&value), 33554432.0f, 33554432.0f * 1e-6f);
    }
    free(x);
}

/* The same beyond 2^24 in every lane of one vector: one small buffer of ones, mapped again and
 * again. */
static void test_very_many_ones(void **state) {
    enum { PIECE = 2 << 20, PIECES = 640 };
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F32, (uint64_t)PIECE / 4 * PIECES);
    struct rtune_config config = rtune_config_default(&problem, false);
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* its shadow of so much memory does not fit everywhere */
#endif
    float *piece = equal_f32(1.0f, PIECE / sizeof(float));
    int fd = memfd_create("ones", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, piece, PIECE) == PIECE);
    char *all = mmap(NULL, (size_t)PIECE * PIECES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    for (size_t k = 0; k < PIECES; k++)
        assert_true(mmap(all + k * PIECE, PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) !=
                    MAP_FAILED);
    config.items = rtune_cpu_items_at(RTUNE_F32, RTUNE_ISA_BASE, 0);
    const union rtune_cpu_value value =
        device_reduce(everywhere_device(1), &problem, &config, 1, all);
    assert_true(problem.n > UINT64_C(1) << 28 && get_f32(&value) == (float)problem.n);
    munmap(all, (size_t)PIECE * PIECES);
    close(fd);
    free(piece);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_infinite),   cmocka_unit_test(test_all_negative),
        cmocka_unit_test(test_one_nan),        cmocka_unit_test(test_all_nan),
        cmocka_unit_test(test_nan_halves),     cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_wide_integers),  cmocka_unit_test(test_product_of_ones),
        cmocka_unit_test(test_large_integers), cmocka_unit_test(test_one_element),
        cmocka_unit_test(test_unaligned),      cmocka_unit_test(test_tiny),
        cmocka_unit_test(test_many_ones),      cmocka_unit_test(test_very_many_ones),
    };
    return cmocka_run_group_tests(tests, everywhere_setup, everywhere_teardown);
}
