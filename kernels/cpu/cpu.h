/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/cpu/cpu.h: the cascade on a CPU thread. One serial SIMD kernel reduces a contiguous chunk
 * to an accumulator; another combines accumulators in index order. Knows no threads:
 * runtime/device_cpu.c has the pool.
 */
#ifndef RTUNE_KERNELS_CPU_CPU_H
#define RTUNE_KERNELS_CPU_CPU_H

#include "kernels/kernels.h"

/* Instruction sets a kernel is compiled for, worst first. */
enum rtune_isa { RTUNE_ISA_BASE, RTUNE_ISA_AVX2, RTUNE_ISA_AVX512, RTUNE_ISA_COUNT };
const char *rtune_isa_name(enum rtune_isa isa);
/* The best one that this build has and this processor runs. */
enum rtune_isa rtune_isa_detect(void);

/* Accumulator of one thread, in the problem's result type. */
union rtune_cpu_value {
    uint64_t bits;
    unsigned char bytes[16];
};

/* Reduce n elements at in (aligned to one element) to *out. */
typedef void (*rtune_cpu_reduce_fn)(const void *in, uint64_t n, union rtune_cpu_value *out);
/* *a = op(*a, *b). */
typedef void (*rtune_cpu_combine_fn)(union rtune_cpu_value *a, const union rtune_cpu_value *b);

struct rtune_cpu_kernel {
    rtune_cpu_reduce_fn reduce;
    rtune_cpu_combine_fn combine;
};

/* The kernel for a checked problem, with config->items elements in flight; UNSUPPORTED if none. */
enum rtune_status rtune_cpu_kernel_find(const struct rtune_problem *problem,
                                        const struct rtune_config *config, enum rtune_isa isa,
                                        struct rtune_cpu_kernel *kernel, struct rtune_error *err);

/* k-th allowed value of items for this dtype and instruction set, 0 past the last. */
uint32_t rtune_cpu_items_at(enum rtune_dtype dtype, enum rtune_isa isa, size_t k);

#endif /* RTUNE_KERNELS_CPU_CPU_H */
