/* SPDX-License-Identifier: Apache-2.0 */
/* tools/stores.h: reading the stores that show, export, devices and doctor look at. */
#ifndef RTUNE_TOOLS_STORES_H
#define RTUNE_TOOLS_STORES_H

#include "db/db.h"

enum { STORES_MAX = RTUNE_STORE_PATHS };

struct store_read {
    struct rtune_store_path path;
    struct rtune_table table; /* empty unless err.status is OK */
    size_t skipped;           /* rows that this version does not serve */
    struct rtune_error err;
};

struct store_list {
    struct store_read stores[STORES_MAX]; /* best first */
    size_t count;
};

/* Read the stores that --db (or RTUNE_DB, or the user and the system) name. Never fails itself:
 * each store says how it went. Freed with store_list_free. */
void store_list_read(const char *option, struct store_list *list);
void store_list_free(struct store_list *list);

/* Where a store comes from: "--db", "RTUNE_DB", "user", "system". */
const char *store_kind_name(enum rtune_store_kind kind);

/* The first store that exists. NOT_FOUND names the places; another status is that of a store that
 * is there and cannot be used. */
enum rtune_status store_list_first(const struct store_list *list, const struct store_read **store,
                                   struct rtune_error *err);
/* OK, or the error of the first store that is there and cannot be used. */
enum rtune_status store_list_check(const struct store_list *list, struct rtune_error *err);

#endif /* RTUNE_TOOLS_STORES_H */
