/* SPDX-License-Identifier: Apache-2.0 */
/* rtune_reduce and plans through the public interface, on the cpu device: values, arguments,
 * records. */
#include "tests/runtime/toy.h"

#include "kernels/cpu/cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rtune *rt;

static int open_cpu(void **state) {
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_error err = {0};
    scratch_make(state);
    opts.device = "cpu";
    opts.store = "none";
    opts.threads = 2;
    return rtune_open(&rt, &opts, &err) == RTUNE_OK ? 0 : -1;
}

static int close_cpu(void **state) {
    rtune_close(rt);
    return scratch_remove(state);
}

static void reduce(const struct rtune_problem *p, const void *in, void *out) {
    struct rtune_error err = {0};
    struct rtune_args a = RTUNE_ARGS(in, out);
    if (rtune_reduce(rt, p, &a, NULL, &err) != RTUNE_OK) fail_msg("%s", err.message);
}

static void test_values(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 31, 33, 1000, 8193, 100003};
    static int32_t in[100004];
    for (size_t i = 0; i < 100004; i++)
        in[i] = (int32_t)(i * 2654435761u);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (size_t offset = 0; offset < 2; offset++) { /* an odd base too */
            const uint64_t n = sizes[s];
            int64_t sum = 0, got_sum = -1;
            int32_t low = INT32_MAX, high = INT32_MIN, got_low = 0, got_high = 0;
            for (uint64_t i = 0; i < n; i++) {
                const int32_t x = in[offset + i];
                sum += x;
                if (x < low) low = x;
                if (x > high) high = x;
            }
            reduce(&RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, n), in + offset, &got_sum);
            reduce(&RTUNE_PROBLEM(RTUNE_MIN, RTUNE_I32, n), in + offset, &got_low);
            reduce(&RTUNE_PROBLEM(RTUNE_MAX, RTUNE_I32, n), in + offset, &got_high);
            assert_int_equal(got_sum, sum);
            assert_int_equal(got_low, low);
            assert_int_equal(got_high, high);
        }
    }
}

/* A33: nothing to reduce gives the identity, or EMPTY and an output that nobody touched. */
static void test_empty(void **state) {
    (void)state;
    double f = 7;
    int64_t i = 7;
    unsigned char out[8];
    struct rtune_error err = {0};
    reduce(&RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F64, 0), NULL, &f);
    assert_true(f >= 0 && f <= 0 && !signbit(f));
    reduce(&RTUNE_PROBLEM(RTUNE_PROD, RTUNE_I32, 0), NULL, &i);
    assert_int_equal(i, 1);
    memset(out, 0xab, sizeof out);
    struct rtune_args a = RTUNE_ARGS(NULL, out);
    for (int op = RTUNE_MIN; op <= RTUNE_MAX; op++) {
        const struct rtune_problem p = RTUNE_PROBLEM((enum rtune_op)op, RTUNE_F64, 0);
        assert_int_equal(rtune_reduce(rt, &p, &a, NULL, &err), RTUNE_EMPTY);
        assert_int_equal(err.status, RTUNE_EMPTY);
    }
    for (size_t k = 0; k < sizeof out; k++)
        assert_int_equal(out[k], 0xab);
}

/* The same for every problem, into bytes of which none after the result is touched. */
static void test_every_empty(void **state) {
    (void)state;
    struct rtune_problem p;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        unsigned char out[32], want[32];
        struct rtune_args a = RTUNE_ARGS(NULL, out);
        const bool has_value = !(p.op >= RTUNE_MIN && p.op <= RTUNE_ARGMAX);
        memset(out, 0xab, sizeof out);
        memset(want, 0xab, sizeof want);
        p.flags = has_value ? RTUNE_ACCUMULATE : 0; /* nothing is added to what is there */
        assert_int_equal(rtune_reduce(rt, &p, &a, NULL, NULL), has_value ? RTUNE_OK : RTUNE_EMPTY);
        assert_memory_equal(out, want, sizeof out);
        if (!has_value) continue;
        p.flags = 0;
        memset(want, p.op == RTUNE_BAND ? 0xff : 0, rtune_result_size(&p));
        if (p.op == RTUNE_ALL) want[0] = 1;
        if (p.op == RTUNE_PROD) assert_int_equal(rtune_identity(&p, want, NULL), RTUNE_OK);
        assert_int_equal(rtune_reduce(rt, &p, &a, NULL, NULL), RTUNE_OK);
        assert_memory_equal(out, want, sizeof out);
    }
}

static void test_accumulate(void **state) {
    (void)state;
    const int64_t in[] = {1, 2, 3};
    int64_t out = 10;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I64, 3);
    p.flags = RTUNE_ACCUMULATE;
    reduce(&p, in, &out);
    reduce(&p, in, &out);
    assert_int_equal(out, 22);
    p.n = 0;
    reduce(&p, in, &out);
    assert_int_equal(out, 22);
}

static void test_norm(void **state) {
    (void)state;
    const float in[] = {3, -4, INFINITY};
    const uint16_t large[] = {0x7753, 0x78e2}; /* 30000 and 40000 */
    float out = 7;
    uint16_t half = 7;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUMSQ, RTUNE_F32, 2);
    p.flags = RTUNE_ROOT;
    reduce(&p, in, &out);
    assert_true(out >= 5 && out <= 5);
    p.n = 3;
    reduce(&p, in, &out);
    assert_true(isinf(out));
    p.n = 0;
    reduce(&p, in, &out);
    assert_true(out >= 0 && out <= 0);
    p = RTUNE_PROBLEM(RTUNE_SUMSQ, RTUNE_F16, 2);
    p.acc = RTUNE_NATIVE;
    reduce(&p, large, &half);
    assert_int_equal(half, 0x7c00);
    p.flags = RTUNE_ROOT;
    reduce(&p, large, &half);
    assert_int_equal(half, 0x7a1a); /* 49984 */
}

static void check_refused(struct rtune_problem p, struct rtune_args a, enum rtune_status status,
                          const char *words) {
    struct rtune_error err = {0};
    rtune_plan *plan = NULL;
    assert_int_equal(rtune_reduce(rt, &p, &a, NULL, NULL), status);
    assert_int_equal(rtune_reduce(rt, &p, &a, NULL, &err), status);
    if (!strstr(err.message, words)) fail_msg("\"%s\" does not say \"%s\"", err.message, words);
    if (rtune_plan_create(&plan, rt, &p, NULL) == RTUNE_OK) {
        assert_int_equal(rtune_plan_reduce(plan, &a, NULL, &err), status);
        rtune_plan_destroy(plan);
    }
}

static void test_arguments(void **state) {
    (void)state;
    _Alignas(16) static unsigned char in[64];
    _Alignas(16) unsigned char out[16];
    _Alignas(16) unsigned char untouched[16];
    const struct rtune_problem f32 = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 4);
    const struct rtune_args good = RTUNE_ARGS(in, out);
    struct rtune_problem p = f32;
    struct rtune_args a = good;
    memset(out, 0xab, sizeof out);
    memset(untouched, 0xab, sizeof untouched);
    a.struct_size = 3;
    check_refused(p, a, RTUNE_INVALID, "struct_size");
    struct rtune_launch unsized = RTUNE_LAUNCH_INIT;
    unsized.struct_size = 0;
    a = good, a.launch = &unsized;
    check_refused(p, a, RTUNE_INVALID, "RTUNE_LAUNCH_INIT");
    a = good, a.in = NULL;
    check_refused(p, a, RTUNE_INVALID, "in is NULL");
    a = good, a.out = NULL;
    check_refused(p, a, RTUNE_INVALID, "out is NULL");
    a = good, a.in = in + 2;
    check_refused(p, a, RTUNE_INVALID, "in: ");
    a = good, a.out = out + 2;
    check_refused(p, a, RTUNE_INVALID, "out: ");
    a = good, a.in2 = in;
    check_refused(p, a, RTUNE_INVALID, "in2");
    p.dtype = RTUNE_F64, a = good, a.out = out + 4;
    check_refused(p, a, RTUNE_INVALID, "8 bytes");
    p = f32, a = good, p.n = UINT64_MAX / 4;
    check_refused(p, a, RTUNE_INVALID, "elements");
    p.n = (UINT64_MAX / 4) + 2;
    check_refused(p, a, RTUNE_INVALID, "");
    p = f32, p.struct_size = 0;
    check_refused(p, a, RTUNE_INVALID, "struct_size");
    p = f32, p.flags = 1u << 9;
    check_refused(p, a, RTUNE_INVALID, "flag");
    p = f32, p.op = RTUNE_DOT;
    check_refused(p, good, RTUNE_INVALID, "in2 is NULL");
    a = good, a.in2 = in + 2;
    check_refused(p, a, RTUNE_INVALID, "in2: ");
    p = f32, p.op = RTUNE_MAX, p.mode = RTUNE_KAHAN;
    check_refused(p, good, RTUNE_UNSUPPORTED, "max in mode kahan");
    p = f32, p.op = (enum rtune_op)77;
    check_refused(p, good, RTUNE_INVALID, "");
    assert_memory_equal(out, untouched, sizeof out);
    assert_int_equal(rtune_reduce(NULL, &f32, &good, NULL, NULL), RTUNE_INVALID);
    assert_int_equal(rtune_reduce(rt, NULL, &good, NULL, NULL), RTUNE_INVALID);
    assert_int_equal(rtune_reduce(rt, &f32, NULL, NULL, NULL), RTUNE_INVALID);
    assert_int_equal(rtune_prepare(NULL, &f32, 1, NULL), RTUNE_INVALID);
    assert_int_equal(rtune_prepare(rt, NULL, 1, NULL), RTUNE_INVALID);
    assert_int_equal(rtune_prepare(rt, NULL, 0, NULL), RTUNE_OK);
    assert_int_equal(rtune_plan_create(NULL, rt, &f32, NULL), RTUNE_INVALID);
    assert_int_equal(rtune_plan_reduce(NULL, &good, NULL, NULL), RTUNE_INVALID);
    assert_int_equal(rtune_plan_reset(NULL, NULL, NULL), RTUNE_INVALID);
    assert_null(rtune_plan_launch(NULL));
    rtune_plan_destroy(NULL);
    rtune_close(NULL);
}

/* One bad problem among good ones is named by its place. */
static void test_prepare(void **state) {
    (void)state;
    struct rtune_error err = {0};
    struct rtune_problem p[3] = {
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 10),
        RTUNE_PROBLEM(RTUNE_MAX, RTUNE_I64, 1 << 20),
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1 << 20),
    };
    assert_int_equal(rtune_prepare(rt, p, 3, &err), RTUNE_OK);
    p[1].op = RTUNE_OP_COUNT;
    assert_int_equal(rtune_prepare(rt, p, 3, &err), RTUNE_INVALID);
    assert_non_null(strstr(err.message, "problem 1"));
}

static void test_plan(void **state) {
    (void)state;
    struct rtune_error err = {0};
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    const double in[] = {3, -4, 5};
    double out = 0;
    rtune_plan *plan = NULL;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F64, 3);
    struct rtune_args a = RTUNE_ARGS(in, &out);
    a.launch = &launch;
    assert_int_equal(rtune_plan_create(&plan, rt, &p, &err), RTUNE_OK);
    assert_int_equal(rtune_plan_reduce(plan, &a, NULL, &err), RTUNE_OK);
    assert_true(out <= -4 && out >= -4);
    assert_int_equal(launch.source, RTUNE_FROM_BUILTIN);
    assert_int_equal(launch.kernel, RTUNE_KERNEL_BUILTIN);
    assert_int_equal(rtune_plan_launch(plan)->grid, launch.grid);
    assert_int_equal(rtune_plan_reset(plan, NULL, &err), RTUNE_OK);
    rtune_plan_destroy(plan);
}

/* Every instance that this processor has is served as the override says. */
static void test_tuned_instances(void **state) {
    (void)state;
    static float in[70000];
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_error err = {0};
    double expected = 0;
    opts.device = "cpu";
    opts.store = "none";
    for (size_t i = 0; i < 70000; i++)
        expected += in[i] = (float)(i % 7) - 3;
    uint32_t items = 0;
    for (size_t k = 0; (items = rtune_cpu_items_at(RTUNE_F32, rtune_isa_detect(), k)) > 0; k++) {
        char text[64];
        rtune *tuned = NULL;
        float out = -1;
        struct rtune_launch launch = RTUNE_LAUNCH_INIT;
        const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 70000);
        struct rtune_args a = RTUNE_ARGS(in, &out);
        a.launch = &launch;
        snprintf(text, sizeof text, "sum:items=%u,grid=2", (unsigned)items);
        setenv("RTUNE_OVERRIDE", text, 1);
        assert_int_equal(rtune_open(&tuned, &opts, &err), RTUNE_OK);
        unsetenv("RTUNE_OVERRIDE");
        assert_int_equal(rtune_reduce(tuned, &p, &a, NULL, &err), RTUNE_OK);
        assert_true(out <= (float)expected && out >= (float)expected);
        assert_int_equal(launch.source, RTUNE_FROM_OVERRIDE);
        assert_int_equal(launch.kernel, RTUNE_KERNEL_BUILTIN);
        assert_int_equal(launch.config.items, items);
        assert_false(launch.fell_back);
        rtune_close(tuned);
        assert_true(k < 100);
    }
    assert_true(rtune_cpu_items_at(RTUNE_F32, rtune_isa_detect(), 1) >
                0); /* more than the built-in */
}

static void test_identity(void **state) {
    (void)state;
    assert_string_equal(rtune_device_name(rt), "cpu");
    assert_non_null(strstr(rtune_device_identity(rt), "v1|cpu|"));
    assert_int_equal(rtune_workspace_size(rt), 0);
    assert_null(rtune_device_name(NULL));
    assert_null(rtune_device_identity(NULL));
    assert_false(rtune_store_at(NULL, 0, NULL));
}

static void test_open_arguments(void **state) {
    (void)state;
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_error err = {0};
    rtune *other = NULL;
    opts.device = "cpu";
    assert_int_equal(rtune_open(NULL, &opts, &err), RTUNE_INVALID);
    opts.struct_size = 1;
    assert_int_equal(rtune_open(&other, &opts, &err), RTUNE_INVALID);
    assert_non_null(strstr(err.message, "struct_size"));
    opts = (struct rtune_options)RTUNE_OPTIONS_INIT;
    opts.device = "toaster";
    assert_int_equal(rtune_open(&other, &opts, &err), RTUNE_NO_DEVICE);
    assert_non_null(strstr(err.message, "toaster"));
    assert_null(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_tuned_instances),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_open_arguments),
        cmocka_unit_test(test_every_empty),
        cmocka_unit_test(test_norm),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
