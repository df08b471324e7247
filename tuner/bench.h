/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/bench.h: one request's measurements on a rig: verify every candidate, time them
 * interleaved, verify what they gave then. Knows no process and no socket: it tells a listener what
 * it is about to run, so that whoever watches knows whom to blame.
 */
#ifndef RTUNE_TUNER_BENCH_H
#define RTUNE_TUNER_BENCH_H

#include "tuner/check.h"
#include "tuner/shelf.h"

enum { RTUNE_BENCH_CANDIDATES = RTUNE_RIG_TIMED_MAX };

struct rtune_bench_candidate {
    struct rtune_config config;
    uint64_t image_at;
    uint32_t image_size;
    struct rtune_shot shot; /* set by the run */
    bool alive;
    double *us; /* samples, one per round; set by the run */
};

struct rtune_bench_run {
    struct rtune_problem problem;
    struct rtune_bench_candidate *candidates;
    size_t count; /* at most RTUNE_BENCH_CANDIDATES */
    uint32_t samples;
    bool thorough;
    /* results */
    uint32_t discarded;
    bool clock_drop, foreign_load;
};

/* What the run tells. at: a slot, or a value of enum rtune_at (tuner/wire.h). fail: a candidate is
 * out. */
struct rtune_bench_listener {
    void (*at)(void *user, uint32_t slot);
    void (*fail)(void *user, uint32_t slot, const struct rtune_verdict *verdict);
    void *user;
};

enum { RTUNE_BENCH_HISTORY = 64 };
struct rtune_bench {
    rtune_rig *rig; /* borrowed */
    struct rtune_input input;
    struct rtune_shelf *shelf; /* borrowed */
    struct rtune_bench_listener listener;
    bool dead;       /* a candidate broke the device */
    double probe_us; /* this session's own best clock: time of the probe at it; 0: not known */
    double history[RTUNE_BENCH_HISTORY]; /* recent probes */
    size_t history_count;
};

void rtune_bench_init(struct rtune_bench *bench, rtune_rig *rig, struct rtune_shelf *shelf,
                      const struct rtune_bench_listener *listener);
void rtune_bench_free(struct rtune_bench *bench);

struct rtune_bench_floor {
    double floor_us;    /* of a cold launch that does nothing */
    double read_gbs;    /* of reading a large buffer */
    double overhead_us; /* what a cold sample takes beside the launch */
};
/* Work until the clock has settled (0.3 to 3 s), then measure the floor. */
enum rtune_status rtune_bench_warm_up(struct rtune_bench *bench, struct rtune_bench_floor *floor,
                                      struct rtune_error *err);

/* On success the candidates still alive have run->samples samples each in us (freed with
 * rtune_bench_run_free). Fails only when the device does; a candidate that broke it was told as
 * fatal. */
enum rtune_status rtune_bench_measure(struct rtune_bench *bench, struct rtune_bench_run *run,
                                      struct rtune_error *err);
void rtune_bench_run_free(struct rtune_bench_run *run);

/* Take a candidate out of a run and tell the listener (for rounds.c). */
void rtune_bench_drop(struct rtune_bench *bench, struct rtune_bench_run *run, size_t slot,
                      const struct rtune_verdict *verdict);

#endif /* RTUNE_TUNER_BENCH_H */
