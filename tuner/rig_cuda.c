/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_cuda.c: measuring on a CUDA device. Every sample is: bring the caches into the wanted state,
 * event, one launch (of warm inputs some), event, wait. Bringing the caches there, or a spin kernel
 * where there is nothing to bring, takes at least 50 us, in which the host enqueues the rest.
 */
#include "tuner/rig.h"

#include "base/num.h"

#include <stdlib.h>

/* Parameters of the support kernels: kernels/device/support.cuh. */
struct fill_args {
    void *out;
    uint64_t first, n, seed;
    uint32_t data, dtype;
};
struct reference_args {
    uint64_t *words;
    uint64_t first, n, seed;
    uint32_t data, dtype, fold, reserved;
};
struct read_args {
    const void *in;
    uint64_t bytes;
    uint32_t *sink;
};
struct spin_args {
    uint64_t turns;
    uint32_t *sink;
};
struct empty_args {
    uint64_t words[7];
};
_Static_assert(sizeof(struct empty_args) == sizeof(struct rtune_kernel_args),
               "the empty kernel takes as many bytes as a reduction");

enum {
    BLOCK = 256,
    READ_BLOCKS_PER_SM = 8,
    FLUSH_L2S = 4, /* the displacement buffer, in L2 sizes */
    FLUSH_BYTES_MIN = 32 << 20,
    /* A turn of the spin kernel is a dependent multiply-add, 4 to 5 clocks: at 1 to 2 GHz, 2 to 5
       ns. */
    TURNS_PROBE = 10000,  /* 20 us or more */
    TURNS_SPACER = 25000, /* 50 us or more: longer than the host takes to enqueue a sample */
    WARM_LAUNCHES = 8     /* of one sample of an input that fits L2 */
};

struct cuda_rig {
    struct rtune_rig base;
    rtune_kernel *fill, *reference, *read, *spin, *empty;
    void *written, *flush; /* two buffers of flush_bytes: one is written, the other read */
    size_t flush_bytes;
    uint64_t *words;    /* device */
    uint32_t *sink;     /* device */
    void *first, *last; /* events */
};

static struct cuda_rig *self(rtune_rig *rig) { return (struct cuda_rig *)rig; }

static enum rtune_status support(struct cuda_rig *rig, const rtune_kernel *kernel, uint64_t work,
                                 void *args, struct rtune_error *err) {
    uint64_t most = (uint64_t)rig->base.dev->units * READ_BLOCKS_PER_SM;
    uint64_t grid = rtune_max_u64(rtune_min_u64(rtune_ceil_div(work, BLOCK), most), 1);
    void *params[1] = {args};
    return rig->base.dev->ops->support_launch(rig->base.dev, kernel, (uint32_t)grid, BLOCK, params,
                                              rig->base.stream, err);
}

static enum rtune_status spin(struct cuda_rig *rig, uint64_t turns, struct rtune_error *err) {
    struct spin_args args = {.turns = turns, .sink = rig->sink};
    void *params[1] = {&args};
    return rig->base.dev->ops->support_launch(rig->base.dev, rig->spin, 1, 32, params,
                                              rig->base.stream, err);
}

/* Read the displacement buffer: afterwards L2 holds it, clean, and nothing else. */
static enum rtune_status read_flush(struct cuda_rig *rig, struct rtune_error *err) {
    struct read_args args = {.in = rig->flush, .bytes = rig->flush_bytes, .sink = rig->sink};
    return support(rig, rig->read, UINT64_MAX, &args, err);
}

/* ---- inputs and references ------------------------------------------------------------------- */

static enum rtune_status cuda_fill(rtune_rig *base, const struct rtune_recipe *recipe, bool second,
                                   uint64_t first, uint64_t n, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cuda_rig *rig = self(base);
    unsigned char *input = second ? base->second : base->input;
    struct fill_args args = {.out = input + first * rtune_dtype_size(recipe->dtype),
                             .first = first,
                             .n = n,
                             .seed = second ? rtune_data_second_seed(base->seed) : base->seed,
                             .data = recipe->data,
                             .dtype = (uint32_t)recipe->dtype};
    TRY(support(rig, rig->fill, n, &args, err));
    TRY(rtune_rig_wait(base, err));
done:
    return status;
}

static enum rtune_status cuda_reference(rtune_rig *base, const struct rtune_recipe *recipe,
                                        uint64_t first, uint64_t n, struct rtune_data_words *words,
                                        struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cuda_rig *rig = self(base);
    TRY(base->dev->ops->mem_put(base->dev, rig->words, words->word, sizeof(words->word), err));
    struct reference_args args = {.words = rig->words,
                                  .first = first,
                                  .n = n,
                                  .seed = base->seed,
                                  .data = recipe->data,
                                  .dtype = (uint32_t)recipe->dtype,
                                  .fold = recipe->fold};
    TRY(support(rig, rig->reference, n, &args, err));
    TRY(rtune_rig_wait(base, err));
    TRY(base->dev->ops->mem_get(base->dev, words->word, rig->words, sizeof(words->word), err));
done:
    return status;
}

/* ---- timed work ------------------------------------------------------------------------------ */

static enum rtune_status write_buffer(struct cuda_rig *rig, struct rtune_error *err) {
    struct rtune_rig *base = &rig->base;
    return base->dev->ops->mem_set(base->dev, rig->written, 0, rig->flush_bytes, base->stream, err);
}

/* A warm input is one that is reduced again and again, so its launches follow each other: what a
 * launch hides of the one before counts. */
static uint32_t launches_of(const struct cuda_rig *rig, const struct rtune_shot *shot) {
    uint64_t bytes = shot->n * rtune_dtype_size(shot->dtype) * (shot->pair ? 2 : 1);
    return shot->cache == RTUNE_WARM && bytes <= rig->base.dev->identity.l2_bytes ? WARM_LAUNCHES
                                                                                  : 1;
}

/* Cold: writing one buffer drives the input out, reading another one cleans what was written.
 * Measured to scatter less than reading alone. */
static enum rtune_status bring_caches(struct cuda_rig *rig, enum rtune_cache cache,
                                      const struct rtune_shot *shot, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (cache ==
        RTUNE_WARM) { /* the spacer is long enough for one launch, of two kernels at most */
        TRY(spin(rig, shot == NULL ? TURNS_SPACER : (launches_of(rig, shot) + 1) * TURNS_SPACER / 2,
                 err));
        if (shot != NULL) TRY(rtune_rig_launch(&rig->base, shot, err));
        goto done;
    }
    TRY(write_buffer(rig, err));
    if (cache == RTUNE_COLD) TRY(read_flush(rig, err));
done:
    return status;
}

static enum rtune_status begin(struct cuda_rig *rig, struct rtune_error *err) {
    return rig->base.dev->ops->event_record(rig->base.dev, rig->first, rig->base.stream, err);
}

static enum rtune_status end(struct cuda_rig *rig, double *us, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_device *dev = rig->base.dev;
    TRY(dev->ops->event_record(dev, rig->last, rig->base.stream, err));
    TRY(rtune_rig_wait(&rig->base, err));
    TRY(dev->ops->event_us(dev, rig->first, rig->last, us, err));
done:
    return status;
}

static enum rtune_status cuda_timed(rtune_rig *base, const struct rtune_shot *shot, double *us,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cuda_rig *rig = self(base);
    uint32_t launches = launches_of(rig, shot);
    TRY(bring_caches(rig, shot->cache, shot, err));
    TRY(begin(rig, err));
    for (uint32_t k = 0; k < launches; k++)
        TRY(rtune_rig_launch(base, shot, err));
    TRY(end(rig, us, err));
    *us /= launches;
done:
    return status;
}

static enum rtune_status cuda_probe(rtune_rig *base, double *us, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cuda_rig *rig = self(base);
    TRY(spin(rig, TURNS_SPACER, err));
    TRY(begin(rig, err));
    TRY(spin(rig, TURNS_PROBE, err));
    TRY(end(rig, us, err));
done:
    return status;
}

static enum rtune_status cuda_floor(rtune_rig *base, double *us, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cuda_rig *rig = self(base);
    struct empty_args args = {{0}};
    TRY(bring_caches(rig, RTUNE_COLD, NULL, err));
    TRY(begin(rig, err));
    TRY(support(rig, rig->empty, 1, &args, err));
    TRY(end(rig, us, err));
done:
    return status;
}

static enum rtune_status cuda_displace(rtune_rig *base, double *us, uint64_t *bytes,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cuda_rig *rig = self(base);
    TRY(spin(rig, TURNS_SPACER, err));
    TRY(begin(rig, err));
    TRY(read_flush(rig, err));
    TRY(end(rig, us, err));
    *bytes = rig->flush_bytes;
done:
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void close_kernel(struct cuda_rig *rig, rtune_kernel *kernel) {
    if (kernel != NULL) rig->base.dev->ops->kernel_close(rig->base.dev, kernel);
}

static void cuda_close(rtune_rig *base) {
    struct cuda_rig *rig = self(base);
    const struct rtune_device_ops *ops = base->dev->ops;
    if (rig->first != NULL) ops->event_destroy(base->dev, rig->first);
    if (rig->last != NULL) ops->event_destroy(base->dev, rig->last);
    close_kernel(rig, rig->fill);
    close_kernel(rig, rig->reference);
    close_kernel(rig, rig->read);
    close_kernel(rig, rig->spin);
    close_kernel(rig, rig->empty);
    if (rig->written != NULL) ops->mem_free(base->dev, rig->written);
    if (rig->flush != NULL) ops->mem_free(base->dev, rig->flush);
    if (rig->words != NULL) ops->mem_free(base->dev, rig->words);
    if (rig->sink != NULL) ops->mem_free(base->dev, rig->sink);
    if (base->stream != NULL) ops->stream_destroy(base->dev, base->stream);
    free(rig);
}

static enum rtune_status open_kernels(struct cuda_rig *rig, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_device *dev = rig->base.dev;
    TRY(dev->ops->support_open(dev, "rtune_support_fill", &rig->fill, err));
    TRY(dev->ops->support_open(dev, "rtune_support_reference", &rig->reference, err));
    TRY(dev->ops->support_open(dev, "rtune_support_read", &rig->read, err));
    TRY(dev->ops->support_open(dev, "rtune_support_spin", &rig->spin, err));
    TRY(dev->ops->support_open(dev, "rtune_support_empty", &rig->empty, err));
done:
    return status;
}

static enum rtune_status open_memory(struct cuda_rig *rig, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_device *dev = rig->base.dev;
    void *words = NULL, *sink = NULL;
    rig->flush_bytes = (size_t)rtune_max_u64(dev->identity.l2_bytes * FLUSH_L2S, FLUSH_BYTES_MIN);
    rig->flush_bytes -= rig->flush_bytes % 256;
    TRY(dev->ops->mem_alloc(dev, rig->flush_bytes, &rig->written, err));
    TRY(dev->ops->mem_alloc(dev, rig->flush_bytes, &rig->flush, err));
    TRY(dev->ops->mem_set(dev, rig->flush, 0, rig->flush_bytes, rig->base.stream, err));
    TRY(dev->ops->mem_alloc(dev, sizeof(struct rtune_data_words), &words, err));
    rig->words = words;
    TRY(dev->ops->mem_alloc(dev, sizeof(*rig->sink), &sink, err));
    rig->sink = sink;
done:
    return status;
}

enum rtune_status rtune_rig_make_cuda(rtune_device *dev, rtune_rig **out, struct rtune_error *err) {
    static const struct rtune_rig_ops ops = {.close = cuda_close,
                                             .fill = cuda_fill,
                                             .reference = cuda_reference,
                                             .timed = cuda_timed,
                                             .probe = cuda_probe,
                                             .floor = cuda_floor,
                                             .displace = cuda_displace};
    enum rtune_status status = RTUNE_OK;
    struct cuda_rig *rig = calloc(1, sizeof(*rig));
    if (rig == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "measuring: out of memory");
    rig->base.ops = &ops;
    rig->base.dev = dev;
    TRY(dev->ops->stream_create(dev, &rig->base.stream, err));
    TRY(open_kernels(rig, err));
    TRY(open_memory(rig, err));
    TRY(dev->ops->event_create(dev, true, &rig->first, err));
    TRY(dev->ops->event_create(dev, true, &rig->last, err));
    *out = &rig->base;
    rig = NULL;
done:
    if (rig != NULL) cuda_close(&rig->base);
    return status;
}
