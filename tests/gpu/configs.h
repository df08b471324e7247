/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/configs.h: configs that cover what a kernel can be: every finish and the bulk variant
 * for a problem, with blocks, vectors, loads and maps by turns.
 */
#ifndef RTUNE_TESTS_GPU_CONFIGS_H
#define RTUNE_TESTS_GPU_CONFIGS_H

#include "db/db.h"

enum { GPU_CONFIGS_MAX = 64 };

/* At most count (up to GPU_CONFIGS_MAX) configs of problem number `turn`, with grids of one block,
 * that a device of this identity can run. Returns how many; each finish that serves the problem is
 * there if count is 12 or more, else over some problems. */
size_t gpu_configs(const struct rtune_problem *problem, size_t turn,
                   const struct rtune_identity *identity, size_t count,
                   struct rtune_config configs[GPU_CONFIGS_MAX]);
/* The nearest grid to the wanted one that the config's finish admits and the device can hold
 * (blocks resident at the same time), at least 1. */
uint32_t gpu_grid(const struct rtune_config *config, uint32_t wanted, uint32_t resident);

#endif
