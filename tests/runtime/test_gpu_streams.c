/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: whose workspace, whose context, and that no other stream is touched. */
#include "tests/runtime/gpu.h"

#include <stdlib.h>
#include <string.h>

static void reduce(struct gpu *gpu, size_t k, CUstream stream) {
    struct rtune_error err = {0};
    if (gpu_reduce(gpu, k, stream, NULL, &err) != RTUNE_OK) fail_msg("%s", err.message);
}

/* Two streams at once, interleaved, and the default streams: the driver would see a shared
 * workspace. */
static void test_side_by_side(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 0);
    CUstream streams[5] = {gpu_stream(&gpu), gpu_stream(&gpu), NULL, CU_STREAM_LEGACY,
                           CU_STREAM_PER_THREAD};
    for (size_t round = 0; round < 8; round++) {
        for (size_t s = 0; s < 5; s++)
            reduce(&gpu, s * 8 + round, streams[s]);
    }
    assert_int_equal(fake_cuda_pending(), 40);
    for (size_t s = 0; s < 5; s++) {
        for (size_t round = 0; round < 8; round++)
            gpu_check(&gpu, s * 8 + round, streams[s]);
    }
    gpu_finish(&gpu);
}

static void test_10000_streams(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 0);
    CUstream kept = gpu_stream(&gpu);
    reduce(&gpu, 1, kept);
    gpu_check(&gpu, 1, kept);
    const struct fake_cuda_live live = fake_cuda_live();
    for (int i = 0; i < 10000; i++) {
        CUstream stream = gpu_stream(&gpu);
        reduce(&gpu, 0, stream);
        if (i % 100 == 0)
            gpu_check(&gpu, 0, stream);
        else
            CU(gpu.cu.base.cuStreamSynchronize(stream));
        CU(gpu.cu.base.cuStreamDestroy(stream));
    }
    reduce(&gpu, 1, kept);
    gpu_check(&gpu, 1, kept);
    const struct fake_cuda_live after = fake_cuda_live();
    assert_int_equal(after.allocations, live.allocations);
    assert_int_equal(after.events, live.events);
    assert_int_equal(after.streams, live.streams);
    gpu_finish(&gpu);
}

static void test_none_left(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 2);
    CUstream a = gpu_stream(&gpu);
    CUstream b = gpu_stream(&gpu);
    CUstream c = gpu_stream(&gpu);
    reduce(&gpu, 0, a);
    reduce(&gpu, 1, b);
    const uint64_t launches = fake_cuda_calls("cuLaunchKernel");
    assert_int_equal(gpu_reduce(&gpu, 2, c, NULL, &err), RTUNE_NO_WORKSPACE);
    assert_non_null(strstr(err.message, "all 2 workspaces"));
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), launches);
    gpu_check(&gpu, 1, b);
    reduce(&gpu, 2, c); /* b's is free by now */
    gpu_check(&gpu, 2, c);
    assert_int_equal(gpu_reduce(&gpu, 1, b, NULL, &err), RTUNE_OK);
    gpu_check(&gpu, 1, b);
    gpu_check(&gpu, 0, a);
    gpu_finish(&gpu);
}

/* A workspace of the caller's needs none of the library's; a wrong one is refused before any
 * launch. */
static void test_own_workspace(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    CUdeviceptr memory = 0;
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 1);
    const size_t size = rtune_workspace_size(gpu.rt);
    const struct rtune_problem p = GPU_SUM;
    struct rtune_args args =
        RTUNE_ARGS((const void *)(uintptr_t)gpu.in, (void *)(uintptr_t)gpu.out);
    CU(gpu.cu.base.cuMemAlloc(&memory, size + 256));
    CUstream stream = gpu_stream(&gpu);
    CU(gpu.cu.base.cuMemsetD8Async(memory, 0, size, stream));
    args.workspace = (void *)(uintptr_t)memory;
    const uint64_t launches = fake_cuda_calls("cuLaunchKernel");
    args.workspace_bytes = size - 1;
    assert_int_equal(rtune_reduce(gpu.rt, &p, &args, stream, &err), RTUNE_INVALID);
    assert_non_null(strstr(err.message, "bytes"));
    args.workspace_bytes = size;
    args.workspace = (void *)(uintptr_t)(memory + 8);
    assert_int_equal(rtune_reduce(gpu.rt, &p, &args, stream, &err), RTUNE_INVALID);
    assert_non_null(strstr(err.message, "aligned"));
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), launches);
    reduce(&gpu, 1, gpu_stream(&gpu)); /* the only one of the library's */
    args.workspace = (void *)(uintptr_t)memory;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rtune_reduce(gpu.rt, &p, &args, stream, &err), RTUNE_OK);
        gpu_check(&gpu, 0, stream);
    }
    CU(gpu.cu.base.cuMemFree(memory));
    gpu_finish(&gpu);
}

/* Nothing is enqueued anywhere but on the caller's stream (case C09). */
static void test_only_this_stream(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_nvrtc.present = gpu_nvrtc.works = true;
    gpu_write_store(&gpu, scratch_path("only.db"), "block=64,grid=4", false);
    gpu_open(&gpu, scratch_path("only.db"), 2);
    CUstream blocked = gpu_stream(&gpu);
    reduce(&gpu, 0, blocked); /* pending until the end */
    CUstream stream = gpu_stream(&gpu);
    reduce(&gpu, 1, stream);
    assert_true(fake_cuda_pending() >= 2);
    gpu_check(&gpu, 1, stream);
    assert_true(fake_cuda_pending() > 0); /* nobody waited for the other stream */
    assert_int_equal(gpu.cu.cuStreamQuery(stream), CUDA_SUCCESS);
    assert_int_equal(gpu.cu.cuStreamQuery(NULL), CUDA_SUCCESS);
    assert_int_equal(gpu.cu.cuStreamQuery(blocked), CUDA_ERROR_NOT_READY);
    gpu_check(&gpu, 0, blocked);
    gpu_finish(&gpu);
}

/* No context current, or another device's: the call finds its own, and the caller's stays current.
 */
static void test_contexts(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    CUcontext other = NULL;
    CUcontext now = NULL;
    CUdevice second = 0;
    setenv("RTUNE_FAKE_DEVICES", "2", 1);
    gpu_start(&gpu);
    unsetenv("RTUNE_FAKE_DEVICES");
    gpu_open(&gpu, NULL, 0);
    assert_string_equal(rtune_device_name(gpu.rt), "cuda:0");
    CUstream stream = gpu_stream(&gpu);
    CU(gpu.cu.base.cuDeviceGet(&second, 1));
    CU(gpu.cu.base.cuDevicePrimaryCtxRetain(&other, second));
    CU(gpu.cu.cuCtxSetCurrent(other));
    reduce(&gpu, 0, stream);
    CU(gpu.cu.base.cuCtxGetCurrent(&now));
    assert_ptr_equal(now, other);
    CUstream foreign = gpu_stream(&gpu);
    const uint64_t launches = fake_cuda_calls("cuLaunchKernel");
    assert_int_equal(gpu_reduce(&gpu, 1, foreign, NULL, &err), RTUNE_WRONG_CONTEXT);
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), launches);
    CU(gpu.cu.cuCtxSetCurrent(NULL));
    reduce(&gpu, 1, stream);
    CU(gpu.cu.base.cuCtxGetCurrent(&now));
    assert_null(now);
    CU(gpu.cu.base.cuDevicePrimaryCtxRelease(second));
    CU(gpu.cu.cuCtxSetCurrent(gpu.context));
    gpu_check(&gpu, 0, stream);
    gpu_check(&gpu, 1, stream);
    gpu_finish(&gpu);
}

static void test_empty(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    int64_t out = 5;
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 0);
    CUstream stream = gpu_stream(&gpu);
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_PROD, RTUNE_I64, 0);
    struct rtune_args a = RTUNE_ARGS(NULL, (void *)(uintptr_t)gpu.out);
    assert_int_equal(rtune_reduce(gpu.rt, &p, &a, stream, &err), RTUNE_OK);
    CU(gpu.cu.base.cuStreamSynchronize(stream));
    CU(gpu.cu.cuMemcpyDtoH(&out, gpu.out, sizeof out));
    assert_int_equal(out, 1);
    const uint64_t launches = fake_cuda_calls("cuLaunchKernel");
    p.op = RTUNE_MAX;
    a.out = (void *)(uintptr_t)(gpu.out + 8);
    assert_int_equal(rtune_reduce(gpu.rt, &p, &a, stream, &err), RTUNE_EMPTY);
    assert_int_equal(fake_cuda_calls("cuLaunchKernel"), launches);
    assert_true(gpu_untouched(&gpu, 1));
    gpu_finish(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_10000_streams),
        cmocka_unit_test(test_none_left),
        cmocka_unit_test(test_own_workspace),
        cmocka_unit_test(test_only_this_stream),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
