/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/tune_fixture.c: running rtune_tune and looking at what it did. */
#include "tests/tuner/tune_fixture.h"

#include "base/buf.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void tune_open(struct tune_fixture *f, const char *device, const char *worker) {
    memset(f, 0, sizeof(*f));
    scratch_make(&f->scratch);
    scratch_path(&f->scratch, "tune.db", f->store, sizeof(f->store));
    f->options.device = device;
    f->options.worker = worker;
    f->options.store = f->store;
    f->options.effort = RTUNE_EFFORT_STANDARD;
    f->options.seed = 1;
    f->options.threads = 1;
    f->options.stop = &f->told.stop;
}

void tune_close(struct tune_fixture *f) {
    rtune_table_free(&f->table);
    scratch_remove(&f->scratch);
}

void tune_space(struct tune_fixture *f, const char *text) {
    struct rtune_error err;
    scratch_path(&f->scratch, "space.yaml", f->space, sizeof(f->space));
    if (rtune_file_write(f->space, text, strlen(text), 0600, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    f->options.space_file = f->space;
}

static void on_trial(struct told *t) {
    t->trials++;
    if (t->trials == t->kill_after) kill(getpid(), SIGKILL);
    if (t->trials == t->stop_after) t->stop = true;
}

static void on_event(void *user, const struct rtune_tune_event *event) {
    struct told *t = user;
    bool first = t->plans == 0;
    if (first != (event->kind == RTUNE_EVENT_PLAN) || t->dones > 0) t->out_of_order = true;
    switch (event->kind) {
    case RTUNE_EVENT_PLAN:
        t->plans++;
        t->instances = event->instances;
        t->sizes = event->sizes;
        break;
    case RTUNE_EVENT_COMPILE:
        t->compiles++;
        break;
    case RTUNE_EVENT_TRIAL:
        on_trial(t);
        break;
    case RTUNE_EVENT_PROBLEM:
        if (t->problems++ == 0) t->trials_before = t->trials;
        if (event->winner == NULL || event->winner->us <= 0) t->out_of_order = true;
        break;
    case RTUNE_EVENT_WARNING:
        t->warnings++;
        snprintf(t->said + strlen(t->said), sizeof(t->said) - strlen(t->said), "%s\n", event->text);
        snprintf(t->last_warning, sizeof(t->last_warning), "%s", event->text);
        break;
    case RTUNE_EVENT_DONE:
        t->dones++;
        snprintf(t->outcome, sizeof(t->outcome), "%s", event->outcome);
        snprintf(t->stored_at, sizeof(t->stored_at), "%s",
                 event->store != NULL ? event->store : "");
        t->stored = event->stored;
        t->compiled = event->compiled;
        t->compile_wait_s = event->compile_wait_s;
        memcpy(t->failures, event->failures, sizeof(t->failures));
        break;
    }
    if (event->kind != RTUNE_EVENT_COMPILE) {
        t->done = event->done;
        t->total = event->total;
    }
}

enum rtune_status tune_run(struct tune_fixture *f, struct rtune_error *err) {
    struct told fresh = {.stop_after = f->told.stop_after, .kill_after = f->told.kill_after};
    memcpy(&f->told, &fresh, sizeof(fresh));
    return rtune_tune(&f->options, on_event, &f->told, err);
}

void tune_ok(struct tune_fixture *f) {
    struct rtune_error err;
    if (tune_run(f, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_false(f->told.out_of_order);
    assert_int_equal(f->told.plans, 1);
}

void tune_read(struct tune_fixture *f) {
    struct rtune_error err;
    size_t skipped = 0;
    rtune_table_free(&f->table);
    memset(&f->table, 0, sizeof(f->table));
    if (rtune_store_read(f->store, &f->table, &skipped, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(skipped, 0);
}

void tune_check_intervals(const struct tune_fixture *f) {
    const struct rtune_winner *before = NULL;
    for (size_t k = 0; k < f->table.winner_count; k++) {
        const struct rtune_winner *w = &f->table.winners[k];
        bool same = before != NULL && rtune_problem_same_kind(&before->problem, &w->problem);
        assert_true(w->n_from <= w->problem.n && w->problem.n <= w->n_to);
        if (same)
            assert_true(w->n_from == before->n_to + 1);
        else
            assert_true(w->n_from == w->problem.n);
        if (before != NULL && !same) assert_true(before->n_to == before->problem.n);
        before = w;
    }
    if (before != NULL) assert_true(before->n_to == before->problem.n);
}
