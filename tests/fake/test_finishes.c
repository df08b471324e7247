/* SPDX-License-Identifier: Apache-2.0 */
/* What each finish is on a CUDA device: which launches with which attributes, what a device must
 * have for it, and what is left when the second of two launches is refused. */
#include "runtime/device_cuda.h"
#include "tests/fake/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 5000, GRID = 12 };

struct fixture {
    rtune_device *dev;
    struct gpu_sum sum; /* its memory; its kernel is the default one */
    void *stream;
};

static void start(struct fixture *f, const char *setting) {
    struct rtune_error err;
    gpu_reset(setting, NULL);
    f->dev = gpu_open("0");
    gpu_sum_open(&f->sum, f->dev, N);
    f->sum.grid = GRID;
    gpu_ok(f->dev->ops->stream_create(f->dev, &f->stream, &err), &err);
}

static void finish(struct fixture *f) {
    f->dev->ops->stream_destroy(f->dev, f->stream);
    gpu_sum_close(&f->sum);
    rtune_device_close(f->dev);
    gpu_assert_clean();
}

static enum rtune_status open_kernel(struct fixture *f, const char *change, rtune_kernel **kernel,
                                     struct rtune_error *err) {
    static const char image[] = "any image will do";
    const struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, N);
    struct rtune_config config = rtune_config_default(&problem, true);
    assert_int_equal(rtune_config_parse(change, &config, NULL), RTUNE_OK);
    return f->dev->ops->kernel_open(f->dev, &problem, &config, image, sizeof image, kernel, err);
}

static void put_kernel(struct fixture *f, const char *change) {
    struct rtune_error err;
    rtune_kernel *kernel = NULL;
    gpu_ok(open_kernel(f, change, &kernel, &err), &err);
    f->dev->ops->kernel_close(f->dev, f->sum.kernel);
    f->sum.kernel = kernel;
}

/* One reduction, with the right result. */
static void check_sum(struct fixture *f) {
    struct rtune_error err;
    gpu_ok(gpu_sum_launch(&f->sum, f->stream, &err), &err);
    gpu_ok(f->dev->ops->stream_wait(f->dev, f->stream, &err), &err);
    assert_int_equal(gpu_sum_result(&f->sum), gpu_sum_expected(&f->sum));
}

static void test_launches(void **state) {
    (void)state;
    static const struct {
        const char *change;
        unsigned plain, with_attribute;
    } known[] = {
        {"finish=slots", 1, 0},           {"finish=last", 1, 0},
        {"finish=packed", 1, 0},          {"finish=two_kernels", 2, 0},
        {"finish=dependent", 1, 1},       {"finish=grid_sync", 0, 1},
        {"finish=cluster,extra=2", 0, 1}, {"finish=cluster,extra=4", 0, 1},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        struct fixture f;
        start(&f, NULL);
        put_kernel(&f, known[k].change);
        const uint64_t plain = fake_cuda_calls("cuLaunchKernel");
        const uint64_t ex = fake_cuda_calls("cuLaunchKernelEx");
        check_sum(&f);
        assert_int_equal(fake_cuda_calls("cuLaunchKernel") - plain, known[k].plain);
        assert_int_equal(fake_cuda_calls("cuLaunchKernelEx") - ex, known[k].with_attribute);
        check_sum(&f);
        finish(&f);
    }
}

/* The k-th launch of a call is refused: it says so, and the next call is right. */
static void test_refused_launches(void **state) {
    (void)state;
    static const char *const changes[] = {"finish=slots",       "finish=packed",
                                          "finish=two_kernels", "finish=dependent",
                                          "finish=grid_sync",   "finish=cluster,extra=4"};
    for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
        for (int symbol = 0; symbol < 2; symbol++) {
            bool more = true;
            for (uint64_t k = 1; more; k++) {
                struct fixture f;
                struct rtune_error err = {.status = RTUNE_OK};
                start(&f, NULL);
                put_kernel(&f, changes[c]);
                fake_cuda_fail(symbol ? "cuLaunchKernelEx" : "cuLaunchKernel", k,
                               CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
                const enum rtune_status status = gpu_sum_launch(&f.sum, f.stream, &err);
                more = fake_cuda_failed();
                fake_cuda_fail(NULL, 0, 0);
                assert_int_equal(status, more ? RTUNE_DEVICE : RTUNE_OK);
                check_sum(&f);
                finish(&f);
                assert_true(k <= 3);
            }
        }
    }
}

static void check_refused(struct fixture *f, const char *change, enum rtune_status expected,
                          const char *says) {
    struct rtune_error err = {.status = RTUNE_OK};
    rtune_kernel *kernel = NULL;
    const enum rtune_status status = open_kernel(f, change, &kernel, &err);
    assert_int_equal(status, expected);
    assert_null(kernel);
    if (!strstr(err.message, says)) fail_msg("\"%s\" does not say \"%s\"", err.message, says);
}

static void test_older_devices(void **state) {
    (void)state;
    struct fixture f;
    start(&f, "RTUNE_FAKE_CC=8.0");
    check_refused(&f, "finish=dependent", RTUNE_UNSUPPORTED, "compute capability 9.0");
    check_refused(&f, "finish=cluster,extra=2", RTUNE_UNSUPPORTED, "compute capability 9.0");
    check_refused(&f, "variant=bulk,block=128,extra=2", RTUNE_UNSUPPORTED, "variant=bulk");
    put_kernel(&f, "finish=grid_sync");
    check_sum(&f);
    put_kernel(&f, "finish=two_kernels");
    check_sum(&f);
    finish(&f);
}

static void test_older_drivers(void **state) {
    (void)state;
    struct fixture f;
    start(&f, NULL);
    rtune_cuda_device(f.dev)->cuda.cuOccupancyMaxActiveClusters = NULL;
    check_refused(&f, "finish=cluster,extra=2", RTUNE_UNSUPPORTED, "no clusters");
    rtune_cuda_device(f.dev)->cuda.cuLaunchKernelEx = NULL;
    check_refused(&f, "finish=dependent", RTUNE_UNSUPPORTED, "cuLaunchKernelEx");
    check_refused(&f, "finish=grid_sync", RTUNE_UNSUPPORTED, "cuLaunchKernelEx");
    put_kernel(&f, "finish=two_kernels");
    check_sum(&f);
    finish(&f);
}

/* More than eight blocks in a cluster are to be asked for. */
static void test_large_clusters(void **state) {
    (void)state;
    struct fixture f;
    start(&f, NULL);
    put_kernel(&f, "finish=cluster,extra=8");
    assert_int_equal(fake_cuda_calls("cuFuncSetAttribute"), 0);
    put_kernel(&f, "finish=cluster,extra=16");
    assert_int_equal(fake_cuda_calls("cuFuncSetAttribute"), 1);
    f.sum.grid = 32;
    check_sum(&f);
    fake_cuda_fail("cuFuncSetAttribute", 1, CUDA_ERROR_INVALID_VALUE);
    check_refused(&f, "finish=cluster,extra=16", RTUNE_DEVICE, "cuFuncSetAttribute");
    fake_cuda_fail(NULL, 0, 0);
    finish(&f);
}

/* A finish by a second kernel needs both of them. */
static void test_second_kernel(void **state) {
    (void)state;
    struct fixture f;
    start(&f, "RTUNE_FAKE_FAULTS=absent=_o0_2");
    check_refused(&f, "finish=two_kernels", RTUNE_DEVICE, "CUDA_ERROR_NOT_FOUND");
    put_kernel(&f, "finish=last");
    check_sum(&f);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),       cmocka_unit_test(test_refused_launches),
        cmocka_unit_test(test_older_devices),  cmocka_unit_test(test_older_drivers),
        cmocka_unit_test(test_large_clusters), cmocka_unit_test(test_second_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
