/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c: the devices and winners of an open database as an immutable sorted table, and the rules
 * that every winner in a table obeys.
 */
#include "db/db_int.h"

#include <stdlib.h>
#include <string.h>

/* Which element of table->devices a row of the device table became. */
struct device_at {
    int64_t id;
    uint32_t index;
};

struct reader {
    struct rtune_table table;
    struct device_at *ids; /* sorted by id */
    size_t device_room, id_room, winner_room;
    size_t skipped;
};

void rtune_table_free(struct rtune_table *table) {
    if (table == NULL) return;
    free(table->devices);
    free(table->winners);
    memset(table, 0, sizeof *table);
}

/* Room for one more element in an array. */
static enum rtune_status grow(void *array, size_t count, size_t *room, size_t size,
                              struct rtune_error *err) {
    void *old, *grown;
    if (count < *room) return RTUNE_OK;
    size_t wanted = *room == 0 ? 16 : 2 * *room;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, wanted * size);
    if (grown == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for %zu rows", wanted);
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return RTUNE_OK;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* false for what is not a number too */
static bool is_time(double us) { return us >= 0 && us <= RTUNE_DB_US_MAX; }

/* Can this winner be served on this device? */
static enum rtune_status check_winner(const struct rtune_winner *winner,
                                      const struct rtune_identity *device,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(rtune_problem_check(&winner->problem, err));
    TRY(rtune_instance_check(&winner->problem, &winner->config, err));
    if (device->cuda == (winner->config.block == 1))
        TRY(rtune_err_set(err, RTUNE_RANGE, "block: %u is for another kind of device",
                          (unsigned)winner->config.block));
    if (winner->kernel_abi != RTUNE_KERNEL_ABI)
        TRY(rtune_err_set(err, RTUNE_RANGE, "kernel_abi: %u, this version has %d",
                          (unsigned)winner->kernel_abi, RTUNE_KERNEL_ABI));
    if (winner->n_from > winner->problem.n || winner->problem.n > winner->n_to)
        TRY(rtune_err_set(err, RTUNE_INVALID, "n is not within the interval it is served for"));
    if (!is_time(winner->us) || !is_time(winner->us_lo) || !is_time(winner->us_hi) ||
        !is_time(winner->default_us) || !is_time(winner->floor_us))
        TRY(rtune_err_set(err, RTUNE_RANGE, "a time is negative or over 11 days"));
    if (!(winner->us_lo <= winner->us && winner->us <= winner->us_hi))
        TRY(rtune_err_set(err, RTUNE_RANGE, "us: the time is not between us_lo and us_hi"));
done:
    return status;
}

/* Device, kind of problem, n: the order of a table. */
static int compare_winners(const void *a, const void *b) {
    const struct rtune_winner *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    int order = rtune_problem_compare(&x->problem, &y->problem);
    if (order != 0) return order;
    return x->n_from < y->n_from ? -1 : x->n_from > y->n_from;
}

/* Given in this order, does the interval of b begin before that of a ends? */
static bool overlap(const struct rtune_winner *a, const struct rtune_winner *b) {
    return a->device == b->device && rtune_problem_same_kind(&a->problem, &b->problem) &&
           b->n_from <= a->n_to;
}

enum rtune_status rtune_table_check(const struct rtune_table *table, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_winner *sorted = NULL;
    char text[128] = "";
    if (table->winner_count == 0) goto done;
    sorted = malloc(table->winner_count * sizeof *sorted);
    if (sorted == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for %zu rows", table->winner_count));
    for (size_t i = 0; i < table->winner_count; i++) {
        const struct rtune_winner *winner = &table->winners[i];
        if (winner->device >= table->device_count)
            TRY(rtune_err_set(err, RTUNE_INVALID, "winner %zu: no such device in the table", i));
        status = check_winner(winner, &table->devices[winner->device], err);
        if (status != RTUNE_OK) rtune_err_prefix(err, "winner %zu", i);
        TRY(status);
        sorted[i] = *winner;
        sorted[i].problem = rtune_problem_canonical(&winner->problem);
    }
    qsort(sorted, table->winner_count, sizeof *sorted, compare_winners);
    for (size_t i = 1; i < table->winner_count; i++) {
        if (!overlap(&sorted[i - 1], &sorted[i])) continue;
        rtune_problem_print(&sorted[i].problem, text, sizeof text);
        TRY(rtune_err_set(err, RTUNE_INVALID, "%s: its interval overlaps that of n=%llu", text,
                          (unsigned long long)sorted[i - 1].problem.n));
    }
done:
    free(sorted);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b) {
    const struct device_at *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* A device whose key this version cannot read is left out, and so are its winners. */
static enum rtune_status read_device(sqlite3_stmt *stmt, struct reader *reader,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_table *table = &reader->table;
    struct rtune_identity device = {0};
    const char *key = (const char *)sqlite3_column_text(stmt, 1);
    if (key == NULL || rtune_identity_parse(key, &device, NULL) != RTUNE_OK ||
        rtune_row_read(stmt, 2, RTUNE_ROW_DEVICE, &device, NULL, NULL) != RTUNE_OK)
        goto done;
    TRY(grow(&table->devices, table->device_count, &reader->device_room, sizeof device, err));
    TRY(grow(&reader->ids, table->device_count, &reader->id_room, sizeof *reader->ids, err));
    reader->ids[table->device_count] =
        (struct device_at){sqlite3_column_int64(stmt, 0), (uint32_t)table->device_count};
    table->devices[table->device_count++] = device;
done:
    return status;
}

static enum rtune_status read_winner(sqlite3_stmt *stmt, struct reader *reader,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_table *table = &reader->table;
    struct rtune_winner winner = {0};
    struct device_at wanted = {sqlite3_column_int64(stmt, 0), 0};
    const struct device_at *device =
        table->device_count == 0
            ? NULL
            : bsearch(&wanted, reader->ids, table->device_count, sizeof wanted, compare_ids);
    winner.problem.struct_size = sizeof winner.problem;
    if (device == NULL ||
        rtune_row_read(stmt, 1, RTUNE_ROW_WINNER, &winner, NULL, NULL) != RTUNE_OK ||
        check_winner(&winner, &table->devices[device->index], NULL) != RTUNE_OK) {
        reader->skipped++;
        goto done;
    }
    winner.problem = rtune_problem_canonical(&winner.problem);
    winner.device = device->index;
    TRY(grow(&table->winners, table->winner_count, &reader->winner_room, sizeof winner, err));
    table->winners[table->winner_count++] = winner;
done:
    return status;
}

static enum rtune_status read_all(sqlite3 *db, enum rtune_sql which,
                                  enum rtune_status (*read_row)(sqlite3_stmt *, struct reader *,
                                                                struct rtune_error *),
                                  struct reader *reader, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = true;
    TRY(rtune_sql_prepare(db, which, &stmt, err));
    for (;;) {
        TRY(rtune_sql_step(stmt, &row, err));
        if (!row) break;
        TRY(read_row(stmt, reader, err));
    }
done:
    sqlite3_finalize(stmt);
    return status;
}

/* Sort, and leave out rows that overlap the one before: no program of ours writes such a store. */
static void settle(struct reader *reader) {
    struct rtune_table *table = &reader->table;
    size_t kept = 0;
    if (table->winner_count == 0) return;
    qsort(table->winners, table->winner_count, sizeof *table->winners, compare_winners);
    for (size_t i = 1; i < table->winner_count; i++) {
        if (overlap(&table->winners[kept], &table->winners[i]))
            reader->skipped++;
        else
            table->winners[++kept] = table->winners[i];
    }
    table->winner_count = kept + 1;
}

enum rtune_status rtune_table_read(sqlite3 *db, struct rtune_table *table, size_t *skipped,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct reader reader = {0};
    TRY(read_all(db, RTUNE_SQL_DEVICE_ALL, read_device, &reader, err));
    if (reader.ids != NULL)
        qsort(reader.ids, reader.table.device_count, sizeof *reader.ids, compare_ids);
    TRY(read_all(db, RTUNE_SQL_WINNER_ALL, read_winner, &reader, err));
    settle(&reader);
    *table = reader.table;
    memset(&reader.table, 0, sizeof reader.table);
    if (skipped != NULL) *skipped = reader.skipped;
done:
    free(reader.ids);
    rtune_table_free(&reader.table);
    return status;
}
