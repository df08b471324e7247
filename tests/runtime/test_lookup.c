/* SPDX-License-Identifier: Apache-2.0 */
/* The lookup ladder: every source, and what makes it fall from one to the next. */
#include "base/num.h"
#include "tests/runtime/toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUM_F32(n) RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, (n))

static void check(const rtune *rt, uint64_t n, enum rtune_source source, const char *config,
                  const char *words) {
    const struct rtune_problem p = SUM_F32(n);
    check_served(rt, &p, source, config, words);
}

static void test_nothing_tuned(void **state) {
    (void)state;
    rtune *rt = toy_open(toy_new(NULL), scratch_path("absent.db"));
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    check(rt, 1000, RTUNE_FROM_BUILTIN, "", "nothing tuned");
    check(rt, 0, RTUNE_FROM_BUILTIN, "", "nothing tuned");
    check(rt, UINT64_MAX >> 3, RTUNE_FROM_BUILTIN, "", "nothing tuned");
    l = served(rt, &SUM_F32(1u << 20));
    assert_int_equal(l.kernel, RTUNE_KERNEL_BUILTIN);
    const struct rtune_config builtin = rtune_config_default(&SUM_F32(1 << 20), true);
    assert_int_equal(l.grid, rtune_grid_resolve(&builtin, RTUNE_F32, 1 << 20, 132, 4));
    assert_int_equal(l.block, builtin.block);
    assert_false(l.stale || l.fell_back);
    assert_int_equal(l.tuned_n, 0);
    rtune_close(rt);
}

/* Rows at 2^10 (served to 5000), 2^14 (from 9000), 2^20. */
static void write_three(const char *path, const struct rtune_identity *identity) {
    struct rows rows = {0};
    struct rtune_winner *w;
    const uint32_t d = rows_device(&rows, identity);
    w = rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 10, "block=64,grid=1");
    w->n_to = 5000;
    w = rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 14, "block=128,items=16,grid=8");
    w->n_from = 9000;
    w->n_to = 1 << 17;
    w = rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 20, "block=256,grid=2xsm");
    w->n_from = (1 << 17) + 1;
    w->us = w->us_lo = w->us_hi = 6.25;
    rows_write(&rows, path);
}

static void test_this_device(void **state) {
    (void)state;
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    write_three(scratch_path("three.db"), &h200);
    rtune *rt = toy_open(toy_new(NULL), scratch_path("three.db"));
    check(rt, 1 << 10, RTUNE_FROM_EXACT, "block=64,grid=1", "tuned at n=1024");
    check(rt, 1 << 20, RTUNE_FROM_EXACT, "block=256,grid=2xsm", "tuned at n=1048576");
    check(rt, 1025, RTUNE_FROM_BETWEEN, "block=64,grid=1", "between");
    check(rt, 5000, RTUNE_FROM_BETWEEN, "block=64,grid=1", "n=1024");
    check(rt, 9000, RTUNE_FROM_BETWEEN, "block=128,items=16,grid=8", "n=16384");
    check(rt, 1 << 17, RTUNE_FROM_BETWEEN, "block=128,items=16,grid=8", "n=16384");
    check(rt, (1 << 17) + 1, RTUNE_FROM_BETWEEN, "block=256,grid=2xsm", "n=1048576");
    /* 5001 ... 8999 is in no interval, and one block at 1024 says nothing about them */
    check(rt, 5001, RTUNE_FROM_BETWEEN, "block=128,items=16,grid=3", "n=16384, grid cut to n");
    check(rt, 8999, RTUNE_FROM_BETWEEN, "block=128,items=16,grid=5", "n=16384");
    check(rt, 1 << 30, RTUNE_FROM_CLAMPED, "block=256,grid=2xsm", "above all tuned sizes");
    check(rt, 100, RTUNE_FROM_CLAMPED, "block=64,grid=1", "below all tuned sizes");
    check(rt, 0, RTUNE_FROM_CLAMPED, "block=64,grid=1", "below all tuned sizes");
    const struct rtune_launch l = served(rt, &SUM_F32(1 << 20));
    assert_int_equal(l.kernel, RTUNE_KERNEL_NONE);
    assert_int_equal(l.grid, 264);
    assert_int_equal(l.tuned_n, 1 << 20);
    assert_true(l.predicted_us > 6.2 && l.predicted_us < 6.3);
    rtune_close(rt);
}

/* Where no interval holds n, the row whose size is nearer in ratio serves. */
static void test_gap(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=64");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 100000, "block=128");
    rows_write(&rows, scratch_path("gap.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("gap.db"));
    check(rt, 9999, RTUNE_FROM_BETWEEN, "block=64", "n=1000");
    check(rt, 10000, RTUNE_FROM_BETWEEN, "block=64", "n=1000");
    check(rt, 10001, RTUNE_FROM_BETWEEN, "block=128", "n=100000");
    rtune_close(rt);
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUM, RTUNE_F32, 1000, "block=64,grid=1");
    rows_add(&rows, 0, RTUNE_SUM, RTUNE_F32, 1 << 26, "block=256,items=16,grid=4xsm");
    rows_write(&rows, scratch_path("gap.db"));
    rt = toy_open(toy_new(NULL), scratch_path("gap.db"));
    check(rt, 1001, RTUNE_FROM_BETWEEN, "block=256,items=16,grid=1", "n=67108864, grid cut");
    check(rt, 1 << 25, RTUNE_FROM_BETWEEN, "block=256,items=16,grid=4xsm", "n=67108864");
    rtune_close(rt);
}

/* A config tuned at small n must not serve a large n that it cannot fill the device with, and one
 * tuned at large n must not start blocks that have nothing to do. */
static void test_far_away(void **state) {
    (void)state;
    static const struct {
        const char *config;
        bool served_above;
    } cases[] = {
        {"finish=one,grid=1", false}, {"grid=1", false},   {"grid=131", false},
        {"grid=132", true},           {"grid=1xsm", true}, {"grid=cover", true},
    };
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rows rows = {0};
        const uint32_t d = rows_device(&rows, &h200);
        rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 16, cases[i].config);
        rows_write(&rows, scratch_path("far.db"));
        rtune *rt = toy_open(toy_new(NULL), scratch_path("far.db"));
        if (cases[i].served_above) {
            check(rt, 1 << 26, RTUNE_FROM_CLAMPED, cases[i].config, "above");
        } else {
            check(rt, 1 << 26, RTUNE_FROM_BUILTIN, "", "would not fill");
        }
        check(rt, 1 << 16, RTUNE_FROM_EXACT, cases[i].config, "");
        rtune_close(rt);
    }
    struct rows rows = {0};
    const uint32_t d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 26, "block=256,items=16,grid=4xsm");
    rows_write(&rows, scratch_path("far.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("far.db"));
    check(rt, 1 << 24, RTUNE_FROM_CLAMPED, "block=256,items=16,grid=4xsm", "below all");
    check(rt, 9000, RTUNE_FROM_CLAMPED, "block=256,items=16,grid=3", "cut to n");
    assert_int_equal(served(rt, &SUM_F32(9000)).grid, 3); /* tiles of 256 x 16 */
    rtune_close(rt);
}

static void test_cache_states(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=64");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=96")->problem.cache = RTUNE_WARM;
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F64, 1000, "block=128")->problem.cache = RTUNE_WARM;
    rows_write(&rows, scratch_path("cache.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("cache.db"));
    struct rtune_problem p = SUM_F32(1000);
    check_served(rt, &p, RTUNE_FROM_EXACT, "block=64", "tuned at n=1000");
    p.cache = RTUNE_WARM;
    check_served(rt, &p, RTUNE_FROM_EXACT, "block=96", "tuned at n=1000");
    p.cache = RTUNE_DIRTY;
    check_served(rt, &p, RTUNE_FROM_EXACT, "block=64", "cold input (this state was not tuned)");
    p.dtype = RTUNE_F64; /* and never from warm rows for a cold input */
    check_served(rt, &p, RTUNE_FROM_SIBLING, "block=64", "cold input (this state was not tuned)");
    p.cache = RTUNE_COLD;
    check_served(rt, &p, RTUNE_FROM_SIBLING, "block=64", "like sum of f32");
    rtune_close(rt);
}

static void test_similar(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity far = toy_identity(9, 0, 78);
    const struct rtune_identity near = toy_identity(9, 0, 114);
    const struct rtune_identity other = toy_identity(8, 0, 132);
    rows_add(&rows, rows_device(&rows, &far), RTUNE_SUM, RTUNE_F32, 1 << 20, "block=64,grid=2xsm");
    rows_add(&rows, rows_device(&rows, &near), RTUNE_SUM, RTUNE_F32, 1 << 20, "block=96,grid=2xsm");
    rows_add(&rows, rows_device(&rows, &other), RTUNE_MAX, RTUNE_F32, 1 << 20, "block=128");
    rows_write(&rows, scratch_path("similar.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("similar.db"));
    check(rt, 1 << 20, RTUNE_FROM_SIMILAR, "block=96,grid=2xsm",
          "a similar device, tuned at n=1048576");
    assert_int_equal(served(rt, &SUM_F32(1 << 20)).grid, 264); /* for this device's 132 SMs */
    check(rt, 1 << 21, RTUNE_FROM_SIMILAR, "block=96,grid=2xsm", "above");
    const struct rtune_problem max = RTUNE_PROBLEM(RTUNE_MAX, RTUNE_F32, 1 << 20);
    check_served(rt, &max, RTUNE_FROM_BUILTIN, "",
                 "nothing tuned"); /* never another architecture */
    rtune_close(rt);
}

/* Match quality first, then files: an exact row of the last file beats a clamped row of the first.
 */
static void test_file_order(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const char *option = scratch_path("option.db");
    const char *env = scratch_path("env.db");
    uint32_t d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=64,grid=cover");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 3000, "block=64,grid=cover");
    rows_write(&rows, option);
    d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=96,grid=cover");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 2000, "block=96,grid=cover");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 9000, "block=96,grid=cover");
    rows_write(&rows, env);
    use_stores(option, env);
    rtune *rt = toy_open(toy_new(NULL), NULL);
    use_stores(NULL, NULL);
    check(rt, 1000, RTUNE_FROM_EXACT, "block=64,grid=cover", "");
    check(rt, 1500, RTUNE_FROM_BETWEEN, "block=64,grid=cover", "");
    check(rt, 2000, RTUNE_FROM_EXACT, "block=96,grid=cover", "");
    check(rt, 4000, RTUNE_FROM_BETWEEN, "block=96,grid=cover", "");
    check(rt, 10000, RTUNE_FROM_CLAMPED, "block=64,grid=cover", "");
    rtune_close(rt);
}

static void test_stale(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=64");
    memcpy(rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 2000, "block=64")->driver, "570.9",
           sizeof "570.9");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 3000, "block=64")->source_hash[3] ^= 1;
    rows_write(&rows, scratch_path("stale.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("stale.db"));
    check(rt, 2000, RTUNE_FROM_EXACT, "block=64", "by another driver");
    check(rt, 3000, RTUNE_FROM_EXACT, "block=64", "with other kernel sources");
    assert_false(served(rt, &SUM_F32(1000)).stale);
    assert_true(served(rt, &SUM_F32(2000)).stale);
    assert_true(served(rt, &SUM_F32(3000)).stale);
    char text[4096];
    assert_int_equal(rtune_explain(rt, &SUM_F32(1000), text, sizeof text, NULL, NULL), RTUNE_OK);
    assert_non_null(strstr(text, "expected: 4.5 us at n=1000\n"));
    assert_int_equal(rtune_explain(rt, &SUM_F32(2000), text, sizeof text, NULL, NULL), RTUNE_OK);
    assert_non_null(strstr(text, "expected: 4.5 us at n=2000 (stale: tune again)\n"));
    rtune_close(rt);
}

/* A reason for a fall-back of each length before the text of each source: what does not fit is left
 * out from a clause on. */
static void check_cut(const rtune *rt, const struct rtune_problem *p, const char *whole) {
    struct rtune_decision d;
    struct rtune_launch launch = served(rt, p);
    assert_string_equal(launch.reason, whole);
    rtune_decide(rt, rtune_current_index(rt), p, &d);
    for (size_t length = 1; length < 2 * sizeof launch.reason; length++) {
        char why[2 * sizeof launch.reason + 1], full[sizeof why + 256];
        memset(why, 'x', length);
        why[length] = '\0';
        snprintf(full, sizeof full, "%s; %s", why, whole);
        rtune_launch_fill(rt, &d, NULL, why, &launch);
        const size_t used = strlen(launch.reason);
        assert_memory_equal(launch.reason, full, used);
        if (strlen(full) < sizeof launch.reason)
            assert_int_equal(used, strlen(full));
        else if (length < sizeof launch.reason)
            assert_true(used >= length && strchr(",;:", full[used]) != NULL);
        else
            assert_int_equal(used, sizeof launch.reason - 1);
    }
}

static void test_long_reasons(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    const uint64_t sizes[] = {1 << 10, 1 << 20, 1 << 30};
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++) {
        struct rtune_winner *w =
            rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, sizes[k], "block=64,grid=4096");
        memcpy(w->driver, "570.9", sizeof "570.9");
        w->source_hash[3] ^= 1;
    }
    rows_write(&rows, scratch_path("long.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("long.db"));
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F32, (1 << 20) + 1);
    p.cache = RTUNE_WARM;
    check_cut(rt, &p,
              "like sum of f32, between tuned sizes, tuned at n=1048576, cold input (this state "
              "was not tuned), by another driver, with other kernel sources");
    p = SUM_F32(100);
    check_cut(rt, &p,
              "below all tuned sizes, tuned at n=1024, grid cut to n, by another driver, with "
              "other kernel sources");
    rtune_close(rt);
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUM, RTUNE_F32, 1 << 16, "grid=1");
    rows_write(&rows, scratch_path("refused.db"));
    rt = toy_open(toy_new(NULL), scratch_path("refused.db"));
    p = SUM_F32(1 << 26);
    check_cut(rt, &p,
              "built-in default: the largest tuned n=65536 is below, and its grid would not fill "
              "this device");
    rtune_close(rt);
    rt = toy_open(toy_new(NULL), "none");
    check_cut(rt, &p, "built-in default: nothing tuned for this problem");
    rtune_close(rt);
}

/* What a problem asks for beyond its canonical form changes nothing. */
static void test_canonical(void **state) {
    (void)state;
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_MAX, RTUNE_I32, 1000, "block=64");
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUMSQ, RTUNE_F32, 1000, "block=128");
    rows_write(&rows, scratch_path("canonical.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("canonical.db"));
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_MAX, RTUNE_I32, 1000);
    p.acc = RTUNE_NATIVE;
    p.nan_rule = RTUNE_NAN_IGNORE;
    p.flags = RTUNE_ACCUMULATE | RTUNE_ALLOW_NONDETERMINISTIC;
    check_served(rt, &p, RTUNE_FROM_EXACT, "block=64", "");
    p = RTUNE_PROBLEM(RTUNE_SUMSQ, RTUNE_F32, 1000);
    p.flags = RTUNE_ROOT;
    check_served(rt, &p, RTUNE_FROM_EXACT, "block=128", "");
    rtune_close(rt);
}

static void test_bad_arguments(void **state) {
    (void)state;
    rtune *rt = toy_open(toy_new(NULL), "none");
    struct rtune_problem p = SUM_F32(1000);
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    struct rtune_error err = {0};
    memset(&l, 0x5a, sizeof l);
    l.struct_size = sizeof l - sizeof l.reason;
    assert_int_equal(rtune_lookup(rt, &p, &l, &err), RTUNE_INVALID);
    assert_non_null(strstr(err.message, "RTUNE_LAUNCH_INIT"));
    memset(&l, 0x5a, sizeof l);
    assert_int_equal(rtune_lookup(NULL, &p, &l, &err), RTUNE_INVALID);
    assert_int_equal(rtune_lookup(rt, NULL, &l, &err), RTUNE_INVALID);
    assert_int_equal(rtune_lookup(rt, &p, NULL, &err), RTUNE_INVALID);
    p.struct_size = 8;
    assert_int_equal(rtune_lookup(rt, &p, &l, &err), RTUNE_INVALID);
    p = SUM_F32(1000);
    p.op = RTUNE_OP_COUNT;
    assert_int_equal(rtune_lookup(rt, &p, &l, &err), RTUNE_INVALID);
    p = SUM_F32(1000);
    p.flags = 1u << 31;
    assert_int_equal(rtune_lookup(rt, &p, &l, NULL), RTUNE_INVALID);
    p = SUM_F32(1000);
    p.op = RTUNE_MIN;
    p.mode = RTUNE_FIXED;
    assert_int_equal(rtune_lookup(rt, &p, &l, &err), RTUNE_UNSUPPORTED);
    for (size_t i = 0; i < sizeof l; i++)
        assert_int_equal(((unsigned char *)&l)[i], 0x5a);
    rtune_close(rt);
}

/* A program of a later version: its record is larger, and what this library does not know stays. */
static void test_larger_record(void **state) {
    (void)state;
    rtune *rt = toy_open(toy_new(NULL), "none");
    struct {
        struct rtune_launch launch;
        unsigned char more[16];
    } later;
    memset(&later, 0x5a, sizeof later);
    later.launch.struct_size = sizeof later;
    assert_int_equal(rtune_lookup(rt, &SUM_F32(1000), &later.launch, NULL), RTUNE_OK);
    assert_int_equal(later.launch.struct_size, sizeof later);
    assert_int_equal(later.launch.source, RTUNE_FROM_BUILTIN);
    for (size_t i = 0; i < sizeof later.more; i++)
        assert_int_equal(later.more[i], 0x5a);
    rtune_close(rt);
}

static void test_explain(void **state) {
    (void)state;
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    write_three(scratch_path("three.db"), &h200);
    rtune *rt = toy_open(toy_new(NULL), scratch_path("three.db"));
    const struct rtune_problem p = SUM_F32(1 << 20);
    struct rtune_error err = {0};
    static const char *const words[] = {
        "sum,f32,wide",   "toy:0", "override: none", "three.db: rows: 3",
        "this device",    "exact", "block=256",      "264 blocks",
        "not loaded yet", "tree:", "n=1048576"};
    char text[4096];
    char small[20];
    char other[4096];
    size_t length = 0;
    size_t again = 0;
    assert_int_equal(rtune_explain(rt, &p, text, sizeof text, &length, &err), RTUNE_OK);
    assert_int_equal(strlen(text), length);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!strstr(text, words[i])) fail_msg("\"%s\" is not in:\n%s", words[i], text);
    }
    assert_int_equal(rtune_explain(rt, &p, small, sizeof small, &again, &err), RTUNE_OK);
    assert_int_equal(again, length);
    assert_int_equal(strlen(small), sizeof small - 1);
    assert_memory_equal(small, text, sizeof small - 1);
    assert_int_equal(rtune_explain(rt, &p, NULL, 0, &again, &err), RTUNE_OK);
    assert_int_equal(again, length);
    assert_int_equal(rtune_explain(rt, &p, NULL, 1, NULL, &err), RTUNE_INVALID);
    /* other n, other bits; other ways of loading, the same bits */
    assert_int_equal(rtune_explain(rt, &SUM_F32((1 << 20) + 1), other, sizeof other, NULL, &err),
                     RTUNE_OK);
    assert_string_not_equal(strstr(text, "tree:"), strstr(other, "tree:"));
    rtune_close(rt);
    setenv("RTUNE_OVERRIDE", "sum:block=256,grid=2xsm,load=evictfirst", 1);
    rt = toy_open(toy_new(NULL), scratch_path("three.db"));
    unsetenv("RTUNE_OVERRIDE");
    assert_int_equal(rtune_explain(rt, &p, other, sizeof other, NULL, &err), RTUNE_OK);
    assert_non_null(strstr(other, "entry 1 of 1"));
    assert_string_equal(strstr(text, "tree:"), strstr(other, "tree:"));
    rtune_close(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_tuned), cmocka_unit_test(test_this_device),
        cmocka_unit_test(test_gap),           cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_cache_states),  cmocka_unit_test(test_similar),
        cmocka_unit_test(test_file_order),    cmocka_unit_test(test_stale),
        cmocka_unit_test(test_long_reasons),  cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_bad_arguments), cmocka_unit_test(test_explain),
        cmocka_unit_test(test_larger_record),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
