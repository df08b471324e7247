/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h: data sets, results computed one element at a time in another way than the kernels
 * do, and memory with forbidden pages on both sides.
 */
#ifndef RTUNE_TESTS_CPU_REFERENCE_H
#define RTUNE_TESTS_CPU_REFERENCE_H

#include "kernels/cpu/cpu.h"

enum data_set {
    DATA_EXACT, /* every order of summation or multiplication is exact (floats), any bits (integers)
                 */
    DATA_RANDOM, /* floats that round; sums and products have a bound */
    DATA_ZEROS,  /* zeros of both signs among numbers */
    DATA_NANS,   /* a few NaNs of both signs */
    DATA_SET_COUNT
};

/* Element i of a data set of a problem (op and dtype), written to element i of out. */
void data_fill(const struct rtune_problem *problem, enum data_set set, uint64_t seed, void *out,
               uint64_t n);

/* The right result, and by how much a float may differ from it (0: not at all). */
struct expected {
    union rtune_cpu_value value;
    double tolerance;
};
struct expected reference(const struct rtune_problem *problem, enum data_set set, const void *in);

/* Is got the result, in all its bits or within the tolerance? */
bool result_matches(const struct rtune_problem *problem, const struct expected *expected,
                    const union rtune_cpu_value *got);

/* size bytes that end (and, as far as whole pages go, start) at a page that faults. */
struct guarded {
    unsigned char *map, *start, *end;
    size_t map_size;
};
void guarded_make(struct guarded *guarded, size_t size);
void guarded_free(struct guarded *guarded);

/* RTUNE_TEST_SEED, or a fixed seed; printed. */
uint64_t test_seed(void);

#endif /* RTUNE_TESTS_CPU_REFERENCE_H */
