/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/cpu/cpu.h: the cascade on a CPU thread. One serial SIMD kernel reduces a contiguous part
 * of the input to a partial; another combines partials in index order; a third makes the result of
 * one. Knows no threads: runtime/device_cpu.c has the pool.
 */
#ifndef RTUNE_KERNELS_CPU_CPU_H
#define RTUNE_KERNELS_CPU_CPU_H

#include "kernels/kernels.h"

/* Instruction sets a kernel is compiled for, worst first. */
enum rtune_isa { RTUNE_ISA_BASE, RTUNE_ISA_AVX2, RTUNE_ISA_AVX512, RTUNE_ISA_COUNT };
const char *rtune_isa_name(enum rtune_isa isa);
/* The best one that this build has and this processor runs. */
enum rtune_isa rtune_isa_detect(void);

/* What one thread makes of its part (which member, only the kernel's functions know), and, once
 * finished, the bytes of the result. */
union rtune_cpu_value {
    uint64_t bits;
    unsigned char bytes[16];
    double real[2]; /* sum; mode kahan: sum and compensation */
    int64_t key[2]; /* order keys: extreme; minimum and maximum; extreme and its index */
    struct rtune_fixed fixed;
};

/* Part of an input. Elements need only the alignment of one. */
struct rtune_cpu_input {
    const void *in, *in2; /* in2: the second input of dot, else not looked at */
    uint64_t n;           /* elements, at least 1 */
    uint64_t first;       /* index of the part's first element in the whole input */
    double scale;         /* mode fixed */
};

struct rtune_cpu_kernel;
/* Reduce a part to *out. */
typedef void (*rtune_cpu_reduce_fn)(const struct rtune_cpu_kernel *kernel,
                                    const struct rtune_cpu_input *input,
                                    union rtune_cpu_value *out);
/* *a = op(*a, *b), b the partial of what follows a. */
typedef void (*rtune_cpu_combine_fn)(const struct rtune_cpu_kernel *kernel,
                                     union rtune_cpu_value *a, const union rtune_cpu_value *b);
/* The result of a reduction over n elements in place of its partial. */
typedef void (*rtune_cpu_finish_fn)(const struct rtune_cpu_kernel *kernel,
                                    union rtune_cpu_value *value, uint64_t n);
/* Index of the first of n elements with an order key of low ... high; n if there is none. */
typedef uint64_t (*rtune_cpu_find_fn)(const struct rtune_cpu_kernel *kernel, const void *in,
                                      uint64_t n, const int64_t range[2]);

/* A kernel for one problem and config: plain data, valid without end. */
struct rtune_cpu_kernel {
    rtune_cpu_reduce_fn reduce;
    rtune_cpu_combine_fn combine;
    rtune_cpu_finish_fn finish;
    /* Elements of a leaf in mode reproducible, else 0. There, every part but the last has 2^k
     * leaves with one k for all, each part starts at a multiple of that, and the partials are
     * combined as a complete binary tree of neighbours: struct rtune_cpu_tree. */
    uint64_t leaf;

    /* For the functions above alone. */
    rtune_cpu_reduce_fn extreme; /* of a block of an arg op */
    rtune_cpu_find_fn find;
    uint64_t shift, flip, apart; /* float bits to order key: cpu_int.h; integers: sign flip */
    uint64_t bias;               /* what an element's sum is off by after the flip */
    uint32_t element;            /* bytes */
    bool magnitude;              /* take |x| */
    bool square;                 /* both inputs are in */
    enum rtune_op op;
    enum rtune_dtype dtype, result;
    enum rtune_nan nan_rule;
};

/* The kernel for a checked problem, with config->items elements in flight; UNSUPPORTED if none. */
enum rtune_status rtune_cpu_kernel_find(const struct rtune_problem *problem,
                                        const struct rtune_config *config, enum rtune_isa isa,
                                        struct rtune_cpu_kernel *kernel, struct rtune_error *err);

/* RTUNE_ROOT, in the place of finish: the root of the wide sum, which is rounded first, as the
 * result. Of sumsq of floats alone, in the modes whose result is one. */
void rtune_cpu_finish_root(const struct rtune_cpu_kernel *kernel, union rtune_cpu_value *value);

/* RTUNE_ACCUMULATE: *a = op(*a, *b) on finished results. */
void rtune_cpu_accumulate(const struct rtune_cpu_kernel *kernel, union rtune_cpu_value *a,
                          const union rtune_cpu_value *b);

/* The complete binary tree of neighbours over partials that come in order; start from {0}. */
struct rtune_cpu_tree {
    union rtune_cpu_value level[64]; /* [k]: a subtree of 2^k partials, where bit k of count is 1 */
    uint64_t count;
};
void rtune_cpu_tree_add(const struct rtune_cpu_kernel *kernel, struct rtune_cpu_tree *tree,
                        const union rtune_cpu_value *partial);
/* The root; count is at least 1. */
union rtune_cpu_value rtune_cpu_tree_root(const struct rtune_cpu_kernel *kernel,
                                          const struct rtune_cpu_tree *tree);

/* k-th allowed value of items for this dtype and instruction set, 0 past the last. Some kernels are
 * the same for several. */
uint32_t rtune_cpu_items_at(enum rtune_dtype dtype, enum rtune_isa isa, size_t k);

#endif /* RTUNE_KERNELS_CPU_CPU_H */
