/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_order.c: memory order of the multi-block finishes. 10,000 back-to-back runs for each
 * finish at 2^12, 2^20 and 2^26 elements beside a stream that keeps the memory busy; config and grid change
 * from call to call on one workspace; every result is exact (CASES B03).
 *
 *   gpu_order [RUNS]
 */
#include "base/num.h"
#include "base/rng.h"
#include "runtime/nvrtc.h"
#include "tests/gpu/gpu.h"

enum { CONFIGS = 8 };

struct noise { /* struct rtune_support_read_args */
    const void *in;
    unsigned long long bytes;
    unsigned *sink;
};

static void compile(rtune_device *dev, rtune_nvrtc *nvrtc, enum rtune_finish finish,
                    struct rtune_config *configs, rtune_kernel **kernels) {
    static const uint32_t blocks[CONFIGS] = {32, 64, 128, 256, 256, 512, 1024, 512};
    static const uint32_t vectors[CONFIGS] = {8, 4, 2, 1, 4, 4, 2, 8};
    struct rtune_compiled jobs[CONFIGS];
    struct rtune_error err;
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < CONFIGS; i++) {
        jobs[i].problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 0);
        jobs[i].config = (struct rtune_config){.block = blocks[i], .items = 4 * vectors[i],
                                               .grid = {RTUNE_GRID_BLOCKS, 1}, .finish = finish,
                                               .load = (enum rtune_load)(i % 3),
                                               .map = (enum rtune_map)(i % 2)};
    }
    OK(rtune_nvrtc_compile(nvrtc, dev->identity.cc_major, dev->identity.cc_minor, jobs, CONFIGS, 0, NULL,
                           &err), &err);
    for (int i = 0; i < CONFIGS; i++) {
        OK(jobs[i].error.status, &jobs[i].error);
        configs[i] = jobs[i].config;
        OK(dev->ops->kernel_open(dev, &jobs[i].problem, &jobs[i].config, jobs[i].image, jobs[i].size,
                                 &kernels[i], &err), &err);
        free(jobs[i].image);
    }
}

int main(int argc, char **argv) {
    const int runs = argc > 1 ? atoi(argv[1]) : 10000;
    const uint64_t sizes[] = {1u << 12, 1u << 20, 1u << 26};
    const size_t noise_bytes = (size_t)512 << 20;
    struct gpu_cuda cu;
    struct rtune_error err;
    rtune_device *dev = NULL;
    rtune_nvrtc *nvrtc = NULL;
    rtune_kernel *read = NULL;
    void *stream, *other, *in, *out, *workspace, *big, *sink;
    struct rtune_rng rng = {20261129u, 0};
    struct rtune_device_request request = {.spec = "cuda:0"};

    CHECK(runs > 0, "RUNS must be positive");
    gpu_open(&cu);
    OK(rtune_nvrtc_open(&nvrtc, &err), &err);
    OK(rtune_device_open(&request, &dev, &err), &err);
    OK(dev->ops->stream_create(dev, &stream, &err), &err);
    OK(dev->ops->stream_create(dev, &other, &err), &err);
    OK(dev->ops->mem_alloc(dev, sizes[2] * 4, &in, &err), &err);
    OK(dev->ops->mem_alloc(dev, (size_t)runs * 8, &out, &err), &err);
    OK(dev->ops->mem_alloc(dev, rtune_workspace_bytes(), &workspace, &err), &err);
    OK(dev->ops->mem_alloc(dev, noise_bytes, &big, &err), &err);
    OK(dev->ops->mem_alloc(dev, 64, &sink, &err), &err);
    OK(dev->ops->mem_set(dev, big, 0x55, noise_bytes, stream, &err), &err);
    OK(dev->ops->mem_set(dev, workspace, 0, rtune_workspace_bytes(), stream, &err), &err);
    CU(cu.cuMemsetD32((CUdeviceptr)(uintptr_t)in, 1, sizes[2]));
    OK(dev->ops->support_open(dev, "rtune_support_read", &read, &err), &err);
    struct noise args = {big, noise_bytes, sink};
    void *params[] = {&args};
    int64_t *results = malloc((size_t)runs * 8);
    CHECK(results != NULL, "out of memory");

    for (int finish = RTUNE_FINISH_SLOTS; finish <= RTUNE_FINISH_LAST; finish++) {
        struct rtune_config configs[CONFIGS];
        rtune_kernel *kernels[CONFIGS];
        compile(dev, nvrtc, (enum rtune_finish)finish, configs, kernels);
        for (size_t s = 0; s < RTUNE_ARRAY_SIZE(sizes); s++) {
            OK(dev->ops->mem_set(dev, out, 0xAB, (size_t)runs * 8, stream, &err), &err);
            for (int r = 0; r < runs; r++) {
                const uint64_t i = rtune_rng_below(&rng, CONFIGS);
                const uint64_t tile = (uint64_t)configs[i].block * configs[i].items;
                const uint64_t most = rtune_min_u64(2 + sizes[s] / tile, RTUNE_GRID_MAX);
                if (r % (s == 2 ? 2 : 32) == 0)
                    OK(dev->ops->support_launch(dev, read, 264, 256, params, other, &err), &err);
                struct rtune_launch_request q = {
                    .args = {.in = in, .out = (int64_t *)out + r, .workspace = workspace, .n = sizes[s],
                             .scale = 1},
                    .grid = 1 + (uint32_t)rtune_rng_below(&rng, most), .stream = stream};
                OK(dev->ops->launch(dev, kernels[i], &q, &err), &err);
            }
            OK(dev->ops->stream_wait(dev, stream, &err), &err);
            OK(dev->ops->mem_get(dev, results, out, (size_t)runs * 8, &err), &err);
            for (int r = 0; r < runs; r++)
                CHECK(results[r] == (int64_t)sizes[s], "%s, n = %llu, run %d: %lld",
                      rtune_finish_name((enum rtune_finish)finish), (unsigned long long)sizes[s], r,
                      (long long)results[r]);
            OK(dev->ops->stream_wait(dev, other, &err), &err);
            printf("%s n=%llu: %d of %d runs exact\n", rtune_finish_name((enum rtune_finish)finish),
                   (unsigned long long)sizes[s], runs, runs);
            fflush(stdout);
        }
        for (int i = 0; i < CONFIGS; i++) dev->ops->kernel_close(dev, kernels[i]);
    }
    free(results);
    dev->ops->kernel_close(dev, read);
    void *blocks[] = {in, out, workspace, big, sink};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(blocks); i++) dev->ops->mem_free(dev, blocks[i]);
    dev->ops->stream_destroy(dev, stream);
    dev->ops->stream_destroy(dev, other);
    rtune_device_close(dev);
    rtune_nvrtc_close(nvrtc);
    return 0;
}
