/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator in C against the one of the kernels, and expected results against plain loops over
 * the elements in long double or modular integers. RTUNE_TEST_SEED repeats.
 */
#include "base/num.h"
#include "base/rng.h"
#include "tests/tuner/support_host.h"
#include "tuner/data.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static const enum rtune_dtype dtypes[SUPPORT_COUNT] = {RTUNE_F32, RTUNE_F64, RTUNE_I32, RTUNE_I64};

/* Small indices all, then powers of two and their neighbours, then random ones. */
static uint64_t index_at(unsigned k) {
    if (k < 300) return k;
    if (k < 400) return (UINT64_C(1) << (k % 40)) + (k % 3) - 1;
    return rtune_rng_at(seed, k) >> 24;
}

static void test_same_generator(void **state) {
    (void)state;
    for (int d = 0; d < SUPPORT_COUNT; d++) {
        for (uint32_t data = 0; data <= RTUNE_DATA_EXTREME; data++) {
            struct rtune_data_words words;
            uint64_t other[8];
            rtune_data_words_init(&words, (enum rtune_data)data);
            memcpy(other, words.word, sizeof(other));
            for (unsigned k = 0; k < 1000; k++) {
                uint64_t i = index_at(k);
                assert_int_equal(rtune_data_element((enum rtune_data)data, dtypes[d], seed, i),
                                 support_element((enum support_dtype)d, data, seed, i));
                rtune_data_words_add(&words, (enum rtune_data)data, dtypes[d], seed, i);
                support_count((enum support_dtype)d, data, seed, i, other);
            }
            assert_memory_equal(words.word, other, sizeof(other));
        }
    }
}

/* ---- expectations ---------------------------------------------------------------------------- */

static struct rtune_problem problem_of(enum rtune_op op, enum rtune_dtype dtype, enum rtune_acc acc,
                                       enum rtune_nan nan_rule, uint64_t n) {
    struct rtune_problem p = RTUNE_PROBLEM(op, dtype, n);
    p.acc = acc;
    p.nan_rule = nan_rule;
    return p;
}

static double as_double(enum rtune_dtype dtype, uint64_t bits) {
    float f;
    double x;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof(f));
    memcpy(&x, &bits, sizeof(x));
    return dtype == RTUNE_F32 ? (double)f : x;
}

/* The poked element, or the generator's. */
static uint64_t element(const struct rtune_data_view *v, enum rtune_data data, uint64_t i) {
    if (v->poke.active && v->poke.place == i) return v->poke.bits;
    return rtune_data_element(data, v->problem.dtype, v->seed, i);
}

/* Reduce floats one after the other in long double. */
static long double fold_float(const struct rtune_data_view *v, enum rtune_data data) {
    long double acc = v->problem.op == RTUNE_PROD ? 1.0L : 0.0L;
    bool first = true;
    for (uint64_t i = v->first; i < v->first + v->problem.n; i++) {
        long double x = as_double(v->problem.dtype, element(v, data, i));
        if (v->problem.op == RTUNE_SUM)
            acc += x;
        else if (v->problem.op == RTUNE_PROD)
            acc *= x;
        else if (isnan(x)) {
            if (v->problem.nan_rule == RTUNE_NAN_PROPAGATE) return x;
        } else if (first || (v->problem.op == RTUNE_MIN ? x < acc : x > acc)) {
            acc = x;
            first = false;
        }
    }
    bool extreme = v->problem.op == RTUNE_MIN || v->problem.op == RTUNE_MAX;
    return extreme && first ? (long double)NAN : acc;
}

static uint64_t fold_integer(const struct rtune_data_view *v, enum rtune_data data) {
    bool narrow = v->problem.dtype == RTUNE_I32;
    uint64_t acc = v->problem.op == RTUNE_PROD ? 1 : 0;
    for (uint64_t i = v->first; i < v->first + v->problem.n; i++) {
        uint64_t bits = element(v, data, i);
        int64_t x = narrow ? (int32_t)(uint32_t)bits : (int64_t)bits;
        bool better =
            i == v->first || (v->problem.op == RTUNE_MIN ? x < (int64_t)acc : x > (int64_t)acc);
        if (v->problem.op == RTUNE_SUM)
            acc += (uint64_t)x;
        else if (v->problem.op == RTUNE_PROD)
            acc *= (uint64_t)x;
        else if (better)
            acc = (uint64_t)x;
    }
    return rtune_dtype_size(rtune_result_dtype(&v->problem)) == 4 ? acc & UINT32_MAX : acc;
}

static void check_expectation(const struct rtune_data_view *v, enum rtune_data data) {
    struct rtune_expect expect;
    char detail[256] = "";
    unsigned char result[8] = {0};
    rtune_data_expect(v, v->problem.n, &expect);
    assert_int_equal(expect.size, rtune_result_size(&v->problem));
    if (!rtune_dtype_info(v->problem.dtype)->is_float) {
        assert_true(expect.exact);
        assert_int_equal(expect.bits, fold_integer(v, data));
        return;
    }
    long double want = fold_float(v, data);
    float f = (float)want;
    double x = (double)want;
    if (isnan(want)) { /* the canonical one */
        const uint64_t canonical = UINT64_C(0x7ff8000000000000);
        const uint32_t canonical32 = 0x7fc00000;
        memcpy(&f, &canonical32, sizeof(f));
        memcpy(&x, &canonical, sizeof(x));
    }
    memcpy(result, v->problem.dtype == RTUNE_F32 ? (void *)&f : (void *)&x, expect.size);
    if (!rtune_data_matches(&expect, result, 0xab, detail, sizeof(detail)))
        fail_msg("op %d dtype %d set %d n %" PRIu64 " first %" PRIu64 ": %s", v->problem.op,
                 v->problem.dtype, v->set, v->problem.n, v->first, detail);
    if (!expect.exact) assert_true(fabsl(want - expect.value) <= expect.tolerance);
    if (v->set == RTUNE_SET_EXACT) assert_true(expect.exact);
}

static void check_problem(const struct rtune_problem *p, enum rtune_data_set set) {
    enum rtune_data data;
    if (rtune_data_select(p, set, &data, NULL) != RTUNE_OK) {
        assert_int_equal(set, RTUNE_SET_RANDOM);
        assert_false(rtune_dtype_info(p->dtype)->is_float);
        return;
    }
    struct rtune_data_view v = {.problem = *p, .set = set, .seed = seed};
    rtune_data_words_init(&v.words, data);
    for (uint64_t i = 0; i < p->n; i++)
        rtune_data_words_add(&v.words, data, p->dtype, seed, i);
    v.poke = rtune_data_poke(p, set, seed, &v.words, p->n / 2);
    check_expectation(&v, data);
    v.poke = rtune_data_poke(p, set, seed, &v.words, p->n - 1);
    check_expectation(&v, data);
    if (p->n < 3 || data == RTUNE_DATA_EXTREME) return;
    rtune_data_words_drop(&v.words, data, p->dtype, seed, 0);
    v.first = 1;
    v.problem.n--;
    check_expectation(&v, data);
}

static void test_expectations(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 31, 64, 1000, 4097, 70000};
    static const enum rtune_op ops[] = {RTUNE_SUM, RTUNE_PROD, RTUNE_MIN, RTUNE_MAX};
    for (size_t o = 0; o < RTUNE_ARRAY_SIZE(ops); o++)
        for (size_t d = 0; d < SUPPORT_COUNT; d++)
            for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
                for (int variant = 0; variant < 8; variant++) {
                    struct rtune_problem p =
                        problem_of(ops[o], dtypes[d], variant & 1 ? RTUNE_NATIVE : RTUNE_WIDE,
                                   variant & 2 ? RTUNE_NAN_IGNORE : RTUNE_NAN_PROPAGATE, sizes[k]);
                    check_problem(&p, variant & 4 ? RTUNE_SET_RANDOM : RTUNE_SET_EXACT);
                }
}

/* Losing or repeating any one element changes the exact result: what is needed to find out kernels
 * that skip the last element, or read one twice. */
static void test_every_element_counts(void **state) {
    (void)state;
    for (size_t d = 0; d < SUPPORT_COUNT; d++) {
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t bits = rtune_data_element(RTUNE_DATA_SUM_EXACT, dtypes[d], seed, i);
            assert_true(bits != 0);
            if (!rtune_dtype_info(dtypes[d])->is_float) {
                bits = rtune_data_element(RTUNE_DATA_PROD_EXACT, dtypes[d], seed, i);
                assert_true((bits & 1) && bits != 1);
            }
        }
    }
    /* Products of floats and extremes: the poked element does. */
    struct rtune_data_words words;
    rtune_data_words_init(&words, RTUNE_DATA_PROD_EXACT);
    struct rtune_problem p = problem_of(RTUNE_PROD, RTUNE_F32, RTUNE_WIDE, 0, 100);
    struct rtune_poke poke = rtune_data_poke(&p, RTUNE_SET_EXACT, seed, &words, 99);
    assert_true(poke.active && poke.place == 99);
    assert_true(as_double(RTUNE_F32, poke.bits) == -2.0);
    p.op = RTUNE_MAX;
    assert_true(as_double(RTUNE_F32, rtune_data_poke(&p, RTUNE_SET_EXACT, seed, &words, 5).bits) ==
                2.0);
}

/* Sums of floats stay exact whatever the order: no partial sum leaves the integers that f32 has,
 * even if the signs were sorted by an adversary among a million elements. */
static void test_sums_stay_exact(void **state) {
    (void)state;
    double positive = 0, magnitude = 0;
    for (uint64_t i = 0; i < 1000000; i++) {
        double x =
            as_double(RTUNE_F32, rtune_data_element(RTUNE_DATA_SUM_EXACT, RTUNE_F32, seed, i));
        assert_true(fabs(x) <= 7 && fmod(fabs(x), 2) == 1);
        magnitude += x;
        if (x > 0) positive += x;
    }
    assert_true(positive < 16777216 && fabs(magnitude) < 30000);
}

static void test_mismatches(void **state) {
    (void)state;
    struct rtune_data_view v = {.problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 2), .seed = seed};
    struct rtune_expect expect;
    char detail[128];
    unsigned char poisoned[8];
    v.words.word[1] = 42;
    rtune_data_expect(&v, 1, &expect);
    memset(poisoned, 0xab, sizeof(poisoned));
    assert_false(rtune_data_matches(&expect, poisoned, 0xab, detail, sizeof(detail)));
    assert_string_equal(detail, "wrong result: nothing was written instead of 42");
    int64_t wrong = 41;
    assert_false(rtune_data_matches(&expect, &wrong, 0xab, detail, sizeof(detail)));
    assert_string_equal(detail, "wrong result: 41 instead of 42 (bits 0000000000000029)");
    wrong = 42;
    assert_true(rtune_data_matches(&expect, &wrong, 0xab, detail, sizeof(detail)));
    struct rtune_problem dot = RTUNE_PROBLEM(RTUNE_DOT, RTUNE_F32, 8);
    enum rtune_data data;
    assert_int_equal(rtune_data_select(&dot, RTUNE_SET_EXACT, &data, NULL), RTUNE_UNSUPPORTED);
}

int main(void) {
    const char *env = getenv("RTUNE_TEST_SEED");
    seed = env != NULL ? strtoull(env, NULL, 10) : 20261129;
    print_message("RTUNE_TEST_SEED=%" PRIu64 "\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_generator),       cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_every_element_counts), cmocka_unit_test(test_sums_stay_exact),
        cmocka_unit_test(test_mismatches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
