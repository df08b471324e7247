/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h: the right result of any problem over an array on the host, straight from the
 * definitions (docs/ACCURACY.md, docs/REPRODUCIBLE.md), sharing no code with the kernels. Streamed:
 * elements are added in order, and the result may be asked for after any number of them. Of the
 * flags of a problem RTUNE_ROOT is honoured; for RTUNE_ACCUMULATE there is a function.
 */
#ifndef RTUNE_TESTS_REFERENCE_REFERENCE_H
#define RTUNE_TESTS_REFERENCE_REFERENCE_H

#include "tests/reference/exact.h"

#include "rtune/rtune.h"

enum { REFERENCE_RESIDUES = 256, REFERENCE_LEVELS = 64 };

/* A float sum, exactly, and what tells whether every order of summation is exact. */
struct reference_sum {
    struct exact exact;
    long double magnitude; /* sum of |terms| */
    int lowest;            /* exponent of the lowest bit of any term */
    bool nan, plus, minus; /* NaN, +inf and -inf among the terms */
    bool up, down;         /* terms of either sign */
};

/* A float product: value x 2^exponent with |value| in [1/2, 1), and the bounds of all partial ones.
 */
struct reference_product {
    long double value;
    int64_t exponent;
    double above, below; /* sums of the positive and of the negative logarithms, base 2 */
    int64_t lowest;      /* sum of the negative exponents of the factors' lowest bits */
    int64_t bits;        /* significant bits, summed */
    bool nan, infinite, zero, negative;
};

struct reference_tree {
    double residue[REFERENCE_RESIDUES];
    double node[REFERENCE_LEVELS]; /* complete subtrees that wait for their right neighbour */
    uint64_t leaves, in_leaf;
};

struct reference {
    struct rtune_problem problem; /* n: elements so far */
    double scale;
    uint64_t word[2]; /* integers, flags, counts; bits of extremes */
    int64_t index;
    bool any_number; /* an extreme has seen something that is not NaN */
    struct reference_sum sum;
    struct reference_product product;
    struct reference_tree tree;
};

/* What a result may be. */
struct reference_result {
    size_t size;
    bool empty; /* there is none: RTUNE_EMPTY */
    bool exact; /* these bytes and no other */
    bool open;  /* an intermediate result may overflow or not, as the order is: anything goes */
    unsigned char bytes[16];
    long double low, high; /* not exact: a float from low to high */
};

void reference_begin(struct reference *r, const struct rtune_problem *problem, double scale);
/* in2 of dot only; count elements. */
void reference_add(struct reference *r, const void *in, const void *in2, uint64_t count);
/* depth: additions on the longest path from a term to the result; 0 for reference_depth. */
void reference_end(const struct reference *r, uint64_t depth, struct reference_result *result);
/* A depth that no config of any device exceeds, that of the mode reproducible, and that of one
 * config of a cuda device. */
uint64_t reference_depth(uint64_t n);
uint64_t reference_depth_reproducible(const struct rtune_problem *problem);
uint64_t reference_depth_of(uint64_t n, const struct rtune_config *config, uint32_t grid);

/* The whole of it in one call. problem->n elements. */
void reference_compute(const struct rtune_problem *problem, const struct rtune_args *args,
                       struct reference_result *result);
/* What RTUNE_ACCUMULATE makes of it where out held `before`. */
void reference_accumulate(const struct rtune_problem *problem, const void *before,
                          struct reference_result *result);
/* Bytes of a result. */
size_t reference_size(const struct rtune_problem *problem);
/* Is got (its bytes) the result? If not, message says what is and what should be. */
bool reference_check(const struct rtune_problem *problem, const struct reference_result *result,
                     const void *got, char *message, size_t size);

/* How far a float sum (its bytes) is from the exact one, and how far it may be, by the formulas of
 * docs/ACCURACY.md. Of finite sums only. */
struct reference_error {
    long double exact, error, bound, magnitude;
};
void reference_measure(const struct reference *r, const void *got, uint64_t depth,
                       struct reference_error *error);

#endif
