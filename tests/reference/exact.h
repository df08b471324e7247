/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact.h: sums of doubles and of products of two doubles without any rounding, in one fixed-point
 * number that is wide enough for all of them (Kulisch's long accumulator). Below 2^63 terms.
 */
#ifndef RTUNE_TESTS_REFERENCE_EXACT_H
#define RTUNE_TESTS_REFERENCE_EXACT_H

#include <stdint.h>

enum {
    EXACT_POINT =
        2304, /* bits behind the binary point: a product ends above 2^-2252 as it is added */
    EXACT_LIMBS = (EXACT_POINT + 2048 + 128) / 64
};

/* Two's complement, least significant limb first; all zero is 0. */
struct exact {
    uint64_t limb[EXACT_LIMBS];
};

/* Finite arguments only. */
void exact_add(struct exact *sum, double x);
void exact_add_product(struct exact *sum, double x, double y);
/* The sum, rounded once. */
long double exact_value(const struct exact *sum);
/* |sum - x|, rounded once. */
long double exact_distance(const struct exact *sum, double x);

#endif
