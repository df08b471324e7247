/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/space.c: reading a search space. One table of axes and one of constraints say what there
 * is. */
#include "base/num.h"
#include "tuner/space_int.h"
#include "tuner/yaml.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* configs/default.yaml, embedded, with a NUL behind it. */
extern const unsigned char rtune_default_space[], rtune_default_space_end[];

/* ---- axes ------------------------------------------------------------------------------------ */

enum value_kind {
    VALUE_BLOCK,
    VALUE_VECTORS,
    VALUE_GRID,
    VALUE_NAME,
    VALUE_OCCUPANCY,
    VALUE_EXTRA
};

static const struct axis {
    const char *key;
    enum value_kind kind;
    enum rtune_name_kind names;
    bool cpu;  /* also an axis of cpu devices */
    bool need; /* must be given; else a missing one has one value */
} AXES[RTUNE_SPACE_AXES] = {
    [RTUNE_SPACE_BLOCK] = {"block", VALUE_BLOCK, 0, false, true},
    [RTUNE_SPACE_VECTORS] = {"vectors", VALUE_VECTORS, 0, true, true},
    [RTUNE_SPACE_GRID] = {"grid", VALUE_GRID, 0, true, true},
    [RTUNE_SPACE_LOAD] = {"load", VALUE_NAME, RTUNE_NAMES_LOAD, true, true},
    [RTUNE_SPACE_FINISH] = {"finish", VALUE_NAME, RTUNE_NAMES_FINISH, true, true},
    [RTUNE_SPACE_MAP] = {"map", VALUE_NAME, RTUNE_NAMES_MAP, true, true},
    [RTUNE_SPACE_OCCUPANCY] = {"occupancy", VALUE_OCCUPANCY, 0, false, true},
    [RTUNE_SPACE_VARIANT] = {"variant", VALUE_NAME, RTUNE_NAMES_VARIANT, false, false},
    [RTUNE_SPACE_EXTRA] = {"extra", VALUE_EXTRA, 0, false, false},
};

/* A number, checked as part of an otherwise ordinary config of f32. */
static enum rtune_status read_number(const struct rtune_yaml_node *node, enum value_kind kind,
                                     bool cuda, uint32_t *number, struct rtune_error *err) {
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1);
    struct rtune_config config = rtune_config_default(&problem, cuda);
    struct rtune_error cause;
    uint64_t value;
    uint64_t least = kind == VALUE_BLOCK ? 32 : 0; /* a block of 1 means a cpu device */
    enum rtune_status status = rtune_yaml_u64(node, least, RTUNE_BLOCK_MAX, &value, err);
    if (status != RTUNE_OK) return status;
    if (cuda) config.block = kind == VALUE_BLOCK ? (uint32_t)value : 32;
    if (kind == VALUE_OCCUPANCY) config.occupancy = (uint32_t)value;
    if (kind == VALUE_VECTORS)
        config.items = (uint32_t)value * (RTUNE_VECTOR_BYTES / (uint32_t)sizeof(float));
    status = rtune_config_check(&config, problem.dtype, &cause);
    if (status == RTUNE_OK) *number = (uint32_t)value;
    if (status != RTUNE_OK && kind == VALUE_VECTORS)
        rtune_err_prefix(&cause, "vectors: %u is not allowed", (unsigned)value);
    return rtune_yaml_blame(node, status, &cause, err);
}

/* 0, the stages of some pipeline, or the blocks of some cluster. */
static enum rtune_status read_extra(const struct rtune_yaml_node *node, uint32_t *number,
                                    struct rtune_error *err) {
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1);
    struct rtune_config bulk = rtune_config_default(&problem, true), cluster = bulk;
    uint64_t value;
    enum rtune_status status = rtune_yaml_u64(node, 0, RTUNE_BLOCK_MAX, &value, err);
    if (status != RTUNE_OK) return status;
    bulk.variant = RTUNE_BULK;
    bulk.block = 32;
    cluster.finish = RTUNE_FINISH_CLUSTER;
    bulk.extra = cluster.extra = (uint32_t)value;
    if (value != 0 && rtune_config_check(&bulk, problem.dtype, NULL) != RTUNE_OK &&
        rtune_config_check(&cluster, problem.dtype, NULL) != RTUNE_OK)
        return rtune_yaml_fail(node, RTUNE_RANGE, err,
                               "extra: %" PRIu64 " is not allowed (0, 2 to 8 stages of variant "
                               "bulk, or 2, 4, 8 or 16 blocks of finish cluster)",
                               value);
    *number = (uint32_t)value;
    return RTUNE_OK;
}

static enum rtune_status read_grid(const struct rtune_yaml_node *node, struct rtune_grid *grid,
                                   struct rtune_error *err) {
    char text[32];
    struct rtune_error cause;
    enum rtune_status status = rtune_yaml_text(node, text, sizeof(text), err);
    if (status != RTUNE_OK) return status;
    return rtune_yaml_blame(node, rtune_grid_parse(text, grid, &cause), &cause, err);
}

static enum rtune_status read_value(const struct rtune_yaml_node *node, const struct axis *axis,
                                    bool cuda, union rtune_space_value *value,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    int named = 0;
    switch (axis->kind) {
    case VALUE_GRID:
        return read_grid(node, &value->grid, err);
    case VALUE_BLOCK:
    case VALUE_VECTORS:
    case VALUE_OCCUPANCY:
        return read_number(node, axis->kind, cuda, &value->number, err);
    case VALUE_EXTRA:
        return read_extra(node, &value->number, err);
    case VALUE_NAME:
        status = rtune_yaml_name(node, axis->names, &named, err);
        if (status == RTUNE_OK) value->number = (uint32_t)named;
        break;
    }
    return status;
}

static bool same_value(const struct axis *axis, const union rtune_space_value *a,
                       const union rtune_space_value *b) {
    if (axis->kind != VALUE_GRID) return a->number == b->number;
    return a->grid.kind == b->grid.kind && a->grid.value == b->grid.value;
}

static enum rtune_status read_axis(const struct rtune_yaml_node *list, const struct axis *axis,
                                   bool cuda, struct rtune_space_values *values,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(rtune_yaml_sequence(list, 1, RTUNE_SPACE_VALUES, err));
    for (const struct rtune_yaml_node *node = list->first; node != NULL; node = node->next) {
        union rtune_space_value *value = &values->value[values->count];
        TRY(read_value(node, axis, cuda, value, err));
        for (size_t i = 0; i < values->count; i++)
            if (same_value(axis, &values->value[i], value))
                TRY(rtune_yaml_fail(node, RTUNE_SYNTAX, err, "%s: \"%s\" is given twice", axis->key,
                                    node->text));
        values->count++;
    }
done:
    return status;
}

static enum rtune_status read_axes(const struct rtune_yaml_node *node, bool cuda,
                                   struct rtune_space_section *section, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_field fields[RTUNE_SPACE_AXES] = {0};
    size_t axis_of[RTUNE_SPACE_AXES], count = 0, product = 1;
    for (size_t i = 0; i < RTUNE_SPACE_AXES; i++) {
        /* What is no axis of this kind of device, or left out, has one value: block 1, else 0. */
        section->axes[i].value[0].number = i == RTUNE_SPACE_BLOCK ? 1 : 0;
        section->axes[i].count = 1;
        if (!cuda && !AXES[i].cpu) continue;
        axis_of[count] = i;
        fields[count++] = (struct rtune_yaml_field){AXES[i].key, AXES[i].need, NULL};
    }
    TRY(rtune_yaml_fields(node, fields, count, err));
    for (size_t i = 0; i < count; i++) {
        struct rtune_space_values *values = &section->axes[axis_of[i]];
        if (fields[i].value == NULL) continue;
        values->count = 0;
        TRY(read_axis(fields[i].value, &AXES[axis_of[i]], cuda, values, err));
        product *= values->count; /* at most 64 to the 9th */
    }
    if (product > RTUNE_SPACE_CONFIGS)
        TRY(rtune_yaml_fail(node, RTUNE_RANGE, err,
                            "axes: %zu combinations are too many (at most %d)", product,
                            RTUNE_SPACE_CONFIGS));
done:
    return status;
}

/* ---- constraints ----------------------------------------------------------------------------- */

static enum rtune_status read_flight(const struct rtune_yaml_node *list,
                                     struct rtune_space_limits *limits, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const uint64_t max = INT64_MAX;
    TRY(rtune_yaml_sequence(list, 0, RTUNE_SPACE_FLIGHTS, err));
    for (const struct rtune_yaml_node *node = list->first; node != NULL; node = node->next) {
        struct rtune_space_flight *flight = &limits->flight[limits->flights];
        struct rtune_yaml_field f[] = {
            {"from", true, NULL}, {"min", true, NULL}, {"max", true, NULL}};
        TRY(rtune_yaml_fields(node, f, RTUNE_ARRAY_SIZE(f), err));
        TRY(rtune_yaml_size(f[0].value, 0, max, &flight->from, err));
        TRY(rtune_yaml_size(f[1].value, 0, max, &flight->min, err));
        TRY(rtune_yaml_size(f[2].value, flight->min, max, &flight->max, err));
        if (limits->flights > 0 && flight->from <= flight[-1].from)
            TRY(rtune_yaml_fail(f[0].value, RTUNE_RANGE, err,
                                "from: entries must ascend (the one before has %" PRIu64 ")",
                                flight[-1].from));
        limits->flights++;
    }
done:
    return status;
}

enum limit_kind { LIMIT_SIZE, LIMIT_BOOL, LIMIT_FLIGHT };

static const struct limit {
    const char *key;
    enum limit_kind kind;
    size_t offset; /* in struct rtune_space_limits */
    bool cpu;      /* also a constraint of cpu devices */
} LIMITS[] = {
#define AT(field) offsetof(struct rtune_space_limits, field)
    {"threads_per_sm", LIMIT_SIZE, AT(threads_per_sm), false},
    {"registers_per_sm", LIMIT_SIZE, AT(registers_per_sm), false},
    {"register_base", LIMIT_SIZE, AT(register_base), false},
    {"register_per_vector", LIMIT_SIZE, AT(register_per_vector), false},
    {"shared_per_sm", LIMIT_SIZE, AT(shared_per_sm), false},
    {"waves", LIMIT_SIZE, AT(waves), false},
    {"bytes_per_block", LIMIT_SIZE, AT(bytes_per_block), true},
    {"idle_blocks", LIMIT_BOOL, AT(idle_blocks), true},
    {"one_block_finish", LIMIT_BOOL, AT(one_block_finish), true},
    {"warm_plain", LIMIT_BOOL, AT(warm_plain), true},
    {"in_flight", LIMIT_FLIGHT, AT(flight), false},
#undef AT
};

static enum rtune_status read_limit(const struct rtune_yaml_node *node, const struct limit *limit,
                                    struct rtune_space_limits *limits, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char *at = (char *)limits + limit->offset;
    uint64_t number;
    bool flag;
    switch (limit->kind) {
    case LIMIT_FLIGHT:
        return read_flight(node, limits, err);
    case LIMIT_BOOL:
        status = rtune_yaml_bool(node, &flag, err);
        if (status == RTUNE_OK) memcpy(at, &flag, sizeof(flag));
        break;
    case LIMIT_SIZE:
        status = rtune_yaml_size(node, 0, UINT32_MAX, &number, err);
        if (status == RTUNE_OK) memcpy(at, &number, sizeof(number));
        break;
    }
    return status;
}

static enum rtune_status read_limits(const struct rtune_yaml_node *node, bool cuda,
                                     struct rtune_space_limits *limits, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_field fields[RTUNE_ARRAY_SIZE(LIMITS)] = {0};
    const struct limit *limit_of[RTUNE_ARRAY_SIZE(LIMITS)];
    size_t count = 0;
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(LIMITS); i++) {
        if (!cuda && !LIMITS[i].cpu) continue;
        limit_of[count] = &LIMITS[i];
        fields[count++] = (struct rtune_yaml_field){LIMITS[i].key, false, NULL};
    }
    TRY(rtune_yaml_fields(node, fields, count, err));
    for (size_t i = 0; i < count; i++)
        if (fields[i].value != NULL) TRY(read_limit(fields[i].value, limit_of[i], limits, err));
done:
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum rtune_status read_section(const struct rtune_yaml_node *node, bool cuda,
                                      struct rtune_space_section *section,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_field f[] = {{"axes", true, NULL}, {"constraints", false, NULL}};
    section->limits.idle_blocks = true;
    if (node == NULL) return RTUNE_OK;
    section->present = true;
    TRY(rtune_yaml_fields(node, f, RTUNE_ARRAY_SIZE(f), err));
    TRY(read_axes(f[0].value, cuda, section, err));
    if (f[1].value != NULL) TRY(read_limits(f[1].value, cuda, &section->limits, err));
done:
    return status;
}

static enum rtune_status read_root(const struct rtune_yaml_node *root, struct rtune_space *space,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_field f[] = {
        {"rtune_space", true, NULL}, {"cuda", false, NULL}, {"cpu", false, NULL}};
    uint64_t version;
    TRY(rtune_yaml_fields(root, f, RTUNE_ARRAY_SIZE(f), err));
    TRY(rtune_yaml_u64(f[0].value, 0, UINT32_MAX, &version, err));
    if (version != RTUNE_SPACE_VERSION)
        TRY(rtune_yaml_fail(f[0].value, RTUNE_RANGE, err,
                            "rtune_space: format %" PRIu64 " is not known (this program reads %d)",
                            version, RTUNE_SPACE_VERSION));
    if (f[1].value == NULL && f[2].value == NULL)
        TRY(rtune_yaml_fail(root, RTUNE_SYNTAX, err,
                            "no search space found: neither cuda nor cpu"));
    TRY(read_section(f[1].value, true, &space->cuda, err));
    TRY(read_section(f[2].value, false, &space->cpu, err));
done:
    return status;
}

enum rtune_status rtune_space_parse(const char *text, size_t size, const char *name,
                                    rtune_space **space, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_yaml *doc = NULL;
    struct rtune_space *read = calloc(1, sizeof(*read));
    if (text == NULL) {
        text = (const char *)rtune_default_space;
        size = (size_t)(rtune_default_space_end - rtune_default_space);
        name = "configs/default.yaml";
    }
    if (read != NULL) read->text = malloc(size + 1);
    if (read == NULL || read->text == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a search space"));
    memcpy(read->text, text, size);
    read->text[size] = '\0';
    snprintf(read->name, sizeof(read->name), "%s", name);
    TRY(rtune_yaml_parse(text, size, name, "search space", &doc, err));
    TRY(read_root(rtune_yaml_root(doc), read, err));
    *space = read;
    read = NULL;
done:
    rtune_yaml_free(doc);
    rtune_space_free(read);
    return status;
}

void rtune_space_free(rtune_space *space) {
    if (space == NULL) return;
    free(space->text);
    free(space);
}

const char *rtune_space_text(const rtune_space *space) { return space->text; }
