/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_instances.c: every op, dtype, acc, mode and NaN rule with configs of every finish
 * and of the bulk variant, on sizes around every boundary of their shapes, on one block, one a
 * multiprocessor and more than there are tiles, on aligned bases, odd ones and the last of a line,
 * with and without RTUNE_ACCUMULATE and RTUNE_ROOT, against tests/reference. Buffers have exactly
 * the size that is read, so that it is also what compute-sanitizer runs over, with "turn": one
 * config a problem, in turn, so that all problems together have every finish, load and map. "few"
 * has four.
 *
 *   gpu_instances [all|few|turn] [SEED]
 */
#include "tests/gpu/bed.h"
#include "tests/gpu/configs.h"
#include "tests/reference/data.h"
#include "tests/reference/element.h"

#include "base/num.h"
#include "base/rng.h"

enum { SIZES_MAX = 64, BASES = 4, LINE = 128, MOST_CONFIGS = 12, BATCH = 96 };

/* Of one element size, and of both inputs: a buffer for each n and base. */
struct buffers {
    void *at[2][SIZES_MAX][BASES];
};

struct fixture {
    struct bed bed;
    struct rtune_rng rng;
    bool few;                  /* sizes, grids and sets of data */
    size_t config_count;       /* of a problem */
    uint64_t sizes[SIZES_MAX]; /* ascending */
    size_t size_count;
    struct buffers buffers[4]; /* of elements of 1, 2, 4 and 8 bytes */
    unsigned char *host[2];
    struct reference state[SIZES_MAX];         /* after sizes[k] elements */
    struct reference_result spiked[SIZES_MAX]; /* of extremes */
};

static const uint64_t common[] = {
    1,    2,    3,    7,    15,    17,    31,    32,    33,    63,     65,     95,     97,    127,
    129,  255,  257,  351,  353,   511,   513,   991,   993,   1000,   1023,   1025,   2047,  2049,
    4096, 4097, 8191, 8193, 10007, 16385, 32767, 65536, 65537, 104729, 131071, 262143, 262145};
static const uint64_t sparse[] = {1, 33, 1023, 4097, 65537};

/* Bytes in front of a base: an element, three, and all of a line but the last element. */
static size_t front_of(unsigned base, size_t size) {
    const size_t front[BASES] = {0, size, 3 * size, LINE - size};
    return front[base];
}

static bool is_extreme(const struct rtune_problem *p) {
    return p->op >= RTUNE_MIN && p->op <= RTUNE_ARGMAX;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static struct buffers *buffers_of(struct fixture *f, size_t size) {
    return &f->buffers[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3];
}

static void put(struct fixture *f, unsigned input, size_t k, size_t size) {
    struct rtune_error err;
    const struct rtune_device_ops *ops = f->bed.dev->ops;
    for (unsigned b = 0; b < BASES; b++) {
        void **buffer = &buffers_of(f, size)->at[input][k][b];
        const size_t bytes = f->sizes[k] * size, front = front_of(b, size);
        if (*buffer == NULL) OK(ops->mem_alloc(f->bed.dev, front + bytes, buffer, &err), &err);
        if (front) OK(ops->mem_set(f->bed.dev, *buffer, 0x4b, front, f->bed.stream, &err), &err);
        OK(ops->mem_put(f->bed.dev, (char *)*buffer + front, f->host[input], bytes, &err), &err);
    }
}

/* Fill all buffers of a problem with one kind of data, and compute what is right. */
static void fill(struct fixture *f, const struct rtune_problem *p, enum reference_data set) {
    const size_t size = element_size(p->dtype);
    const uint64_t most = f->sizes[f->size_count - 1];
    struct reference r;
    for (unsigned input = 0; input < 2; input++)
        reference_fill(p, set, rtune_rng_u64(&f->rng), f->host[input], most);
    reference_begin(&r, p, 1234567.8901);
    for (size_t k = 0; k < f->size_count; k++) {
        const uint64_t n = f->sizes[k];
        reference_add(&r, f->host[0] + r.problem.n * size, f->host[1] + r.problem.n * size,
                      n - r.problem.n);
        f->state[k] = r;
        uint64_t at = 0, old = 0;
        if (is_extreme(p)) { /* one that beats all others: a running extreme would hide most */
            struct rtune_problem whole = *p;
            const struct rtune_args args = RTUNE_ARGS(f->host[0], NULL);
            whole.n = n;
            at = rtune_rng_below(&f->rng, n);
            old = element_get(p->dtype, f->host[0], at);
            element_put(p->dtype, f->host[0], at, reference_spike(p, at));
            reference_compute(&whole, &args, &f->spiked[k]);
        }
        put(f, 0, k, size);
        if (p->op == RTUNE_DOT) put(f, 1, k, size);
        if (is_extreme(p)) element_put(p->dtype, f->host[0], at, old);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Something that a result may be added to, exactly where the data is. */
static void before_of(struct fixture *f, const struct rtune_problem *p, unsigned char before[16]) {
    for (size_t k = 0; k < 16; k++)
        before[k] = (unsigned char)rtune_rng_u64(&f->rng);
    if (p->op == RTUNE_ANY || p->op == RTUNE_ALL) memset(before, 0, 4), before[0] = f->rng.next & 1;
    if (p->mode == RTUNE_FIXED) memset(before + 12, 0, 4);
    if (!element_is_float(p->dtype) || p->op >= RTUNE_ANY || p->mode == RTUNE_FIXED) return;
    const enum rtune_dtype type = rtune_result_dtype(p);
    for (uint64_t k = 0; k < reference_size(p) / element_size(type); k++)
        element_put(type, before, k, element_round(type, p->op == RTUNE_PROD ? -2 : 8 + (int)k));
}

/* Half of the sums of squares that have a root are norms. */
static bool takes_root(struct fixture *f, const struct rtune_problem *p) {
    struct rtune_problem norm = *p;
    norm.flags |= RTUNE_ROOT;
    return rtune_problem_check(&norm, NULL) == RTUNE_OK && rtune_rng_below(&f->rng, 2) == 0;
}

static void launch(struct fixture *f, const struct rtune_config *config, const rtune_kernel *kernel,
                   uint32_t wanted, size_t k) {
    struct reference *state = &f->state[k];
    struct bed_launch l = {.problem = state->problem};
    struct rtune_args args = RTUNE_ARGS(NULL, NULL);
    unsigned char before[16];
    const char *why;
    const size_t size = element_size(l.problem.dtype);
    const uint32_t resident = f->bed.dev->units * f->bed.dev->ops->kernel_resident(kernel);
    const unsigned b = (unsigned)rtune_rng_below(&f->rng, BASES);
    const unsigned b2 = (unsigned)rtune_rng_below(&f->rng, BASES);
    state->problem.flags = takes_root(f, &l.problem) ? RTUNE_ROOT : 0;
    l.problem.flags = state->problem.flags | RTUNE_ALLOW_NONDETERMINISTIC;
    l.grid = gpu_grid(config, wanted, resident);
    if (!rtune_finish_admits(config, &l.problem, l.grid, &why)) return;
    uint64_t depth = reference_depth_of(l.problem.n, config, l.grid);
    if (config->finish == RTUNE_FINISH_ATOMIC) depth += l.grid;
    if (is_extreme(&l.problem))
        l.result = f->spiked[k];
    else
        reference_end(state, depth, &l.result);
    args.in = (char *)buffers_of(f, size)->at[0][k][b] + front_of(b, size);
    if (l.problem.op == RTUNE_DOT)
        args.in2 = (char *)buffers_of(f, size)->at[1][k][b2] + front_of(b2, size);
    args.scale = state->scale;
    if (rtune_rng_below(&f->rng, 8) == 0 && !(l.problem.flags & RTUNE_ROOT) &&
        l.problem.op != RTUNE_ARGMIN && l.problem.op != RTUNE_ARGMAX) {
        l.problem.flags |= RTUNE_ACCUMULATE;
        before_of(f, &l.problem, before);
        bed_before(&f->bed, f->bed.count, before, l.result.size);
        reference_accumulate(&l.problem, before, &l.result);
    }
    bed_launch(&f->bed, kernel, &l, &args);
}

static void run_config(struct fixture *f, const struct rtune_config *config,
                       const rtune_kernel *kernel) {
    const uint64_t tile = (uint64_t)config->block * config->items;
    bed_begin(&f->bed);
    for (size_t k = 0; k < f->size_count; k++) {
        const uint64_t n = f->sizes[k];
        const uint64_t more = rtune_min_u64(rtune_ceil_div(n, tile) + 5, RTUNE_GRID_MAX);
        launch(f, config, kernel, (uint32_t)more, k);
        if (config->finish == RTUNE_FINISH_ONE) continue;
        launch(f, config, kernel, 1, k);
        if (!f->few) launch(f, config, kernel, f->bed.dev->units, k);
        if (!f->few && n > 60000) launch(f, config, kernel, RTUNE_GRID_MAX, k);
    }
    bed_check(&f->bed, config, "instances");
}

static void run_problem(struct fixture *f, const struct bed_instance *instances, size_t count) {
    const struct rtune_problem *p = &instances[0].problem;
    const bool plain = p->mode == RTUNE_PLAIN;
    const int sets = f->few ? 1 : 2;
    for (int s = 0; s < sets; s++) {
        fill(f, p, s ? REFERENCE_SPECIAL : plain ? REFERENCE_EXACT : REFERENCE_ROUNDING);
        for (size_t i = 0; i < count; i++)
            run_config(f, &instances[i].config, instances[i].kernel);
    }
}

/* Problems first ... first + BATCH - 1, compiled together. Returns how many there are. */
static size_t run_batch(struct fixture *f, size_t first, size_t *total) {
    static struct bed_instance instances[BATCH * MOST_CONFIGS];
    size_t counts[BATCH], problems = 0, count = 0;
    struct rtune_problem p;
    for (; problems < BATCH && rtune_problem_at(first + problems, &p); problems++) {
        struct rtune_config configs[GPU_CONFIGS_MAX];
        counts[problems] =
            gpu_configs(&p, first + problems, &f->bed.dev->identity, f->config_count, configs);
        for (size_t i = 0; i < counts[problems]; i++)
            instances[count++] = (struct bed_instance){p, configs[i], NULL};
    }
    bed_compile(&f->bed, instances, count);
    for (size_t k = 0, at = 0; k < problems; at += counts[k++])
        run_problem(f, &instances[at], counts[k]);
    for (size_t i = 0; i < count; i++)
        f->bed.dev->ops->kernel_close(f->bed.dev, instances[i].kernel);
    *total += count;
    return problems;
}

static void free_buffers(struct fixture *f) {
    for (size_t i = 0; i < 4 * 2 * SIZES_MAX * BASES; i++)
        f->bed.dev->ops->mem_free(
            f->bed.dev, f->buffers[i / (2 * SIZES_MAX * BASES)]
                            .at[i / (SIZES_MAX * BASES) % 2][i / BASES % SIZES_MAX][i % BASES]);
}

int main(int argc, char **argv) {
    static struct fixture f;
    size_t instances = 0, k = 0, done;
    const char *level = argc > 1 ? argv[1] : "all";
    f.few = strcmp(level, "all") != 0;
    f.config_count = !f.few ? MOST_CONFIGS : strcmp(level, "few") == 0 ? 4 : 1;
    CHECK(f.config_count > 1 || strcmp(level, "turn") == 0, "%s: all, few or turn", level);
    f.rng.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261129u;
    bed_open(&f.bed);
    printf("seed=%llu\n", (unsigned long long)f.rng.seed);
    f.size_count = f.few ? RTUNE_ARRAY_SIZE(sparse) : RTUNE_ARRAY_SIZE(common);
    memcpy(f.sizes, f.few ? sparse : common, f.size_count * sizeof f.sizes[0]);
    for (unsigned input = 0; input < 2; input++) {
        f.host[input] = malloc(f.sizes[f.size_count - 1] * 8);
        CHECK(f.host[input] != NULL, "out of memory");
    }
    while ((done = run_batch(&f, k, &instances)) > 0) {
        k += done;
        printf("%zu problems, %zu instances right\n", k, instances);
        fflush(stdout);
    }
    free_buffers(&f);
    free(f.host[0]);
    free(f.host[1]);
    printf("%zu problems, %zu instances, %llu launches, all right\n", k, instances,
           (unsigned long long)f.bed.total);
    bed_close(&f.bed);
    return 0;
}
