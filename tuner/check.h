/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/check.h: verification of candidates on a rig, before one of them can win. The input is a
 * generator's, the expected result comes from integers, the output is poisoned, and the workspace
 * is zero before the first of two runs, so that a kernel that does not leave it as it found it is
 * found out.
 */
#ifndef RTUNE_TUNER_CHECK_H
#define RTUNE_TUNER_CHECK_H

#include "tuner/input.h"

/* What is set up for all candidates at one (problem, n). */
struct rtune_check {
    struct rtune_input *input; /* borrowed */
    struct rtune_data_view view;
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

/* Run a candidate twice on the whole input; *us (may be NULL) gets the shorter time by the host's
 * clock. */
void rtune_check_whole(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, double *us,
                       struct rtune_verdict *verdict);
/* And on parts of it: one element, fewer elements than blocks, and all but the first, whose base is
 * aligned to one element only. EXACT data only. */
void rtune_check_parts(struct rtune_check *check, const struct rtune_shot *shot,
                       const struct rtune_config *config, struct rtune_verdict *verdict);

/* A device call failed while a candidate ran: CONSTRAINTS if the device still works, else RUNTIME.
 */
void rtune_check_device_failed(rtune_rig *rig, const struct rtune_error *why,
                               struct rtune_verdict *verdict);

#endif /* RTUNE_TUNER_CHECK_H */
