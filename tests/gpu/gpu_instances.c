/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_instances.c: every compiled instance (block, items, load, finish) of f32 and i64
 * sum, and seeded random configs of every other problem kind, each with grids {1, SM count, more
 * than tiles} on n in {1, 33, 2^16 + 1} and on an aligned and an odd base, against exact
 * references. Buffers have exactly the size that is read, so that it is also what compute-sanitizer
 * runs over.
 *
 *   gpu_instances [SEED]
 */
#include "base/num.h"
#include "base/rng.h"
#include "runtime/nvrtc.h"
#include "tests/gpu/gpu.h"

enum { N_COUNT = 3, BASE_COUNT = 2, RANDOM_CONFIGS = 16 };
static const uint64_t sizes[N_COUNT] = {1, 33, (1u << 16) + 1};

struct fixture {
    rtune_device *dev;
    void *stream;
    void *out;
    void *workspace;
    void *input[RTUNE_DTYPE_COUNT][N_COUNT][BASE_COUNT]; /* first byte of the allocation */
    uint64_t launches;
};

/* Element i: a small whole number of zero mean; of the two-valued kind for products. */
static int element(bool product, uint64_t i) {
    const uint64_t z = rtune_rng_at(7, i);
    if (product) return z % 4096 == 0 ? 2 : (z & 8192) ? 1 : -1;
    return (int)(z % 7) - 3;
}

/* prod is kept small by its few twos: at most 2^40 at these sizes, exact in every type but i32
 * native, which wraps. */
static double reference(const struct rtune_problem *p, uint64_t n) {
    int64_t sum = 0, lo = INT64_MAX, hi = INT64_MIN;
    double product = 1;
    for (uint64_t i = 0; i < n; i++) {
        const int x = element(p->op == RTUNE_PROD, i);
        sum += x;
        product *= x;
        if (x < lo) lo = x;
        if (x > hi) hi = x;
    }
    return p->op == RTUNE_SUM    ? (double)sum
           : p->op == RTUNE_PROD ? product
           : p->op == RTUNE_MIN  ? (double)lo
                                 : (double)hi;
}

static void store(enum rtune_dtype dtype, void *data, uint64_t i, int x) {
    switch (dtype) {
    case RTUNE_F32:
        ((float *)data)[i] = (float)x;
        break;
    case RTUNE_F64:
        ((double *)data)[i] = x;
        break;
    case RTUNE_I32:
        ((int32_t *)data)[i] = x;
        break;
    case RTUNE_I64:
        ((int64_t *)data)[i] = x;
        break;
    default:
        CHECK(false, "dtype %d has no kernels", (int)dtype);
    }
}

static bool result_equals(const struct rtune_problem *p, const void *bytes, double want) {
    switch (rtune_result_dtype(p)) {
    case RTUNE_F32:
        return *(const float *)bytes == (float)want;
    case RTUNE_F64:
        return *(const double *)bytes == want;
    case RTUNE_I32:
        return *(const int32_t *)bytes == (int32_t)(uint32_t)(uint64_t)(int64_t)want;
    case RTUNE_I64:
        return *(const int64_t *)bytes == (int64_t)want;
    default:
        return false;
    }
}

/* (Re)fill the inputs of one dtype with the data of the op. */
static void fill(struct fixture *f, enum rtune_dtype dtype, bool product) {
    struct rtune_error err;
    const size_t size = rtune_dtype_size(dtype);
    for (int k = 0; k < N_COUNT; k++) {
        void *host = malloc(sizes[k] * size);
        CHECK(host != NULL, "out of memory");
        for (uint64_t i = 0; i < sizes[k]; i++)
            store(dtype, host, i, element(product, i));
        for (int b = 0; b < BASE_COUNT; b++) {
            void **buffer = &f->input[dtype][k][b];
            if (*buffer == NULL)
                OK(f->dev->ops->mem_alloc(f->dev, (sizes[k] + (uint64_t)b) * size, buffer, &err),
                   &err);
            if (b > 0) OK(f->dev->ops->mem_put(f->dev, *buffer, host, size, &err), &err);
            OK(f->dev->ops->mem_put(f->dev, (char *)*buffer + (size_t)b * size, host,
                                    sizes[k] * size, &err),
               &err);
        }
        free(host);
    }
}

static void run(struct fixture *f, const struct rtune_problem *p, const struct rtune_config *config,
                const rtune_kernel *kernel, uint32_t grid, int k, int b) {
    struct rtune_error err;
    const size_t size = rtune_dtype_size(p->dtype);
    unsigned char result[8];
    struct rtune_launch_request r = {
        .args = {.in = (char *)f->input[p->dtype][k][b] + (size_t)b * size,
                 .out = f->out,
                 .workspace = f->workspace,
                 .n = sizes[k],
                 .scale = 1},
        .grid = grid,
        .stream = f->stream};
    OK(f->dev->ops->mem_set(f->dev, f->out, 0xAB, sizeof result, f->stream, &err), &err);
    OK(f->dev->ops->launch(f->dev, kernel, &r, &err), &err);
    OK(f->dev->ops->stream_wait(f->dev, f->stream, &err), &err);
    OK(f->dev->ops->mem_get(f->dev, result, f->out, sizeof result, &err), &err);
    f->launches++;
    if (!result_equals(p, result, reference(p, sizes[k]))) {
        char what[160], how[160];
        struct rtune_problem shown = *p;
        shown.n = sizes[k];
        rtune_problem_print(&shown, what, sizeof what);
        rtune_config_print(config, how, sizeof how);
        CHECK(false, "%s, base + %d, %s on %u blocks: wrong result", what, b, how, grid);
    }
}

static void run_instance(struct fixture *f, const struct rtune_compiled *job) {
    struct rtune_error err;
    rtune_kernel *kernel = NULL;
    OK(f->dev->ops->kernel_open(f->dev, &job->problem, &job->config, job->image, job->size, &kernel,
                                &err),
       &err);
    const uint64_t tile = (uint64_t)job->config.block * job->config.items;
    for (int k = 0; k < N_COUNT; k++) {
        const uint64_t more = rtune_min_u64(rtune_ceil_div(sizes[k], tile) + 5, RTUNE_GRID_MAX);
        const uint32_t grids[3] = {1, f->dev->units, (uint32_t)more};
        const int count = job->config.finish == RTUNE_FINISH_ONE ? 1 : 3;
        for (int g = 0; g < count; g++)
            for (int b = 0; b < (k == N_COUNT - 1 ? BASE_COUNT : 1); b++)
                run(f, &job->problem, &job->config, kernel, grids[g], k, b);
    }
    f->dev->ops->kernel_close(f->dev, kernel);
}

/* All of block x vectors x load x finish. */
static size_t all_configs(enum rtune_dtype dtype, struct rtune_config *configs) {
    static const uint32_t blocks[] = {32, 64, 128, 256, 512, 1024};
    const uint32_t per_vector = (uint32_t)(16 / rtune_dtype_size(dtype));
    size_t count = 0;
    for (size_t b = 0; b < RTUNE_ARRAY_SIZE(blocks); b++)
        for (uint32_t v = 1; v <= 8; v *= 2)
            for (int load = 0; load < RTUNE_LOAD_COUNT; load++)
                for (int finish = 0; finish < RTUNE_FINISH_COUNT; finish++)
                    configs[count++] = (struct rtune_config){.variant = RTUNE_CASCADED,
                                                             .block = blocks[b],
                                                             .items = v * per_vector,
                                                             .grid = {RTUNE_GRID_BLOCKS, 1},
                                                             .load = (enum rtune_load)load,
                                                             .finish = (enum rtune_finish)finish};
    return count;
}

static size_t random_configs(enum rtune_dtype dtype, struct rtune_rng *rng,
                             struct rtune_config *configs) {
    const uint32_t per_vector = (uint32_t)(16 / rtune_dtype_size(dtype));
    for (size_t i = 0; i < RANDOM_CONFIGS; i++) {
        struct rtune_config *c = &configs[i];
        *c = (struct rtune_config){.variant = RTUNE_CASCADED,
                                   .block = 32 * (1 + (uint32_t)rtune_rng_below(rng, 32)),
                                   .items = per_vector << rtune_rng_below(rng, 5),
                                   .grid = {RTUNE_GRID_BLOCKS, 1},
                                   .load = (enum rtune_load)rtune_rng_below(rng, RTUNE_LOAD_COUNT),
                                   .finish =
                                       (enum rtune_finish)rtune_rng_below(rng, RTUNE_FINISH_COUNT),
                                   .map = (enum rtune_map)rtune_rng_below(rng, RTUNE_MAP_COUNT)};
    }
    return RANDOM_CONFIGS;
}

static void run_kind(struct fixture *f, rtune_nvrtc *nvrtc, const struct rtune_problem *p,
                     struct rtune_rng *rng) {
    static struct rtune_config configs[1024];
    static struct rtune_compiled jobs[1024];
    struct rtune_error err;
    const bool whole = p->op == RTUNE_SUM && (p->dtype == RTUNE_F32 || p->dtype == RTUNE_I64);
    const size_t count =
        whole ? all_configs(p->dtype, configs) : random_configs(p->dtype, rng, configs);
    memset(jobs, 0, sizeof jobs);
    for (size_t i = 0; i < count; i++) {
        jobs[i].problem = *p;
        jobs[i].config = configs[i];
    }
    OK(rtune_nvrtc_compile(nvrtc, f->dev->identity.cc_major, f->dev->identity.cc_minor, jobs, count,
                           0, NULL, &err),
       &err);
    fill(f, p->dtype, p->op == RTUNE_PROD);
    for (size_t i = 0; i < count; i++) {
        OK(jobs[i].error.status, &jobs[i].error);
        run_instance(f, &jobs[i]);
        free(jobs[i].image);
    }
    char what[160];
    rtune_problem_print(p, what, sizeof what);
    printf("%s: %zu instances right\n", what, count);
    fflush(stdout);
}

int main(int argc, char **argv) {
    struct gpu_cuda cu;
    struct rtune_error err;
    struct fixture f = {0};
    rtune_nvrtc *nvrtc = NULL;
    struct rtune_rng rng = {argc > 1 ? strtoull(argv[1], NULL, 10) : 20261129u, 0};
    struct rtune_device_request request = {.spec = "cuda:0"};

    gpu_open(&cu);
    printf("seed=%llu\n", (unsigned long long)rng.seed);
    OK(rtune_nvrtc_open(&nvrtc, &err), &err);
    OK(rtune_device_open(&request, &f.dev, &err), &err);
    OK(f.dev->ops->stream_create(f.dev, &f.stream, &err), &err);
    OK(f.dev->ops->mem_alloc(f.dev, 8, &f.out, &err), &err);
    OK(f.dev->ops->mem_alloc(f.dev, rtune_workspace_bytes(), &f.workspace, &err), &err);
    OK(f.dev->ops->mem_set(f.dev, f.workspace, 0, rtune_workspace_bytes(), f.stream, &err), &err);
    struct rtune_problem p;
    for (size_t k = 0; rtune_problem_at(k, &p); k++)
        run_kind(&f, nvrtc, &p, &rng);

    for (int d = 0; d < RTUNE_DTYPE_COUNT; d++)
        for (int k = 0; k < N_COUNT; k++)
            for (int b = 0; b < BASE_COUNT; b++)
                f.dev->ops->mem_free(f.dev, f.input[d][k][b]);
    f.dev->ops->mem_free(f.dev, f.out);
    f.dev->ops->mem_free(f.dev, f.workspace);
    f.dev->ops->stream_destroy(f.dev, f.stream);
    rtune_device_close(f.dev);
    rtune_nvrtc_close(nvrtc);
    printf("%llu launches, all right\n", (unsigned long long)f.launches);
    return 0;
}
