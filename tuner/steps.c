/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c: one size of one kind, from its menu to its winner. */
#include "tuner/session.h"

#include "base/clock.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double big_us = 300; /* launches this long are tried with few candidates */
/* Cold inputs of a cpu of this size and more tell of memory: they are flushed line by line. */
static const double telling_bytes_cpu = 128 << 10;

/* ---- candidates ------------------------------------------------------------------------------ */

struct step {
    struct rtune_kind *kind;
    size_t index;
    struct rtune_problem problem;
    struct rtune_cost cost;
    struct rtune_share share;
    struct rtune_menu menu;
    struct rtune_candidate *candidates;
    size_t count;
    long favourite;
};

static enum rtune_status refuse(struct rtune_tuning *t, struct step *s,
                                const struct rtune_config *config, const struct rtune_error *why,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_trial trial = {
        .problem = s->problem, .config = *config, .reason = RTUNE_REASON_COMPILE};
    snprintf(trial.detail, sizeof(trial.detail), "%.*s", (int)sizeof(trial.detail) - 1,
             why->message);
    TRY(rtune_kind_ban(s->kind, config, err));
    if (t->work != NULL) TRY(rtune_work_add_trial(t->work, &trial, err));
    rtune_tuning_on_trial(t, &trial);
done:
    return status;
}

/* From configs to what can be measured. */
static enum rtune_status make_candidates(struct rtune_tuning *t, struct step *s,
                                         struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(rtune_forge_need(t->forge, &s->kind->problem, s->menu.configs, s->menu.count, err));
    s->candidates = calloc(s->menu.count, sizeof(*s->candidates));
    s->favourite = RTUNE_NO_FAVOURITE;
    if (s->candidates == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory"));
    for (size_t k = 0; k < s->menu.count; k++) {
        struct rtune_candidate *c = &s->candidates[s->count];
        struct rtune_error why;
        c->config = s->menu.configs[k];
        enum rtune_status found = rtune_forge_find(t->forge, &s->kind->problem, &c->config,
                                                   &c->image_at, &c->image_size, &why);
        if (found != RTUNE_OK) {
            TRY(refuse(t, s, &c->config, &why, err));
            continue;
        }
        if (s->menu.favourite == (long)k) s->favourite = (long)s->count;
        c->expect_us = 4 * s->cost.launch_us + 20; /* for the deadline of the first launches */
        s->count++;
    }
done:
    return status;
}

enum rtune_status rtune_step_menu(const struct rtune_tuning *t, const struct rtune_kind *kind,
                                  size_t index, struct rtune_share *share, struct rtune_menu *menu,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_menu_source source = rtune_step_menus(t);
    enum rtune_effort effort = t->options->effort;
    struct rtune_cost cost = rtune_step_cost(t, kind, kind->sizes[index]);
    bool big = effort != RTUNE_EFFORT_EXHAUSTIVE && cost.launch_us >= big_us;
    TRY(rtune_menu_make(&source, kind, index, big, menu, err));
    *share = rtune_effort_share(effort, menu->count, &cost, rtune_step_allowance(t, kind, index));
    rtune_menu_limit(menu, kind, share->candidates);
done:
    return status;
}

static enum rtune_status open_step(struct rtune_tuning *t, struct step *s,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    s->problem = s->kind->problem;
    s->problem.n = s->kind->sizes[s->index];
    s->cost = rtune_step_cost(t, s->kind, s->problem.n);
    TRY(rtune_step_menu(t, s->kind, s->index, &s->share, &s->menu, err));
    TRY(make_candidates(t, s, err));
    TRY(rtune_step_ahead_next(t, s->kind, s->index + 1, err));
done:
    return status;
}

static void close_step(struct step *s) {
    free(s->menu.configs);
    free(s->candidates);
}

/* ---- what was learnt ------------------------------------------------------------------------- */

static enum rtune_status remember(struct step *s, const struct rtune_found *found,
                                  struct rtune_error *err) {
    struct rtune_kind *kind = s->kind;
    if (found->count > kind->remembered_capacity) {
        struct rtune_remembered *grown =
            realloc(kind->remembered, found->count * sizeof(*kind->remembered));
        if (grown == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory");
        kind->remembered = grown;
        kind->remembered_capacity = found->count;
    }
    kind->remembered_count = 0;
    for (size_t k = 0; k < found->count; k++) {
        const struct rtune_ranked *r = &found->ranking[k];
        if (r->stage == 0) continue;
        kind->remembered[kind->remembered_count++] =
            (struct rtune_remembered){s->candidates[r->candidate].config, r->us};
    }
    return RTUNE_OK;
}

/* Whatever failed for more than its constraints is not tried again in this session. */
static enum rtune_status ban_failures(struct step *s, const struct rtune_found *found,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    for (size_t k = 0; k < found->count; k++) {
        const struct rtune_ranked *r = &found->ranking[k];
        bool failed = r->reason != RTUNE_REASON_CORRECT && r->reason != RTUNE_REASON_CONSTRAINTS;
        if (failed) TRY(rtune_kind_ban(s->kind, &s->candidates[r->candidate].config, err));
    }
done:
    return status;
}

/* What a cold winner tells of the floor: no launch takes less than the shortest seen, and memory
 * gives at least what it gave this one. Small inputs tell nothing of memory. */
static void learn_floor(struct rtune_tuning *t, const struct step *s, double us) {
    const struct rtune_meter_info *info = &t->meter->info;
    double bytes = rtune_kind_bytes(s->kind, s->problem.n);
    double least = info->cuda ? 4.0 * (double)info->identity.l2_bytes : telling_bytes_cpu;
    if (s->problem.cache != RTUNE_COLD) return;
    if (t->least_us <= 0 || us < t->least_us) t->least_us = us;
    double over = us - fmin(info->floor_us, t->least_us);
    if (bytes >= fmax(least, 1) && over > 0) t->read_gbs = fmax(t->read_gbs, bytes / over / 1000);
}

static void warn_of(struct rtune_tuning *t, const struct rtune_measure_report *report) {
    if (report->foreign_load && !t->told_foreign) {
        t->told_foreign = true;
        rtune_tuning_warn(t,
                          "%s: something else seems to be running on it: the time of a fixed piece "
                          "of work varies by more than 15 %% (tune again when it is idle)",
                          t->meter->info.name);
    }
    if (report->clock_drop && !t->told_clock) {
        t->told_clock = true;
        rtune_tuning_warn(t,
                          "%s: the clock dropped by more than 3 %% and stayed down for a while; "
                          "some samples were taken at the lower clock",
                          t->meter->info.name);
    }
}

/* Not just a candidate that loses: this one serves all that is not tuned. */
static void warn_of_builtin(struct rtune_tuning *t, const struct step *s,
                            const struct rtune_found *found) {
    struct rtune_config standard = rtune_config_default(&s->kind->problem, t->meter->info.cuda);
    char text[160];
    for (size_t k = 0; k < found->count && !s->kind->told_builtin; k++) {
        const struct rtune_ranked *r = &found->ranking[k];
        if (r->reason != RTUNE_REASON_CORRECTNESS ||
            !rtune_config_equal(&s->candidates[r->candidate].config, &standard))
            continue;
        s->kind->told_builtin = true;
        rtune_problem_print(&s->problem, text, sizeof(text));
        rtune_tuning_warn(t,
                          "%s: the built-in kernel gives a wrong result on %s: do not trust this "
                          "device (reduce-tune doctor tests it)",
                          text, t->meter->info.name);
    }
}

static void leave_undecided(struct rtune_tuning *t, const struct step *s) {
    char text[160];
    rtune_problem_print(&s->problem, text, sizeof(text));
    if (t->undecided++ == 0) snprintf(t->first_undecided, sizeof(t->first_undecided), "%s", text);
    rtune_tuning_warn(t, "%s: every candidate failed; nothing is stored for this size", text);
}

/* To a nanosecond: below what a clock tells, and short in profiles. */
static double rounded(double us) {
    double whole = rint(us * 1000) / 1000;
    return whole > 0 ? whole : us;
}

static void fill_winner(const struct rtune_tuning *t, const struct rtune_kind *kind, size_t index,
                        struct rtune_winner *winner) {
    const struct rtune_decided *d = &kind->decisions[index];
    memset(winner, 0, sizeof(*winner));
    winner->problem = kind->problem;
    winner->problem.n = winner->n_from = winner->n_to = kind->sizes[index];
    winner->config = d->config;
    winner->us = rounded(d->us.median);
    winner->us_lo = rounded(d->us.lo);
    winner->us_hi = rounded(d->us.hi);
    winner->default_us = rounded(d->default_us);
    winner->kernel_abi = RTUNE_KERNEL_ABI;
    snprintf(winner->source_hash, sizeof(winner->source_hash), "%s", rtune_device_sources_hash());
    snprintf(winner->driver, sizeof(winner->driver), "%s", t->meter->info.identity.driver);
}

static void record_decision(struct rtune_tuning *t, const struct step *s,
                            const struct rtune_found *found) {
    struct rtune_decided *d = &s->kind->decisions[s->index];
    struct rtune_config standard = rtune_config_default(&s->kind->problem, t->meter->info.cuda);
    struct rtune_winner winner;
    d->done = true;
    d->config = s->candidates[found->winner].config;
    d->us = found->us;
    if (rtune_config_equal(&s->candidates[0].config, &standard)) d->default_us = found->default_us;
    d->seeds[d->seed_count++] = d->config;
    for (size_t k = 0; k < s->kind->remembered_count && d->seed_count < RTUNE_SEEDS; k++)
        if (!rtune_config_equal(&s->kind->remembered[k].config, &d->config))
            d->seeds[d->seed_count++] = s->kind->remembered[k].config;
    learn_floor(t, s, d->us.median);
    fill_winner(t, s->kind, s->index, &winner);
    struct rtune_tune_event event = {.kind = RTUNE_EVENT_PROBLEM, .winner = &winner};
    rtune_tuning_tell(t, &event);
}

static enum rtune_status run_search(struct rtune_tuning *t, struct step *s,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_found found = {.ranking = NULL};
    if (s->count > 0)
        TRY(rtune_search(t->meter, &s->problem, s->candidates, s->count, s->favourite,
                         &s->share.rounds, &found, err));
    TRY(ban_failures(s, &found, err));
    warn_of(t, &found.report);
    warn_of_builtin(t, s, &found);
    t->done++;
    if (s->count == 0 || found.winner == SIZE_MAX) {
        leave_undecided(t, s);
        goto done;
    }
    TRY(remember(s, &found, err));
    record_decision(t, s, &found);
done:
    free(found.ranking);
    return status;
}

enum rtune_status rtune_step_run(struct rtune_tuning *t, struct rtune_kind *kind, size_t index,
                                 struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct step s = {.kind = kind, .index = index};
    uint64_t start = rtune_clock_ns();
    double estimate = kind->decisions[index].estimate_s;
    if (t->options->budget_s > 0 && rtune_tuning_elapsed(t) >= t->options->budget_s)
        return rtune_err_set(err, RTUNE_TIMEOUT, "the time budget is used up");
    if (rtune_step_leave_out(t, kind, index)) return RTUNE_OK;
    TRY(open_step(t, &s, err));
    t->left_s -= estimate;
    TRY(run_search(t, &s, err));
    t->estimated_s += estimate;
    t->spent_s += (double)(rtune_clock_ns() - start) / 1e9;
done:
    close_step(&s);
    return status;
}

/* ---- storing --------------------------------------------------------------------------------- */

static enum rtune_status place_break(struct rtune_tuning *t, const struct rtune_kind *kind,
                                     size_t before, size_t after, bool measure, uint64_t *from,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_candidate pair[2];
    const size_t at[2] = {before, after};
    struct rtune_error why;
    uint32_t steps = 2, samples = 9;
    memset(pair, 0, sizeof(pair));
    for (int k = 0; k < 2; k++) {
        const struct rtune_decided *d = &kind->decisions[at[k]];
        pair[k].config = d->config;
        pair[k].expect_us = 2 * kind->decisions[after].us.median;
        if (rtune_forge_find(t->forge, &kind->problem, &d->config, &pair[k].image_at,
                             &pair[k].image_size, &why) != RTUNE_OK)
            measure = false;
    }
    bool big = rtune_step_cost(t, kind, kind->sizes[after]).launch_us >= big_us;
    if (big || kind->role != RTUNE_ROLE_REFERENCE) {
        steps = big && kind->role != RTUNE_ROLE_REFERENCE ? 0 : 1;
        samples = 5;
    }
    bool same = rtune_config_equal(&pair[0].config, &pair[1].config);
    if (!measure || same || t->options->effort == RTUNE_EFFORT_QUICK || !rtune_step_on_schedule(t))
        steps = 0;
    TRY(rtune_search_between(t->meter, &kind->problem, kind->sizes[before], kind->sizes[after],
                             pair, steps, samples, from, err));
done:
    return status;
}

enum rtune_status rtune_step_store(struct rtune_tuning *t, struct rtune_kind *kind, bool measure,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t count = 0, last = 0;
    struct rtune_winner *rows = calloc(kind->size_count, sizeof(*rows));
    if (rows == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "winners: out of memory"));
    for (size_t i = 0; i < kind->size_count; i++) {
        if (!kind->decisions[i].done) continue;
        struct rtune_winner *row = &rows[count];
        fill_winner(t, kind, i, row);
        TRY(rtune_forge_keep(t->forge, &kind->problem, &row->config, t->store.path, row->cubin,
                             err));
        if (count > 0) {
            TRY(place_break(t, kind, last, i, measure, &row->n_from, err));
            rows[count - 1].n_to = row->n_from - 1;
        }
        last = i;
        count++;
    }
    if (count > 0) TRY(rtune_work_add_winners(t->work, rows, count, err));
    free(kind->rows);
    kind->rows = rows;
    kind->row_count = count;
    rows = NULL;
done:
    free(rows);
    return status;
}

/* ---- floors ---------------------------------------------------------------------------------- */

/* The least that a cold launch of so many bytes can take on this device: a launch that does
 * nothing, and the input once at the best bandwidth seen. 0: not known. Nothing is known of inputs
 * that are (partly) in a cache. */
static double floor_us(const struct rtune_tuning *t, const struct rtune_kind *kind,
                       const struct rtune_winner *winner) {
    double launch = t->meter->info.floor_us, gbs = fmax(t->read_gbs, t->meter->info.read_gbs);
    if (winner->problem.cache != RTUNE_COLD || launch <= 0 || gbs <= 0) return 0;
    if (t->least_us > 0) launch = fmin(launch, t->least_us);
    double bytes = rtune_kind_bytes(kind, winner->problem.n);
    /* What was measured can be done: where other work slowed the model, it is the better bound. */
    return fmin(rounded(launch + bytes / gbs / 1000), winner->us);
}

enum rtune_status rtune_step_floors(struct rtune_tuning *t, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (t->meter == NULL) return RTUNE_OK;
    for (size_t k = 0; k < t->agenda.count; k++) {
        struct rtune_kind *kind = &t->agenda.kinds[k];
        for (size_t i = 0; i < kind->row_count; i++)
            kind->rows[i].floor_us = floor_us(t, kind, &kind->rows[i]);
        if (kind->row_count > 0)
            TRY(rtune_work_add_winners(t->work, kind->rows, kind->row_count, err));
    }
done:
    return status;
}
