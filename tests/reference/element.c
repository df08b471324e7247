/* SPDX-License-Identifier: Apache-2.0 */
/* element.c: one table of formats, and bit patterns taken apart by it. */
#include "tests/reference/element.h"

#include <math.h>
#include <string.h>

struct format {
    size_t size;
    bool is_float, is_signed;
    int precision; /* of floats: bits of the significand with the hidden one */
    int top;       /* finite values are below 2^top */
};

static const struct format formats[RTUNE_DTYPE_COUNT] = {
    [RTUNE_I8] = {1, false, true, 0, 0},    [RTUNE_U8] = {1, false, false, 0, 0},
    [RTUNE_I16] = {2, false, true, 0, 0},   [RTUNE_U16] = {2, false, false, 0, 0},
    [RTUNE_I32] = {4, false, true, 0, 0},   [RTUNE_U32] = {4, false, false, 0, 0},
    [RTUNE_I64] = {8, false, true, 0, 0},   [RTUNE_U64] = {8, false, false, 0, 0},
    [RTUNE_F16] = {2, true, true, 11, 16},  [RTUNE_BF16] = {2, true, true, 8, 128},
    [RTUNE_F32] = {4, true, true, 24, 128}, [RTUNE_F64] = {8, true, true, 53, 1024},
};

size_t element_size(enum rtune_dtype dtype) { return formats[dtype].size; }
bool element_is_float(enum rtune_dtype dtype) { return formats[dtype].is_float; }
bool element_is_signed(enum rtune_dtype dtype) { return formats[dtype].is_signed; }

struct float_format element_format(enum rtune_dtype dtype) {
    const struct format *f = &formats[dtype];
    return (struct float_format){f->precision, 3 - f->top - f->precision, f->top};
}

uint64_t element_get(enum rtune_dtype dtype, const void *data, uint64_t i) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + i * formats[dtype].size, formats[dtype].size);
    return bits;
}

void element_put(enum rtune_dtype dtype, void *data, uint64_t i, uint64_t bits) {
    memcpy((char *)data + i * formats[dtype].size, &bits, formats[dtype].size);
}

uint64_t element_mask(enum rtune_dtype dtype) {
    return UINT64_MAX >> (64 - 8 * formats[dtype].size);
}

static uint64_t sign_bit(enum rtune_dtype dtype) { return (element_mask(dtype) >> 1) + 1; }

/* The bits of an infinity: all exponent bits. */
static uint64_t infinity_bits(enum rtune_dtype dtype) {
    const int fraction = formats[dtype].precision - 1;
    return (element_mask(dtype) >> 1) >> fraction << fraction;
}

uint64_t element_nan(enum rtune_dtype dtype) {
    return infinity_bits(dtype) | UINT64_C(1) << (formats[dtype].precision - 2);
}

bool element_is_nan(enum rtune_dtype dtype, uint64_t bits) {
    return formats[dtype].is_float && (bits & ~sign_bit(dtype)) > infinity_bits(dtype);
}

double element_value(enum rtune_dtype dtype, uint64_t bits) {
    const struct format *f = &formats[dtype];
    const uint64_t magnitude = bits & ~sign_bit(dtype);
    const int fraction = f->precision - 1;
    const int exponent = (int)(magnitude >> fraction);
    uint64_t significand = magnitude & ((UINT64_C(1) << fraction) - 1);
    double value;
    if (magnitude == infinity_bits(dtype))
        value = INFINITY;
    else if (magnitude > infinity_bits(dtype))
        value = NAN;
    else {
        if (exponent > 0) significand |= UINT64_C(1) << fraction;
        value = ldexp((double)significand,
                      element_format(dtype).lowest + (exponent > 0 ? exponent - 1 : 0));
    }
    return bits & sign_bit(dtype) ? -value : value;
}

uint64_t element_round(enum rtune_dtype dtype, long double value) {
    const struct float_format f = element_format(dtype);
    const uint64_t sign = signbit(value) ? sign_bit(dtype) : 0;
    int exponent = 0;
    if (isnan(value)) return element_nan(dtype);
    if (isinf(value)) return sign | infinity_bits(dtype);
    if (value == 0) return sign;
    frexpl(value, &exponent); /* 2^(exponent-1) <= |value| < 2^exponent */
    int unit = exponent - f.precision;
    if (unit < f.lowest) unit = f.lowest;
    /* Scaling by a power of two is exact; the host rounds to nearest even. */
    const uint64_t significand = (uint64_t)rintl(ldexpl(fabsl(value), -unit));
    const uint64_t bits = significand + ((uint64_t)(unit - f.lowest)
                                         << (f.precision - 1)); /* carries into the exponent */
    return sign | (bits > infinity_bits(dtype) ? infinity_bits(dtype) : bits);
}

uint64_t element_extend(enum rtune_dtype dtype, uint64_t bits) {
    const bool negative = formats[dtype].is_signed && (bits & sign_bit(dtype));
    return negative ? bits | ~element_mask(dtype) : bits;
}

uint64_t element_key(enum rtune_dtype dtype, uint64_t bits) {
    const uint64_t sign = sign_bit(dtype);
    if (!formats[dtype].is_signed) return bits;
    if (!formats[dtype].is_float) return bits ^ sign;
    return bits & sign ? ~bits & element_mask(dtype) : bits | sign;
}

uint64_t element_key_of_ties(enum rtune_dtype dtype, uint64_t bits) {
    return element_key(dtype, element_is_zero(dtype, bits) ? 0 : bits);
}

bool element_is_zero(enum rtune_dtype dtype, uint64_t bits) {
    return (formats[dtype].is_float ? bits & ~sign_bit(dtype) : bits) == 0;
}
