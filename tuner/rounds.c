/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c: interleaved samples, and what the probes between them say about the clock. */
#include "tuner/rounds.h"
#include "tuner/stats.h"

#include "base/rng.h"

#include <stdlib.h>

enum { PASSES = 3 };
static const double drop_ratio = 1.03;    /* of the probe's time: the clock has dropped */
static const double foreign_ratio = 1.15; /* spread of the probe: something else runs */

struct taking {
    struct rtune_bench *bench;
    struct rtune_bench_run *run;
    uint16_t alive[RTUNE_BENCH_CANDIDATES];
    size_t alive_count;
    double *probes; /* run->samples + 1: before each round, and after the last */
    bool *wanted;   /* rounds of this pass */
};

/* The order of a round: a seeded permutation, so that no candidate always follows the same one. */
static void permute(struct taking *t, uint64_t seed) {
    struct rtune_rng rng = {.seed = seed};
    for (size_t k = t->alive_count; k > 1; k--) {
        size_t j = (size_t)rtune_rng_below(&rng, k);
        uint16_t swap = t->alive[k - 1];
        t->alive[k - 1] = t->alive[j];
        t->alive[j] = swap;
    }
}

static enum rtune_status take_round(struct taking *t, uint32_t round, struct rtune_error *err) {
    rtune_rig *rig = t->bench->rig;
    struct rtune_verdict verdict;
    struct rtune_error why;
    permute(t, rig->seed + round * UINT64_C(0x9e3779b97f4a7c15));
    for (size_t k = 0; k < t->alive_count; k++) {
        const struct rtune_bench_candidate *c = &t->run->candidates[t->alive[k]];
        if (!c->alive || rig->ops->timed(rig, &c->shot, &c->us[round], &why) == RTUNE_OK) continue;
        rtune_check_device_failed(rig, &why, &verdict);
        rtune_bench_drop(t->bench, t->run, t->alive[k], &verdict);
        if (verdict.fatal) return rtune_err_set(err, RTUNE_DEVICE, "%s", verdict.detail);
    }
    return RTUNE_OK;
}

static bool dropped(const struct taking *t, uint32_t round) {
    double limit = t->bench->probe_us * drop_ratio;
    return t->bench->probe_us > 0 && (t->probes[round] > limit || t->probes[round + 1] > limit);
}

static enum rtune_status probe(struct taking *t, uint32_t k, struct rtune_error *err) {
    struct rtune_bench *bench = t->bench;
    enum rtune_status status = bench->rig->ops->probe(bench->rig, &t->probes[k], err);
    if (status == RTUNE_OK)
        bench->history[bench->history_count++ % RTUNE_BENCH_HISTORY] = t->probes[k];
    return status;
}

/* Learn from the probes of a request: the best clock so far, and whether they vary too much. */
static void learn(struct taking *t, size_t rounds) {
    struct rtune_bench *bench = t->bench;
    double best = rtune_stats_quantile(t->probes, rounds + 1, 0.25);
    if (bench->probe_us <= 0 || best < bench->probe_us) bench->probe_us = best;
    if (bench->history_count < RTUNE_BENCH_HISTORY) return;
    double middle = rtune_stats_quantile(bench->history, RTUNE_BENCH_HISTORY, 0.5);
    double high = rtune_stats_quantile(bench->history, RTUNE_BENCH_HISTORY, 0.9);
    t->run->foreign_load = high > middle * foreign_ratio;
}

/* One pass over the rounds that are wanted; *bad gets how many of them, or of their neighbours, the
 * clock disturbed, and wanted which. */
static enum rtune_status take_pass(struct taking *t, uint32_t *bad, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint32_t rounds = t->run->samples;
    for (uint32_t r = 0; r < rounds; r++) {
        if (!t->wanted[r]) continue;
        TRY(probe(t, r, err));
        TRY(take_round(t, r, err));
        if (r + 1 == rounds || !t->wanted[r + 1]) TRY(probe(t, r + 1, err));
    }
    *bad = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        t->wanted[r] = dropped(t, r);
        *bad += t->wanted[r];
    }
done:
    return status;
}

/* The rounds that stay bad are kept, and the lower clock becomes the session's own. */
static enum rtune_status take_all(struct taking *t, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint32_t rounds = t->run->samples, bad = rounds;
    for (int pass = 0; pass < PASSES && bad > 0; pass++) {
        if (pass > 0) t->run->discarded += bad;
        TRY(take_pass(t, &bad, err));
    }
    t->run->clock_drop = bad > 0;
    if (bad > rounds / 2) t->bench->probe_us = rtune_stats_quantile(t->probes, rounds + 1, 0.25);
    learn(t, rounds);
done:
    return status;
}

enum rtune_status rtune_rounds_take(struct rtune_bench *bench, struct rtune_bench_run *run,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct taking t = {.bench = bench, .run = run};
    t.probes = calloc((size_t)run->samples + 1, sizeof(*t.probes));
    t.wanted = malloc((size_t)run->samples * sizeof(*t.wanted));
    if (t.probes == NULL || t.wanted == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "samples: out of memory"));
    for (uint32_t r = 0; r < run->samples; r++)
        t.wanted[r] = true;
    for (size_t k = 0; k < run->count; k++)
        if (run->candidates[k].alive) t.alive[t.alive_count++] = (uint16_t)k;
    TRY(take_all(&t, err));
done:
    free(t.probes);
    free(t.wanted);
    return status;
}
