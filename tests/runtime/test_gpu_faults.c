/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each driver call fails once: the k-th of an open, of a first reduction, of a later one, of a
 * plan, for every k. The call under test fails with a reason or succeeds with the right result, the
 * next one is right, and nothing is left behind.
 */
#include "tests/runtime/gpu.h"

#include <stdlib.h>
#include <string.h>

static const CUresult results[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN};
enum { RESULTS = sizeof results / sizeof results[0], CALLS_MAX = 2000 };

static void check_next(struct gpu *gpu, CUstream stream) {
    struct rtune_error err = {0};
    if (gpu_reduce(gpu, 1, stream, NULL, &err) != RTUNE_OK) fail_msg("%s", err.message);
    gpu_check(gpu, 1, stream);
}

/* Fail the k-th call of a reduction; true if there are at least k. */
static bool fail_reduce(struct gpu *gpu, CUstream stream, uint64_t k, CUresult result) {
    struct rtune_error err = {0};
    fake_cuda_fail(NULL, k, (int)result);
    const enum rtune_status status = gpu_reduce(gpu, 0, stream, NULL, &err);
    const bool reached = fake_cuda_failed();
    fake_cuda_fail(NULL, 0, 0);
    if (status == RTUNE_OK) {
        gpu_check(gpu, 0, stream);
    } else {
        assert_true(reached);
        assert_int_equal(status, err.status);
        assert_true(err.message[0] != '\0');
    }
    return reached;
}

static void test_first_reduce(void **state) {
    (void)state;
    for (size_t r = 0; r < RESULTS; r++) {
        bool more = true;
        for (uint64_t k = 1; more; k++) {
            struct gpu gpu;
            gpu_start(&gpu);
            gpu_nvrtc.present = gpu_nvrtc.works = true;
            gpu_write_store(&gpu, scratch_path("fault.db"), "block=64,grid=4", true);
            gpu_open(&gpu, scratch_path("fault.db"), 4);
            CUstream stream = gpu_stream(&gpu);
            more = fail_reduce(&gpu, stream, k, results[r]);
            check_next(&gpu, stream);
            check_next(&gpu, gpu_stream(&gpu));
            gpu_finish(&gpu);
            assert_true(k < CALLS_MAX && (k > 4 || more));
        }
    }
}

/* On a workspace that is bound for good, on a recycled one, and on one that has to change hands. */
static void test_later_reduce(void **state) {
    (void)state;
    struct gpu gpu;
    gpu_start(&gpu);
    gpu_open(&gpu, NULL, 2);
    CUstream streams[3] = {gpu_stream(&gpu), gpu_stream(&gpu), gpu_stream(&gpu)};
    for (size_t s = 0; s < 3; s++)
        check_next(&gpu, streams[s]);
    for (size_t s = 0; s < 3; s++) {
        bool more = true;
        for (uint64_t k = 1; more; k++) {
            /* streams 1 and 2 share the recycled one: give it to the other first */
            if (s > 0) check_next(&gpu, streams[3 - s]);
            const enum rtune_status before = gpu_reduce(&gpu, 2, streams[s], NULL, NULL);
            assert_int_equal(before, RTUNE_OK);
            gpu_check(&gpu, 2, streams[s]);
            more = fail_reduce(&gpu, streams[s], k, CUDA_ERROR_UNKNOWN);
            if (fake_cuda_problem()) fail_msg("%s", fake_cuda_problem());
            check_next(&gpu, streams[s]);
            if (s > 0 && gpu.rt->workspaces.slots[1].unfenced) { /* its event is lost: by design */
                assert_int_equal(gpu_reduce(&gpu, 3, streams[3 - s], NULL, NULL),
                                 RTUNE_NO_WORKSPACE);
                atomic_store(&gpu.rt->workspaces.slots[1].unfenced, false);
            }
            assert_true(k < CALLS_MAX && (k > 4 || more));
        }
    }
    gpu_finish(&gpu);
}

/* The k-th call of a stream's first reduction, when it takes another one's workspace. */
static void test_change_of_hands(void **state) {
    (void)state;
    bool more = true;
    for (uint64_t k = 1; more; k++) {
        struct gpu gpu;
        gpu_start(&gpu);
        gpu_open(&gpu, NULL, 2);
        check_next(&gpu, gpu_stream(&gpu));
        CUstream old = gpu_stream(&gpu);
        check_next(&gpu, old);
        CUstream stream = gpu_stream(&gpu);
        more = fail_reduce(&gpu, stream, k, CUDA_ERROR_UNKNOWN);
        check_next(&gpu, stream);
        gpu_finish(&gpu);
        assert_true(k < CALLS_MAX && (k > 4 || more));
    }
}

static void test_open(void **state) {
    (void)state;
    bool more = true;
    size_t failed = 0;
    for (uint64_t k = 1; more; k++) {
        struct gpu gpu;
        struct rtune_options opts = RTUNE_OPTIONS_INIT;
        struct rtune_error err = {0};
        gpu_start(&gpu);
        opts.store = "none";
        opts.workspaces = 2;
        fake_cuda_fail(NULL, k, CUDA_ERROR_UNKNOWN);
        const enum rtune_status status = rtune_open(&gpu.rt, &opts, &err);
        more = fake_cuda_failed();
        fake_cuda_fail(NULL, 0, 0);
        if (status == RTUNE_OK) {
            check_next(&gpu, gpu_stream(&gpu));
        } else {
            assert_null(gpu.rt);
            assert_true(err.message[0] != '\0');
            failed++;
        }
        gpu_finish(&gpu);
        assert_true(k < CALLS_MAX && (k > 20 || more));
    }
    assert_true(failed > 10);
}

static void test_plan(void **state) {
    (void)state;
    bool more = true;
    const struct rtune_problem p = GPU_SUM;
    for (uint64_t k = 1; more; k++) {
        struct gpu gpu;
        struct rtune_error err = {0};
        rtune_plan *plan = NULL;
        gpu_start(&gpu);
        gpu_write_store(&gpu, scratch_path("fault.db"), "block=64,grid=4", true);
        gpu_open(&gpu, scratch_path("fault.db"), 2);
        struct rtune_args a =
            RTUNE_ARGS((const void *)(uintptr_t)gpu.in, (void *)(uintptr_t)gpu.out);
        CUstream stream = gpu_stream(&gpu);
        fake_cuda_fail(NULL, k, CUDA_ERROR_UNKNOWN);
        enum rtune_status status = rtune_plan_create(&plan, gpu.rt, &p, &err);
        if (status == RTUNE_OK) status = rtune_plan_reduce(plan, &a, stream, &err);
        more = fake_cuda_failed();
        fake_cuda_fail(NULL, 0, 0);
        if (status == RTUNE_OK) gpu_check(&gpu, 0, stream);
        if (plan) {
            assert_int_equal(rtune_plan_reduce(plan, &a, stream, &err), RTUNE_OK);
            gpu_check(&gpu, 0, stream);
        }
        rtune_plan_destroy(plan);
        gpu_finish(&gpu);
        assert_true(k < CALLS_MAX && (k > 10 || more));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_reduce),
        cmocka_unit_test(test_later_reduce),
        cmocka_unit_test(test_change_of_hands),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
