/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: nothing that a capture forbids, a workspace for each captured call, replays that
 * are right. */
#include "tests/runtime/gpu.h"

#include <stdlib.h>
#include <string.h>

static CUgraphExec end_capture(struct gpu *gpu, CUstream stream) {
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(gpu->cu.cuStreamEndCapture(stream, &graph));
    assert_non_null(graph);
    CU(gpu->cu.cuGraphInstantiate(&exec, graph, 0));
    CU(gpu->cu.cuGraphDestroy(graph));
    return exec;
}

static void reduce(struct gpu *gpu, size_t k, CUstream stream) {
    struct rtune_error err = {0};
    if (gpu_reduce(gpu, k, stream, NULL, &err) != RTUNE_OK) fail_msg("%s", err.message);
}

/* The first call ever, in a capture of the strictest mode: the built-in kernel, and no call that
 * the driver would not allow (case C07). */
static void test_first_call(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    gpu_start(&gpu);
    gpu_nvrtc.present = gpu_nvrtc.works = true;
    gpu_write_store(&gpu, scratch_path("capture.db"), "block=64,grid=4", true);
    gpu_open(&gpu, scratch_path("capture.db"), 0);
    CUstream stream = gpu_stream(&gpu);
    CU(gpu.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    const struct fake_cuda_live live = fake_cuda_live();
    if (gpu_reduce(&gpu, 0, stream, &l, &err) != RTUNE_OK) fail_msg("%s", err.message);
    const struct fake_cuda_live after = fake_cuda_live();
    assert_int_equal(after.allocations, live.allocations);
    assert_int_equal(after.modules, live.modules);
    assert_true(l.fell_back);
    assert_int_equal(l.kernel, RTUNE_KERNEL_BUILTIN);
    assert_int_equal(l.source, RTUNE_FROM_EXACT);
    assert_non_null(strstr(l.reason, "captured before it was prepared"));
    CUgraphExec exec = end_capture(&gpu, stream);
    for (int i = 0; i < 100; i++) {
        CU(gpu.cu.cuGraphLaunch(exec, stream));
        gpu_check(&gpu, 0, stream);
        if (i % 10 == 0) { /* replay beside direct calls on the capture stream */
            reduce(&gpu, 1, stream);
            CU(gpu.cu.cuGraphLaunch(exec, stream));
            reduce(&gpu, 2, stream);
            gpu_check(&gpu, 0, stream);
            gpu_check(&gpu, 1, stream);
            gpu_check(&gpu, 2, stream);
        }
    }
    assert_int_equal(served(gpu.rt, &GPU_SUM).kernel,
                     RTUNE_KERNEL_STORED); /* prepared by the direct ones */
    CU(gpu.cu.cuGraphExecDestroy(exec));
    gpu_finish(&gpu);
}

static void test_prepared(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    gpu_start(&gpu);
    gpu_write_store(&gpu, scratch_path("capture.db"), "block=64,grid=4", true);
    gpu_open(&gpu, scratch_path("capture.db"), 0);
    assert_int_equal(rtune_prepare(gpu.rt, &GPU_SUM, 1, &err), RTUNE_OK);
    CUstream stream = gpu_stream(&gpu);
    CU(gpu.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(gpu_reduce(&gpu, 0, stream, &l, &err), RTUNE_OK);
    assert_false(l.fell_back);
    assert_int_equal(l.kernel, RTUNE_KERNEL_STORED);
    CUgraphExec exec = end_capture(&gpu, stream);
    CU(gpu.cu.cuGraphLaunch(exec, stream));
    gpu_check(&gpu, 0, stream);
    CU(gpu.cu.cuGraphExecDestroy(exec));
    gpu_finish(&gpu);
}

/* Two branches of one graph: they may run at the same time, so each call has a workspace of its
 * own. */
static void test_branches(void **state) {
    (void)state;
    struct gpu gpu;
    CUevent fork = NULL;
    CUevent join = NULL;
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 0);
    CUstream stream = gpu_stream(&gpu);
    CUstream branch = gpu_stream(&gpu);
    CU(gpu.cu.base.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CU(gpu.cu.base.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    reduce(&gpu, 0, stream);
    gpu_check(&gpu, 0, stream);
    CU(gpu.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(gpu.cu.base.cuEventRecord(fork, stream));
    CU(gpu.cu.cuStreamWaitEvent(branch, fork, 0));
    for (size_t k = 0; k < 4; k++) {
        reduce(&gpu, k, stream);
        reduce(&gpu, 4 + k, branch);
    }
    CU(gpu.cu.base.cuEventRecord(join, branch));
    CU(gpu.cu.cuStreamWaitEvent(stream, join, 0));
    CUgraphExec exec = end_capture(&gpu, stream);
    for (int i = 0; i < 3; i++) {
        CU(gpu.cu.cuGraphLaunch(exec, stream));
        for (size_t k = 0; k < 8; k++)
            gpu_check(&gpu, k, stream);
    }
    CU(gpu.cu.cuGraphExecDestroy(exec));
    CU(gpu.cu.base.cuEventDestroy(fork));
    CU(gpu.cu.base.cuEventDestroy(join));
    gpu_finish(&gpu);
}

/* Captured calls keep what they took; when none is left the capture is still valid. */
static void test_none_left(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 3);
    CUstream stream = gpu_stream(&gpu);
    CU(gpu.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (size_t k = 0; k < 3; k++)
        reduce(&gpu, k, stream);
    assert_int_equal(gpu_reduce(&gpu, 3, stream, NULL, &err), RTUNE_NO_WORKSPACE);
    CUgraphExec exec = end_capture(&gpu, stream);
    CU(gpu.cu.cuGraphLaunch(exec, stream));
    for (size_t k = 0; k < 3; k++)
        gpu_check(&gpu, k, stream);
    assert_int_equal(gpu_reduce(&gpu, 3, stream, NULL, &err), RTUNE_NO_WORKSPACE);
    assert_true(gpu_untouched(&gpu, 3));
    CU(gpu.cu.cuGraphExecDestroy(exec));
    gpu_finish(&gpu);
}

/* A plan has a workspace of its own, in a capture too. */
static void test_plan(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    rtune_plan *plan = NULL;
    const struct rtune_problem p = GPU_SUM;
    gpu_start(&gpu);
    gpu_write_store(&gpu, scratch_path("plan.db"), "block=64,grid=4", true);
    gpu_open(&gpu, scratch_path("plan.db"), 1);
    assert_int_equal(rtune_plan_create(&plan, gpu.rt, &p, &err), RTUNE_OK);
    assert_int_equal(rtune_plan_launch(plan)->kernel, RTUNE_KERNEL_STORED);
    assert_int_equal(rtune_plan_launch(plan)->grid, 4);
    CUstream stream = gpu_stream(&gpu);
    struct rtune_args a = RTUNE_ARGS((const void *)(uintptr_t)gpu.in, (void *)(uintptr_t)gpu.out);
    CU(gpu.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 3; i++)
        assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
    CUgraphExec exec = end_capture(&gpu, stream);
    CU(gpu.cu.cuGraphLaunch(exec, stream));
    gpu_check(&gpu, 0, stream);
    /* a launch that fails leaves the next one right */
    fake_cuda_fail("cuLaunchKernel", 1, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_DEVICE);
    const uint64_t sets = fake_cuda_calls("cuMemsetD8Async");
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
    assert_int_equal(fake_cuda_calls("cuMemsetD8Async"), sets + 1);
    gpu_check(&gpu, 0, stream);
    assert_int_equal(rtune_plan_reset(plan, stream, &err), RTUNE_OK);
    assert_int_equal(fake_cuda_calls("cuMemsetD8Async"), sets + 2);
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
    gpu_check(&gpu, 0, stream);
    /* in a capture the memset is part of the graph, which need not have run before the next call */
    fake_cuda_fail("cuLaunchKernel", 1, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_DEVICE);
    CU(gpu.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
    CUgraphExec zeroing = end_capture(&gpu, stream);
    const uint64_t direct = fake_cuda_calls("cuMemsetD8Async");
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
    assert_int_equal(fake_cuda_calls("cuMemsetD8Async"), direct + 1);
    gpu_check(&gpu, 0, stream);
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
    assert_int_equal(fake_cuda_calls("cuMemsetD8Async"), direct + 1);
    CU(gpu.cu.cuGraphLaunch(zeroing, stream));
    gpu_check(&gpu, 0, stream);
    CU(gpu.cu.cuGraphExecDestroy(zeroing));
    reduce(&gpu, 1, gpu_stream(&gpu)); /* the library's only workspace was never needed */
    CU(gpu.cu.cuGraphExecDestroy(exec));
    CU(gpu.cu.cuCtxSynchronize());
    rtune_plan_destroy(plan);
    gpu_finish(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_call), cmocka_unit_test(test_prepared),
        cmocka_unit_test(test_branches),   cmocka_unit_test(test_none_left),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
