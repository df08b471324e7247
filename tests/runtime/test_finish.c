/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes with a condition: the caller's n and flags decide, and the record says what was served
 * instead. Then what a call refuses, and what it leaves alone. */
#include "runtime/nvrtc.h"
#include "tests/runtime/toy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rtune *open_with(struct toy *toy, const char *override) {
    setenv("RTUNE_OVERRIDE", override, 1);
    rtune *rt = toy_open(toy, "none");
    unsetenv("RTUNE_OVERRIDE");
    return rt;
}

static void check_finish(const rtune *rt, const struct rtune_problem *p, enum rtune_finish finish,
                         const char *words) {
    const struct rtune_launch l = served(rt, p);
    const struct rtune_config builtin = rtune_config_default(p, true);
    const bool as_asked = words == NULL;
    char text[4096];
    assert_int_equal(l.source, RTUNE_FROM_OVERRIDE);
    assert_int_equal(l.config.finish, finish);
    assert_int_equal(l.fell_back, !as_asked);
    if (as_asked) return;
    assert_true(rtune_config_equal(&l.config, &builtin));
    assert_int_equal(l.grid, rtune_grid_resolve(&builtin, p->dtype, p->n, 132, 4));
    if (!strstr(l.reason, words)) fail_msg("\"%s\" does not say \"%s\"", l.reason, words);
    assert_int_equal(rtune_explain(rt, p, text, sizeof text, NULL, NULL), RTUNE_OK);
    assert_non_null(strstr(text, "not served: "));
}

/* The last n that a packed word holds, and the first that it may not. */
static void test_packed(void **state) {
    (void)state;
    rtune *rt = open_with(toy_new(NULL), "*:finish=packed,grid=264");
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, (1 << 19) - 1);
    check_finish(rt, &p, RTUNE_FINISH_PACKED, NULL);
    assert_int_equal(served(rt, &p).grid, 264);
    p.n++;
    check_finish(rt, &p, RTUNE_FINISH_SLOTS, "packed finish");
    p.acc = RTUNE_NATIVE;
    p.n = UINT64_C(1) << 40;
    check_finish(rt, &p, RTUNE_FINISH_PACKED, NULL);
    p = RTUNE_PROBLEM(RTUNE_ANY, RTUNE_F64, UINT64_C(1) << 40);
    check_finish(rt, &p, RTUNE_FINISH_PACKED, NULL);
    rtune_close(rt);
}

static void test_atomic(void **state) {
    (void)state;
    rtune *rt = open_with(toy_new(NULL), "sum:finish=atomic");
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 100000);
    check_finish(rt, &p, RTUNE_FINISH_SLOTS, "atomic finish");
    p.flags = RTUNE_ALLOW_NONDETERMINISTIC | RTUNE_ACCUMULATE;
    check_finish(rt, &p, RTUNE_FINISH_ATOMIC, NULL);
    rtune_close(rt);
}

static bool can_compile(void) {
    rtune_nvrtc *nvrtc = NULL;
    const bool can = rtune_nvrtc_open(&nvrtc, NULL) == RTUNE_OK;
    rtune_nvrtc_close(nvrtc);
    return can;
}

/* A small n, which a packed word holds, and a large one, by turns. serves: small ones get the
 * finish that they ask for. */
static void check_turns(struct toy *toy, bool serves) {
    static int32_t in[4];
    int64_t out = 0;
    rtune *rt = open_with(toy, "*:finish=packed,grid=7");
    for (int turn = 0; turn < 4; turn++) {
        const bool large = turn % 2, packed = serves && !large;
        const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, large ? 1 << 19 : 4);
        struct rtune_launch l = RTUNE_LAUNCH_INIT;
        struct rtune_args a = RTUNE_ARGS(in, &out);
        struct rtune_error err = {0};
        rtune_plan *plan = NULL;
        a.launch = &l;
        if (rtune_reduce(rt, &p, &a, NULL, &err) != RTUNE_OK) fail_msg("%s", err.message);
        assert_int_equal(l.config.finish, packed ? RTUNE_FINISH_PACKED : RTUNE_FINISH_SLOTS);
        assert_int_equal(l.kernel, packed ? RTUNE_KERNEL_COMPILED : RTUNE_KERNEL_BUILTIN);
        assert_int_equal(l.fell_back, !packed);
        assert_int_equal(l.grid, large ? 64 : 7); /* tiles of 512 x 16 */
        assert_int_equal(toy->last.grid, l.grid);
        assert_int_equal(rtune_plan_create(&plan, rt, &p, &err), RTUNE_OK);
        assert_int_equal(rtune_plan_launch(plan)->fell_back, l.fell_back);
        assert_int_equal(rtune_plan_launch(plan)->grid, l.grid);
        rtune_plan_destroy(plan);
    }
    rtune_close(rt);
}

/* The fall-back is decided for each call, by the same handle, plans too. */
static void test_every_call(void **state) {
    (void)state;
    struct toy *toy = toy_new(NULL);
    check_turns(toy, can_compile());
    toy = toy_new(NULL);
    toy->no_image = true; /* what is compiled does not load */
    check_turns(toy, false);
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

static enum rtune_status reduce(rtune *rt, struct rtune_problem p, struct rtune_args a,
                                const char *says) {
    struct rtune_error err = {0};
    const enum rtune_status status = rtune_reduce(rt, &p, &a, NULL, &err);
    if (says && !strstr(err.message, says))
        fail_msg("\"%s\" does not say \"%s\"", err.message, says);
    return status;
}

static void test_dot(void **state) {
    (void)state;
    static float x[8], y[8];
    float out;
    struct toy *toy = toy_new(NULL);
    rtune *rt = toy_open(toy, "none");
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_DOT, RTUNE_F32, 7);
    struct rtune_problem none = p;
    struct rtune_args a = RTUNE_ARGS(x, &out);
    none.n = 0;
    assert_int_equal(reduce(rt, p, a, "in2"), RTUNE_INVALID);
    assert_int_equal(reduce(rt, none, a, NULL), RTUNE_OK);
    a.in2 = (const char *)y + 2;
    assert_int_equal(reduce(rt, p, a, "in2"), RTUNE_INVALID);
    a.in2 = y;
    assert_int_equal(reduce(rt, p, a, NULL), RTUNE_OK);
    assert_ptr_equal(toy->last.args.in2, y);
    assert_int_equal(reduce(rt, RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 7), a, "one input"),
                     RTUNE_INVALID);
    rtune_close(rt);
}

static void test_scale(void **state) {
    (void)state;
    static const double bad[] = {0, -0.0, INFINITY, -INFINITY, NAN};
    static float x[8];
    struct rtune_fixed out;
    struct toy *toy = toy_new(NULL);
    rtune *rt = toy_open(toy, "none");
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 8);
    struct rtune_args a = RTUNE_ARGS(x, &out);
    p.mode = RTUNE_FIXED;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        a.scale = bad[k];
        assert_int_equal(reduce(rt, p, a, "scale"), RTUNE_INVALID);
        p.mode = RTUNE_PLAIN; /* where it means nothing, it may be anything */
        assert_int_equal(reduce(rt, p, a, NULL), RTUNE_OK);
        p.mode = RTUNE_FIXED;
    }
    a.scale = -0x1p20;
    assert_int_equal(reduce(rt, p, a, NULL), RTUNE_OK);
    assert_true(toy->last.args.scale <= -0x1p20);
    a.out = (char *)&out + 4; /* 16 bytes, aligned to 8 */
    assert_int_equal(reduce(rt, p, a, "out"), RTUNE_INVALID);
    rtune_close(rt);
}

/* Nothing is reduced into out: no launch, not even one that adds a zero. */
static void test_accumulate_nothing(void **state) {
    (void)state;
    struct toy *toy = toy_new(NULL);
    rtune *rt = toy_open(toy, "none");
    struct rtune_problem p;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        unsigned char out[16];
        struct rtune_args a = RTUNE_ARGS(NULL, out);
        const uint64_t launches = toy->launches;
        struct rtune_error err = {0};
        memset(out, 0xAB, sizeof out);
        if (p.op == RTUNE_ARGMIN || p.op == RTUNE_ARGMAX) continue;
        const bool is_order = p.op == RTUNE_MIN || p.op == RTUNE_MAX || p.op == RTUNE_MINMAX;
        p.flags = RTUNE_ACCUMULATE;
        assert_int_equal(rtune_reduce(rt, &p, &a, NULL, &err), is_order ? RTUNE_EMPTY : RTUNE_OK);
        assert_int_equal(toy->launches, launches);
        p.flags = 0;
        assert_int_equal(rtune_reduce(rt, &p, &a, NULL, &err), is_order ? RTUNE_EMPTY : RTUNE_OK);
        assert_int_equal(toy->launches, launches + !is_order);
    }
    rtune_close(rt);
}

/* Sizes are 64 bits wide from the call to the kernel. */
static void test_large(void **state) {
    (void)state;
    static unsigned char in[16];
    unsigned char out[16];
    struct toy *toy = toy_new(NULL);
    rtune *rt = open_with(toy, "*:grid=4xsm");
    struct rtune_problem p;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        struct rtune_args a = RTUNE_ARGS(in, out);
        if (p.op == RTUNE_DOT) a.in2 = in;
        p.n = UINT64_C(1) << 40;
        assert_int_equal(reduce(rt, p, a, NULL), RTUNE_OK);
        assert_int_equal(toy->last.args.n, UINT64_C(1) << 40);
        assert_int_equal(toy->last.grid, 528);
    }
    rtune_close(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed),     cmocka_unit_test(test_atomic),
        cmocka_unit_test(test_every_call), cmocka_unit_test(test_dot),
        cmocka_unit_test(test_scale),      cmocka_unit_test(test_accumulate_nothing),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
