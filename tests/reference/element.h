/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.h: elements of every dtype as bits, as numbers and in order; conversions of f16 and bf16.
 * Written from the formats' definitions; shares nothing with the kernels. Little-endian hosts.
 */
#ifndef RTUNE_TESTS_REFERENCE_ELEMENT_H
#define RTUNE_TESTS_REFERENCE_ELEMENT_H

#include "rtune/rtune.h"

/* A binary floating-point format: bits of precision, exponent of its lowest bit, and of its largest
 * finite number (which is below 2^top). */
struct float_format {
    int precision, lowest, top;
};

size_t element_size(enum rtune_dtype dtype);
bool element_is_float(enum rtune_dtype dtype);
bool element_is_signed(enum rtune_dtype dtype);
/* Of a float dtype. */
struct float_format element_format(enum rtune_dtype dtype);

/* Element i of an array, zero-extended, and back. */
uint64_t element_get(enum rtune_dtype dtype, const void *data, uint64_t i);
void element_put(enum rtune_dtype dtype, void *data, uint64_t i, uint64_t bits);

/* The value of a float's bits, exactly. */
double element_value(enum rtune_dtype dtype, uint64_t bits);
/* The nearest number of a float dtype, ties to even, too large becomes infinite; NaN is canonical.
 */
uint64_t element_round(enum rtune_dtype dtype, long double value);
uint64_t element_nan(enum rtune_dtype dtype);
bool element_is_nan(enum rtune_dtype dtype, uint64_t bits);

/* An integer's bits, extended to 64 by its sign. */
uint64_t element_extend(enum rtune_dtype dtype, uint64_t bits);
/* All ones in a dtype's width. */
uint64_t element_mask(enum rtune_dtype dtype);
/* A number that orders all values but NaN: unsigned, -0 directly below +0. */
uint64_t element_key(enum rtune_dtype dtype, uint64_t bits);
/* The same for bits of -0 and +0: they are one. */
uint64_t element_key_of_ties(enum rtune_dtype dtype, uint64_t bits);
bool element_is_zero(enum rtune_dtype dtype, uint64_t bits);

#endif
