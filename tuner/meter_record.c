/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meter_record.c: in front of another meter. Everything measured is kept at once, and what an
 * unfinished session kept is not measured again: its search asks the same questions in the same
 * order, so the kept trials are the answers.
 */
#include "tuner/meter.h"
#include "tuner/records.h"
#include "tuner/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record_meter {
    struct rtune_meter base;
    struct rtune_meter *inner;
    rtune_work *work;
    struct rtune_records kept;
    rtune_on_trial on_trial;
    void *user;
};

static struct record_meter *self(struct rtune_meter *meter) { return (struct record_meter *)meter; }

static enum rtune_status record_prepare(struct rtune_meter *base, uint64_t input_bytes,
                                        struct rtune_error *err) {
    struct record_meter *m = self(base);
    enum rtune_status status = m->inner->ops->prepare(m->inner, input_bytes, err);
    base->info = m->inner->info;
    return status;
}

/* ---- kept answers ---------------------------------------------------------------------------- */

/* The record that answers for a candidate; NULL if it must be measured. */
static struct rtune_record *kept_for(const struct record_meter *m,
                                     const struct rtune_measure *measure, size_t k) {
    struct rtune_record *r =
        rtune_records_find(&m->kept, &measure->problem, &measure->candidates[k].config);
    if (r == NULL || r->next_trial >= r->trial_count) return NULL;
    size_t first = r->next_trial == 0 ? 0 : r->ends[r->next_trial - 1];
    size_t count = r->ends[r->next_trial] - first;
    bool failed = count == 0 && r->reason != RTUNE_REASON_CORRECT;
    return failed || count >= measure->samples ? r : NULL;
}

static void answer(struct rtune_record *r, uint32_t samples, struct rtune_measured *measured) {
    size_t first = r->next_trial == 0 ? 0 : r->ends[r->next_trial - 1];
    size_t count = r->ends[r->next_trial] - first;
    if (count > samples) count = samples;
    measured->reason = count == 0 ? r->reason : RTUNE_REASON_CORRECT;
    measured->sample_count = count;
    snprintf(measured->detail, sizeof(measured->detail), "%s", count == 0 ? r->detail : "");
    if (count > 0) memcpy(measured->samples, r->samples + first, count * sizeof(double));
    r->next_trial++;
}

/* ---- measuring the rest ---------------------------------------------------------------------- */

static enum rtune_status keep(struct record_meter *m, const struct rtune_measure *measure,
                              const struct rtune_candidate *candidate,
                              const struct rtune_measured *measured, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_summary s = rtune_stats_summary(measured->samples, measured->sample_count);
    struct rtune_trial trial = {.problem = measure->problem,
                                .config = candidate->config,
                                .reason = measured->reason,
                                .us = s.median,
                                .us_lo = s.lo,
                                .us_hi = s.hi,
                                .samples = measured->samples,
                                .sample_count = measured->sample_count};
    snprintf(trial.detail, sizeof(trial.detail), "%s", measured->detail);
    if (m->work != NULL) TRY(rtune_work_add_trial(m->work, &trial, err));
    if (m->on_trial != NULL) m->on_trial(m->user, &trial);
done:
    return status;
}

/* Measure the candidates whose index is in which, and keep what comes. */
static enum rtune_status measure_some(struct record_meter *m, const struct rtune_measure *measure,
                                      const size_t *which, size_t count,
                                      struct rtune_measured *measured,
                                      struct rtune_measure_report *report,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_measure some = *measure;
    struct rtune_candidate *candidates = calloc(count, sizeof(*candidates));
    struct rtune_measured *results = calloc(count, sizeof(*results));
    if (candidates == NULL || results == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "trials: out of memory"));
    for (size_t k = 0; k < count; k++) {
        candidates[k] = measure->candidates[which[k]];
        results[k].samples = measured[which[k]].samples;
    }
    some.candidates = candidates;
    some.count = count;
    TRY(m->inner->ops->measure(m->inner, &some, results, report, err));
    for (size_t k = 0; k < count; k++) {
        measured[which[k]] = results[k];
        TRY(keep(m, measure, &candidates[k], &results[k], err));
    }
done:
    free(candidates);
    free(results);
    return status;
}

static enum rtune_status record_measure(struct rtune_meter *base,
                                        const struct rtune_measure *measure,
                                        struct rtune_measured *measured,
                                        struct rtune_measure_report *report,
                                        struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct record_meter *m = self(base);
    size_t fresh = 0;
    size_t *which = calloc(measure->count, sizeof(*which));
    memset(report, 0, sizeof(*report));
    if (which == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "trials: out of memory"));
    for (size_t k = 0; k < measure->count; k++)
        if (kept_for(m, measure, k) == NULL) which[fresh++] = k;
    /* Finalists are compared round by round, so kept samples do not go with new ones. */
    if (measure->thorough && fresh > 0)
        for (fresh = 0; fresh < measure->count; fresh++)
            which[fresh] = fresh;
    for (size_t k = 0, f = 0; k < measure->count; k++) {
        if (f < fresh && which[f] == k)
            f++;
        else
            answer(kept_for(m, measure, k), measure->samples, &measured[k]);
    }
    if (fresh > 0) TRY(measure_some(m, measure, which, fresh, measured, report, err));
    base->info = m->inner->info;
done:
    free(which);
    return status;
}

static enum rtune_status record_configs(struct rtune_meter *base,
                                        const struct rtune_problem *problem,
                                        struct rtune_config **configs, size_t *count,
                                        struct rtune_error *err) {
    struct rtune_meter *inner = self(base)->inner;
    return inner->ops->configs(inner, problem, configs, count, err);
}

static void record_close(struct rtune_meter *base) {
    struct record_meter *m = self(base);
    rtune_records_free(&m->kept);
    rtune_meter_close(m->inner);
    free(m);
}

enum rtune_status rtune_meter_record(struct rtune_meter *inner, rtune_work *work, bool resume,
                                     rtune_on_trial on_trial, void *user,
                                     struct rtune_meter **meter, struct rtune_error *err) {
    static const struct rtune_meter_ops any = {record_prepare, record_measure, record_close, NULL};
    static const struct rtune_meter_ops some = {record_prepare, record_measure, record_close,
                                                record_configs};
    enum rtune_status status = RTUNE_OK;
    struct record_meter *m = calloc(1, sizeof(*m));
    if (m == NULL) {
        rtune_meter_close(inner);
        return rtune_err_set(err, RTUNE_NO_MEMORY, "trials: out of memory");
    }
    m->base.ops = inner->ops->configs != NULL ? &some : &any;
    m->base.info = inner->info;
    m->inner = inner;
    m->work = work;
    m->on_trial = on_trial;
    m->user = user;
    rtune_records_init(&m->kept);
    if (resume && work != NULL)
        TRY(rtune_work_trials(work, NULL, rtune_records_add, &m->kept, err));
    *meter = &m->base;
    m = NULL;
done:
    if (m != NULL) record_close(&m->base);
    return status;
}
