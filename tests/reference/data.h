/* SPDX-License-Identifier: Apache-2.0 */
/* data.h: inputs for tests, made of a counter: element i depends on the seed and i alone. */
#ifndef RTUNE_TESTS_REFERENCE_DATA_H
#define RTUNE_TESTS_REFERENCE_DATA_H

#include "rtune/rtune.h"

enum reference_data {
    /* Up to 2^17 elements: every order of a float sum or product is exact. Integers of any bits;
     * extremes among zeros of both signs and, where NaN is ignored, NaNs. */
    REFERENCE_EXACT,
    /* Floats of many sizes and both signs, whose sums round; factors close to 1. */
    REFERENCE_ROUNDING,
    /* The same with a few infinities, NaNs with payloads, subnormals and zeros of either sign. */
    REFERENCE_SPECIAL,
    REFERENCE_DATA_COUNT
};

/* Fill data with count elements for a problem (its op, dtype and NaN rule). */
void reference_fill(const struct rtune_problem *problem, enum reference_data set, uint64_t seed,
                    void *data, uint64_t count);

/* The value that beats all others of min, max, minmax and the arg ops; of minmax one of the two. */
uint64_t reference_spike(const struct rtune_problem *problem, uint64_t seed);

#endif
