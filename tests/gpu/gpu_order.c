/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_order.c: memory order of the multi-block finishes. 10,000 back-to-back runs for
 * each finish at 2^12, 2^20 and 2^26 elements beside a stream that keeps the memory busy; config
 * and grid change from call to call on one workspace; every result is exact (CASES B03).
 *
 *   gpu_order [RUNS]
 */
#include "base/num.h"
#include "base/rng.h"
#include "runtime/nvrtc.h"
#include "tests/gpu/configs.h"
#include "tests/gpu/gpu.h"

enum { CONFIGS = 8 };

/* A packed finish has room for any sum only where it wraps: modulo 2^32. */
static enum rtune_acc acc_of(enum rtune_finish finish) {
    return finish == RTUNE_FINISH_PACKED ? RTUNE_NATIVE : RTUNE_WIDE;
}

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
        jobs[i].problem.acc = acc_of(finish);
        jobs[i].config = (struct rtune_config){.block = blocks[i],
                                               .items = 4 * vectors[i],
                                               .grid = {RTUNE_GRID_BLOCKS, 1},
                                               .finish = finish,
                                               .load = (enum rtune_load)(i % 3),
                                               .map = (enum rtune_map)(i % 2)};
        if (finish == RTUNE_FINISH_CLUSTER) jobs[i].config.extra = 2u << i % 3;
    }
    OK(rtune_nvrtc_compile(nvrtc, dev->identity.cc_major, dev->identity.cc_minor, jobs, CONFIGS, 0,
                           NULL, &err),
       &err);
    for (int i = 0; i < CONFIGS; i++) {
        OK(jobs[i].error.status, &jobs[i].error);
        configs[i] = jobs[i].config;
        OK(dev->ops->kernel_open(dev, &jobs[i].problem, &jobs[i].config, jobs[i].image,
                                 jobs[i].size, &kernels[i], &err),
           &err);
        free(jobs[i].image);
    }
}

struct bed {
    rtune_device *dev;
    rtune_nvrtc *nvrtc;
    rtune_kernel *read;
    void *stream, *other; /* the reductions', and the one that keeps the memory busy */
    void *in, *out, *workspace, *big, *sink;
    struct noise noise;
    int64_t *results;
    int64_t sums[3]; /* of the first sizes[k] elements */
    int runs;
    struct rtune_rng rng;
};

static const uint64_t sizes[] = {1u << 12, 1u << 20, 1u << 26};

static void setup(struct bed *b) {
    const size_t noise_bytes = (size_t)512 << 20;
    struct rtune_error err;
    struct rtune_device_request request = {.spec = "cuda:0"};
    OK(rtune_nvrtc_open(&b->nvrtc, &err), &err);
    OK(rtune_device_open(&request, &b->dev, &err), &err);
    const struct rtune_device_ops *ops = b->dev->ops;
    OK(ops->stream_create(b->dev, &b->stream, &err), &err);
    OK(ops->stream_create(b->dev, &b->other, &err), &err);
    OK(ops->mem_alloc(b->dev, sizes[2] * 4, &b->in, &err), &err);
    OK(ops->mem_alloc(b->dev, (size_t)b->runs * 8, &b->out, &err), &err);
    OK(ops->mem_alloc(b->dev, rtune_workspace_bytes(), &b->workspace, &err), &err);
    OK(ops->mem_alloc(b->dev, noise_bytes, &b->big, &err), &err);
    OK(ops->mem_alloc(b->dev, 64, &b->sink, &err), &err);
    OK(ops->mem_set(b->dev, b->big, 0x55, noise_bytes, b->stream, &err), &err);
    OK(ops->mem_set(b->dev, b->workspace, 0, rtune_workspace_bytes(), b->stream, &err), &err);
    OK(ops->support_open(b->dev, "rtune_support_read", &b->read, &err), &err);
    b->noise = (struct noise){b->big, noise_bytes, b->sink};
    b->results = malloc((size_t)b->runs * 8);
    CHECK(b->results != NULL, "out of memory");
}

/* Random elements, no two partials alike. */
static void fill(struct bed *b) {
    struct rtune_error err;
    int64_t sum = 0;
    int32_t *host = malloc(sizes[2] * 4);
    CHECK(host != NULL, "out of memory");
    for (uint64_t i = 0, k = 0; i < sizes[2]; i++) {
        host[i] = (int32_t)(uint32_t)rtune_rng_at(5, i);
        sum += host[i];
        if (i + 1 == sizes[k]) b->sums[k++] = sum;
    }
    OK(b->dev->ops->mem_put(b->dev, b->in, host, sizes[2] * 4, &err), &err);
    free(host);
}

static void teardown(struct bed *b) {
    void *blocks[] = {b->in, b->out, b->workspace, b->big, b->sink};
    free(b->results);
    b->dev->ops->kernel_close(b->dev, b->read);
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(blocks); i++)
        b->dev->ops->mem_free(b->dev, blocks[i]);
    b->dev->ops->stream_destroy(b->dev, b->stream);
    b->dev->ops->stream_destroy(b->dev, b->other);
    rtune_device_close(b->dev);
    rtune_nvrtc_close(b->nvrtc);
}

/* All runs at one size, then one look at all results. */
static void runs_at(struct bed *b, size_t size, const struct rtune_config *configs,
                    rtune_kernel *const *kernels) {
    const uint64_t n = sizes[size];
    const char *finish = rtune_finish_name(configs[0].finish);
    const struct rtune_device_ops *ops = b->dev->ops;
    const int quiet = size == 2 ? 2 : 32; /* runs between two reads of the busy stream */
    struct rtune_error err;
    void *params[] = {&b->noise};
    OK(ops->mem_set(b->dev, b->out, 0xAB, (size_t)b->runs * 8, b->stream, &err), &err);
    for (int r = 0; r < b->runs; r++) {
        const uint64_t i = rtune_rng_below(&b->rng, CONFIGS);
        const uint64_t tile = (uint64_t)configs[i].block * configs[i].items;
        const uint64_t most = rtune_min_u64(2 + n / tile, RTUNE_GRID_MAX);
        if (r % quiet == 0)
            OK(ops->support_launch(b->dev, b->read, 264, 256, params, b->other, &err), &err);
        const uint32_t wanted = 1 + (uint32_t)rtune_rng_below(&b->rng, most);
        struct rtune_launch_request q = {
            .args = {.in = b->in,
                     .out = (int64_t *)b->out + r,
                     .workspace = b->workspace,
                     .n = n,
                     .scale = 1},
            .grid = gpu_grid(&configs[i], wanted, b->dev->units * ops->kernel_resident(kernels[i])),
            .stream = b->stream};
        OK(ops->launch(b->dev, kernels[i], &q, &err), &err);
    }
    OK(ops->stream_wait(b->dev, b->stream, &err), &err);
    OK(ops->mem_get(b->dev, b->results, b->out, (size_t)b->runs * 8, &err), &err);
    for (int r = 0; r < b->runs; r++)
        CHECK(acc_of(configs[0].finish) == RTUNE_WIDE
                  ? b->results[r] == b->sums[size]
                  : (int32_t)b->results[r] == (int32_t)b->sums[size],
              "%s, n = %llu, run %d: %lld", finish, (unsigned long long)n, r,
              (long long)b->results[r]);
    OK(ops->stream_wait(b->dev, b->other, &err), &err);
    printf("%s n=%llu: %d of %d runs exact\n", finish, (unsigned long long)n, b->runs, b->runs);
    fflush(stdout);
}

int main(int argc, char **argv) {
    struct gpu_cuda cu;
    struct bed b = {.runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10000,
                    .rng = {20261129u, 0}};
    CHECK(b.runs > 0, "RUNS must be positive");
    gpu_open(&cu);
    setup(&b);
    fill(&b);
    for (int finish = RTUNE_FINISH_SLOTS; finish < RTUNE_FINISH_ATOMIC; finish++) {
        struct rtune_config configs[CONFIGS] = {{.finish = (enum rtune_finish)finish}};
        rtune_kernel *kernels[CONFIGS];
        const struct rtune_identity *id = &b.dev->identity;
        if (!rtune_config_runs_on(configs, id->cc_major, id->cc_minor)) continue;
        compile(b.dev, b.nvrtc, (enum rtune_finish)finish, configs, kernels);
        for (size_t s = 0; s < RTUNE_ARRAY_SIZE(sizes); s++)
            runs_at(&b, s, configs, kernels);
        for (int i = 0; i < CONFIGS; i++)
            b.dev->ops->kernel_close(b.dev, kernels[i]);
    }
    teardown(&b);
    return 0;
}
