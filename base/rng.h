/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/rng.h: the seeded counter-based generator. Element i of a stream depends on (seed, i) alone,
 * so host, device and any number of threads make the same data in any order.
 */
#ifndef RTUNE_BASE_RNG_H
#define RTUNE_BASE_RNG_H

#include <stdint.h>

/* 64 random bits: SplitMix64's finaliser (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195;
 * constants of Stafford's variant 13) of seed + (i + 1) * 0x9e3779b97f4a7c15.
 * kernels/device/support.cuh has the same function. */
static inline uint64_t rtune_rng_at(uint64_t seed, uint64_t i) {
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A sequential stream over the same function. */
struct rtune_rng {
    uint64_t seed;
    uint64_t next;
};
static inline uint64_t rtune_rng_u64(struct rtune_rng *rng) {
    return rtune_rng_at(rng->seed, rng->next++);
}
/* Uniform in [0, bound), bound > 0; the bias is below bound / 2^64. */
static inline uint64_t rtune_rng_below(struct rtune_rng *rng, uint64_t bound) {
    return rtune_rng_u64(rng) % bound;
}

#endif /* RTUNE_BASE_RNG_H */
