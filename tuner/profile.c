/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/profile.c: reading a profile, all or nothing. */
#include "base/num.h"
#include "tuner/profile_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum rtune_status read_identity(const struct rtune_yaml_node *node,
                                       struct rtune_identity *identity, struct rtune_error *err) {
    char key[RTUNE_IDENTITY_KEY];
    struct rtune_error cause;
    enum rtune_status status = rtune_yaml_text(node, key, sizeof(key), err);
    if (status != RTUNE_OK) return status;
    return rtune_yaml_blame(node, rtune_identity_parse(key, identity, &cause), &cause, err);
}

enum {
    DEV_IDENTITY,
    DEV_NAME,
    DEV_DRIVER,
    DEV_MEMORY,
    DEV_POWER,
    DEV_ECC,
    DEV_CONFIGS,
    DEV_PROBLEMS
};

/* Attributes are for people: each may be missing. */
static enum rtune_status read_attributes(const struct rtune_yaml_field *f,
                                         struct rtune_identity *identity, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t power = 0;
    if (f[DEV_NAME].value != NULL)
        TRY(rtune_yaml_text(f[DEV_NAME].value, identity->name, sizeof(identity->name), err));
    if (f[DEV_DRIVER].value != NULL)
        TRY(rtune_yaml_text(f[DEV_DRIVER].value, identity->driver, sizeof(identity->driver), err));
    if (f[DEV_MEMORY].value != NULL)
        TRY(rtune_yaml_u64(f[DEV_MEMORY].value, 0, INT64_MAX, &identity->memory_bytes, err));
    if (f[DEV_POWER].value != NULL)
        TRY(rtune_yaml_u64(f[DEV_POWER].value, 0, UINT32_MAX, &power, err));
    if (f[DEV_ECC].value != NULL) TRY(rtune_yaml_bool(f[DEV_ECC].value, &identity->ecc, err));
    identity->power_mw = (uint32_t)power;
done:
    return status;
}

static enum rtune_status read_problems(const struct rtune_yaml_node *list,
                                       const struct rtune_identity *device, uint32_t index,
                                       struct rtune_profile_rows *rows, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_problem *kinds = NULL;
    const struct rtune_yaml_node **nodes = NULL;
    size_t count = 0;
    TRY(rtune_yaml_sequence(list, 0, RTUNE_PROFILE_PROBLEMS, err));
    kinds = calloc(list->count + 1, sizeof(kinds[0]));
    nodes = calloc(list->count + 1, sizeof(nodes[0]));
    if (kinds == NULL || nodes == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a profile"));
    for (const struct rtune_yaml_node *node = list->first; node != NULL; node = node->next) {
        TRY(rtune_profile_read_problem(node, device, index, rows, &kinds[count], err));
        for (size_t i = 0; i < count; i++)
            if (rtune_problem_same_kind(&kinds[i], &kinds[count]))
                TRY(rtune_yaml_fail(node, RTUNE_SYNTAX, err,
                                    "a problem is given twice: on line %d and on line %d",
                                    nodes[i]->line, node->line));
        nodes[count++] = node;
    }
done:
    free(nodes);
    free(kinds);
    return status;
}

static enum rtune_status read_device(const struct rtune_yaml_node *node, uint32_t index,
                                     struct rtune_identity *identity,
                                     struct rtune_profile_rows *rows, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_field f[] = {
        [DEV_IDENTITY] = {"identity", true, NULL}, [DEV_NAME] = {"name", false, NULL},
        [DEV_DRIVER] = {"driver", false, NULL},    [DEV_MEMORY] = {"memory_bytes", false, NULL},
        [DEV_POWER] = {"power_mw", false, NULL},   [DEV_ECC] = {"ecc", false, NULL},
        [DEV_CONFIGS] = {"configs", false, NULL},  [DEV_PROBLEMS] = {"problems", true, NULL},
    };
    TRY(rtune_yaml_fields(node, f, RTUNE_ARRAY_SIZE(f), err));
    TRY(read_identity(f[DEV_IDENTITY].value, identity, err));
    TRY(read_attributes(f, identity, err));
    rows->configs = f[DEV_CONFIGS].value;
    if (rows->configs != NULL) TRY(rtune_profile_check_configs(rows->configs, err));
    TRY(read_problems(f[DEV_PROBLEMS].value, identity, index, rows, err));
done:
    return status;
}

static enum rtune_status read_devices(const struct rtune_yaml_node *list, struct rtune_table *table,
                                      struct rtune_profile_rows *rows, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_yaml_node *nodes[RTUNE_PROFILE_DEVICES];
    TRY(rtune_yaml_sequence(list, 0, RTUNE_PROFILE_DEVICES, err));
    table->devices = calloc(list->count + 1, sizeof(table->devices[0]));
    if (table->devices == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a profile"));
    for (const struct rtune_yaml_node *node = list->first; node != NULL; node = node->next) {
        size_t index = table->device_count;
        TRY(read_device(node, (uint32_t)index, &table->devices[index], rows, err));
        for (size_t i = 0; i < index; i++)
            if (rtune_identity_equal(&table->devices[i], &table->devices[index]))
                TRY(rtune_yaml_fail(node, RTUNE_SYNTAX, err,
                                    "a device is given twice: on line %d and on line %d",
                                    nodes[i]->line, node->line));
        nodes[table->device_count++] = node;
    }
done:
    return status;
}

static enum rtune_status check_version(const struct rtune_yaml_node *node,
                                       struct rtune_error *err) {
    uint64_t version;
    enum rtune_status status = rtune_yaml_u64(node, 0, UINT32_MAX, &version, err);
    if (status != RTUNE_OK || version == RTUNE_PROFILE_VERSION) return status;
    return rtune_yaml_fail(node, RTUNE_RANGE, err,
                           "rtune_profile: format %" PRIu64 " is not known (this program reads %d)",
                           version, RTUNE_PROFILE_VERSION);
}

static enum rtune_status take_rows(const struct rtune_profile_rows *rows, struct rtune_table *table,
                                   struct rtune_error *err) {
    table->winners = calloc(rows->count + 1, sizeof(table->winners[0]));
    if (table->winners == NULL)
        return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a profile");
    for (size_t i = 0; i < rows->count; i++)
        table->winners[i] = rows->rows[i].winner;
    table->winner_count = rows->count;
    return RTUNE_OK;
}

enum rtune_status rtune_profile_parse(const char *text, size_t size, const char *name,
                                      struct rtune_table *table, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_yaml *doc = NULL;
    struct rtune_table read = {0};
    struct rtune_profile_rows rows = {0};
    struct rtune_yaml_field f[] = {{"rtune_profile", true, NULL}, {"devices", true, NULL}};
    TRY(rtune_yaml_parse(text, size, name, "profile", &doc, err));
    TRY(rtune_yaml_fields(rtune_yaml_root(doc), f, RTUNE_ARRAY_SIZE(f), err));
    TRY(check_version(f[0].value, err));
    TRY(read_devices(f[1].value, &read, &rows, err));
    TRY(rtune_profile_sort(&rows, err));
    TRY(take_rows(&rows, &read, err));
    *table = read;
    memset(&read, 0, sizeof(read));
done:
    free(rows.rows);
    free(read.devices);
    free(read.winners);
    rtune_yaml_free(doc);
    return status;
}
