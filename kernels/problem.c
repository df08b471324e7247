/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.c: what can be reduced. One table says for every op which dtypes it is defined on, what
 * its result is, which problem fields matter to it, and for which dtypes and modes kernels exist.
 */
#include "kernels/kernels.h"

#include "base/num.h"
#include "base/sized.h"

#include <stdio.h>
#include <string.h>

#define BIT(x) (1u << (x))
#define PROBLEM_OLDEST RTUNE_SIZE_TO(struct rtune_problem, n) /* of version 0.1.0 */

enum {
    INTEGERS = BIT(RTUNE_I8) | BIT(RTUNE_U8) | BIT(RTUNE_I16) | BIT(RTUNE_U16) | BIT(RTUNE_I32) |
               BIT(RTUNE_U32) | BIT(RTUNE_I64) | BIT(RTUNE_U64),
    FLOATS = BIT(RTUNE_F16) | BIT(RTUNE_BF16) | BIT(RTUNE_F32) | BIT(RTUNE_F64),
    ALL_DTYPES = INTEGERS | FLOATS,
    PLAIN = BIT(RTUNE_PLAIN),
    FLOAT_SUMS = PLAIN | BIT(RTUNE_KAHAN) | BIT(RTUNE_REPRODUCIBLE), /* whose result is a float */
    SUMS = FLOAT_SUMS | BIT(RTUNE_FIXED),                            /* of floats */
    /* Flags that select another row. RTUNE_ARGUMENT_FLAGS are arguments of a kernel, and
     * ALLOW_NONDETERMINISTIC permits a finish that no row has unless it was asked for. */
    KERNEL_FLAGS = 0
};

enum result {
    RESULT_SUM,          /* wide: 64-bit or f32 or f64; native: the input type */
    RESULT_SUM_UNSIGNED, /* the same, but wide integers are unsigned */
    RESULT_INPUT,
    RESULT_PAIR,    /* {min, max} */
    RESULT_INDEXED, /* {value at 0, int64 index at 8} */
    RESULT_BOOL,    /* int32 */
    RESULT_COUNT    /* uint64 */
};

enum identity { IDENTITY_ZERO, IDENTITY_ONE, IDENTITY_ONES, IDENTITY_NONE };

struct op_info {
    uint32_t dtypes; /* bits of enum rtune_dtype */
    uint32_t modes;  /* bits of enum rtune_mode; all but plain for floats only */
    enum result result;
    enum identity identity;
    bool nan; /* the NaN rule matters on floats */
};

static const struct op_info ops[RTUNE_OP_COUNT] = {
    [RTUNE_SUM] = {ALL_DTYPES, SUMS, RESULT_SUM, IDENTITY_ZERO, false},
    [RTUNE_SUMSQ] = {ALL_DTYPES, SUMS, RESULT_SUM_UNSIGNED, IDENTITY_ZERO, false},
    [RTUNE_ASUM] = {ALL_DTYPES, SUMS, RESULT_SUM_UNSIGNED, IDENTITY_ZERO, false},
    [RTUNE_DOT] = {ALL_DTYPES, SUMS, RESULT_SUM, IDENTITY_ZERO, false},
    [RTUNE_PROD] = {ALL_DTYPES, PLAIN, RESULT_SUM, IDENTITY_ONE, false},
    [RTUNE_MIN] = {ALL_DTYPES, PLAIN, RESULT_INPUT, IDENTITY_NONE, true},
    [RTUNE_MAX] = {ALL_DTYPES, PLAIN, RESULT_INPUT, IDENTITY_NONE, true},
    [RTUNE_MINMAX] = {ALL_DTYPES, PLAIN, RESULT_PAIR, IDENTITY_NONE, true},
    [RTUNE_ARGMIN] = {ALL_DTYPES, PLAIN, RESULT_INDEXED, IDENTITY_NONE, true},
    [RTUNE_ARGMAX] = {ALL_DTYPES, PLAIN, RESULT_INDEXED, IDENTITY_NONE, true},
    [RTUNE_ANY] = {ALL_DTYPES, PLAIN, RESULT_BOOL, IDENTITY_ZERO, false},
    [RTUNE_ALL] = {ALL_DTYPES, PLAIN, RESULT_BOOL, IDENTITY_ONE, false},
    [RTUNE_COUNT_NONZERO] = {ALL_DTYPES, PLAIN, RESULT_COUNT, IDENTITY_ZERO, false},
    [RTUNE_BAND] = {INTEGERS, PLAIN, RESULT_INPUT, IDENTITY_ONES, false},
    [RTUNE_BOR] = {INTEGERS, PLAIN, RESULT_INPUT, IDENTITY_ZERO, false},
    [RTUNE_BXOR] = {INTEGERS, PLAIN, RESULT_INPUT, IDENTITY_ZERO, false},
};

size_t rtune_dtype_size(enum rtune_dtype dtype) {
    const struct rtune_dtype_info *info = rtune_dtype_info(dtype);
    return info ? info->size : 0;
}

/* Every enum field within its range, and the struct one that this library knows. */
static bool in_range(const struct rtune_problem *p) {
    return p && p->struct_size == sizeof *p && (unsigned)p->op < RTUNE_OP_COUNT &&
           (unsigned)p->dtype < RTUNE_DTYPE_COUNT && (unsigned)p->acc < RTUNE_ACC_COUNT &&
           (unsigned)p->mode < RTUNE_MODE_COUNT && (unsigned)p->nan_rule < RTUNE_NAN_COUNT &&
           (unsigned)p->cache < RTUNE_CACHE_COUNT;
}

static enum rtune_dtype wide_dtype(enum rtune_dtype dtype, bool always_unsigned) {
    const struct rtune_dtype_info *info = rtune_dtype_info(dtype);
    if (info->is_float) return dtype == RTUNE_F64 ? RTUNE_F64 : RTUNE_F32;
    return info->is_signed && !always_unsigned ? RTUNE_I64 : RTUNE_U64;
}

/* Result type for one acc; fields must be in range. */
static enum rtune_dtype result_dtype(const struct rtune_problem *p, enum rtune_acc acc) {
    const enum rtune_dtype dtype = p->dtype;
    if (p->mode == RTUNE_FIXED) return RTUNE_I64;
    switch (ops[p->op].result) {
    case RESULT_SUM:
        return acc == RTUNE_NATIVE ? dtype : wide_dtype(dtype, false);
    case RESULT_SUM_UNSIGNED:
        return acc == RTUNE_NATIVE ? dtype : wide_dtype(dtype, true);
    case RESULT_BOOL:
        return RTUNE_I32;
    case RESULT_COUNT:
        return RTUNE_U64;
    case RESULT_INPUT:
    case RESULT_PAIR:
    case RESULT_INDEXED:
        break;
    }
    return dtype;
}

static enum rtune_status check_mode(const struct rtune_problem *p, struct rtune_error *err) {
    const uint32_t modes = ops[p->op].modes;
    const char *op = rtune_op_name(p->op), *mode = rtune_mode_name(p->mode);
    char list[160];
    if (!(modes & BIT(p->mode))) {
        rtune_names_list(RTUNE_NAMES_MODE, modes, list, sizeof list);
        return rtune_err_set(err, RTUNE_UNSUPPORTED, "%s in mode %s: not defined (use %s)", op,
                             mode, list);
    }
    if (p->mode != RTUNE_PLAIN && !rtune_dtype_info(p->dtype)->is_float) {
        rtune_names_list(RTUNE_NAMES_DTYPE, FLOATS, list, sizeof list);
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "%s of %s in mode %s: it is for floats (use plain, or one of %s)", op,
                             rtune_dtype_name(p->dtype), mode, list);
    }
    if (p->acc == RTUNE_NATIVE && (p->mode == RTUNE_KAHAN || p->mode == RTUNE_REPRODUCIBLE) &&
        result_dtype(p, RTUNE_NATIVE) != result_dtype(p, RTUNE_WIDE))
        return rtune_err_set(
            err, RTUNE_UNSUPPORTED, "%s of %s in mode %s: its result is %s (use acc wide)", op,
            rtune_dtype_name(p->dtype), mode, rtune_dtype_name(result_dtype(p, RTUNE_WIDE)));
    return RTUNE_OK;
}

static enum rtune_status check_flags(const struct rtune_problem *p, struct rtune_error *err) {
    const char *op = rtune_op_name(p->op);
    if (p->flags & RTUNE_ACCUMULATE && ops[p->op].result == RESULT_INDEXED)
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "%s: an index cannot be accumulated (clear RTUNE_ACCUMULATE)", op);
    if (!(p->flags & RTUNE_ROOT)) return RTUNE_OK;
    if (p->op != RTUNE_SUMSQ || !(FLOATS & BIT(p->dtype)) || !(FLOAT_SUMS & BIT(p->mode))) {
        char dtypes[64], modes[64];
        rtune_names_list(RTUNE_NAMES_DTYPE, FLOATS, dtypes, sizeof dtypes);
        rtune_names_list(RTUNE_NAMES_MODE, FLOAT_SUMS, modes, sizeof modes);
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "%s of %s in mode %s: has no root (clear RTUNE_ROOT, or use %s of one "
                             "of %s in mode %s)",
                             op, rtune_dtype_name(p->dtype), rtune_mode_name(p->mode),
                             rtune_op_name(RTUNE_SUMSQ), dtypes, modes);
    }
    if (p->flags & RTUNE_ACCUMULATE)
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "%s: a root cannot be accumulated (clear RTUNE_ACCUMULATE or "
                             "RTUNE_ROOT)",
                             op);
    return RTUNE_OK;
}

static enum rtune_status check_support(const struct rtune_problem *p, struct rtune_error *err) {
    const struct op_info *op = &ops[p->op];
    const char *name = rtune_op_name(p->op);
    char list[160];
    if (!(op->dtypes & BIT(p->dtype))) {
        rtune_names_list(RTUNE_NAMES_DTYPE, op->dtypes, list, sizeof list);
        return rtune_err_set(err, RTUNE_UNSUPPORTED, "%s of %s: not defined (use one of %s)", name,
                             rtune_dtype_name(p->dtype), list);
    }
    enum rtune_status status = check_flags(p, err);
    return status == RTUNE_OK ? check_mode(p, err) : status;
}

/* Can its elements be in memory? The dtype must be in range. */
static bool fits(const struct rtune_problem *problem) {
    return problem->n <= (uint64_t)PTRDIFF_MAX / rtune_dtype_size(problem->dtype);
}

static enum rtune_status bad_size(const struct rtune_problem *problem, struct rtune_error *err) {
    return rtune_err_set(err, RTUNE_INVALID,
                         "problem: struct_size is %zu, this library has %zu (use RTUNE_PROBLEM)",
                         problem->struct_size, sizeof *problem);
}

enum rtune_status rtune_problem_read(const struct rtune_problem *given,
                                     struct rtune_problem *problem, struct rtune_error *err) {
    if (!given) return rtune_err_set(err, RTUNE_INVALID, "problem: NULL");
    if (!rtune_sized_read(problem, sizeof *problem, given, PROBLEM_OLDEST))
        return bad_size(given, err);
    return rtune_problem_check(problem, err);
}

enum rtune_status rtune_problem_check(const struct rtune_problem *problem,
                                      struct rtune_error *err) {
    if (!problem) return rtune_err_set(err, RTUNE_INVALID, "problem: NULL");
    if (problem->struct_size != sizeof *problem) return bad_size(problem, err);
    if (!in_range(problem))
        return rtune_err_set(
            err, RTUNE_INVALID,
            "problem: op %d, dtype %d, acc %d, mode %d, nan rule %d or cache %d is out "
            "of its enum's range",
            (int)problem->op, (int)problem->dtype, (int)problem->acc, (int)problem->mode,
            (int)problem->nan_rule, (int)problem->cache);
    if (problem->flags & ~(uint32_t)RTUNE_FLAG_ALL)
        return rtune_err_set(err, RTUNE_INVALID, "problem: unknown flags 0x%x",
                             (unsigned)(problem->flags & ~(uint32_t)RTUNE_FLAG_ALL));
    if (!fits(problem))
        return rtune_err_set(err, RTUNE_INVALID,
                             "problem: %llu elements of %s exceed the address space",
                             (unsigned long long)problem->n, rtune_dtype_name(problem->dtype));
    return check_support(problem, err);
}

enum rtune_dtype rtune_result_dtype(const struct rtune_problem *problem) {
    return result_dtype(problem, problem->acc);
}

size_t rtune_result_size(const struct rtune_problem *given) {
    struct rtune_problem full;
    const struct rtune_problem *problem = &full;
    if (!given || !rtune_sized_read(&full, sizeof full, given, PROBLEM_OLDEST)) return 0;
    if (!in_range(problem) || (problem->flags & ~(uint32_t)RTUNE_FLAG_ALL) != 0 || !fits(problem) ||
        check_support(problem, NULL) != RTUNE_OK)
        return 0;
    if (problem->mode == RTUNE_FIXED) return sizeof(struct rtune_fixed);
    size_t size = rtune_dtype_size(rtune_result_dtype(problem));
    if (ops[problem->op].result == RESULT_PAIR) return 2 * size;
    if (ops[problem->op].result == RESULT_INDEXED) return 16;
    return size;
}

struct rtune_problem rtune_problem_canonical(const struct rtune_problem *problem) {
    struct rtune_problem p = *problem;
    const struct op_info *op = &ops[p.op];
    if (result_dtype(&p, RTUNE_WIDE) == result_dtype(&p, RTUNE_NATIVE)) p.acc = RTUNE_WIDE;
    if (!op->nan || !rtune_dtype_info(p.dtype)->is_float) p.nan_rule = RTUNE_NAN_PROPAGATE;
    p.flags &= KERNEL_FLAGS;
    return p;
}

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_kind(const struct rtune_problem *a, const struct rtune_problem *b) {
    const uint64_t left[] = {a->op, a->dtype, a->acc, a->mode, a->nan_rule, a->flags, a->cache};
    const uint64_t right[] = {b->op, b->dtype, b->acc, b->mode, b->nan_rule, b->flags, b->cache};
    int order = 0;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(left) && order == 0; k++)
        order = compare_u64(left[k], right[k]);
    return order;
}

bool rtune_problem_same_kind(const struct rtune_problem *a, const struct rtune_problem *b) {
    return compare_kind(a, b) == 0;
}

bool rtune_problem_same_kernel(const struct rtune_problem *a, const struct rtune_problem *b) {
    struct rtune_problem like = *a;
    like.cache = b->cache;
    return compare_kind(&like, b) == 0;
}

int rtune_problem_compare(const struct rtune_problem *a, const struct rtune_problem *b) {
    int order = compare_kind(a, b);
    return order ? order : compare_u64(a->n, b->n);
}

/* "?" for what no table knows, so that a broken problem can still be shown. */
static const char *shown(const char *name) { return name ? name : "?"; }

int rtune_problem_print(const struct rtune_problem *problem, char *text, size_t size) {
    char flags[64] = "";
    size_t used = 0;
    for (int bit = 0; rtune_flag_name(bit); bit++)
        if (problem->flags & BIT(bit))
            used +=
                (size_t)snprintf(flags + used, sizeof flags - used, ",%s", rtune_flag_name(bit));
    return snprintf(text, size, "%s,%s,%s,%s,%s,%s,n=%llu%s", shown(rtune_op_name(problem->op)),
                    shown(rtune_dtype_name(problem->dtype)), shown(rtune_acc_name(problem->acc)),
                    shown(rtune_mode_name(problem->mode)), shown(rtune_nan_name(problem->nan_rule)),
                    shown(rtune_cache_name(problem->cache)), (unsigned long long)problem->n, flags);
}

bool rtune_problem_at(size_t k, struct rtune_problem *problem) {
    enum { RULES = RTUNE_NAN_COUNT, MODES = RTUNE_MODE_COUNT, ACCS = RTUNE_ACC_COUNT };
    enum { COUNT = RTUNE_OP_COUNT * RTUNE_DTYPE_COUNT * ACCS * MODES * RULES };
    for (unsigned code = 0; code < COUNT; code++) {
        unsigned rest = code;
        struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
        p.nan_rule = (enum rtune_nan)(rest % RULES), rest /= RULES;
        p.mode = (enum rtune_mode)(rest % MODES), rest /= MODES;
        p.acc = (enum rtune_acc)(rest % ACCS), rest /= ACCS;
        p.dtype = (enum rtune_dtype)(rest % RTUNE_DTYPE_COUNT), rest /= RTUNE_DTYPE_COUNT;
        p.op = (enum rtune_op)rest;
        if (!(ops[p.op].modes & BIT(p.mode)) || !(ops[p.op].dtypes & BIT(p.dtype))) continue;
        if (p.mode != RTUNE_PLAIN && !(FLOATS & BIT(p.dtype))) continue; /* cheap checks first */
        struct rtune_problem canonical = rtune_problem_canonical(&p);
        if (!rtune_problem_same_kind(&p, &canonical) || check_support(&p, NULL) != RTUNE_OK)
            continue;
        if (k-- == 0) {
            *problem = p;
            return true;
        }
    }
    return false;
}

/* One, in the representation of a type; f16 and bf16 by their bits. */
static uint64_t one_bits(enum rtune_dtype dtype) {
    uint64_t bits = 1;
    const float single = 1.0f;
    const double full = 1.0;
    switch (dtype) {
    case RTUNE_F16:
        return 0x3c00;
    case RTUNE_BF16:
        return 0x3f80;
    case RTUNE_F32:
        bits = 0, memcpy(&bits, &single, sizeof single);
        return bits;
    case RTUNE_F64:
        memcpy(&bits, &full, sizeof full);
        return bits;
    default:
        return bits;
    }
}

enum rtune_status rtune_identity(const struct rtune_problem *problem, void *out,
                                 struct rtune_error *err) {
    if (!in_range(problem))
        return rtune_err_set(err, RTUNE_INVALID, "identity: problem is invalid");
    const enum rtune_dtype dtype = rtune_result_dtype(problem);
    uint64_t bits = 0; /* little-endian hosts: the low bytes are the value */
    switch (ops[problem->op].identity) {
    case IDENTITY_ZERO:
        break;
    case IDENTITY_ONE:
        bits = one_bits(dtype);
        break;
    case IDENTITY_ONES:
        bits = UINT64_MAX;
        break;
    case IDENTITY_NONE:
        return rtune_err_set(err, RTUNE_EMPTY, "%s: n is 0, and it has no value for that",
                             rtune_op_name(problem->op));
    }
    memset(out, 0, rtune_result_size(problem));
    memcpy(out, &bits, rtune_dtype_size(dtype));
    return RTUNE_OK;
}
