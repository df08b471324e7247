/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_cpu.c: measuring on the cpu device, by the host's clock; launches are synchronous. Calls that
 * are short beside the clock's resolution are repeated, each on an input of its own that is in the
 * same cache state, and the time is divided.
 */
#include "tuner/rig.h"

#include "base/clock.h"
#include "base/num.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

enum {
    LINE = 64,
    PAGE = 4096,
    REPEATS_MAX = 32,
    SAMPLE_US = 50,          /* a timed interval is at least about this long */
    TURNS_PROBE = 20000,     /* dependent multiply-adds: about 20 us */
    DISPLACE_MIN = 32 << 20, /* bytes */
    DISPLACE_MAX = 256 << 20
};
/* Inputs up to this size are flushed line by line; larger ones leave little of themselves in a
 * cache. */
#define FLUSH_MAX (UINT64_C(64) << 20)

struct cpu_rig {
    struct rtune_rig base;
    uint64_t touched[2]; /* bytes of each input that were written: they are not the zero page */
    uint64_t *other;     /* for displacing caches; made on first use */
    size_t other_bytes;
    uint64_t flush_max;
    rtune_kernel *kernel; /* the default sum: reads other, and gives the floor */
    uint32_t grid;        /* of reading all of other */
    volatile uint64_t sink;
};

static struct cpu_rig *self(rtune_rig *rig) { return (struct cpu_rig *)rig; }

/* ---- caches ---------------------------------------------------------------------------------- */

static enum rtune_status need_other(struct cpu_rig *rig, struct rtune_error *err) {
    if (rig->other != NULL) return RTUNE_OK;
    rig->other = malloc(rig->other_bytes);
    if (rig->other == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "caches: out of memory");
    memset(rig->other, 1, rig->other_bytes);
    return RTUNE_OK;
}

/* The kernel's problem; its inputs are never looked at as numbers. */
static const struct rtune_problem floor_problem = RTUNE_PROBLEM_INIT(RTUNE_SUM, RTUNE_I64, 0);

static enum rtune_status need_kernel(struct cpu_rig *rig, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_device *dev = rig->base.dev;
    const struct rtune_config config = rtune_config_default(&floor_problem, false);
    if (rig->kernel != NULL) return RTUNE_OK;
    TRY(dev->ops->kernel_open(dev, &floor_problem, &config, NULL, 0, &rig->kernel, err));
    rig->grid =
        rtune_grid_resolve(&config, floor_problem.dtype, rig->other_bytes / sizeof(*rig->other),
                           dev->units, dev->ops->kernel_resident(rig->kernel));
done:
    return status;
}

/* With the kernel that is measured, on all the threads there are: what memory gives a reduction. */
static enum rtune_status read_other(struct cpu_rig *rig, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_device *dev = rig->base.dev;
    TRY(need_other(rig, err));
    TRY(need_kernel(rig, err));
    struct rtune_launch_request request = {
        .args = {.in = rig->other,
                 .out = rtune_rig_output(&rig->base, RTUNE_RIG_OUTPUT_OWN),
                 .workspace = rig->base.workspace,
                 .n = rig->other_bytes / sizeof(*rig->other),
                 .scale = 1.0},
        .grid = rig->grid,
    };
    TRY(dev->ops->launch(dev, rig->kernel, &request, err));
done:
    return status;
}

#if defined(__x86_64__)
static bool has_clflushopt(void) {
    unsigned a, b = 0, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 23));
}

__attribute__((target("clflushopt"))) static void flush_opt(unsigned char *p, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += LINE)
        _mm_clflushopt(p + i);
    _mm_mfence();
}

static bool flush_lines(unsigned char *p, uint64_t bytes) {
    if (has_clflushopt()) {
        flush_opt(p, bytes);
        return true;
    }
    for (uint64_t i = 0; i < bytes; i += LINE)
        _mm_clflush(p + i);
    _mm_mfence();
    return true;
}
#else
static bool flush_lines(unsigned char *p, uint64_t bytes) {
    (void)p;
    (void)bytes;
    return false;
}
#endif

/* Write what may never have been written, without a change, so that reading it reads memory. */
static void touch(volatile unsigned char *input, uint64_t *touched, uint64_t bytes) {
    for (; *touched < bytes; *touched += PAGE)
        input[*touched] = input[*touched];
}

/* Bytes of one input. */
static uint64_t room(const struct cpu_rig *rig, const struct rtune_shot *shot) {
    return shot->pair ? rtune_rig_pair_room(&rig->base) : rig->base.input_bytes;
}

/* Bytes from one repeated call's input to the next's. */
static uint64_t region(const struct rtune_shot *shot) {
    uint64_t bytes = (shot->first + shot->n) * rtune_dtype_size(shot->dtype);
    return (bytes + PAGE) / PAGE * PAGE;
}

static uint64_t repeats(const struct cpu_rig *rig, const struct rtune_shot *shot) {
    if (shot->expect_us <= 0 || shot->expect_us >= SAMPLE_US) return 1;
    double wanted = (double)SAMPLE_US / shot->expect_us;
    uint64_t count = wanted >= REPEATS_MAX ? REPEATS_MAX : (uint64_t)wanted + 1;
    return rtune_max_u64(rtune_min_u64(count, room(rig, shot) / region(shot)), 1);
}

static enum rtune_status bring_caches(struct cpu_rig *rig, const struct rtune_shot *shot,
                                      uint64_t count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t bytes = region(shot) * count;
    if (shot->cache == RTUNE_WARM) return rtune_rig_launch(&rig->base, shot, err);
    bytes = rtune_min_u64(bytes, room(rig, shot));
    touch(rig->base.input, &rig->touched[0], bytes);
    if (shot->pair) touch(rig->base.second, &rig->touched[1], bytes);
    if (shot->cache == RTUNE_DIRTY) {
        TRY(need_other(rig, err));
        memset(rig->other, 2, rig->other_bytes);
        goto done;
    }
    if (bytes > rig->flush_max) goto done;
    if (flush_lines(rig->base.input, bytes) &&
        (!shot->pair || flush_lines(rig->base.second, bytes)))
        goto done;
    TRY(read_other(rig, err));
done:
    return status;
}

/* ---- the interface --------------------------------------------------------------------------- */

static enum rtune_status cpu_fill(rtune_rig *base, const struct rtune_recipe *recipe, bool second,
                                  uint64_t first, uint64_t n, struct rtune_error *err) {
    size_t size = rtune_dtype_size(recipe->dtype);
    unsigned char *input = second ? base->second : base->input;
    uint64_t seed = second ? rtune_data_second_seed(base->seed) : base->seed;
    (void)err;
    for (uint64_t i = first; i < first + n; i++) {
        uint64_t bits = rtune_data_element(recipe, seed, i);
        memcpy(input + i * size, &bits, size); /* little-endian: the low bytes are the element */
    }
    return RTUNE_OK;
}

static enum rtune_status cpu_reference(rtune_rig *base, const struct rtune_recipe *recipe,
                                       uint64_t first, uint64_t n, struct rtune_data_words *words,
                                       struct rtune_error *err) {
    (void)err;
    for (uint64_t i = first; i < first + n; i++)
        rtune_data_words_add(words, recipe, base->seed, i, i);
    return RTUNE_OK;
}

static enum rtune_status cpu_timed(rtune_rig *base, const struct rtune_shot *shot, double *us,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cpu_rig *rig = self(base);
    uint64_t count = repeats(rig, shot), step = region(shot) / rtune_dtype_size(shot->dtype);
    struct rtune_shot call = *shot;
    if (shot->cache == RTUNE_WARM) step = 0;
    TRY(bring_caches(rig, shot, count, err));
    uint64_t start = rtune_clock_ns();
    for (uint64_t j = count; j-- > 0;) { /* the shot's own input last: its result stays */
        call.first = shot->first + j * step;
        call.first2 = shot->first2 + j * step;
        TRY(rtune_rig_launch(base, &call, err));
    }
    *us = (double)(rtune_clock_ns() - start) / 1000.0 / (double)count;
done:
    return status;
}

static enum rtune_status cpu_probe(rtune_rig *base, double *us, struct rtune_error *err) {
    struct cpu_rig *rig = self(base);
    uint32_t x = 1;
    (void)err;
    uint64_t start = rtune_clock_ns();
    for (uint32_t t = 0; t < TURNS_PROBE; t++) {
        x = x * 1664525u + 1013904223u;
        __asm__ volatile("" : "+r"(x)); /* or the compiler folds the chain */
    }
    *us = (double)(rtune_clock_ns() - start) / 1000.0;
    rig->sink = x;
    return RTUNE_OK;
}

/* One element, repeated as short candidates are. */
static enum rtune_status cpu_floor(rtune_rig *base, double *us, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cpu_rig *rig = self(base);
    TRY(need_kernel(rig, err));
    const struct rtune_shot shot = {.kernel = rig->kernel,
                                    .grid = 1,
                                    .n = 1,
                                    .output = RTUNE_RIG_OUTPUT_OWN,
                                    .dtype = floor_problem.dtype,
                                    .cache = RTUNE_COLD,
                                    .expect_us = 1};
    TRY(cpu_timed(base, &shot, us, err));
done:
    return status;
}

static enum rtune_status cpu_displace(rtune_rig *base, double *us, uint64_t *bytes,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cpu_rig *rig = self(base);
    TRY(need_other(rig, err));
    TRY(need_kernel(rig, err));
    uint64_t start = rtune_clock_ns();
    TRY(read_other(rig, err));
    *us = (double)(rtune_clock_ns() - start) / 1000.0;
    *bytes = rig->other_bytes;
done:
    return status;
}

static void cpu_close(rtune_rig *base) {
    struct cpu_rig *rig = self(base);
    if (rig->kernel != NULL) base->dev->ops->kernel_close(base->dev, rig->kernel);
    free(rig->other);
    free(rig);
}

enum rtune_status rtune_rig_make_cpu(rtune_device *dev, rtune_rig **out, struct rtune_error *err) {
    static const struct rtune_rig_ops ops = {.close = cpu_close,
                                             .fill = cpu_fill,
                                             .reference = cpu_reference,
                                             .timed = cpu_timed,
                                             .probe = cpu_probe,
                                             .floor = cpu_floor,
                                             .displace = cpu_displace};
    struct cpu_rig *rig = calloc(1, sizeof(*rig));
    if (rig == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "measuring: out of memory");
    rig->base.ops = &ops;
    rig->base.dev = dev;
    uint64_t l3 = dev->identity.l3_bytes;
    rig->flush_max = rtune_max_u64(FLUSH_MAX, 2 * l3);
    rig->other_bytes =
        (size_t)rtune_min_u64(rtune_max_u64(2 * l3, DISPLACE_MIN), DISPLACE_MAX) / PAGE * PAGE;
    *out = &rig->base;
    return RTUNE_OK;
}
