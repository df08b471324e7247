/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.h: data sets for every op and dtype, and memory with forbidden pages on both sides.
 */
#ifndef RTUNE_TESTS_CPU_DATA_H
#define RTUNE_TESTS_CPU_DATA_H

#include "kernels/kernels.h"

enum data_set {
    DATA_EXACT, /* every order of summation or multiplication is exact (floats), any bits (integers)
                 */
    DATA_RANDOM, /* floats that round; sums and products have a bound; integers that are often 0 */
    DATA_ZEROS,  /* zeros of both signs among numbers */
    DATA_NANS,   /* a few NaNs of both signs */
    DATA_SET_COUNT
};
/* How many sets there are for a dtype. */
int data_sets(enum rtune_dtype dtype);

/* Element i of a data set of a problem (op, dtype and mode), written to element i of out. */
void data_fill(const struct rtune_problem *problem, enum data_set set, uint64_t seed, void *out,
               uint64_t n);

/* What a reduction reads. */
struct data {
    const void *in, *in2;
    double scale;
};

/* size bytes that end (and, as far as whole pages go, start) at a page that faults. */
struct guarded {
    unsigned char *map, *start, *end;
    size_t map_size;
};
void guarded_make(struct guarded *guarded, size_t size);
void guarded_free(struct guarded *guarded);

/* RTUNE_TEST_SEED, or a fixed seed; printed. */
uint64_t test_seed(void);

#endif /* RTUNE_TESTS_CPU_DATA_H */
