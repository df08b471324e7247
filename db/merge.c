/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c: new rows into old ones, and a store replaced by the result. The store is read as bytes,
 * changed in memory, checked as a reader will check it, and published by a rename: SQLite never has
 * the file open.
 */
#include "base/buf.h"
#include "db/db_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

static enum rtune_status find_device(sqlite3 *db, const char *key, int64_t *id,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    TRY(rtune_sql_prepare(db, RTUNE_SQL_DEVICE_FIND, &stmt, err));
    if (sqlite3_bind_text(stmt, 1, key, -1, SQLITE_TRANSIENT) != SQLITE_OK)
        TRY(rtune_sql_fail(db, err));
    TRY(rtune_sql_step(stmt, &row, err));
    *id = row ? sqlite3_column_int64(stmt, 0) : 0;
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_merge_device(sqlite3 *db, const struct rtune_identity *identity,
                                     int64_t *id, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    char key[RTUNE_IDENTITY_KEY];
    int64_t found = 0;
    rtune_identity_key(identity, key);
    TRY(find_device(db, key, &found, err));
    /* A device without a name came from its key alone: what is known of it stays. */
    if (found != 0 && identity->name[0] == '\0') {
        *id = found;
        goto done;
    }
    TRY(rtune_sql_prepare(db, found == 0 ? RTUNE_SQL_DEVICE_INSERT : RTUNE_SQL_DEVICE_UPDATE, &stmt,
                          err));
    int rc = found == 0 ? sqlite3_bind_text(stmt, 1, key, -1, SQLITE_TRANSIENT)
                        : sqlite3_bind_int64(stmt, 1, found);
    if (rc != SQLITE_OK) TRY(rtune_sql_fail(db, err));
    TRY(rtune_row_bind(stmt, 2, RTUNE_ROW_DEVICE, identity, NULL, err));
    TRY(rtune_sql_step(stmt, NULL, err));
    *id = found == 0 ? sqlite3_last_insert_rowid(db) : found;
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_merge_session(sqlite3 *db, const struct rtune_session *session, int64_t *id,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    TRY(rtune_sql_prepare(db, RTUNE_SQL_SESSION_INSERT, &stmt, err));
    TRY(rtune_row_bind(stmt, 1, RTUNE_ROW_SESSION, session, NULL, err));
    TRY(rtune_sql_step(stmt, NULL, err));
    *id = sqlite3_last_insert_rowid(db);
done:
    sqlite3_finalize(stmt);
    return status;
}

/* The statements that put one winner in, in order: rows tuned inside its interval go, rows that
 * reach into it are cut, it is inserted. */
enum { MAKE_ROOM = 3, MERGE_STATEMENTS };
static const enum rtune_sql merge_sql[MERGE_STATEMENTS] = {
    RTUNE_SQL_WINNER_DELETE, RTUNE_SQL_WINNER_CUT_RIGHT, RTUNE_SQL_WINNER_CUT_LEFT,
    RTUNE_SQL_WINNER_INSERT};

static enum rtune_status merge_winner(sqlite3_stmt *stmts[MERGE_STATEMENTS],
                                      const struct rtune_winner *winner, int64_t device,
                                      int64_t owner, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_winner row = *winner;
    row.problem = rtune_problem_canonical(&winner->problem);
    row.session = owner;
    if (row.n_from >= INT64_MAX)
        TRY(rtune_err_set(err, RTUNE_RANGE, "n_from: larger than 2^63 - 2"));
    for (int i = 0; i < MAKE_ROOM; i++) {
        sqlite3_bind_int64(stmts[i], 1, (int64_t)row.n_from);
        sqlite3_bind_int64(stmts[i], 2, rtune_row_end(row.n_to));
        sqlite3_bind_int64(stmts[i], 3, device);
        TRY(rtune_row_bind(stmts[i], 4, RTUNE_ROW_PROBLEM, &row.problem, NULL, err));
        TRY(rtune_sql_step(stmts[i], NULL, err));
    }
    sqlite3_bind_int64(stmts[MAKE_ROOM], 1, device);
    TRY(rtune_row_bind(stmts[MAKE_ROOM], 2, RTUNE_ROW_WINNER, &row, NULL, err));
    TRY(rtune_sql_step(stmts[MAKE_ROOM], NULL, err));
done:
    return status;
}

enum rtune_status rtune_merge_rows(sqlite3 *db, const struct rtune_table *table, int64_t owner,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmts[MERGE_STATEMENTS] = {NULL};
    int64_t *ids = calloc(table->device_count + 1, sizeof *ids);
    if (ids == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory to merge rows"));
    for (size_t i = 0; i < table->device_count; i++)
        TRY(rtune_merge_device(db, &table->devices[i], &ids[i], err));
    for (size_t i = 0; i < MERGE_STATEMENTS; i++)
        TRY(rtune_sql_prepare(db, merge_sql[i], &stmts[i], err));
    for (size_t i = 0; i < table->winner_count; i++)
        TRY(merge_winner(stmts, &table->winners[i], ids[table->winners[i].device], owner, err));
done:
    for (size_t i = 0; i < MERGE_STATEMENTS; i++)
        sqlite3_finalize(stmts[i]);
    free(ids);
    return status;
}

/* Sessions that no winner refers to any more go, but for the newest: samples.db keeps them. */
static enum rtune_status prune_sessions(sqlite3 *db, int64_t newest, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    TRY(rtune_sql_prepare(db, RTUNE_SQL_SESSION_PRUNE, &stmt, err));
    sqlite3_bind_int64(stmt, 1, newest);
    TRY(rtune_sql_step(stmt, NULL, err));
done:
    sqlite3_finalize(stmt);
    return status;
}

/* ---- stores ---------------------------------------------------------------------------------- */

static enum rtune_status expect_zero(sqlite3 *db, enum rtune_sql which, const char *what,
                                     struct rtune_error *err) {
    int64_t found = 0;
    enum rtune_status status = rtune_sql_number(db, which, &found, err);
    if (status != RTUNE_OK || found == 0) return status;
    return rtune_err_set(err, RTUNE_STORE_DAMAGED, "has %lld %s", (long long)found, what);
}

/* The merged store as bytes that a reader accepts. *image is freed with sqlite3_free. */
static enum rtune_status finish_image(sqlite3 *db, const struct rtune_schema *schema,
                                      unsigned char **image, size_t *size,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char answer[200] = "";
    sqlite3 *again = NULL;
    sqlite3_int64 length = 0;
    unsigned char *bytes = NULL;
    TRY(expect_zero(db, RTUNE_SQL_FOREIGN_KEY_CHECK, "rows without a device or session", err));
    TRY(expect_zero(db, RTUNE_SQL_OVERLAP_CHECK, "overlapping intervals", err));
    TRY(rtune_sql_run(db, RTUNE_SQL_VACUUM, err));
    TRY(rtune_sql_text(db, RTUNE_SQL_INTEGRITY_CHECK, answer, sizeof answer, err));
    if (strcmp(answer, "ok") != 0)
        TRY(rtune_err_set(err, RTUNE_INTERNAL, "the merged store is damaged: %s", answer));
    bytes = sqlite3_serialize(db, "main", &length, 0);
    if (bytes == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for the merged store"));
    if ((size_t)length > RTUNE_DB_STORE_MAX)
        TRY(rtune_err_set(err, RTUNE_RANGE,
                          "the merged store would have %lld bytes, of %zu that readers accept (use "
                          "another store: --db FILE)",
                          (long long)length, RTUNE_DB_STORE_MAX));
    TRY(rtune_image_open(bytes, (size_t)length, schema, false, &again, err));
    *image = bytes;
    *size = (size_t)length;
    bytes = NULL;
done:
    rtune_sql_close(again);
    sqlite3_free(bytes);
    return status;
}

/* A new database in memory, or a writable copy of the old image. */
static enum rtune_status open_copy(const struct rtune_image *old, const struct rtune_schema *schema,
                                   sqlite3 **db, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3 *opened = NULL;
    if (old->data != NULL)
        TRY(rtune_image_open(old->data, old->size, schema, true, &opened, err));
    else
        TRY(rtune_sql_open(NULL, RTUNE_SQL_MEMORY, &opened, err));
    /* No trace of what was deleted, and equal bytes for equal rows. */
    TRY(rtune_sql_run(opened, RTUNE_SQL_SECURE_DELETE, err));
    if (old->data == NULL) TRY(rtune_schema_apply(opened, schema, 0, err));
    *db = opened;
    opened = NULL;
done:
    rtune_sql_close(opened);
    return status;
}

static enum rtune_status make_image(const struct rtune_image *old,
                                    const struct rtune_schema *schema,
                                    const struct rtune_table *table,
                                    const struct rtune_session *session, unsigned char **image,
                                    size_t *size, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3 *db = NULL;
    int64_t owner = 0;
    TRY(open_copy(old, schema, &db, err));
    TRY(rtune_sql_run(db, RTUNE_SQL_BEGIN, err));
    /* Row numbers are used again: a new device must not inherit the winners of one that somebody
     * deleted, nor a new session those of a deleted one. */
    TRY(rtune_sql_run(db, RTUNE_SQL_WINNER_ORPHAN, err));
    TRY(rtune_sql_run(db, RTUNE_SQL_WINNER_DISOWN, err));
    if (session != NULL) TRY(rtune_merge_session(db, session, &owner, err));
    TRY(rtune_merge_rows(db, table, owner, err));
    TRY(prune_sessions(db, owner, err));
    TRY(rtune_sql_run(db, RTUNE_SQL_COMMIT, err));
    TRY(finish_image(db, schema, image, size, err));
done:
    rtune_sql_close(db);
    return status;
}

/* Keep what is about to be replaced: always as PATH.1, and of an older format also as PATH.v<N>. */
static enum rtune_status keep_old(const char *path, const struct rtune_image *old,
                                  const struct rtune_db_io *io, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char name[RTUNE_DB_PATH], suffix[16];
    if (old->data == NULL) goto done;
    if (old->version < io->store->version) {
        snprintf(suffix, sizeof suffix, ".v%d", old->version);
        TRY(rtune_path_suffix(name, path, suffix, err));
        TRY(rtune_db_at(io, RTUNE_STEP_BACKUP, name, err));
        TRY(rtune_publish_file(name, old->data, old->size, old->mode, io, err));
    }
    TRY(rtune_path_suffix(name, path, ".1", err));
    TRY(rtune_db_at(io, RTUNE_STEP_KEEP, name, err));
    TRY(rtune_publish_file(name, old->data, old->size, old->mode, io, err));
done:
    return status;
}

enum rtune_status rtune_store_merge_with(const char *path, const struct rtune_table *table,
                                         const struct rtune_session *session,
                                         const struct rtune_db_io *io, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_lock lock = {-1};
    struct rtune_image old = {0};
    unsigned char *image = NULL;
    size_t size = 0;
    TRY(rtune_path_check(path, err));
    TRY(rtune_path_not_samples(path, err));
    TRY(rtune_table_check(table, err));
    TRY(rtune_db_at(io, RTUNE_STEP_LOCK, path, err));
    TRY(rtune_lock_take(path, io->wait_ms, &lock, err));
    TRY(rtune_db_at(io, RTUNE_STEP_READ, path, err));
    status = rtune_image_load(path, io->store, &old, err);
    if (status == RTUNE_NOT_FOUND) {
        rtune_err_clear(err);
        status = rtune_image_alone(path, err);
    }
    if (status == RTUNE_OK) status = rtune_db_at(io, RTUNE_STEP_MERGE, path, err);
    if (status == RTUNE_OK)
        status = make_image(&old, io->store, table, session, &image, &size, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", path);
    TRY(status);
    TRY(keep_old(path, &old, io, err));
    TRY(rtune_publish_file(path, image, size, old.mode, io, err));
done:
    sqlite3_free(image);
    rtune_image_free(&old);
    rtune_lock_release(&lock);
    return status;
}

enum rtune_status rtune_store_merge(const char *path, const struct rtune_table *table,
                                    const struct rtune_session *session, struct rtune_error *err) {
    struct rtune_db_io io = rtune_db_io_default();
    return rtune_store_merge_with(path, table, session, &io, err);
}

enum rtune_status rtune_store_write_image(const char *path, const struct rtune_table *table,
                                          struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_image none = {0};
    unsigned char *image = NULL;
    size_t size = 0;
    TRY(rtune_table_check(table, err));
    TRY(make_image(&none, rtune_schema_store(), table, NULL, &image, &size, err));
    TRY(rtune_file_write(path, image, size, 0644, err));
done:
    sqlite3_free(image);
    return status;
}
