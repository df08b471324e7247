/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/effort.h: how much is measured at one size, from the effort asked for and the time there
 * is. Counts shrink before sizes are dropped.
 */
#ifndef RTUNE_TUNER_EFFORT_H
#define RTUNE_TUNER_EFFORT_H

#include "tuner/search.h"
#include "tuner/tuner.h"

/* What a kind is among those of a session. */
enum rtune_role {
    RTUNE_ROLE_REFERENCE, /* every config of the space is a candidate */
    RTUNE_ROLE_LEAD,      /* the first of its class: begins with what was good for a reference */
    RTUNE_ROLE_FOLLOWER,  /* begins with what was good for the lead of its class */
    RTUNE_ROLE_COUNT
};

/* What one sample costs. */
struct rtune_cost {
    double overhead_us; /* beside the launch */
    double launch_us;   /* of a good candidate */
    bool large;         /* verified by fewer launches (tuner/check.h) */
};

struct rtune_share {
    size_t candidates; /* how many of those there are */
    struct rtune_rounds rounds;
};

/* Seconds that one size should take at most, however much time there is. INFINITY where the effort
 * knows no limit. */
double rtune_effort_cap(enum rtune_effort effort, enum rtune_role role);
/* The most that is measured within seconds; never less than the default and three others, three
 * rounds. */
struct rtune_share rtune_effort_share(enum rtune_effort effort, size_t candidates,
                                      const struct rtune_cost *cost, double seconds);
/* Estimated time of a share. */
double rtune_effort_seconds(const struct rtune_share *share, const struct rtune_cost *cost);

#endif /* RTUNE_TUNER_EFFORT_H */
