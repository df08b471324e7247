/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixed.c: mode fixed, one term at a time: the terms that the kernels cannot round by adding a
 * constant, because they are large, no numbers, or ties once the product was rounded.
 */
#include "kernels/cpu/cpu_int.h"

__extension__ typedef unsigned __int128 uint128;

/* 53-bit significand and exponent of a finite number's magnitude: significand * 2^exponent. */
static uint64_t significand(double x, int *exponent) {
    const uint64_t bits = rtune_f64_bits(x);
    const int biased = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & UINT64_C(0xfffffffffffff);
    *exponent = (biased ? biased : 1) - 1075;
    return biased ? fraction | UINT64_C(0x10000000000000) : fraction;
}

/* The sign of |t * scale| - |product|, where product is t * scale rounded, is normal and below
 * 2^52: both as integers of the exact product's unit. */
static int product_excess(double t, double scale, double product) {
    int of_t, of_scale, of_product;
    const uint128 exact = (uint128)significand(t, &of_t) * significand(scale, &of_scale);
    const uint128 near = significand(product, &of_product);
    const int shift = of_product - (of_t + of_scale); /* 52 or 53, or less next to subnormals */
    if (shift < 0) return 0;                          /* the product was exact */
    return (exact > near << shift) - (exact < near << shift);
}

/* t * scale, rounded to an integer in one rounding where it is below 2^52. */
static int64_t fixed_one(double t, double scale, uint32_t *flags) {
    const double product = t * scale, size = product < 0 ? -product : product;
    if (product != product) {
        *flags |= RTUNE_FIXED_NAN;
        return 0;
    }
    if (product >= 0x1p63 || product < -0x1p63) {
        *flags |= RTUNE_FIXED_RANGE;
        return product < 0 ? INT64_MIN : INT64_MAX;
    }
    if (size >= 0x1p52) return (int64_t)product; /* an integer */
    int64_t whole = (int64_t)size;
    const double part = size - (double)whole;
    int beyond = part > 0.5 ? 1 : -1;
    if (part - 0.5 == 0) beyond = product_excess(t, scale, product);
    if (beyond > 0 || (beyond == 0 && whole % 2 != 0)) whole++;
    return product < 0 ? -whole : whole;
}

void rtune_cpu_fixed_add(const double *terms, int count, double scale, union rtune_cpu_value *out) {
    for (int k = 0; k < count; k++)
        out->fixed.value = (int64_t)((uint64_t)out->fixed.value +
                                     (uint64_t)fixed_one(terms[k], scale, &out->fixed.flags));
}
