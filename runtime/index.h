/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/index.h: the rows of all stores and shipped profiles that this device can use, read once
 * into an immutable, sorted index. Freed as a whole.
 */
#ifndef RTUNE_RUNTIME_INDEX_H
#define RTUNE_RUNTIME_INDEX_H

#include "base/log.h"
#include "db/db.h"

enum { RTUNE_INDEX_STORES = RTUNE_STORE_PATHS + 1 }; /* files, then the shipped profiles */

/* One tuned size. */
struct rtune_row {
    uint64_t n;            /* tuned at */
    uint64_t n_from, n_to; /* served for, as measured */
    struct rtune_config config;
    double us;
    bool stale_driver, stale_source; /* tuned under another driver, other kernel sources */
    char cubin[RTUNE_DIGEST_HEX];    /* "" if none, or if it is of other sources */
};

/* The rows of one problem kind, one device and one store, by rising n. */
struct rtune_run {
    struct rtune_problem kind; /* canonical, n = 0 */
    const struct rtune_row *rows;
    uint32_t count;
    uint32_t store;  /* in index->stores, best first */
    uint32_t device; /* in index->devices */
    bool same;       /* the identity is this device's */
    bool shipped;
    double distance; /* 0 if same, else above 0 */
};

struct rtune_index {
    uint64_t generation; /* counts reloads of one handle */
    struct rtune_store_info stores[RTUNE_INDEX_STORES];
    uint32_t store_count;
    uint32_t shipped; /* which of them are the shipped profiles; RTUNE_INDEX_STORES: none */
    struct rtune_identity *devices;
    uint32_t device_count;
    struct rtune_row *rows;
    size_t row_count;
    struct rtune_run *runs; /* by kind, then this device first, then nearer devices, then store */
    size_t run_count;
    struct rtune_index *retired; /* the index that this one replaced */
};

/* Read the stores that rtune_store_paths names for option (may be NULL), then shipped (a store
 * image, may be NULL). A store that cannot be read is logged once and skipped; its entry of stores
 * says why. Fails only for lack of memory. */
struct rtune_index_request {
    const struct rtune_identity *identity;
    const char *option;
    const void *shipped;
    size_t shipped_size;
    uint64_t generation;
    const struct rtune_log *log;
};
enum rtune_status rtune_index_read(const struct rtune_index_request *request,
                                   struct rtune_index **index, struct rtune_error *err);
/* Free one index (not those it replaced). */
void rtune_index_free(struct rtune_index *index);
/* Do both hold the same stores and rows? */
bool rtune_index_equal(const struct rtune_index *a, const struct rtune_index *b);

/* The runs of a kind (canonical, n ignored), NULL and *count = 0 if there are none. */
const struct rtune_run *rtune_index_find(const struct rtune_index *index,
                                         const struct rtune_problem *kind, size_t *count);

#endif /* RTUNE_RUNTIME_INDEX_H */
