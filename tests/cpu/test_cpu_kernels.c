/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_kernels.c: every cpu kernel (op, dtype, acc, mode, NaN rule, items, instruction set)
 * over small and odd sizes, element-aligned bases and guarded memory, against plain loops; and bits
 * that must be equal.
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

/* Lanes, vectors and leaves of every element size, one more, one less. */
static const uint64_t sizes[] = {1,   2,   3,    7,    8,    9,    15,   16,  17,  31,
                                 32,  33,  63,   64,   65,   127,  128,  129, 255, 257,
                                 511, 513, 1000, 1023, 1025, 4095, 4097, 9001};
enum { FEW = 300, OFFSETS = 4, PLACES = OFFSETS + 1, LARGEST = 9001 };
static const double SCALE = 0x1p20 * 1.1;

static struct rtune_config config_of(const struct rtune_problem *problem, uint32_t items) {
    struct rtune_config config = rtune_config_default(problem, false);
    config.items = items;
    return config;
}

/* Elements first ... first + n - 1 to a partial. */
static union rtune_cpu_value part_of(const struct rtune_cpu_kernel *kernel, const struct data *data,
                                     uint64_t first, uint64_t n) {
    const size_t offset = first * kernel->element;
    struct rtune_cpu_input input = {.in = (const unsigned char *)data->in + offset,
                                    .n = n,
                                    .first = first,
                                    .scale = data->scale};
    union rtune_cpu_value value;
    if (data->in2) input.in2 = (const unsigned char *)data->in2 + offset;
    memset(&value, 0xab, sizeof value);
    kernel->reduce(kernel, &input, &value);
    return value;
}

/* Where two parts of n elements meet; in mode reproducible where subtrees do. */
static uint64_t middle(const struct rtune_cpu_kernel *kernel, uint64_t n) {
    uint64_t at = kernel->leaf;
    if (at == 0) return n / 2;
    while (2 * at < n)
        at *= 2;
    return at < n ? at : 0;
}

/* Run one kernel and compare; the same with two parts, as threads do. */
static void check_kernel(const struct rtune_problem *problem, enum rtune_isa isa, uint32_t items,
                         const struct data *data, const struct expected *expected) {
    const struct rtune_config config = config_of(problem, items);
    struct rtune_cpu_kernel kernel;
    struct rtune_error err;
    if (rtune_cpu_kernel_find(problem, &config, isa, &kernel, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    const uint64_t half = middle(&kernel, problem->n);
    union rtune_cpu_value whole = part_of(&kernel, data, 0, problem->n), split = whole;
    if (half) {
        const union rtune_cpu_value second = part_of(&kernel, data, half, problem->n - half);
        split = part_of(&kernel, data, 0, half);
        kernel.combine(&kernel, &split, &second);
    }
    kernel.finish(&kernel, &whole, problem->n);
    kernel.finish(&kernel, &split, problem->n);
    if (!result_matches(problem, expected, &whole) || !result_matches(problem, expected, &split)) {
        char text[128];
        rtune_problem_print(problem, text, sizeof text);
        fail_msg("%s, %s, items %u: %016llx and in parts %016llx instead of %016llx +- %g", text,
                 rtune_isa_name(isa), (unsigned)items, (unsigned long long)whole.bits,
                 (unsigned long long)split.bits, (unsigned long long)expected->value.bits,
                 expected->tolerance);
    }
}

static void check_kernels(const struct rtune_problem *problem, const struct data *data,
                          const struct expected *expected) {
    for (int isa = 0; isa <= (int)rtune_isa_detect(); isa++) {
        uint32_t items;
        for (size_t k = 0; (items = rtune_cpu_items_at(problem->dtype, (enum rtune_isa)isa, k));
             k++)
            check_kernel(problem, (enum rtune_isa)isa, items, data, expected);
    }
}

/* The data at each base: 0 ... 3 elements behind the first guard page, and right before the last
 * one. What is between data and guard pages would show in a result. */
static void check_places(const struct rtune_problem *problem, enum data_set set, uint64_t seed,
                         const struct guarded memory[2]) {
    const size_t size = rtune_dtype_size(problem->dtype);
    for (int place = 0; place < PLACES; place++) {
        unsigned char *base[2];
        if (problem->n > FEW && place != 1 && place != OFFSETS) continue;
        for (int k = 0; k < 2; k++) {
            base[k] = place < OFFSETS ? memory[k].start + (size_t)(place + k) * size
                                      : memory[k].end - problem->n * size;
            memset(memory[k].start, 0xa5, (size_t)(memory[k].end - memory[k].start));
            data_fill(problem, set, seed + (uint64_t)k, base[k], problem->n);
        }
        const struct data data = {base[0], base[1], set == DATA_RANDOM ? SCALE : 0.5};
        const struct expected expected = reference(problem, set, &data);
        check_kernels(problem, &data, &expected);
    }
}

static void test_references(void **state) {
    const uint64_t seed = test_seed();
    struct rtune_problem problem;
    size_t count = 0;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        for (size_t s = 0; s < RTUNE_ARRAY_SIZE(sizes); s++) {
            struct guarded memory[2];
            problem.n = sizes[s];
            for (int j = 0; j < 2; j++)
                guarded_make(&memory[j], (problem.n + OFFSETS) * rtune_dtype_size(problem.dtype));
            for (int set = 0; set < data_sets(problem.dtype); set++, count++)
                check_places(&problem, (enum data_set)set, seed + count, memory);
            for (int j = 0; j < 2; j++)
                guarded_free(&memory[j]);
        }
    }
    assert_true(count >= 300 * RTUNE_ARRAY_SIZE(sizes)); /* the table of ops and dtypes */
}

/* The bits of a config are those of every instruction set and base, and of every run. */
static void check_same_bits(const struct rtune_problem *problem, const struct data places[2],
                            size_t j) {
    const struct rtune_config config =
        config_of(problem, rtune_cpu_items_at(problem->dtype, RTUNE_ISA_BASE, j));
    union rtune_cpu_value first = {.bits = 0};
    for (int run = 0; run < 2 * ((int)rtune_isa_detect() + 1); run++) {
        struct rtune_cpu_kernel kernel;
        assert_int_equal(
            rtune_cpu_kernel_find(problem, &config, (enum rtune_isa)(run / 2), &kernel, NULL),
            RTUNE_OK);
        union rtune_cpu_value value = part_of(&kernel, &places[run % 2], 0, problem->n);
        kernel.finish(&kernel, &value, problem->n);
        if (run == 0) first = value;
        assert_memory_equal(first.bytes, value.bytes, rtune_result_size(problem));
    }
}

static void test_same_bits(void **state) {
    static double memory[2][2][LARGEST + 1];
    const uint64_t seed = test_seed();
    struct rtune_problem problem;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        const size_t size = rtune_dtype_size(problem.dtype);
        struct data places[2];
        problem.n = LARGEST;
        for (size_t offset = 0; offset < 2; offset++) {
            unsigned char *x = (unsigned char *)memory[offset][0] + offset * size;
            unsigned char *y = (unsigned char *)memory[offset][1] + offset * size;
            data_fill(&problem, DATA_RANDOM, seed, x, problem.n);
            data_fill(&problem, DATA_RANDOM, seed + 1, y, problem.n);
            places[offset] = (struct data){x, y, SCALE};
        }
        for (size_t j = 0; j < 4; j++)
            check_same_bits(&problem, places, j);
    }
}

/* Partials as a tree, by the definition of its levels. */
static void test_tree(void **state) {
    enum { N = 77 };
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F64, 1);
    const struct rtune_config config = rtune_config_default(&problem, false);
    struct rtune_cpu_kernel kernel;
    (void)state;
    problem.mode = RTUNE_REPRODUCIBLE;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_BASE, &kernel, NULL),
                     RTUNE_OK);
    for (int n = 1; n <= N; n++) {
        struct rtune_cpu_tree tree = {.count = 0};
        double level[N];
        for (int k = 0; k < n; k++) {
            level[k] = (double)(int64_t)rtune_rng_at(7, (uint64_t)k);
            union rtune_cpu_value partial = {.bits = 0};
            memcpy(partial.bytes, &level[k], sizeof level[k]);
            rtune_cpu_tree_add(&kernel, &tree, &partial);
        }
        for (int count = n; count > 1; count = (count + 1) / 2)
            for (int j = 0; j < (count + 1) / 2; j++)
                level[j] = 2 * j + 1 < count ? level[2 * j] + level[2 * j + 1] : level[2 * j];
        const union rtune_cpu_value root = rtune_cpu_tree_root(&kernel, &tree);
        assert_memory_equal(root.bytes, &level[0], sizeof level[0]);
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
    problem.op = RTUNE_BXOR;
    assert_int_equal(rtune_cpu_kernel_find(&problem, &config, RTUNE_ISA_BASE, &kernel, &err),
                     RTUNE_UNSUPPORTED);
    assert_non_null(strstr(err.message, "bxor"));
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
        cmocka_unit_test(test_references), cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_tree),       cmocka_unit_test(test_find_refuses),
        cmocka_unit_test(test_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
