/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h: which kernel instances the emulation tests run: every block that is a power of two,
 * vectors, finish and map for f32 and i64 sums; for these and every other problem that has kernels
 * a seeded subset, with blocks of any number of warps.
 */
#ifndef RTUNE_TESTS_EMU_SELECTION_H
#define RTUNE_TESTS_EMU_SELECTION_H

#include "rtune/rtune.h"

#ifdef __cplusplus
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* a function named as a struct is fine in C */
#endif

#include "kernels/kernels.h"

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/* k-th instance; false past the last. The seed is fixed when the tests are built. */
bool rtune_emu_selection(size_t k, struct rtune_problem *problem, struct rtune_config *config);

#ifdef __cplusplus
}
#endif

#endif
