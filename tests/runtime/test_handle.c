/* SPDX-License-Identifier: Apache-2.0 */
/* A handle in poor circumstances: no built-in kernels, no room for more, nothing that can be
 * loaded. */
#include "tests/runtime/toy.h"

#include <stdlib.h>
#include <string.h>

static const struct rtune_problem problem = RTUNE_PROBLEM_INIT(RTUNE_SUM, RTUNE_F32, 1000);

static void write_store(const char *config) {
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUM, RTUNE_F32, 1000, config);
    rows_write(&rows, scratch_path("tune.db"));
}

static enum rtune_status reduce(rtune *rt, struct rtune_launch *launch, struct rtune_error *err) {
    static float in[1000];
    static float out;
    struct rtune_args a = RTUNE_ARGS(in, &out);
    a.launch = launch;
    return rtune_reduce(rt, &problem, &a, (void *)(uintptr_t)1, err);
}

static unsigned warnings;

static void hear(void *user, enum rtune_log_level level, const char *message) {
    (void)user;
    warnings += level == RTUNE_LOG_WARN && strstr(message, "no built-in kernels") != NULL;
}

/* A build without nvcc on a machine without NVRTC: it opens and looks up, and says why it cannot
 * reduce. */
static void test_no_kernels(void **state) {
    (void)state;
    struct rtune_error err = {0};
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    rtune_plan *plan = NULL;
    struct toy *toy = toy_new(NULL);
    toy->no_builtin = toy->no_image = true;
    toy->log.fn = hear;
    warnings = 0;
    rtune *rt = toy_open(toy, "none");
    assert_int_equal(warnings, 1);
    l = served(rt, &problem);
    assert_int_equal(l.kernel, RTUNE_KERNEL_NONE);
    assert_int_equal(l.source, RTUNE_FROM_BUILTIN);
    toy->capturing = true;
    assert_int_equal(reduce(rt, &l, &err), RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "while the stream captures"));
    toy->capturing = false;
    assert_int_equal(reduce(rt, &l, &err), RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "no kernel can serve"));
    assert_int_equal(rtune_prepare(rt, &problem, 1, &err), RTUNE_DEVICE);
    assert_int_equal(rtune_plan_create(&plan, rt, &problem, &err), RTUNE_DEVICE);
    assert_null(plan);
    assert_int_equal(toy->launches, 0);
    rtune_close(rt);
}

/* All but one built-in kernel there is a fault, not a build without them. */
static void test_one_missing(void **state) {
    (void)state;
    struct rtune_error err = {0};
    rtune *rt = NULL;
    for (uint64_t k = 1; k < 6; k++) {
        struct toy *toy = toy_new(NULL);
        toy->fail_at = k;
        assert_int_equal(rtune_open_on(&rt, &toy->base, NULL, &err), RTUNE_DEVICE);
        assert_non_null(strstr(err.message, "built-in kernels: kernel_open: told to fail"));
        assert_null(rt);
    }
}

/* The table of kernels has an end; who comes after that gets the built-in instance, with the tuned
 * grid. */
static void test_full(void **state) {
    (void)state;
    struct rtune_error err = {0};
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    write_store("block=96,grid=7");
    struct toy *toy = toy_new(NULL);
    rtune *rt = toy_open(toy, scratch_path("tune.db"));
    const uint32_t count = rt->kernels.count;
    rt->kernels.count = RTUNE_PREPARED_MAX;
    const uint64_t kernels = toy->kernels;
    assert_int_equal(rtune_prepare(rt, &problem, 1, &err), RTUNE_NO_MEMORY);
    assert_non_null(strstr(err.message, "problem 0: no room"));
    pthread_mutex_lock(&rt->kernels.lock); /* as if another thread prepared: nobody waits for it */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reduce(rt, &l, &err), RTUNE_OK);
        assert_true(l.fell_back);
        assert_non_null(strstr(l.reason, "no room"));
        assert_int_equal(l.kernel, RTUNE_KERNEL_BUILTIN);
        assert_int_equal(l.grid, 7);
        assert_int_equal(toy->last.grid, 7);
        assert_int_equal(toy->last_block, l.block);
    }
    pthread_mutex_unlock(&rt->kernels.lock);
    assert_int_equal(toy->kernels, kernels);
    rt->kernels.count = count;
    rtune_close(rt);
}

/* What goes into the launch is what the record says. */
static void test_request(void **state) {
    (void)state;
    static float in[2000];
    static float out;
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    struct toy *toy = toy_new(NULL);
    rtune *rt = toy_open(toy, "none");
    struct rtune_problem p = problem;
    struct rtune_args a = RTUNE_ARGS(in + 1, &out);
    a.launch = &l;
    a.scale = 2.5;
    p.flags = RTUNE_ACCUMULATE | RTUNE_ALLOW_NONDETERMINISTIC;
    assert_int_equal(rtune_reduce(rt, &p, &a, (void *)(uintptr_t)9, NULL), RTUNE_OK);
    assert_ptr_equal(toy->last.args.in, in + 1);
    assert_null(toy->last.args.in2);
    assert_ptr_equal(toy->last.args.out, &out);
    assert_non_null(toy->last.args.workspace);
    assert_int_equal(toy->last.args.n, 1000);
    assert_int_equal(toy->last.args.flags, RTUNE_ACCUMULATE);
    struct rtune_problem norm = RTUNE_PROBLEM(RTUNE_SUMSQ, RTUNE_F32, 1000);
    norm.flags = RTUNE_ROOT | RTUNE_ALLOW_NONDETERMINISTIC;
    assert_int_equal(rtune_reduce(rt, &norm, &a, NULL, NULL), RTUNE_OK);
    assert_int_equal(toy->last.args.flags, RTUNE_ROOT);
    norm.n = 0;
    assert_int_equal(rtune_reduce(rt, &norm, &a, NULL, NULL), RTUNE_OK);
    assert_int_equal(toy->last.args.n, 0); /* 0 is written */
    assert_int_equal(rtune_reduce(rt, &p, &a, (void *)(uintptr_t)9, NULL), RTUNE_OK);
    assert_true(toy->last.args.scale > 2.4 && toy->last.args.scale < 2.6);
    assert_ptr_equal(toy->last.stream, (void *)(uintptr_t)9);
    assert_int_equal(toy->last.grid, l.grid);
    assert_int_equal(toy->last_block, l.block);
    rtune_close(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_kernels),
        cmocka_unit_test(test_one_missing),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_request),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
