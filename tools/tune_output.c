/* SPDX-License-Identifier: Apache-2.0 */
/* tools/tune_output.c: printing a tuning session. */
#include "tools/tune_output.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/parse.h"
#include "tools/console.h"
#include "tools/interrupt.h"
#include "tools/json_out.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 24 };
#define REDRAW_NS UINT64_C(100000000) /* a candidate may take less than a millisecond */

void tune_output_init(struct tune_output *output, bool json) {
    memset(output, 0, sizeof *output);
    output->json = json;
    /* Where people watch a progress line on the same terminal, the lines would only push it down.
     */
    output->lines = !console_progress() || !isatty(STDOUT_FILENO);
}

static const char *const event_names[] = {
    [RTUNE_EVENT_PLAN] = "plan",       [RTUNE_EVENT_COMPILE] = "compile",
    [RTUNE_EVENT_TRIAL] = "trial",     [RTUNE_EVENT_PROBLEM] = "problem",
    [RTUNE_EVENT_WARNING] = "warning", [RTUNE_EVENT_DONE] = "done",
};

/* "45 s", "4 min 32 s", "1 h 5 min" */
static void print_seconds(double seconds, char *text, size_t size) {
    unsigned long whole = seconds < 0 ? 0 : (unsigned long)(seconds + 0.5);
    if (seconds < 10)
        (void)snprintf(text, size, "%.1f s", seconds < 0 ? 0.0 : seconds);
    else if (whole < 60)
        (void)snprintf(text, size, "%lu s", whole);
    else if (whole < 3600)
        (void)snprintf(text, size, "%lu min %lu s", whole / 60, whole % 60);
    else
        (void)snprintf(text, size, "%lu h %lu min", whole / 3600, whole % 3600 / 60);
}

/* "sum f32 wide plain propagate cold n=2^20"; short: "sum f32 n=2^20". */
static void problem_text(const struct rtune_problem *problem, bool whole, char *text, size_t size) {
    char n[32];
    (void)rtune_print_size(problem->n, n, sizeof n);
    if (whole)
        (void)snprintf(text, size, "%s %s %s %s %s %s n=%s", rtune_op_name(problem->op),
                       rtune_dtype_name(problem->dtype), rtune_acc_name(problem->acc),
                       rtune_mode_name(problem->mode), rtune_nan_name(problem->nan_rule),
                       rtune_cache_name(problem->cache), n);
    else
        (void)snprintf(text, size, "%s %s n=%s", rtune_op_name(problem->op),
                       rtune_dtype_name(problem->dtype), n);
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static void print_plan(const struct rtune_tune_event *event) {
    char eta[32];
    print_seconds(event->eta_s, eta, sizeof eta);
    console_printf("device     %s\nidentity   %s\nstore      %s\n", event->device, event->identity,
                   event->store);
    console_printf("plan       %zu problem%s x %zu size%s, %zu instance%s to compile, about %s\n",
                   event->problems, plural(event->problems), event->sizes, plural(event->sizes),
                   event->instances, plural(event->instances), eta);
}

static void print_winner(const struct rtune_winner *winner) {
    char problem[160], config[256];
    problem_text(&winner->problem, true, problem, sizeof problem);
    (void)rtune_config_print(&winner->config, config, sizeof config);
    console_printf("%-48s %10.2f us", problem, winner->us);
    if (winner->default_us > 0 && winner->us > 0)
        console_printf("  %.2fx", winner->default_us / winner->us);
    console_printf("  %s\n", config);
}

static size_t failures(const struct rtune_tune_event *event) {
    size_t total = 0;
    for (int r = RTUNE_REASON_CORRECT + 1; r < RTUNE_REASON_COUNT; r++)
        total += event->failures[r];
    return total;
}

static void print_done(const struct rtune_tune_event *event) {
    char elapsed[32], waited[32];
    if (event->compiled > 0) {
        print_seconds(event->compile_wait_s, waited, sizeof waited);
        console_printf("compiled   %zu kernel%s, waited %s for them\n", event->compiled,
                       plural(event->compiled), waited);
    }
    print_seconds(event->elapsed_s, elapsed, sizeof elapsed);
    console_printf("%-10s %s after %s: %zu of %zu steps", "done",
                   event->outcome != NULL ? event->outcome : "ended", elapsed, event->done,
                   event->total);
    if (failures(event) > 0) {
        console_printf("; failed candidates:");
        for (int r = RTUNE_REASON_CORRECT + 1; r < RTUNE_REASON_COUNT; r++)
            if (event->failures[r] > 0)
                console_printf(" %zu %s", event->failures[r],
                               rtune_reason_name((enum rtune_reason)r));
    }
    console_printf("\n");
    if (event->store != NULL) console_printf("stored     %s\n", event->store);
}

static void show_progress(struct tune_output *output, const struct rtune_tune_event *event) {
    char bar[BAR + 1], eta[32], line[320];
    uint64_t now = rtune_clock_ns();
    if (output->shown_ns != 0 && now - output->shown_ns < REDRAW_NS) return;
    output->shown_ns = now;
    size_t filled =
        event->total > 0 ? rtune_min_u64(event->done, event->total) * BAR / event->total : 0;
    memset(bar, '.', BAR);
    memset(bar, '#', filled);
    bar[BAR] = '\0';
    print_seconds(event->eta_s, eta, sizeof eta);
    (void)snprintf(line, sizeof line, "[%s] %zu/%zu  %s left  %s%s", bar, event->done, event->total,
                   eta, event->kind == RTUNE_EVENT_COMPILE ? "compiling" : output->last,
                   event->kind != RTUNE_EVENT_COMPILE && event->text != NULL ? event->text : "");
    console_progress_line(line);
}

static void print_event(struct tune_output *output, const struct rtune_tune_event *event) {
    switch (event->kind) {
    case RTUNE_EVENT_PLAN:
        print_plan(event);
        break;
    case RTUNE_EVENT_COMPILE:
        show_progress(output, event);
        break;
    case RTUNE_EVENT_TRIAL:
        if (event->trial != NULL)
            problem_text(&event->trial->problem, false, output->last, sizeof output->last);
        show_progress(output, event);
        break;
    case RTUNE_EVENT_PROBLEM:
        if (output->lines && event->winner != NULL) {
            console_progress_line("");
            output->shown_ns = 0;
            print_winner(event->winner);
        }
        show_progress(output, event);
        break;
    case RTUNE_EVENT_WARNING:
        console_warn("%s", event->text != NULL ? event->text : "");
        break;
    case RTUNE_EVENT_DONE:
        console_progress_line("");
        print_done(event);
        break;
    }
}

static void json_config(struct json *json, const struct rtune_config *config) {
    char text[256];
    (void)rtune_config_print(config, text, sizeof text);
    json_text(json, "config", text);
}

static void json_trial(struct json *json, const struct rtune_trial *trial) {
    json_problem_fields(json, &trial->problem);
    json_config(json, &trial->config);
    json_text(json, "reason", rtune_reason_name(trial->reason));
    if (trial->reason != RTUNE_REASON_CORRECT) {
        json_text(json, "detail", trial->detail);
        return;
    }
    json_double(json, "us", trial->us);
    json_double(json, "us_lo", trial->us_lo);
    json_double(json, "us_hi", trial->us_hi);
    json_u64(json, "samples", trial->sample_count);
}

static void json_winner(struct json *json, const struct rtune_winner *winner) {
    json_problem_fields(json, &winner->problem);
    json_u64(json, "n_from", winner->n_from);
    json_u64(json, "n_to", winner->n_to);
    json_config(json, &winner->config);
    json_double(json, "us", winner->us);
    json_double(json, "us_lo", winner->us_lo);
    json_double(json, "us_hi", winner->us_hi);
    json_known(json, "default_us", winner->default_us);
    json_known(json, "floor_us", winner->floor_us);
}

static void json_event(const struct rtune_tune_event *event) {
    struct json json;
    json_begin(&json);
    json_text(&json, "event", event_names[event->kind]);
    if (event->text != NULL) json_text(&json, "text", event->text);
    if (event->kind == RTUNE_EVENT_PLAN) {
        json_text(&json, "device", event->device);
        json_text(&json, "identity", event->identity);
        json_text(&json, "store", event->store);
        json_u64(&json, "problems", event->problems);
        json_u64(&json, "sizes", event->sizes);
        json_u64(&json, "instances", event->instances);
    }
    if (event->trial != NULL) json_trial(&json, event->trial);
    if (event->winner != NULL) json_winner(&json, event->winner);
    if (event->kind == RTUNE_EVENT_DONE) {
        json_text(&json, "outcome", event->outcome);
        json_text(&json, "store", event->store);
        json_u64(&json, "stored", event->stored);
        if (event->compiles) {
            json_u64(&json, "compiled", event->compiled);
            json_double(&json, "compile_wait_s", event->compile_wait_s);
        }
        json_open(&json, "failures", '{');
        for (int r = RTUNE_REASON_CORRECT + 1; r < RTUNE_REASON_COUNT; r++)
            json_u64(&json, rtune_reason_name((enum rtune_reason)r), event->failures[r]);
        json_close(&json, '}');
    }
    json_u64(&json, "done", event->done);
    json_u64(&json, "total", event->total);
    json_double(&json, "elapsed_s", event->elapsed_s);
    json_double(&json, "eta_s", event->eta_s);
    (void)json_print(&json);
}

void tune_output_event(void *user, const struct rtune_tune_event *event) {
    struct tune_output *output = user;
    if (output->json) {
        json_event(event);
        if (event->kind != RTUNE_EVENT_WARNING && event->kind != RTUNE_EVENT_DONE)
            show_progress(output, event);
    } else {
        print_event(output, event);
    }
    /* A reader that is gone (`| head -1`) wants no more: store what is decided and leave. */
    if (!console_flush()) interrupt_request(SIGPIPE);
}
