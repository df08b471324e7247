/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/search.h: the best of some candidates for one problem at one size, by racing: everybody
 * runs a few times, the best run again, and the last few are compared pair by pair, round by round.
 * Knows candidates and a meter, no space, store or clock.
 */
#ifndef RTUNE_TUNER_SEARCH_H
#define RTUNE_TUNER_SEARCH_H

#include "tuner/meter.h"
#include "tuner/stats.h"

/* How much is measured. The candidates that go on are those within a ratio of the best, at most
 * keep; the default and the favourite always do. */
struct rtune_rounds {
    uint32_t samples1, samples2, samples3;
    uint32_t keep1, keep2;
};

/* What became of one candidate. */
struct rtune_ranked {
    size_t candidate;
    enum rtune_reason reason;
    uint32_t stage; /* rounds it took part in, 1 to 3; 0 if it failed */
    double us;      /* median of the last one; 0 if it failed */
};

struct rtune_found {
    size_t winner; /* index of a candidate; SIZE_MAX if every one failed */
    struct rtune_summary us;
    double default_us;            /* of candidate 0 in the same rounds; 0 if it failed */
    struct rtune_ranked *ranking; /* of all, best first, failures last; freed with free() */
    size_t count;
    struct rtune_measure_report report; /* of all rounds */
};

enum { RTUNE_NO_FAVOURITE = -1 };
/* candidates[0] is the default. favourite is the index of the one that wins ties (the neighbouring
 * size's winner), or RTUNE_NO_FAVOURITE. A candidate wins over the default only beyond the noise of
 * their paired differences. Errors are the meter's. */
enum rtune_status rtune_search(struct rtune_meter *meter, const struct rtune_problem *problem,
                               const struct rtune_candidate *candidates, size_t count,
                               long favourite, const struct rtune_rounds *rounds,
                               struct rtune_found *found, struct rtune_error *err);

/* Which of two configs is simpler: fewer blocks, fewer items, fewer threads, plainer loads. A total
 * order: < 0 if a is. Decides ties, so that equal measurements give equal winners. */
int rtune_search_simpler(const struct rtune_config *a, const struct rtune_config *b);

/* Where, between two sizes, b becomes better than a: the first n that b should serve, in (low,
 * high]. steps bisections (in log n) with samples rounds each; without any, the geometric mean. */
enum rtune_status rtune_search_between(struct rtune_meter *meter, const struct rtune_problem *kind,
                                       uint64_t low, uint64_t high,
                                       const struct rtune_candidate pair[2], uint32_t steps,
                                       uint32_t samples, uint64_t *from, struct rtune_error *err);

#endif /* RTUNE_TUNER_SEARCH_H */
