/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/profile_rows.c: reading the problems of a profile and their rows. */
#include "base/num.h"
#include "tuner/profile_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum rtune_status read_flags(const struct rtune_yaml_node *node, uint32_t *flags,
                                    struct rtune_error *err) {
    const size_t count = (size_t)rtune_names(RTUNE_NAMES_FLAG)->count;
    enum rtune_status status = rtune_yaml_sequence(node, 0, count, err);
    if (status != RTUNE_OK) return status;
    for (const struct rtune_yaml_node *item = node->first; item != NULL; item = item->next) {
        int bit;
        status = rtune_yaml_name(item, RTUNE_NAMES_FLAG, &bit, err);
        if (status != RTUNE_OK) return status;
        if ((*flags & 1u << bit) != 0)
            return rtune_yaml_fail(item, RTUNE_SYNTAX, err, "flags: \"%s\" is given twice",
                                   rtune_flag_name(bit));
        *flags |= 1u << bit;
    }
    return RTUNE_OK;
}

/* "" or 64 lower-case hexadecimal digits. */
static enum rtune_status read_hash(const struct rtune_yaml_node *node, char hash[RTUNE_DIGEST_HEX],
                                   struct rtune_error *err) {
    char text[RTUNE_DIGEST_HEX];
    enum rtune_status status = rtune_yaml_text(node, text, sizeof(text), err);
    if (status != RTUNE_OK) return status;
    size_t length = strlen(text);
    if (length != 0 &&
        (length != sizeof(text) - 1 || strspn(text, "0123456789abcdef") != sizeof(text) - 1))
        return rtune_yaml_fail(node, RTUNE_SYNTAX, err,
                               "source_hash: expected 64 lower-case hexadecimal digits");
    memcpy(hash, text, length + 1);
    return RTUNE_OK;
}

static enum rtune_status read_config(const struct rtune_yaml_node *node, bool cuda,
                                     struct rtune_winner *winner, struct rtune_error *err) {
    char text[256], exact[256];
    struct rtune_error cause;
    struct rtune_config config = rtune_config_default(&winner->problem, cuda);
    enum rtune_status status = rtune_yaml_text(node, text, sizeof(text), err);
    if (status != RTUNE_OK) return status;
    status = rtune_config_parse(text, &config, &cause);
    if (status != RTUNE_OK) return rtune_yaml_blame(node, status, &cause, err);
    if ((config.block == 1) == cuda)
        return rtune_yaml_fail(node, RTUNE_RANGE, err,
                               "config: block=%u is not for %s devices (block is 1 on cpu devices "
                               "alone)",
                               (unsigned)config.block, cuda ? "cuda" : "cpu");
    status = rtune_instance_check(&winner->problem, &config, &cause);
    if (status != RTUNE_OK) return rtune_yaml_blame(node, status, &cause, err);
    /* One spelling, with every axis: what is left out would change with the defaults. */
    rtune_config_print(&config, exact, sizeof(exact));
    if (strcmp(text, exact) != 0)
        return rtune_yaml_fail(node, RTUNE_SYNTAX, err,
                               "config: every axis must be given, in order: expected \"%s\"",
                               exact);
    winner->config = config;
    return RTUNE_OK;
}

enum { ROW_N, ROW_FROM, ROW_TO, ROW_CONFIG, ROW_US, ROW_LO, ROW_HI, ROW_DEFAULT, ROW_FLOOR };

static enum rtune_status read_interval(const struct rtune_yaml_node *node,
                                       const struct rtune_yaml_field *f, struct rtune_winner *w,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(rtune_yaml_u64(f[ROW_N].value, 1, INT64_MAX, &w->problem.n, err));
    TRY(rtune_yaml_u64(f[ROW_FROM].value, 0, UINT64_MAX, &w->n_from, err));
    TRY(rtune_yaml_u64(f[ROW_TO].value, 0, UINT64_MAX, &w->n_to, err));
    if (w->n_from > w->problem.n || w->n_to < w->problem.n)
        TRY(rtune_yaml_fail(node, RTUNE_RANGE, err,
                            "n: %" PRIu64 " is not in its interval from %" PRIu64 " to %" PRIu64,
                            w->problem.n, w->n_from, w->n_to));
done:
    return status;
}

static enum rtune_status read_times(const struct rtune_yaml_node *node,
                                    const struct rtune_yaml_field *f, struct rtune_winner *w,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(rtune_yaml_double(f[ROW_US].value, 0, RTUNE_PROFILE_US_MAX, &w->us, err));
    TRY(rtune_yaml_double(f[ROW_LO].value, 0, RTUNE_PROFILE_US_MAX, &w->us_lo, err));
    TRY(rtune_yaml_double(f[ROW_HI].value, 0, RTUNE_PROFILE_US_MAX, &w->us_hi, err));
    TRY(rtune_yaml_double(f[ROW_DEFAULT].value, 0, RTUNE_PROFILE_US_MAX, &w->default_us, err));
    TRY(rtune_yaml_double(f[ROW_FLOOR].value, 0, RTUNE_PROFILE_US_MAX, &w->floor_us, err));
    if (!(w->us_lo <= w->us && w->us <= w->us_hi))
        TRY(rtune_yaml_fail(node, RTUNE_RANGE, err, "us: the time is not between us_lo and us_hi"));
done:
    return status;
}

/* ---- labels ---------------------------------------------------------------------------------- */

enum { LABEL = 32 };

enum rtune_status rtune_profile_check_configs(const struct rtune_yaml_node *list,
                                              struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char label[LABEL];
    TRY(rtune_yaml_sequence(list, 0, RTUNE_PROFILE_CONFIGS, err));
    for (const struct rtune_yaml_node *pair = list->first; pair != NULL; pair = pair->next) {
        TRY(rtune_yaml_sequence(pair, 2, 2, err));
        TRY(rtune_yaml_text(pair->first, label, sizeof(label), err));
        for (const struct rtune_yaml_node *other = list->first; other != pair; other = other->next)
            if (strcmp(other->first->text, label) == 0)
                TRY(rtune_yaml_fail(pair->first, RTUNE_SYNTAX, err,
                                    "configs: \"%s\" is given twice: on line %d and on line %d",
                                    label, other->line, pair->line));
    }
done:
    return status;
}

/* From the label in a short row to the config's text. */
static enum rtune_status find_config(const struct rtune_profile_rows *rows,
                                     const struct rtune_yaml_node *node,
                                     const struct rtune_yaml_node **config,
                                     struct rtune_error *err) {
    char label[LABEL];
    enum rtune_status status = rtune_yaml_text(node, label, sizeof(label), err);
    if (status != RTUNE_OK) return status;
    const struct rtune_yaml_node *pair = rows->configs != NULL ? rows->configs->first : NULL;
    for (; pair != NULL; pair = pair->next) {
        if (strcmp(pair->first->text, label) != 0) continue;
        *config = pair->first->next;
        return RTUNE_OK;
    }
    return rtune_yaml_fail(node, RTUNE_SYNTAX, err,
                           "config: \"%s\" is not among the device's configs", label);
}

/* The items of a short row in the places of the fields. */
static enum rtune_status read_short(const struct rtune_yaml_node *node,
                                    const struct rtune_profile_rows *rows,
                                    struct rtune_yaml_field *f, size_t count,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t k = 0;
    TRY(rtune_yaml_sequence(node, ROW_FLOOR + 1, count, err));
    for (const struct rtune_yaml_node *item = node->first; item != NULL; item = item->next)
        f[k++].value = item;
    TRY(find_config(rows, f[ROW_CONFIG].value, &f[ROW_CONFIG].value, err));
done:
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* group has what all rows of the problem share. */
static enum rtune_status read_row(const struct rtune_yaml_node *node, bool cuda,
                                  const struct rtune_profile_rows *rows,
                                  const struct rtune_winner *group, struct rtune_winner *winner,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_field f[] = {
        [ROW_N] = {"n", true, NULL},
        [ROW_FROM] = {"from", true, NULL},
        [ROW_TO] = {"to", true, NULL},
        [ROW_CONFIG] = {"config", true, NULL},
        [ROW_US] = {"us", true, NULL},
        [ROW_LO] = {"us_lo", true, NULL},
        [ROW_HI] = {"us_hi", true, NULL},
        [ROW_DEFAULT] = {"default_us", true, NULL},
        [ROW_FLOOR] = {"floor_us", true, NULL},
        {"source_hash", false, NULL},
        {"driver", false, NULL},
    };
    enum { ROW_HASH = ROW_FLOOR + 1, ROW_DRIVER };
    *winner = *group;
    TRY(node->kind == RTUNE_YAML_SEQUENCE ? read_short(node, rows, f, RTUNE_ARRAY_SIZE(f), err)
                                          : rtune_yaml_fields(node, f, RTUNE_ARRAY_SIZE(f), err));
    TRY(read_interval(node, f, winner, err));
    TRY(read_config(f[ROW_CONFIG].value, cuda, winner, err));
    TRY(read_times(node, f, winner, err));
    if (f[ROW_HASH].value != NULL) TRY(read_hash(f[ROW_HASH].value, winner->source_hash, err));
    if (f[ROW_DRIVER].value != NULL)
        TRY(rtune_yaml_text(f[ROW_DRIVER].value, winner->driver, sizeof(winner->driver), err));
done:
    return status;
}

static enum rtune_status append(struct rtune_profile_rows *rows, const struct rtune_winner *winner,
                                const struct rtune_yaml_node *node, struct rtune_error *err) {
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
        struct rtune_profile_row *grown = realloc(rows->rows, capacity * sizeof(grown[0]));
        if (grown == NULL)
            return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a profile");
        rows->rows = grown;
        rows->capacity = capacity;
    }
    rows->rows[rows->count++] = (struct rtune_profile_row){*winner, node};
    return RTUNE_OK;
}

enum { KEY_OP, KEY_DTYPE, KEY_ACC, KEY_MODE, KEY_NAN, KEY_CACHE, KEY_FLAGS };
enum { KEY_ABI = KEY_FLAGS + 1, KEY_HASH, KEY_DRIVER, KEY_ROWS };

static enum rtune_status read_kind(const struct rtune_yaml_node *node,
                                   const struct rtune_yaml_field *f, struct rtune_problem *kind,
                                   struct rtune_error *err) {
    static const enum rtune_name_kind tables[] = {RTUNE_NAMES_OP,  RTUNE_NAMES_DTYPE,
                                                  RTUNE_NAMES_ACC, RTUNE_NAMES_MODE,
                                                  RTUNE_NAMES_NAN, RTUNE_NAMES_CACHE};
    enum rtune_status status = RTUNE_OK;
    struct rtune_error cause;
    int value[RTUNE_ARRAY_SIZE(tables)];
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(tables); i++)
        TRY(rtune_yaml_name(f[KEY_OP + i].value, tables[i], &value[i], err));
    struct rtune_problem problem =
        RTUNE_PROBLEM((enum rtune_op)value[KEY_OP], (enum rtune_dtype)value[KEY_DTYPE], 0);
    problem.acc = (enum rtune_acc)value[KEY_ACC];
    problem.mode = (enum rtune_mode)value[KEY_MODE];
    problem.nan_rule = (enum rtune_nan)value[KEY_NAN];
    problem.cache = (enum rtune_cache)value[KEY_CACHE];
    if (f[KEY_FLAGS].value != NULL) TRY(read_flags(f[KEY_FLAGS].value, &problem.flags, err));
    status = rtune_problem_check(&problem, &cause);
    if (status != RTUNE_OK) TRY(rtune_yaml_blame(node, status, &cause, err));
    *kind = rtune_problem_canonical(&problem);
done:
    return status;
}

static enum rtune_status read_group(const struct rtune_yaml_field *f, struct rtune_winner *group,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t abi;
    TRY(rtune_yaml_u64(f[KEY_ABI].value, 0, UINT32_MAX, &abi, err));
    if (abi != RTUNE_KERNEL_ABI)
        TRY(rtune_yaml_fail(f[KEY_ABI].value, RTUNE_RANGE, err,
                            "kernel_abi: written for kernel abi %" PRIu64
                            ", and this program has %d: "
                            "its axes have another meaning (tune again)",
                            abi, RTUNE_KERNEL_ABI));
    group->kernel_abi = (uint32_t)abi;
    TRY(read_hash(f[KEY_HASH].value, group->source_hash, err));
    TRY(rtune_yaml_text(f[KEY_DRIVER].value, group->driver, sizeof(group->driver), err));
done:
    return status;
}

enum rtune_status rtune_profile_read_problem(const struct rtune_yaml_node *node,
                                             const struct rtune_identity *device,
                                             uint32_t device_index, struct rtune_profile_rows *rows,
                                             struct rtune_problem *kind, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_winner group = {.device = device_index}, winner;
    struct rtune_yaml_field f[] = {
        [KEY_OP] = {"op", true, NULL},
        [KEY_DTYPE] = {"dtype", true, NULL},
        [KEY_ACC] = {"acc", true, NULL},
        [KEY_MODE] = {"mode", true, NULL},
        [KEY_NAN] = {"nan", true, NULL},
        [KEY_CACHE] = {"cache", true, NULL},
        [KEY_FLAGS] = {"flags", false, NULL},
        [KEY_ABI] = {"kernel_abi", true, NULL},
        [KEY_HASH] = {"source_hash", true, NULL},
        [KEY_DRIVER] = {"driver", true, NULL},
        [KEY_ROWS] = {"rows", true, NULL},
    };
    TRY(rtune_yaml_fields(node, f, RTUNE_ARRAY_SIZE(f), err));
    TRY(read_kind(node, f, &group.problem, err));
    TRY(read_group(f, &group, err));
    TRY(rtune_yaml_sequence(f[KEY_ROWS].value, 1, RTUNE_YAML_NODES, err));
    for (const struct rtune_yaml_node *row = f[KEY_ROWS].value->first; row != NULL;
         row = row->next) {
        TRY(read_row(row, device->cuda, rows, &group, &winner, err));
        TRY(append(rows, &winner, row, err));
    }
    *kind = group.problem;
done:
    return status;
}

static int compare_rows(const void *a, const void *b) {
    const struct rtune_profile_row *x = a, *y = b;
    if (x->winner.device != y->winner.device) return x->winner.device < y->winner.device ? -1 : 1;
    int order = rtune_problem_compare(&x->winner.problem, &y->winner.problem);
    if (order != 0) return order;
    return (x->node->line > y->node->line) - (x->node->line < y->node->line);
}

enum rtune_status rtune_profile_sort(struct rtune_profile_rows *rows, struct rtune_error *err) {
    if (rows->count > 1) qsort(rows->rows, rows->count, sizeof(rows->rows[0]), compare_rows);
    /* n lies in its interval, so if any two overlap, two neighbours do. */
    for (size_t i = 1; i < rows->count; i++) {
        const struct rtune_profile_row *a = &rows->rows[i - 1], *b = &rows->rows[i];
        if (a->winner.device != b->winner.device ||
            !rtune_problem_same_kind(&a->winner.problem, &b->winner.problem))
            continue;
        const struct rtune_yaml_node *late = a->node->line > b->node->line ? a->node : b->node;
        const struct rtune_yaml_node *early = late == a->node ? b->node : a->node;
        if (a->winner.problem.n == b->winner.problem.n)
            return rtune_yaml_fail(late, RTUNE_SYNTAX, err,
                                   "n: %" PRIu64 " is given twice: on line %d and on line %d",
                                   b->winner.problem.n, early->line, late->line);
        if (a->winner.n_to >= b->winner.n_from)
            return rtune_yaml_fail(late, RTUNE_SYNTAX, err,
                                   "from, to: the intervals of line %d and line %d overlap",
                                   early->line, late->line);
    }
    return RTUNE_OK;
}
