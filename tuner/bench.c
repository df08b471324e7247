/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c: a request from its first verification to its last. Timing itself is in rounds.c. */
#include "tuner/bench.h"
#include "tuner/rounds.h"
#include "tuner/stats.h"
#include "tuner/wire.h"

#include "base/clock.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOOR_SAMPLES = 25,
    STRETCH_MAX = 1024, /* probes of a stretch */
    STRETCH_NS = 100000000,
    STRETCHES_MIN = 3, /* 300 ms of work at least */
    STRETCHES_MAX = 30
};

void rtune_bench_init(struct rtune_bench *bench, rtune_rig *rig, struct rtune_shelf *shelf,
                      const struct rtune_bench_listener *listener) {
    memset(bench, 0, sizeof(*bench));
    bench->rig = rig;
    bench->shelf = shelf;
    bench->listener = *listener;
    rtune_input_init(&bench->input, rig);
}

void rtune_bench_free(struct rtune_bench *bench) { rtune_input_free(&bench->input); }

/* ---- warming up ------------------------------------------------------------------------------ */

/* A tenth of a second of work: reads to heat the memory, probes for the clock. Medians of both. */
static enum rtune_status stretch(struct rtune_bench *bench, double *probe_us, double *read_us,
                                 uint64_t *read_bytes, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_rig *rig = bench->rig;
    double probes[STRETCH_MAX], reads[STRETCH_MAX];
    uint64_t start = rtune_clock_ns();
    size_t count = 0;
    while (count < STRETCH_MAX && (count < 3 || rtune_clock_ns() - start < STRETCH_NS)) {
        TRY(rig->ops->displace(rig, &reads[count], read_bytes, err));
        TRY(rig->ops->probe(rig, &probes[count], err));
        count++;
    }
    *read_us = rtune_stats_quantile(reads, count, 0.5);
    *probe_us = rtune_stats_quantile(probes, count, 0.5);
done:
    return status;
}

/* Stretches until the clock stops rising. */
static enum rtune_status settle(struct rtune_bench *bench, double *read_us, uint64_t *read_bytes,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    double before = 0;
    for (int k = 0; k < STRETCHES_MAX; k++) {
        TRY(stretch(bench, &bench->probe_us, read_us, read_bytes, err));
        if (k + 1 >= STRETCHES_MIN && bench->probe_us > before * 0.99) break;
        before = bench->probe_us;
    }
done:
    return status;
}

enum rtune_status rtune_bench_warm_up(struct rtune_bench *bench, struct rtune_bench_floor *floor,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_rig *rig = bench->rig;
    double floors[FLOOR_SAMPLES], read_us = 0;
    uint64_t bytes = 0;
    TRY(settle(bench, &read_us, &bytes, err));
    uint64_t start = rtune_clock_ns();
    for (size_t k = 0; k < FLOOR_SAMPLES; k++)
        TRY(rig->ops->floor(rig, &floors[k], err));
    floor->overhead_us = (double)(rtune_clock_ns() - start) / 1000.0 / FLOOR_SAMPLES;
    floor->floor_us = rtune_stats_quantile(floors, FLOOR_SAMPLES, 0.5);
    floor->read_gbs = read_us > 0 ? (double)bytes / read_us / 1000.0 : 0;
done:
    return status;
}

/* ---- verification ---------------------------------------------------------------------------- */

void rtune_bench_drop(struct rtune_bench *bench, struct rtune_bench_run *run, size_t slot,
                      const struct rtune_verdict *verdict) {
    run->candidates[slot].alive = false;
    if (verdict->fatal) bench->dead = true;
    bench->listener.fail(bench->listener.user, (uint32_t)slot, verdict);
}

/* Load the kernel and fill in the shot. */
static void open_candidate(struct rtune_bench *bench, struct rtune_bench_run *run, size_t slot) {
    struct rtune_bench_candidate *c = &run->candidates[slot];
    rtune_device *dev = bench->rig->dev;
    const rtune_kernel *kernel = NULL;
    struct rtune_error why = {.status = RTUNE_OK};
    struct rtune_verdict verdict;
    memset(&verdict, 0, sizeof(verdict));
    c->alive = true;
    verdict.reason = RTUNE_REASON_CONSTRAINTS;
    enum rtune_status status = rtune_instance_check(&run->problem, &c->config, &why);
    if (status == RTUNE_OK) {
        verdict.reason = RTUNE_REASON_COMPILE;
        status = rtune_shelf_get(bench->shelf, &run->problem, &c->config, c->image_at,
                                 c->image_size, &kernel, &why);
    }
    if (status != RTUNE_OK) {
        struct rtune_error again;
        verdict.fatal = rtune_rig_wait(bench->rig, &again) != RTUNE_OK;
        snprintf(verdict.detail, sizeof(verdict.detail), "%s", why.message);
        rtune_bench_drop(bench, run, slot, &verdict);
        return;
    }
    uint32_t resident = dev->ops->kernel_resident(kernel);
    c->shot = (struct rtune_shot){
        .kernel = kernel,
        .grid = rtune_grid_resolve(&c->config, run->problem.dtype, run->problem.n, dev->units,
                                   resident),
        .n = run->problem.n,
        .output = RTUNE_RIG_OUTPUT_TIMED + (uint32_t)slot,
        .pair = rtune_data_is_pair(&run->problem),
        .dtype = run->problem.dtype,
        .cache = run->problem.cache,
    };
    const char *reason = NULL;
    if (rtune_finish_admits(&c->config, &run->problem, c->shot.grid, &reason)) return;
    verdict.reason = RTUNE_REASON_CONSTRAINTS;
    snprintf(verdict.detail, sizeof(verdict.detail), "%s", reason);
    rtune_bench_drop(bench, run, slot, &verdict);
}

/* One candidate against the data that is set up. */
static void verify(struct rtune_bench *bench, struct rtune_bench_run *run,
                   struct rtune_check *check, size_t slot, bool parts) {
    struct rtune_bench_candidate *c = &run->candidates[slot];
    struct rtune_verdict verdict;
    double us = 0;
    bench->listener.at(bench->listener.user, (uint32_t)slot);
    rtune_check_whole(check, &c->shot, &c->config, &us, &verdict);
    if (verdict.reason == RTUNE_REASON_CORRECT) {
        c->shot.expect_us = us;
        if (parts) rtune_check_parts(check, &c->shot, &c->config, &verdict);
    }
    if (verdict.reason != RTUNE_REASON_CORRECT) rtune_bench_drop(bench, run, slot, &verdict);
}

static enum rtune_status check_alive(const struct rtune_bench *bench, struct rtune_error *err) {
    if (!bench->dead) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_DEVICE, "the device does not answer any more");
}

/* All live candidates against one data set, which stays in place; no error where the set does not
 * apply. */
static enum rtune_status verify_all(struct rtune_bench *bench, struct rtune_bench_run *run,
                                    struct rtune_check *check, enum rtune_data_set set,
                                    uint64_t place, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    bool parts = run->thorough && set == RTUNE_SET_EXACT;
    bench->listener.at(bench->listener.user, RTUNE_AT_INPUT);
    status = rtune_check_begin(check, &bench->input, &run->problem, set, place, err);
    if (status == RTUNE_UNSUPPORTED && set == RTUNE_SET_RANDOM) return RTUNE_OK;
    TRY(status);
    for (size_t k = 0; k < run->count; k++) {
        if (run->candidates[k].alive) verify(bench, run, check, k, parts);
        TRY(check_alive(bench, err));
    }
done:
    return status;
}

/* Filling and checking random data costs two passes over the input, for bounds that grow with it
 * until they say nothing. Beyond this size the exact data has to do. */
static bool random_is_cheap(const struct rtune_bench *bench, uint64_t n) {
    return n <= (bench->rig->dev->cuda ? UINT64_C(1) << 24 : UINT64_C(1) << 22);
}

/* What the candidates left when they were timed the last time. */
static enum rtune_status verify_timed(struct rtune_bench *bench, struct rtune_bench_run *run,
                                      struct rtune_check *check, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    unsigned char *results = malloc((size_t)RTUNE_RIG_TIMED_MAX * RTUNE_RIG_OUTPUT_STRIDE);
    if (results == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "results: out of memory");
    TRY(rtune_check_collect(check, results, err));
    for (size_t k = 0; k < run->count; k++) {
        const struct rtune_bench_candidate *c = &run->candidates[k];
        struct rtune_verdict verdict;
        if (!c->alive) continue;
        rtune_check_timed(check, &c->shot, &c->config, results + k * RTUNE_RIG_OUTPUT_STRIDE,
                          &verdict);
        if (verdict.reason != RTUNE_REASON_CORRECT) rtune_bench_drop(bench, run, k, &verdict);
    }
done:
    free(results);
    return status;
}

static bool any_alive(const struct rtune_bench_run *run) {
    for (size_t k = 0; k < run->count; k++)
        if (run->candidates[k].alive) return true;
    return false;
}

static enum rtune_status make_room(struct rtune_bench_run *run, struct rtune_error *err) {
    double *all = calloc(run->count * run->samples, sizeof(*all));
    if (all == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "samples: out of memory");
    for (size_t k = 0; k < run->count; k++)
        run->candidates[k].us = all + k * run->samples;
    return RTUNE_OK;
}

void rtune_bench_run_free(struct rtune_bench_run *run) {
    if (run->count > 0) free(run->candidates[0].us);
    for (size_t k = 0; k < run->count; k++)
        run->candidates[k].us = NULL;
}

enum rtune_status rtune_bench_measure(struct rtune_bench *bench, struct rtune_bench_run *run,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_problem *p = &run->problem;
    struct rtune_check check;
    uint64_t place =
        run->thorough ? rtune_rng_at(bench->rig->seed ^ 0x706f6b65, p->n) % p->n : p->n - 1;
    if (place == 0 && p->n > 1) place = p->n / 2;
    for (size_t k = 0; k < run->count; k++) {
        open_candidate(bench, run, k);
        TRY(check_alive(bench, err));
    }
    if (run->thorough && random_is_cheap(bench, p->n))
        TRY(verify_all(bench, run, &check, RTUNE_SET_RANDOM, place, err));
    TRY(verify_all(bench, run, &check, RTUNE_SET_EXACT, place, err));
    TRY(make_room(run, err));
    if (!any_alive(run)) goto done;
    bench->listener.at(bench->listener.user, RTUNE_AT_BATCH);
    TRY(rtune_check_poison(&check, err));
    TRY(rtune_rounds_take(bench, run, err));
    TRY(verify_timed(bench, run, &check, err));
    TRY(rtune_check_end(&check, err));
done:
    return status;
}
