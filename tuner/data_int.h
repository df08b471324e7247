/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/data_int.h: what data.c and data_expect.c share: the generator, and its view of problems.
 */
#ifndef RTUNE_TUNER_DATA_INT_H
#define RTUNE_TUNER_DATA_INT_H

#include "kernels/device/support.cuh"
#include "tuner/data.h"

enum {
    RTUNE_DATA_SCALE_BITS = 20, /* of mode fixed: more than a product's shift */
    RTUNE_DATA_POKED_K = 3      /* of THIN data: no other element's */
};

/* The bits of a type. */
static inline uint64_t rtune_data_low(enum rtune_dtype dtype, uint64_t bits) {
    unsigned unused = 64 - 8 * (unsigned)rtune_dtype_size(dtype);
    return bits << unused >> unused;
}

/* min, max, minmax and arg ops; arg ops alone. */
bool rtune_data_is_extreme(enum rtune_op op);
bool rtune_data_is_arg(enum rtune_op op);
/* Term of element i of a sum, modulo 2^64. */
uint64_t rtune_data_term_at(const struct rtune_recipe *recipe, uint64_t seed, uint64_t i);
uint64_t rtune_data_nan(enum rtune_dtype dtype, bool canonical);
/* Below (least) or above everything that the generator makes: what is poked in. */
uint64_t rtune_data_beyond(enum rtune_dtype dtype, bool least);
/* Is poke k there, and in the range? */
bool rtune_data_in_range(const struct rtune_data_view *view, uint32_t k);

#endif /* RTUNE_TUNER_DATA_INT_H */
