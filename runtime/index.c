/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/index.c: reads every store once and sorts what this device can use of it. The tables that
 * db/ hands out are copied into rows without their attributes and freed.
 */
#include "runtime/index.h"

#include "runtime/text.h"

#include <stdlib.h>
#include <string.h>

/* The path is told apart: it may be as long as the room for the reason. */
static void skip_store(const struct rtune_index_request *request, struct rtune_store_info *info,
                       const struct rtune_error *why) {
    const size_t length = strlen(info->path);
    const char *reason = why->message;
    struct rtune_text text = rtune_text_over(info->reason, sizeof info->reason);
    if (strncmp(reason, info->path, length) == 0 && reason[length] == ':') reason += length + 1;
    while (*reason == ' ')
        reason++;
    rtune_text_add(&text, reason);
    info->status = why->status;
    rtune_log_write(request->log, why->status == RTUNE_NOT_FOUND ? RTUNE_LOG_DEBUG : RTUNE_LOG_WARN,
                    "%s: skipped: %s", info->path, info->reason);
}

/* Read the k-th store into table; a failure leaves the table empty and is recorded, but for
 * NO_MEMORY. */
static enum rtune_status read_store(const struct rtune_index_request *request, bool shipped,
                                    struct rtune_store_info *info, struct rtune_table *table,
                                    struct rtune_error *err) {
    struct rtune_error why = {0};
    size_t skipped = 0;
    const enum rtune_status status =
        shipped
            ? rtune_store_read_image(request->shipped, request->shipped_size, table, &skipped, &why)
            : rtune_store_read(info->path, table, &skipped, &why);
    if (status == RTUNE_NO_MEMORY) {
        return rtune_err_set(err, RTUNE_NO_MEMORY, "%s: %s", info->path, why.message);
    }
    if (status != RTUNE_OK) {
        *table = (struct rtune_table){0};
        why.status = status;
        skip_store(request, info, &why);
        return RTUNE_OK;
    }
    info->status = RTUNE_OK;
    info->rows = table->winner_count > UINT32_MAX ? UINT32_MAX : (uint32_t)table->winner_count;
    if (skipped > 0) {
        rtune_log_write(request->log, RTUNE_LOG_WARN,
                        "%s: %zu rows of another kernel abi or with impossible values are not used",
                        info->path, skipped);
    }
    rtune_log_write(request->log, RTUNE_LOG_DEBUG, "%s: %zu rows", info->path, table->winner_count);
    return RTUNE_OK;
}

static enum rtune_status read_all(const struct rtune_index_request *request,
                                  struct rtune_index *index,
                                  struct rtune_table tables[RTUNE_INDEX_STORES],
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_store_path paths[RTUNE_STORE_PATHS];
    const size_t count = rtune_store_paths(request->option, paths);
    for (size_t k = 0; k < count; k++) {
        struct rtune_store_info *info = &index->stores[index->store_count];
        memcpy(info->path, paths[k].path, sizeof info->path);
        TRY(read_store(request, false, info, &tables[index->store_count], err));
        index->store_count++;
    }
    /* "none" means the built-in config, not the profiles that come with the library. */
    if (request->shipped_size > 0 && !rtune_store_is_none(request->option)) {
        struct rtune_store_info *info = &index->stores[index->store_count];
        memcpy(info->path, "shipped profiles", sizeof "shipped profiles");
        index->shipped = index->store_count;
        TRY(read_store(request, true, info, &tables[index->store_count], err));
        index->store_count++;
    }
done:
    return status;
}

/* A device of a table as the index sees it. */
struct seen {
    bool usable, same;
    uint32_t device; /* in index->devices */
    double distance;
};

static void add_row(struct rtune_index *index, const struct rtune_winner *w, const char *driver) {
    struct rtune_row *row = &index->rows[index->row_count++];
    row->n = w->problem.n;
    row->n_from = w->n_from;
    row->n_to = w->n_to;
    row->config = w->config;
    row->us = w->us;
    row->stale_driver = w->driver[0] != '\0' && strcmp(w->driver, driver) != 0;
    const bool same_source = strcmp(w->source_hash, rtune_device_sources_hash()) == 0;
    row->stale_source = w->source_hash[0] != '\0' && !same_source;
    if (same_source) memcpy(row->cubin, w->cubin, sizeof row->cubin);
}

/* Append the usable rows of one store as runs. The winners come sorted by device, then problem,
 * then n; a row that breaks the order is left out, since the search for n depends on it. */
static void add_table(const struct rtune_index_request *request, struct rtune_index *index,
                      uint32_t store, const struct rtune_table *table, const struct seen *seen) {
    struct rtune_run *run = NULL;
    uint32_t device = UINT32_MAX;
    for (size_t i = 0; i < table->winner_count; i++) {
        const struct rtune_winner *w = &table->winners[i];
        if (w->device >= table->device_count || !seen[w->device].usable) continue;
        if (!run || device != w->device || !rtune_problem_same_kind(&run->kind, &w->problem)) {
            run = &index->runs[index->run_count++];
            run->kind = w->problem;
            run->kind.n = 0;
            run->rows = &index->rows[index->row_count];
            run->store = store;
            run->device = seen[w->device].device;
            run->same = seen[w->device].same;
            run->distance = seen[w->device].distance;
            run->shipped = store == index->shipped;
            device = w->device;
        }
        if (run->count > 0 && w->problem.n <= run->rows[run->count - 1].n) continue;
        add_row(index, w, request->identity->driver);
        run->count++;
    }
}

static void see_devices(const struct rtune_index_request *request, struct rtune_index *index,
                        const struct rtune_table *table, struct seen *seen) {
    for (size_t d = 0; d < table->device_count; d++) {
        const struct rtune_identity *identity = &table->devices[d];
        seen[d].same = rtune_identity_equal(request->identity, identity);
        seen[d].usable = seen[d].same || rtune_identity_similar(request->identity, identity);
        if (!seen[d].usable) continue;
        seen[d].distance = seen[d].same ? 0 : rtune_identity_distance(request->identity, identity);
        seen[d].device = index->device_count;
        index->devices[index->device_count++] = *identity;
    }
}

static int compare_runs(const void *pa, const void *pb) {
    const struct rtune_run *a = pa;
    const struct rtune_run *b = pb;
    const int kind = rtune_problem_compare(&a->kind, &b->kind);
    if (kind != 0) return kind;
    if (a->same != b->same) return a->same ? -1 : 1;
    if (a->distance < b->distance) return -1;
    if (a->distance > b->distance) return 1;
    if (a->store != b->store) return a->store < b->store ? -1 : 1;
    return a->device < b->device ? -1 : a->device > b->device;
}

static enum rtune_status build(const struct rtune_index_request *request, struct rtune_index *index,
                               const struct rtune_table tables[RTUNE_INDEX_STORES],
                               struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct seen *seen = NULL;
    size_t rows = 0;
    size_t devices = 0;
    for (uint32_t s = 0; s < index->store_count; s++) {
        rows += tables[s].winner_count;
        devices += tables[s].device_count;
    }
    if (rows == 0) goto done;
    index->rows = calloc(rows, sizeof *index->rows);
    index->runs = calloc(rows, sizeof *index->runs);
    index->devices = calloc(devices + 1, sizeof *index->devices);
    seen = calloc(devices + 1, sizeof *seen);
    if (!index->rows || !index->runs || !index->devices || !seen) {
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "index of %zu rows: out of memory", rows));
    }
    for (uint32_t s = 0; s < index->store_count; s++) {
        memset(seen, 0, (devices + 1) * sizeof *seen);
        see_devices(request, index, &tables[s], seen);
        add_table(request, index, s, &tables[s], seen);
    }
    qsort(index->runs, index->run_count, sizeof *index->runs, compare_runs);
done:
    free(seen);
    return status;
}

enum rtune_status rtune_index_read(const struct rtune_index_request *request,
                                   struct rtune_index **out, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_table tables[RTUNE_INDEX_STORES] = {0};
    struct rtune_index *index = calloc(1, sizeof *index);
    if (!index) return rtune_err_set(err, RTUNE_NO_MEMORY, "index: out of memory");
    index->generation = request->generation;
    index->shipped = RTUNE_INDEX_STORES;
    TRY(read_all(request, index, tables, err));
    TRY(build(request, index, tables, err));
    *out = index;
    index = NULL;
done:
    for (size_t s = 0; s < RTUNE_INDEX_STORES; s++)
        rtune_table_free(&tables[s]);
    rtune_index_free(index);
    return status;
}

void rtune_index_free(struct rtune_index *index) {
    if (!index) return;
    free(index->devices);
    free(index->rows);
    free(index->runs);
    free(index);
}

static bool stores_equal(const struct rtune_index *a, const struct rtune_index *b) {
    if (a->store_count != b->store_count) return false;
    for (uint32_t s = 0; s < a->store_count; s++) {
        const struct rtune_store_info *x = &a->stores[s];
        const struct rtune_store_info *y = &b->stores[s];
        if (strcmp(x->path, y->path) != 0 || x->status != y->status || x->rows != y->rows ||
            strcmp(x->reason, y->reason) != 0) {
            return false;
        }
    }
    return true;
}

static bool rows_equal(const struct rtune_run *a, const struct rtune_run *b) {
    for (uint32_t i = 0; i < a->count; i++) {
        const struct rtune_row *x = &a->rows[i];
        const struct rtune_row *y = &b->rows[i];
        if (x->n != y->n || x->n_from != y->n_from || x->n_to != y->n_to ||
            !rtune_config_equal(&x->config, &y->config) || x->us < y->us || x->us > y->us ||
            x->stale_driver != y->stale_driver || x->stale_source != y->stale_source ||
            strcmp(x->cubin, y->cubin) != 0) {
            return false;
        }
    }
    return true;
}

bool rtune_index_equal(const struct rtune_index *a, const struct rtune_index *b) {
    if (!stores_equal(a, b) || a->run_count != b->run_count || a->device_count != b->device_count) {
        return false;
    }
    for (uint32_t d = 0; d < a->device_count; d++) {
        if (!rtune_identity_equal(&a->devices[d], &b->devices[d])) return false;
    }
    for (size_t i = 0; i < a->run_count; i++) {
        const struct rtune_run *x = &a->runs[i];
        const struct rtune_run *y = &b->runs[i];
        if (x->count != y->count || x->store != y->store || x->device != y->device ||
            rtune_problem_compare(&x->kind, &y->kind) != 0 || !rows_equal(x, y)) {
            return false;
        }
    }
    return true;
}

const struct rtune_run *rtune_index_find(const struct rtune_index *index,
                                         const struct rtune_problem *kind, size_t *count) {
    struct rtune_problem key = *kind;
    key.n = 0;
    size_t low = 0;
    size_t high = index->run_count;
    while (low < high) { /* first run that is not below the key */
        const size_t middle = low + (high - low) / 2;
        if (rtune_problem_compare(&index->runs[middle].kind, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < index->run_count && rtune_problem_compare(&index->runs[end].kind, &key) == 0)
        end++;
    *count = end - low;
    return end > low ? &index->runs[low] : NULL;
}
