/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and graphs of the fake driver: what they keep, what breaks them. */
#include "tests/fake/gpu.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct test_driver driver;
static rtune_device *dev;
static CUstream main_stream, branch;

static void begin(void) {
    struct rtune_error err;
    CUcontext context = NULL;
    gpu_reset(NULL, NULL);
    if (!test_driver_open(&driver, &err)) fail_msg("%s", err.message);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    dev = gpu_open("0");
    assert_int_equal(driver.base.cuStreamCreate(&main_stream, CU_STREAM_NON_BLOCKING),
                     CUDA_SUCCESS);
    assert_int_equal(driver.base.cuStreamCreate(&branch, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
}

static void end(void) {
    assert_int_equal(driver.base.cuStreamDestroy(main_stream), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuStreamDestroy(branch), CUDA_SUCCESS);
    rtune_device_close(dev);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    gpu_assert_clean();
}

static void capture(CUstreamCaptureMode mode) {
    assert_int_equal(driver.cuStreamBeginCapture(main_stream, mode), CUDA_SUCCESS);
}

/* An allocation, which captures of the global mode forbid. */
static CUresult allocate(void) {
    CUdeviceptr ptr = 0;
    CUresult result = driver.base.cuMemAlloc(&ptr, 16);
    if (result == CUDA_SUCCESS) assert_int_equal(driver.base.cuMemFree(ptr), CUDA_SUCCESS);
    return result;
}

static void *allocate_elsewhere(void *context) {
    if (driver.cuCtxSetCurrent(context) != CUDA_SUCCESS) return NULL;
    return allocate() == CUDA_SUCCESS ? context : NULL;
}

static CUresult end_capture(void) {
    CUgraph graph = NULL;
    CUresult result = driver.cuStreamEndCapture(main_stream, &graph);
    if (graph) assert_int_equal(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
    return result;
}

static void test_unsafe_calls(void **state) {
    (void)state;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUcontext context = NULL;
    pthread_t thread;
    void *allowed = NULL;
    begin();
    assert_int_equal(driver.base.cuCtxGetCurrent(&context), CUDA_SUCCESS);

    capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(allocate(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(end_capture(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, context), 0);
    assert_int_equal(pthread_join(thread, &allowed), 0);
    assert_null(allowed);
    assert_int_equal(end_capture(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, context), 0);
    assert_int_equal(pthread_join(thread, &allowed), 0);
    assert_non_null(allowed);
    assert_int_equal(end_capture(), CUDA_SUCCESS);

    capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(driver.base.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_int_equal(allocate(), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuStreamSynchronize(main_stream),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(end_capture(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end();
}

static void launch_on(const struct gpu_sum *sum, CUstream stream) {
    struct rtune_error err;
    gpu_ok(gpu_sum_launch(sum, stream, &err), &err);
}

/* Two branches: forked and joined by events; replayed, each result is there. */
static void test_branches(void **state) {
    (void)state;
    struct gpu_sum a, b;
    CUevent fork = NULL, join = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    begin();
    gpu_sum_open(&a, dev, 10);
    gpu_sum_open(&b, dev, 20);
    assert_int_equal(driver.base.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(driver.base.cuEventRecord(fork, main_stream), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamWaitEvent(branch, fork, 0), CUDA_SUCCESS);
    launch_on(&a, main_stream);
    launch_on(&b, branch);
    assert_int_equal(driver.base.cuEventQuery(fork), CUDA_ERROR_CAPTURED_EVENT);
    assert_int_equal(driver.base.cuEventRecord(join, branch), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamWaitEvent(main_stream, join, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamEndCapture(main_stream, &graph), CUDA_SUCCESS);
    assert_int_equal(fake_cuda_pending(), 0);
    assert_null(fake_cuda_problem());
    assert_int_equal(driver.cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuGraphLaunch(exec, branch), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuStreamSynchronize(branch), CUDA_SUCCESS);
    assert_int_equal(gpu_sum_result(&a), 55);
    assert_int_equal(gpu_sum_result(&b), 210);
    assert_int_equal(driver.cuGraphExecDestroy(exec), CUDA_SUCCESS);
    assert_int_equal(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuEventDestroy(fork), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuEventDestroy(join), CUDA_SUCCESS);
    gpu_sum_close(&a);
    gpu_sum_close(&b);
    end();
}

static void test_unjoined(void **state) {
    (void)state;
    struct gpu_sum sum;
    CUevent fork = NULL;
    begin();
    gpu_sum_open(&sum, dev, 10);
    assert_int_equal(driver.base.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(driver.base.cuEventRecord(fork, main_stream), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamWaitEvent(branch, fork, 0), CUDA_SUCCESS);
    launch_on(&sum, branch);
    assert_int_equal(end_capture(), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    assert_int_equal(driver.base.cuEventDestroy(fork), CUDA_SUCCESS);
    gpu_sum_close(&sum);
    end();
}

static void test_branches_share(void **state) {
    (void)state;
    struct gpu_sum sum;
    CUevent fork = NULL, join = NULL;
    begin();
    gpu_sum_open(&sum, dev, 10);
    assert_int_equal(driver.base.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    capture(CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(driver.base.cuEventRecord(fork, main_stream), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamWaitEvent(branch, fork, 0), CUDA_SUCCESS);
    launch_on(&sum, main_stream);
    launch_on(&sum, branch);
    assert_int_equal(driver.base.cuEventRecord(join, branch), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamWaitEvent(main_stream, join, 0), CUDA_SUCCESS);
    assert_int_equal(end_capture(), CUDA_SUCCESS);
    assert_non_null(fake_cuda_problem());
    assert_non_null(strstr(fake_cuda_problem(), "two branches of a captured graph share"));
    gpu_sum_close(&sum);
    rtune_device_close(dev);
    fake_cuda_reset();
}

/* A graph and a direct call that use one workspace on two streams at once. */
static void test_graph_beside_call(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    begin();
    gpu_sum_open(&sum, dev, 10);
    capture(CU_STREAM_CAPTURE_MODE_RELAXED);
    launch_on(&sum, main_stream);
    assert_int_equal(driver.cuStreamEndCapture(main_stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver.cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuGraphLaunch(exec, main_stream), CUDA_SUCCESS);
    launch_on(&sum, main_stream); /* one after the other: fine */
    assert_null(fake_cuda_problem());
    assert_int_equal(gpu_sum_launch(&sum, branch, &err), RTUNE_DEVICE);
    assert_non_null(strstr(fake_cuda_problem(), "in flight on two streams"));
    free(sum.kernel);
    rtune_device_close(dev);
    fake_cuda_reset();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsafe_calls),      cmocka_unit_test(test_branches),
        cmocka_unit_test(test_unjoined),          cmocka_unit_test(test_branches_share),
        cmocka_unit_test(test_graph_beside_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
