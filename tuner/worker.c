/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c: the process that owns the device and runs candidates, so that a crash, a sticky error
 * or an endless kernel costs this process and one candidate. It serves one session over a socket
 * and ends with it.
 */
#include "tuner/bench.h"
#include "tuner/tuner.h"
#include "tuner/wire.h"

#include "base/num.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)RTUNE_WIRE_CANDIDATES == (int)RTUNE_BENCH_CANDIDATES, "one request fits");

struct worker {
    int fd;
    char device[256];
    int images; /* descriptor; -1: none */
    rtune_device *dev;
    uint64_t seed;
    rtune_rig *rig;
    struct rtune_shelf shelf;
    struct rtune_bench bench;
    struct rtune_bench_candidate *candidates;
    bool fatal;
};

/* A send that fails means that the session is gone; the next receive will say so. */
static void tell(const struct worker *w, const struct rtune_frame *frame) {
    (void)rtune_frame_send(w->fd, frame, NULL);
}

static void tell_error(const struct worker *w, const struct rtune_error *err) {
    struct rtune_frame frame;
    rtune_frame_init(&frame, RTUNE_FRAME_ERROR, 0);
    frame.u.failure.status = err->status;
    frame.u.failure.fatal = true;
    snprintf(frame.u.failure.detail, sizeof(frame.u.failure.detail), "%s", err->message);
    tell(w, &frame);
}

static void on_at(void *user, uint32_t slot) {
    struct rtune_frame frame;
    rtune_frame_init(&frame, RTUNE_FRAME_AT, slot);
    tell(user, &frame);
}

static void on_fail(void *user, uint32_t slot, const struct rtune_verdict *verdict) {
    struct worker *w = user;
    struct rtune_frame frame;
    rtune_frame_init(&frame, RTUNE_FRAME_FAIL, slot);
    frame.u.failure.reason = verdict->reason;
    frame.u.failure.fatal = verdict->fatal;
    snprintf(frame.u.failure.detail, sizeof(frame.u.failure.detail), "%s", verdict->detail);
    tell(w, &frame);
    if (verdict->fatal) w->fatal = true;
}

/* ---- requests -------------------------------------------------------------------------------- */

static enum rtune_status hello(struct worker *w, const struct rtune_frame *frame,
                               struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_frame_hello *h = &frame->u.hello;
    struct rtune_device_health health;
    struct rtune_frame reply;
    if (w->dev != NULL) TRY(rtune_err_set(err, RTUNE_INVALID, "worker: greeted twice"));
    snprintf(w->device, sizeof(w->device), "%s", h->device);
    w->seed = h->seed;
    struct rtune_device_request request = {.spec = w->device, .threads = h->threads};
    TRY(rtune_device_open(&request, &w->dev, err));
    rtune_shelf_init(&w->shelf, w->dev, w->images);
    TRY(rtune_device_health(w->dev, &health, err));
    rtune_frame_init(&reply, RTUNE_FRAME_READY, 0);
    TRY(w->dev->ops->mem_free_bytes(w->dev, &reply.u.ready.free_bytes, err));
    reply.u.ready.identity = w->dev->identity;
    snprintf(reply.u.ready.name, sizeof(reply.u.ready.name), "%s", w->dev->name);
    reply.u.ready.cuda = w->dev->cuda;
    reply.u.ready.units = w->dev->units;
    reply.u.ready.busy_percent = health.busy_percent;
    tell(w, &reply);
done:
    return status;
}

static enum rtune_status setup(struct worker *w, const struct rtune_frame *frame,
                               struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_bench_listener listener = {.at = on_at, .fail = on_fail, .user = w};
    struct rtune_bench_floor floor;
    struct rtune_device_health health;
    struct rtune_frame reply;
    if (w->dev == NULL || w->rig != NULL)
        TRY(rtune_err_set(err, RTUNE_INVALID, "worker: set up out of turn"));
    TRY(rtune_rig_open(w->dev, frame->u.setup.input_bytes, w->seed, &w->rig, err));
    rtune_bench_init(&w->bench, w->rig, &w->shelf, &listener);
    TRY(rtune_bench_warm_up(&w->bench, &floor, err));
    TRY(rtune_device_health(w->dev, &health, err));
    rtune_frame_init(&reply, RTUNE_FRAME_PREPARED, 0);
    reply.u.prepared.floor_us = floor.floor_us;
    reply.u.prepared.read_gbs = floor.read_gbs;
    reply.u.prepared.overhead_us = floor.overhead_us;
    reply.u.prepared.sm_mhz = health.sm_mhz;
    reply.u.prepared.memory_mhz = health.memory_mhz;
    reply.u.prepared.temperature_c = health.temperature_c;
    tell(w, &reply);
done:
    return status;
}

static enum rtune_status candidate(struct worker *w, const struct rtune_frame *frame,
                                   struct rtune_error *err) {
    const struct rtune_frame_candidate *c = &frame->u.candidate;
    if (frame->slot >= RTUNE_BENCH_CANDIDATES)
        return rtune_err_set(err, RTUNE_INVALID, "worker: candidate out of range");
    struct rtune_bench_candidate *to = &w->candidates[frame->slot];
    memset(to, 0, sizeof(*to));
    to->config = c->config;
    to->image_at = c->image_at;
    to->image_size = c->image_size;
    return RTUNE_OK;
}

static void tell_samples(const struct worker *w, const struct rtune_bench_run *run, uint32_t slot) {
    for (uint32_t first = 0; first < run->samples; first += RTUNE_WIRE_SAMPLES) {
        struct rtune_frame frame;
        rtune_frame_init(&frame, RTUNE_FRAME_SAMPLES, slot);
        uint32_t count = (uint32_t)rtune_min_u64(run->samples - first, RTUNE_WIRE_SAMPLES);
        frame.u.samples.count = count;
        memcpy(frame.u.samples.us, run->candidates[slot].us + first, count * sizeof(double));
        tell(w, &frame);
    }
}

static enum rtune_status measure(struct worker *w, const struct rtune_frame *frame,
                                 struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_frame_measure *m = &frame->u.measure;
    struct rtune_bench_run run = {.problem = m->problem,
                                  .candidates = w->candidates,
                                  .count = m->count,
                                  .samples = m->samples,
                                  .thorough = m->thorough};
    struct rtune_device_health health;
    struct rtune_frame reply;
    if (w->rig == NULL || m->count == 0 || m->count > RTUNE_BENCH_CANDIDATES || m->samples == 0 ||
        m->samples > 4096 || m->problem.n == 0)
        return rtune_err_set(err, RTUNE_INVALID, "worker: measure out of range");
    TRY(rtune_problem_check(&m->problem, err));
    TRY(rtune_bench_measure(&w->bench, &run, err));
    for (uint32_t k = 0; k < m->count; k++)
        if (run.candidates[k].alive) tell_samples(w, &run, k);
    rtune_frame_init(&reply, RTUNE_FRAME_DONE, 0);
    reply.u.done.discarded = run.discarded;
    reply.u.done.clock_drop = run.clock_drop;
    reply.u.done.foreign_load = run.foreign_load;
    if (m->thorough) {
        TRY(rtune_device_health(w->dev, &health, err));
        reply.u.done.sm_mhz = health.sm_mhz;
        reply.u.done.memory_mhz = health.memory_mhz;
        reply.u.done.temperature_c = health.temperature_c;
    }
    tell(w, &reply);
done:
    rtune_bench_run_free(&run);
    return status;
}

static enum rtune_status serve(struct worker *w, const struct rtune_frame *frame,
                               struct rtune_error *err) {
    switch (frame->kind) {
    case RTUNE_FRAME_HELLO:
        return hello(w, frame, err);
    case RTUNE_FRAME_SETUP:
        return setup(w, frame, err);
    case RTUNE_FRAME_CANDIDATE:
        return candidate(w, frame, err);
    case RTUNE_FRAME_MEASURE:
        return measure(w, frame, err);
    default:
        return rtune_err_set(err, RTUNE_INVALID, "worker: unexpected request");
    }
}

/* After a device failure in a batch nobody knows whose it was: end, and let the session find out.
 */
static void release(struct worker *w) {
    if (w->rig != NULL) rtune_bench_free(&w->bench);
    if (w->dev != NULL) rtune_shelf_free(&w->shelf);
    rtune_rig_close(w->rig);
    rtune_device_close(w->dev);
    if (w->images >= 0) close(w->images);
    free(w->candidates);
}

int rtune_worker_main(int fd) {
    struct worker w = {.fd = fd, .images = -1};
    struct rtune_frame frame;
    struct rtune_error err = {.status = RTUNE_OK};
    bool got = false;
    int passed = -1;
    enum rtune_status status = RTUNE_OK;
    /* The terminal's Ctrl-C goes to the session, which ends this process when it is ready. */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    w.candidates = calloc(RTUNE_BENCH_CANDIDATES, sizeof(*w.candidates));
    if (w.candidates == NULL) return 1;
    while (status == RTUNE_OK && !w.fatal) {
        status = rtune_frame_receive_with(fd, &frame, &got, &passed, &err);
        if (status != RTUNE_OK || !got) break;
        if (passed >= 0) w.images = passed;
        status = serve(&w, &frame, &err);
        if (status != RTUNE_OK && !w.fatal) tell_error(&w, &err);
    }
    /* A dead context cannot be cleaned up; the kernel does it when the process ends. */
    if (w.fatal || status != RTUNE_OK) _Exit(1);
    release(&w);
    return 0;
}
