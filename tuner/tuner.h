/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/tuner.h: one tuning session, from a plan to published winners. The only header of tuner/
 * that the program needs, beside tuner/profile.h.
 */
#ifndef RTUNE_TUNER_TUNER_H
#define RTUNE_TUNER_TUNER_H

#include "base/log.h"
#include "db/db.h"

#include <stdatomic.h>

/* A size of a session is 1 to this many elements. */
#define RTUNE_TUNE_N_MAX (UINT64_C(1) << 40)

enum rtune_effort {
    RTUNE_EFFORT_QUICK,
    RTUNE_EFFORT_STANDARD,
    RTUNE_EFFORT_EXHAUSTIVE,
    RTUNE_EFFORT_COUNT
};
const char *rtune_effort_name(enum rtune_effort effort);

struct rtune_tune_options {
    const char *device;                   /* "cuda:0", "0", UUID, PCI id, "cpu" */
    const char *store;                    /* NULL: as rtune_store_target */
    const char *space_file;               /* NULL: the built-in copy of configs/default.yaml */
    const struct rtune_problem *problems; /* kinds (n is ignored); NULL: all there are */
    size_t problem_count;
    const uint64_t *sizes; /* NULL: powers of two up to min(2^33, 60 % of free memory) */
    size_t size_count;
    enum rtune_effort effort;
    double budget_s;          /* 0: no limit */
    double candidate_limit_s; /* 0: adaptive, and a candidate that is late is asked once more */
    uint64_t seed;
    bool resume, fresh;      /* of an unfinished session */
    bool plan_only;          /* stop after the plan event */
    uint32_t threads;        /* cpu device: threads at most; 0: all */
    const char *worker;      /* path of the reduce-tune program, to start workers */
    const atomic_bool *stop; /* set by a signal handler; polled at least every 100 ms */
    const struct rtune_log *log;
};

/* What the session tells while it runs; one call at a time, from the calling thread. */
enum rtune_tune_event_kind {
    RTUNE_EVENT_PLAN,    /* before anything is measured */
    RTUNE_EVENT_COMPILE, /* done of total instances that a size waits for */
    RTUNE_EVENT_TRIAL,   /* one candidate measured or failed */
    RTUNE_EVENT_PROBLEM, /* one (problem, n) decided; winner is set */
    RTUNE_EVENT_WARNING, /* text */
    RTUNE_EVENT_DONE
};
struct rtune_tune_event {
    enum rtune_tune_event_kind kind;
    const char *text;                  /* one line for people; may be NULL */
    const char *device;                /* "cuda:0" */
    const char *identity;              /* key */
    const char *store;                 /* path that will be written; DONE: NULL if it was not */
    size_t problems, sizes, instances; /* of the plan */
    double eta_s;                      /* seconds left, estimated */
    double elapsed_s;
    size_t done, total; /* steps of the whole session; COMPILE: instances of this round */
    const struct rtune_trial *trial;
    const struct rtune_winner *winner;
    const char *outcome;   /* DONE: "complete", "budget", "interrupted", "failed" */
    size_t stored;         /* DONE: winners of this session that are in the store now */
    bool compiles;         /* DONE: kernels were compiled for the device, if any were needed */
    size_t compiled;       /* DONE: instances, failures included */
    double compile_wait_s; /* DONE: while nothing was measured */
    size_t failures[RTUNE_REASON_COUNT];
};
typedef void (*rtune_tune_event_fn)(void *user, const struct rtune_tune_event *event);

/* Run a session. Whatever was decided when it ends (complete, budget, interrupted) is published.
 * INTERRUPTED if stop was set (after publishing). TIMEOUT if the budget ran out before anything was
 * decided: nothing is published then, and the measurements are kept for a session that resumes.
 * DEVICE if every candidate of a size failed (the other sizes are published). */
enum rtune_status rtune_tune(const struct rtune_tune_options *options, rtune_tune_event_fn event,
                             void *user, struct rtune_error *err);

/* Body of the hidden worker verb: serve one parent over the socket fd until it closes. Returns the
 * exit status of the process. */
int rtune_worker_main(int fd);

#endif /* RTUNE_TUNER_TUNER_H */
