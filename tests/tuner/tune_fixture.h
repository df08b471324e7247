/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/tune_fixture.h: whole sessions for tests: options, what was told, what was stored. */
#ifndef RTUNE_TESTS_TUNER_TUNE_FIXTURE_H
#define RTUNE_TESTS_TUNER_TUNE_FIXTURE_H

#include "tests/tuner/scratch.h"
#include "tuner/tuner.h"

struct told {
    size_t plans, compiles, trials, problems, warnings, dones;
    size_t done, total, instances, sizes;
    size_t failures[RTUNE_REASON_COUNT];
    char outcome[32], last_warning[512];
    char stored_at[512]; /* "" if nothing was stored */
    size_t stored, compiled;
    double compile_wait_s;
    char said[4096];      /* the warnings, as far as they fit */
    size_t trials_before; /* the first problem was decided */
    size_t stop_after;    /* trials, after which the stop flag is set; 0: never */
    size_t kill_after;    /* trials, after which the process kills itself; 0: never */
    atomic_bool stop;
    bool out_of_order;
};

struct tune_fixture {
    struct scratch scratch;
    char store[256], space[256];
    struct rtune_tune_options options;
    struct told told;
    struct rtune_table table; /* of the store, after tune_read */
};

/* A scratch store; options for a device with a worker program, both borrowed. */
void tune_open(struct tune_fixture *f, const char *device, const char *worker);
void tune_close(struct tune_fixture *f);
/* Write a search space and use it. */
void tune_space(struct tune_fixture *f, const char *text);
/* Run a session; what it tells replaces what was told before, but for stop_after and kill_after. */
enum rtune_status tune_run(struct tune_fixture *f, struct rtune_error *err);
/* The same, and it must succeed. */
void tune_ok(struct tune_fixture *f);
/* Read the store that it wrote into f->table. */
void tune_read(struct tune_fixture *f);
/* Every kind's rows cover [smallest, largest tuned size] without a gap or overlap. */
void tune_check_intervals(const struct tune_fixture *f);

#endif /* RTUNE_TESTS_TUNER_TUNE_FIXTURE_H */
