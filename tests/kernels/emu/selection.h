/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h: which kernel instances the emulation tests run: a few configs of every problem that
 * has kernels, so that every finish that can be emulated meets every op, and more of some problems,
 * so that every block, vectors and map meets every finish. Not emulated: cluster, grid_sync,
 * dependent, and the bulk variant.
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
/* k-th instance for inputs of more than 2^32 elements, compiled for speed; false past the last. */
bool rtune_emu_selection_big(size_t k, struct rtune_problem *problem, struct rtune_config *config);
/* k-th instance of a minimum or maximum of f64 in which NaN wins, the ops that are written in two
 * ways: to be compiled as for a machine that is slow at f64. False past the last. */
bool rtune_emu_selection_slow(size_t k, struct rtune_problem *problem, struct rtune_config *config);
/* Is this one of the problems with more configs? */
bool rtune_emu_is_rich(const struct rtune_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
