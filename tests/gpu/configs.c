/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/configs.c: shapes in turn, thrown away where there is no such kernel. */
#include "tests/gpu/configs.h"

#include "base/num.h"

enum { SHAPES = RTUNE_FINISH_COUNT + 2 }; /* every finish, bulk with slots and with one block */

static struct rtune_config shape_at(const struct rtune_problem *problem, size_t k) {
    static const uint32_t blocks[] = {32, 64, 128, 256, 512, 1024, 96, 352, 992};
    static const uint32_t vectors[] = {1, 2, 4, 8, 16};
    const size_t shape = k % SHAPES;
    const uint32_t block = blocks[k % RTUNE_ARRAY_SIZE(blocks)];
    const uint32_t vector = vectors[(k + k / 5) % RTUNE_ARRAY_SIZE(vectors)];
    struct rtune_config config = {
        .variant = RTUNE_CASCADED,
        .block = block,
        .grid = {RTUNE_GRID_BLOCKS, 1},
        .load = (enum rtune_load)((k + k / 4) % RTUNE_LOAD_COUNT),
        .map = (enum rtune_map)((k + k / 2 + k / SHAPES) % RTUNE_MAP_COUNT),
        .occupancy = k % 7 == 3 ? 1 : 0,
    };
    if (shape < RTUNE_FINISH_COUNT) {
        config.finish = (enum rtune_finish)shape;
        if (config.finish == RTUNE_FINISH_CLUSTER) config.extra = 2u << k / SHAPES % 3; /* 2 4 8 */
    } else {
        config.variant = RTUNE_BULK;
        config.finish = shape == RTUNE_FINISH_COUNT ? RTUNE_FINISH_SLOTS : RTUNE_FINISH_ONE;
        config.load = RTUNE_LOAD_PLAIN;
        config.extra = 2 + (uint32_t)(k / SHAPES % 3);
    }
    config.items = vector * RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(problem->dtype);
    /* A pipeline may be larger than the shared memory. */
    for (uint32_t v = vector; config.variant == RTUNE_BULK && v > 1; v /= 2)
        if (rtune_config_check(&config, problem->dtype, NULL) != RTUNE_OK) config.items /= 2;
    return config;
}

size_t gpu_configs(const struct rtune_problem *problem, size_t turn,
                   const struct rtune_identity *identity, size_t count,
                   struct rtune_config configs[GPU_CONFIGS_MAX]) {
    const size_t tries = 8 * (size_t)GPU_CONFIGS_MAX;
    size_t found = 0;
    /* The first shape moves on from problem to problem, so that fewer configs than shapes still
     * have every shape over all problems. */
    for (size_t k = 0; k < tries && found < count && found < GPU_CONFIGS_MAX; k++) {
        const struct rtune_config config = shape_at(problem, k + 5 * turn);
        if (rtune_instance_check(problem, &config, NULL) == RTUNE_OK &&
            rtune_config_runs_on(&config, identity->cc_major, identity->cc_minor))
            configs[found++] = config;
    }
    return found;
}

uint32_t gpu_grid(const struct rtune_config *config, uint32_t wanted, uint32_t resident) {
    uint32_t grid = (uint32_t)rtune_min_u64(wanted, RTUNE_GRID_MAX);
    if (config->finish == RTUNE_FINISH_ONE) grid = 1;
    if (config->finish == RTUNE_FINISH_GRID_SYNC && grid > resident) grid = resident;
    if (config->finish == RTUNE_FINISH_CLUSTER) {
        grid = (grid + config->extra - 1) / config->extra * config->extra;
        if (grid > RTUNE_GRID_MAX) grid -= config->extra;
    }
    return grid ? grid : 1;
}
