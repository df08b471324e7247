/* SPDX-License-Identifier: Apache-2.0 */
/* search.c: racing and deciding. */
#include "tuner/search.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ratio1 = 1.08, ratio2 = 1.04;
/* Medians closer than this are taken as equal when it is decided who goes on: a little more than a
 * tick of the events of a GPU, but a part of the time between two bounds. */
static const double bin_us = 0.05, bin_least = 0.001, bin_most = 0.01;
/* A paired difference below this part of that is a tie however narrow its interval is. */
static const double tie = 0.3;
/* One above this part of the time is none however wide it is, but for the default. */
static const double clear = 0.01;

static double bin_of(double us) {
    return us > 0 ? fmin(fmax(bin_us / us, bin_least), bin_most) * us : bin_us;
}

struct race {
    struct rtune_meter *meter;
    const struct rtune_problem *problem;
    const struct rtune_candidate *candidates;
    size_t count;
    long favourite;
    struct rtune_ranked *ranking; /* of all */
    double *samples;              /* of the stage: rows of stride */
    size_t stride;
    struct rtune_measure_report report;
};

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* Blocks of a grid rule, roughly, for ordering: multiples of the SM count come after any fixed
 * number. */
static uint64_t grid_rank(const struct rtune_grid *grid) {
    switch (grid->kind) {
    case RTUNE_GRID_BLOCKS:
        return grid->value;
    case RTUNE_GRID_SM:
        return ((uint64_t)1 << 32) + grid->value;
    default:
        return (uint64_t)1 << 40;
    }
}

int rtune_search_simpler(const struct rtune_config *a, const struct rtune_config *b) {
    const uint64_t x[] = {a->finish, grid_rank(&a->grid), a->items,   a->block, a->load,
                          a->map,    a->occupancy,        a->variant, a->extra};
    const uint64_t y[] = {b->finish, grid_rank(&b->grid), b->items,   b->block, b->load,
                          b->map,    b->occupancy,        b->variant, b->extra};
    int order = 0;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(x) && order == 0; k++)
        order = compare_u64(x[k], y[k]);
    return order;
}

/* ---- ranking --------------------------------------------------------------------------------- */

/* Later stages before earlier ones, then by time, then by name so that the order is total. */
static int compare_ranked(const void *a, const void *b) {
    const struct rtune_ranked *x = a, *y = b;
    if (x->stage != y->stage) return x->stage > y->stage ? -1 : 1;
    if (x->us != y->us) return x->us < y->us ? -1 : 1;
    return compare_u64(x->candidate, y->candidate);
}

/* Rank for going on: bins, and the simpler config within a bin. */
struct standing {
    size_t rank; /* index in the ranking */
    uint64_t bin;
    const struct rtune_config *config;
};

static int compare_standing(const void *a, const void *b) {
    const struct standing *x = a, *y = b;
    int order = compare_u64(x->bin, y->bin);
    if (order == 0) order = rtune_search_simpler(x->config, y->config);
    return order != 0 ? order : compare_u64(x->rank, y->rank);
}

static bool always(const struct race *race, size_t candidate) {
    return candidate == 0 || (race->favourite >= 0 && candidate == (size_t)race->favourite);
}

/* Candidates for the next stage, from those of this one: indexes into the ranking. */
static enum rtune_status choose(const struct race *race, uint32_t stage, double ratio, size_t keep,
                                size_t *chosen, size_t *count, struct rtune_error *err) {
    double best = race->ranking[0].us;
    size_t n = 0, taken = 0;
    struct standing *list = calloc(race->count, sizeof(*list));
    if (list == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory");
    for (size_t k = 0; k < race->count && race->ranking[k].stage == stage; k++) {
        const struct rtune_ranked *r = &race->ranking[k];
        if (always(race, r->candidate)) {
            chosen[taken++] = k;
        } else if (r->us <= best * ratio) {
            list[n++] = (struct standing){k, (uint64_t)((r->us - best) / bin_of(best)),
                                          &race->candidates[r->candidate].config};
        }
    }
    qsort(list, n, sizeof(*list), compare_standing);
    for (size_t k = 0; k < n && k < keep; k++)
        chosen[taken++] = list[k].rank;
    *count = taken;
    free(list);
    return RTUNE_OK;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Measure the candidates of some ranking entries, and rank all again. Rows of race->samples follow
 * the order of which (indexes into the ranking, turned into candidates here). */
static enum rtune_status run_stage(struct race *race, uint32_t stage, uint32_t samples,
                                   size_t *which, size_t count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_measure_report report;
    struct rtune_candidate *list = calloc(count, sizeof(*list));
    struct rtune_measured *results = calloc(count, sizeof(*results));
    double *rows = calloc(count * samples, sizeof(*rows));
    if (list == NULL || results == NULL || rows == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory"));
    for (size_t k = 0; k < count; k++) {
        const struct rtune_ranked *r = &race->ranking[which[k]];
        list[k] = race->candidates[r->candidate];
        if (r->us > 0) list[k].expect_us = r->us;
        results[k].samples = rows + k * samples;
    }
    struct rtune_measure measure = {*race->problem, list, count, samples, stage == 3};
    TRY(race->meter->ops->measure(race->meter, &measure, results, &report, err));
    race->report.discarded += report.discarded;
    race->report.clock_drop |= report.clock_drop;
    race->report.foreign_load |= report.foreign_load;
    for (size_t k = 0; k < count; k++) {
        struct rtune_ranked *r = &race->ranking[which[k]];
        bool good = results[k].reason == RTUNE_REASON_CORRECT && results[k].sample_count > 0;
        if (!good) memset(results[k].samples, 0, samples * sizeof(double));
        r->reason = results[k].reason;
        r->stage = good ? stage : 0;
        r->us = good ? rtune_stats_summary(results[k].samples, results[k].sample_count).median : 0;
        which[k] = r->candidate;
    }
    free(race->samples);
    race->samples = rows;
    race->stride = samples;
    rows = NULL;
    qsort(race->ranking, race->count, sizeof(*race->ranking), compare_ranked);
done:
    free(list);
    free(results);
    free(rows);
    return status;
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* The middle half's mean: finer than the median where times are multiples of a clock tick. */
static double middle_mean(const double *samples, size_t n) {
    double lo = rtune_stats_quantile(samples, n, 0.25), hi = rtune_stats_quantile(samples, n, 0.75);
    double sum = 0;
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        if (samples[k] < lo || samples[k] > hi) continue;
        sum += samples[k];
        count++;
    }
    return count == 0 ? 0 : sum / (double)count;
}

/* Finalists in the order of race->samples; row[k] is the row of finalist k. */
struct final {
    const struct race *race;
    const size_t *candidates;
    size_t count;
};

static const double *row(const struct final *f, size_t k) {
    return f->race->samples + k * f->race->stride;
}

static bool finished(const struct final *f, size_t k) { return row(f, k)[0] > 0; }

/* Is finalist a slower than b, beyond the noise and beyond what counts as a tie? */
static bool slower(const struct final *f, size_t a, size_t b) {
    size_t n = f->race->stride;
    struct rtune_summary d = rtune_stats_paired(row(f, a), row(f, b), n);
    double us = rtune_stats_summary(row(f, b), n).median;
    double means = middle_mean(row(f, a), n) - middle_mean(row(f, b), n);
    if (d.median > clear * us && means > clear * us) return true;
    return d.lo > 0 && means > tie * bin_of(us);
}

/* Does finalist a lose to b beyond the noise? Stricter than being slower: this keeps the default.
 */
static bool beaten(const struct final *f, size_t a, size_t b) {
    size_t n = f->race->stride;
    double us = rtune_stats_summary(row(f, b), n).median;
    double means = middle_mean(row(f, a), n) - middle_mean(row(f, b), n);
    return rtune_stats_paired(row(f, a), row(f, b), n).lo > 0 && means > tie * bin_of(us);
}

static size_t fastest(const struct final *f) {
    size_t best = SIZE_MAX;
    double best_us = 0, best_mean = 0;
    for (size_t k = 0; k < f->count; k++) {
        if (!finished(f, k)) continue;
        double us = rtune_stats_summary(row(f, k), f->race->stride).median;
        double mean = middle_mean(row(f, k), f->race->stride);
        if (best == SIZE_MAX || us < best_us || (us == best_us && mean < best_mean)) {
            best = k;
            best_us = us;
            best_mean = mean;
        }
    }
    return best;
}

/* Of those that are not slower than the fastest: the favourite, else the simplest; the default
 * unless it is beaten by that one. */
static size_t decide(const struct final *f) {
    size_t best = fastest(f), chosen = SIZE_MAX;
    if (best == SIZE_MAX) return SIZE_MAX;
    for (size_t k = 0; k < f->count; k++) {
        if (!finished(f, k) || (k != best && slower(f, k, best))) continue;
        const struct race *race = f->race;
        size_t c = f->candidates[k];
        if (race->favourite >= 0 && c == (size_t)race->favourite) {
            chosen = k;
            break;
        }
        if (chosen == SIZE_MAX ||
            rtune_search_simpler(&race->candidates[c].config,
                                 &race->candidates[f->candidates[chosen]].config) < 0)
            chosen = k;
    }
    for (size_t k = 0; k < f->count; k++)
        if (f->candidates[k] == 0 && finished(f, k) && k != chosen && !beaten(f, k, chosen))
            chosen = k;
    return chosen;
}

static void conclude(const struct race *race, const size_t *finalists, size_t count,
                     struct rtune_found *found) {
    struct final f = {race, finalists, count};
    size_t chosen = decide(&f);
    found->winner = SIZE_MAX;
    if (chosen == SIZE_MAX) return;
    found->winner = finalists[chosen];
    found->us = rtune_stats_summary(row(&f, chosen), race->stride);
    for (size_t k = 0; k < count; k++)
        if (finalists[k] == 0 && finished(&f, k))
            found->default_us = rtune_stats_summary(row(&f, k), race->stride).median;
}

/* A failure among the finalists leaves a row of zeros; if all of them fail, the race has no winner.
 */
static enum rtune_status run_race(struct race *race, const struct rtune_rounds *rounds,
                                  struct rtune_found *found, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t count = race->count;
    size_t *which = calloc(race->count + 2, sizeof(*which));
    if (which == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory"));
    for (size_t k = 0; k < count; k++)
        which[k] = k;
    found->winner = SIZE_MAX;
    TRY(run_stage(race, 1, rounds->samples1, which, count, err));
    if (race->ranking[0].stage == 0) goto done;
    if (rounds->samples2 > 0) {
        TRY(choose(race, 1, ratio1, rounds->keep1, which, &count, err));
        TRY(run_stage(race, 2, rounds->samples2, which, count, err));
        if (race->ranking[0].stage != 2) goto done;
    }
    TRY(choose(race, race->ranking[0].stage, ratio2, rounds->keep2, which, &count, err));
    TRY(run_stage(race, 3, rounds->samples3, which, count, err));
    conclude(race, which, count, found);
done:
    free(which);
    return status;
}

enum rtune_status rtune_search(struct rtune_meter *meter, const struct rtune_problem *problem,
                               const struct rtune_candidate *candidates, size_t count,
                               long favourite, const struct rtune_rounds *rounds,
                               struct rtune_found *found, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct race race = {.meter = meter,
                        .problem = problem,
                        .candidates = candidates,
                        .count = count,
                        .favourite = favourite};
    memset(found, 0, sizeof(*found));
    race.ranking = calloc(count, sizeof(*race.ranking));
    if (race.ranking == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory"));
    for (size_t k = 0; k < count; k++)
        race.ranking[k].candidate = k;
    TRY(run_race(&race, rounds, found, err));
    found->ranking = race.ranking;
    found->count = count;
    found->report = race.report;
    race.ranking = NULL;
done:
    free(race.ranking);
    free(race.samples);
    return status;
}

/* ---- break-points ---------------------------------------------------------------------------- */

static uint64_t geometric_mean(uint64_t a, uint64_t b) {
    return (uint64_t)llround(sqrt((double)a) * sqrt((double)b));
}

/* Is b the better one at n? A candidate that fails there is not. */
static enum rtune_status second_is_better(struct rtune_meter *meter,
                                          const struct rtune_problem *kind, uint64_t n,
                                          const struct rtune_candidate pair[2], uint32_t samples,
                                          bool *better, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_measured results[2];
    struct rtune_measure_report report;
    struct rtune_measure measure = {*kind, pair, 2, samples, true};
    double *rows = calloc(2 * (size_t)samples, sizeof(*rows));
    memset(results, 0, sizeof(results));
    if (rows == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory"));
    measure.problem.n = n;
    results[0].samples = rows;
    results[1].samples = rows + samples;
    TRY(meter->ops->measure(meter, &measure, results, &report, err));
    bool first_ok = results[0].reason == RTUNE_REASON_CORRECT;
    bool second_ok = results[1].reason == RTUNE_REASON_CORRECT;
    *better =
        second_ok && (!first_ok || rtune_stats_paired(rows, rows + samples, samples).median > 0);
done:
    free(rows);
    return status;
}

enum rtune_status rtune_search_between(struct rtune_meter *meter, const struct rtune_problem *kind,
                                       uint64_t low, uint64_t high,
                                       const struct rtune_candidate pair[2], uint32_t steps,
                                       uint32_t samples, uint64_t *from, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    bool better = false;
    for (uint32_t k = 0; k < steps; k++) {
        uint64_t middle = geometric_mean(low, high);
        if (middle <= low || middle >= high) break;
        TRY(second_is_better(meter, kind, middle, pair, samples, &better, err));
        if (better)
            high = middle;
        else
            low = middle;
    }
    uint64_t middle = geometric_mean(low, high);
    *from = middle > low && middle <= high ? middle : high;
done:
    return status;
}
