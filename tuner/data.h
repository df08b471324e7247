/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/data.h: the inputs that candidates are verified on, and the results they must give.
 *
 * Inputs come from the counter-based generator of kernels/device/support.cuh; data.c has the same
 * in C. A reference is eight integer words over a range of indices (see there), from which the
 * expected result is made here. Nothing here shares code with the reduction kernels, touches a
 * device or allocates.
 *
 * Two data sets. EXACT makes every order of reduction exact, so the result must be equal to the
 * bit; every element matters to it. RANDOM is real-valued (sums and products, compared within a
 * bound) or holds a NaN (min and max).
 */
#ifndef RTUNE_TUNER_DATA_H
#define RTUNE_TUNER_DATA_H

#include "kernels/kernels.h"

/* The generator's data sets; the values are the device's. */
enum rtune_data {
    RTUNE_DATA_SUM_EXACT,
    RTUNE_DATA_SUM_RANDOM,
    RTUNE_DATA_PROD_EXACT,
    RTUNE_DATA_PROD_RANDOM,
    RTUNE_DATA_EXTREME
};

enum rtune_data_set { RTUNE_SET_EXACT, RTUNE_SET_RANDOM };

/* Which data a problem is verified on. UNSUPPORTED for ops and dtypes without a generator, and for
 * RANDOM where it would add nothing (integers). */
enum rtune_status rtune_data_select(const struct rtune_problem *problem, enum rtune_data_set set,
                                    enum rtune_data *data, struct rtune_error *err);

/* Element i, its bits in the low bytes. */
uint64_t rtune_data_element(enum rtune_data data, enum rtune_dtype dtype, uint64_t seed,
                            uint64_t i);

struct rtune_data_words {
    uint64_t word[8];
};
/* Words of an empty range; element i added; element i taken out again (not for EXTREME, whose words
 * it leaves alone). */
void rtune_data_words_init(struct rtune_data_words *words, enum rtune_data data);
void rtune_data_words_add(struct rtune_data_words *words, enum rtune_data data,
                          enum rtune_dtype dtype, uint64_t seed, uint64_t i);
void rtune_data_words_drop(struct rtune_data_words *words, enum rtune_data data,
                           enum rtune_dtype dtype, uint64_t seed, uint64_t i);

/* One element that is overwritten so that a kernel that skips it is found out. Sums need none: no
 * element of theirs is zero. */
struct rtune_poke {
    bool active;
    uint64_t place; /* index */
    uint64_t bits;
};
/* The poke for a problem near a wanted place (moved off the extreme of the rest where a NaN goes).
 * words are those of all of [0, problem->n). */
struct rtune_poke rtune_data_poke(const struct rtune_problem *problem, enum rtune_data_set set,
                                  uint64_t seed, const struct rtune_data_words *words,
                                  uint64_t place);

/* A range of the generator that a candidate reduces. */
struct rtune_data_view {
    struct rtune_problem problem; /* n elements ... */
    uint64_t first;               /* ... from this index */
    enum rtune_data_set set;
    uint64_t seed;
    struct rtune_data_words words; /* over the range, without the poke */
    struct rtune_poke poke;
};

/* What a result must be. */
struct rtune_expect {
    enum rtune_dtype dtype; /* of the result */
    uint32_t size;          /* bytes */
    bool exact;
    uint64_t bits;           /* exact: all of them */
    double value, tolerance; /* else: |result - value| <= tolerance */
};
/* chain: additions that one thread may do one after the other, for the bound of RANDOM data: it is
 * (chain + 64) * unit roundoff * sum of magnitudes (Higham, Accuracy and Stability of Numerical
 * Algorithms, 2nd ed., section 4.2). */
void rtune_data_expect(const struct rtune_data_view *view, uint64_t chain,
                       struct rtune_expect *expect);
/* Does a result satisfy it? If not, detail says what came instead of what. */
bool rtune_data_matches(const struct rtune_expect *expect, const void *result, unsigned char poison,
                        char *detail, size_t size);

#endif /* RTUNE_TUNER_DATA_H */
