/* SPDX-License-Identifier: Apache-2.0 */
/*
 * combine.c: scalar arithmetic on partials and results: how two partials become one, how one
 * becomes a result, and how two results become one.
 */
#include "base/num.h"
#include "kernels/cpu/cpu_int.h"

#include <math.h>

typedef const struct rtune_cpu_kernel kernel_type;
typedef union rtune_cpu_value value_type;

const struct rtune_float_layout rtune_float_layouts[RTUNE_DTYPE_COUNT] = {
    [RTUNE_F16] = {0x7c00, 0x7e00, 0x3ff},
    [RTUNE_BF16] = {0x7f80, 0x7fc0, 0x7f},
    [RTUNE_F32] = {0x7f800000, 0x7fc00000, 0x7fffff},
    [RTUNE_F64] = {UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000),
                   UINT64_C(0xfffffffffffff)},
};

/* ---- floats ---------------------------------------------------------------------------------- */

static uint64_t mask_of(enum rtune_dtype dtype) {
    return UINT64_MAX >> (64 - 8 * rtune_dtype_size(dtype));
}
static uint64_t sign_of(enum rtune_dtype dtype) {
    return UINT64_C(1) << (8 * rtune_dtype_size(dtype) - 1);
}

/* The low bits of a float, with the canonical NaN for any NaN. */
static uint64_t canonical(enum rtune_dtype dtype, uint64_t bits) {
    const struct rtune_float_layout *layout = &rtune_float_layouts[dtype];
    bits &= mask_of(dtype);
    return layout->nans && (bits & ~sign_of(dtype)) > layout->infinity ? layout->quiet : bits;
}

/* x * per_unit to the nearest integer, ties to even; x is not negative, the product below 2^24. */
static uint32_t rounded(double x, double per_unit) {
    const double scaled = x * per_unit + 0x1p52;
    return (uint32_t)(rtune_f64_bits(scaled) & 0xffffffff);
}

/* To a type of 16 bits, with so many bits of fraction and that bias of the exponent, in one
 * rounding: multiples of the unit in the last place, which addition rounds to. */
static uint64_t narrow(double x, int fraction, int bias, uint64_t infinity) {
    const uint64_t bits = rtune_f64_bits(x), sign = bits >> 63 << 15;
    const double size = x < 0 ? -x : x;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (size != size || exponent > bias) return sign | infinity | (size != size);
    if (exponent < 1 - bias) exponent = 1 - bias;
    const double per_unit = rtune_f64_value((uint64_t)(1023 + fraction - exponent) << 52);
    const uint64_t units = rounded(size, per_unit); /* 2^fraction and more where normal */
    const uint64_t lowest = (uint64_t)(exponent + bias - 1) << fraction;
    const uint64_t whole = lowest + units; /* a carry goes into the exponent */
    return sign | (whole < infinity ? whole : infinity);
}

static uint64_t bits_of(enum rtune_dtype dtype, double x) {
    switch (dtype) {
    case RTUNE_F16:
        return canonical(dtype, narrow(x, 10, 15, 0x7c00));
    case RTUNE_BF16:
        return canonical(dtype, narrow(x, 7, 127, 0x7f80));
    case RTUNE_F32:
        return canonical(dtype, rtune_f32_bits((float)x));
    default:
        return canonical(dtype, rtune_f64_bits(x));
    }
}

static double value_of(enum rtune_dtype dtype, uint64_t bits) {
    switch (dtype) {
    case RTUNE_F16:
        return (double)rtune_f16_value((uint16_t)bits);
    case RTUNE_BF16:
        return (double)rtune_f32_value((uint32_t)bits << 16);
    case RTUNE_F32:
        return (double)rtune_f32_value((uint32_t)bits);
    default:
        return rtune_f64_value(bits);
    }
}

/* a + b or a * b in the type; f16 and bf16 in f32, then rounded. */
static uint64_t float_op(enum rtune_dtype dtype, bool product, uint64_t a, uint64_t b) {
    const double x = value_of(dtype, a), y = value_of(dtype, b);
    if (dtype == RTUNE_F64) return bits_of(dtype, product ? x * y : x + y);
    const float z = product ? (float)x * (float)y : (float)x + (float)y;
    return bits_of(dtype, (double)z);
}

/* ---- order keys ------------------------------------------------------------------------------ */

/* The low bits of a key as the key. */
static int64_t key_of(kernel_type *kernel, uint64_t bits) {
    if (kernel->element == 1) return (int64_t)(bits & 0xff);
    return (int64_t)(bits << (64 - 8 * kernel->element)) >> (64 - 8 * kernel->element);
}

/* Inverts all but the sign of what is negative; its own inverse. */
static uint64_t ordered(kernel_type *kernel, uint64_t bits) {
    const uint64_t sign = sign_of(kernel->dtype);
    return rtune_float_layouts[kernel->dtype].nans && bits & sign ? bits ^ (sign - 1) : bits;
}

int64_t rtune_cpu_key(kernel_type *kernel, uint64_t bits) {
    return key_of(kernel, (ordered(kernel, bits) + kernel->shift) ^ kernel->flip);
}

uint64_t rtune_cpu_unkey(kernel_type *kernel, int64_t key) {
    const uint64_t order = ((uint64_t)key ^ kernel->flip) - kernel->shift;
    return canonical(kernel->dtype, ordered(kernel, order));
}

/* ---- partials -------------------------------------------------------------------------------- */

static void combine_float(kernel_type *kernel, value_type *a, const value_type *b) {
    if (kernel->op == RTUNE_PROD)
        a->real[0] *= b->real[0];
    else
        a->real[0] += b->real[0];
}

static void finish_float(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)n;
    value->bits = bits_of(kernel->result, value->real[0]);
}

static void combine_integer(kernel_type *kernel, value_type *a, const value_type *b) {
    if (kernel->op == RTUNE_PROD)
        a->bits *= b->bits;
    else
        a->bits += b->bits;
}

/* The low bytes are the result of either acc. */
static void finish_bits(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)kernel, (void)value, (void)n;
}

static void combine_kahan(kernel_type *kernel, value_type *a, const value_type *b) {
    (void)kernel;
    rtune_cpu_two_sum(&a->real[0], &a->real[1], b->real[0]);
    a->real[1] += b->real[1];
}

static double kahan_sum(const value_type *value) {
    const double sum = value->real[0], rest = value->real[1];
    return rest - rest == 0 ? sum + rest : sum;
}

static void finish_kahan(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)n;
    value->bits = bits_of(kernel->result, kahan_sum(value));
}

/* Neighbours of a tree, in the type of the result. */
static void combine_tree(kernel_type *kernel, value_type *a, const value_type *b) {
    if (kernel->result == RTUNE_F64)
        a->bits = rtune_f64_bits(rtune_f64_value(a->bits) + rtune_f64_value(b->bits));
    else
        a->bits =
            rtune_f32_bits(rtune_f32_value((uint32_t)a->bits) + rtune_f32_value((uint32_t)b->bits));
}

static void finish_tree(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)n;
    value->bits = canonical(kernel->result, value->bits);
}

static void combine_fixed(kernel_type *kernel, value_type *a, const value_type *b) {
    (void)kernel;
    a->fixed.value = (int64_t)((uint64_t)a->fixed.value + (uint64_t)b->fixed.value);
    a->fixed.flags |= b->fixed.flags;
}

static void combine_order(kernel_type *kernel, value_type *a, const value_type *b) {
    (void)kernel;
    if (b->key[0] < a->key[0]) a->key[0] = b->key[0];
}

static void finish_order(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)n;
    value->bits = rtune_cpu_unkey(kernel, value->key[0]);
}

static void combine_minmax(kernel_type *kernel, value_type *a, const value_type *b) {
    combine_order(kernel, a, b);
    if (b->key[1] > a->key[1]) a->key[1] = b->key[1];
}

/* NaNs are low in the order of the minimum under PROPAGATE, and so are they in that of the maximum,
 * where they lose: the minimum tells. */
static void finish_minmax(kernel_type *kernel, value_type *value, uint64_t n) {
    const uint64_t quiet = rtune_float_layouts[kernel->dtype].quiet;
    const size_t size = kernel->element;
    const uint64_t least = rtune_cpu_unkey(kernel, value->key[0]);
    uint64_t greatest = rtune_cpu_unkey(
        kernel,
        (int64_t)(((((uint64_t)value->key[1] ^ kernel->flip) - kernel->apart)) ^ kernel->flip));
    (void)n;
    if (quiet && least == quiet) greatest = quiet;
    memset(value, 0, sizeof *value);
    memcpy(value->bytes, &least, size);
    memcpy(value->bytes + size, &greatest, size);
}

/* What counts is how many are nonzero. */
static void finish_any(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)kernel, (void)n;
    value->bits = value->bits != 0;
}
static void finish_all(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)kernel;
    value->bits = value->bits == n;
}

static void combine_bits(kernel_type *kernel, value_type *a, const value_type *b) {
    if (kernel->op == RTUNE_BXOR)
        a->bits ^= b->bits;
    else
        a->bits |= b->bits;
}

/* From eight bytes, an element behind the other, to one element. */
static void finish_fold(kernel_type *kernel, value_type *value, uint64_t n) {
    (void)n;
    for (unsigned bits = 32; bits >= 8 * kernel->element; bits /= 2) {
        const value_type high = {.bits = value->bits >> bits};
        combine_bits(kernel, value, &high);
    }
    value->bits ^= kernel->flip;
}

struct rtune_cpu_joint rtune_cpu_joint(kernel_type *kernel, enum rtune_mode mode) {
    static const struct rtune_cpu_joint modes[RTUNE_MODE_COUNT] = {
        [RTUNE_KAHAN] = {combine_kahan, finish_kahan},
        [RTUNE_REPRODUCIBLE] = {combine_tree, finish_tree},
        [RTUNE_FIXED] = {combine_fixed, finish_bits},
    };
    static const struct rtune_cpu_joint ops[RTUNE_OP_COUNT] = {
        [RTUNE_MIN] = {combine_order, finish_order},
        [RTUNE_MAX] = {combine_order, finish_order},
        [RTUNE_MINMAX] = {combine_minmax, finish_minmax},
        [RTUNE_ARGMIN] = {rtune_cpu_arg_combine, rtune_cpu_arg_finish},
        [RTUNE_ARGMAX] = {rtune_cpu_arg_combine, rtune_cpu_arg_finish},
        [RTUNE_ANY] = {combine_integer, finish_any},
        [RTUNE_ALL] = {combine_integer, finish_all},
        [RTUNE_COUNT_NONZERO] = {combine_integer, finish_bits},
        [RTUNE_BAND] = {combine_bits, finish_fold},
        [RTUNE_BOR] = {combine_bits, finish_fold},
        [RTUNE_BXOR] = {combine_bits, finish_fold},
    };
    static const struct rtune_cpu_joint floats = {combine_float, finish_float};
    static const struct rtune_cpu_joint integers = {combine_integer, finish_bits};
    if (mode != RTUNE_PLAIN) return modes[mode];
    if (ops[kernel->op].combine) return ops[kernel->op];
    return rtune_dtype_info(kernel->dtype)->is_float ? floats : integers;
}

void rtune_cpu_finish_root(kernel_type *kernel, value_type *value) {
    double sum = value->real[0];
    if (kernel->combine == combine_kahan) sum = kahan_sum(value);
    if (kernel->combine == combine_tree) sum = value_of(kernel->result, value->bits);
    const double root =
        kernel->dtype == RTUNE_F64 ? sqrt(sum) : (double)sqrtf((float)sum); /* f32 is their wide */
    value->bits = bits_of(kernel->result, root);
}

/* ---- trees of partials ----------------------------------------------------------------------- */

void rtune_cpu_tree_add(kernel_type *kernel, struct rtune_cpu_tree *tree,
                        const value_type *partial) {
    value_type sum = *partial;
    int k = 0;
    for (; tree->count >> k & 1; k++) {
        value_type left = tree->level[k];
        kernel->combine(kernel, &left, &sum);
        sum = left;
    }
    tree->level[k] = sum;
    tree->count++;
}

value_type rtune_cpu_tree_root(kernel_type *kernel, const struct rtune_cpu_tree *tree) {
    int k = 0;
    while (!(tree->count >> k & 1))
        k++;
    value_type root = tree->level[k];
    for (k++; k < 64; k++) {
        if (!(tree->count >> k & 1)) continue;
        value_type left = tree->level[k];
        kernel->combine(kernel, &left, &root);
        root = left;
    }
    return root;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The extremes of a and b at their size bytes at offset; least or greatest. */
static void accumulate_extreme(kernel_type *kernel, value_type *a, const value_type *b, size_t at,
                               bool greatest) {
    uint64_t x = 0, y = 0;
    memcpy(&x, a->bytes + at, kernel->element);
    memcpy(&y, b->bytes + at, kernel->element);
    const int64_t left = rtune_cpu_key(kernel, x), right = rtune_cpu_key(kernel, y);
    if (greatest ? right > left : right < left) x = y;
    x = canonical(kernel->dtype, x);
    memcpy(a->bytes + at, &x, kernel->element);
}

/* Keys have NaNs low under PROPAGATE and high under IGNORE: as it should be for the minimum, the
 * other way round for the maximum. */
static void accumulate_minmax(kernel_type *kernel, value_type *a, const value_type *b) {
    struct rtune_cpu_kernel other = *kernel;
    const uint64_t nans = rtune_float_layouts[kernel->dtype].nans;
    other.shift = kernel->nan_rule == RTUNE_NAN_PROPAGATE ? -nans : nans;
    accumulate_extreme(kernel, a, b, 0, false);
    accumulate_extreme(&other, a, b, kernel->element, true);
}

void rtune_cpu_accumulate(kernel_type *kernel, value_type *a, const value_type *b) {
    switch (kernel->op) {
    case RTUNE_MIN:
    case RTUNE_MAX:
        accumulate_extreme(kernel, a, b, 0, false);
        break;
    case RTUNE_MINMAX:
        accumulate_minmax(kernel, a, b);
        break;
    case RTUNE_ANY: /* what was there is true if it is not 0 */
        a->bits = a->bits != 0 || b->bits != 0;
        break;
    case RTUNE_ALL:
        a->bits = a->bits != 0 && b->bits != 0;
        break;
    case RTUNE_BOR:
        a->bits |= b->bits;
        break;
    case RTUNE_BAND:
        a->bits &= b->bits;
        break;
    case RTUNE_BXOR:
        a->bits ^= b->bits;
        break;
    default:
        if (kernel->combine == combine_fixed)
            combine_fixed(kernel, a, b);
        else if (rtune_float_layouts[kernel->result].nans)
            a->bits = float_op(kernel->result, kernel->op == RTUNE_PROD, a->bits, b->bits);
        else
            combine_integer(kernel, a, b);
    }
}
