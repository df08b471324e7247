/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_sums.c: inputs whose sum or product reductions elsewhere got wrong, with the right
 * answer, on every cpu kernel and number of threads. The names say the kind: accumulators that are
 * too narrow, padding, alignment, sizes, infinities, roundings.
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

/* op over n copies of value is result. */
static void check_equal(enum rtune_op op, enum rtune_dtype dtype, enum rtune_acc acc, double value,
                        uint64_t n, double result) {
    struct rtune_problem problem = problem_of(op, dtype, n);
    void *x = equal_elements(dtype, value, n);
    problem.acc = acc;
    check_value(&problem, x, result);
    free(x);
}

/* A15: halves are not summed in halves. */
static void test_half_ones(void **state) {
    (void)state;
    check_equal(RTUNE_SUM, RTUNE_F16, RTUNE_WIDE, 1, 5000, 5000);
    check_equal(RTUNE_SUM, RTUNE_F16, RTUNE_NATIVE, 1, 5000, 5000);
    check_equal(RTUNE_SUM, RTUNE_BF16, RTUNE_WIDE, 1, 5000, 5000);
    check_equal(RTUNE_SUM, RTUNE_BF16, RTUNE_NATIVE, 1, 5000, 4992);
}

/* A17: one rounding to half at the end. */
static void test_half_rounding(void **state) {
    static const double pairs[][3] = {
        {65472, 32, 65504}, {65504, 15, 65504}, {65504, 16, INFINITY}, {-65504, -16, -INFINITY}};
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(pairs); k++) {
        struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F16, 2);
        unsigned char x[4];
        put(RTUNE_F16, x, 0, pairs[k][0]);
        put(RTUNE_F16, x, 1, pairs[k][1]);
        check_value(&problem, x, pairs[k][0] + pairs[k][1]);
        problem.acc = RTUNE_NATIVE;
        check_value(&problem, x, pairs[k][2]);
    }
    check_equal(RTUNE_SUM, RTUNE_F16, RTUNE_WIDE, 1, 70000, 70000);
    check_equal(RTUNE_SUM, RTUNE_F16, RTUNE_NATIVE, 1, 70000, INFINITY);
    /* subnormal halves, and ties to even among them */
    check_equal(RTUNE_SUM, RTUNE_F16, RTUNE_NATIVE, 0x1p-24, 3, 0x1.8p-23);
    check_equal(RTUNE_PROD, RTUNE_F16, RTUNE_NATIVE, 0x1p-8, 3, 0x1p-24);
    check_equal(RTUNE_PROD, RTUNE_F16, RTUNE_NATIVE, 0x1p-5, 5, 0);
}

/* A19: a 64-bit result of narrow elements, in every merge. */
static void test_wide_integers(void **state) {
    enum { N = 100003 };
    static const struct {
        enum rtune_dtype dtype;
        double value;
    } cases[] = {{RTUNE_I8, 100},         {RTUNE_I8, -128},           {RTUNE_U8, 255},
                 {RTUNE_I16, 32767},      {RTUNE_I16, -32768},        {RTUNE_U16, 65535},
                 {RTUNE_I32, 1073741824}, {RTUNE_I32, -2147483648.0}, {RTUNE_U32, 4294967295.0}};
    (void)state;
    check_equal(RTUNE_SUM, RTUNE_I32, RTUNE_WIDE, 1073741824, 6, 6442450944.0);
    check_equal(RTUNE_SUM, RTUNE_I32, RTUNE_NATIVE, 1073741824, 6, -2147483648.0);
    check_equal(RTUNE_SUM, RTUNE_I8, RTUNE_WIDE, 100, 1000, 100000);
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(cases); k++) {
        const double x = cases[k].value;
        struct rtune_problem problem = problem_of(RTUNE_SUM, cases[k].dtype, N);
        void *in = equal_elements(cases[k].dtype, x, N);
        check_int(&problem, in, (int64_t)(x * N));
        problem.acc = RTUNE_NATIVE;
        check_int(&problem, in, (int64_t)(x * N));
        problem.op = RTUNE_ASUM, problem.acc = RTUNE_WIDE;
        check_int(&problem, in, (int64_t)(fabs(x) * N));
        const uint64_t square = (uint64_t)fabs(x) * (uint64_t)fabs(x);
        problem.op = RTUNE_SUMSQ;
        check_int(&problem, in, (int64_t)(square * N));
        problem.op = RTUNE_DOT;
        check_int(&problem, in, (int64_t)(square * N));
        free(in);
    }
}

/* A21: idle lanes of a product are 1. */
static void test_product_of_ones(void **state) {
    int32_t x[1000];
    struct rtune_problem problem = problem_of(RTUNE_PROD, RTUNE_I32, 1000);
    (void)state;
    check_equal(RTUNE_PROD, RTUNE_I8, RTUNE_WIDE, 1, 24000, 1);
    check_equal(RTUNE_PROD, RTUNE_F16, RTUNE_WIDE, 1, 4097, 1);
    check_equal(RTUNE_PROD, RTUNE_F16, RTUNE_NATIVE, 1, 4097, 1);
    check_equal(RTUNE_PROD, RTUNE_F32, RTUNE_WIDE, 1, 1000003, 1);
    check_equal(RTUNE_PROD, RTUNE_I64, RTUNE_WIDE, 1, 65, 1);
    for (int i = 0; i < 1000; i++)
        x[i] = 1;
    x[17] = x[990] = -65536, x[500] = 3;
    check_int(&problem, x, INT64_C(3) << 32);
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
        const struct data data = {memory.end - size, memory.end - size, 0.75};
        const struct expected expected = reference(&problem, DATA_EXACT, &data);
        check_everywhere(&problem, &data, &expected);
        guarded_free(&memory);
    }
}

/* A27: bases aligned to one element only. */
static void test_unaligned(void **state) {
    enum { N = 4097, ALL = 5000, OFFSETS = 4 };
    static const enum rtune_dtype dtypes[] = {RTUNE_I8,   RTUNE_U8,  RTUNE_I16,
                                              RTUNE_I32,  RTUNE_I64, RTUNE_F16,
                                              RTUNE_BF16, RTUNE_F32, RTUNE_F64};
    static uint64_t memory[ALL];
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(dtypes); k++)
        for (size_t offset = 0; offset < OFFSETS; offset++) {
            struct rtune_problem problem = problem_of(RTUNE_SUM, dtypes[k], N);
            unsigned char *x = (unsigned char *)memory + offset * rtune_dtype_size(dtypes[k]);
            for (uint64_t i = 0; i < N; i++)
                put(dtypes[k], x, i, (double)(i % 100));
            check_value(&problem, x, 202656);
            problem.acc = RTUNE_NATIVE;
            if (rtune_dtype_info(dtypes[k])->is_float) /* f16: inf, bf16: 202752 */
                check_value(&problem, x, 202656);
            else
                check_int(&problem, x, 202656);
        }
}

/* A37: more threads than elements. */
static void test_tiny(void **state) {
    const float x[] = {1.25f, 2.5f};
    const int32_t y[] = {7};
    struct rtune_problem two = problem_of(RTUNE_SUM, RTUNE_F32, 2);
    struct rtune_problem one = problem_of(RTUNE_SUM, RTUNE_I32, 1);
    (void)state;
    check_value(&two, x, 3.75);
    check_int(&one, y, 7);
}

/* A39: a compensation that is no number does not spoil a sum that is one. */
static void test_kahan_infinities(void **state) {
    static const struct {
        double x[3];
        uint64_t n;
        double sum;
    } cases[] = {{{INFINITY, 0, 1}, 3, INFINITY},
                 {{1, INFINITY, -1}, 3, INFINITY},
                 {{-INFINITY, 2}, 2, -INFINITY},
                 {{INFINITY, 4, -INFINITY}, 3, NAN}};
    static const enum rtune_dtype dtypes[] = {RTUNE_F16, RTUNE_BF16, RTUNE_F32, RTUNE_F64};
    const float large[] = {3e38f, 3e38f};
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F32, 2);
    (void)state;
    problem.mode = RTUNE_KAHAN;
    check_value(&problem, large, INFINITY);
    for (size_t d = 0; d < RTUNE_ARRAY_SIZE(dtypes); d++) {
        void *many = equal_elements(dtypes[d], 1, 5000);
        problem = problem_of(RTUNE_SUM, dtypes[d], 5000);
        problem.mode = RTUNE_KAHAN;
        put(dtypes[d], many, 2500, INFINITY);
        check_value(&problem, many, INFINITY);
        problem.op = RTUNE_DOT;
        check_value(&problem, many, INFINITY);
        free(many);
        problem.op = RTUNE_SUM;
        for (size_t k = 0; k < RTUNE_ARRAY_SIZE(cases); k++) {
            unsigned char x[3 * 8];
            problem.n = cases[k].n;
            for (uint64_t i = 0; i < problem.n; i++)
                put(dtypes[d], x, i, cases[k].x[i]);
            check_value(&problem, x, cases[k].sum);
        }
    }
}

/* What a plain sum loses and a compensated one keeps. */
static void test_kahan_keeps(void **state) {
    enum { N = 10002 };
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F64, N);
    void *x = equal_elements(RTUNE_F64, 0x1p-40, N);
    (void)state;
    put(RTUNE_F64, x, 0, 0x1p40);
    put(RTUNE_F64, x, N - 1, -0x1p40);
    problem.mode = RTUNE_KAHAN;
    check_value(&problem, x, 10000 * 0x1p-40);
    free(x);
    /* the rounding error of a product: (1 + u)^2 - (1 + 2u) */
    const double a[] = {1 + 0x1p-40, -1}, b[] = {1 + 0x1p-40, 1 + 0x1p-39};
    const struct data data = {.in = a, .in2 = b};
    const struct expected expected = {.value = {.bits = bits_of(RTUNE_F64, 0x1p-80)}};
    problem = problem_of(RTUNE_DOT, RTUNE_F64, 2);
    problem.mode = RTUNE_KAHAN;
    check_everywhere(&problem, &data, &expected);
}

/* A44: a reproducible sum of zeros is +0.0. */
static void test_reproducible_zeros(void **state) {
    static const uint64_t sizes[] = {1, 2, 1025};
    static const enum rtune_dtype dtypes[] = {RTUNE_F16, RTUNE_BF16, RTUNE_F32, RTUNE_F64};
    (void)state;
    for (size_t d = 0; d < RTUNE_ARRAY_SIZE(dtypes); d++)
        for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
            for (int mode = 0; mode < RTUNE_FIXED; mode++) {
                struct rtune_problem problem = problem_of(RTUNE_SUM, dtypes[d], sizes[k]);
                void *x = equal_elements(dtypes[d], -0.0, sizes[k]);
                problem.mode = (enum rtune_mode)mode;
                check_value(&problem, x, 0.0);
                for (uint64_t i = 0; i < sizes[k]; i += 2)
                    put(dtypes[d], x, i, 0.0);
                check_value(&problem, x, 0.0);
                free(x);
            }
}

/* Mode fixed: ties, ties that only rounding makes, ranges, NaN. */
static void test_fixed(void **state) {
    static const struct {
        double x, scale;
        int64_t value;
        uint32_t flags;
    } cases[] = {
        {2.5, 1, 2, 0},
        {3.5, 1, 4, 0},
        {-2.5, 1, -2, 0},
        {-0.5, 1, 0, 0},
        {0x1.fffffffffffffp-2, 1, 0, 0},
        {1 + 0x1p-52, 0.5 - 0x1p-54, 1, 0}, /* just above a half, rounds to it */
        {-1 - 0x1p-52, 0.5 - 0x1p-54, -1, 0},
        {1.5 + 0x1p-51, 1 - 3 * 0x1p-53, 1, 0}, /* just below one and a half, rounds to it */
        {0x1.fffffffffffffp51, 1, INT64_C(1) << 52, 0},
        {0x1.0000000000001p51, 1, 2251799813685248, 0},
        {0x1.0000000000003p51, 1, 2251799813685250, 0},
        {0x1p62, 1, INT64_C(1) << 62, 0},
        {0x1p63, 1, INT64_MAX, RTUNE_FIXED_RANGE},
        {-0x1p63, 1, INT64_MIN, 0},
        {-0x1.0000000000001p63, 1, INT64_MIN, RTUNE_FIXED_RANGE},
        {1e300, 1e300, INT64_MAX, RTUNE_FIXED_RANGE},
        {-INFINITY, 1, INT64_MIN, RTUNE_FIXED_RANGE},
        {NAN, 1, 0, RTUNE_FIXED_NAN},
        {INFINITY, 0, 0, RTUNE_FIXED_NAN},
        {0x1p-1074, 0x1.8p1023, 0, 0},
        {0x1p-1000, 0x1.8p1000, 2, 0},
    };
    (void)state;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(cases); k++)
        for (uint64_t n = 1; n <= 1001; n += 1000) {
            double x[1001] = {0};
            struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F64, n);
            struct expected expected = {.tolerance = 0};
            const struct data data = {.in = x, .scale = cases[k].scale};
            problem.mode = RTUNE_FIXED;
            x[n / 2] = cases[k].x;
            memset(&expected.value, 0, sizeof expected.value);
            expected.value.fixed.value = cases[k].value;
            expected.value.fixed.flags = cases[k].flags;
            check_everywhere(&problem, &data, &expected);
        }
}

/* ---- many elements --------------------------------------------------------------------------- */

static double value_of(const struct rtune_problem *problem, const union rtune_cpu_value *value) {
    return (double)decode_float(rtune_result_dtype(problem), value->bits);
}

/* A42: running sums of ones do not stall at 2^24. */
static void test_many_ones(void **state) {
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F32, UINT64_C(1) << 25);
    struct rtune_config config = rtune_config_default(&problem, false);
    void *x = equal_elements(RTUNE_F32, 1, problem.n);
    const struct data data = {.in = x};
    (void)state;
    for (size_t k = 0; (config.items = rtune_cpu_items_at(RTUNE_F32, RTUNE_ISA_BASE, k)); k++)
        for (uint32_t threads = 1; threads <= EVERYWHERE_THREADS; threads += 3) {
            union rtune_cpu_value value =
                device_reduce(everywhere_device(threads), &problem, &config, threads, &data);
            value.bits &= UINT32_MAX;
            assert_true(fabs(value_of(&problem, &value) - 33554432.0) <= 33554432.0 * 1e-6);
        }
    free(x);
}

enum { PIECE = 2 << 20 };

/* pieces times the same PIECE bytes in a row, and then those at last, where that is not NULL. */
static unsigned char *map_again_and_again(const void *piece, size_t pieces, const void *last) {
    const size_t all = PIECE * (pieces + (last != NULL));
    int fd = memfd_create("pieces", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, piece, PIECE) == PIECE);
    if (last) assert_true(write(fd, last, PIECE) == PIECE);
    unsigned char *map = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    for (size_t k = 0; k < all / PIECE; k++)
        assert_true(mmap(map + k * PIECE, PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
                         k < pieces ? 0 : PIECE) != MAP_FAILED);
    close(fd);
    return map;
}

static bool shadows_memory(void) {
#if defined(__SANITIZE_THREAD__)
    return true; /* its shadow of so much memory does not fit everywhere */
#else
    return false;
#endif
}

/* The same beyond 2^24 in every lane of one vector. */
static void test_very_many_ones(void **state) {
    enum { PIECES = 640 };
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F32, (uint64_t)PIECE / 4 * PIECES);
    struct rtune_config config = rtune_config_default(&problem, false);
    (void)state;
    if (shadows_memory()) skip();
    void *piece = equal_elements(RTUNE_F32, 1, PIECE / sizeof(float));
    unsigned char *all = map_again_and_again(piece, PIECES, NULL);
    const struct data data = {.in = all};
    config.items = rtune_cpu_items_at(RTUNE_F32, RTUNE_ISA_BASE, 0);
    const union rtune_cpu_value value =
        device_reduce(everywhere_device(1), &problem, &config, 1, &data);
    assert_true(problem.n > UINT64_C(1) << 28);
    assert_true(value_of(&problem, &value) - (double)problem.n == 0);
    munmap(all, (size_t)PIECE * PIECES);
    free(piece);
}

/* A29: sizes around 2^31; A31: an index beyond it. */
static void test_beyond_31_bits(void **state) {
    enum { PIECES = 1024 };
    static const uint64_t sizes[] = {2147483391, 2147483647, 2147483648, 2147483649};
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_I8, 0);
    const struct rtune_config config = rtune_config_default(&problem, false);
    unsigned char *ones = equal_elements(RTUNE_I8, 1, PIECE);
    unsigned char *zeros = calloc(PIECE, 1), *last = calloc(PIECE, 1);
    (void)state;
    if (shadows_memory()) skip();
    assert_true(zeros && last);
    struct data data = {.in = map_again_and_again(ones, PIECES, ones)};
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++) {
        problem.n = sizes[k];
        const union rtune_cpu_value value =
            device_reduce(everywhere_device(2), &problem, &config, 2, &data);
        assert_int_equal(value.bits, sizes[k]);
    }
    munmap((void *)(uintptr_t)data.in, (size_t)PIECE * (PIECES + 1));
    last[5] = 1;
    data.in = map_again_and_again(zeros, PIECES, last);
    problem = problem_of(RTUNE_ARGMAX, RTUNE_I8, (UINT64_C(1) << 31) + 16);
    const union rtune_cpu_value value =
        device_reduce(everywhere_device(2), &problem, &config, 2, &data);
    assert_int_equal(value.bits, 1);
    assert_int_equal(value.key[1], 2147483653);
    munmap((void *)(uintptr_t)data.in, (size_t)PIECE * (PIECES + 1));
    free(ones);
    free(zeros);
    free(last);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_ones),      cmocka_unit_test(test_half_rounding),
        cmocka_unit_test(test_wide_integers),  cmocka_unit_test(test_product_of_ones),
        cmocka_unit_test(test_one_element),    cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_tiny),           cmocka_unit_test(test_kahan_infinities),
        cmocka_unit_test(test_kahan_keeps),    cmocka_unit_test(test_reproducible_zeros),
        cmocka_unit_test(test_fixed),          cmocka_unit_test(test_many_ones),
        cmocka_unit_test(test_very_many_ones), cmocka_unit_test(test_beyond_31_bits),
    };
    return cmocka_run_group_tests(tests, everywhere_setup, everywhere_teardown);
}
