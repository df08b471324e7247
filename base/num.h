/* SPDX-License-Identifier: Apache-2.0 */
/* base/num.h: checked size arithmetic and small integer helpers. */
#ifndef RTUNE_BASE_NUM_H
#define RTUNE_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *out = a * b (a + b); false and *out untouched if it does not fit. */
static inline bool rtune_mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool rtune_add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
/* ceil(a / b), b > 0, without overflow. */
static inline uint64_t rtune_ceil_div(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }
static inline bool rtune_is_pow2(uint64_t a) { return a != 0 && (a & (a - 1)) == 0; }
static inline uint64_t rtune_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t rtune_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

#define RTUNE_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* RTUNE_BASE_NUM_H */
