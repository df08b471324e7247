/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_kernels.c: every cpu kernel (op, dtype, acc, NaN rule, items, instruction set) over
 * small and odd sizes, element-aligned bases and guarded memory, against plain loops; and bits that
 * must be equal.
 */
#include "tests/cpu/reference.h"

#include "base/num.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t sizes[] = {1, 2, 3, 7, 63, 64, 65, 1000, 4097, (1 << 16) + 1};
enum { SIZE_MAX_N = (1 << 16) + 1, OFFSETS = 4, PLACES = OFFSETS + 1 };

static struct rtune_config config_of(const struct rtune_problem *problem, uint32_t items) {
    struct rtune_config config = rtune_config_default(problem, false);
    config.items = items;
    return config;
}

/* Run one kernel and compare; one more part of the data through combine, as threads do. */
static void check_kernel(const struct rtune_problem *problem, enum rtune_isa isa, uint32_t items,
                         const unsigned char *in, const struct expected *expected) {
    const struct rtune_config config = config_of(problem, items);
    const size_t size = rtune_dtype_size(problem->dtype);
    const uint64_t half = problem->n / 2;
    struct rtune_cpu_kernel kernel;
    union rtune_cpu_value whole, split, second;
    struct rtune_error err;
    if (rtune_cpu_kernel_find(problem, &config, isa, &kernel, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    memset(&whole, 0xab, sizeof whole);
    kernel.reduce(in, problem->n, &whole);
    if (half) {
        kernel.reduce(in, half, &split);
        kernel.reduce(in + half * size, problem->n - half, &second);
        kernel.combine(&split, &second);
    } else {
        split = whole;
    }
    if (!result_matches(problem, expected, &whole) || !result_matches(problem, expected, &split)) {
        char text[128];
        rtune_problem_print(problem, text, sizeof text);
        fail_msg("%s, %s, items %u: %016llx and in halves %016llx instead of %016llx", text,
                 rtune_isa_name(isa), (unsigned)items, (unsigned long long)whole.bits,
                 (unsigned long long)split.bits, (unsigned long long)expected->value.bits);
    }
}

static void check_kernels(const struct rtune_problem *problem, const unsigned char *in,
                          const struct expected *expected) {
    for (int isa = 0; isa <= (int)rtune_isa_detect(); isa++) {
        uint32_t items;
        for (size_t k = 0; (items = rtune_cpu_items_at(problem->dtype, (enum rtune_isa)isa, k));
             k++)
            check_kernel(problem, (enum rtune_isa)isa, items, in, expected);
    }
}

/* The data at each base: 0 ... 3 elements behind the first guard page, and right before the last
 * one. What is between data and guard pages would show in a result. */
static void check_places(struct rtune_problem *problem, enum data_set set, uint64_t seed,
                         const struct guarded *memory) {
    const size_t size = rtune_dtype_size(problem->dtype);
    for (int place = 0; place < PLACES; place++) {
        unsigned char *base = place < OFFSETS ? memory->start + (size_t)place * size
                                              : memory->end - problem->n * size;
        memset(memory->start, 0xa5, (size_t)(memory->end - memory->start));
        data_fill(problem, set, seed, base, problem->n);
        const struct expected expected = reference(problem, set, base);
        check_kernels(problem, base, &expected);
    }
}

static void test_references(void **state) {
    const uint64_t seed = test_seed();
    struct rtune_problem problem;
    size_t count = 0;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        const bool is_float = rtune_dtype_info(problem.dtype)->is_float;
        for (size_t s = 0; s < RTUNE_ARRAY_SIZE(sizes); s++) {
            struct guarded memory;
            problem.n = sizes[s];
            guarded_make(&memory, (problem.n + OFFSETS) * rtune_dtype_size(problem.dtype));
            for (int set = 0; set < (is_float ? DATA_SET_COUNT : 1); set++, count++)
                check_places(&problem, (enum data_set)set, seed + count, &memory);
            guarded_free(&memory);
        }
    }
    assert_true(count >= 16 * RTUNE_ARRAY_SIZE(sizes)); /* four ops of four dtypes at least */
}

/* The bits of a config are those of every instruction set and base, and of every run. */
static void test_same_bits(void **state) {
    enum { N = 10007 };
    static double data[N + 1];
    const uint64_t seed = test_seed();
    struct rtune_problem problem;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        const size_t size = rtune_dtype_size(problem.dtype);
        problem.n = N;
        for (size_t j = 0; j < 4; j++) {
            const struct rtune_config config =
                config_of(&problem, rtune_cpu_items_at(problem.dtype, RTUNE_ISA_BASE, j));
            union rtune_cpu_value first = {.bits = 0}, value;
            for (int isa = 0; isa <= (int)rtune_isa_detect(); isa++) {
                struct rtune_cpu_kernel kernel;
                assert_int_equal(
                    rtune_cpu_kernel_find(&problem, &config, (enum rtune_isa)isa, &kernel, NULL),
                    0);
                for (size_t offset = 0; offset < 2; offset++) {
                    unsigned char *base = (unsigned char *)data + offset * size;
                    data_fill(&problem, DATA_RANDOM, seed, base, N);
                    kernel.reduce(base, N, &value);
                    if (isa == 0 && offset == 0) first = value;
                    assert_memory_equal(first.bytes, value.bytes, rtune_result_size(&problem));
                }
            }
        }
    }
}

static void test_find_refuses(void **state) {
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1);
    struct rtune_config config = rtune_config_default(&problem, false);
    struct rtune_cpu_kernel kernel;
    struct rtune_error err;
    (void)state;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_BASE, &kernel, &err),
                     RTUNE_OK);
    config.items = 48;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_BASE, &kernel, &err),
                     RTUNE_UNSUPPORTED);
    assert_non_null(strstr(err.message, "16, 32, 64, 128"));
    config = rtune_config_default(&problem, false);
    config.block = 32;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_BASE, &kernel, &err),
                     RTUNE_UNSUPPORTED);
    config.block = 1;
    problem.mode = RTUNE_KAHAN;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_BASE, &kernel, &err),
                     RTUNE_UNSUPPORTED);
    assert_non_null(strstr(err.message, "kahan"));
    problem.mode = RTUNE_PLAIN;
    problem.op = RTUNE_ARGMIN;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_BASE, &kernel, &err),
                     RTUNE_UNSUPPORTED);
    assert_non_null(strstr(err.message, "argmin"));
    problem.op = RTUNE_SUM;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_COUNT, &kernel, &err),
                     RTUNE_UNSUPPORTED);
}

/* Every problem that the tables list has a kernel, the default config is one of its configs, and
 * the values of the items axis are those that rtune_config_check allows. */
static void test_axis(void **state) {
    struct rtune_problem problem;
    struct rtune_error err;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        struct rtune_config config = rtune_config_default(&problem, false);
        struct rtune_cpu_kernel kernel;
        for (int isa = 0; isa <= (int)rtune_isa_detect(); isa++) {
            uint32_t items;
            size_t j = 0;
            bool has_default = false;
            for (; (items = rtune_cpu_items_at(problem.dtype, (enum rtune_isa)isa, j)); j++) {
                has_default = has_default || items == rtune_config_default(&problem, false).items;
                config.items = items;
                if (rtune_config_check(&config, problem.dtype, &err) != RTUNE_OK ||
                    rtune_cpu_kernel_find(&problem, &config, (enum rtune_isa)isa, &kernel, &err) !=
                        RTUNE_OK)
                    fail_msg("%s", err.message);
            }
            assert_int_equal(j, 4);
            assert_true(has_default);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_find_refuses),
        cmocka_unit_test(test_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
