/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every finish on the fake driver, by way of rtune_reduce and plans: the right result; after a
 * refusal of the k-th launch of a call, and after a reset of a workspace full of garbage, again.
 */
#include "tests/runtime/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const configs[] = {
    "finish=one,grid=1",       "finish=slots,grid=8",           "finish=last,grid=8",
    "finish=packed,grid=8",    "finish=two_kernels,grid=8",     "finish=dependent,grid=8",
    "finish=grid_sync,grid=8", "finish=cluster,extra=4,grid=8",
};
enum { CONFIGS = sizeof configs / sizeof configs[0] };

/* A handle whose reductions have the config, compiled by the stand-in for NVRTC. */
static void start(struct gpu *gpu, const char *config) {
    char override[128];
    gpu_start(gpu);
    gpu_nvrtc.present = gpu_nvrtc.works = true;
    snprintf(override, sizeof override, "sum,i32:block=64,%s", config);
    setenv("RTUNE_OVERRIDE", override, 1);
    gpu_open(gpu, NULL, 2);
    unsetenv("RTUNE_OVERRIDE");
}

static void check(struct gpu *gpu, CUstream stream, const char *config) {
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_error err = {0};
    char text[192], finish[32];
    if (gpu_reduce(gpu, 0, stream, &launch, &err) != RTUNE_OK) fail_msg("%s", err.message);
    gpu_check(gpu, 0, stream);
    assert_false(launch.fell_back);
    assert_int_equal(launch.kernel, RTUNE_KERNEL_COMPILED);
    rtune_config_print(&launch.config, text, sizeof text);
    snprintf(finish, sizeof finish, "%.*s,", (int)strcspn(config, ","), config);
    assert_non_null(strstr(text, finish));
    if (fake_cuda_problem()) fail_msg("%s", fake_cuda_problem());
}

static void test_refused_launches(void **state) {
    (void)state;
    for (size_t c = 0; c < CONFIGS; c++) {
        bool more = true;
        for (uint64_t k = 1; more; k++) {
            struct gpu gpu;
            struct rtune_error err = {0};
            start(&gpu, configs[c]);
            CUstream stream = gpu_stream(&gpu);
            assert_int_equal(gpu_reduce(&gpu, 1, stream, NULL, NULL), RTUNE_OK);
            gpu_check(&gpu, 1, stream);
            const uint64_t ex = fake_cuda_calls("cuLaunchKernelEx");
            fake_cuda_fail(NULL, k, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
            const enum rtune_status status = gpu_reduce(&gpu, 0, stream, NULL, &err);
            more = fake_cuda_failed();
            fake_cuda_fail(NULL, 0, 0);
            if (status == RTUNE_OK)
                gpu_check(&gpu, 0, stream);
            else
                assert_true(more && err.message[0] != '\0');
            if (status != RTUNE_OK) {
                CU(gpu.cu.base.cuStreamSynchronize(stream));
                assert_true(gpu_untouched(&gpu, 0));
            }
            assert_true(fake_cuda_calls("cuLaunchKernelEx") - ex <= 1);
            for (int again = 0; again < 2; again++) {
                assert_int_equal(gpu_reduce(&gpu, 1, stream, NULL, NULL), RTUNE_OK);
                gpu_check(&gpu, 1, stream);
            }
            gpu_finish(&gpu);
            assert_true(k < 100);
        }
    }
}

/* The device's functions, but that the last allocation is remembered: a plan's workspace. */
static struct rtune_device_ops spied;
static const struct rtune_device_ops *real;
static void *allocated;

static enum rtune_status spy_alloc(rtune_device *dev, size_t size, void **ptr,
                                   struct rtune_error *err) {
    const enum rtune_status status = real->mem_alloc(dev, size, ptr, err);
    allocated = *ptr;
    return status;
}

static void test_reset(void **state) {
    (void)state;
    for (size_t c = 0; c < CONFIGS; c++) {
        struct gpu gpu;
        struct rtune_error err = {0};
        rtune_plan *plan = NULL;
        const struct rtune_problem p = GPU_SUM;
        start(&gpu, configs[c]);
        CUstream stream = gpu_stream(&gpu);
        struct rtune_args a =
            RTUNE_ARGS((const void *)(uintptr_t)gpu.in, (void *)(uintptr_t)gpu.out);
        real = gpu.rt->dev->ops;
        spied = *real;
        spied.mem_alloc = spy_alloc;
        gpu.rt->dev->ops = &spied;
        assert_int_equal(rtune_plan_create(&plan, gpu.rt, &p, &err), RTUNE_OK);
        assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
        gpu_check(&gpu, 0, stream);
        CU(gpu.cu.base.cuMemsetD8Async((CUdeviceptr)(uintptr_t)allocated, 0xff,
                                       rtune_workspace_size(gpu.rt), stream));
        assert_int_equal(rtune_plan_reset(plan, stream, &err), RTUNE_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
            gpu_check(&gpu, 0, stream);
        }
        rtune_plan_destroy(plan);
        check(&gpu, stream, configs[c]);
        gpu_finish(&gpu);
    }
}

/* What a device of an older architecture lacks is neither compiled nor an error. */
static void test_capability(void **state) {
    (void)state;
    setenv("RTUNE_FAKE_CC", "8.0", 1);
    for (size_t c = 5; c < CONFIGS; c += 2) { /* dependent, cluster */
        struct gpu gpu;
        struct rtune_launch launch = RTUNE_LAUNCH_INIT;
        struct rtune_error err = {0};
        start(&gpu, configs[c]);
        CUstream stream = gpu_stream(&gpu);
        if (gpu_reduce(&gpu, 0, stream, &launch, &err) != RTUNE_OK) fail_msg("%s", err.message);
        gpu_check(&gpu, 0, stream);
        assert_int_equal(gpu_nvrtc.calls, 0);
        assert_true(launch.fell_back);
        assert_int_equal(launch.config.finish, RTUNE_FINISH_SLOTS);
        assert_non_null(strstr(launch.reason, "compute capability 9.0"));
        gpu_finish(&gpu);
    }
    unsetenv("RTUNE_FAKE_CC");
}

/* Problems that are the same to the bit share one kernel, built in and compiled. */
static void test_shared_kernels(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_problem problems[2] = {RTUNE_PROBLEM(RTUNE_BXOR, RTUNE_I32, 100),
                                        RTUNE_PROBLEM(RTUNE_BXOR, RTUNE_U32, 100)};
    struct rtune_error err = {0};
    gpu_start(&gpu);
    gpu_nvrtc.present = gpu_nvrtc.works = true;
    setenv("RTUNE_OVERRIDE", "bxor:block=64", 1);
    gpu_open(&gpu, NULL, 2);
    unsetenv("RTUNE_OVERRIDE");
    char name[RTUNE_INSTANCE_NAME], other[RTUNE_INSTANCE_NAME];
    struct rtune_problem p;
    uint64_t kinds = 0;
    while (rtune_problem_at(kinds, &p))
        kinds++;
    assert_int_equal(gpu.rt->kernels.count, kinds);
    assert_true(fake_cuda_calls("cuModuleGetFunction") < kinds);
    struct rtune_config config = rtune_config_default(&problems[0], true);
    rtune_instance_name(&problems[0], &config, name);
    rtune_instance_name(&problems[1], &config, other);
    assert_string_equal(name, other);
    for (int turn = 0; turn < 2; turn++) { /* both at once, then one more that is there */
        const uint64_t loaded = fake_cuda_calls("cuModuleLoadDataEx");
        if (rtune_prepare(gpu.rt, problems, 2, &err) != RTUNE_OK) fail_msg("%s", err.message);
        assert_int_equal(gpu_nvrtc.compiled, 1);
        assert_int_equal(fake_cuda_calls("cuModuleLoadDataEx") - loaded, turn == 0);
        assert_int_equal(gpu.rt->kernels.count, kinds + 2);
    }
    gpu_finish(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_launches),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_capability),
        cmocka_unit_test(test_shared_kernels),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
