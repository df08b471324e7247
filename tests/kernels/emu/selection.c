/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c: instances by number, the same in the generator and in the tests. */
#include "tests/kernels/emu/selection.h"

#include "base/num.h"
#include "base/rng.h"

static const uint32_t blocks[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t vectors[] = {1, 2, 4, 8};
static const enum rtune_finish finishes[] = {RTUNE_FINISH_ONE, RTUNE_FINISH_SLOTS,
                                             RTUNE_FINISH_LAST};
static const enum rtune_map maps[] = {RTUNE_MAP_STRIP, RTUNE_MAP_CHUNK};

enum { CONFIGS = 6 * 4 * 3 * 2, SUBSET = 24, ODD = 12 };

static struct rtune_config config_of(size_t code, enum rtune_dtype dtype) {
    struct rtune_config config = {.grid = {RTUNE_GRID_BLOCKS, 1}};
    config.load = (enum rtune_load)(code % RTUNE_LOAD_COUNT); /* one body on the host */
    config.block = blocks[code % RTUNE_ARRAY_SIZE(blocks)], code /= RTUNE_ARRAY_SIZE(blocks);
    config.items = vectors[code % RTUNE_ARRAY_SIZE(vectors)], code /= RTUNE_ARRAY_SIZE(vectors);
    config.items *= RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(dtype);
    config.finish = finishes[code % RTUNE_ARRAY_SIZE(finishes)], code /= RTUNE_ARRAY_SIZE(finishes);
    config.map = maps[code % RTUNE_ARRAY_SIZE(maps)];
    return config;
}

/* k-th code of a random order of all of them, another order for every problem. */
static size_t shuffled(size_t k, size_t problem) {
    struct rtune_rng rng = {RTUNE_EMU_SEED + problem, 0};
    size_t codes[CONFIGS];
    for (size_t i = 0; i < CONFIGS; i++)
        codes[i] = i;
    for (size_t i = CONFIGS; i > 1; i--) {
        size_t j = (size_t)rtune_rng_below(&rng, i), code = codes[j];
        codes[j] = codes[i - 1];
        codes[i - 1] = code;
    }
    return codes[k];
}

/* The j-th block of an odd number of warps, 3 to 31. Successive ones are not equal. */
static uint32_t odd_block(size_t j) { return 32 * (3 + 2 * (uint32_t)(j % 15)); }

bool rtune_emu_selection(size_t k, struct rtune_problem *problem, struct rtune_config *config) {
    for (size_t p = 0; rtune_problem_at(p, problem); p++) {
        const bool whole = problem->op == RTUNE_SUM && problem->acc == RTUNE_WIDE &&
                           (problem->dtype == RTUNE_F32 || problem->dtype == RTUNE_I64);
        const size_t count = whole ? CONFIGS + ODD : SUBSET;
        if (k < count) {
            *config =
                config_of(whole && k < CONFIGS ? k : shuffled(k % CONFIGS, p), problem->dtype);
            if (whole && k >= CONFIGS) config->block = odd_block(p + k);
            if (!whole && k % 3 == 0) config->block = odd_block(p + k / 3);
            return true;
        }
        k -= count;
    }
    return false;
}
