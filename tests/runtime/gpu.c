/* SPDX-License-Identifier: Apache-2.0 */
/* tests/runtime/gpu.c: setting up and checking librtune on the fake CUDA driver. */
#include "tests/runtime/gpu.h"

#include <stdlib.h>
#include <string.h>

static const int64_t spoilt = -77;
static const int64_t expected = (int64_t)GPU_N * (GPU_N + 1) / 2;

/* ---- a stand-in for NVRTC, by --wrap ------------------------------------------------------------
 */

struct gpu_nvrtc gpu_nvrtc;

enum rtune_status __wrap_rtune_nvrtc_open(rtune_nvrtc **nvrtc, struct rtune_error *err);
void __wrap_rtune_nvrtc_close(rtune_nvrtc *nvrtc);
enum rtune_status __wrap_rtune_nvrtc_compile(rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                                             struct rtune_compiled *jobs, size_t count,
                                             uint32_t threads, const atomic_bool *stop,
                                             struct rtune_error *err);

static const char image_text[64] = "\177ELF and nothing else";

enum rtune_status __wrap_rtune_nvrtc_open(rtune_nvrtc **nvrtc, struct rtune_error *err) {
    if (!gpu_nvrtc.present) return rtune_err_set(err, RTUNE_NOT_FOUND, "libnvrtc: not here");
    *nvrtc = (rtune_nvrtc *)&gpu_nvrtc;
    return RTUNE_OK;
}

void __wrap_rtune_nvrtc_close(rtune_nvrtc *nvrtc) {
    assert_true(!nvrtc || nvrtc == (rtune_nvrtc *)&gpu_nvrtc);
}

enum rtune_status __wrap_rtune_nvrtc_compile(rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                                             struct rtune_compiled *jobs, size_t count,
                                             uint32_t threads, const atomic_bool *stop,
                                             struct rtune_error *err) {
    (void)threads, (void)stop, (void)err;
    assert_ptr_equal(nvrtc, &gpu_nvrtc);
    assert_int_equal(cc_major * 10 + cc_minor, 90);
    gpu_nvrtc.calls++;
    for (size_t i = 0; i < count; i++) {
        if (!gpu_nvrtc.works) {
            rtune_err_set(&jobs[i].error, RTUNE_COMPILE, "told not to compile");
            continue;
        }
        gpu_nvrtc.compiled++;
        jobs[i].size = sizeof image_text;
        jobs[i].image = malloc(sizeof image_text);
        assert_non_null(jobs[i].image);
        memcpy(jobs[i].image, image_text, sizeof image_text);
    }
    return RTUNE_OK;
}

/* ---- start and finish --------------------------------------------------------------------------
 */

void gpu_start(struct gpu *gpu) {
    struct rtune_error err = {0};
    int32_t in[GPU_N];
    CUdevice device = 0;
    memset(gpu, 0, sizeof *gpu);
    gpu_nvrtc = (struct gpu_nvrtc){0};
    fake_cuda_reset();
    if (!test_driver_open(&gpu->cu, &err)) fail_msg("%s", err.message);
    CU(gpu->cu.base.cuDeviceGet(&device, 0));
    CU(gpu->cu.base.cuDevicePrimaryCtxRetain(&gpu->context, device));
    CU(gpu->cu.cuCtxSetCurrent(gpu->context));
    CU(gpu->cu.base.cuMemAlloc(&gpu->in, sizeof in));
    CU(gpu->cu.base.cuMemAlloc(&gpu->out, GPU_OUTS * sizeof(int64_t)));
    for (int32_t i = 0; i < GPU_N; i++)
        in[i] = i + 1;
    CU(gpu->cu.cuMemcpyHtoD(gpu->in, in, sizeof in));
    for (size_t k = 0; k < GPU_OUTS; k++) {
        CU(gpu->cu.cuMemcpyHtoD(gpu->out + k * sizeof spoilt, &spoilt, sizeof spoilt));
    }
    gpu->before = fake_cuda_live();
}

void gpu_open(struct gpu *gpu, const char *store, uint32_t workspaces) {
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_error err = {0};
    opts.store = store ? store : "none";
    opts.workspaces = workspaces;
    if (rtune_open(&gpu->rt, &opts, &err) != RTUNE_OK) fail_msg("%s", err.message);
}

void gpu_finish(struct gpu *gpu) {
    rtune_close(gpu->rt);
    const struct fake_cuda_live live = fake_cuda_live();
    assert_int_equal(live.contexts, gpu->before.contexts);
    assert_int_equal(live.allocations, gpu->before.allocations);
    assert_int_equal(live.events, gpu->before.events);
    assert_int_equal(live.modules, gpu->before.modules);
    if (fake_cuda_problem()) fail_msg("%s", fake_cuda_problem());
    fake_cuda_reset();
}

CUstream gpu_stream(struct gpu *gpu) {
    CUstream stream = NULL;
    CU(gpu->cu.base.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

/* ---- reductions --------------------------------------------------------------------------------
 */

enum rtune_status gpu_reduce(struct gpu *gpu, size_t k, CUstream stream,
                             struct rtune_launch *launch, struct rtune_error *err) {
    const struct rtune_problem p = GPU_SUM;
    struct rtune_args a = RTUNE_ARGS((const void *)(uintptr_t)gpu->in,
                                     (void *)(uintptr_t)(gpu->out + k * sizeof spoilt));
    a.launch = launch;
    return rtune_reduce(gpu->rt, &p, &a, stream, err);
}

static int64_t take(struct gpu *gpu, size_t k) {
    int64_t value = 0;
    CU(gpu->cu.cuMemcpyDtoH(&value, gpu->out + k * sizeof value, sizeof value));
    return value;
}

void gpu_check(struct gpu *gpu, size_t k, CUstream stream) {
    CU(gpu->cu.base.cuStreamSynchronize(stream));
    assert_int_equal(take(gpu, k), expected);
    CU(gpu->cu.cuMemcpyHtoD(gpu->out + k * sizeof spoilt, &spoilt, sizeof spoilt));
}

bool gpu_untouched(struct gpu *gpu, size_t k) { return take(gpu, k) == spoilt; }

struct rtune_identity gpu_identity(const struct gpu *gpu) {
    struct rtune_error err = {0};
    struct rtune_device_entry entries[8];
    size_t count = 0;
    (void)gpu;
    assert_int_equal(rtune_device_list(entries, 8, &count, &err, NULL), RTUNE_OK);
    assert_true(count >= 1 && entries[0].identity.cuda);
    return entries[0].identity;
}

void gpu_write_store(const struct gpu *gpu, const char *path, const char *config, bool cubin) {
    struct rows rows = {0};
    struct rtune_error err = {0};
    const struct rtune_identity identity = gpu_identity(gpu);
    struct rtune_winner *w =
        rows_add(&rows, rows_device(&rows, &identity), RTUNE_SUM, RTUNE_I32, GPU_N, config);
    if (cubin &&
        rtune_cubin_write(path, image_text, sizeof image_text, w->cubin, &err) != RTUNE_OK) {
        fail_msg("%s", err.message);
    }
    rows_write(&rows, path);
}
