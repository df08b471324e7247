/* SPDX-License-Identifier: Apache-2.0 */
/*
 * canonical.c: the two modes whose every bit is defined: reproducible sums (docs/REPRODUCIBLE.md)
 * and fixed-point sums.
 */
#include "tests/reference/sums.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* ---- reproducible ---------------------------------------------------------------------------- */

enum { LEAF_ROWS = 16, ROW_BYTES = 512 };

/* a + b or a x b in the accumulator's type; of floats as doubles, which rounds once: the exact sum
 * or product of two is rounded to 53 bits, and 53 >= 2 x 24 + 2 (Figueroa 1995). */
static double rounded(const struct reference *r, double exact) {
    return r->problem.dtype == RTUNE_F64 ? exact : (double)(float)exact;
}
static double plus(const struct reference *r, double a, double b) { return rounded(r, a + b); }

static uint64_t row_of(const struct reference *r) {
    return ROW_BYTES / element_size(r->problem.dtype);
}

/* The value of the leaf whose residues these are. */
static double leaf_value(const struct reference *r, const double *residue) {
    double a[REFERENCE_RESIDUES];
    memcpy(a, residue, sizeof a);
    for (uint64_t d = row_of(r) / 2; d > 0; d /= 2)
        for (uint64_t k = 0; k < d; k++)
            a[k] = plus(r, a[k], a[k + d]);
    return a[0];
}

void tree_add(struct reference *r, double x, double y) {
    struct reference_tree *t = &r->tree;
    const uint64_t row = row_of(r);
    double term = x;
    if (r->problem.op == RTUNE_ASUM) term = fabs(x);
    if (r->problem.op == RTUNE_SUMSQ) term = rounded(r, x * x);
    if (r->problem.op == RTUNE_DOT) term = rounded(r, x * y);
    double *residue = &t->residue[t->in_leaf % row];
    *residue = plus(r, *residue, term);
    if (++t->in_leaf < LEAF_ROWS * row) return;
    double node = leaf_value(r, t->residue);
    unsigned level = 0; /* as a binary counter carries */
    for (uint64_t bits = t->leaves; bits & 1; bits >>= 1)
        node = plus(r, t->node[level++], node);
    t->node[level] = node;
    t->leaves++;
    t->in_leaf = 0;
    memset(t->residue, 0, sizeof t->residue);
}

void tree_end(const struct reference *r, struct reference_result *result) {
    const struct reference_tree *t = &r->tree;
    const enum rtune_dtype type = sums_accumulator(r->problem.dtype);
    bool some = t->in_leaf > 0;
    double value = some ? leaf_value(r, t->residue) : 0;
    /* The last leaf may be a short one; from it on, what has no right neighbour moves up alone. */
    for (unsigned level = 0; level < REFERENCE_LEVELS; level++) {
        if (!(t->leaves >> level & 1)) continue;
        value = some ? plus(r, t->node[level], value) : t->node[level];
        some = true;
    }
    result->exact = true;
    result_put(result, 0, type, element_round(type, sums_stored(&r->problem, value)));
}

/* ---- fixed ----------------------------------------------------------------------------------- */

static uint64_t significand_of(double x, int *exponent) {
    const double fraction = frexp(fabs(x), exponent);
    *exponent -= 53;
    return (uint64_t)ldexp(fraction, 53);
}

/* The integer nearest to |x y|, ties to even; |x y| < 2^53. */
static uint64_t nearest_product(double x, double y) {
    int ex, ey;
    const wide product = (wide)significand_of(x, &ex) * significand_of(y, &ey);
    const int down = -(ex + ey); /* the product has no more than 106 bits */
    if (product == 0 || down > 107) return 0;
    if (down <= 0) return (uint64_t)(product << -down);
    const wide half = (wide)1 << (down - 1), rest = product & (half * 2 - 1);
    const uint64_t whole = (uint64_t)(product >> down);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

void fixed_add(struct reference *r, double x, double y) {
    double term = x;
    if (r->problem.op == RTUNE_ASUM) term = fabs(x);
    if (r->problem.op == RTUNE_SUMSQ) term = x * x;
    if (r->problem.op == RTUNE_DOT) term = x * y;
    const double scaled = term * r->scale;
    uint64_t q = 0;
    if (isnan(scaled)) {
        r->word[1] |= RTUNE_FIXED_NAN;
    } else if (scaled >= 0x1p63 || scaled < -0x1p63) {
        q = scaled > 0 ? (uint64_t)INT64_MAX : (uint64_t)INT64_MIN;
        r->word[1] |= RTUNE_FIXED_RANGE;
    } else if (fabs(scaled) >= 0x1p52) {
        q = (uint64_t)(int64_t)scaled; /* a whole number already */
    } else {
        q = nearest_product(term, r->scale);
        if (scaled < 0) q = 0 - q;
    }
    r->word[0] += q;
}
