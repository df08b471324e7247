/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/data.h: the inputs that candidates are verified on, and the results they must give.
 *
 * Inputs come from the counter-based generator of kernels/device/support.cuh, whose text data.c
 * includes. A reference is eight integer words over a range of indices (see there), from which the
 * expected result is made here. Nothing here shares code with the reduction kernels, touches a
 * device or allocates.
 *
 * Two data sets. EXACT makes every order of reduction exact, so the result must be equal to the
 * bit; every element, or one that is poked, matters to it. RANDOM is real-valued (sums and
 * products, compared within a bound) or holds a NaN (min, max, minmax and arg ops).
 */
#ifndef RTUNE_TUNER_DATA_H
#define RTUNE_TUNER_DATA_H

#include "kernels/kernels.h"

enum rtune_data_set { RTUNE_SET_EXACT, RTUNE_SET_RANDOM };

/* What is generated for a problem, and what its words hold. */
struct rtune_recipe {
    enum rtune_dtype dtype;
    uint32_t data; /* enum rtune_support_data */
    uint32_t fold; /* enum rtune_support_fold */
};

/* Which data a problem is verified on. UNSUPPORTED for RANDOM where it would add nothing: integers,
 * logic, results that are narrower than their sums. */
enum rtune_status rtune_data_select(const struct rtune_problem *problem, enum rtune_data_set set,
                                    struct rtune_recipe *recipe, struct rtune_error *err);

/* Does a problem have two inputs? And the second one's seed. */
bool rtune_data_is_pair(const struct rtune_problem *problem);
uint64_t rtune_data_second_seed(uint64_t seed);
/* The scale of mode fixed: a power of two that makes every term of EXACT data an integer. */
double rtune_data_scale(void);

/* Element i, its bits in the low bytes. */
uint64_t rtune_data_element(const struct rtune_recipe *recipe, uint64_t seed, uint64_t i);

struct rtune_data_words {
    uint64_t word[8];
};
/* Words of an empty range; element i (of the second input i2) added; element i of all inputs taken
 * out again. Extremes also get the first index of the least ([2]) and of the greatest ([3])
 * element, which the device's words do not have. */
void rtune_data_words_init(struct rtune_data_words *words, uint32_t fold);
void rtune_data_words_add(struct rtune_data_words *words, const struct rtune_recipe *recipe,
                          uint64_t seed, uint64_t i, uint64_t i2);
/* false, and nothing happens, if the words may depend on element i in a way that cannot be undone.
 */
bool rtune_data_words_drop(struct rtune_data_words *words, const struct rtune_recipe *recipe,
                           uint64_t seed, uint64_t i);

/* Elements of the first input that are overwritten, so that a kernel that skips one is found out:
 * none, one, or two (arg ops). */
enum { RTUNE_POKES = 2 };
struct rtune_poke {
    uint32_t count;
    uint64_t place[RTUNE_POKES]; /* indices, distinct */
    uint64_t bits[RTUNE_POKES];
};
/* The poke for a problem near a wanted place (moved off the extremes of the rest where a NaN goes).
 * words are those of all of [0, problem->n). */
struct rtune_poke rtune_data_poke(const struct rtune_problem *problem, enum rtune_data_set set,
                                  uint64_t seed, const struct rtune_data_words *words,
                                  uint64_t place);

/* A range of the generator that a candidate reduces. */
struct rtune_data_view {
    struct rtune_problem problem; /* n elements ... */
    uint64_t first;               /* ... from this index, */
    uint64_t first2;              /* and of the second input from this one */
    enum rtune_data_set set;
    uint64_t seed;
    struct rtune_data_words words; /* over the range, without the poke */
    struct rtune_poke poke;
};
/* The first n elements of one from 0, a few thousand at most: the words are computed here. Of a
 * second input they begin at first2. */
struct rtune_data_view rtune_data_head(const struct rtune_data_view *view, uint64_t n,
                                       uint64_t first2);
/* Is the first, or any, poke in the range? */
bool rtune_data_poked(const struct rtune_data_view *view);

/* What a result must be. */
struct rtune_expect {
    struct rtune_problem problem;
    enum rtune_dtype dtype; /* of the result, or of its parts */
    uint32_t size;          /* bytes */
    bool exact;
    unsigned char bytes[16]; /* exact: all of them */
    double value, tolerance; /* else: |result - value| <= tolerance */
};
/* chain: additions that one thread may do one after the other. The bound of RANDOM data, with u the
 * unit roundoff of the accumulator and S the sum of magnitudes, is (chain + 64) u S (Higham,
 * Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), and for compensated sums
 * 3 u |value| + ((chain + 64) u)^2 S (section 4.3). */
void rtune_data_expect(const struct rtune_data_view *view, uint64_t chain,
                       struct rtune_expect *expect);
/* Does a result satisfy it? If not, detail says what came instead of what. */
bool rtune_data_matches(const struct rtune_expect *expect, const void *result, unsigned char poison,
                        char *detail, size_t size);

#endif /* RTUNE_TUNER_DATA_H */
