/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_int.h: private to kernels/cpu. The kinds of kernel, the per-instruction-set tables, and the
 * integer order in which min and max work.
 *
 * Order keys: every min and max is a minimum of signed integers. The bits of a float, with all but
 * the sign inverted where it is negative, compare as signed integers the way the floats do, with
 * -0 < +0, -NaN lowest and +NaN highest. Adding (subtracting) the number of keys above +infinity,
 * modulo 2^bits (shift), rotates all NaNs to the low (high) end. Inverting all bits (flip) turns a
 * maximum into a minimum; flipping the sign bit makes unsigned integers signed. Bytes alone compare
 * unsigned, and so their keys are 0 ... 255.
 */
#ifndef RTUNE_KERNELS_CPU_CPU_INT_H
#define RTUNE_KERNELS_CPU_CPU_INT_H

#include "kernels/cpu/cpu.h"

#include <string.h>

/* Kinds with a kernel for each number of vectors in flight, and those with one for all. A number
 * says the bits of an integer element; sums modulo 2^64 serve acc native, too. s, u: signed and
 * unsigned elements where it matters; n: modulo 2^32 alone. f16 ... f64: floats; in kinds that
 * look at bits alone 16f, 32f, 64f. kahan_, fixed_, tree_ (reproducible): the modes. sumsq is dot
 * with both inputs the same, asum of floats is sum with the sign masked, argmin and argmax find
 * the extremes of blocks by order_, any and all are counts, band is bor of the inverted. */
#define RTUNE_CPU_KINDS_EACH(X)                                                                    \
    X(sum_8)                                                                                       \
    X(sum_16)                                                                                      \
    X(sum_32)                                                                                      \
    X(sum_32n)                                                                                     \
    X(sum_64)                                                                                      \
    X(sum_f16)                                                                                     \
    X(sum_bf16)                                                                                    \
    X(sum_f32)                                                                                     \
    X(sum_f64)                                                                                     \
    X(dot_8s)                                                                                      \
    X(dot_8u)                                                                                      \
    X(dot_32s)                                                                                     \
    X(dot_f16)                                                                                     \
    X(dot_bf16)                                                                                    \
    X(dot_f32)                                                                                     \
    X(dot_f64)                                                                                     \
    X(prod_f32)                                                                                    \
    X(prod_f64)                                                                                    \
    X(order_8)                                                                                     \
    X(order_16)                                                                                    \
    X(order_32)                                                                                    \
    X(order_64)                                                                                    \
    X(order_16f)                                                                                   \
    X(order_32f)                                                                                   \
    X(order_64f)                                                                                   \
    X(count_8)                                                                                     \
    X(count_16)                                                                                    \
    X(count_32)                                                                                    \
    X(count_64)                                                                                    \
    X(count_16f)                                                                                   \
    X(count_32f)                                                                                   \
    X(count_64f)

#define RTUNE_CPU_KINDS_ONE(X)                                                                     \
    X(asum_8)                                                                                      \
    X(asum_16)                                                                                     \
    X(asum_32)                                                                                     \
    X(asum_64)                                                                                     \
    X(dot_16s)                                                                                     \
    X(dot_16u)                                                                                     \
    X(dot_32u)                                                                                     \
    X(dot_64)                                                                                      \
    X(prod_8s)                                                                                     \
    X(prod_8u)                                                                                     \
    X(prod_16s)                                                                                    \
    X(prod_16u)                                                                                    \
    X(prod_32s)                                                                                    \
    X(prod_32u)                                                                                    \
    X(prod_64)                                                                                     \
    X(prod_f16)                                                                                    \
    X(prod_bf16)                                                                                   \
    X(minmax_8)                                                                                    \
    X(minmax_16)                                                                                   \
    X(minmax_32)                                                                                   \
    X(minmax_64)                                                                                   \
    X(minmax_16f)                                                                                  \
    X(minmax_32f)                                                                                  \
    X(minmax_64f)                                                                                  \
    X(bits_or)                                                                                     \
    X(bits_xor)                                                                                    \
    X(kahan_sum_f16)                                                                               \
    X(kahan_sum_bf16)                                                                              \
    X(kahan_sum_f32)                                                                               \
    X(kahan_sum_f64)                                                                               \
    X(kahan_dot_f16)                                                                               \
    X(kahan_dot_bf16)                                                                              \
    X(kahan_dot_f32)                                                                               \
    X(kahan_dot_f64)                                                                               \
    X(fixed_sum_f16)                                                                               \
    X(fixed_sum_bf16)                                                                              \
    X(fixed_sum_f32)                                                                               \
    X(fixed_sum_f64)                                                                               \
    X(fixed_dot_f16)                                                                               \
    X(fixed_dot_bf16)                                                                              \
    X(fixed_dot_f32)                                                                               \
    X(fixed_dot_f64)                                                                               \
    X(tree_sum_f16)                                                                                \
    X(tree_sum_bf16)                                                                               \
    X(tree_sum_f32)                                                                                \
    X(tree_sum_f64)                                                                                \
    X(tree_dot_f16)                                                                                \
    X(tree_dot_bf16)                                                                               \
    X(tree_dot_f32)                                                                                \
    X(tree_dot_f64)

enum rtune_cpu_kind {
    RTUNE_CPU_none,
#define X(kind) RTUNE_CPU_##kind,
    RTUNE_CPU_KINDS_EACH(X) RTUNE_CPU_KINDS_ONE(X)
#undef X
        RTUNE_CPU_KIND_COUNT
};

/* Elements in flight: 1, 2, 4 or 8 logical vectors of 64 bytes, whatever a register holds. So the
 * bits of a config are the same for every instruction set. */
enum { RTUNE_CPU_VECTOR = 64, RTUNE_CPU_VECTOR_COUNTS = 4 };

struct rtune_cpu_table {
    rtune_cpu_reduce_fn reduce[RTUNE_CPU_KIND_COUNT][RTUNE_CPU_VECTOR_COUNTS];
    rtune_cpu_find_fn find[RTUNE_CPU_KIND_COUNT]; /* of the kinds order_ */
};
extern const struct rtune_cpu_table rtune_cpu_table_base;
#if RTUNE_CPU_X86
extern const struct rtune_cpu_table rtune_cpu_table_avx2;
extern const struct rtune_cpu_table rtune_cpu_table_avx512;
#endif

/* Mode reproducible: rows of 512 bytes, 16 to a leaf. */
enum { RTUNE_CPU_ROW = 512, RTUNE_CPU_ROWS = 16, RTUNE_CPU_LEAF = 512 * 16 };

/* reduce of argmin and argmax: arg.c. */
void rtune_cpu_arg_reduce(const struct rtune_cpu_kernel *kernel,
                          const struct rtune_cpu_input *input, union rtune_cpu_value *out);
void rtune_cpu_arg_combine(const struct rtune_cpu_kernel *kernel, union rtune_cpu_value *a,
                           const union rtune_cpu_value *b);
void rtune_cpu_arg_finish(const struct rtune_cpu_kernel *kernel, union rtune_cpu_value *value,
                          uint64_t n);

/* combine and finish of everything else: combine.c. */
struct rtune_cpu_joint {
    rtune_cpu_combine_fn combine;
    rtune_cpu_finish_fn finish;
};
struct rtune_cpu_joint rtune_cpu_joint(const struct rtune_cpu_kernel *kernel, enum rtune_mode mode);

/* Order key of an element's bits, and back; of any NaN, the canonical bits. */
int64_t rtune_cpu_key(const struct rtune_cpu_kernel *kernel, uint64_t bits);
uint64_t rtune_cpu_unkey(const struct rtune_cpu_kernel *kernel, int64_t key);

/* Mode fixed: add terms one by one to out->fixed. */
void rtune_cpu_fixed_add(const double *terms, int count, double scale, union rtune_cpu_value *out);

/* {a->real[0], a->real[1]} plus x exactly, but for the rounding of the compensation (Knuth's
 * TwoSum). */
static inline void rtune_cpu_two_sum(double *sum, double *rest, double x) {
    const double a = *sum, s = a + x, z = s - a;
    *rest += (a - (s - z)) + (x - z);
    *sum = s;
}

/* ---- layout of floats ------------------------------------------------------------------------ */

struct rtune_float_layout {
    uint64_t infinity; /* bits */
    uint64_t quiet;    /* the canonical NaN */
    uint64_t nans;     /* order keys above +infinity, and as many below -infinity */
};
/* Of a float type, by its dtype; zeros for integers. */
extern const struct rtune_float_layout rtune_float_layouts[RTUNE_DTYPE_COUNT];

static inline float rtune_f32_value(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t rtune_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double rtune_f64_value(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t rtune_f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
/* A half's value: exponent and fraction moved to their places and scaled. */
static inline float rtune_f16_value(uint16_t half) {
    const uint32_t magnitude = (half & 0x7fffu) << 13;
    const uint32_t infinite = magnitude >= 0x0f800000u ? 0x7f800000u : 0;
    return rtune_f32_value(rtune_f32_bits(rtune_f32_value(magnitude) * 0x1p112f) | infinite |
                           (half & 0x8000u) << 16);
}

#endif /* RTUNE_KERNELS_CPU_CPU_INT_H */
