/* SPDX-License-Identifier: Apache-2.0 */
/* effort.c: a ladder of shares, each cheaper than the one before it. */
#include "tuner/effort.h"

#include "base/num.h"

#include <math.h>

static const char *const names[RTUNE_EFFORT_COUNT] = {"quick", "standard", "exhaustive"};

const char *rtune_effort_name(enum rtune_effort effort) {
    return (unsigned)effort < RTUNE_EFFORT_COUNT ? names[effort] : NULL;
}

#define ALL ((size_t)-1)
enum { SAMPLES_MOST = 101 };

static const struct rtune_share ladder[] = {
    /* candidates, {samples of the three stages, how many go on to the second and third} */
    {ALL, {5, 11, 41, 48, 12}}, /* exhaustive */
    {ALL, {3, 8, 25, 24, 8}},   /* standard */
    {128, {3, 6, 17, 16, 6}},   /* quick */
    {48, {2, 4, 11, 12, 5}},    {24, {2, 3, 9, 8, 4}}, {12, {1, 2, 7, 5, 3}},
    {8, {1, 0, 5, 0, 3}},       {4, {1, 0, 3, 0, 2}},
};

static size_t first_rung(enum rtune_effort effort) {
    return effort == RTUNE_EFFORT_EXHAUSTIVE ? 0 : effort == RTUNE_EFFORT_STANDARD ? 1 : 2;
}

/* So that all ops and dtypes at all sizes fit ten minutes: 35 classes, 180 kinds. */
static const double caps[RTUNE_EFFORT_COUNT][RTUNE_ROLE_COUNT] = {
    [RTUNE_EFFORT_QUICK] = {0.5, 0.05, 0.012},
    [RTUNE_EFFORT_STANDARD] = {4.0, 0.15, 0.025},
    [RTUNE_EFFORT_EXHAUSTIVE] = {INFINITY, INFINITY, INFINITY},
};

double rtune_effort_cap(enum rtune_effort effort, enum rtune_role role) {
    return caps[effort][role];
}

double rtune_effort_seconds(const struct rtune_share *share, const struct rtune_cost *cost) {
    /* A verification is two launches and a few waits. Finalists have two on random data and two on
     * all but one element more, and some on a few elements; large inputs have one in all. */
    double sample = cost->overhead_us + cost->launch_us;
    double verify = 80 + (cost->large ? 1 : 2) * cost->launch_us;
    double thorough = 300 + (cost->large ? 0 : 4) * cost->launch_us;
    const struct rtune_rounds *r = &share->rounds;
    double second = r->samples2 == 0 ? 0 : fmin(2 + r->keep1, (double)share->candidates);
    double third = fmin(2 + r->keep2, (double)share->candidates);
    double us = (double)share->candidates * (r->samples1 * sample * 1.3 + verify) +
                second * (r->samples2 * sample + verify) +
                third * (r->samples3 * sample + verify + thorough);
    return us / 1e6;
}

/* Where bringing the caches into their state takes longer than the launch, a launch is short, and
 * the noise of one sample is larger than the differences between good configs: finalists get as
 * many samples as there is time for. */
static void add_samples(struct rtune_share *share, const struct rtune_cost *cost, double seconds) {
    struct rtune_share more = *share;
    while (cost->launch_us <= cost->overhead_us && isfinite(seconds)) {
        more.rounds.samples3 = share->rounds.samples3 * 3 / 2;
        if (more.rounds.samples3 > SAMPLES_MOST || rtune_effort_seconds(&more, cost) > seconds)
            break;
        *share = more;
    }
}

struct rtune_share rtune_effort_share(enum rtune_effort effort, size_t candidates,
                                      const struct rtune_cost *cost, double seconds) {
    struct rtune_share share = ladder[RTUNE_ARRAY_SIZE(ladder) - 1];
    for (size_t k = first_rung(effort); k < RTUNE_ARRAY_SIZE(ladder); k++) {
        share = ladder[k];
        share.candidates = rtune_min_u64(share.candidates, candidates);
        if (rtune_effort_seconds(&share, cost) <= seconds) break;
    }
    add_samples(&share, cost, seconds);
    return share;
}
