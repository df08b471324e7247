/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: poison, run, compare. */
#include "tuner/check.h"

#include "base/clock.h"
#include "base/num.h"

#include <stdio.h>
#include <string.h>

/* Two poisons: no value that a kernel leaves behind by chance is both. */
static const unsigned char poisons[2] = {0xab, 0x54};

enum rtune_status rtune_check_begin(struct rtune_check *check, struct rtune_input *input,
                                    const struct rtune_problem *problem, enum rtune_data_set set,
                                    uint64_t place, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    enum rtune_data data;
    memset(check, 0, sizeof(*check));
    check->input = input;
    check->view.problem = *problem;
    check->view.set = set;
    check->view.seed = input->rig->seed;
    TRY(rtune_data_select(problem, set, &data, err));
    TRY(rtune_input_fill(input, data, problem->dtype, problem->n, err));
    TRY(rtune_input_words(input, data, problem->dtype, problem->n, &check->view.words, err));
    check->view.poke =
        rtune_data_poke(problem, set, check->view.seed, &check->view.words, place % problem->n);
    TRY(rtune_input_poke(input, &check->view.poke, err));
done:
    return status;
}

enum rtune_status rtune_check_end(struct rtune_check *check, struct rtune_error *err) {
    struct rtune_poke none = {.active = false};
    check->view.poke = none;
    return rtune_input_poke(check->input, &none, err);
}

void rtune_check_device_failed(rtune_rig *rig, const struct rtune_error *why,
                               struct rtune_verdict *verdict) {
    struct rtune_error again;
    snprintf(verdict->detail, sizeof(verdict->detail), "%s", why->message);
    verdict->fatal = rtune_rig_wait(rig, &again) != RTUNE_OK;
    verdict->reason = verdict->fatal ? RTUNE_REASON_RUNTIME : RTUNE_REASON_CONSTRAINTS;
}

/* Run twice, with results in outputs 0 and 1, on a workspace that was zero before. */
static enum rtune_status run_twice(struct rtune_check *check, const struct rtune_shot *shot,
                                   unsigned char results[2][RTUNE_RIG_OUTPUT_STRIDE], double *us,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_rig *rig = check->input->rig;
    const struct rtune_device_ops *ops = rig->dev->ops;
    struct rtune_shot run = *shot;
    TRY(ops->mem_set(rig->dev, rig->workspace, 0, rtune_workspace_bytes(), rig->stream, err));
    for (uint32_t k = 0; k < 2; k++)
        TRY(ops->mem_set(rig->dev, rtune_rig_output(rig, k), poisons[k], RTUNE_RIG_OUTPUT_STRIDE,
                         rig->stream, err));
    for (uint32_t k = 0; k < 2; k++) {
        run.output = k;
        uint64_t start = rtune_clock_ns();
        TRY(rtune_rig_launch(rig, &run, err));
        if (k == 1) TRY(rtune_rig_wait(rig, err));
        double took = (double)(rtune_clock_ns() - start) / 1000.0;
        if (us != NULL && (k == 0 || took < *us || rig->dev->cuda)) *us = took;
    }
    TRY(ops->mem_get(rig->dev, results, rtune_rig_output(rig, 0), 2 * RTUNE_RIG_OUTPUT_STRIDE,
                     err));
done:
    return status;
}

/* Nothing but the result may have been written. */
static bool rest_untouched(const unsigned char *result, uint32_t size, unsigned char poison) {
    for (uint32_t i = size; i < RTUNE_RIG_OUTPUT_STRIDE; i++)
        if (result[i] != poison) return false;
    return true;
}

static void check_view(struct rtune_check *check, const struct rtune_data_view *view,
                       const struct rtune_shot *shot, const struct rtune_config *config, double *us,
                       struct rtune_verdict *verdict) {
    unsigned char results[2][RTUNE_RIG_OUTPUT_STRIDE];
    char detail[256];
    struct rtune_expect expect;
    struct rtune_error err = {.status = RTUNE_OK};
    struct rtune_shot run = *shot;
    uint64_t threads = (uint64_t)shot->grid * config->block;
    run.first = view->first;
    run.n = view->problem.n;
    memset(verdict, 0, sizeof(*verdict));
    if (run_twice(check, &run, results, us, &err) != RTUNE_OK) {
        rtune_check_device_failed(check->input->rig, &err, verdict);
        return;
    }
    rtune_data_expect(view, rtune_ceil_div(run.n, threads), &expect);
    for (int k = 0; k < 2; k++) {
        bool right = rtune_data_matches(&expect, results[k], poisons[k], detail, sizeof(detail));
        if (right && rest_untouched(results[k], expect.size, poisons[k])) continue;
        if (right) snprintf(detail, sizeof(detail), "wrong result: bytes after it were written");
        verdict->reason = RTUNE_REASON_CORRECTNESS;
        snprintf(verdict->detail, sizeof(verdict->detail), "%s, n=%llu, first=%llu, run %d of 2",
                 detail, (unsigned long long)run.n, (unsigned long long)run.first, k + 1);
        return;
    }
}

void rtune_check_whole(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, double *us,
                       struct rtune_verdict *verdict) {
    check_view(check, &check->view, shot, config, us, verdict);
}

/* The first n elements, at most a few thousand, with words computed here. */
static struct rtune_data_view head_of(const struct rtune_check *check, enum rtune_data data,
                                      uint64_t n) {
    struct rtune_data_view view = check->view;
    view.problem.n = n;
    rtune_data_words_init(&view.words, data);
    for (uint64_t i = 0; i < n; i++)
        rtune_data_words_add(&view.words, data, view.problem.dtype, view.seed, i);
    return view;
}

void rtune_check_parts(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, struct rtune_verdict *verdict) {
    enum rtune_data data = check->input->data;
    uint64_t n = check->view.problem.n;
    uint64_t few = rtune_min_u64(n, shot->grid > 2 ? shot->grid - 1 : 2);
    const uint64_t heads[2] = {1, few};
    for (int k = 0; k < 2; k++) {
        struct rtune_data_view view = head_of(check, data, heads[k]);
        check_view(check, &view, shot, config, NULL, verdict);
        if (verdict->reason != RTUNE_REASON_CORRECT) return;
    }
    /* The words of extremes cannot lose an element; there the poke decides, if it is in the range.
     */
    bool poke_decides = check->view.poke.active && check->view.poke.place > 0;
    if (n < 2 || (data == RTUNE_DATA_EXTREME && !poke_decides)) return;
    struct rtune_data_view tail = check->view;
    rtune_data_words_drop(&tail.words, data, tail.problem.dtype, tail.seed, 0);
    tail.first = 1;
    tail.problem.n = n - 1;
    check_view(check, &tail, shot, config, NULL, verdict);
}
