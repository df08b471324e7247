/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c: launch parameters. One table of axes serves printing, parsing and comparing; the
 * allowed values and the built-in defaults are here.
 */
#include "kernels/kernels.h"

#include "base/num.h"
#include "base/parse.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    WARP = 32,
    SM_THREADS = 2048,      /* resident threads of the largest SM */
    OCCUPANCY_MAX = 32,     /* resident blocks of the largest SM */
    CPU_CHUNK_BYTES = 32768 /* a thread that gets less costs more than it brings */
};

/* ---- axes ------------------------------------------------------------------------------------ */

enum axis_kind { AXIS_NUMBER, AXIS_NAME, AXIS_GRID };

struct axis {
    const char *name;
    size_t offset; /* in struct rtune_config */
    enum axis_kind kind;
    enum rtune_name_kind names;
};

static const struct axis axes[] = {
    {"variant", offsetof(struct rtune_config, variant), AXIS_NAME, RTUNE_NAMES_VARIANT},
    {"block", offsetof(struct rtune_config, block), AXIS_NUMBER, 0},
    {"items", offsetof(struct rtune_config, items), AXIS_NUMBER, 0},
    {"grid", offsetof(struct rtune_config, grid), AXIS_GRID, 0},
    {"load", offsetof(struct rtune_config, load), AXIS_NAME, RTUNE_NAMES_LOAD},
    {"finish", offsetof(struct rtune_config, finish), AXIS_NAME, RTUNE_NAMES_FINISH},
    {"map", offsetof(struct rtune_config, map), AXIS_NAME, RTUNE_NAMES_MAP},
    {"occupancy", offsetof(struct rtune_config, occupancy), AXIS_NUMBER, 0},
};

/* Every axis but the grid is read and written as one 32-bit word. */
_Static_assert(sizeof(enum rtune_variant) == 4 && sizeof(enum rtune_load) == 4 &&
                   sizeof(enum rtune_finish) == 4 && sizeof(enum rtune_map) == 4,
               "enums of a config are 32-bit words");

static uint32_t axis_get(const struct rtune_config *config, const struct axis *axis) {
    uint32_t value;
    memcpy(&value, (const char *)config + axis->offset, sizeof value);
    return value;
}

static void axis_set(struct rtune_config *config, const struct axis *axis, uint32_t value) {
    memcpy((char *)config + axis->offset, &value, sizeof value);
}

/* ---- text ------------------------------------------------------------------------------------ */

int rtune_grid_print(const struct rtune_grid *grid, char *text, size_t size) {
    switch (grid->kind) {
    case RTUNE_GRID_BLOCKS:
        return snprintf(text, size, "%u", (unsigned)grid->value);
    case RTUNE_GRID_SM:
        return snprintf(text, size, "%uxsm", (unsigned)grid->value);
    case RTUNE_GRID_COVER:
        return snprintf(text, size, "cover");
    case RTUNE_GRID_COUNT:
        break;
    }
    return snprintf(text, size, "?");
}

enum rtune_status rtune_grid_parse(const char *text, struct rtune_grid *grid,
                                   struct rtune_error *err) {
    static const char suffix[] = "xsm";
    struct rtune_grid read = {RTUNE_GRID_COVER, 0};
    char digits[16];
    uint64_t value = 0;
    size_t length = strlen(text);
    if (strcmp(text, "cover") == 0) {
        *grid = read;
        return RTUNE_OK;
    }
    read.kind = RTUNE_GRID_BLOCKS;
    if (length >= strlen(suffix) && strcmp(text + length - strlen(suffix), suffix) == 0) {
        read.kind = RTUNE_GRID_SM;
        length -= strlen(suffix);
    }
    if (length == 0 || length >= sizeof digits || strspn(text, "0123456789") != length)
        return rtune_err_set(err, RTUNE_SYNTAX,
                             "grid: \"%.40s\" is not a grid (use a number of blocks such as 528, a "
                             "multiple of the SM count such as 4xsm, or cover)",
                             text);
    memcpy(digits, text, length);
    digits[length] = '\0';
    enum rtune_status status = rtune_parse_u64(digits, 1, RTUNE_GRID_MAX, &value, err);
    if (status != RTUNE_OK) {
        rtune_err_prefix(err, "grid");
        return status;
    }
    read.value = (uint32_t)value;
    *grid = read;
    return RTUNE_OK;
}

static int axis_print(const struct rtune_config *config, const struct axis *axis, char *text,
                      size_t size) {
    const char *name;
    switch (axis->kind) {
    case AXIS_NUMBER:
        return snprintf(text, size, "%u", (unsigned)axis_get(config, axis));
    case AXIS_GRID:
        return rtune_grid_print(&config->grid, text, size);
    case AXIS_NAME:
        break;
    }
    name = rtune_names(axis->names)->name((int)axis_get(config, axis));
    return snprintf(text, size, "%s", name ? name : "?");
}

int rtune_config_print(const struct rtune_config *config, char *text, size_t size) {
    int total = 0;
    if (config == NULL) return snprintf(text, size, "(none)");
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(axes); k++) {
        char value[32];
        if (axes[k].offset == offsetof(struct rtune_config, variant) &&
            config->variant == RTUNE_CASCADED)
            continue;
        axis_print(config, &axes[k], value, sizeof value);
        size_t used = rtune_min_u64((uint64_t)total, size);
        total += snprintf(size ? text + used : NULL, size - used, "%s%s=%s", total ? "," : "",
                          axes[k].name, value);
    }
    return total;
}

static enum rtune_status axis_parse(const struct axis *axis, const char *text,
                                    struct rtune_config *config, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t number = 0;
    int value = 0;
    switch (axis->kind) {
    case AXIS_GRID:
        return rtune_grid_parse(text, &config->grid, err);
    case AXIS_NAME:
        TRY(rtune_name_parse(axis->names, text, &value, err));
        axis_set(config, axis, (uint32_t)value);
        break;
    case AXIS_NUMBER:
        status = rtune_parse_u64(text, 0, UINT32_MAX, &number, err);
        if (status != RTUNE_OK) rtune_err_prefix(err, "%s", axis->name);
        TRY(status);
        axis_set(config, axis, (uint32_t)number);
        break;
    }
done:
    return status;
}

/* One "axis=value" of length bytes; seen has a bit per axis. */
static enum rtune_status field_parse(const char *field, size_t length, uint32_t *seen,
                                     struct rtune_config *config, struct rtune_error *err) {
    char text[64];
    if (length >= sizeof text)
        return rtune_err_set(err, RTUNE_SYNTAX, "config: \"%.40s\" is too long for an axis", field);
    memcpy(text, field, length);
    text[length] = '\0';
    char *equals = strchr(text, '=');
    if (!equals)
        return rtune_err_set(err, RTUNE_SYNTAX, "config: \"%s\" is not of the form axis=value",
                             text);
    *equals = '\0';
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(axes); k++) {
        if (strcmp(axes[k].name, text) != 0) continue;
        if (*seen & (1u << k))
            return rtune_err_set(err, RTUNE_SYNTAX, "config: axis \"%s\" is given twice", text);
        *seen |= 1u << k;
        return axis_parse(&axes[k], equals + 1, config, err);
    }
    return rtune_err_set(err, RTUNE_SYNTAX,
                         "config: axis \"%s\" is not known (use one of block, items, grid, load, "
                         "finish, map, occupancy, variant)",
                         text);
}

enum rtune_status rtune_config_parse(const char *text, struct rtune_config *config,
                                     struct rtune_error *err) {
    uint32_t given;
    return rtune_config_parse_axes(text, config, &given, err);
}

enum rtune_status rtune_config_parse_axes(const char *text, struct rtune_config *config,
                                          uint32_t *given, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_config read = *config;
    const char *field;
    size_t length;
    uint32_t seen = 0;
    while (rtune_parse_field(&text, &field, &length))
        TRY(field_parse(field, length, &seen, &read, err));
    if (!seen) TRY(rtune_err_set(err, RTUNE_SYNTAX, "config: empty (give axis=value,...)"));
    *config = read;
    *given = seen;
done:
    return status;
}

void rtune_config_put_axes(struct rtune_config *to, const struct rtune_config *from,
                           uint32_t given) {
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(axes); k++) {
        if (!(given & (1u << k))) continue;
        if (axes[k].kind == AXIS_GRID)
            to->grid = from->grid;
        else
            axis_set(to, &axes[k], axis_get(from, &axes[k]));
    }
}

/* ---- meaning --------------------------------------------------------------------------------- */

/* Vectors of 16 bytes in flight per thread; 0 if items is not a whole number of them. */
static uint32_t vectors_of(const struct rtune_config *config, enum rtune_dtype dtype) {
    uint64_t bytes = (uint64_t)config->items * rtune_dtype_size(dtype);
    return bytes % RTUNE_VECTOR_BYTES
               ? 0
               : (uint32_t)rtune_min_u64(bytes / RTUNE_VECTOR_BYTES, 1u << 20);
}

static enum rtune_status check_names(const struct rtune_config *config, struct rtune_error *err) {
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(axes); k++) {
        if (axes[k].kind != AXIS_NAME) continue;
        uint32_t value = axis_get(config, &axes[k]);
        if (value >= (uint32_t)rtune_names(axes[k].names)->count)
            return rtune_err_set(err, RTUNE_RANGE, "%s: %u is out of its enum's range",
                                 axes[k].name, (unsigned)value);
    }
    return RTUNE_OK;
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
    if (config->finish == RTUNE_FINISH_LAST)
        return rtune_err_set(err, RTUNE_RANGE,
                             "finish: last is not allowed on cpu devices (use slots, or one with "
                             "grid=1)");
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
done:
    return status;
}

/* Words of an axis in words, at least one and at most two. */
static size_t axis_words(const struct rtune_config *config, const struct axis *axis,
                         uint32_t words[2]) {
    if (axis->kind == AXIS_GRID) {
        words[0] = (uint32_t)config->grid.kind;
        words[1] = config->grid.value;
        return 2;
    }
    words[0] = axis_get(config, axis);
    return 1;
}

int rtune_config_compare(const struct rtune_config *a, const struct rtune_config *b,
                         bool with_grid) {
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(axes); k++) {
        uint32_t x[2], y[2];
        if (axes[k].kind == AXIS_GRID && !with_grid) continue;
        const size_t count = axis_words(a, &axes[k], x);
        (void)axis_words(b, &axes[k], y);
        for (size_t i = 0; i < count; i++)
            if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

uint64_t rtune_config_hash(const struct rtune_config *config, bool with_grid) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a over words */
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(axes); k++) {
        uint32_t words[2];
        if (axes[k].kind == AXIS_GRID && !with_grid) continue;
        const size_t count = axis_words(config, &axes[k], words);
        for (size_t i = 0; i < count; i++)
            hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

bool rtune_config_same_instance(const struct rtune_config *a, const struct rtune_config *b) {
    return rtune_config_compare(a, b, false) == 0;
}

bool rtune_config_equal(const struct rtune_config *a, const struct rtune_config *b) {
    return rtune_config_compare(a, b, true) == 0;
}

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
    };
    if (!cuda) {
        config.block = 1;
        config.items = CPU_VECTORS * per_vector; /* four accumulators of 64 bytes */
        config.load = RTUNE_LOAD_PLAIN;
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
    if (cpu) blocks = rtune_min_u64(blocks, wave); /* no more threads than the pool has */
    return (uint32_t)rtune_max_u64(rtune_min_u64(blocks, RTUNE_GRID_MAX), 1);
}

size_t rtune_workspace_bytes(void) {
    return RTUNE_WORKSPACE_HEADER +
           (size_t)RTUNE_GRID_MAX * (RTUNE_WORKSPACE_SLOT + RTUNE_WORKSPACE_PARTIAL);
}
