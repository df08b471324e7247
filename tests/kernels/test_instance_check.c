/* SPDX-License-Identifier: Apache-2.0 */
/* Which configs serve which problems: the finishes and the variant that are not for all, and the
 * sizes up to which a packed word holds the sum. */
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct rtune_config of(const struct rtune_problem *p, const char *change) {
    struct rtune_config c = rtune_config_default(p, true);
    assert_int_equal(rtune_config_parse(change, &c, NULL), RTUNE_OK);
    return c;
}

static bool is_served(const struct rtune_problem *p, const char *change, const char *says) {
    const struct rtune_config c = of(p, change);
    struct rtune_error err = {.status = RTUNE_OK};
    const enum rtune_status status = rtune_instance_check(p, &c, &err);
    if (status == RTUNE_OK) return true;
    assert_int_equal(status, RTUNE_UNSUPPORTED);
    assert_int_equal(err.status, status);
    if (!strstr(err.message, says)) fail_msg("\"%s\" does not say \"%s\"", err.message, says);
    return false;
}

static bool is_integer(const struct rtune_problem *p) {
    return !rtune_dtype_info(p->dtype)->is_float;
}

static bool is_sum(const struct rtune_problem *p) {
    return p->op == RTUNE_SUM || p->op == RTUNE_SUMSQ || p->op == RTUNE_ASUM || p->op == RTUNE_DOT;
}

/* Every problem there is, against the rules as the documentation has them. */
static void test_all_problems(void **state) {
    (void)state;
    struct rtune_problem p;
    size_t packed = 0, atomic = 0, bulk = 0;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        const size_t size = rtune_dtype_size(p.dtype);
        const bool square = p.op == RTUNE_SUMSQ || p.op == RTUNE_DOT;
        const bool logic = p.op == RTUNE_ANY || p.op == RTUNE_ALL || p.op == RTUNE_COUNT_NONZERO;
        const bool wide = p.acc == RTUNE_WIDE;
        /* 64-bit elements never, and in 64-bit results squares of 32-bit ones never */
        const bool packs =
            logic || (is_sum(&p) && is_integer(&p) && size < 8 && !(wide && square && size == 4));
        const bool adds = is_sum(&p) && !is_integer(&p) && p.mode == RTUNE_PLAIN;
        const bool copies = p.op != RTUNE_DOT && p.op != RTUNE_ARGMIN && p.op != RTUNE_ARGMAX &&
                            p.mode != RTUNE_REPRODUCIBLE;
        assert_int_equal(is_served(&p, "finish=packed", "packed does not serve"), packs);
        assert_int_equal(is_served(&p, "finish=atomic", "atomic does not serve"), adds);
        assert_int_equal(is_served(&p, "variant=bulk,block=128,extra=4", "bulk does not"), copies);
        assert_true(is_served(&p, "finish=one,grid=1", ""));
        assert_true(is_served(&p, "finish=last", ""));
        assert_true(is_served(&p, "finish=two_kernels", ""));
        assert_true(is_served(&p, "finish=dependent", ""));
        assert_true(is_served(&p, "finish=cluster,extra=8", ""));
        assert_true(is_served(&p, "finish=grid_sync", ""));
        packed += packs, atomic += adds, bulk += copies;
    }
    assert_true(packed > 0 && atomic > 0 && bulk > 0);
}

static void test_what_no_config_may_be(void **state) {
    (void)state;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
    const struct rtune_config c = of(&p, "block=48");
    struct rtune_error err = {.status = RTUNE_OK};
    assert_int_equal(rtune_instance_check(&p, &c, &err), RTUNE_RANGE);
    assert_int_equal(strncmp(err.message, "block: ", 7), 0);
}

/* The largest n that a packed word admits, and one more. */
static void test_packed_range(void **state) {
    (void)state;
    static const struct {
        enum rtune_op op;
        enum rtune_dtype dtype;
        enum rtune_acc acc;
        int bits; /* admitted below 2 to this; 0: any n */
    } known[] = {
        {RTUNE_SUM, RTUNE_I8, RTUNE_WIDE, 43},           {RTUNE_SUM, RTUNE_U8, RTUNE_WIDE, 42},
        {RTUNE_ASUM, RTUNE_I8, RTUNE_WIDE, 43},          {RTUNE_SUM, RTUNE_I16, RTUNE_WIDE, 35},
        {RTUNE_SUM, RTUNE_U16, RTUNE_WIDE, 34},          {RTUNE_SUM, RTUNE_I32, RTUNE_WIDE, 19},
        {RTUNE_SUM, RTUNE_U32, RTUNE_WIDE, 18},          {RTUNE_SUMSQ, RTUNE_I8, RTUNE_WIDE, 36},
        {RTUNE_SUMSQ, RTUNE_U8, RTUNE_WIDE, 34},         {RTUNE_DOT, RTUNE_I16, RTUNE_WIDE, 20},
        {RTUNE_DOT, RTUNE_U16, RTUNE_WIDE, 18},          {RTUNE_SUM, RTUNE_I32, RTUNE_NATIVE, 0},
        {RTUNE_SUMSQ, RTUNE_U32, RTUNE_NATIVE, 0},       {RTUNE_DOT, RTUNE_I8, RTUNE_NATIVE, 0},
        {RTUNE_ANY, RTUNE_F32, RTUNE_WIDE, 0},           {RTUNE_ALL, RTUNE_I64, RTUNE_WIDE, 0},
        {RTUNE_COUNT_NONZERO, RTUNE_U8, RTUNE_WIDE, 50},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        struct rtune_problem p = RTUNE_PROBLEM(known[k].op, known[k].dtype, 0);
        const char *why = "";
        p.acc = known[k].acc;
        const struct rtune_config c = of(&p, "finish=packed");
        p.n = known[k].bits ? (UINT64_C(1) << known[k].bits) - 1 : UINT64_C(1) << 55;
        assert_true(rtune_finish_admits(&c, &p, RTUNE_GRID_MAX, &why));
        assert_null(why);
        if (known[k].bits == 0) continue;
        p.n++;
        assert_false(rtune_finish_admits(&c, &p, 1, &why));
        assert_non_null(strstr(why, "packed"));
    }
}

static void test_other_conditions(void **state) {
    (void)state;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1000);
    const char *why = NULL;
    struct rtune_config c = of(&p, "finish=atomic");
    assert_false(rtune_finish_admits(&c, &p, 8, &why));
    assert_non_null(strstr(why, "atomic"));
    p.flags = RTUNE_ALLOW_NONDETERMINISTIC;
    assert_true(rtune_finish_admits(&c, &p, 8, &why));
    assert_null(why);
    c = of(&p, "finish=cluster,extra=4");
    assert_true(rtune_finish_admits(&c, &p, 8, &why));
    assert_false(rtune_finish_admits(&c, &p, 6, &why));
    assert_non_null(strstr(why, "cluster"));
    static const char *const free_of_any[] = {"finish=one,grid=1", "finish=slots",
                                              "finish=last",       "finish=two_kernels",
                                              "finish=dependent",  "finish=grid_sync"};
    for (size_t k = 0; k < sizeof free_of_any / sizeof free_of_any[0]; k++) {
        c = of(&p, free_of_any[k]);
        assert_true(rtune_finish_admits(&c, &p, RTUNE_GRID_MAX, &why));
    }
}

static void test_compute_capability(void **state) {
    (void)state;
    static const struct {
        const char *change;
        uint32_t cc;
    } known[] = {{"finish=slots", 0},         {"finish=packed", 0},     {"finish=two_kernels", 0},
                 {"finish=grid_sync", 0},     {"finish=dependent", 90}, {"finish=cluster", 90},
                 {"variant=bulk,extra=2", 90}};
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 0);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const struct rtune_config c = of(&p, known[k].change);
        const bool any = known[k].cc == 0;
        assert_int_equal(rtune_config_needs_cc(&c), known[k].cc);
        assert_int_equal(rtune_config_runs_on(&c, 7, 0), any);
        assert_int_equal(rtune_config_runs_on(&c, 8, 9), any);
        assert_true(rtune_config_runs_on(&c, 9, 0));
        assert_true(rtune_config_runs_on(&c, 10, 3));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_problems),       cmocka_unit_test(test_what_no_config_may_be),
        cmocka_unit_test(test_packed_range),       cmocka_unit_test(test_other_conditions),
        cmocka_unit_test(test_compute_capability),
    };
    return cmocka_run_group_tests_name("instance checks", tests, NULL, NULL);
}
