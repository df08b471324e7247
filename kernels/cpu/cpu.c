/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.c: which CPU kernel serves a problem, and the scalar combination of two results.
 */
#include "kernels/cpu/cpu.h"

#include "base/num.h"
#include "kernels/cpu/cpu_int.h"

#include <string.h>

/* ---- instruction sets ------------------------------------------------------------------------ */

struct isa {
    const char *name;
    rtune_cpu_table *table; /* NULL: not in this build */
};

static const struct isa isas[RTUNE_ISA_COUNT] = {
#if RTUNE_CPU_X86
    [RTUNE_ISA_BASE] = {"x86-64", &rtune_cpu_table_base},
    [RTUNE_ISA_AVX2] = {"avx2", &rtune_cpu_table_avx2},
    [RTUNE_ISA_AVX512] = {"avx512", &rtune_cpu_table_avx512},
#else
    [RTUNE_ISA_BASE] = {"generic", &rtune_cpu_table_base},
    [RTUNE_ISA_AVX2] = {"avx2", NULL},
    [RTUNE_ISA_AVX512] = {"avx512", NULL},
#endif
};

const char *rtune_isa_name(enum rtune_isa isa) {
    return (unsigned)isa < RTUNE_ISA_COUNT ? isas[isa].name : NULL;
}

/* The compiler's test includes whether the system saves the registers. */
static bool isa_runs(enum rtune_isa isa) {
#if RTUNE_CPU_X86
    switch (isa) {
    case RTUNE_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case RTUNE_ISA_AVX2:
        return __builtin_cpu_supports("avx2");
    default:
        break;
    }
#endif
    return isa == RTUNE_ISA_BASE;
}

enum rtune_isa rtune_isa_detect(void) {
    for (int isa = RTUNE_ISA_COUNT - 1; isa > RTUNE_ISA_BASE; isa--)
        if (isas[isa].table && isa_runs((enum rtune_isa)isa)) return (enum rtune_isa)isa;
    return RTUNE_ISA_BASE;
}

/* ---- combining ------------------------------------------------------------------------------- */

static float get_f32(const union rtune_cpu_value *a) {
    float value;
    memcpy(&value, a->bytes, sizeof value);
    return value;
}

static double get_f64(const union rtune_cpu_value *a) {
    double value;
    memcpy(&value, a->bytes, sizeof value);
    return value;
}

static void put_f32(union rtune_cpu_value *a, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    a->bits = rtune_canonical_f32(bits);
}

static void put_f64(union rtune_cpu_value *a, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    a->bits = rtune_canonical_f64(bits);
}

typedef union rtune_cpu_value result;

static void sum_f32(result *a, const result *b) { put_f32(a, get_f32(a) + get_f32(b)); }
static void sum_f64(result *a, const result *b) { put_f64(a, get_f64(a) + get_f64(b)); }
static void sum_i32(result *a, const result *b) { a->bits = (uint32_t)(a->bits + b->bits); }
static void sum_i64(result *a, const result *b) { a->bits += b->bits; }
static void prod_f32(result *a, const result *b) { put_f32(a, get_f32(a) * get_f32(b)); }
static void prod_f64(result *a, const result *b) { put_f64(a, get_f64(a) * get_f64(b)); }
static void prod_i32(result *a, const result *b) { a->bits = (uint32_t)(a->bits * b->bits); }
static void prod_i64(result *a, const result *b) { a->bits *= b->bits; }

/* Whether b replaces a, given their order keys. */
#define TAKE_min(a, b) ((b) < (a))
#define TAKE_max(a, b) ((b) > (a))
#define EXTREME_INT(op, bits_)                                                                     \
    static void op##_i##bits_(result *a, const result *b) {                                        \
        if (TAKE_##op((int##bits_##_t)a->bits, (int##bits_##_t)b->bits)) a->bits = b->bits;        \
    }
#define EXTREME_FLOAT(op, bits_, end, shift)                                                       \
    static void op##_f##bits_##_##end(result *a, const result *b) {                                \
        const uint##bits_##_t keys[2] = {rtune_order_f##bits_((uint##bits_##_t)a->bits) + (shift), \
                                         rtune_order_f##bits_((uint##bits_##_t)b->bits) +          \
                                             (shift)};                                             \
        if (TAKE_##op((int##bits_##_t)keys[0], (int##bits_##_t)keys[1])) a->bits = b->bits;        \
        a->bits = rtune_canonical_f##bits_((uint##bits_##_t)a->bits);                              \
    }
EXTREME_INT(min, 32)
EXTREME_INT(min, 64)
EXTREME_INT(max, 32)
EXTREME_INT(max, 64)
EXTREME_FLOAT(min, 32, low, RTUNE_F32_NANS)
EXTREME_FLOAT(min, 32, high, -RTUNE_F32_NANS)
EXTREME_FLOAT(min, 64, low, RTUNE_F64_NANS)
EXTREME_FLOAT(min, 64, high, -RTUNE_F64_NANS)
EXTREME_FLOAT(max, 32, low, RTUNE_F32_NANS)
EXTREME_FLOAT(max, 32, high, -RTUNE_F32_NANS)
EXTREME_FLOAT(max, 64, low, RTUNE_F64_NANS)
EXTREME_FLOAT(max, 64, high, -RTUNE_F64_NANS)

/* ---- the kernel for a problem ---------------------------------------------------------------- */

struct rule {
    enum rtune_op op;
    enum rtune_dtype dtype;
    int acc;      /* of enum rtune_acc, or ANY */
    int nan_rule; /* of enum rtune_nan, or ANY */
    enum rtune_cpu_kind kind;
    rtune_cpu_combine_fn combine;
};

enum { ANY = -1 };
#define RULE(op, dtype, acc, nan_rule, kind, combine)                                              \
    { RTUNE_##op, RTUNE_##dtype, acc, nan_rule, RTUNE_CPU_##kind, combine }

static const struct rule rules[] = {
    RULE(SUM, F32, ANY, ANY, sum_f32, sum_f32),
    RULE(SUM, F64, ANY, ANY, sum_f64, sum_f64),
    RULE(SUM, I32, RTUNE_WIDE, ANY, sum_i32_wide, sum_i64),
    RULE(SUM, I32, RTUNE_NATIVE, ANY, sum_i32, sum_i32),
    RULE(SUM, I64, ANY, ANY, sum_i64, sum_i64),
    RULE(PROD, F32, ANY, ANY, prod_f32, prod_f32),
    RULE(PROD, F64, ANY, ANY, prod_f64, prod_f64),
    RULE(PROD, I32, RTUNE_WIDE, ANY, prod_i32_wide, prod_i64),
    RULE(PROD, I32, RTUNE_NATIVE, ANY, prod_i32, prod_i32),
    RULE(PROD, I64, ANY, ANY, prod_i64, prod_i64),
    RULE(MIN, F32, ANY, RTUNE_NAN_PROPAGATE, min_f32_low, min_f32_low),
    RULE(MIN, F32, ANY, RTUNE_NAN_IGNORE, min_f32_high, min_f32_high),
    RULE(MIN, F64, ANY, RTUNE_NAN_PROPAGATE, min_f64_low, min_f64_low),
    RULE(MIN, F64, ANY, RTUNE_NAN_IGNORE, min_f64_high, min_f64_high),
    RULE(MIN, I32, ANY, ANY, min_i32, min_i32),
    RULE(MIN, I64, ANY, ANY, min_i64, min_i64),
    RULE(MAX, F32, ANY, RTUNE_NAN_PROPAGATE, max_f32_high, max_f32_high),
    RULE(MAX, F32, ANY, RTUNE_NAN_IGNORE, max_f32_low, max_f32_low),
    RULE(MAX, F64, ANY, RTUNE_NAN_PROPAGATE, max_f64_high, max_f64_high),
    RULE(MAX, F64, ANY, RTUNE_NAN_IGNORE, max_f64_low, max_f64_low),
    RULE(MAX, I32, ANY, ANY, max_i32, max_i32),
    RULE(MAX, I64, ANY, ANY, max_i64, max_i64),
};

static const struct rule *rule_find(const struct rtune_problem *p) {
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(rules); k++) {
        const struct rule *rule = &rules[k];
        if (rule->op == p->op && rule->dtype == p->dtype &&
            (rule->acc == ANY || rule->acc == (int)p->acc) &&
            (rule->nan_rule == ANY || rule->nan_rule == (int)p->nan_rule))
            return rule;
    }
    return NULL;
}

uint32_t rtune_cpu_items_at(enum rtune_dtype dtype, enum rtune_isa isa, size_t k) {
    const struct rtune_dtype_info *info = rtune_dtype_info(dtype);
    if (!info || (unsigned)isa >= RTUNE_ISA_COUNT || !isas[isa].table ||
        k >= RTUNE_CPU_VECTOR_COUNTS)
        return 0;
    return (RTUNE_CPU_VECTOR / info->size) << k;
}

enum rtune_status rtune_cpu_kernel_find(const struct rtune_problem *problem,
                                        const struct rtune_config *config, enum rtune_isa isa,
                                        struct rtune_cpu_kernel *kernel, struct rtune_error *err) {
    const struct rule *rule = rule_find(problem);
    size_t k = 0;
    if (!rule || problem->mode != RTUNE_PLAIN)
        return rtune_err_set(err, RTUNE_UNSUPPORTED, "%s of %s, %s: no cpu kernel",
                             rtune_op_name(problem->op), rtune_dtype_name(problem->dtype),
                             rtune_mode_name(problem->mode));
    if ((unsigned)isa >= RTUNE_ISA_COUNT || !isas[isa].table || !isa_runs(isa))
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "instruction set %d: not in this build, or not of this processor",
                             (int)isa);
    while (k < RTUNE_CPU_VECTOR_COUNTS &&
           rtune_cpu_items_at(problem->dtype, isa, k) != config->items)
        k++;
    if (k == RTUNE_CPU_VECTOR_COUNTS || config->block != 1) {
        const unsigned first = (unsigned)rtune_cpu_items_at(problem->dtype, isa, 0);
        return rtune_err_set(
            err, RTUNE_UNSUPPORTED,
            "items=%u, block=%u: no cpu kernel for %s (items is one of %u, %u, %u, "
            "%u; block is 1)",
            (unsigned)config->items, (unsigned)config->block, rtune_dtype_name(problem->dtype),
            first, first * 2, first * 4, first * 8);
    }
    kernel->reduce = (*isas[isa].table)[rule->kind][k];
    kernel->combine = rule->combine;
    return RTUNE_OK;
}
