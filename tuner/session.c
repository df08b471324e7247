/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c: one tuning session from its options to a published store. Sees all of tuner/; the
 * parts do not see each other.
 */
#include "tuner/session.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"
#include "runtime/cpuinfo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SPACE_MAX = 1 << 20,
    SIZES_MAX = 4096,
    BUSY_PERCENT = 20,
    LEAD_INSTANCES = 40, /* of a kind that is seeded, for the plan */
    FOLLOWER_INSTANCES = 10
};
static const double limit_most_s = 30.0 * 86400;
static const double compile_s = 0.2; /* of one instance on one thread: 0.1 to 0.3 */

/* ---- options --------------------------------------------------------------------------------- */

static enum rtune_status check_seconds(const char *name, double value, struct rtune_error *err) {
    if (value >= 0 && value <= limit_most_s) return RTUNE_OK; /* NaN fails both */
    return rtune_err_set(err, RTUNE_INVALID, "%s: must be between 0 and 30 days", name);
}

static enum rtune_status check_sizes(const struct rtune_tune_options *o, struct rtune_error *err) {
    if (o->sizes == NULL) return RTUNE_OK;
    if (o->size_count == 0 || o->size_count > SIZES_MAX)
        return rtune_err_set(err, RTUNE_INVALID, "sizes: there must be 1 to %d", SIZES_MAX);
    for (size_t k = 0; k < o->size_count; k++)
        if (o->sizes[k] < 1 || o->sizes[k] > RTUNE_TUNE_N_MAX)
            return rtune_err_set(err, RTUNE_RANGE, "sizes: %llu is not between 1 and 2^40",
                                 (unsigned long long)o->sizes[k]);
    return RTUNE_OK;
}

static bool is_replay(const struct rtune_tune_options *o) {
    return strncmp(o->device, "replay:", 7) == 0;
}

static enum rtune_status check_options(const struct rtune_tune_options *o,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (o->device == NULL || o->device[0] == '\0')
        TRY(rtune_err_set(err, RTUNE_INVALID, "device: none is given"));
    if ((unsigned)o->effort >= RTUNE_EFFORT_COUNT)
        TRY(rtune_err_set(err, RTUNE_INVALID, "effort: unknown"));
    if (o->resume && o->fresh)
        TRY(rtune_err_set(err, RTUNE_INVALID, "resume and fresh: only one of them can be"));
    if (o->problems != NULL && o->problem_count == 0)
        TRY(rtune_err_set(err, RTUNE_INVALID, "problems: there must be at least one"));
    if (!is_replay(o) && (o->worker == NULL || o->worker[0] == '\0'))
        TRY(rtune_err_set(err, RTUNE_INVALID, "worker: no program to start workers with"));
    TRY(check_seconds("budget", o->budget_s, err));
    TRY(check_seconds("candidate limit", o->candidate_limit_s, err));
    TRY(check_sizes(o, err));
    for (size_t k = 0; o->problems != NULL && k < o->problem_count; k++)
        TRY(rtune_problem_check(&o->problems[k], err));
done:
    return status;
}

static enum rtune_status read_space(struct rtune_tuning *t, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const char *file = t->options->space_file;
    struct rtune_buf text;
    rtune_buf_init(&text, SPACE_MAX);
    if (file != NULL) TRY(rtune_file_read(file, SPACE_MAX, &text, err));
    TRY(rtune_space_parse(file != NULL ? text.data : NULL, text.size,
                          file != NULL ? file : "default", &t->space, err));
done:
    rtune_buf_free(&text);
    return status;
}

/* ---- plan ------------------------------------------------------------------------------------ */

static enum rtune_status open_meter(struct rtune_tuning *t, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_tune_options *o = t->options;
    struct rtune_forge_options forge = {
        .stop = o->stop, .progress = rtune_tuning_on_compiled, .user = t};
    if (o->budget_s > 0) forge.deadline_ns = t->start_ns + (uint64_t)(o->budget_s * 1e9);
    TRY(rtune_forge_open(&forge, &t->forge, err));
    if (is_replay(o)) {
        TRY(rtune_meter_replay(o->device + strlen("replay:"), &t->meter, err));
    } else {
        struct rtune_worker_options worker = {.worker = o->worker,
                                              .device = o->device,
                                              .images = rtune_forge_images(t->forge),
                                              .threads = o->threads,
                                              .seed = o->seed,
                                              .candidate_limit_s = o->candidate_limit_s,
                                              .deadline_ns = forge.deadline_ns,
                                              .stop = o->stop,
                                              .log = o->log};
        TRY(rtune_meter_worker(&worker, &t->meter, err));
    }
    rtune_forge_target(t->forge, &t->meter->info.identity);
    rtune_identity_key(&t->meter->info.identity, t->key);
    TRY(o->plan_only ? rtune_store_choose(o->store, geteuid() == 0, &t->store, err)
                     : rtune_store_target(o->store, &t->store, err));
done:
    return status;
}

static void tell_plan(struct rtune_tuning *t) {
    struct rtune_agenda *agenda = &t->agenda;
    struct rtune_tune_event event = {
        .kind = RTUNE_EVENT_PLAN, .problems = agenda->count, .sizes = agenda->size_most};
    struct rtune_cpuinfo info;
    size_t full = 0;
    rtune_cpuinfo_read("", &info);
    for (size_t k = 0; k < agenda->count; k++) {
        struct rtune_kind *kind = &agenda->kinds[k];
        size_t most = kind->role == RTUNE_ROLE_LEAD ? LEAD_INSTANCES : FOLLOWER_INSTANCES;
        bool reference = kind->role == RTUNE_ROLE_REFERENCE;
        if (reference) full = rtune_step_instances(t, kind);
        event.instances += reference ? full : rtune_min_u64(full, most);
        for (size_t i = 0; i < kind->size_count; i++) {
            kind->decisions[i].estimate_s = rtune_step_estimate(t, kind, i);
            t->left_s += kind->decisions[i].estimate_s;
        }
    }
    double measuring = t->left_s;
    double threads = (double)rtune_max_u64(info.usable, 2) - 1;
    t->left_s = fmax(measuring, (double)event.instances * compile_s / threads); /* at once */
    rtune_tuning_tell(t, &event);
    t->left_s = measuring;
}

static void tell_limits(struct rtune_tuning *t) {
    if (rtune_forge_missing(t->forge) != NULL)
        rtune_tuning_warn(
            t, "no kernels can be compiled, so only grids of the built-in ones are tuned: %s",
            rtune_forge_missing(t->forge));
    if (t->meter->info.busy_percent > BUSY_PERCENT) {
        t->told_foreign = true;
        rtune_tuning_warn(t, "%s: other work keeps it %u %% busy (tune again when it is idle)",
                          t->meter->info.name, (unsigned)t->meter->info.busy_percent);
    }
    if (t->agenda.size_skipped > 0)
        rtune_tuning_warn(
            t,
            "%zu sizes are left out: their input would take more than 60 %% of the free "
            "memory (%llu MiB)",
            t->agenda.size_skipped, (unsigned long long)(t->meter->info.free_bytes >> 20));
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void read_clocks(struct rtune_tuning *t, bool start) {
    const struct rtune_meter_info *info = &t->meter->info;
    if (start) t->row.sm_mhz_start = info->sm_mhz;
    t->row.sm_mhz_end = info->sm_mhz;
    t->row.memory_mhz = info->memory_mhz;
    t->row.temperature_c = info->temperature_c;
}

/* An unfinished session's trials are used if they are of the same kernels and driver, and, unless
 * --resume asks for it, of the same search space. Else they are put into the samples first. */
static enum rtune_status take_over(struct rtune_tuning *t, uint64_t trials,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_work_match match = {false, false};
    unsigned long long count = trials;
    TRY(rtune_work_compare(t->work, &t->row, rtune_space_text(t->space), &match, err));
    t->resumed = match.kernels && (match.space || t->options->resume);
    if (t->resumed) {
        if (!t->options->resume)
            rtune_tuning_warn(
                t, "going on from an unfinished session with %llu trials (--fresh starts anew)",
                count);
        goto done;
    }
    TRY(rtune_work_retire(t->work, err));
    rtune_tuning_warn(t,
                      "an unfinished session with %llu trials had %s: its trials are kept in the "
                      "samples, and this session starts anew",
                      count,
                      match.kernels ? "another search space (--resume uses them)"
                                    : "other kernels, another NVRTC or driver");
done:
    return status;
}

static void fill_row(struct rtune_tuning *t) {
    t->row.started = rtune_clock_unix();
    t->row.seed = t->options->seed;
    snprintf(t->row.tool_version, sizeof(t->row.tool_version), "%s", rtune_version_string());
    snprintf(t->row.source_hash, sizeof(t->row.source_hash), "%s", rtune_device_sources_hash());
    snprintf(t->row.driver, sizeof(t->row.driver), "%s", t->meter->info.identity.driver);
    snprintf(t->row.nvrtc, sizeof(t->row.nvrtc), "%s", rtune_forge_version(t->forge));
    snprintf(t->row.effort, sizeof(t->row.effort), "%s", rtune_effort_name(t->options->effort));
}

static enum rtune_status open_work(struct rtune_tuning *t, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_tune_options *o = t->options;
    const struct rtune_identity *identity = &t->meter->info.identity;
    bool exists = false;
    uint64_t trials = 0;
    if (!o->fresh) TRY(rtune_work_peek(t->store.path, identity, &exists, &trials, err));
    if (o->resume && !exists) rtune_tuning_warn(t, "there is no unfinished session to resume");
    TRY(rtune_samples_probe(t->store.path, err));
    TRY(rtune_work_open(&t->work, t->store.path, identity, !o->fresh, err));
    fill_row(t);
    if (!o->fresh && trials > 0) TRY(take_over(t, trials, err));
    TRY(rtune_work_begin(t->work, &t->row, rtune_space_text(t->space), err));
done:
    return status;
}

static enum rtune_status start_measuring(struct rtune_tuning *t, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_meter *inner = t->meter;
    TRY(t->meter->ops->prepare(t->meter, t->agenda.input_bytes, err));
    t->meter = NULL; /* the recorder owns it, also when it fails */
    TRY(rtune_meter_record(inner, t->work, t->resumed, rtune_tuning_on_trial, t, &t->meter, err));
    read_clocks(t, true);
    TRY(rtune_work_update(t->work, &t->row, err));
done:
    return status;
}

/* All sizes of kind k, then its break-points; what was decided is stored whatever ends it. */
static enum rtune_status run_kind(struct rtune_tuning *t, size_t k, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK, stored;
    struct rtune_kind *kind = &t->agenda.kinds[k];
    for (size_t i = 0; i < kind->size_count; i++) {
        TRY(rtune_step_ahead(t, k, err));
        TRY(rtune_step_run(t, kind, i, err));
    }
    TRY(rtune_step_store(t, kind, true, err));
done:
    if (status != RTUNE_OK) {
        struct rtune_error second;
        stored = rtune_step_store(t, kind, false, &second);
        if (stored != RTUNE_OK && status == RTUNE_TIMEOUT) {
            if (err != NULL) *err = second;
            status = stored;
        }
    }
    return status;
}

static enum rtune_status run_kinds(struct rtune_tuning *t, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(start_measuring(t, err));
    for (size_t k = 0; k < t->agenda.count; k++)
        TRY(run_kind(t, k, err));
    if (t->left_out > 0) TRY(rtune_err_set(err, RTUNE_TIMEOUT, "the time budget is too short"));
done:
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

static const char *outcome_of(enum rtune_status status) {
    return status == RTUNE_OK            ? "complete"
           : status == RTUNE_TIMEOUT     ? "budget"
           : status == RTUNE_INTERRUPTED ? "interrupted"
                                         : "failed";
}

static size_t count_rows(const struct rtune_tuning *t) {
    size_t count = 0;
    for (size_t k = 0; k < t->agenda.count; k++)
        count += t->agenda.kinds[k].row_count;
    return count;
}

/* What a session that published without a failure comes to. */
static enum rtune_status verdict(const struct rtune_tuning *t, enum rtune_status ran, size_t stored,
                                 struct rtune_error *err) {
    if (ran == RTUNE_INTERRUPTED)
        return rtune_err_set(err, ran, "interrupted: %s (--resume goes on)",
                             stored > 0 ? "what was decided is stored"
                                        : "nothing was decided, nothing is stored");
    if (t->undecided > 0)
        return rtune_err_set(err, RTUNE_DEVICE,
                             "%s: every candidate failed (%zu of %zu sizes have no winner%s)",
                             t->first_undecided, t->undecided, t->done,
                             stored > 0 ? "; the others are stored" : ", nothing is stored");
    if (ran == RTUNE_TIMEOUT && stored == 0)
        return rtune_err_set(err, ran,
                             "nothing was decided, nothing is stored (give more --budget; "
                             "--resume continues)");
    return RTUNE_OK;
}

/* Publish whatever was decided; the first failure is the session's. */
static enum rtune_status finish(struct rtune_tuning *t, enum rtune_status ran,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error second;
    const char *outcome = ran == RTUNE_OK && t->undecided > 0 ? "failed" : outcome_of(ran);
    bool failed = ran != RTUNE_OK && ran != RTUNE_TIMEOUT && ran != RTUNE_INTERRUPTED;
    struct rtune_error *to = failed ? &second : err;
    if (t->meter != NULL) read_clocks(t, false);
    TRY(rtune_work_update(t->work, &t->row, to));
    TRY(rtune_step_floors(t, to));
    TRY(rtune_work_publish(t->work, outcome, ran != RTUNE_OK, to));
done:
    if (failed) return ran;
    if (status != RTUNE_OK) return status;
    struct rtune_forge_account account = rtune_forge_account(t->forge);
    struct rtune_tune_event event = {.kind = RTUNE_EVENT_DONE,
                                     .outcome = outcome,
                                     .stored = count_rows(t),
                                     .compiles = account.compiles,
                                     .compiled = account.compiled,
                                     .compile_wait_s = account.waited_s};
    rtune_tuning_tell(t, &event);
    return verdict(t, ran, event.stored, err);
}

static void close_tuning(struct rtune_tuning *t) {
    rtune_meter_close(t->meter);
    rtune_work_close(t->work);
    rtune_forge_close(t->forge);
    rtune_space_free(t->space);
    rtune_agenda_free(&t->agenda);
}

enum rtune_status rtune_tune(const struct rtune_tune_options *options, rtune_tune_event_fn event,
                             void *user, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_tuning t = {.options = options, .event = event, .user = user};
    t.start_ns = rtune_clock_ns();
    TRY(check_options(options, err));
    TRY(read_space(&t, err));
    TRY(open_meter(&t, err));
    TRY(rtune_agenda_make(options, t.meter, &t.agenda, err));
    tell_plan(&t);
    tell_limits(&t);
    if (options->plan_only) goto done;
    TRY(open_work(&t, err));
    TRY(finish(&t, run_kinds(&t, err), err));
done:
    close_tuning(&t);
    return status;
}
