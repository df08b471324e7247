/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c: instances by number, the same in the generator and in the tests. */
#include "tests/kernels/emu/selection.h"

#include "base/num.h"
#include "base/rng.h"

static const uint32_t blocks[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t vectors[] = {1, 2, 4, 8, 16};
static const enum rtune_finish emulated[] = {RTUNE_FINISH_ONE,    RTUNE_FINISH_SLOTS,
                                             RTUNE_FINISH_LAST,   RTUNE_FINISH_TWO_KERNELS,
                                             RTUNE_FINISH_PACKED, RTUNE_FINISH_ATOMIC};

enum { FEW = 2, LEAVES = 4, SLOW = 6, RICH = 24 };

/* One of each kind of kernel. */
bool rtune_emu_is_rich(const struct rtune_problem *p) {
    if (p->acc != RTUNE_WIDE || p->nan_rule != RTUNE_NAN_PROPAGATE) return false;
    if (p->mode == RTUNE_REPRODUCIBLE) return p->op == RTUNE_DOT && p->dtype == RTUNE_F32;
    return p->mode == RTUNE_PLAIN && ((p->op == RTUNE_SUM && p->dtype == RTUNE_F32) ||
                                      (p->op == RTUNE_SUM && p->dtype == RTUNE_I8) ||
                                      (p->op == RTUNE_ARGMAX && p->dtype == RTUNE_F16));
}

/* Leaves meet bases and grids in ways of their own. */
static size_t count_of(const struct rtune_problem *p) {
    if (rtune_emu_is_rich(p)) return RICH;
    return p->mode == RTUNE_REPRODUCIBLE ? LEAVES : FEW;
}

/* The finishes of a problem, by turns. */
static enum rtune_finish finish_of(const struct rtune_problem *problem,
                                   const struct rtune_config *like, size_t turn) {
    enum rtune_finish allowed[RTUNE_ARRAY_SIZE(emulated)];
    size_t count = 0;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(emulated); k++) {
        struct rtune_config config = *like;
        config.finish = emulated[k];
        if (rtune_instance_check(problem, &config, NULL) == RTUNE_OK)
            allowed[count++] = emulated[k];
    }
    return allowed[turn % count];
}

/* The j-th config of the p-th problem. Each axis has a period of its own. */
static struct rtune_config config_of(const struct rtune_problem *problem, size_t p, size_t j) {
    struct rtune_config config = {.grid = {RTUNE_GRID_BLOCKS, 1}};
    struct rtune_rng rng = {RTUNE_EMU_SEED + p, 0};
    const size_t turn = rtune_emu_is_rich(problem) ? j : FEW * p + j;
    const uint64_t random = rtune_rng_u64(&rng);
    config.load = (enum rtune_load)(turn % RTUNE_LOAD_COUNT); /* one body on the host */
    config.block = blocks[(random + turn) % RTUNE_ARRAY_SIZE(blocks)];
    if (turn % 3 == 2)
        config.block = 32 * (3 + 2 * (uint32_t)((random + turn) % 15)); /* odd warps */
    config.items = vectors[(random / 64 + turn + turn / 6) % RTUNE_ARRAY_SIZE(vectors)] *
                   RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(problem->dtype);
    config.map = (random / 512 + turn + turn / 12) % 2 ? RTUNE_MAP_CHUNK : RTUNE_MAP_STRIP;
    config.finish = finish_of(problem, &config, turn);
    return config;
}

bool rtune_emu_selection(size_t k, struct rtune_problem *problem, struct rtune_config *config) {
    for (size_t p = 0; rtune_problem_at(p, problem); p++) {
        const size_t count = count_of(problem);
        if (k < count) {
            *config = config_of(problem, p, k);
            return true;
        }
        k -= count;
    }
    return false;
}

static bool is_extreme_of_f64(const struct rtune_problem *p) {
    return p->dtype == RTUNE_F64 && p->nan_rule == RTUNE_NAN_PROPAGATE && p->op >= RTUNE_MIN &&
           p->op <= RTUNE_ARGMAX;
}

bool rtune_emu_selection_slow(size_t k, struct rtune_problem *problem,
                              struct rtune_config *config) {
    for (size_t p = 0; rtune_problem_at(p, problem); p++) {
        if (!is_extreme_of_f64(problem)) continue;
        if (k < SLOW) {
            *config = config_of(problem, p, k);
            return true;
        }
        k -= SLOW;
    }
    return false;
}

bool rtune_emu_selection_big(size_t k, struct rtune_problem *problem, struct rtune_config *config) {
    static const struct {
        enum rtune_op op;
        enum rtune_dtype dtype;
        enum rtune_mode mode;
        enum rtune_finish finish;
        enum rtune_map map;
    } big[] = {
        {RTUNE_SUM, RTUNE_I8, RTUNE_PLAIN, RTUNE_FINISH_SLOTS, RTUNE_MAP_STRIP},
        {RTUNE_ARGMAX, RTUNE_I8, RTUNE_PLAIN, RTUNE_FINISH_LAST, RTUNE_MAP_CHUNK},
        {RTUNE_COUNT_NONZERO, RTUNE_I8, RTUNE_PLAIN, RTUNE_FINISH_PACKED, RTUNE_MAP_CHUNK},
        {RTUNE_SUM, RTUNE_F16, RTUNE_REPRODUCIBLE, RTUNE_FINISH_TWO_KERNELS, RTUNE_MAP_STRIP},
        {RTUNE_SUM, RTUNE_F32, RTUNE_PLAIN, RTUNE_FINISH_SLOTS, RTUNE_MAP_CHUNK},
    };
    if (k >= RTUNE_ARRAY_SIZE(big)) return false;
    *problem = RTUNE_PROBLEM(big[k].op, big[k].dtype, 0);
    problem->mode = big[k].mode;
    *config = (struct rtune_config){
        .block = 32, .grid = {RTUNE_GRID_BLOCKS, 1}, .finish = big[k].finish, .map = big[k].map};
    config->items = 16 * RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(problem->dtype);
    return true;
}
