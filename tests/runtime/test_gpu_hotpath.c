/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the second call on: one launch, the questions about its stream, and nothing else of the
 * driver; no memory, no file. Allocations are counted by --wrap, in the library and the test alone:
 * the fake driver's own do not count.
 */
#include "tests/runtime/alloc_count.h"
#include "tests/runtime/gpu.h"

#include <stdlib.h>
#include <string.h>

/* What may happen beside the one launch. */
static bool is_question(const char *call) {
    static const char *const allowed[] = {
        "cuCtxGetCurrent",     "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuStreamGetCtx",
        "cuStreamIsCapturing", "cuStreamGetId",       "cuEventRecord"};
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        if (strcmp(call, allowed[i]) == 0) return true;
    }
    return false;
}

/* Since the mark: this many launches, at most this many event records, and questions. */
static void check_calls(uint64_t launches, uint64_t records) {
    uint64_t launched = 0;
    uint64_t recorded = 0;
    const char *call;
    for (size_t k = 0; (call = fake_cuda_call_at(k)) != NULL; k++) {
        if (strcmp(call, "cuLaunchKernel") == 0)
            launched++;
        else if (!is_question(call))
            fail_msg("%s was called", call);
        recorded += strcmp(call, "cuEventRecord") == 0;
    }
    assert_int_equal(launched, launches);
    assert_int_equal(recorded, records);
}

static void test_reduce(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    gpu_start(&gpu);
    gpu_write_store(&gpu, scratch_path("hot.db"), "block=64,grid=4", true);
    gpu_open(&gpu, scratch_path("hot.db"), 2);
    CUstream first = gpu_stream(&gpu);
    CUstream second = gpu_stream(&gpu);
    assert_int_equal(gpu_reduce(&gpu, 0, first, NULL, &err), RTUNE_OK);
    assert_int_equal(gpu_reduce(&gpu, 1, second, NULL, &err), RTUNE_OK);
    const uint64_t allocations = alloc_count();
    fake_cuda_mark();
    for (size_t k = 0; k < 10; k++) {
        assert_int_equal(gpu_reduce(&gpu, k, first, &l, &err), RTUNE_OK);
    }
    check_calls(10, 0);
    fake_cuda_mark();
    for (size_t k = 10; k < 20; k++) {
        assert_int_equal(gpu_reduce(&gpu, k, second, &l, &err), RTUNE_OK);
    }
    check_calls(10, 10);
    assert_int_equal(alloc_count(), allocations);
    assert_int_equal(l.kernel, RTUNE_KERNEL_STORED);
    for (size_t k = 0; k < 20; k++)
        gpu_check(&gpu, k, k < 10 ? first : second);
    gpu_finish(&gpu);
}

static void test_prepared_plan_and_capture(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    rtune_plan *plan = NULL;
    CUgraph graph = NULL;
    const struct rtune_problem p = GPU_SUM;
    gpu_start(&gpu);
    gpu_write_store(&gpu, scratch_path("hot.db"), "block=64,grid=4", true);
    gpu_open(&gpu, scratch_path("hot.db"), 8);
    struct rtune_args a = RTUNE_ARGS((const void *)(uintptr_t)gpu.in, (void *)(uintptr_t)gpu.out);
    assert_int_equal(rtune_prepare(gpu.rt, &p, 1, &err), RTUNE_OK);
    assert_int_equal(rtune_plan_create(&plan, gpu.rt, &p, &err), RTUNE_OK);
    CUstream stream = gpu_stream(&gpu);
    const uint64_t allocations = alloc_count();
    fake_cuda_mark();
    assert_int_equal(gpu_reduce(&gpu, 0, stream, &l, &err), RTUNE_OK); /* the first, but prepared */
    check_calls(1, 0);
    fake_cuda_mark();
    assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
    check_calls(1, 0);
    CU(gpu.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fake_cuda_mark();
    assert_int_equal(gpu_reduce(&gpu, 0, stream, &l, &err), RTUNE_OK);
    check_calls(1, 0);
    CU(gpu.cu.cuStreamEndCapture(stream, &graph));
    CU(gpu.cu.cuGraphDestroy(graph));
    assert_int_equal(alloc_count(), allocations);
    CU(gpu.cu.base.cuStreamSynchronize(stream));
    rtune_plan_destroy(plan);
    gpu_finish(&gpu);
}

/* The count sees what the library asks for. */
static void test_counts(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    const uint64_t allocations = alloc_count();
    gpu_open(&gpu, NULL, 0);
    assert_true(alloc_count() > allocations + 10);
    gpu_finish(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_prepared_plan_and_capture),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
