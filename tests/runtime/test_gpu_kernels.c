/* SPDX-License-Identifier: Apache-2.0 */
/* The ladder from a config to a loaded kernel: built-in, stored, compiled, and what happens if one
 * fails. */
#include "tests/runtime/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not the built-in instance, whatever that is. */
static const char tuned[] = "block=96,items=32,grid=3,finish=last,map=chunk";

/* One reduction on a stream, right, with a kernel of this source; true if it fell back. */
static bool check_kernel(struct gpu *gpu, enum rtune_kernel_source source, const char *config,
                         const char *words) {
    struct rtune_error err = {0};
    struct rtune_launch l = RTUNE_LAUNCH_INIT;
    struct rtune_config expected = rtune_config_default(&GPU_SUM, true);
    CUstream stream = gpu_stream(gpu);
    if (gpu_reduce(gpu, 0, stream, &l, &err) != RTUNE_OK) fail_msg("%s", err.message);
    gpu_check(gpu, 0, stream);
    CU(gpu->cu.base.cuStreamDestroy(stream));
    assert_int_equal(rtune_config_parse(config, &expected, NULL), RTUNE_OK);
    if (l.kernel != source || !strstr(l.reason, words)) {
        fail_msg("%s: %s", rtune_kernel_source_name(l.kernel), l.reason);
    }
    assert_true(rtune_config_equal(&l.config, &expected));
    assert_int_equal(l.grid, 3);
    assert_int_equal(l.block, expected.block);
    assert_int_equal(l.source, RTUNE_FROM_EXACT);
    return l.fell_back;
}

static void test_builtin(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_write_store(&gpu, scratch_path("grid.db"), "grid=3", false);
    gpu_open(&gpu, scratch_path("grid.db"), 0);
    fake_cuda_mark();
    const uint64_t loads = fake_cuda_calls("cuModuleLoadDataEx");
    assert_false(check_kernel(&gpu, RTUNE_KERNEL_BUILTIN, "grid=3", "tuned at n=1000"));
    assert_int_equal(fake_cuda_calls("cuModuleLoadDataEx"), loads);
    gpu_finish(&gpu);
}

static void test_stored(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_nvrtc.present = gpu_nvrtc.works = true;
    gpu_write_store(&gpu, scratch_path("stored.db"), tuned, true);
    gpu_open(&gpu, scratch_path("stored.db"), 0);
    const uint64_t loads = fake_cuda_calls("cuModuleLoadDataEx");
    assert_false(check_kernel(&gpu, RTUNE_KERNEL_STORED, tuned, "tuned at n=1000"));
    assert_false(check_kernel(&gpu, RTUNE_KERNEL_STORED, tuned, "tuned at n=1000"));
    assert_int_equal(fake_cuda_calls("cuModuleLoadDataEx"), loads + 1);
    assert_int_equal(gpu_nvrtc.calls, 0);
    assert_int_equal(served(gpu.rt, &GPU_SUM).kernel, RTUNE_KERNEL_STORED);
    gpu_finish(&gpu);
}

/* A cubin of other sources, one that is gone, one that the driver refuses: compiled instead. */
static void test_stored_unusable(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct gpu gpu;
        char command[600];
        gpu_start(&gpu);
        gpu_nvrtc.present = gpu_nvrtc.works = true;
        const char *path = scratch_path("unusable.db");
        gpu_write_store(&gpu, path, tuned, true);
        if (way == 0) {
            struct rows rows = {0};
            const struct rtune_identity identity = gpu_identity(&gpu);
            struct rtune_winner *w =
                rows_add(&rows, rows_device(&rows, &identity), RTUNE_SUM, RTUNE_I32, GPU_N, tuned);
            w->source_hash[0] ^= 1;
            memset(w->cubin, 'a', RTUNE_DIGEST_HEX - 1);
            rows_write(&rows, path);
        }
        if (way == 1) {
            snprintf(command, sizeof command, "rm -rf '%s.kernels'", path);
            assert_int_equal(system(command), 0);
        }
        gpu_open(&gpu, path, 0);
        if (way == 2) fake_cuda_fail("cuModuleLoadDataEx", 1, CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert_false(check_kernel(&gpu, RTUNE_KERNEL_COMPILED, tuned, "tuned at n=1000"));
        assert_int_equal(gpu_nvrtc.compiled, 1);
        assert_int_equal(way == 2, fake_cuda_failed());
        gpu_finish(&gpu);
    }
}

static void test_compiled(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_nvrtc.present = gpu_nvrtc.works = true;
    gpu_write_store(&gpu, scratch_path("compiled.db"), tuned, false);
    gpu_open(&gpu, scratch_path("compiled.db"), 0);
    assert_int_equal(served(gpu.rt, &GPU_SUM).kernel, RTUNE_KERNEL_NONE);
    assert_int_equal(gpu_nvrtc.calls, 0);
    assert_false(check_kernel(&gpu, RTUNE_KERNEL_COMPILED, tuned, "tuned at n=1000"));
    assert_false(check_kernel(&gpu, RTUNE_KERNEL_COMPILED, tuned, "tuned at n=1000"));
    assert_int_equal(gpu_nvrtc.compiled, 1);
    gpu_finish(&gpu);
}

/* The built-in instance takes the tuned grid, the record and the lookup say so, and a reload tries
 * again. */
static void test_fall_back(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_write_store(&gpu, scratch_path("back.db"), tuned, false);
    gpu_open(&gpu, scratch_path("back.db"), 0);
    assert_true(check_kernel(&gpu, RTUNE_KERNEL_BUILTIN, "grid=3", "built-in kernel: libnvrtc"));
    const struct rtune_launch l = served(gpu.rt, &GPU_SUM);
    assert_true(l.fell_back && l.kernel == RTUNE_KERNEL_BUILTIN);
    assert_int_equal(l.block, rtune_config_default(&GPU_SUM, true).block);
    gpu_finish(&gpu);

    gpu_start(&gpu);
    gpu_nvrtc.present = true;
    gpu_write_store(&gpu, scratch_path("back.db"), tuned, false);
    gpu_open(&gpu, scratch_path("back.db"), 0);
    assert_true(check_kernel(&gpu, RTUNE_KERNEL_BUILTIN, "grid=3", "told not to compile"));
    assert_true(check_kernel(&gpu, RTUNE_KERNEL_BUILTIN, "grid=3", "told not to compile"));
    assert_int_equal(gpu_nvrtc.calls, 1); /* not tried on every call */
    gpu_nvrtc.works = true;
    gpu_write_store(&gpu, scratch_path("back.db"), tuned, true);
    assert_int_equal(rtune_reload(gpu.rt, NULL), RTUNE_OK);
    assert_false(check_kernel(&gpu, RTUNE_KERNEL_STORED, tuned, "tuned at n=1000"));
    gpu_finish(&gpu);
}

/* Many problems are compiled in one go, and one instance serves several of them. */
static void test_prepare(void **state) {
    (void)state;
    struct gpu gpu;
    struct rtune_error err = {0};
    struct rows rows = {0};
    gpu_start(&gpu);
    gpu_nvrtc.present = gpu_nvrtc.works = true;
    const struct rtune_identity identity = gpu_identity(&gpu);
    const uint32_t d = rows_device(&rows, &identity);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_I32, 100, "block=64,grid=1");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_I32, 1000, "block=64,grid=2");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_I32, 10000, "block=96,grid=4");
    rows_add(&rows, d, RTUNE_MAX, RTUNE_F64, 1000, "block=64,grid=2");
    rows_write(&rows, scratch_path("many.db"));
    gpu_open(&gpu, scratch_path("many.db"), 0);
    struct rtune_problem p[5] = {
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 100),   RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 1000),
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 10000), RTUNE_PROBLEM(RTUNE_MAX, RTUNE_F64, 1000),
        RTUNE_PROBLEM(RTUNE_PROD, RTUNE_F64, 1000),
    };
    p[1].cache = RTUNE_WARM;
    assert_int_equal(rtune_prepare(gpu.rt, p, 5, &err), RTUNE_OK);
    assert_int_equal(gpu_nvrtc.calls, 1);
    assert_int_equal(gpu_nvrtc.compiled, 3);
    const uint64_t loads = fake_cuda_calls("cuModuleLoadDataEx");
    for (size_t i = 0; i < 5; i++) {
        assert_int_not_equal(served(gpu.rt, &p[i]).kernel, RTUNE_KERNEL_NONE);
    }
    assert_int_equal(rtune_prepare(gpu.rt, p, 5, &err), RTUNE_OK);
    assert_int_equal(gpu_nvrtc.calls, 1);
    assert_int_equal(fake_cuda_calls("cuModuleLoadDataEx"), loads);
    gpu_finish(&gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),         cmocka_unit_test(test_stored),
        cmocka_unit_test(test_stored_unusable), cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_fall_back),       cmocka_unit_test(test_prepare),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
