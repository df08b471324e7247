/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/rig.h: a device set up for measuring, on the worker's side: inputs, cache states, clocks.
 * Two implementations: rig_cuda.c (support kernels, events) and rig_cpu.c (plain C, the host's
 * clock).
 *
 * Every sample waits for its end before the next one begins: deep queues were seen to add up to a
 * microsecond to small kernels. What brings the caches into their state runs long enough for the
 * host to enqueue the timed launch behind it, so all of a sample's work is queued before its timing
 * starts. A rig is used by one thread.
 */
#ifndef RTUNE_TUNER_RIG_H
#define RTUNE_TUNER_RIG_H

#include "runtime/device.h"
#include "tuner/data.h"

enum {
    /* Outputs, each of which has a stride of its own: two to verify with, one for the rig's own
       launches, then one for each candidate that is timed. */
    RTUNE_RIG_OUTPUT_OWN = 2,
    RTUNE_RIG_OUTPUT_TIMED = 3,
    RTUNE_RIG_TIMED_MAX = 256,
    RTUNE_RIG_OUTPUTS = RTUNE_RIG_OUTPUT_TIMED + RTUNE_RIG_TIMED_MAX,
    RTUNE_RIG_OUTPUT_STRIDE = 256,
    RTUNE_RIG_SLACK = 256 /* bytes of each input beyond what was asked for */
};

/* One reduction to launch. */
struct rtune_shot {
    const rtune_kernel *kernel;
    uint32_t grid;
    uint64_t n;
    uint64_t first;  /* element of the input it starts at */
    uint64_t first2; /* of the second input */
    bool pair;       /* there is a second input */
    uint32_t output; /* of RTUNE_RIG_OUTPUTS */
    enum rtune_dtype dtype;
    enum rtune_cache cache;
    double expect_us; /* as far as known; 0: unknown */
};

typedef struct rtune_rig rtune_rig;
struct rtune_rig_ops {
    void (*close)(rtune_rig *rig);
    /* Elements [first, first + n) of the generator into the same places of an input; done on
     * return. */
    enum rtune_status (*fill)(rtune_rig *rig, const struct rtune_recipe *recipe, bool second,
                              uint64_t first, uint64_t n, struct rtune_error *err);
    /* Add the elements [first, first + n) to words; done on return. */
    enum rtune_status (*reference)(rtune_rig *rig, const struct rtune_recipe *recipe,
                                   uint64_t first, uint64_t n, struct rtune_data_words *words,
                                   struct rtune_error *err);
    /* Bring the caches into the shot's state, launch it, and give the time of one launch in us. */
    enum rtune_status (*timed)(rtune_rig *rig, const struct rtune_shot *shot, double *us,
                               struct rtune_error *err);
    /* Time of a fixed piece of work that depends on the clock alone. */
    enum rtune_status (*probe)(rtune_rig *rig, double *us, struct rtune_error *err);
    /* Time of a cold launch that does nothing. */
    enum rtune_status (*floor)(rtune_rig *rig, double *us, struct rtune_error *err);
    /* Time of reading a buffer larger than the caches as fast as a plain kernel can, and its size.
     */
    enum rtune_status (*displace)(rtune_rig *rig, double *us, uint64_t *bytes,
                                  struct rtune_error *err);
};

/* Every implementation's struct starts with this. */
struct rtune_rig {
    const struct rtune_rig_ops *ops;
    rtune_device *dev;
    void *stream;         /* NULL on cpu */
    uint64_t seed;        /* of the generator */
    unsigned char *input; /* device memory, aligned to 256 */
    uint64_t input_bytes;
    unsigned char *second; /* the second input of a pair: the upper half of the same memory */
    unsigned char *output; /* RTUNE_RIG_OUTPUTS of RTUNE_RIG_OUTPUT_STRIDE bytes */
    void *workspace;
};

/* Bytes that one of two inputs has room for. */
uint64_t rtune_rig_pair_room(const rtune_rig *rig);

/* Allocate everything for inputs of at most input_bytes (of a pair: both together) on an open
 * device, which is borrowed. */
enum rtune_status rtune_rig_open(rtune_device *dev, uint64_t input_bytes, uint64_t seed,
                                 rtune_rig **rig, struct rtune_error *err);
void rtune_rig_close(rtune_rig *rig); /* NULL is accepted */

/* The implementations. The common part of the struct is made by rtune_rig_open. */
enum rtune_status rtune_rig_make_cuda(rtune_device *dev, rtune_rig **rig, struct rtune_error *err);
enum rtune_status rtune_rig_make_cpu(rtune_device *dev, rtune_rig **rig, struct rtune_error *err);

/* Launch untimed, without touching the caches; enqueued. */
enum rtune_status rtune_rig_launch(rtune_rig *rig, const struct rtune_shot *shot,
                                   struct rtune_error *err);
enum rtune_status rtune_rig_wait(rtune_rig *rig, struct rtune_error *err);
/* Address of an output in device memory. */
void *rtune_rig_output(const rtune_rig *rig, uint32_t output);

#endif /* RTUNE_TUNER_RIG_H */
