/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expected results of every problem against the definitions of tests/reference over the same
 * elements, and what the data sets promise. RTUNE_TEST_SEED repeats.
 */
#include "base/num.h"
#include "base/rng.h"
#include "tests/reference/element.h"
#include "tests/reference/reference.h"
#include "tuner/data.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LARGEST = 20000 };
static uint64_t seed;
static unsigned char first_input[(LARGEST + 1) * 8], second_input[(LARGEST + 1) * 8];

static void describe(const struct rtune_data_view *v, char *text, size_t size) {
    int used = rtune_problem_print(&v->problem, text, size);
    if (used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", set %d, first %" PRIu64 ", second %" PRIu64,
                 v->set, v->first, v->first2);
}

/* The inputs as a device has them, pokes and all. */
static void fill(const struct rtune_data_view *v, const struct rtune_recipe *recipe, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        uint64_t other = rtune_data_second_seed(seed);
        element_put(recipe->dtype, first_input, i, rtune_data_element(recipe, seed, i));
        element_put(recipe->dtype, second_input, i, rtune_data_element(recipe, other, i));
    }
    for (uint32_t k = 0; k < v->poke.count; k++)
        element_put(recipe->dtype, first_input, v->poke.place[k], v->poke.bits[k]);
}

static void reference_of(const struct rtune_data_view *v, struct reference_result *result) {
    size_t size = rtune_dtype_size(v->problem.dtype);
    struct rtune_args args = RTUNE_ARGS(first_input + v->first * size, NULL);
    args.in2 = second_input + v->first2 * size;
    args.scale = rtune_data_scale();
    reference_compute(&v->problem, &args, result);
}

/* A result that is right must be accepted, and one that is wrong by a little must not. */
static void check_view(const struct rtune_data_view *v) {
    struct reference_result want;
    struct rtune_expect expect;
    char text[256], detail[256] = "";
    unsigned char result[16];
    describe(v, text, sizeof(text));
    reference_of(v, &want);
    rtune_data_expect(v, v->problem.n, &expect);
    assert_int_equal(expect.size, want.size);
    if (v->set == RTUNE_SET_EXACT && !(want.exact && expect.exact)) fail_msg("%s: not exact", text);
    if (expect.exact) {
        memcpy(result, want.bytes, sizeof(result));
        if (!want.exact || !rtune_data_matches(&expect, result, 0xab, detail, sizeof(detail)))
            fail_msg("%s: %s", text, detail);
        result[expect.size - 1] ^= 1;
        assert_false(rtune_data_matches(&expect, result, 0xab, detail, sizeof(detail)));
        return;
    }
    if (!want.exact && !(want.low <= expect.value && expect.value <= want.high))
        fail_msg("%s: %.17g is not within %.17Lg and %.17Lg", text, expect.value, want.low,
                 want.high);
    for (int k = -2; k <= 2; k++) { /* at the middle, within and beyond the bound */
        double x = expect.value + 0.75 * k * expect.tolerance;
        uint64_t bits = element_round(expect.dtype, (long double)x);
        memcpy(result, &bits, 8);
        bool near = fabs(element_value(expect.dtype, bits) - expect.value) <= expect.tolerance;
        if (rtune_data_matches(&expect, result, 0xab, detail, sizeof(detail)) != near)
            fail_msg("%s: %.17g +- %g, %d: %s", text, expect.value, expect.tolerance, k, detail);
    }
}

static void check_place(const struct rtune_problem *p, enum rtune_data_set set,
                        const struct rtune_recipe *recipe, uint64_t place) {
    struct rtune_data_view v = {.problem = *p, .set = set, .seed = seed};
    rtune_data_words_init(&v.words, recipe->fold);
    for (uint64_t i = 0; i < p->n; i++)
        rtune_data_words_add(&v.words, recipe, seed, i, i);
    v.poke = rtune_data_poke(p, set, seed, &v.words, place);
    for (uint32_t k = 0; k < v.poke.count; k++)
        assert_true(v.poke.place[k] < p->n && (k == 0 || v.poke.place[k] != v.poke.place[0]));
    fill(&v, recipe, p->n + 1);
    check_view(&v);
    if (set == RTUNE_SET_RANDOM || p->n < 3) return;
    struct rtune_data_view tail = v;
    bool known = rtune_data_words_drop(&tail.words, recipe, seed, 0);
    tail.first = tail.first2 = 1;
    tail.problem.n--;
    if (known || (rtune_data_poked(&tail) && p->op != RTUNE_MINMAX)) check_view(&tail);
    struct rtune_data_view head = rtune_data_head(&v, p->n / 3, rtune_data_is_pair(p));
    check_view(&head);
}

/* Every problem there is: all have data that are exact, and floats most often others too. */
static void test_expectations(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 31, 1000, LARGEST};
    struct rtune_problem p;
    size_t random = 0, problems = 0;
    for (size_t k = 0; rtune_problem_at(k, &p); k++, problems++) {
        for (int set = RTUNE_SET_EXACT; set <= RTUNE_SET_RANDOM; set++) {
            struct rtune_recipe recipe;
            enum rtune_status status =
                rtune_data_select(&p, (enum rtune_data_set)set, &recipe, NULL);
            if (status != RTUNE_OK) assert_int_equal(set, RTUNE_SET_RANDOM);
            if (status != RTUNE_OK) continue;
            random += set == RTUNE_SET_RANDOM;
            for (size_t s = 0; s < RTUNE_ARRAY_SIZE(sizes); s++) {
                p.n = sizes[s];
                check_place(&p, (enum rtune_data_set)set, &recipe, p.n / 2);
                check_place(&p, (enum rtune_data_set)set, &recipe, p.n - 1);
            }
        }
    }
    assert_true(problems > 200 && random > 60);
}

/* ---- what the data promise ------------------------------------------------------------------- */

static struct rtune_recipe exact_of(enum rtune_op op, enum rtune_dtype dtype) {
    const struct rtune_problem p = RTUNE_PROBLEM(op, dtype, 1);
    struct rtune_recipe recipe;
    assert_int_equal(rtune_data_select(&p, RTUNE_SET_EXACT, &recipe, NULL), RTUNE_OK);
    return recipe;
}

/* Losing or repeating any one element changes the exact result of sums, and of products and
 * exclusive ors of integers: what is needed to find out kernels that skip the last element, or read
 * one twice. */
static void test_every_element_counts(void **state) {
    (void)state;
    static const enum rtune_op sums[] = {RTUNE_SUM, RTUNE_DOT};
    for (int d = 0; d < RTUNE_DTYPE_COUNT; d++) {
        const enum rtune_dtype dtype = (enum rtune_dtype)d;
        for (size_t o = 0; o < RTUNE_ARRAY_SIZE(sums); o++) {
            struct rtune_recipe recipe = exact_of(sums[o], dtype);
            for (uint64_t i = 0; i < 2000; i++)
                assert_true(rtune_data_element(&recipe, seed, i) != 0);
        }
        if (element_is_float(dtype)) continue;
        struct rtune_recipe prod = exact_of(RTUNE_PROD, dtype), bxor = exact_of(RTUNE_BXOR, dtype);
        for (uint64_t i = 0; i < 2000; i++) {
            assert_true(rtune_data_element(&prod, seed, i) & 1);
            assert_true(rtune_data_element(&bxor, seed, i) != 0);
        }
    }
}

/* For the others an element that is poked in does, wherever it is. */
static void test_poke_counts(void **state) {
    (void)state;
    enum { N = 5000 };
    struct rtune_problem p;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        struct rtune_recipe recipe = exact_of(p.op, p.dtype);
        struct rtune_data_view v = {.problem = p, .seed = seed};
        struct rtune_expect with, without;
        v.problem.n = N;
        rtune_data_words_init(&v.words, recipe.fold);
        for (uint64_t i = 0; i < N; i++)
            rtune_data_words_add(&v.words, &recipe, seed, i, i);
        rtune_data_expect(&v, 1, &without);
        v.poke = rtune_data_poke(&v.problem, RTUNE_SET_EXACT, seed, &v.words, N - 1);
        rtune_data_expect(&v, 1, &with);
        bool native = rtune_dtype_size(with.dtype) < 4 && element_is_float(with.dtype);
        bool changed = memcmp(with.bytes, without.bytes, with.size) != 0;
        /* A native result of few digits may be too coarse for one element. */
        if (v.poke.count > 0 && !changed && !(native && p.op <= RTUNE_DOT))
            fail_msg("%s of %s: the poke changes nothing", rtune_op_name(p.op),
                     rtune_dtype_name(p.dtype));
    }
}

/* Sums of floats stay exact whatever the order: no partial sum of 2^33 elements leaves the integers
 * that f32 has. Signed terms walk at random; of those of one sign there are few. */
static void test_sums_stay_exact(void **state) {
    (void)state;
    const double most = 16777216;
    struct rtune_recipe walk = exact_of(RTUNE_SUM, RTUNE_F32),
                        pair = exact_of(RTUNE_DOT, RTUNE_F32);
    struct rtune_recipe thin = exact_of(RTUNE_SUMSQ, RTUNE_F32);
    double squares = 0, pair_squares = 0, total = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        double x = element_value(RTUNE_F32, rtune_data_element(&walk, seed, i));
        double y = element_value(RTUNE_F32, rtune_data_element(&pair, seed, i));
        squares += x * x / 1e5;
        pair_squares += y * y * y * y / 1e5;
    }
    /* Eight standard deviations. */
    assert_true(8 * sqrt(squares * 0x1p33) < most && 8 * sqrt(pair_squares * 0x1p33) < most);
    for (unsigned octave = 0; octave < 33; octave++) { /* each by some of its elements */
        uint64_t from = UINT64_C(1) << octave, count = rtune_min_u64(from, 200000);
        double sum = 0;
        for (uint64_t i = from; i < from + count; i++) {
            double x = element_value(RTUNE_F32, rtune_data_element(&thin, seed, i));
            assert_true(fabs(x) <= 2 && floor(x) == x);
            sum += x * x;
        }
        total += sum * ((double)from / (double)count);
    }
    assert_true(total > most / 8 && total < most);
}

/* Bits and zeros are what they are for: -0 is zero, and half of the elements count. */
static void test_zeros(void **state) {
    (void)state;
    struct rtune_recipe zero = exact_of(RTUNE_ANY, RTUNE_F16);
    struct rtune_recipe half = exact_of(RTUNE_COUNT_NONZERO, RTUNE_F64);
    size_t negative = 0, nonzero = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t bits = rtune_data_element(&zero, seed, i);
        assert_true(bits == 0 || bits == 0x8000);
        negative += bits != 0;
        nonzero += rtune_data_element(&half, seed, i) << 1 != 0;
    }
    assert_in_range(negative, 400, 600);
    assert_in_range(nonzero, 400, 600);
}

static void mismatch(const struct rtune_expect *expect, const void *got, const char *text) {
    char detail[128];
    assert_false(rtune_data_matches(expect, got, 0xab, detail, sizeof(detail)));
    assert_string_equal(detail, text);
}

static void test_mismatches(void **state) {
    (void)state;
    struct rtune_data_view v = {.problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 2), .seed = seed};
    struct rtune_expect expect;
    char detail[128];
    unsigned char poisoned[16];
    v.words.word[1] = 42;
    rtune_data_expect(&v, 1, &expect);
    memset(poisoned, 0xab, sizeof(poisoned));
    mismatch(&expect, poisoned, "wrong result: nothing was written instead of 42");
    int64_t wrong = 41;
    mismatch(&expect, &wrong, "wrong result: 41 instead of 42 (bits 0000000000000029)");
    wrong = 42;
    assert_true(rtune_data_matches(&expect, &wrong, 0xab, detail, sizeof(detail)));
    v.problem = RTUNE_PROBLEM(RTUNE_ARGMAX, RTUNE_I8, 9);
    v.poke = (struct rtune_poke){1, {7}, {0x7f}};
    rtune_data_expect(&v, 1, &expect);
    const int64_t other[2] = {0x7f, 6};
    mismatch(&expect, other, "wrong result: 127 at 6 instead of 127 at 7 (bits 000000000000007f)");
    struct rtune_problem any = RTUNE_PROBLEM(RTUNE_ANY, RTUNE_F32, 8);
    struct rtune_recipe recipe;
    assert_int_equal(rtune_data_select(&any, RTUNE_SET_RANDOM, &recipe, NULL), RTUNE_UNSUPPORTED);
}

int main(void) {
    const char *env = getenv("RTUNE_TEST_SEED");
    seed = env != NULL ? strtoull(env, NULL, 10) : 20261129;
    print_message("RTUNE_TEST_SEED=%" PRIu64 "\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expectations), cmocka_unit_test(test_every_element_counts),
        cmocka_unit_test(test_poke_counts),  cmocka_unit_test(test_sums_stay_exact),
        cmocka_unit_test(test_zeros),        cmocka_unit_test(test_mismatches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
