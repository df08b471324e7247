/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h: results computed one element at a time in another way than the kernels do: floats
 * in quadruple precision or, in mode reproducible, by the letter of docs/REPRODUCIBLE.md.
 */
#ifndef RTUNE_TESTS_CPU_REFERENCE_H
#define RTUNE_TESTS_CPU_REFERENCE_H

#include "kernels/cpu/cpu.h"
#include "tests/cpu/data.h"

/* 113 bits of significand: products of doubles are exact. */
#if defined(__x86_64__) || defined(__i386__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

/* Bits of x in a float type, rounded once, canonical; and back. */
uint64_t encode_float(enum rtune_dtype dtype, quad x);
quad decode_float(enum rtune_dtype dtype, uint64_t bits);
bool is_nan_bits(enum rtune_dtype dtype, uint64_t bits);

/* The right result, and by how much a float may differ from it (0: not at all). */
struct expected {
    union rtune_cpu_value value;
    double tolerance;
};
struct expected reference(const struct rtune_problem *problem, enum data_set set,
                          const struct data *data);
/* op(a, b) in the result type: what RTUNE_ACCUMULATE makes of two results. */
union rtune_cpu_value reference_accumulate(const struct rtune_problem *problem,
                                           const union rtune_cpu_value *a,
                                           const union rtune_cpu_value *b);

/* Is got the result, in all its bits or within the tolerance? */
bool result_matches(const struct rtune_problem *problem, const struct expected *expected,
                    const union rtune_cpu_value *got);

#endif /* RTUNE_TESTS_CPU_REFERENCE_H */
