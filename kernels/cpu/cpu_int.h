/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_int.h: private to kernels/cpu. The kinds of kernel, the per-instruction-set tables, and the
 * integer order on floats in which min and max work.
 *
 * Order keys: the bits of a float, with all but the sign inverted where it is negative, compare as
 * signed integers the way the floats do, with -0 < +0, -NaN lowest and +NaN highest. Adding
 * (subtracting) the number of keys above +infinity, modulo 2^bits, rotates all NaNs to the low
 * (high) end. So one signed integer min or max gives IEEE 754-2019 minimum and maximumNumber with
 * NaNs low, maximum and minimumNumber with NaNs high.
 */
#ifndef RTUNE_KERNELS_CPU_CPU_INT_H
#define RTUNE_KERNELS_CPU_CPU_INT_H

#include "kernels/cpu/cpu.h"

/* One kernel per kind and items. _wide: i32 in, i64 out. _low, _high: where NaNs are in the order.
 */
#define RTUNE_CPU_KINDS(X)                                                                         \
    X(sum_f32)                                                                                     \
    X(sum_f64)                                                                                     \
    X(sum_i32)                                                                                     \
    X(sum_i32_wide)                                                                                \
    X(sum_i64)                                                                                     \
    X(prod_f32)                                                                                    \
    X(prod_f64)                                                                                    \
    X(prod_i32)                                                                                    \
    X(prod_i32_wide)                                                                               \
    X(prod_i64)                                                                                    \
    X(min_f32_low)                                                                                 \
    X(min_f32_high)                                                                                \
    X(min_f64_low)                                                                                 \
    X(min_f64_high)                                                                                \
    X(min_i32)                                                                                     \
    X(min_i64)                                                                                     \
    X(max_f32_low)                                                                                 \
    X(max_f32_high)                                                                                \
    X(max_f64_low)                                                                                 \
    X(max_f64_high)                                                                                \
    X(max_i32)                                                                                     \
    X(max_i64)

enum rtune_cpu_kind {
#define X(kind) RTUNE_CPU_##kind,
    RTUNE_CPU_KINDS(X)
#undef X
        RTUNE_CPU_KIND_COUNT
};

/* Elements in flight: 1, 2, 4 or 8 logical vectors of 64 bytes, whatever a register holds. So the
 * bits of a config are the same for every instruction set. */
enum { RTUNE_CPU_VECTOR = 64, RTUNE_CPU_VECTOR_COUNTS = 4 };

typedef const rtune_cpu_reduce_fn rtune_cpu_table[RTUNE_CPU_KIND_COUNT][RTUNE_CPU_VECTOR_COUNTS];
extern rtune_cpu_table rtune_cpu_table_base;
#if RTUNE_CPU_X86
extern rtune_cpu_table rtune_cpu_table_avx2;
extern rtune_cpu_table rtune_cpu_table_avx512;
#endif

#define RTUNE_F32_NANS UINT32_C(0x007fffff)         /* order keys above +infinity */
#define RTUNE_F64_NANS UINT64_C(0x000fffffffffffff) /* and as many below -infinity */
#define RTUNE_F32_INF UINT32_C(0x7f800000)
#define RTUNE_F64_INF UINT64_C(0x7ff0000000000000)
#define RTUNE_F32_NEG_INF UINT32_C(0xff800000)
#define RTUNE_F64_NEG_INF UINT64_C(0xfff0000000000000)
#define RTUNE_F32_QNAN UINT32_C(0x7fc00000)
#define RTUNE_F64_QNAN UINT64_C(0x7ff8000000000000)

/* Float bits to order key and back (the map is its own inverse). */
static inline uint32_t rtune_order_f32(uint32_t bits) {
    return bits ^ (bits >> 31 ? UINT32_C(0x7fffffff) : 0);
}
static inline uint64_t rtune_order_f64(uint64_t bits) {
    return bits ^ (bits >> 63 ? UINT64_C(0x7fffffffffffffff) : 0);
}

/* Float bits, with the canonical quiet NaN for any NaN. */
static inline uint32_t rtune_canonical_f32(uint32_t bits) {
    return (bits & UINT32_C(0x7fffffff)) > RTUNE_F32_INF ? RTUNE_F32_QNAN : bits;
}
static inline uint64_t rtune_canonical_f64(uint64_t bits) {
    return (bits & UINT64_C(0x7fffffffffffffff)) > RTUNE_F64_INF ? RTUNE_F64_QNAN : bits;
}

#endif /* RTUNE_KERNELS_CPU_CPU_INT_H */
