/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meter_worker.c: the session's side of a worker process. It knows which candidate runs, for how
 * long it may, and starts a new worker when one has died or was killed; only the culprit pays.
 */
#include "tuner/chances.h"
#include "tuner/meter.h"
#include "tuner/spawn.h"
#include "tuner/wire.h"

#include "base/clock.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    READY_S = 120,   /* a driver may take long to start */
    LOAD_S = 30,     /* loading the kernels of a request */
    CHUNK = 128,     /* candidates of one request; a crash repeats no more than these */
    MIN_GRACE_S = 1, /* less than that is no second chance */
    LOST_MAX = 3     /* failures in a row that no candidate can be blamed for */
};
/* A candidate gets a second, and this many times what its launches are expected to take; one that
 * was late once gets so many seconds more. */
static const double patience = 20, default_grace_s = 9;
/* Until a candidate's time is known: the slowest that anything sensible reads. */
static const double slowest_gbs_cuda = 10, slowest_gbs_cpu = 0.5;

struct worker_meter {
    struct rtune_meter base;
    struct rtune_worker_options options;
    struct rtune_child child;
    bool prepared;
    uint64_t input_bytes;
    struct rtune_chances chances;
    enum rtune_reason lost_reason; /* how the last worker that was lost ended */
    char lost_detail[192];
};

/* How a request went. */
enum outcome {
    ASKED,   /* answered */
    LATE,    /* one candidate did not end in time and is to be asked again; the worker is gone */
    CULPRIT, /* one candidate was marked, and the worker is gone */
    LOST     /* the worker is gone, nobody knows why */
};

static struct worker_meter *self(struct rtune_meter *meter) { return (struct worker_meter *)meter; }

static uint64_t after(double seconds) { return rtune_clock_ns() + (uint64_t)(seconds * 1e9); }

/* ---- starting -------------------------------------------------------------------------------- */

/* The reply to a request that has just one; its failure is that of the request. */
static enum rtune_status receive_reply(struct worker_meter *m, enum rtune_frame_kind kind,
                                       struct rtune_frame *frame, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    bool got = false;
    char why[96];
    TRY(rtune_frame_receive(m->child.fd, frame, &got, after(READY_S), m->options.stop, err));
    if (!got) {
        rtune_spawn_end(&m->child, why, sizeof(why));
        return rtune_err_set(err, RTUNE_DEVICE, "worker process %s: it ended: %s",
                             m->options.worker, why);
    }
    if (frame->kind == RTUNE_FRAME_ERROR)
        TRY(rtune_err_set(err, frame->u.failure.status, "%s", frame->u.failure.detail));
    if (frame->kind != kind) TRY(rtune_err_set(err, RTUNE_INTERNAL, "worker: unexpected answer"));
done:
    return status;
}

static enum rtune_status start(struct worker_meter *m, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_frame frame;
    TRY(rtune_spawn(m->options.worker, &m->child, err));
    rtune_frame_init(&frame, RTUNE_FRAME_HELLO, 0);
    struct rtune_frame_hello *h = &frame.u.hello;
    snprintf(h->device, sizeof(h->device), "%s", m->options.device);
    h->seed = m->options.seed;
    h->threads = m->options.threads;
    (void)rtune_frame_send_with(m->child.fd, &frame, m->options.images, NULL); /* the reply tells */
    TRY(receive_reply(m, RTUNE_FRAME_READY, &frame, err));
    struct rtune_meter_info *info = &m->base.info;
    info->identity = frame.u.ready.identity;
    snprintf(info->name, sizeof(info->name), "%s", frame.u.ready.name);
    info->cuda = frame.u.ready.cuda;
    info->units = frame.u.ready.units;
    if (!m->prepared) info->busy_percent = frame.u.ready.busy_percent;
    if (info->free_bytes == 0) info->free_bytes = frame.u.ready.free_bytes;
done:
    if (status != RTUNE_OK) rtune_spawn_end(&m->child, NULL, 0);
    return status;
}

static enum rtune_status setup(struct worker_meter *m, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_frame frame;
    rtune_frame_init(&frame, RTUNE_FRAME_SETUP, 0);
    frame.u.setup.input_bytes = m->input_bytes;
    (void)rtune_frame_send(m->child.fd, &frame, NULL);
    TRY(receive_reply(m, RTUNE_FRAME_PREPARED, &frame, err));
    struct rtune_meter_info *info = &m->base.info;
    const struct rtune_frame_prepared *p = &frame.u.prepared;
    if (!m->prepared) {
        info->floor_us = p->floor_us;
        info->read_gbs = p->read_gbs;
        info->overhead_us = p->overhead_us;
    }
    info->sm_mhz = p->sm_mhz;
    info->memory_mhz = p->memory_mhz;
    info->temperature_c = p->temperature_c;
    m->prepared = true;
done:
    if (status != RTUNE_OK) rtune_spawn_end(&m->child, NULL, 0);
    return status;
}

static enum rtune_status need_worker(struct worker_meter *m, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (m->child.pid > 0) return RTUNE_OK;
    TRY(start(m, err));
    TRY(setup(m, err));
    rtune_log_write(m->options.log, RTUNE_LOG_INFO, "worker started again");
done:
    return status;
}

/* ---- one request ----------------------------------------------------------------------------- */

struct asking {
    const struct rtune_measure *measure;
    struct rtune_measured *measured;
    struct rtune_measure_report *report;
    const uint32_t *which; /* index of each slot in measure->candidates */
    uint32_t count;
    uint32_t at;      /* slot, or one of enum rtune_at, or NOBODY */
    double allowed_s; /* since it began */
};
enum { NOBODY = 0x7ffffff0 };

static double bytes_of(const struct rtune_problem *p) {
    return (double)p->n * (double)rtune_dtype_size(p->dtype);
}

static double expected_us(const struct worker_meter *m, const struct asking *a, uint32_t slot) {
    double known = a->measure->candidates[a->which[slot]].expect_us;
    if (known > 0) return known;
    double gbs = m->base.info.cuda ? slowest_gbs_cuda : slowest_gbs_cpu;
    return 10.0 + bytes_of(&a->measure->problem) / gbs / 1000.0;
}

/* The candidate that is at work, as far as the session knows; NULL: none, or one of several. */
static const struct rtune_candidate *at_work(const struct asking *a) {
    uint32_t slot = a->at == RTUNE_AT_BATCH && a->count == 1 ? 0 : a->at;
    return slot < a->count ? &a->measure->candidates[a->which[slot]] : NULL;
}

/* Seconds that a config which was late once has more: no more than what is left of the session. */
static double grace_s(const struct worker_meter *m) {
    double grace = m->options.grace_s > 0 ? m->options.grace_s : default_grace_s;
    uint64_t now = rtune_clock_ns(), end = m->options.deadline_ns;
    if (end == 0) return grace;
    return end > now ? fmin(grace, (double)(end - now) / 1e9) : 0;
}

/* Seconds that all samples of a request may take. */
static double batch_s(const struct worker_meter *m, const struct asking *a) {
    double us = 0;
    for (uint32_t k = 0; k < a->count; k++)
        us += a->measure->samples * (expected_us(m, a, k) + m->base.info.overhead_us);
    return 2 + patience * us / 1e6;
}

/* Seconds that what is at may take. */
static double allowance_s(const struct worker_meter *m, const struct asking *a) {
    const struct rtune_candidate *working = at_work(a);
    double limit = m->options.candidate_limit_s, gbs = m->base.info.cuda ? 1.0 : 0.02, more = 0;
    if (working != NULL && rtune_chances_more_time(&m->chances, &working->config))
        more = grace_s(m);
    if (a->at == RTUNE_AT_INPUT) return LOAD_S + bytes_of(&a->measure->problem) / gbs / 1e9;
    if (a->at == RTUNE_AT_BATCH) return batch_s(m, a) + more;
    if (a->at >= a->count) return LOAD_S + 0.1 * a->count;
    double launches = a->measure->thorough ? 8 : 2;
    double s = 1 + patience * launches * expected_us(m, a, a->at) / 1e6 + more;
    return limit > 0 && limit < s ? limit : s;
}

static enum rtune_status send_request(struct worker_meter *m, const struct asking *a,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_frame frame;
    for (uint32_t k = 0; k < a->count; k++) {
        const struct rtune_candidate *c = &a->measure->candidates[a->which[k]];
        rtune_frame_init(&frame, RTUNE_FRAME_CANDIDATE, k);
        frame.u.candidate.config = c->config;
        frame.u.candidate.image_at = c->image_at;
        frame.u.candidate.image_size = c->image_size;
        TRY(rtune_frame_send(m->child.fd, &frame, err));
    }
    rtune_frame_init(&frame, RTUNE_FRAME_MEASURE, 0);
    frame.u.measure.problem = a->measure->problem;
    frame.u.measure.count = a->count;
    frame.u.measure.samples = a->measure->samples;
    frame.u.measure.thorough = a->measure->thorough;
    TRY(rtune_frame_send(m->child.fd, &frame, err));
done:
    return status;
}

static void mark(struct rtune_measured *r, enum rtune_reason reason, const char *detail) {
    r->reason = reason;
    r->sample_count = 0;
    snprintf(r->detail, sizeof(r->detail), "%.*s", (int)sizeof(r->detail) - 1, detail);
}

static void add_samples(struct asking *a, const struct rtune_frame *frame) {
    struct rtune_measured *r = &a->measured[a->which[frame->slot]];
    size_t room = a->measure->samples - r->sample_count;
    size_t count = (size_t)rtune_min_u64(frame->u.samples.count, room);
    memcpy(r->samples + r->sample_count, frame->u.samples.us, count * sizeof(double));
    r->sample_count += count;
}

/* A second chance for the candidate that is at work? */
static bool is_excused(struct worker_meter *m, const struct asking *a) {
    const struct rtune_candidate *working = at_work(a);
    char problem[160], config[256];
    if (working == NULL || m->options.candidate_limit_s > 0) return false;
    if (!rtune_chances_late(&m->chances, &working->config) || grace_s(m) < MIN_GRACE_S)
        return false;
    rtune_problem_print(&a->measure->problem, problem, sizeof(problem));
    rtune_config_print(&working->config, config, sizeof(config));
    rtune_log_write(m->options.log, RTUNE_LOG_WARN,
                    "%s: no answer for %.1f s from %s; it is asked once more, with more time",
                    problem, a->allowed_s, config);
    return true;
}

/* The worker is gone or must go; the candidate that was at work is to blame, if there was one, and
 * if it has no excuse. */
static enum outcome bury(struct worker_meter *m, struct asking *a, bool late) {
    char why[96];
    rtune_spawn_end(&m->child, late ? NULL : why, sizeof(why));
    if (late && is_excused(m, a)) return LATE;
    m->lost_reason = late ? RTUNE_REASON_TIMEOUT : RTUNE_REASON_RUNTIME;
    if (late)
        snprintf(m->lost_detail, sizeof(m->lost_detail), "no end after %ld ms",
                 (long)(a->allowed_s * 1000));
    else
        snprintf(m->lost_detail, sizeof(m->lost_detail), "the worker process ended: %s", why);
    const struct rtune_candidate *working = at_work(a);
    if (working == NULL) return LOST;
    mark(&a->measured[working - a->measure->candidates], m->lost_reason, m->lost_detail);
    return CULPRIT;
}

/* One frame of an answer. *over is set with the outcome when it is the last. */
static void take_frame(struct worker_meter *m, struct asking *a, const struct rtune_frame *frame,
                       bool *over, enum outcome *outcome) {
    bool in_range = frame->slot < a->count;
    if (frame->kind == RTUNE_FRAME_AT) {
        a->at = frame->slot;
    } else if (frame->kind == RTUNE_FRAME_SAMPLES && in_range) {
        add_samples(a, frame);
    } else if (frame->kind == RTUNE_FRAME_FAIL && in_range) {
        mark(&a->measured[a->which[frame->slot]], frame->u.failure.reason, frame->u.failure.detail);
        if (!frame->u.failure.fatal) return;
        rtune_spawn_end(&m->child, NULL, 0);
        *over = true;
        *outcome = CULPRIT;
    } else if (frame->kind == RTUNE_FRAME_DONE) {
        a->report->discarded += frame->u.done.discarded;
        a->report->clock_drop |= frame->u.done.clock_drop;
        a->report->foreign_load |= frame->u.done.foreign_load;
        if (frame->u.done.sm_mhz > 0) {
            m->base.info.sm_mhz = frame->u.done.sm_mhz;
            m->base.info.memory_mhz = frame->u.done.memory_mhz;
            m->base.info.temperature_c = frame->u.done.temperature_c;
        }
        *over = true;
        *outcome = ASKED;
    } else {
        m->lost_reason = RTUNE_REASON_RUNTIME;
        snprintf(m->lost_detail, sizeof(m->lost_detail), "worker: %.*s", 180,
                 frame->kind == RTUNE_FRAME_ERROR ? frame->u.failure.detail : "bad answer");
        rtune_log_write(m->options.log, RTUNE_LOG_WARN, "%s", m->lost_detail);
        rtune_spawn_end(&m->child, NULL, 0);
        *over = true;
        *outcome = LOST;
    }
}

/* Ask for some candidates. Errors: INTERRUPTED, and whatever keeps a worker from starting. */
static enum rtune_status ask(struct worker_meter *m, struct asking *a, enum outcome *outcome,
                             struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_frame frame;
    bool over = false, got = false;
    a->at = NOBODY;
    for (uint32_t k = 0; k < a->count; k++)
        a->measured[a->which[k]].sample_count = 0;
    TRY(need_worker(m, err));
    if (send_request(m, a, NULL) != RTUNE_OK) {
        *outcome = bury(m, a, false);
        return RTUNE_OK;
    }
    a->allowed_s = allowance_s(m, a);
    uint64_t deadline = after(a->allowed_s);
    while (!over) {
        status = rtune_frame_receive(m->child.fd, &frame, &got, deadline, m->options.stop, err);
        if (status == RTUNE_TIMEOUT || (status == RTUNE_OK && !got)) {
            *outcome = bury(m, a, status == RTUNE_TIMEOUT);
            return RTUNE_OK;
        }
        TRY(status);
        take_frame(m, a, &frame, &over, outcome);
        if (frame.kind != RTUNE_FRAME_AT) continue;
        a->allowed_s = allowance_s(m, a);
        deadline = after(a->allowed_s);
    }
    if (*outcome != ASKED) return RTUNE_OK;
    for (uint32_t k = 0; k < a->count; k++)
        rtune_chances_answered(&m->chances, &a->measure->candidates[a->which[k]].config);
done:
    if (status != RTUNE_OK) rtune_spawn_end(&m->child, NULL, 0);
    return status;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* The candidates of [first, first + CHUNK) that have not failed. */
static uint32_t select_live(const struct rtune_measure *measure,
                            const struct rtune_measured *measured, size_t first,
                            uint32_t which[CHUNK]) {
    uint32_t count = 0;
    for (size_t k = first; k < measure->count && k < first + CHUNK; k++)
        if (measured[k].reason == RTUNE_REASON_CORRECT) which[count++] = (uint32_t)k;
    return count;
}

/* A batch was lost and nobody knows to whom: each alone, so that the culprit shows itself. */
static enum rtune_status ask_singly(struct worker_meter *m, struct asking *a, bool *found,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    enum outcome outcome = ASKED;
    *found = false;
    for (uint32_t k = 0; k < a->count; k++) {
        struct rtune_measured *measured = &a->measured[a->which[k]];
        struct asking one = *a;
        if (measured->reason != RTUNE_REASON_CORRECT) continue; /* it has failed before */
        one.which = &a->which[k];
        one.count = 1;
        do {
            TRY(ask(m, &one, &outcome, err));
        } while (outcome == LATE);
        if (outcome == LOST) mark(measured, m->lost_reason, m->lost_detail);
        if (outcome != ASKED) *found = true;
    }
done:
    return status;
}

static enum rtune_status measure_chunk(struct worker_meter *m, const struct rtune_measure *measure,
                                       struct rtune_measured *measured, size_t first,
                                       struct rtune_measure_report *report,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint32_t which[CHUNK];
    enum outcome outcome = LOST;
    for (int lost = 0; lost < LOST_MAX;) {
        struct asking a = {
            .measure = measure, .measured = measured, .report = report, .which = which};
        a.count = select_live(measure, measured, first, which);
        if (a.count == 0) return RTUNE_OK;
        TRY(ask(m, &a, &outcome, err));
        if (outcome == ASKED) return RTUNE_OK;
        if (outcome != LOST) continue;
        bool found = false;
        lost++;
        TRY(ask_singly(m, &a, &found, err));
        if (!found) return RTUNE_OK; /* alone they all answer: those samples have to do */
    }
    TRY(rtune_err_set(err, RTUNE_DEVICE, "%s: workers keep ending: %s", m->base.info.name,
                      m->lost_detail));
done:
    return status;
}

static enum rtune_status worker_measure(struct rtune_meter *base,
                                        const struct rtune_measure *measure,
                                        struct rtune_measured *measured,
                                        struct rtune_measure_report *report,
                                        struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    memset(report, 0, sizeof(*report));
    for (size_t k = 0; k < measure->count; k++) {
        measured[k].reason = RTUNE_REASON_CORRECT;
        measured[k].detail[0] = '\0';
        measured[k].sample_count = 0;
    }
    for (size_t first = 0; first < measure->count; first += CHUNK)
        TRY(measure_chunk(self(base), measure, measured, first, report, err));
done:
    return status;
}

static enum rtune_status worker_prepare(struct rtune_meter *base, uint64_t input_bytes,
                                        struct rtune_error *err) {
    struct worker_meter *m = self(base);
    m->input_bytes = input_bytes;
    return setup(m, err);
}

static void worker_close(struct rtune_meter *base) {
    char why[96]; /* asked for so that the worker may end by itself */
    rtune_spawn_end(&self(base)->child, why, sizeof(why));
    free(base);
}

enum rtune_status rtune_meter_worker(const struct rtune_worker_options *options,
                                     struct rtune_meter **meter, struct rtune_error *err) {
    static const struct rtune_meter_ops ops = {worker_prepare, worker_measure, worker_close, NULL};
    struct worker_meter *m = calloc(1, sizeof(*m));
    if (m == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "worker: out of memory");
    m->base.ops = &ops;
    m->options = *options;
    m->child.fd = -1;
    enum rtune_status status = start(m, err);
    if (status == RTUNE_OK)
        *meter = &m->base;
    else
        free(m);
    return status;
}
