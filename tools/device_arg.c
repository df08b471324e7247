/* SPDX-License-Identifier: Apache-2.0 */
/* tools/device_arg.c: reading and resolving --device. */
#include "tools/device_arg.h"

#include "base/parse.h"
#include "runtime/device_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUOTE_TEXT = 72 };

enum rtune_status device_arg_check(const char *spec, bool all, bool keys, struct rtune_error *err) {
    char quoted[QUOTE_TEXT];
    struct rtune_device_spec parsed;
    struct rtune_identity identity;
    if (rtune_device_spec_parse(spec, &parsed, NULL) == RTUNE_OK) return RTUNE_OK;
    if (keys && strchr(spec, '|') != NULL) {
        enum rtune_status status = rtune_identity_parse(spec, &identity, err);
        if (status != RTUNE_OK) rtune_err_prefix(err, "--device");
        return status;
    }
    if (strcmp(spec, "all") == 0) {
        if (all) return RTUNE_OK;
        return rtune_err_set(err, RTUNE_SYNTAX, "--device: takes one device here, not all");
    }
    rtune_print_quoted(spec, quoted, sizeof quoted);
    return rtune_err_set(
        err, RTUNE_SYNTAX,
        "--device: %s is not a device (expected 0, cuda:0, a UUID, a PCI id, cpu%s)", quoted,
        all ? " or all" : "");
}

enum rtune_status device_list_read(struct device_list *list, struct rtune_error *err) {
    memset(list, 0, sizeof *list);
    return rtune_device_list(list->entries, DEVICE_LIST_MAX, &list->count, &list->why_no_cuda, err);
}

bool device_entry_matches(const struct rtune_device_entry *entry, const char *spec) {
    const struct rtune_identity *identity = &entry->identity;
    struct rtune_device_spec asked;
    struct rtune_device_spec have;
    if (strcmp(spec, entry->spec) == 0) return true;
    if (!identity->cuda || rtune_device_spec_parse(spec, &asked, NULL) != RTUNE_OK) return false;
    if (asked.kind != RTUNE_SPEC_INDEX) return rtune_device_spec_names(&asked, identity);
    return rtune_device_spec_parse(entry->spec, &have, NULL) == RTUNE_OK &&
           have.kind == RTUNE_SPEC_INDEX && have.index == asked.index;
}

enum rtune_status device_list_find(const struct device_list *list, const char *spec,
                                   const struct rtune_device_entry **entry,
                                   struct rtune_error *err) {
    for (size_t k = 0; k < list->count; k++) {
        if (!device_entry_matches(&list->entries[k], spec)) continue;
        *entry = &list->entries[k];
        return RTUNE_OK;
    }
    if (list->why_no_cuda.status != RTUNE_OK)
        return rtune_err_set(err, RTUNE_NO_DEVICE, "%s: %s", spec, list->why_no_cuda.message);
    return rtune_err_set(err, RTUNE_NO_DEVICE,
                         "%s: no such device (`reduce-tune devices` lists them)", spec);
}

static size_t select_equal(const struct rtune_identity *identity, const struct rtune_table *table,
                           bool *selected) {
    size_t found = 0;
    for (size_t k = 0; k < table->device_count; k++) {
        selected[k] = identity == NULL || rtune_identity_equal(identity, &table->devices[k]);
        found += selected[k];
    }
    return found;
}

enum rtune_status device_arg_select(const char *spec, const struct rtune_table *table,
                                    bool *selected, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct device_list *list = NULL;
    struct rtune_identity key;
    const struct rtune_identity *identity = NULL;
    if (spec != NULL && strchr(spec, '|') != NULL) {
        TRY(rtune_identity_parse(spec, &key, err));
        identity = &key;
    } else if (spec != NULL && strcmp(spec, "all") != 0) {
        const struct rtune_device_entry *entry = NULL;
        list = calloc(1, sizeof *list);
        if (list == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory"));
        TRY(device_list_read(list, err));
        TRY(device_list_find(list, spec, &entry, err));
        identity = &entry->identity;
    }
    if (select_equal(identity, table, selected) == 0 && identity != NULL)
        TRY(rtune_err_set(
            err, RTUNE_NOT_FOUND,
            "%s: nothing is stored for this device (reduce-tune --device %s tunes it)", spec,
            strchr(spec, '|') != NULL ? "0" : spec));
done:
    free(list);
    return status;
}
