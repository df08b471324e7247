/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.h: what the emulation tests share: inputs placed against guard pages, one checked launch,
 * and exact references that share no code with the templates.
 */
#ifndef RTUNE_TESTS_EMU_HARNESS_H
#define RTUNE_TESTS_EMU_HARNESS_H

#include "tests/kernels/emu/catalog.h"

#include <cstring>

namespace rtune_emu {

/* Seed of the data and orders of this run: RTUNE_TEST_SEED, else a fixed one. Printed once. */
uint64_t test_seed();

/* Where an input lies: the end against the guard page behind, or `offset` elements after the guard
 * page in front. What is between is garbage that would change any result. */
struct placement {
    bool at_end;
    unsigned offset;
};
/* Copy n elements of the given size there; valid until the next call. */
void *place(const void *data, uint64_t n, size_t size, placement where);

/* The bytes of a result, zero-extended. */
template <class T> uint64_t bits_of(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

struct shot {
    const instance *of;
    unsigned grid;
    const void *in;
    uint64_t n;
    order in_order;
    uint64_t seed;
    bool accumulate;
    uint64_t before; /* what out holds before the launch */
};
/* Launch and return what out holds then. Fails the test if something was undefined, or if the
 * workspace was left in another state than it was found. */
uint64_t shoot(const shot &s);
/* Fail the test unless the launch gives these bits. */
void expect(const shot &s, uint64_t bits, const char *why);

/* Data for a problem, of which every partial result in any order is exact. */
void fill_exact(const rtune_problem &problem, void *data, size_t count, uint64_t seed);
/* results[n] = result of the first n elements, n = 0 ... count. */
void reference_prefixes(const rtune_problem &problem, const void *data, size_t count,
                        uint64_t *results);
/* op(a, b) of two results. */
uint64_t reference_combine(const rtune_problem &problem, uint64_t a, uint64_t b);

} // namespace rtune_emu

#endif
