/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.c: float sums and products with the bounds of docs/ACCURACY.md. Where every partial result
 * of any order is a number of the accumulator's type, the result is exact and must be met to the
 * bit.
 */
#include "tests/reference/sums.h"

#include <math.h>
#include <string.h>

enum rtune_dtype sums_accumulator(enum rtune_dtype dtype) {
    return dtype == RTUNE_F64 ? RTUNE_F64 : RTUNE_F32;
}

/* Exponent of the lowest bit that is set in a finite number but 0. */
static int lowest_bit(double x) {
    int exponent;
    const uint64_t significand = (uint64_t)ldexp(fabs(frexp(x, &exponent)), 53);
    return exponent - 53 + __builtin_ctzll(significand);
}

static bool is_product(enum rtune_op op) { return op == RTUNE_SUMSQ || op == RTUNE_DOT; }

/* ---- sums ------------------------------------------------------------------------------------ */

void sums_add(struct reference *r, double x, double y) {
    struct reference_sum *s = &r->sum;
    const bool product = is_product(r->problem.op);
    if (r->problem.op == RTUNE_SUMSQ) y = x;
    if (r->problem.op == RTUNE_ASUM) x = fabs(x);
    const long double exact = product ? (long double)x * y : x;
    const enum rtune_dtype type = sums_accumulator(r->problem.dtype);
    const double term = element_value(type, element_round(type, exact)); /* finite, or what it is */
    if (isnan(term) || isinf(term)) {
        s->nan = s->nan || isnan(term);
        s->plus = s->plus || term > 0;
        s->minus = s->minus || term < 0;
        return;
    }
    if (x == 0 || (product && y == 0)) return;
    s->up = s->up || exact > 0 || (product && (x > 0) == (y > 0));
    s->down = s->down || exact < 0 || (product && (x > 0) != (y > 0));
    s->magnitude += fabsl(exact);
    const int low = lowest_bit(x) + (product ? lowest_bit(y) : 0);
    if (low < s->lowest) s->lowest = low;
    if (product)
        exact_add_product(&s->exact, x, y);
    else
        exact_add(&s->exact, x);
}

/* gamma_d = d u / (1 - d u) (Higham, Accuracy and Stability, section 3.1); 1 stands for "useless".
 */
static long double gamma_of(uint64_t d, long double u) {
    const long double du = (long double)d * u;
    return du < 0.5L ? du / (1 - du) : 1;
}

long double sums_bound(const struct reference *r, uint64_t depth) {
    const struct reference_sum *s = &r->sum;
    const struct float_format f = element_format(sums_accumulator(r->problem.dtype));
    const long double u = ldexpl(1, -f.precision);
    const long double tiny = ldexpl((long double)r->problem.n, f.lowest); /* of products */
    const uint64_t d = depth ? depth : reference_depth(r->problem.n);
    long double bound = is_product(r->problem.op) ? tiny : 0;
    if (r->problem.mode == RTUNE_KAHAN)
        bound +=
            u * fabsl(exact_value(&s->exact)) + gamma_of(d, u) * gamma_of(2 * d, u) * s->magnitude;
    else
        bound += gamma_of(d + is_product(r->problem.op), u) * s->magnitude;
    return bound * (1 + 1e-12L); /* what this computation itself may lose */
}

static double wide_value(const struct rtune_problem *p, long double value) {
    const enum rtune_dtype wide = sums_accumulator(p->dtype);
    return element_value(wide, element_round(wide, value));
}

/* The root of an f32 as a double and then as an f32 is rounded once: 53 >= 2 x 24 + 2 (Figueroa
 * 1995). */
double sums_stored(const struct rtune_problem *p, double sum) {
    return p->flags & RTUNE_ROOT ? wide_value(p, sqrt(sum)) : sum;
}

/* Bytes of an exact result in the result's type, which rounds once more if it is native. */
static void put_value(const struct rtune_problem *p, long double value,
                      struct reference_result *result) {
    const enum rtune_dtype type = p->acc == RTUNE_NATIVE ? p->dtype : sums_accumulator(p->dtype);
    result->exact = true;
    result_put(result, 0, type, element_round(type, sums_stored(p, wide_value(p, value))));
}

/* The wide sum is between these, so its root, which grows with it, is between theirs. */
static void put_bounds(const struct rtune_problem *p, long double low, long double high,
                       struct reference_result *result) {
    const bool root = p->flags & RTUNE_ROOT;
    result->low = root ? sums_stored(p, wide_value(p, low > 0 ? low : 0)) : low;
    result->high = root ? sums_stored(p, wide_value(p, high)) : high;
}

void sums_end(const struct reference *r, uint64_t depth, struct reference_result *result) {
    const struct reference_sum *s = &r->sum;
    const struct float_format f = element_format(sums_accumulator(r->problem.dtype));
    const bool infinite = s->plus || s->minus;
    const bool large = s->magnitude >= ldexpl(1, f.top);
    const long double value = exact_value(&s->exact), bound = sums_bound(r, depth);
    /* A sum of large terms may overflow on the way, and meet an infinity of the other sign. */
    result->open = large && ((s->up && s->down) || (infinite && (s->up || s->down)));
    if (s->nan || (s->plus && s->minus)) {
        result->open = false;
        put_value(&r->problem, NAN, result);
    } else if (infinite) {
        put_value(&r->problem, s->plus ? INFINITY : -INFINITY, result);
    } else if (s->magnitude == 0) {
        put_value(&r->problem, 0, result);
    } else if (s->lowest >= f.lowest && s->magnitude <= ldexpl(1, s->lowest + f.precision)) {
        put_value(&r->problem, value, result);
    } else {
        put_bounds(&r->problem, value - bound, value + bound, result);
    }
}

/* ---- products -------------------------------------------------------------------------------- */

void product_add(struct reference *r, double x) {
    struct reference_product *p = &r->product;
    int exponent = 0;
    if (isnan(x)) {
        p->nan = true;
        return;
    }
    p->negative ^= signbit(x) != 0;
    p->infinite = p->infinite || isinf(x);
    p->zero = p->zero || x == 0;
    if (isinf(x) || x == 0) return;
    const double fraction = frexp(fabs(x), &exponent);
    const int low = lowest_bit(x);
    p->value *= fraction;
    p->exponent += exponent;
    if (p->value < 0.5L) p->value *= 2, p->exponent--;
    const double power = log2(fabs(x));
    *(power > 0 ? &p->above : &p->below) += power;
    if (low < 0) p->lowest += low;
    p->bits += exponent - low - 1; /* 0 for a power of two */
}

void product_end(const struct reference *r, struct reference_result *result) {
    const struct reference_product *p = &r->product;
    const struct float_format f = element_format(sums_accumulator(r->problem.dtype));
    const long double sign = p->negative ? -1 : 1;
    const bool over = p->above >= f.top, under = p->below < f.lowest + f.precision - 1;
    const bool exact = p->bits < f.precision && p->lowest >= f.lowest && !over;
    /* A partial product may overflow, or underflow, where the whole one does not. */
    const bool undecided = !exact && (under || (over && p->below < 0));
    result->open =
        (over && p->zero) || (under && p->infinite) || (undecided && !p->zero && !p->infinite);
    if (p->nan || (p->zero && p->infinite)) {
        result->open = false;
        put_value(&r->problem, NAN, result);
    } else if (p->zero || p->infinite) {
        put_value(&r->problem, copysignl(p->zero ? 0 : INFINITY, sign), result);
    } else if (!result->open) {
        const int exponent = p->exponent > 20000 ? 20000 : (int)p->exponent;
        const long double value = sign * ldexpl(p->value, exponent);
        const long double u = ldexpl(1, -f.precision);
        const long double bound =
            (gamma_of(r->problem.n, u) + gamma_of(r->problem.n, 0x1p-64L)) * fabsl(value);
        if (exact || isinf(value)) put_value(&r->problem, value, result);
        result->low = value - bound;
        result->high = value + bound;
    }
}

void reference_measure(const struct reference *r, const void *got, uint64_t depth,
                       struct reference_error *error) {
    const struct rtune_problem *p = &r->problem;
    const enum rtune_dtype type = p->acc == RTUNE_NATIVE ? p->dtype : sums_accumulator(p->dtype);
    const struct float_format f = element_format(type);
    error->exact = exact_value(&r->sum.exact);
    error->magnitude = r->sum.magnitude;
    error->bound = sums_bound(r, depth);
    if (p->acc == RTUNE_NATIVE) /* the result's own rounding */
        error->bound += ldexpl(fabsl(error->exact) + error->bound, -f.precision);
    error->error = exact_distance(&r->sum.exact, element_value(type, element_get(type, got, 0)));
}
