/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_big.c: sizes around 2^31 and above 2^32 (CASES A29, A31) for i8 sum, argmax and
 * count_nonzero and for f16 reproducible, and ones that a counter in f32 could not count (A42),
 * with configs of every finish. The input is a period, repeated on the device, and some elements of
 * its own at the end. The period is no power of two, so an index that lost its upper bits reads
 * something else.
 */
#include "tests/gpu/bed.h"
#include "tests/gpu/configs.h"
#include "tests/reference/element.h"

#include "base/num.h"
#include "base/rng.h"

#define PERIOD ((size_t)8192 * 1021)
#define TOTAL (((size_t)1 << 33) + 64)

static struct bed bed;
static CUdeviceptr input;
static unsigned char *cycle; /* PERIOD bytes */

/* The first `bytes` of the input: the period again and again. */
static void repeat(size_t bytes) {
    size_t have = PERIOD;
    CU(bed.cu.cuMemcpyHtoD(input, cycle, PERIOD));
    while (have < bytes) {
        const size_t more = rtune_min_u64(have, bytes - have);
        CU(bed.cu.cuMemcpyDtoD(input + have, input, more));
        have += more;
    }
    CU(bed.cu.cuCtxSynchronize());
}

/* A problem with all its configs: n elements from element `first` of the input on. */
static void check(const struct rtune_problem *p, uint64_t first,
                  const struct reference_result *result) {
    struct rtune_config configs[GPU_CONFIGS_MAX];
    struct bed_instance instances[GPU_CONFIGS_MAX];
    const size_t count = gpu_configs(p, 0, &bed.dev->identity, 12, configs);
    const char *why;
    char text[160];
    for (size_t i = 0; i < count; i++)
        instances[i] = (struct bed_instance){*p, configs[i], NULL};
    bed_compile(&bed, instances, count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t units = bed.dev->units;
        const uint32_t resident = units * bed.dev->ops->kernel_resident(instances[i].kernel);
        struct bed_launch l = {.problem = *p, .result = *result};
        struct rtune_args args = RTUNE_ARGS(gpu_ptr(input + first * element_size(p->dtype)), NULL);
        l.problem.flags = RTUNE_ALLOW_NONDETERMINISTIC;
        l.grid = gpu_grid(&configs[i], 4 * units, resident);
        bed_begin(&bed);
        if (rtune_finish_admits(&configs[i], &l.problem, l.grid, &why))
            bed_launch(&bed, instances[i].kernel, &l, &args);
        bed_check(&bed, &configs[i], "big");
        bed.dev->ops->kernel_close(bed.dev, instances[i].kernel);
    }
    rtune_problem_print(p, text, sizeof text);
    printf("%s: %zu configs right\n", text, count);
    fflush(stdout);
}

static struct reference_result exactly(const struct rtune_problem *p, uint64_t word,
                                       uint64_t index) {
    struct reference_result result = {.size = reference_size(p), .exact = true};
    memcpy(result.bytes, &word, rtune_min_u64(result.size, 8));
    memcpy(result.bytes + 8, &index, sizeof index);
    return result;
}

/* Sum or count of the first n bytes of the repeated period, from position `first` on. */
static uint64_t total_of(const struct rtune_problem *p, uint64_t first, uint64_t n) {
    uint64_t whole = 0, before = 0, rest = 0;
    for (uint64_t i = 0; i < PERIOD; i++) {
        const int8_t x = (int8_t)cycle[i];
        const uint64_t term = p->op == RTUNE_SUM ? (uint64_t)(int64_t)x : (uint64_t)(x != 0);
        whole += term;
        if (i < first) before += term;
        if (i < (first + n) % PERIOD) rest += term;
    }
    return (first + n) / PERIOD * whole + rest - before;
}

static void bytes(void) {
    static const uint64_t sizes[] = {(1u << 31) - 257, (1u << 31) - 1, 1u << 31, (1u << 31) + 1,
                                     (UINT64_C(1) << 32) + 5};
    for (uint64_t i = 0; i < PERIOD; i++) { /* -100 ... 100, a third of them 0 */
        const uint64_t random = rtune_rng_at(11, i);
        cycle[i] = (unsigned char)(random % 3 ? random / 3 % 201 - 100 : 0);
    }
    repeat(sizes[RTUNE_ARRAY_SIZE(sizes) - 1] + 64);
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++) {
        struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I8, sizes[k]);
        const uint64_t first = k % 2; /* on an odd base, too */
        struct reference_result r = exactly(&p, total_of(&p, first, p.n), 0);
        check(&p, first, &r);
        p.op = RTUNE_COUNT_NONZERO;
        r = exactly(&p, total_of(&p, first, p.n), 0);
        check(&p, first, &r);
    }
}

/* The greatest twice, the first of them near the end. */
static void indices(void) {
    static const uint64_t sizes[] = {(1u << 31) + 16, (UINT64_C(1) << 32) + 5};
    static const unsigned char high = 101;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++) {
        const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_ARGMAX, RTUNE_I8, sizes[k]);
        const uint64_t first = k, at = sizes[k] - 11;
        const struct reference_result r = exactly(&p, high, at);
        unsigned char old[2];
        CU(bed.cu.cuMemcpyDtoH(&old[0], input + first + at, 1));
        CU(bed.cu.cuMemcpyDtoH(&old[1], input + first + p.n - 1, 1));
        CU(bed.cu.cuMemcpyHtoD(input + first + at, &high, 1));
        CU(bed.cu.cuMemcpyHtoD(input + first + p.n - 1, &high, 1));
        check(&p, first, &r);
        CU(bed.cu.cuMemcpyHtoD(input + first + at, &old[0], 1));
        CU(bed.cu.cuMemcpyHtoD(input + first + p.n - 1, &old[1], 1));
    }
}

static float leaf_value(uint64_t at, uint64_t n) {
    const struct rtune_args args = RTUNE_ARGS(cycle + at, NULL);
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F16, n);
    struct reference_result result;
    float value;
    p.mode = RTUNE_REPRODUCIBLE;
    reference_compute(&p, &args, &result);
    memcpy(&value, result.bytes, sizeof value);
    return value;
}

/* The leaves of one period by the reference, and the tree over all. */
static void reproducible(void) {
    enum { LEAF = 8192 }; /* bytes */
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F16, (UINT64_C(1) << 32) + 5);
    uint64_t bits = 0, count = rtune_ceil_div(2 * p.n, LEAF);
    float *level = malloc(count * sizeof *level);
    CHECK(level != NULL, "out of memory");
    p.mode = RTUNE_REPRODUCIBLE;
    for (uint64_t i = 0; i < PERIOD / 2; i++) {
        const double x = ((double)(rtune_rng_at(12, i) >> 40) - 0x1.1p23) * 0x1p-13;
        element_put(RTUNE_F16, cycle, i, element_round(RTUNE_F16, x));
    }
    repeat(2 * p.n);
    for (uint64_t l = 0; l < count; l++) {
        const uint64_t at = l * LEAF, rest = rtune_min_u64(LEAF, 2 * p.n - at);
        level[l] = at < PERIOD || rest < LEAF ? leaf_value(at % PERIOD, rest / 2)
                                              : level[l % (PERIOD / LEAF)];
    }
    for (; count > 1; count = (count + 1) / 2)
        for (uint64_t j = 0; j < count; j += 2)
            level[j / 2] = j + 1 < count ? level[j] + level[j + 1] : level[j];
    memcpy(&bits, level, sizeof *level);
    const struct reference_result r = exactly(&p, bits, 0);
    check(&p, 0, &r);
    free(level);
}

static void ones(void) {
    static const uint64_t sizes[] = {1u << 25, 100000000};
    CU(bed.cu.cuMemsetD32(input, 0x3f800000u, sizes[1]));
    CU(bed.cu.cuCtxSynchronize());
    for (int k = 0; k < 2; k++) {
        const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, sizes[k]);
        const long double n = (long double)sizes[k];
        const struct reference_result r = {.size = 4, .low = n - n * 1e-6L, .high = n + n * 1e-6L};
        check(&p, 0, &r);
    }
}

int main(void) {
    bed_open(&bed);
    cycle = malloc(PERIOD);
    CHECK(cycle != NULL, "out of memory");
    if (bed.cu.cuMemAlloc(&input, TOTAL) != CUDA_SUCCESS) {
        printf("skipped: no room for %zu bytes\n", TOTAL);
        return 77;
    }
    bytes();
    indices();
    reproducible();
    ones();
    printf("%llu launches, all right\n", (unsigned long long)bed.total);
    CU(bed.cu.cuMemFree(input));
    free(cycle);
    bed_close(&bed);
    return 0;
}
