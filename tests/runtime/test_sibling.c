/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a sibling stand in for those that a problem has none of: in which order, with how many
 * elements and which finish. */
#include "tests/runtime/toy.h"

#include <string.h>

static struct rtune_problem problem(enum rtune_op op, enum rtune_dtype dtype, uint64_t n) {
    return RTUNE_PROBLEM(op, dtype, n);
}

/* A handle on a store with one row for each of these, told apart by their blocks. */
static rtune *open_with(const struct rtune_problem *kinds, const char *const *configs,
                        size_t count) {
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    for (size_t k = 0; k < count; k++) {
        struct rtune_winner *w =
            rows_add(&rows, d, kinds[k].op, kinds[k].dtype, kinds[k].n, configs[k]);
        w->problem = rtune_problem_canonical(&kinds[k]);
        w->n_to = UINT64_MAX >> 1;
    }
    rows_write(&rows, scratch_path("sibling.db"));
    return toy_open(toy_new(NULL), scratch_path("sibling.db"));
}

static void check_alone(const struct rtune_problem *tuned, const struct rtune_problem *asked,
                        const char *words) {
    static const char *const config[] = {"block=96,grid=2xsm"};
    rtune *rt = open_with(tuned, config, 1);
    const struct rtune_launch l = served(rt, asked);
    char text[4096];
    assert_int_equal(l.source, RTUNE_FROM_SIBLING);
    assert_int_equal(l.config.block, 96);
    assert_int_equal(l.tuned_n, tuned->n);
    assert_true(l.predicted_us <= 0); /* that of another problem is none */
    if (!strstr(l.reason, words)) fail_msg("\"%s\" does not say \"%s\"", l.reason, words);
    assert_int_equal(rtune_explain(rt, asked, text, sizeof text, NULL, NULL), RTUNE_OK);
    assert_non_null(strstr(text, "\nsibling:  "));
    rtune_close(rt);
}

static void test_each(void **state) {
    (void)state;
    struct rtune_problem a = problem(RTUNE_MIN, RTUNE_F32, 5000);
    struct rtune_problem b = problem(RTUNE_MIN, RTUNE_F32, 1000);
    a.nan_rule = RTUNE_NAN_IGNORE;
    check_alone(&a, &b, "like min of f32, ");
    a = problem(RTUNE_SUM, RTUNE_F16, 5000);
    b = problem(RTUNE_SUM, RTUNE_F16, 5000);
    a.acc = RTUNE_NATIVE;
    check_alone(&a, &b, "like sum of f16, tuned at n=5000");
    check_alone(&(struct rtune_problem)RTUNE_PROBLEM(RTUNE_BXOR, RTUNE_U16, 5000),
                &(struct rtune_problem)RTUNE_PROBLEM(RTUNE_BXOR, RTUNE_I16, 5000),
                "like bxor of u16");
    b.mode = RTUNE_KAHAN;
    a.acc = RTUNE_WIDE;
    check_alone(&a, &b, "like sum of f16");
    a = problem(RTUNE_SUM, RTUNE_F32, 5000);
    b = problem(RTUNE_ARGMAX, RTUNE_F64, 2500);
    check_alone(&a, &b, "like sum of f32, tuned at n=5000"); /* of as many bytes */
    b = problem(RTUNE_COUNT_NONZERO, RTUNE_I8, 20000);
    check_alone(&a, &b, "like sum of f32, tuned at n=5000");
}

/* Each is better than those behind it, and rows of its own are better than all. */
static void test_order(void **state) {
    (void)state;
    enum { KINDS = 6 };
    struct rtune_problem kinds[KINDS];
    static const char *const configs[KINDS] = {"block=32",  "block=64",  "block=96",
                                               "block=128", "block=160", "block=192"};
    const struct rtune_problem asked = problem(RTUNE_MAX, RTUNE_F16, 4096);
    for (size_t k = 0; k < KINDS; k++)
        kinds[k] = asked;
    kinds[1].nan_rule = RTUNE_NAN_IGNORE;
    kinds[2].dtype = RTUNE_BF16;
    kinds[3].dtype = RTUNE_I16;
    kinds[4].op = RTUNE_MIN;
    kinds[5] = problem(RTUNE_SUM, RTUNE_F32, 2048);
    for (size_t best = 0; best < KINDS; best++) {
        /* of i16 and bf16 the one that comes first among the dtypes */
        const size_t expected = best == 2 ? 3 : best;
        rtune *rt = open_with(&kinds[best], &configs[best], KINDS - best);
        const struct rtune_launch l = served(rt, &asked);
        assert_int_equal(l.source, best == 0 ? RTUNE_FROM_EXACT : RTUNE_FROM_SIBLING);
        assert_int_equal(l.config.block, 32 * (expected + 1));
        rtune_close(rt);
    }
}

static void test_config(void **state) {
    (void)state;
    static const struct {
        enum rtune_op op;
        enum rtune_dtype dtype;
        const char *tuned, *expected; /* of sum of f32 */
    } known[] = {
        {RTUNE_MAX, RTUNE_F64, "items=16,finish=last", "items=8,finish=slots"},
        {RTUNE_MAX, RTUNE_I8, "items=16,finish=two_kernels", "items=64,finish=slots"},
        {RTUNE_MAX, RTUNE_F16, "items=8,finish=one,grid=1", "items=16,finish=one,grid=1"},
        {RTUNE_MAX, RTUNE_I32, "items=8,finish=cluster,extra=4", "items=8,finish=slots"},
        {RTUNE_ARGMIN, RTUNE_F32, "block=128,variant=bulk,extra=4", "block=128,finish=slots"},
        {RTUNE_SUM, RTUNE_F16, "items=16,finish=last", "items=32,finish=last"},
        {RTUNE_DOT, RTUNE_F32, "items=16,finish=last", "items=8,finish=slots"}, /* two inputs */
        {RTUNE_DOT, RTUNE_F64, "items=4,finish=slots",
         "items=2,finish=slots"}, /* a vector of each */
        {RTUNE_SUM, RTUNE_I32, "items=16,finish=dependent", "items=16,finish=dependent"},
        {RTUNE_SUM, RTUNE_I32, "items=16,finish=atomic", "items=16,finish=slots"},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const struct rtune_problem tuned = problem(RTUNE_SUM, RTUNE_F32, 4096);
        const size_t inputs = known[k].op == RTUNE_DOT ? 2 : 1;
        const struct rtune_problem asked = problem(
            known[k].op, known[k].dtype, 4096 * 4 / inputs / rtune_dtype_size(known[k].dtype));
        rtune *rt = open_with(&tuned, &known[k].tuned, 1);
        check_served(rt, &asked, RTUNE_FROM_SIBLING, known[k].expected, "tuned at n=4096");
        assert_false(served(rt, &asked).fell_back);
        rtune_close(rt);
    }
}

/* A dot product is like a sum of as many bytes, of its own dtype before f32. */
static void test_pair(void **state) {
    (void)state;
    const struct rtune_problem kinds[] = {problem(RTUNE_SUM, RTUNE_F64, 2000),
                                          problem(RTUNE_SUM, RTUNE_F32, 4000)};
    static const char *const configs[] = {"block=64,items=8", "block=96,items=8"};
    const struct rtune_problem asked = problem(RTUNE_DOT, RTUNE_F64, 1000);
    rtune *rt = open_with(kinds, configs, 2);
    check_served(rt, &asked, RTUNE_FROM_SIBLING, "block=64,items=4", "tuned at n=2000");
    rtune_close(rt);
    rt = open_with(kinds + 1, configs + 1, 1);
    check_served(rt, &asked, RTUNE_FROM_SIBLING, "block=96,items=2", "tuned at n=4000");
    rtune_close(rt);
}

/* Rows of its own that are far away give way to a sibling's that are not; near ones do not, and a
 * sibling's that are far away, too, are no better. */
static void test_far(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    struct rtune_problem asked = problem(RTUNE_MIN, RTUNE_F32, 4096);
    rows_add(&rows, d, RTUNE_MIN, RTUNE_F32, 4096 * 40, "block=32");
    rows_add(&rows, d, RTUNE_MAX, RTUNE_F32, 2048, "block=64");
    rows_add(&rows, d, RTUNE_MAX, RTUNE_F32, 8192, "block=64");
    rows_write(&rows, scratch_path("far.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("far.db"));
    check_served(rt, &asked, RTUNE_FROM_SIBLING, "block=64", "like max of f32, ");
    asked.n = 4096 * 10;
    check_served(rt, &asked, RTUNE_FROM_CLAMPED, "block=32", "below all tuned sizes");
    asked.n = 100;
    check_served(rt, &asked, RTUNE_FROM_CLAMPED, "block=32", "below all tuned sizes");
    rtune_close(rt);
}

/* A sibling's rows of another device are none. */
static void test_other_device(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h100 = toy_identity(9, 0, 114);
    const struct rtune_problem max = problem(RTUNE_MAX, RTUNE_F32, 1000);
    rows_add(&rows, rows_device(&rows, &h100), RTUNE_SUM, RTUNE_F32, 1000, "block=64");
    rows_write(&rows, scratch_path("other.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("other.db"));
    check_served(rt, &max, RTUNE_FROM_BUILTIN, "", "nothing tuned");
    rtune_close(rt);
}

/* The list itself: none twice, none that is the problem, all canonical, the sum of f32 last. */
static void test_list(void **state) {
    (void)state;
    struct rtune_problem p, list[RTUNE_SIBLINGS];
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        p.n = 1000;
        const size_t count = rtune_siblings(&p, list);
        assert_true(count <= RTUNE_SIBLINGS);
        for (size_t i = 0; i < count; i++) {
            const struct rtune_problem canonical = rtune_problem_canonical(&list[i]);
            assert_true(rtune_problem_same_kind(&canonical, &list[i]));
            assert_false(rtune_problem_same_kind(&p, &list[i]));
            for (size_t j = 0; j < i; j++)
                assert_false(rtune_problem_same_kind(&list[i], &list[j]));
        }
        const bool is_it = p.op == RTUNE_SUM && p.mode == RTUNE_PLAIN;
        if (is_it) continue; /* there it may come earlier */
        assert_true(count > 0);
        assert_int_equal(list[count - 1].op, RTUNE_SUM);
        const size_t inputs = p.op == RTUNE_DOT ? 2 : 1;
        assert_int_equal(list[count - 1].n, 1000 * inputs * rtune_dtype_size(p.dtype) / 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),         cmocka_unit_test(test_order),
        cmocka_unit_test(test_config),       cmocka_unit_test(test_list),
        cmocka_unit_test(test_pair),         cmocka_unit_test(test_far),
        cmocka_unit_test(test_other_device),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
