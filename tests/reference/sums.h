/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h: the parts of the reference for floats; see reference.h. */
#ifndef RTUNE_TESTS_REFERENCE_SUMS_H
#define RTUNE_TESTS_REFERENCE_SUMS_H

#include "tests/reference/element.h"
#include "tests/reference/reference.h"

/* f32 for f16, bf16 and f32; f64. */
enum rtune_dtype sums_accumulator(enum rtune_dtype dtype);
/* One element x (y of dot) of value and, of sums, its term in the accumulator's type. */
void sums_add(struct reference *r, double x, double y);
void sums_end(const struct reference *r, uint64_t depth, struct reference_result *result);
/* The bound of the error of a wide result, without its own rounding to the result type. */
long double sums_bound(const struct reference *r, uint64_t depth);

void product_add(struct reference *r, double x);
void product_end(const struct reference *r, struct reference_result *result);

void tree_add(struct reference *r, double x, double y);
void tree_end(const struct reference *r, struct reference_result *result);

void fixed_add(struct reference *r, double x, double y);

/* What is stored of a wide sum, before it is rounded to a native type: the sum, or its root. */
double sums_stored(const struct rtune_problem *p, double sum);

/* Write bits of a dtype as the exact result. */
void result_put(struct reference_result *result, size_t at, enum rtune_dtype dtype, uint64_t bits);

#endif
