/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c: launch parameters as text. One table of axes serves printing, parsing and comparing.
 * What they mean and may be is in config_check.c.
 */
#include "kernels/kernels.h"

#include "base/num.h"
#include "base/parse.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
    {"extra", offsetof(struct rtune_config, extra), AXIS_NUMBER, 0},
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

/* The variant that most configs have, and an extra that they have not, go without saying. */
static bool is_understood(const struct rtune_config *config, const struct axis *axis) {
    if (axis->offset == offsetof(struct rtune_config, variant))
        return config->variant == RTUNE_CASCADED;
    return axis->offset == offsetof(struct rtune_config, extra) && config->extra == 0;
}

int rtune_config_print(const struct rtune_config *config, char *text, size_t size) {
    int total = 0;
    if (config == NULL) return snprintf(text, size, "(none)");
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(axes); k++) {
        char value[32];
        if (is_understood(config, &axes[k])) continue;
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
                         "finish, map, occupancy, extra, variant)",
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

/* ---- comparing ----------------------------------------------------------------------------------
 */

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
