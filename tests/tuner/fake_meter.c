/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/fake_meter.c: samples from a landscape. */
#include "tests/tuner/fake_meter.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double uniform(struct fake_meter *m, uint64_t stream, uint64_t i) {
    return (double)(rtune_rng_at(m->seed + stream, i) >> 11) * 0x1p-53;
}

static enum rtune_status prepare(struct rtune_meter *base, uint64_t bytes,
                                 struct rtune_error *err) {
    (void)base;
    (void)bytes;
    (void)err;
    return RTUNE_OK;
}

/* Exponential noise above the true time; 2 % of the samples are far off; ticks of 32 ns. */
static double sample(struct fake_meter *m, double us, double shared) {
    uint64_t i = m->taken++;
    double x = us * (1 - m->noise * log(1 - uniform(m, 1, i)) * 0.5) * shared;
    if (uniform(m, 2, i) < 0.02) x *= 1 + 3 * uniform(m, 3, i);
    return floor(x / 0.032 + 0.5) * 0.032;
}

static enum rtune_status measure(struct rtune_meter *base, const struct rtune_measure *measure,
                                 struct rtune_measured *measured,
                                 struct rtune_measure_report *report, struct rtune_error *err) {
    struct fake_meter *m = (struct fake_meter *)base;
    memset(report, 0, sizeof(*report));
    m->requests++;
    if (measure->thorough) m->thorough++;
    if (m->requests == m->interrupt_at) return rtune_err_set(err, RTUNE_INTERRUPTED, "interrupted");
    for (size_t k = 0; k < measure->count; k++) {
        double us = m->us(&measure->problem, &measure->candidates[k].config);
        measured[k].reason = us < 0 ? (enum rtune_reason)(int)-us : RTUNE_REASON_CORRECT;
        measured[k].sample_count = us < 0 ? 0 : measure->samples;
        snprintf(measured[k].detail, sizeof(measured[k].detail), "%s", us < 0 ? "drawn so" : "");
    }
    for (uint32_t r = 0; r < measure->samples; r++) {
        double shared = 1 + m->drift * uniform(m, 4, m->taken);
        for (size_t k = 0; k < measure->count; k++) {
            double us = m->us(&measure->problem, &measure->candidates[k].config);
            if (us > 0) measured[k].samples[r] = sample(m, us, shared);
        }
    }
    return RTUNE_OK;
}

static void close_meter(struct rtune_meter *base) { (void)base; /* it is the test's */ }

void fake_meter_init(struct fake_meter *meter,
                     double (*us)(const struct rtune_problem *, const struct rtune_config *),
                     double noise, uint64_t seed) {
    static const struct rtune_meter_ops ops = {prepare, measure, close_meter, NULL};
    memset(meter, 0, sizeof(*meter));
    meter->base.ops = &ops;
    meter->base.info.cuda = true;
    meter->us = us;
    meter->noise = noise;
    meter->drift = 0.05;
    meter->seed = seed;
}

struct rtune_config fake_config(uint32_t block, uint32_t items, uint32_t grid) {
    return (struct rtune_config){.variant = RTUNE_CASCADED,
                                 .block = block,
                                 .items = items,
                                 .grid = {RTUNE_GRID_BLOCKS, grid},
                                 .finish = grid == 1 ? RTUNE_FINISH_ONE : RTUNE_FINISH_SLOTS};
}
