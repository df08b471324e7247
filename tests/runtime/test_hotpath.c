/* SPDX-License-Identifier: Apache-2.0 */
/* A lookup, and a reduction from the second call on, ask for no memory; and a lookup is fast. */
#include "tests/runtime/alloc_count.h"
#include "tests/runtime/toy.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 20000, BATCHES = 20 };

/* Every kind there is, at a few sizes each, for this device and others: a store of ordinary size.
 */
static void write_store(const char *path) {
    struct rows rows = {0};
    const uint32_t sms[] = {132, 114, 78};
    for (size_t d = 0; d < 3; d++) {
        const struct rtune_identity identity = toy_identity(9, 0, sms[d]);
        struct rtune_problem p;
        rows_device(&rows, &identity);
        for (size_t k = 0; rtune_problem_at(k, &p); k++) {
            for (unsigned s = 6; s <= 28; s += 2) {
                struct rtune_winner *w =
                    rows_add(&rows, (uint32_t)d, p.op, p.dtype, UINT64_C(1) << s, "grid=2xsm");
                w->problem.acc = p.acc;
                w->problem.mode = p.mode;
                w->problem.nan_rule = p.nan_rule;
            }
        }
    }
    rows_write(&rows, path);
}

static void test_lookup(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 64, 100, 1 << 20, 12345678, UINT64_C(1) << 33};
    write_store(scratch_path("hot.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("hot.db"));
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_problem p;
    const uint64_t before = alloc_count();
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            p.n = sizes[i];
            p.cache = (enum rtune_cache)(i % RTUNE_CACHE_COUNT);
            assert_int_equal(rtune_lookup(rt, &p, &launch, NULL), RTUNE_OK);
        }
    }
    if (alloc_counted()) assert_int_equal(alloc_count(), before);
    uint64_t best = UINT64_MAX;
    p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F64, 12345678);
    for (int b = 0; b < BATCHES; b++) {
        const uint64_t start = rtune_clock_ns();
        for (int i = 0; i < TIMES / BATCHES; i++)
            (void)!rtune_lookup(rt, &p, &launch, NULL);
        const uint64_t took = rtune_clock_ns() - start;
        if (took < best) best = took;
    }
    printf("lookup: %.0f ns\n", (double)best * BATCHES / TIMES);
    /* 1 us is the promise; builds without optimisation or with a sanitizer are slower */
    assert_true(best * BATCHES / TIMES < (alloc_counted() ? 5000 : 100000));
    rtune_close(rt);
}

/* On cpu, with the library's own threads. */
static void test_reduce(void **state) {
    (void)state;
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_error err = {0};
    static float in[100000];
    double total = 0;
    float out = 0;
    rtune *rt = NULL;
    opts.device = "cpu";
    opts.store = "none";
    for (size_t i = 0; i < 100000; i++)
        total += in[i] = (float)(i % 3);
    if (rtune_open(&rt, &opts, &err) != RTUNE_OK) fail_msg("%s", err.message);
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 100000);
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_args a = RTUNE_ARGS(in, &out);
    rtune_plan *plan = NULL;
    a.launch = &launch;
    assert_int_equal(rtune_reduce(rt, &p, &a, NULL, &err), RTUNE_OK);
    assert_int_equal(rtune_plan_create(&plan, rt, &p, &err), RTUNE_OK);
    const uint64_t before = alloc_count();
    for (int i = 0; i < 200; i++) {
        out = -1;
        assert_int_equal(rtune_reduce(rt, &p, &a, NULL, &err), RTUNE_OK);
        assert_true(out >= (float)total && out <= (float)total);
        assert_int_equal(rtune_plan_reduce(plan, &a, NULL, &err), RTUNE_OK);
    }
    if (alloc_counted()) assert_int_equal(alloc_count(), before);
    rtune_plan_destroy(plan);
    rtune_close(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_reduce),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
