/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.c: which CPU kernel serves a problem, with which instruction set.
 */
#include "kernels/cpu/cpu.h"

#include "base/num.h"
#include "kernels/cpu/cpu_int.h"

#include <string.h>
#if RTUNE_CPU_X86 && defined(__clang__)
#include <cpuid.h>
#endif

/* ---- instruction sets ------------------------------------------------------------------------ */

struct isa {
    const char *name;
    const struct rtune_cpu_table *table; /* NULL: not in this build */
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

#if RTUNE_CPU_X86
/* Conversion of halves and fused multiplication. Not every compiler has a name for the first, and
 * to ask the processor each time takes long on virtual machines. */
static bool has_f16c_and_fma(void) {
#if defined(__clang__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) && (c & bit_FMA);
#else
    return __builtin_cpu_supports("f16c") && __builtin_cpu_supports("fma");
#endif
}
#endif

/* The compiler's test includes whether the system saves the registers. */
static bool isa_runs(enum rtune_isa isa) {
#if RTUNE_CPU_X86
    switch (isa) {
    case RTUNE_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               has_f16c_and_fma();
    case RTUNE_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && has_f16c_and_fma();
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

/* ---- the kernel for a problem ---------------------------------------------------------------- */

#define KINDS(i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64)                           \
    {                                                                                              \
        RTUNE_CPU_##i8, RTUNE_CPU_##u8, RTUNE_CPU_##i16, RTUNE_CPU_##u16, RTUNE_CPU_##i32,         \
            RTUNE_CPU_##u32, RTUNE_CPU_##i64, RTUNE_CPU_##u64, RTUNE_CPU_##f16, RTUNE_CPU_##bf16,  \
            RTUNE_CPU_##f32, RTUNE_CPU_##f64                                                       \
    }
/* Kinds that do not tell signed from unsigned, and those of floats alone. */
#define SIZES(op, f)                                                                               \
    KINDS(op##8, op##8, op##16, op##16, op##32, op##32, op##64, op##64, op##16##f, op##16##f,      \
          op##32##f, op##64##f)
#define FLOATS(op)                                                                                 \
    KINDS(none, none, none, none, none, none, none, none, op##f16, op##bf16, op##f32, op##f64)
#define ALL(kind) KINDS(kind, kind, kind, kind, kind, kind, kind, kind, none, none, none, none)

/* By dtype, in the order of enum rtune_dtype. */
typedef unsigned char kinds[RTUNE_DTYPE_COUNT];
#define DOTS                                                                                       \
    KINDS(dot_8s, dot_8u, dot_16s, dot_16u, dot_32s, dot_32u, dot_64, dot_64, dot_f16, dot_bf16,   \
          dot_f32, dot_f64)
static const kinds plain[RTUNE_OP_COUNT] = {
    [RTUNE_SUM] = KINDS(sum_8, sum_8, sum_16, sum_16, sum_32, sum_32, sum_64, sum_64, sum_f16,
                        sum_bf16, sum_f32, sum_f64),
    [RTUNE_ASUM] = KINDS(asum_8, sum_8, asum_16, sum_16, asum_32, sum_32, asum_64, sum_64, sum_f16,
                         sum_bf16, sum_f32, sum_f64),
    [RTUNE_SUMSQ] = DOTS,
    [RTUNE_DOT] = DOTS,
    [RTUNE_PROD] = KINDS(prod_8s, prod_8u, prod_16s, prod_16u, prod_32s, prod_32u, prod_64, prod_64,
                         prod_f16, prod_bf16, prod_f32, prod_f64),
    [RTUNE_MIN] = SIZES(order_, f),
    [RTUNE_MAX] = SIZES(order_, f),
    [RTUNE_MINMAX] = SIZES(minmax_, f),
    [RTUNE_ARGMIN] = SIZES(order_, f),
    [RTUNE_ARGMAX] = SIZES(order_, f),
    [RTUNE_ANY] = SIZES(count_, f),
    [RTUNE_ALL] = SIZES(count_, f),
    [RTUNE_COUNT_NONZERO] = SIZES(count_, f),
    [RTUNE_BAND] = ALL(bits_or),
    [RTUNE_BOR] = ALL(bits_or),
    [RTUNE_BXOR] = ALL(bits_xor),
};
/* [0]: of one input, [1]: of two. */
static const kinds modes[RTUNE_MODE_COUNT][2] = {
    [RTUNE_KAHAN] = {FLOATS(kahan_sum_), FLOATS(kahan_dot_)},
    [RTUNE_REPRODUCIBLE] = {FLOATS(tree_sum_), FLOATS(tree_dot_)},
    [RTUNE_FIXED] = {FLOATS(fixed_sum_), FLOATS(fixed_dot_)},
};

static enum rtune_cpu_kind kind_of(const struct rtune_problem *p) {
    const bool two = p->op == RTUNE_DOT || p->op == RTUNE_SUMSQ;
    if (p->mode != RTUNE_PLAIN) return (enum rtune_cpu_kind)modes[p->mode][two][p->dtype];
    if (p->op == RTUNE_SUM && p->acc == RTUNE_NATIVE &&
        (p->dtype == RTUNE_I32 || p->dtype == RTUNE_U32))
        return RTUNE_CPU_sum_32n;
    return (enum rtune_cpu_kind)plain[p->op][p->dtype];
}

/* How bits become order keys: cpu_int.h. */
static void set_order(struct rtune_cpu_kernel *kernel, const struct rtune_dtype_info *dtype) {
    const bool greatest = kernel->op == RTUNE_MAX || kernel->op == RTUNE_ARGMAX;
    const bool low = (kernel->nan_rule == RTUNE_NAN_PROPAGATE) != greatest;
    const uint64_t nans = rtune_float_layouts[kernel->dtype].nans;
    const uint64_t sign = UINT64_C(1) << (8 * dtype->size - 1);
    const bool flip_sign = !dtype->is_float && dtype->is_signed == (dtype->size == 1);
    kernel->shift = low ? nans : -nans;
    kernel->flip = (flip_sign ? sign : 0) ^ (greatest ? UINT64_MAX : 0);
    if (kernel->op == RTUNE_MINMAX && kernel->nan_rule == RTUNE_NAN_IGNORE)
        kernel->apart = 2 * nans;
}

/* Which sums are of elements with the sign bit flipped, and what that makes of one. */
static void set_sum(struct rtune_cpu_kernel *kernel, enum rtune_cpu_kind kind) {
    const bool is_signed = rtune_dtype_info(kernel->dtype)->is_signed;
    switch (kind) {
    case RTUNE_CPU_sum_8: /* sums unsigned */
        if (is_signed) kernel->flip = 0x80, kernel->bias = -UINT64_C(0x80);
        break;
    case RTUNE_CPU_sum_16: /* sums signed */
        if (!is_signed) kernel->flip = 0x8000, kernel->bias = 0x8000;
        break;
    case RTUNE_CPU_asum_16: /* has unsigned magnitudes, sums signed */
        kernel->flip = 0x8000, kernel->bias = 0x8000;
        break;
    case RTUNE_CPU_sum_32: /* sums unsigned */
        if (is_signed) kernel->flip = 0x80000000, kernel->bias = -UINT64_C(0x80000000);
        break;
    case RTUNE_CPU_dot_16s: /* raises two products by 0x7fff0000 */
        kernel->bias = -UINT64_C(0x3fff8000);
        break;
    default:
        break;
    }
}

static void set_up(struct rtune_cpu_kernel *kernel, const struct rtune_problem *p,
                   enum rtune_cpu_kind kind, const struct rtune_cpu_table *table, size_t k) {
    const bool arg = p->op == RTUNE_ARGMIN || p->op == RTUNE_ARGMAX;
    const struct rtune_dtype_info *dtype = rtune_dtype_info(p->dtype);
    *kernel = (struct rtune_cpu_kernel){
        .reduce = arg ? rtune_cpu_arg_reduce : table->reduce[kind][k],
        .leaf = p->mode == RTUNE_REPRODUCIBLE ? RTUNE_CPU_LEAF / dtype->size : 0,
        .extreme = table->reduce[kind][k],
        .find = table->find[kind],
        .element = dtype->size,
        .magnitude = p->op == RTUNE_ASUM,
        .square = p->op == RTUNE_SUMSQ,
        .op = p->op,
        .dtype = p->dtype,
        .result = rtune_result_dtype(p),
        .nan_rule = p->nan_rule,
    };
    if (p->op == RTUNE_BAND)
        kernel->flip = UINT64_MAX;
    else if (p->op >= RTUNE_MIN && p->op <= RTUNE_ARGMAX)
        set_order(kernel, dtype);
    else
        set_sum(kernel, kind);
    const struct rtune_cpu_joint joint = rtune_cpu_joint(kernel, p->mode);
    kernel->combine = joint.combine;
    kernel->finish = joint.finish;
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
    enum rtune_status status = rtune_problem_check(problem, err);
    if (status != RTUNE_OK) return status;
    const enum rtune_cpu_kind kind = kind_of(problem);
    size_t k = 0;
    if (kind == RTUNE_CPU_none)
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
    set_up(kernel, problem, kind, isas[isa].table, k);
    return RTUNE_OK;
}
