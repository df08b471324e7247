/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c: one element at a time by op; integers, extremes, indices and logic here. */
#include "tests/reference/reference.h"

#include "tests/reference/sums.h"

#include <string.h>

enum family { SUMS, PRODUCT, EXTREME, INDEXED, LOGIC, BITS };

static enum family family_of(enum rtune_op op) {
    static const enum family families[RTUNE_OP_COUNT] = {
        [RTUNE_SUM] = SUMS,
        [RTUNE_SUMSQ] = SUMS,
        [RTUNE_ASUM] = SUMS,
        [RTUNE_DOT] = SUMS,
        [RTUNE_PROD] = PRODUCT,
        [RTUNE_MIN] = EXTREME,
        [RTUNE_MAX] = EXTREME,
        [RTUNE_MINMAX] = EXTREME,
        [RTUNE_ARGMIN] = INDEXED,
        [RTUNE_ARGMAX] = INDEXED,
        [RTUNE_ANY] = LOGIC,
        [RTUNE_ALL] = LOGIC,
        [RTUNE_COUNT_NONZERO] = LOGIC,
        [RTUNE_BAND] = BITS,
        [RTUNE_BOR] = BITS,
        [RTUNE_BXOR] = BITS,
    };
    return families[op];
}

static bool is_max(enum rtune_op op) { return op == RTUNE_MAX || op == RTUNE_ARGMAX; }

uint64_t reference_depth(uint64_t n) { return n / 8 + 64; }

uint64_t reference_depth_reproducible(const struct rtune_problem *problem) {
    const uint64_t row = 512 / element_size(problem->dtype);
    uint64_t depth = 16;
    for (uint64_t k = 1; k < row; k *= 2)
        depth++;
    for (uint64_t leaves = 1; leaves * 16 * row < problem->n; leaves *= 2)
        depth++;
    return depth;
}

uint64_t reference_depth_of(uint64_t n, const struct rtune_config *config, uint32_t grid) {
    const uint64_t tile = (uint64_t)config->block * config->items * grid;
    return n / tile + 64 + grid / 32;
}

void reference_begin(struct reference *r, const struct rtune_problem *problem, double scale) {
    memset(r, 0, sizeof *r);
    r->problem = *problem;
    r->problem.n = 0;
    r->scale = scale;
    r->sum.lowest = 1 << 20;
    r->product.value = 0.5L;
    r->product.exponent = 1;
    if (problem->op == RTUNE_PROD || problem->op == RTUNE_ALL) r->word[0] = 1;
    if (problem->op == RTUNE_BAND) r->word[0] = UINT64_MAX;
}

/* ---- one element ----------------------------------------------------------------------------- */

static void add_integer(struct reference *r, uint64_t x, uint64_t y) {
    const bool negative = element_is_signed(r->problem.dtype) && x >> 63;
    if (r->problem.op == RTUNE_ASUM && negative) x = 0 - x;
    if (r->problem.op == RTUNE_SUMSQ) x *= x;
    if (r->problem.op == RTUNE_DOT) x *= y;
    if (r->problem.op == RTUNE_PROD)
        r->word[0] *= x;
    else
        r->word[0] += x;
}

/* Does x replace the extreme so far? Neither is NaN. Arg ops keep the first of equals. */
static bool is_better(const struct reference *r, uint64_t x, uint64_t best, bool max) {
    const enum rtune_dtype dtype = r->problem.dtype;
    uint64_t a = element_key(dtype, x), b = element_key(dtype, best);
    if (family_of(r->problem.op) == INDEXED) {
        a = element_key_of_ties(dtype, x);
        b = element_key_of_ties(dtype, best);
    }
    return max ? a > b : a < b;
}

/* word[side] is the extreme so far. first: there was no element before. */
static void add_extreme(struct reference *r, unsigned side, bool max, uint64_t x) {
    const enum rtune_dtype dtype = r->problem.dtype;
    const bool first = r->problem.n == 0, nan = element_is_nan(dtype, x);
    const bool was_nan = !first && element_is_nan(dtype, r->word[side]);
    bool takes = first;
    if (!first && r->problem.nan_rule == RTUNE_NAN_PROPAGATE)
        takes = !was_nan && (nan || is_better(r, x, r->word[side], max));
    else if (!first)
        takes = !nan && (was_nan || is_better(r, x, r->word[side], max));
    if (!takes) return;
    r->word[side] = nan ? element_nan(dtype) : x;
    r->index = (int64_t)r->problem.n;
}

static void add_bits(struct reference *r, uint64_t x) {
    if (r->problem.op == RTUNE_BAND) r->word[0] &= x;
    if (r->problem.op == RTUNE_BOR) r->word[0] |= x;
    if (r->problem.op == RTUNE_BXOR) r->word[0] ^= x;
}

static void add_logic(struct reference *r, bool x) {
    if (r->problem.op == RTUNE_ANY) r->word[0] |= x;
    if (r->problem.op == RTUNE_ALL) r->word[0] &= x;
    if (r->problem.op == RTUNE_COUNT_NONZERO) r->word[0] += x;
}

static void add_float(struct reference *r, uint64_t x, uint64_t y) {
    const double a = element_value(r->problem.dtype, x), b = element_value(r->problem.dtype, y);
    if (r->problem.mode == RTUNE_REPRODUCIBLE) tree_add(r, a, b);
    if (r->problem.mode == RTUNE_FIXED)
        fixed_add(r, a, b);
    else if (r->problem.op == RTUNE_PROD)
        product_add(r, a);
    else
        sums_add(r, a, b);
}

static void add_one(struct reference *r, uint64_t x, uint64_t y) {
    const enum rtune_dtype dtype = r->problem.dtype;
    switch (family_of(r->problem.op)) {
    case SUMS:
    case PRODUCT:
        if (element_is_float(dtype))
            add_float(r, x, y);
        else
            add_integer(r, element_extend(dtype, x), element_extend(dtype, y));
        break;
    case EXTREME:
    case INDEXED:
        add_extreme(r, 0, is_max(r->problem.op), x);
        if (r->problem.op == RTUNE_MINMAX) add_extreme(r, 1, true, x);
        break;
    case LOGIC:
        add_logic(r, !element_is_zero(dtype, x));
        break;
    case BITS:
        add_bits(r, x);
        break;
    }
}

void reference_add(struct reference *r, const void *in, const void *in2, uint64_t count) {
    const enum rtune_dtype dtype = r->problem.dtype;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t y = r->problem.op == RTUNE_DOT ? element_get(dtype, in2, i) : 0;
        add_one(r, element_get(dtype, in, i), y);
        r->problem.n++;
    }
}

/* ---- the result ------------------------------------------------------------------------------ */

void result_put(struct reference_result *result, size_t at, enum rtune_dtype dtype, uint64_t bits) {
    memcpy(result->bytes + at, &bits, element_size(dtype));
}

/* Type of one value of the result. */
static enum rtune_dtype value_type(const struct rtune_problem *p) {
    const enum family family = family_of(p->op);
    if (family == EXTREME || family == INDEXED || family == BITS) return p->dtype;
    if (family == LOGIC) return p->op == RTUNE_COUNT_NONZERO ? RTUNE_U64 : RTUNE_I32;
    if (p->mode == RTUNE_FIXED) return RTUNE_I64;
    if (p->acc == RTUNE_NATIVE) return p->dtype;
    if (element_is_float(p->dtype)) return sums_accumulator(p->dtype);
    return element_is_signed(p->dtype) && p->op != RTUNE_ASUM && p->op != RTUNE_SUMSQ ? RTUNE_I64
                                                                                      : RTUNE_U64;
}

size_t reference_size(const struct rtune_problem *p) {
    if (p->mode == RTUNE_FIXED || family_of(p->op) == INDEXED) return 16;
    return element_size(value_type(p)) * (p->op == RTUNE_MINMAX ? 2 : 1);
}

static bool is_float_sum(const struct rtune_problem *p) {
    return family_of(p->op) == SUMS && element_is_float(p->dtype) && p->mode != RTUNE_FIXED;
}

void reference_end(const struct reference *r, uint64_t depth, struct reference_result *result) {
    const struct rtune_problem *p = &r->problem;
    const enum family family = family_of(p->op);
    memset(result, 0, sizeof *result);
    result->size = reference_size(p);
    result->empty = p->n == 0 && (family == EXTREME || family == INDEXED);
    result->exact = true;
    if (family == PRODUCT && element_is_float(p->dtype)) {
        result->exact = false;
        product_end(r, result);
    } else if (is_float_sum(p) && p->mode == RTUNE_REPRODUCIBLE) {
        tree_end(r, result);
    } else if (is_float_sum(p)) {
        result->exact = false;
        sums_end(r, depth, result);
    } else {
        const enum rtune_dtype type = value_type(p);
        result_put(result, 0, type, r->word[0]);
        if (p->op == RTUNE_MINMAX) result_put(result, element_size(type), type, r->word[1]);
        if (p->mode == RTUNE_FIXED) result_put(result, 8, RTUNE_U32, r->word[1]);
        if (family == INDEXED) result_put(result, 8, RTUNE_I64, (uint64_t)r->index);
    }
}

void reference_compute(const struct rtune_problem *problem, const struct rtune_args *args,
                       struct reference_result *result) {
    struct reference r;
    reference_begin(&r, problem, args->scale);
    reference_add(&r, args->in, args->in2, problem->n);
    reference_end(&r, 0, result);
}
