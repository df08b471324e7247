/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_golden.c: the golden bits of mode reproducible on every cpu kernel, number of threads
 * and base, and equal bits on arrays of odd sizes.
 */
#include "tests/cpu/everywhere.h"
#include "tests/golden/reproducible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { OFFSETS = 4 };

static double memory[2][GOLDEN_N_MAX + OFFSETS];

static void test_golden(void **state) {
    (void)state;
    for (size_t k = 0; k < GOLDEN_ROWS; k++) {
        const struct golden_row *row = &golden_rows[k];
        const size_t size = rtune_dtype_size(row->dtype), offset = k % OFFSETS * size;
        unsigned char *x = (unsigned char *)memory[0] + offset;
        unsigned char *y = (unsigned char *)memory[1] + (OFFSETS - 1) * size - offset;
        struct rtune_problem problem = problem_of(row->op, row->dtype, row->n);
        const struct data data = {x, y, 1.0};
        const struct expected expected = {.value = {.bits = row->bits}, .tolerance = 0};
        assert_true(row->n <= GOLDEN_N_MAX);
        problem.mode = RTUNE_REPRODUCIBLE;
        for (uint64_t i = 0; i < row->n; i++) {
            const uint64_t a = golden_element(row->dtype, row->seed, i);
            const uint64_t b = golden_element(row->dtype, row->seed + 1, i);
            memcpy(x + i * size, &a, size);
            memcpy(y + i * size, &b, size);
        }
        check_everywhere(&problem, &data, &expected);
    }
}

/* As many subtrees as there may be, and more leaves than those: only then do subtrees grow. */
static void test_many_leaves(void **state) {
    enum { LEAF = 1024, LEAVES = 2500, N = LEAF * LEAVES + 77 };
    static double x[N];
    struct rtune_problem problem = problem_of(RTUNE_SUM, RTUNE_F64, N);
    const struct rtune_config config = rtune_config_default(&problem, false);
    const struct data data = {.in = x};
    (void)state;
    problem.mode = RTUNE_REPRODUCIBLE;
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t bits = golden_element(RTUNE_F64, 42, i);
        memcpy(&x[i], &bits, sizeof bits);
    }
    const struct expected expected = reference(&problem, DATA_RANDOM, &data);
    for (uint32_t threads = 1; threads <= EVERYWHERE_THREADS; threads++) {
        const union rtune_cpu_value value =
            device_reduce(everywhere_device(threads), &problem, &config, threads, &data);
        assert_memory_equal(value.bytes, expected.value.bytes, sizeof(double));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_many_leaves),
    };
    return cmocka_run_group_tests(tests, everywhere_setup, everywhere_teardown);
}
