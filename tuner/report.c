/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: what a session tells while it runs. */
#include "tuner/session.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

double rtune_tuning_elapsed(const struct rtune_tuning *t) {
    return (double)(rtune_clock_ns() - t->start_ns) / 1e9;
}

/* What is left, corrected by how far off the estimates were so far. */
static double eta(const struct rtune_tuning *t) {
    double left = t->done < t->agenda.steps ? t->left_s : 0; /* not what sums of doubles leave */
    if (t->estimated_s > 0) left *= t->spent_s / t->estimated_s;
    double budget = t->options->budget_s - rtune_tuning_elapsed(t);
    if (t->options->budget_s > 0 && left > budget) left = budget > 0 ? budget : 0;
    return left;
}

void rtune_tuning_tell(struct rtune_tuning *t, struct rtune_tune_event *event) {
    event->device = t->meter != NULL ? t->meter->info.name : "";
    event->identity = t->key;
    event->store = event->kind == RTUNE_EVENT_DONE && event->stored == 0 ? NULL : t->store.path;
    event->elapsed_s = rtune_tuning_elapsed(t);
    event->eta_s = event->kind == RTUNE_EVENT_DONE ? 0 : eta(t);
    if (event->kind != RTUNE_EVENT_COMPILE) {
        event->done = t->done;
        event->total = t->agenda.steps;
    }
    memcpy(event->failures, t->failures, sizeof(event->failures));
    if (t->event != NULL) t->event(t->user, event);
}

void rtune_tuning_warn(struct rtune_tuning *t, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    struct rtune_tune_event event = {.kind = RTUNE_EVENT_WARNING, .text = text};
    rtune_tuning_tell(t, &event);
}

void rtune_tuning_on_trial(void *user, const struct rtune_trial *trial) {
    struct rtune_tuning *t = user;
    struct rtune_tune_event event = {.kind = RTUNE_EVENT_TRIAL, .trial = trial};
    if (trial->reason != RTUNE_REASON_CORRECT) t->failures[trial->reason]++;
    rtune_tuning_tell(t, &event);
}

void rtune_tuning_on_compiled(void *user, size_t done, size_t total) {
    char text[64];
    snprintf(text, sizeof(text), "compiled %zu of %zu kernels", done, total);
    struct rtune_tune_event event = {
        .kind = RTUNE_EVENT_COMPILE, .text = text, .done = done, .total = total};
    rtune_tuning_tell(user, &event);
}
