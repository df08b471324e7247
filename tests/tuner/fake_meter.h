/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/fake_meter.h: a meter over a landscape that a test draws, with seeded noise. */
#ifndef RTUNE_TESTS_TUNER_FAKE_METER_H
#define RTUNE_TESTS_TUNER_FAKE_METER_H

#include "tuner/meter.h"

struct fake_meter {
    struct rtune_meter base;
    /* Time of a config; negative: it fails, with the reason -us. */
    double (*us)(const struct rtune_problem *problem, const struct rtune_config *config);
    double noise; /* relative size of one sample's noise: a skewed one, with outliers */
    double drift; /* relative size of what all candidates of a round share */
    uint64_t seed;
    uint64_t taken; /* samples so far */
    size_t requests, thorough;
    size_t interrupt_at; /* request that is interrupted, from 1; 0: none */
};

void fake_meter_init(struct fake_meter *meter,
                     double (*us)(const struct rtune_problem *, const struct rtune_config *),
                     double noise, uint64_t seed);

/* A config in few words. */
struct rtune_config fake_config(uint32_t block, uint32_t items, uint32_t grid);

#endif /* RTUNE_TESTS_TUNER_FAKE_METER_H */
