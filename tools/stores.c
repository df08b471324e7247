/* SPDX-License-Identifier: Apache-2.0 */
/* tools/stores.c: reading stores. */
#include "tools/stores.h"

#include <stdio.h>
#include <string.h>

void store_list_read(const char *option, struct store_list *list) {
    struct rtune_store_path paths[STORES_MAX];
    memset(list, 0, sizeof *list);
    list->count = rtune_store_paths(option, paths);
    for (size_t k = 0; k < list->count; k++) {
        struct store_read *store = &list->stores[k];
        store->path = paths[k];
        store->err.status =
            rtune_store_read(paths[k].path, &store->table, &store->skipped, &store->err);
    }
}

void store_list_free(struct store_list *list) {
    for (size_t k = 0; k < list->count; k++)
        if (list->stores[k].err.status == RTUNE_OK) rtune_table_free(&list->stores[k].table);
    list->count = 0;
}

const char *store_kind_name(enum rtune_store_kind kind) {
    switch (kind) {
    case RTUNE_STORE_OPTION:
        return "--db";
    case RTUNE_STORE_ENV:
        return "RTUNE_DB";
    case RTUNE_STORE_USER:
        return "user";
    case RTUNE_STORE_SYSTEM:
        break;
    }
    return "system";
}

enum rtune_status store_list_check(const struct store_list *list, struct rtune_error *err) {
    for (size_t k = 0; k < list->count; k++) {
        const struct rtune_error *why = &list->stores[k].err;
        if (why->status == RTUNE_OK || why->status == RTUNE_NOT_FOUND) continue;
        *err = *why;
        return why->status;
    }
    return RTUNE_OK;
}

enum rtune_status store_list_first(const struct store_list *list, const struct store_read **store,
                                   struct rtune_error *err) {
    char places[3 * sizeof list->stores[0].path.path] = "";
    size_t used = 0;
    for (size_t k = 0; k < list->count; k++) {
        const struct store_read *one = &list->stores[k];
        if (one->err.status == RTUNE_OK) {
            *store = one;
            return RTUNE_OK;
        }
        if (one->err.status != RTUNE_NOT_FOUND) {
            *err = one->err;
            return err->status;
        }
        int length = snprintf(places + used, sizeof places - used, "%s%s", k > 0 ? ", " : "",
                              one->path.path);
        if (length > 0 && used + (size_t)length < sizeof places) used += (size_t)length;
    }
    if (list->count == 0)
        return rtune_err_set(err, RTUNE_NOT_FOUND, "no store is in use (--db FILE names one)");
    if (list->stores[0].path.kind == RTUNE_STORE_OPTION)
        return rtune_err_set(
            err, RTUNE_NOT_FOUND,
            "%.400s: no such store (reduce-tune --device 0 with the same --db makes it)", places);
    return rtune_err_set(
        err, RTUNE_NOT_FOUND,
        "%.400s: no such store (reduce-tune --device 0 makes it; --db names another)", places);
}
