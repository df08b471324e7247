/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: poison, run, compare. */
#include "tuner/check.h"

#include "base/clock.h"
#include "base/num.h"

#include <stdio.h>
#include <string.h>

/* Two poisons: no value that a kernel leaves behind by chance is both. */
static const unsigned char poisons[2] = {0xab, 0x54};

#define LARGE_BYTES (UINT64_C(256) << 20) /* a launch takes longer than what surrounds it */

bool rtune_check_is_large(const struct rtune_problem *problem) {
    return problem->n > LARGE_BYTES / rtune_dtype_size(problem->dtype);
}

enum rtune_status rtune_check_begin(struct rtune_check *check, struct rtune_input *input,
                                    const struct rtune_problem *problem, enum rtune_data_set set,
                                    uint64_t place, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_data_view *view = &check->view;
    memset(check, 0, sizeof(*check));
    check->input = input;
    view->problem = *problem;
    view->set = set;
    view->seed = input->rig->seed;
    TRY(rtune_data_select(problem, set, &check->recipe, err));
    TRY(rtune_input_fill(input, &check->recipe, rtune_data_is_pair(problem), problem->n, err));
    TRY(rtune_input_words(input, &check->recipe, problem->n, &view->words, err));
    view->poke = rtune_data_poke(problem, set, view->seed, &view->words, place % problem->n);
    TRY(rtune_input_poke(input, &view->poke, err));
done:
    return status;
}

enum rtune_status rtune_check_end(struct rtune_check *check, struct rtune_error *err) {
    check->view.poke.count = 0;
    return rtune_input_poke(check->input, &check->view.poke, err);
}

void rtune_check_device_failed(rtune_rig *rig, const struct rtune_error *why,
                               struct rtune_verdict *verdict) {
    struct rtune_error again;
    snprintf(verdict->detail, sizeof(verdict->detail), "%s", why->message);
    verdict->fatal = rtune_rig_wait(rig, &again) != RTUNE_OK;
    verdict->reason = verdict->fatal ? RTUNE_REASON_RUNTIME : RTUNE_REASON_CONSTRAINTS;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Nothing but the result may have been written. */
static bool rest_untouched(const unsigned char *result, uint32_t size, unsigned char poison) {
    for (uint32_t i = size; i < RTUNE_RIG_OUTPUT_STRIDE; i++)
        if (result[i] != poison) return false;
    return true;
}

/* Bits that must be the same for all candidates; of the whole input only. */
static bool same_bits(struct rtune_check *check, const struct rtune_expect *expect,
                      const unsigned char *result) {
    if (expect->exact || expect->problem.mode != RTUNE_REPRODUCIBLE) return true;
    if (!check->bits_known) memcpy(check->bits, result, expect->size);
    check->bits_known = true;
    return memcmp(check->bits, result, expect->size) == 0;
}

/* A launch over a view, and what it left. */
struct run {
    const struct rtune_data_view *view;
    uint64_t chain; /* additions that one thread does at most */
    const char *name;
};

static void judge(struct rtune_check *check, const struct run *run, const unsigned char *result,
                  unsigned char poison, struct rtune_verdict *verdict) {
    struct rtune_expect expect;
    char detail[256];
    rtune_data_expect(run->view, run->chain, &expect);
    bool right = rtune_data_matches(&expect, result, poison, detail, sizeof(detail));
    if (right && !rest_untouched(result, expect.size, poison)) {
        snprintf(detail, sizeof(detail), "wrong result: bytes after it were written");
        right = false;
    } else if (right && !same_bits(check, &expect, result)) {
        snprintf(detail, sizeof(detail), "wrong result: not the bits of the other candidates");
        right = false;
    }
    if (right) return;
    verdict->reason = RTUNE_REASON_CORRECTNESS;
    snprintf(verdict->detail, sizeof(verdict->detail), "%s, n=%llu, first=%llu, %s", detail,
             (unsigned long long)run->view->problem.n, (unsigned long long)run->view->first,
             run->name);
}

static struct run run_of(const struct rtune_data_view *view, const struct rtune_shot *shot,
                         const struct rtune_config *config, const char *name) {
    uint64_t threads = (uint64_t)shot->grid * config->block;
    return (struct run){view, rtune_ceil_div(view->problem.n, threads), name};
}

/* ---- running --------------------------------------------------------------------------------- */

static enum rtune_status launch(struct rtune_check *check, const struct rtune_shot *shot,
                                const struct rtune_data_view *view, uint32_t output,
                                struct rtune_error *err) {
    struct rtune_shot run = *shot;
    run.first = view->first;
    run.first2 = view->first2;
    run.n = view->problem.n;
    run.output = output;
    return rtune_rig_launch(check->input->rig, &run, err);
}

/* Run over two views, with results in outputs 0 and 1, on a workspace that was zero before. */
static enum rtune_status run_twice(struct rtune_check *check, const struct rtune_shot *shot,
                                   const struct rtune_data_view *views[2],
                                   unsigned char results[2][RTUNE_RIG_OUTPUT_STRIDE], double *us,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_rig *rig = check->input->rig;
    const struct rtune_device_ops *ops = rig->dev->ops;
    TRY(ops->mem_set(rig->dev, rig->workspace, 0, rtune_workspace_bytes(), rig->stream, err));
    for (uint32_t k = 0; k < 2; k++)
        TRY(ops->mem_set(rig->dev, rtune_rig_output(rig, k), poisons[k], RTUNE_RIG_OUTPUT_STRIDE,
                         rig->stream, err));
    bool same = views[0] == views[1];
    for (uint32_t k = 0; k < 2; k++) {
        uint64_t start = rtune_clock_ns();
        TRY(launch(check, shot, views[k], k, err));
        if (k == 1 || !same) TRY(rtune_rig_wait(rig, err));
        double took = (double)(rtune_clock_ns() - start) / 1000.0;
        bool counts = k == 0 || (same && (took < *us || rig->dev->cuda));
        if (us != NULL && counts) *us = took;
    }
    TRY(ops->mem_get(rig->dev, results, rtune_rig_output(rig, 0), 2 * RTUNE_RIG_OUTPUT_STRIDE,
                     err));
done:
    return status;
}

static void check_views(struct rtune_check *check, const struct rtune_data_view *views[2],
                        const struct rtune_shot *shot, const struct rtune_config *config,
                        double *us, struct rtune_verdict *verdict) {
    static const char *const names[2] = {"run 1 of 2", "run 2 of 2"};
    unsigned char results[2][RTUNE_RIG_OUTPUT_STRIDE];
    struct rtune_error err = {.status = RTUNE_OK};
    double unused = 0;
    memset(verdict, 0, sizeof(*verdict));
    if (run_twice(check, shot, views, results, us != NULL ? us : &unused, &err) != RTUNE_OK) {
        rtune_check_device_failed(check->input->rig, &err, verdict);
        return;
    }
    for (int k = 0; k < 2 && verdict->reason == RTUNE_REASON_CORRECT; k++) {
        struct run run = run_of(views[k], shot, config, names[k]);
        judge(check, &run, results[k], poisons[k], verdict);
    }
}

static uint64_t few_of(const struct rtune_check *check, const struct rtune_shot *shot) {
    return rtune_min_u64(check->view.problem.n, shot->grid > 2 ? shot->grid - 1 : 2);
}

void rtune_check_whole(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, double *us,
                       struct rtune_verdict *verdict) {
    const struct rtune_data_view *views[2] = {&check->view, &check->view};
    struct rtune_data_view few;
    if (rtune_check_is_large(&check->view.problem) && check->view.set == RTUNE_SET_EXACT) {
        few = rtune_data_head(&check->view, few_of(check, shot), 0);
        views[1] = &few;
    }
    check_views(check, views, shot, config, us, verdict);
}

static void check_view(struct rtune_check *check, const struct rtune_data_view *view,
                       const struct rtune_shot *shot, const struct rtune_config *config,
                       struct rtune_verdict *verdict) {
    const struct rtune_data_view *views[2] = {view, view};
    check_views(check, views, shot, config, NULL, verdict);
}

/* All but the first element; false if nobody knows what they give. */
static bool tail_of(const struct rtune_check *check, struct rtune_data_view *tail) {
    *tail = check->view;
    if (tail->problem.n < 2 || rtune_check_is_large(&tail->problem)) return false;
    tail->first = tail->first2 = 1;
    tail->problem.n--;
    if (rtune_data_words_drop(&tail->words, &check->recipe, tail->seed, 0)) return true;
    /* The poke decides an extreme, if it is in the range; not both of minmax. */
    return rtune_data_poked(tail) && tail->problem.op != RTUNE_MINMAX;
}

void rtune_check_parts(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, struct rtune_verdict *verdict) {
    uint64_t few = few_of(check, shot), spare = check->view.problem.n > few ? 1 : 0;
    const uint64_t heads[2] = {1, few}, seconds[2] = {0, shot->pair ? spare : 0};
    struct rtune_data_view view;
    for (int k = 0; k < 2; k++) {
        view = rtune_data_head(&check->view, heads[k], seconds[k]);
        check_view(check, &view, shot, config, verdict);
        if (verdict->reason != RTUNE_REASON_CORRECT) return;
    }
    if (tail_of(check, &view)) check_view(check, &view, shot, config, verdict);
}

/* ---- what was timed -------------------------------------------------------------------------- */

enum { TIMED_BYTES = RTUNE_RIG_TIMED_MAX * RTUNE_RIG_OUTPUT_STRIDE };

enum rtune_status rtune_check_poison(struct rtune_check *check, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_rig *rig = check->input->rig;
    const struct rtune_device_ops *ops = rig->dev->ops;
    TRY(ops->mem_set(rig->dev, rig->workspace, 0, rtune_workspace_bytes(), rig->stream, err));
    TRY(ops->mem_set(rig->dev, rtune_rig_output(rig, RTUNE_RIG_OUTPUT_TIMED), poisons[0],
                     TIMED_BYTES, rig->stream, err));
    TRY(rtune_rig_wait(rig, err));
done:
    return status;
}

enum rtune_status rtune_check_collect(struct rtune_check *check, unsigned char *results,
                                      struct rtune_error *err) {
    rtune_rig *rig = check->input->rig;
    return rig->dev->ops->mem_get(rig->dev, results, rtune_rig_output(rig, RTUNE_RIG_OUTPUT_TIMED),
                                  TIMED_BYTES, err);
}

void rtune_check_timed(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, const unsigned char *result,
                       struct rtune_verdict *verdict) {
    struct run run = run_of(&check->view, shot, config, "while it was timed");
    memset(verdict, 0, sizeof(*verdict));
    judge(check, &run, result, poisons[0], verdict);
}
