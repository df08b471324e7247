/* SPDX-License-Identifier: Apache-2.0 */
/* tools/tune_output.h: the events of a tuning session for people (lines, a progress line) or as
 * JSON lines. */
#ifndef RTUNE_TOOLS_TUNE_OUTPUT_H
#define RTUNE_TOOLS_TUNE_OUTPUT_H

#include "tuner/tuner.h"

struct tune_output {
    bool json;
    bool lines;        /* one line for each decided problem */
    uint64_t shown_ns; /* when the progress line was drawn */
    char last[96];     /* the problem decided last, for the progress line */
};

void tune_output_init(struct tune_output *output, bool json);
/* An rtune_tune_event_fn; user is the struct. Asks for a stop when standard output is gone. */
void tune_output_event(void *user, const struct rtune_tune_event *event);

#endif /* RTUNE_TOOLS_TUNE_OUTPUT_H */
