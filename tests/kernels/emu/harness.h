/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness.h: what the emulation tests share: inputs placed against guard pages, and one checked
 * launch. What is right comes from tests/reference.
 */
#ifndef RTUNE_TESTS_EMU_HARNESS_H
#define RTUNE_TESTS_EMU_HARNESS_H

#include "tests/kernels/emu/catalog.h"
#include "tests/kernels/emu/reference_cpp.h"

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
/* Copy n elements of the given size there; valid until the next call for the same input, the first
 * (0) or the second (1). */
void *place(unsigned input, const void *data, uint64_t n, size_t size, placement where);

/* Of its problem, the instance takes op, dtype, acc, mode and NaN rule. */
struct shot {
    const instance *of;
    unsigned grid;
    const void *in, *in2;
    double scale;
    uint64_t n;
    order in_order;
    uint64_t seed;
    const void *before; /* not NULL: RTUNE_ACCUMULATE to these 16 bytes */
    bool root = false;  /* RTUNE_ROOT */
};
/* Launch, and copy what out holds then. Fails the test if something was undefined, if a byte that
 * is no part of the result was written, or if the workspace was left in another state than it was
 * found. */
void shoot(const shot &s, unsigned char got[16]);
/* Fail the test unless the launch gives this result, or what RTUNE_ACCUMULATE makes of it. */
void expect(const shot &s, const reference_result &result, const char *why);

/* Has the problem a root? */
bool has_root(const rtune_problem &p);

/* Only one block may be launched. */
bool one_block(const instance &of);

} // namespace rtune_emu

#endif
