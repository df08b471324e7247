/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_check.c: what launch parameters mean: which a kernel can have, which serve a problem, the
 * built-in defaults, and how many blocks a grid comes to.
 */
#include "kernels/kernels.h"

#include "base/num.h"

#include <stdio.h>

enum {
    WARP = 32,
    SM_THREADS = 2048,       /* resident threads of the largest SM */
    OCCUPANCY_MAX = 32,      /* resident blocks of the largest SM */
    CPU_CHUNK_BYTES = 32768, /* a thread that gets less costs more than it brings */
    STAGES_MAX = 8,          /* of the pipeline of the bulk variant */
    PIPELINE_BYTES = 40 << 10,
    CLUSTER_MAX = 16, /* blocks; more than 8 are not portable */
    PACKED_BITS = 50  /* a word has 64, of which the count of blocks takes 13, and the sum a sign */
};

/* ---- allowed values -------------------------------------------------------------------------- */

/* Vectors of 16 bytes in flight per thread; 0 if items is not a whole number of them. */
static uint32_t vectors_of(const struct rtune_config *config, enum rtune_dtype dtype) {
    uint64_t bytes = (uint64_t)config->items * rtune_dtype_size(dtype);
    return bytes % RTUNE_VECTOR_BYTES
               ? 0
               : (uint32_t)rtune_min_u64(bytes / RTUNE_VECTOR_BYTES, 1u << 20);
}

static enum rtune_status check_name(enum rtune_name_kind kind, uint32_t value,
                                    struct rtune_error *err) {
    const struct rtune_name_table *table = rtune_names(kind);
    if (value < (uint32_t)table->count) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_RANGE, "%s: %u is out of its enum's range", table->what,
                         (unsigned)value);
}

static enum rtune_status check_names(const struct rtune_config *config, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(check_name(RTUNE_NAMES_VARIANT, (uint32_t)config->variant, err));
    TRY(check_name(RTUNE_NAMES_LOAD, (uint32_t)config->load, err));
    TRY(check_name(RTUNE_NAMES_FINISH, (uint32_t)config->finish, err));
    TRY(check_name(RTUNE_NAMES_MAP, (uint32_t)config->map, err));
done:
    return status;
}

static enum rtune_status check_grid(const struct rtune_config *config, struct rtune_error *err) {
    const struct rtune_grid *grid = &config->grid;
    char text[32];
    rtune_grid_print(grid, text, sizeof text);
    if ((unsigned)grid->kind >= RTUNE_GRID_COUNT ||
        (grid->kind == RTUNE_GRID_COVER ? grid->value != 0
                                        : grid->value < 1 || grid->value > RTUNE_GRID_MAX))
        return rtune_err_set(err, RTUNE_RANGE,
                             "grid: %s is not allowed (1 to %d, 1xsm to %dxsm, cover)", text,
                             RTUNE_GRID_MAX, RTUNE_GRID_MAX);
    if (config->finish == RTUNE_FINISH_ONE && (grid->kind != RTUNE_GRID_BLOCKS || grid->value != 1))
        return rtune_err_set(err, RTUNE_RANGE,
                             "grid: %s is not allowed with finish=one (use grid=1)", text);
    return RTUNE_OK;
}

/* A thread of a cpu device has one way to read and a chunk of its own; the calling thread combines
 * the partial results in order, whatever the finish, which is why `slots`, the default, stands for
 * that, and `one` for a single thread. */
static enum rtune_status check_cpu(const struct rtune_config *config, struct rtune_error *err) {
    if (config->load != RTUNE_LOAD_PLAIN)
        return rtune_err_set(err, RTUNE_RANGE, "load: %s is not allowed on cpu devices (use plain)",
                             rtune_load_name(config->load));
    if (config->map != RTUNE_MAP_CHUNK)
        return rtune_err_set(err, RTUNE_RANGE, "map: %s is not allowed on cpu devices (use chunk)",
                             rtune_map_name(config->map));
    if (config->finish != RTUNE_FINISH_SLOTS && config->finish != RTUNE_FINISH_ONE)
        return rtune_err_set(err, RTUNE_RANGE,
                             "finish: %s is not allowed on cpu devices (use slots, or one with "
                             "grid=1)",
                             rtune_finish_name(config->finish));
    if (config->variant != RTUNE_CASCADED)
        return rtune_err_set(err, RTUNE_RANGE,
                             "variant: %s is not allowed on cpu devices (use cascaded)",
                             rtune_variant_name(config->variant));
    return RTUNE_OK;
}

/* The stages of a pipeline, or the blocks of a cluster; a config has one use of extra at most. */
static enum rtune_status check_extra(const struct rtune_config *config, uint32_t vectors,
                                     struct rtune_error *err) {
    const bool bulk = config->variant == RTUNE_BULK;
    const bool cluster = config->finish == RTUNE_FINISH_CLUSTER;
    const unsigned extra = config->extra;
    if (bulk && cluster)
        return rtune_err_set(err, RTUNE_RANGE,
                             "finish: cluster is not allowed with variant=bulk (use slots)");
    if (bulk && config->load != RTUNE_LOAD_PLAIN)
        return rtune_err_set(err, RTUNE_RANGE,
                             "load: %s is not allowed with variant=bulk (use plain)",
                             rtune_load_name(config->load));
    if (bulk && (extra < 2 || extra > STAGES_MAX))
        return rtune_err_set(err, RTUNE_RANGE,
                             "extra: %u is not allowed with variant=bulk (2 to %d stages)", extra,
                             STAGES_MAX);
    if (bulk && (uint64_t)extra * config->block * vectors * RTUNE_VECTOR_BYTES > PIPELINE_BYTES)
        return rtune_err_set(err, RTUNE_RANGE,
                             "extra: %u stages of block=%u and items=%u exceed %d bytes of shared "
                             "memory (use fewer of one)",
                             extra, (unsigned)config->block, (unsigned)config->items,
                             PIPELINE_BYTES);
    if (cluster && (extra < 2 || extra > CLUSTER_MAX || !rtune_is_pow2(extra)))
        return rtune_err_set(err, RTUNE_RANGE,
                             "extra: %u is not allowed with finish=cluster (2, 4, 8 or 16 blocks)",
                             extra);
    if (!bulk && !cluster && extra != 0)
        return rtune_err_set(err, RTUNE_RANGE,
                             "extra: %u is not allowed (0, but with variant=bulk or "
                             "finish=cluster)",
                             extra);
    return RTUNE_OK;
}

enum rtune_status rtune_config_check(const struct rtune_config *config, enum rtune_dtype dtype,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const bool cpu = config->block == 1;
    const uint32_t vectors = vectors_of(config, dtype);
    const uint32_t per_vector = RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(dtype);
    /* On cpu devices one to eight accumulators of 64 bytes. */
    const uint32_t least = cpu ? 4 : 1, most = cpu ? 32 : RTUNE_VECTORS_MAX;
    TRY(check_names(config, err));
    if (!cpu && (config->block < WARP || config->block > RTUNE_BLOCK_MAX || config->block % WARP))
        TRY(rtune_err_set(
            err, RTUNE_RANGE,
            "block: %u is not allowed (a multiple of %d from %d to %d; 1 on cpu devices)",
            (unsigned)config->block, WARP, WARP, RTUNE_BLOCK_MAX));
    if (!rtune_is_pow2(vectors) || vectors < least || vectors > most)
        TRY(rtune_err_set(err, RTUNE_RANGE,
                          "items: %u is not allowed for %s (%u times a power of two, up to %u)",
                          (unsigned)config->items, rtune_dtype_name(dtype),
                          (unsigned)(per_vector * least), (unsigned)(per_vector * most)));
    if (config->occupancy > OCCUPANCY_MAX || (cpu && config->occupancy != 0) ||
        config->occupancy * config->block > SM_THREADS)
        TRY(rtune_err_set(
            err, RTUNE_RANGE,
            "occupancy: %u is not allowed with block=%u (0 to %d, and block x occupancy "
            "up to %d; 0 on cpu devices)",
            (unsigned)config->occupancy, (unsigned)config->block, OCCUPANCY_MAX, SM_THREADS));
    TRY(check_grid(config, err));
    if (cpu) TRY(check_cpu(config, err));
    TRY(check_extra(config, vectors, err));
done:
    return status;
}

/* ---- what serves a problem ------------------------------------------------------------------- */

/* Which ops of which dtypes a finish is for; every finish but these is for all. */
static bool packs(const struct rtune_problem *problem) {
    const bool integers = !rtune_dtype_info(problem->dtype)->is_float;
    switch (problem->op) {
    case RTUNE_SUM:
    case RTUNE_SUMSQ:
    case RTUNE_ASUM:
    case RTUNE_DOT:
        return integers && problem->mode == RTUNE_PLAIN;
    case RTUNE_ANY:
    case RTUNE_ALL:
    case RTUNE_COUNT_NONZERO:
        return true;
    default:
        return false;
    }
}

static bool adds_atomically(const struct rtune_problem *problem) {
    return problem->op <= RTUNE_DOT && problem->mode == RTUNE_PLAIN &&
           rtune_dtype_info(problem->dtype)->is_float;
}
_Static_assert(RTUNE_SUM == 0 && RTUNE_SUMSQ < RTUNE_DOT && RTUNE_ASUM < RTUNE_DOT &&
                   RTUNE_DOT < RTUNE_PROD,
               "the sums come first");

/* Must the running total fit in what the count of blocks leaves of a word? Else it wraps in half a
 * word of its own, or cannot grow so far. */
static bool total_is_bounded(const struct rtune_problem *problem) {
    if (problem->op == RTUNE_ANY || problem->op == RTUNE_ALL) return false;
    return rtune_dtype_size(rtune_result_dtype(problem)) == 8;
}

/* No term of the sum is above 2 to this. */
static uint32_t term_bits(const struct rtune_problem *problem) {
    const struct rtune_dtype_info *info = rtune_dtype_info(problem->dtype);
    const uint32_t bits = 8 * info->size - (info->is_signed ? 1 : 0);
    if (problem->op == RTUNE_COUNT_NONZERO) return 0;
    return problem->op == RTUNE_SUMSQ || problem->op == RTUNE_DOT ? 2 * bits : bits;
}

/* Does a sum of so many terms fit? */
static bool total_fits(const struct rtune_problem *problem, uint64_t n) {
    const uint32_t bits = term_bits(problem);
    return !total_is_bounded(problem) ||
           (bits < PACKED_BITS && n < UINT64_C(1) << (PACKED_BITS - bits));
}

static enum rtune_status check_bulk(const struct rtune_problem *problem, struct rtune_error *err) {
    if (problem->op == RTUNE_DOT || problem->op == RTUNE_ARGMIN || problem->op == RTUNE_ARGMAX)
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "variant: bulk does not serve %s (use cascaded)",
                             rtune_op_name(problem->op));
    if (problem->mode == RTUNE_REPRODUCIBLE)
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "variant: bulk does not serve mode reproducible (use cascaded)");
    return RTUNE_OK;
}

enum rtune_status rtune_instance_check(const struct rtune_problem *problem,
                                       const struct rtune_config *config, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const char *op = rtune_op_name(problem->op), *dtype = rtune_dtype_name(problem->dtype);
    TRY(rtune_config_check(config, problem->dtype, err));
    if (config->variant == RTUNE_BULK) TRY(check_bulk(problem, err));
    if (config->finish == RTUNE_FINISH_PACKED && !packs(problem))
        TRY(rtune_err_set(
            err, RTUNE_UNSUPPORTED,
            "finish: packed does not serve %s of %s (it is for sums of integers, any, "
            "all and count_nonzero; use slots)",
            op, dtype));
    if (config->finish == RTUNE_FINISH_PACKED && !total_fits(problem, 1))
        TRY(rtune_err_set(err, RTUNE_UNSUPPORTED,
                          "finish: packed does not serve %s of %s: its word is too short for one "
                          "element (use slots)",
                          op, dtype));
    if (config->finish == RTUNE_FINISH_ATOMIC && !adds_atomically(problem))
        TRY(rtune_err_set(err, RTUNE_UNSUPPORTED,
                          "finish: atomic does not serve %s of %s in mode %s (it is for plain sums "
                          "of floats; use slots)",
                          op, dtype, rtune_mode_name(problem->mode)));
done:
    return status;
}

bool rtune_finish_admits(const struct rtune_config *config, const struct rtune_problem *problem,
                         uint32_t grid, const char **why) {
    *why = NULL;
    if (config->finish == RTUNE_FINISH_PACKED &&
        (grid > RTUNE_GRID_MAX || !packs(problem) || !total_fits(problem, problem->n)))
        *why = "packed finish: the sum of so many elements may not fit";
    if (config->finish == RTUNE_FINISH_ATOMIC &&
        (!adds_atomically(problem) || !(problem->flags & RTUNE_ALLOW_NONDETERMINISTIC)))
        *why = "atomic finish: the problem asks for the same bits in every run";
    if (config->finish == RTUNE_FINISH_CLUSTER && (config->extra == 0 || grid % config->extra))
        *why = "cluster finish: the blocks do not divide into clusters";
    return *why == NULL;
}

uint32_t rtune_config_needs_cc(const struct rtune_config *config) {
    const bool hopper = config->variant == RTUNE_BULK || config->finish == RTUNE_FINISH_CLUSTER ||
                        config->finish == RTUNE_FINISH_DEPENDENT;
    return hopper ? 90 : 0;
}

bool rtune_config_runs_on(const struct rtune_config *config, int cc_major, int cc_minor) {
    return 10 * cc_major + cc_minor >= (int)rtune_config_needs_cc(config);
}

/* ---- defaults and grids ---------------------------------------------------------------------- */

struct rtune_config rtune_config_default(const struct rtune_problem *problem, bool cuda) {
    enum { CUDA_BLOCK = 512, CUDA_VECTORS = 4, CPU_VECTORS = 16 };
    const uint32_t per_vector = RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(problem->dtype);
    struct rtune_config config = {
        .variant = RTUNE_CASCADED,
        .block = CUDA_BLOCK,
        .items = CUDA_VECTORS * per_vector,
        .grid = {RTUNE_GRID_COVER, 0},
        .load = RTUNE_LOAD_PLAIN,
        .finish = RTUNE_FINISH_SLOTS,
        .map = RTUNE_MAP_STRIP,
        .occupancy = 0,
        .extra = 0,
    };
    if (!cuda) {
        config.block = 1;
        config.items = CPU_VECTORS * per_vector; /* four accumulators of 64 bytes */
        config.map = RTUNE_MAP_CHUNK;
    }
    return config;
}

uint32_t rtune_grid_resolve(const struct rtune_config *config, enum rtune_dtype dtype, uint64_t n,
                            uint32_t sm_count, uint32_t resident) {
    const bool cpu = config->block == 1;
    const uint64_t wave = (uint64_t)sm_count * rtune_max_u64(resident, 1);
    const uint64_t tile =
        cpu ? CPU_CHUNK_BYTES / rtune_dtype_size(dtype) : (uint64_t)config->block * config->items;
    uint64_t blocks = 1;
    switch (config->grid.kind) {
    case RTUNE_GRID_BLOCKS:
        blocks = config->grid.value;
        break;
    case RTUNE_GRID_SM:
        blocks = (uint64_t)config->grid.value * sm_count;
        break;
    case RTUNE_GRID_COVER:
        blocks = rtune_min_u64(rtune_ceil_div(n, tile), wave);
        break;
    case RTUNE_GRID_COUNT:
        break;
    }
    if (config->finish == RTUNE_FINISH_ONE) blocks = 1;
    /* No more threads than the pool has, and all blocks that are to meet must be resident. */
    if (cpu || config->finish == RTUNE_FINISH_GRID_SYNC) blocks = rtune_min_u64(blocks, wave);
    blocks = rtune_max_u64(rtune_min_u64(blocks, RTUNE_GRID_MAX), 1);
    if (config->finish == RTUNE_FINISH_CLUSTER && config->extra > 0)
        blocks = rtune_max_u64(blocks - blocks % config->extra, config->extra);
    return (uint32_t)blocks;
}

size_t rtune_workspace_bytes(void) {
    return RTUNE_WORKSPACE_HEADER +
           (size_t)RTUNE_GRID_MAX * (RTUNE_WORKSPACE_SLOT + RTUNE_WORKSPACE_PARTIAL);
}
