/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/rounds.h: the timed part of a request. */
#ifndef RTUNE_TUNER_ROUNDS_H
#define RTUNE_TUNER_ROUNDS_H

#include "tuner/bench.h"

/* Time every live candidate once a round, in an order drawn anew each round, run->samples rounds. A
 * round beside which the probe was more than 3 % slower than at this session's best clock is taken
 * again, at most twice. */
enum rtune_status rtune_rounds_take(struct rtune_bench *bench, struct rtune_bench_run *run,
                                    struct rtune_error *err);

#endif /* RTUNE_TUNER_ROUNDS_H */
