/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device on the fake driver: contexts, streams, captures, launches. */
#include "runtime/device_cuda.h"
#include "tests/fake/gpu.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct test_driver driver;

static void open_driver(void) {
    struct rtune_error err;
    if (!test_driver_open(&driver, &err)) fail_msg("%s", err.message);
}

static CUcontext current(void) {
    CUcontext context = NULL;
    assert_int_equal(driver.base.cuCtxGetCurrent(&context), CUDA_SUCCESS);
    return context;
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* Every call on a device leaves the caller's current context alone, here that of another GPU (C01).
 */
static void test_context_kept(void **state) {
    (void)state;
    struct rtune_error err;
    CUcontext other = NULL;
    struct gpu_sum sum;
    struct rtune_stream_state stream_state;
    void *stream = NULL, *first = NULL, *last = NULL;
    uint64_t bytes = 0;
    bool done = false;
    double us = 0;
    gpu_reset("RTUNE_FAKE_DEVICES=2", NULL);
    open_driver();
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&other, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(other), CUDA_SUCCESS);
    rtune_device *dev = gpu_open("1");
#define KEPT() assert_ptr_equal(current(), other)
    KEPT();
    gpu_sum_open(&sum, dev, 1000), KEPT();
    gpu_ok(dev->ops->stream_create(dev, &stream, &err), &err), KEPT();
    gpu_ok(dev->ops->event_create(dev, true, &first, &err), &err), KEPT();
    gpu_ok(dev->ops->event_create(dev, true, &last, &err), &err), KEPT();
    gpu_ok(dev->ops->stream_state(dev, stream, &stream_state, &err), &err), KEPT();
    gpu_ok(dev->ops->event_record(dev, first, stream, &err), &err), KEPT();
    gpu_ok(gpu_sum_launch(&sum, stream, &err), &err), KEPT();
    gpu_ok(dev->ops->event_record(dev, last, stream, &err), &err), KEPT();
    gpu_ok(dev->ops->event_done(dev, last, &done, &err), &err), KEPT();
    assert_false(done); /* nobody waited yet */
    gpu_ok(dev->ops->stream_wait(dev, stream, &err), &err), KEPT();
    gpu_ok(dev->ops->event_done(dev, last, &done, &err), &err), KEPT();
    assert_true(done);
    gpu_ok(dev->ops->event_us(dev, first, last, &us, &err), &err), KEPT();
    assert_true(us > 2 && us < 100);
    assert_int_equal(gpu_sum_result(&sum), gpu_sum_expected(&sum)), KEPT();
    gpu_ok(dev->ops->mem_free_bytes(dev, &bytes, &err), &err), KEPT();
    dev->ops->event_destroy(dev, first), KEPT();
    dev->ops->event_destroy(dev, last), KEPT();
    dev->ops->stream_destroy(dev, stream), KEPT();
    gpu_sum_close(&sum), KEPT();
    rtune_device_close(dev), KEPT();
#undef KEPT
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    gpu_assert_clean();
}

static void test_no_context(void **state) {
    (void)state;
    gpu_reset(NULL, NULL);
    rtune_device *dev = gpu_open(NULL);
    open_driver();
    assert_null(current());
    rtune_device_close(dev);
    assert_null(current());
    gpu_assert_clean();
}

/* Without a spec the current context is used: the primary one is retained, another one is borrowed.
 */
static void test_current_context(void **state) {
    (void)state;
    CUcontext context = NULL;
    struct rtune_error err;
    struct gpu_sum sum;
    gpu_reset("RTUNE_FAKE_DEVICES=2", NULL);
    open_driver();
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&context, 1), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    rtune_device *dev = gpu_open(NULL);
    assert_string_equal(dev->name, "cuda:1");
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS); /* still held */
    gpu_sum_open(&sum, dev, 100);
    gpu_sum_close(&sum);
    rtune_device_close(dev);
    assert_int_equal(fake_cuda_live().contexts, 0);

    assert_int_equal(driver.context_create(&context, 0, 1), CUDA_SUCCESS);
    dev = gpu_open(NULL);
    assert_string_equal(dev->name, "cuda:1");
    gpu_sum_open(&sum, dev, 100);
    gpu_ok(gpu_sum_launch(&sum, NULL, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, NULL, &err), &err);
    assert_int_equal(gpu_sum_result(&sum), 5050);
    gpu_sum_close(&sum);
    rtune_device_close(dev);
    assert_ptr_equal(current(), context);
    assert_int_equal(fake_cuda_live().contexts, 1);
    assert_int_equal(driver.cuCtxDestroy(context), CUDA_SUCCESS);
    gpu_assert_clean();
}

/* What a device made goes when it is closed, also where others keep the context alive. */
static void test_shared_context(void **state) {
    (void)state;
    CUcontext context = NULL;
    gpu_reset(NULL, NULL);
    open_driver();
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    rtune_device_close(gpu_open("0"));
    struct fake_cuda_live live = fake_cuda_live();
    assert_int_equal(live.contexts, 1);
    assert_int_equal(live.modules, 0);
    assert_int_equal(live.streams, 0);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    gpu_assert_clean();
}

static void test_wrong_context(void **state) {
    (void)state;
    struct rtune_error err;
    struct rtune_stream_state stream_state = {99, true};
    void *stream = NULL;
    gpu_reset("RTUNE_FAKE_DEVICES=2", NULL);
    rtune_device *dev = gpu_open("0"), *other = gpu_open("1");
    gpu_ok(other->ops->stream_create(other, &stream, &err), &err);
    assert_int_equal(dev->ops->stream_state(dev, stream, &stream_state, &err), RTUNE_WRONG_CONTEXT);
    assert_non_null(strstr(err.message, "cuda:0"));
    assert_int_equal(stream_state.key, 99);
    gpu_ok(other->ops->stream_state(other, stream, &stream_state, &err), &err);
    other->ops->stream_destroy(other, stream);
    rtune_device_close(dev);
    rtune_device_close(other);
    gpu_assert_clean();
}

/* ---- streams --------------------------------------------------------------------------------- */

static uint64_t key_of(rtune_device *dev, void *stream) {
    struct rtune_stream_state state;
    struct rtune_error err;
    gpu_ok(dev->ops->stream_state(dev, stream, &state, &err), &err);
    assert_false(state.capturing);
    return state.key;
}

static void *key_of_per_thread(void *argument) {
    uint64_t *key = calloc(1, sizeof *key);
    assert_non_null(key);
    *key = key_of(argument, CU_STREAM_PER_THREAD);
    return key;
}

static void test_stream_keys(void **state) {
    (void)state;
    struct rtune_error err;
    void *a = NULL, *b = NULL;
    void *other = NULL;
    pthread_t thread;
    gpu_reset(NULL, NULL);
    rtune_device *dev = gpu_open("0");
    gpu_ok(dev->ops->stream_create(dev, &a, &err), &err);
    uint64_t key = key_of(dev, a);
    assert_int_equal(key_of(dev, a), key);
    dev->ops->stream_destroy(dev, a);
    gpu_ok(dev->ops->stream_create(dev, &b, &err), &err);
    assert_int_not_equal(key_of(dev, b), key); /* also where the handle comes back */
    assert_int_equal(key_of(dev, NULL), key_of(dev, CU_STREAM_LEGACY));
    assert_int_not_equal(key_of(dev, NULL), key_of(dev, CU_STREAM_PER_THREAD));
    assert_int_equal(pthread_create(&thread, NULL, key_of_per_thread, dev), 0);
    assert_int_equal(pthread_join(thread, &other), 0);
    assert_int_not_equal(*(uint64_t *)other, key_of(dev, CU_STREAM_PER_THREAD));
    free(other);
    dev->ops->stream_destroy(dev, b);
    rtune_device_close(dev);
    gpu_assert_clean();
}

/* Opening kernels, allocating and waiting disturb no capture, of this thread or another (C07). */
static void test_capture(void **state) {
    (void)state;
    struct rtune_error err;
    struct rtune_stream_state stream_state;
    struct gpu_sum sum, during;
    void *stream = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUcontext context = NULL;
    gpu_reset(NULL, NULL);
    open_driver();
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    rtune_device *dev = gpu_open("0");
    gpu_sum_open(&sum, dev, 1000);
    gpu_ok(dev->ops->stream_create(dev, &stream, &err), &err);
    assert_int_equal(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_SUCCESS);
    gpu_ok(dev->ops->stream_state(dev, stream, &stream_state, &err), &err);
    assert_true(stream_state.capturing);
    gpu_sum_open(&during, dev, 10);
    gpu_sum_close(&during);
    gpu_ok(gpu_sum_launch(&sum, stream, &err), &err);
    assert_int_equal(driver.cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    /* the thread's own mode is what it was */
    assert_int_equal(driver.base.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(driver.cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    for (int32_t first = 1; first <= 3; first++) {
        gpu_ok(dev->ops->mem_put(dev, sum.in, &first, sizeof first, &err), &err);
        assert_int_equal(driver.cuGraphLaunch(exec, stream), CUDA_SUCCESS);
        gpu_ok(dev->ops->stream_wait(dev, stream, &err), &err);
        assert_int_equal(gpu_sum_result(&sum), gpu_sum_expected(&sum) + first - 1);
    }
    assert_int_equal(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(driver.cuGraphExecDestroy(exec), CUDA_SUCCESS);
    dev->ops->stream_destroy(dev, stream);
    gpu_sum_close(&sum);
    rtune_device_close(dev);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    gpu_assert_clean();
}

static void test_capture_and_legacy(void **state) {
    (void)state;
    struct rtune_error err;
    struct rtune_stream_state stream_state;
    CUcontext context = NULL;
    CUstream blocking = NULL;
    CUgraph graph = NULL;
    gpu_reset(NULL, NULL);
    open_driver();
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    rtune_device *dev = gpu_open("0");
    assert_int_equal(driver.base.cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_SUCCESS);
    assert_int_equal(dev->ops->stream_state(dev, NULL, &stream_state, &err), RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (pass a stream"));
    assert_int_equal(driver.cuStreamEndCapture(blocking, &graph), CUDA_SUCCESS); /* still valid */
    assert_int_equal(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuStreamDestroy(blocking), CUDA_SUCCESS);
    rtune_device_close(dev);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    gpu_assert_clean();
}

/* Copies and streams of a device wait for nothing that is on the legacy stream (C09). */
static void test_legacy_is_left_alone(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    int32_t first = 5;
    void *stream = NULL;
    gpu_reset(NULL, NULL);
    rtune_device *dev = gpu_open("0");
    gpu_sum_open(&sum, dev, 10);
    gpu_ok(gpu_sum_launch(&sum, NULL, &err), &err);
    gpu_ok(dev->ops->mem_put(dev, sum.in, &first, sizeof first, &err), &err);
    assert_int_equal(fake_cuda_pending(), 1);
    gpu_ok(dev->ops->stream_create(dev, &stream, &err), &err);
    gpu_ok(dev->ops->mem_set(dev, sum.out, 0, 8, stream, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, stream, &err), &err);
    assert_int_equal(fake_cuda_pending(), 1);
    gpu_ok(dev->ops->stream_wait(dev, NULL, &err), &err);
    assert_int_equal(gpu_sum_result(&sum), 55 + 4);
    dev->ops->stream_destroy(dev, stream);
    gpu_sum_close(&sum);
    rtune_device_close(dev);
    gpu_assert_clean();
}

/* ---- launches -------------------------------------------------------------------------------- */

/* A launch in the device's own context is two driver calls, and nothing waits. */
static void test_launch_is_lean(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    void *stream = NULL;
    gpu_reset(NULL, NULL);
    rtune_device *dev = gpu_open("0");
    open_driver();
    gpu_sum_open(&sum, dev, 100000);
    gpu_ok(dev->ops->stream_create(dev, &stream, &err), &err);
    CUcontext own = NULL;
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&own, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(own), CUDA_SUCCESS);
    fake_cuda_mark();
    gpu_ok(gpu_sum_launch(&sum, stream, &err), &err);
    assert_string_equal(fake_cuda_call_at(0), "cuCtxGetCurrent");
    assert_string_equal(fake_cuda_call_at(1), "cuLaunchKernel");
    assert_null(fake_cuda_call_at(2));
    assert_int_equal(fake_cuda_pending(), 1);
    gpu_ok(dev->ops->stream_wait(dev, stream, &err), &err);
    assert_int_equal(gpu_sum_result(&sum), gpu_sum_expected(&sum));
    dev->ops->stream_destroy(dev, stream);
    gpu_sum_close(&sum);
    rtune_device_close(dev);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    gpu_assert_clean();
}

static void test_kernel_open(void **state) {
    (void)state;
    struct rtune_error err;
    rtune_kernel *kernel = NULL;
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F32, 0);
    struct rtune_config config = rtune_config_default(&problem, true);
    size_t builtin = 0;
    (void)rtune_builtin_image(&builtin);
    gpu_reset("RTUNE_FAKE_FAULTS=absent=_argmin_", NULL);
    rtune_device *dev = gpu_open("0");
    enum rtune_status status =
        dev->ops->kernel_open(dev, &problem, &config, NULL, 0, &kernel, &err);
    if (builtin) {
        gpu_ok(status, &err);
        assert_true(dev->ops->kernel_resident(kernel) >= 1);
        dev->ops->kernel_close(dev, kernel);
    } else {
        assert_int_equal(status, RTUNE_UNSUPPORTED);
        assert_non_null(strstr(err.message, "no built-in GPU kernels"));
    }
    config.block = config.block == 512 ? 256 : 512;
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, NULL, 0, &kernel, &err),
                     RTUNE_INVALID);
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, "x", 0, &kernel, &err),
                     RTUNE_INVALID);
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, "bad image", 10, &kernel, &err),
                     RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "CUDA_ERROR_INVALID_IMAGE"));
    assert_non_null(strstr(err.message, "fake log: first line"));
    assert_null(strstr(err.message, "second line"));
    problem.op = RTUNE_ARGMIN; /* the name of a kernel that no module has */
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, "image", 6, &kernel, &err),
                     RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "CUDA_ERROR_NOT_FOUND"));
    rtune_device_close(dev);
    gpu_assert_clean();
}

/* The driver loads a kernel when it is opened, not in its first launch (C13): by cuFuncLoad, or
 * before CUDA 12.4 by asking for an attribute. */
static void test_eager(void **state) {
    (void)state;
    struct gpu_sum sum;
    gpu_reset(NULL, NULL);
    rtune_device *dev = gpu_open("0");
    gpu_sum_open(&sum, dev, 10);
    gpu_sum_close(&sum);
    assert_int_equal(fake_cuda_calls("cuFuncLoad"), 1);
    assert_int_equal(fake_cuda_calls("cuFuncGetAttribute"), 0);
    rtune_cuda_device(dev)->cuda.cuFuncLoad = NULL;
    gpu_sum_open(&sum, dev, 10);
    gpu_sum_close(&sum);
    assert_int_equal(fake_cuda_calls("cuFuncLoad"), 1);
    assert_int_equal(fake_cuda_calls("cuFuncGetAttribute"), 1);
    rtune_device_close(dev);
    gpu_assert_clean();
}

static void test_support(void **state) {
    (void)state;
    struct rtune_error err;
    rtune_kernel *spin = NULL;
    struct {
        uint64_t turns;
        void *sink;
    } params = {1000, NULL};
    void *pointers[1] = {&params}, *first = NULL, *last = NULL, *stream = NULL;
    double us = 0;
    size_t size = 0;
    if (!rtune_support_image(&size) || size == 0) skip();
    gpu_reset("RTUNE_FAKE_NOISE=0", NULL);
    rtune_device *dev = gpu_open("0");
    gpu_ok(dev->ops->support_open(dev, "rtune_support_spin", &spin, &err), &err);
    assert_int_equal(dev->ops->support_open(dev, "rtune_support_nothing", &spin, &err),
                     RTUNE_DEVICE);
    gpu_ok(dev->ops->stream_create(dev, &stream, &err), &err);
    gpu_ok(dev->ops->event_create(dev, true, &first, &err), &err);
    gpu_ok(dev->ops->event_create(dev, true, &last, &err), &err);
    gpu_ok(dev->ops->event_record(dev, first, stream, &err), &err);
    gpu_ok(dev->ops->support_launch(dev, spin, 1, 32, pointers, stream, &err), &err);
    gpu_ok(dev->ops->event_record(dev, last, stream, &err), &err);
    assert_int_equal(dev->ops->event_us(dev, first, last, &us, &err), RTUNE_DEVICE); /* not done */
    assert_non_null(strstr(err.message, "CUDA_ERROR_NOT_READY"));
    gpu_ok(dev->ops->stream_wait(dev, stream, &err), &err);
    gpu_ok(dev->ops->event_us(dev, first, last, &us, &err), &err);
    assert_true(us > 4.5 && us < 5); /* 2 + 2.1 + 0.6 */
    dev->ops->kernel_close(dev, spin);
    dev->ops->event_destroy(dev, first);
    dev->ops->event_destroy(dev, last);
    dev->ops->stream_destroy(dev, stream);
    rtune_device_close(dev);
    gpu_assert_clean();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_context), cmocka_unit_test(test_legacy_is_left_alone),
        cmocka_unit_test(test_eager),          cmocka_unit_test(test_context_kept),
        cmocka_unit_test(test_no_context),     cmocka_unit_test(test_current_context),
        cmocka_unit_test(test_wrong_context),  cmocka_unit_test(test_stream_keys),
        cmocka_unit_test(test_capture),        cmocka_unit_test(test_capture_and_legacy),
        cmocka_unit_test(test_launch_is_lean), cmocka_unit_test(test_kernel_open),
        cmocka_unit_test(test_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
