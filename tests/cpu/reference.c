/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c: plain loops over elements, and what their results may differ by. */
#include "tests/cpu/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

/* ---- floats ---------------------------------------------------------------------------------- */

static bool is_float(enum rtune_dtype dtype) { return rtune_dtype_info(dtype)->is_float; }

static uint64_t quiet_nan(enum rtune_dtype dtype) {
    return dtype == RTUNE_F16    ? 0x7e00
           : dtype == RTUNE_BF16 ? 0x7fc0
           : dtype == RTUNE_F32  ? 0x7fc00000
                                 : UINT64_C(0x7ff8000000000000);
}

static double half_value(uint64_t bits) {
    const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31) size = fraction ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -size : size;
}

quad decode_float(enum rtune_dtype dtype, uint64_t bits) {
    const uint32_t narrow = (uint32_t)(dtype == RTUNE_BF16 ? bits << 16 : bits);
    float single;
    double full;
    memcpy(&single, &narrow, sizeof single);
    memcpy(&full, &bits, sizeof full);
    if (dtype == RTUNE_F16) return (quad)half_value(bits);
    return dtype == RTUNE_F64 ? (quad)full : (quad)single;
}

bool is_nan_bits(enum rtune_dtype dtype, uint64_t bits) {
    const quad x = decode_float(dtype, bits);
    return x != x;
}

/* To 16 bits with so many of fraction: multiples of the unit in the last place, ties to even. */
static uint64_t encode_short(quad x, int fraction, int bias) {
    const double near = fabs((double)x);
    const uint64_t infinity = (uint64_t)(2 * bias + 1) << fraction;
    const uint64_t sign = signbit((double)x) ? 0x8000 : 0;
    int exponent;
    if (near >= ldexp(1, bias + 1)) return sign | infinity;
    frexp(near, &exponent); /* near is 2^(exponent - 1) and more */
    exponent = near > 0 && exponent - 1 > 1 - bias ? exponent - 1 : 1 - bias;
    const quad units = (x < 0 ? -x : x) * (quad)ldexp(1, fraction - exponent);
    uint64_t whole = (uint64_t)units;
    const quad part = units - (quad)whole;
    if (part > 0.5 || (part == 0.5 && whole % 2)) whole++;
    return sign | (((uint64_t)(exponent + bias - 1) << fraction) + whole);
}

uint64_t encode_float(enum rtune_dtype dtype, quad x) {
    const float single = (float)x;
    const double full = (double)x;
    uint64_t bits = 0;
    if (x != x) return quiet_nan(dtype);
    if (dtype == RTUNE_F16) return encode_short(x, 10, 15);
    if (dtype == RTUNE_BF16) return encode_short(x, 7, 127);
    memcpy(&bits, dtype == RTUNE_F32 ? (const void *)&single : (const void *)&full,
           dtype == RTUNE_F32 ? sizeof single : sizeof full);
    return bits;
}

/* ---- elements -------------------------------------------------------------------------------- */

static uint64_t element_bits(enum rtune_dtype dtype, const void *in, uint64_t i) {
    const size_t size = rtune_dtype_size(dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)in + i * size, size);
    return bits;
}

static quad float_at(enum rtune_dtype dtype, const void *in, uint64_t i) {
    return decode_float(dtype, element_bits(dtype, in, i));
}

static wide integer_of(enum rtune_dtype dtype, uint64_t bits) {
    const unsigned unused = 64 - 8 * (unsigned)rtune_dtype_size(dtype);
    if (!rtune_dtype_info(dtype)->is_signed) return (wide)bits;
    return (wide)((int64_t)(bits << unused) >> unused);
}

static bool is_zero_bits(enum rtune_dtype dtype, uint64_t bits) {
    if (is_float(dtype)) return decode_float(dtype, bits) == 0;
    return bits == 0;
}

/* ---- sums and products ----------------------------------------------------------------------- */

/* A term of mode plain, reproducible (rounded to the accumulator) or kahan (exact). */
static quad term_at(const struct rtune_problem *p, const struct data *data, uint64_t i) {
    const quad x = float_at(p->dtype, data->in, i);
    if (p->op == RTUNE_ASUM) return x < 0 ? -x : x;
    if (p->op == RTUNE_SUMSQ) return x * x;
    if (p->op == RTUNE_DOT) return x * float_at(p->dtype, data->in2, i);
    return x;
}

static bool is_sum(enum rtune_op op) {
    return op == RTUNE_SUM || op == RTUNE_ASUM || op == RTUNE_SUMSQ || op == RTUNE_DOT;
}

/* What a float sum or product may differ by. */
static double tolerance_of(const struct rtune_problem *p, quad total, quad sizes) {
    const bool product = p->op == RTUNE_PROD;
    const quad unit = p->dtype == RTUNE_F64 ? 0x1p-53 : 0x1p-24;
    const quad value = total < 0 ? -total : total;
    const quad n = (quad)p->n;
    const enum rtune_dtype result = rtune_result_dtype(p);
    quad of_result = result == RTUNE_F16 ? 0x1p-11 : result == RTUNE_BF16 ? 0x1p-8 : unit;
    of_result *= value;
    if (p->mode == RTUNE_KAHAN) return (double)(of_result + 3 * n * n * unit * unit * sizes);
    return (double)(of_result + (product ? (n + 4) * unit * value : 140 * unit * sizes));
}

static struct expected float_sum(const struct rtune_problem *p, enum data_set set,
                                 const struct data *data) {
    struct expected expected = {.tolerance = 0};
    quad total = p->op == RTUNE_PROD ? 1 : 0, sizes = 0;
    for (uint64_t i = 0; i < p->n; i++) {
        const quad term = term_at(p, data, i);
        sizes += term < 0 ? -term : term;
        total = p->op == RTUNE_PROD ? total * term : total + term;
    }
    if (total == 0 && p->op != RTUNE_PROD) total = 0; /* sums start at +0.0 */
    expected.value.bits = encode_float(rtune_result_dtype(p), total);
    if (set == DATA_RANDOM) expected.tolerance = tolerance_of(p, total, sizes);
    return expected;
}

static struct expected integer_sum(const struct rtune_problem *p, const struct data *data) {
    uint64_t total = p->op == RTUNE_PROD;
    for (uint64_t i = 0; i < p->n; i++) {
        const wide x = integer_of(p->dtype, element_bits(p->dtype, data->in, i));
        uint64_t term = (uint64_t)x;
        if (p->op == RTUNE_ASUM) term = (uint64_t)(x < 0 ? -x : x);
        if (p->op == RTUNE_SUMSQ) term *= term;
        if (p->op == RTUNE_DOT)
            term *= (uint64_t)integer_of(p->dtype, element_bits(p->dtype, data->in2, i));
        total = p->op == RTUNE_PROD ? total * term : total + term;
    }
    return (struct expected){.value = {.bits = total}, .tolerance = 0};
}

/* ---- mode reproducible ----------------------------------------------------------------------- */

static double round_to(enum rtune_dtype dtype, double x) {
    return dtype == RTUNE_F64 ? x : (double)(float)x;
}

static double leaf_value(const struct rtune_problem *p, const struct data *data, uint64_t leaf) {
    const uint64_t residues = 512 / rtune_dtype_size(p->dtype);
    const enum rtune_dtype a = p->dtype == RTUNE_F64 ? RTUNE_F64 : RTUNE_F32;
    double sum[256] = {0};
    for (uint64_t k = 0; k < 16 * residues && leaf * 16 * residues + k < p->n; k++) {
        const double term = round_to(a, (double)term_at(p, data, leaf * 16 * residues + k));
        sum[k % residues] = round_to(a, sum[k % residues] + term);
    }
    for (uint64_t d = residues / 2; d; d /= 2)
        for (uint64_t r = 0; r < d; r++)
            sum[r] = round_to(a, sum[r] + sum[r + d]);
    return sum[0];
}

/* Node j of a level of the tree over leaves. */
static double node_value(const struct rtune_problem *p, const struct data *data, int level,
                         uint64_t j) {
    const uint64_t per_leaf = 16 * 512 / rtune_dtype_size(p->dtype);
    if (level == 0) return leaf_value(p, data, j);
    const double left = node_value(p, data, level - 1, 2 * j);
    if (((2 * j + 1) << (level - 1)) * per_leaf >= p->n) return left;
    return round_to(p->dtype == RTUNE_F64 ? RTUNE_F64 : RTUNE_F32,
                    left + node_value(p, data, level - 1, 2 * j + 1));
}

static struct expected tree_sum(const struct rtune_problem *p, const struct data *data) {
    int level = 0;
    while ((UINT64_C(16) * 512 / rtune_dtype_size(p->dtype)) << level < p->n)
        level++;
    const double root = node_value(p, data, level, 0);
    return (struct expected){.value = {.bits = encode_float(rtune_result_dtype(p), (quad)root)},
                             .tolerance = 0};
}

/* ---- mode fixed ------------------------------------------------------------------------------ */

/* One term; the exact product has at most 106 bits. */
static int64_t fixed_term(double t, double scale, uint32_t *flags) {
    const double near = t * scale;
    if (isnan(near)) {
        *flags |= RTUNE_FIXED_NAN;
        return 0;
    }
    if (near >= 0x1p63 || near < -0x1p63) {
        *flags |= RTUNE_FIXED_RANGE;
        return near < 0 ? INT64_MIN : INT64_MAX;
    }
    const quad exact = (quad)t * (quad)scale;
    if (fabs(near) >= 0x1p52) return (int64_t)near;
    int64_t whole = (int64_t)floor(near);
    if ((quad)whole > exact) whole--;
    const quad part = exact - (quad)whole;
    return whole + (part > 0.5 || (part == 0.5 && whole % 2 != 0));
}

static struct expected fixed_sum(const struct rtune_problem *p, const struct data *data) {
    struct expected expected = {.tolerance = 0};
    uint64_t total = 0;
    uint32_t flags = 0;
    for (uint64_t i = 0; i < p->n; i++)
        total += (uint64_t)fixed_term((double)term_at(p, data, i), data->scale, &flags);
    memset(&expected.value, 0, sizeof expected.value);
    expected.value.fixed.value = (int64_t)total;
    expected.value.fixed.flags = flags;
    return expected;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Is an element below another, -0 below +0 or (ties) the same? NaNs are not asked about. */
static bool below(enum rtune_dtype dtype, uint64_t a, uint64_t b, bool ties) {
    if (!is_float(dtype)) return integer_of(dtype, a) < integer_of(dtype, b);
    const quad x = decode_float(dtype, a), y = decode_float(dtype, b);
    const bool minus = a >> (8 * rtune_dtype_size(dtype) - 1),
               plus = !(b >> (8 * rtune_dtype_size(dtype) - 1));
    return x < y || (x == y && x == 0 && !ties && minus && plus);
}

/* Does b, which comes later, take the place of a? */
static bool replaces(const struct rtune_problem *p, uint64_t a, uint64_t b, bool greatest,
                     bool ties) {
    const bool propagate = p->nan_rule == RTUNE_NAN_PROPAGATE;
    if (is_float(p->dtype) && is_nan_bits(p->dtype, a))
        return !propagate && !is_nan_bits(p->dtype, b);
    if (is_float(p->dtype) && is_nan_bits(p->dtype, b)) return propagate;
    return greatest ? below(p->dtype, a, b, ties) : below(p->dtype, b, a, ties);
}

static uint64_t clean(enum rtune_dtype dtype, uint64_t bits) {
    return is_float(dtype) && is_nan_bits(dtype, bits) ? quiet_nan(dtype) : bits;
}

static struct expected extreme(const struct rtune_problem *p, const struct data *data) {
    const bool arg = p->op == RTUNE_ARGMIN || p->op == RTUNE_ARGMAX;
    const bool greatest = p->op == RTUNE_MAX || p->op == RTUNE_ARGMAX;
    struct expected expected = {.tolerance = 0};
    uint64_t best[2], index = 0;
    best[0] = best[1] = element_bits(p->dtype, data->in, 0);
    for (uint64_t i = 1; i < p->n; i++) {
        const uint64_t bits = element_bits(p->dtype, data->in, i);
        if (replaces(p, best[0], bits, greatest, arg)) best[0] = bits, index = i;
        if (replaces(p, best[1], bits, true, arg)) best[1] = bits;
    }
    const size_t size = rtune_dtype_size(p->dtype);
    memset(&expected.value, 0, sizeof expected.value);
    for (int k = 0; k < (p->op == RTUNE_MINMAX ? 2 : 1); k++) {
        best[k] = clean(p->dtype, best[k]);
        memcpy(expected.value.bytes + (size_t)k * size, &best[k], size);
    }
    if (arg) memcpy(expected.value.bytes + 8, &index, sizeof index);
    return expected;
}

/* ---- zeros and bits -------------------------------------------------------------------------- */

static struct expected count(const struct rtune_problem *p, const struct data *data) {
    struct expected expected = {.tolerance = 0};
    uint64_t nonzero = 0;
    for (uint64_t i = 0; i < p->n; i++)
        nonzero += !is_zero_bits(p->dtype, element_bits(p->dtype, data->in, i));
    expected.value.bits = p->op == RTUNE_ANY   ? nonzero > 0
                          : p->op == RTUNE_ALL ? nonzero == p->n
                                               : nonzero;
    return expected;
}

static uint64_t bit_op(enum rtune_op op, uint64_t a, uint64_t b) {
    return op == RTUNE_BAND ? a & b : op == RTUNE_BOR ? a | b : a ^ b;
}

static struct expected bits(const struct rtune_problem *p, const struct data *data) {
    struct expected expected = {.tolerance = 0};
    expected.value.bits = element_bits(p->dtype, data->in, 0);
    for (uint64_t i = 1; i < p->n; i++)
        expected.value.bits =
            bit_op(p->op, expected.value.bits, element_bits(p->dtype, data->in, i));
    return expected;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct expected reference(const struct rtune_problem *p, enum data_set set,
                          const struct data *data) {
    if (p->mode == RTUNE_FIXED) return fixed_sum(p, data);
    if (p->mode == RTUNE_REPRODUCIBLE) return tree_sum(p, data);
    if (is_sum(p->op) || p->op == RTUNE_PROD)
        return is_float(p->dtype) ? float_sum(p, set, data) : integer_sum(p, data);
    if (p->op >= RTUNE_MIN && p->op <= RTUNE_ARGMAX) return extreme(p, data);
    return p->op >= RTUNE_BAND ? bits(p, data) : count(p, data);
}

union rtune_cpu_value reference_accumulate(const struct rtune_problem *p,
                                           const union rtune_cpu_value *a,
                                           const union rtune_cpu_value *b) {
    const enum rtune_dtype result = rtune_result_dtype(p);
    union rtune_cpu_value out = *a;
    if (p->mode == RTUNE_FIXED) {
        out.bits = a->bits + b->bits;
        out.fixed.flags |= b->fixed.flags;
    } else if (p->op >= RTUNE_MIN && p->op <= RTUNE_MINMAX) {
        const size_t size = rtune_dtype_size(p->dtype);
        for (int k = 0; k < (p->op == RTUNE_MINMAX ? 2 : 1); k++) {
            const bool greatest = k == 1 || p->op == RTUNE_MAX;
            const uint64_t x = element_bits(p->dtype, a->bytes, (uint64_t)k);
            const uint64_t y = element_bits(p->dtype, b->bytes, (uint64_t)k);
            const uint64_t best = clean(p->dtype, replaces(p, x, y, greatest, false) ? y : x);
            memcpy(out.bytes + (size_t)k * size, &best, size);
        }
    } else if (p->op >= RTUNE_BAND) {
        out.bits = bit_op(p->op, a->bits, b->bits);
    } else if (p->op == RTUNE_ANY || p->op == RTUNE_ALL) {
        out.bits = p->op == RTUNE_ANY ? a->bits | b->bits : a->bits & b->bits;
    } else if (is_float(result)) {
        const double x = (double)float_at(result, a->bytes, 0);
        const double y = (double)float_at(result, b->bytes, 0);
        const double z = p->op == RTUNE_PROD ? x * y : x + y; /* exact, or rounded to f64 */
        out.bits = encode_float(result, (quad)round_to(result, z));
    } else {
        out.bits = p->op == RTUNE_PROD ? a->bits * b->bits : a->bits + b->bits;
    }
    return out;
}

bool result_matches(const struct rtune_problem *p, const struct expected *expected,
                    const union rtune_cpu_value *got) {
    const size_t size = rtune_result_size(p);
    if (memcmp(expected->value.bytes, got->bytes, size) == 0) return true;
    if (!(expected->tolerance > 0)) return false;
    const quad want = float_at(rtune_result_dtype(p), expected->value.bytes, 0);
    const quad off = float_at(rtune_result_dtype(p), got->bytes, 0) - want;
    return (off < 0 ? -off : off) <= (quad)expected->tolerance;
}
