/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/check.h: verification of candidates: run them on known data and compare with what the data
 * say, poisoned outputs before and the bytes around the result after. The workspace is zero before
 * the first of two runs, so that a kernel that does not leave it as it found it is found out. The
 * data stay where they are while candidates are timed, and what they left then is compared too.
 */
#ifndef RTUNE_TUNER_CHECK_H
#define RTUNE_TUNER_CHECK_H

#include "tuner/input.h"

/* What is set up for all candidates at one (problem, n). */
struct rtune_check {
    struct rtune_input *input; /* borrowed */
    struct rtune_recipe recipe;
    struct rtune_data_view view;
    /* Mode reproducible on RANDOM data: what the first candidate gave, and all others must. */
    bool bits_known;
    unsigned char bits[16];
};

struct rtune_verdict {
    enum rtune_reason reason; /* CORRECT if all is well */
    bool fatal;               /* the device does not answer any more */
    char detail[512];
};

/* Fill the input, compute the reference, place the poke near place. UNSUPPORTED if the set does not
 * apply to the problem. */
enum rtune_status rtune_check_begin(struct rtune_check *check, struct rtune_input *input,
                                    const struct rtune_problem *problem, enum rtune_data_set set,
                                    uint64_t place, struct rtune_error *err);
/* Take the poke back. */
enum rtune_status rtune_check_end(struct rtune_check *check, struct rtune_error *err);

/* Is the input so large that a launch on it is worth saving? Then it is run once on all of it, and
 * again on a few elements, instead of twice. */
bool rtune_check_is_large(const struct rtune_problem *problem);
/* Run a candidate twice on the whole input; *us (may be NULL) gets the shorter time by the host's
 * clock. */
void rtune_check_whole(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, double *us,
                       struct rtune_verdict *verdict);
/* And on parts of it: one element, fewer elements than blocks (the second of two inputs off by
 * one), and, unless it is large, all but the first, whose base is aligned to one element only.
 * EXACT data only. */
void rtune_check_parts(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, struct rtune_verdict *verdict);

/* Poison the outputs that are timed into; and get all of them, RTUNE_RIG_TIMED_MAX strides. */
enum rtune_status rtune_check_poison(struct rtune_check *check, struct rtune_error *err);
enum rtune_status rtune_check_collect(struct rtune_check *check, unsigned char *results,
                                      struct rtune_error *err);
/* Judge what one candidate's last timed launch left in its stride. */
void rtune_check_timed(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, const unsigned char *result,
                       struct rtune_verdict *verdict);

/* A device call failed while a candidate ran: CONSTRAINTS if the device still works, else RUNTIME.
 */
void rtune_check_device_failed(rtune_rig *rig, const struct rtune_error *why,
                               struct rtune_verdict *verdict);

#endif /* RTUNE_TUNER_CHECK_H */
