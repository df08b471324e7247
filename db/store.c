/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: reading stores. Nothing here locks, writes, or leaves a file open. */
#include "db/db_int.h"

#include <string.h>

/* The file's bytes; messages have its name in front. */
static enum rtune_status load(const char *path, struct rtune_image *image,
                              struct rtune_error *err) {
    enum rtune_status status = rtune_path_check(path, err);
    if (status != RTUNE_OK) return status;
    status = rtune_image_load(path, rtune_schema_store(), image, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", path);
    return status;
}

/* Tables from an image of any readable format. */
static enum rtune_status read_image(const void *image, size_t size, struct rtune_table *table,
                                    size_t *skipped, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3 *db = NULL;
    TRY(rtune_image_open(image, size, rtune_schema_store(), false, &db, err));
    TRY(rtune_table_read(db, table, skipped, err));
done:
    rtune_sql_close(db);
    return status;
}

enum rtune_status rtune_store_read_image(const void *image, size_t size, struct rtune_table *table,
                                         size_t *skipped, struct rtune_error *err) {
    enum rtune_status status = read_image(image, size, table, skipped, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "store image");
    return status;
}

enum rtune_status rtune_store_read(const char *path, struct rtune_table *table, size_t *skipped,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_image image = {0};
    TRY(load(path, &image, err));
    status = read_image(image.data, image.size, table, skipped, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", path);
done:
    rtune_image_free(&image);
    return status;
}

/* All rows are read before any is given out. */
static enum rtune_status read_sessions(sqlite3 *db, struct rtune_session *sessions, size_t max,
                                       size_t *count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = true;
    size_t have = 0;
    TRY(rtune_sql_prepare(db, RTUNE_SQL_SESSION_ALL, &stmt, err));
    sqlite3_bind_int64(stmt, 1, rtune_row_end(max));
    for (;;) {
        struct rtune_session session = {0};
        TRY(rtune_sql_step(stmt, &row, err));
        if (!row || have == max) break;
        session.id = sqlite3_column_int64(stmt, 0);
        if (rtune_row_read(stmt, 1, RTUNE_ROW_SESSION, &session, NULL, err) != RTUNE_OK)
            TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED, "session %lld has values out of range",
                              (long long)session.id));
        sessions[have++] = session;
    }
    *count = have;
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_store_sessions(const char *path, struct rtune_session *sessions, size_t max,
                                       size_t *count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_image image = {0};
    sqlite3 *db = NULL;
    TRY(load(path, &image, err));
    status = rtune_image_open(image.data, image.size, rtune_schema_store(), false, &db, err);
    if (status == RTUNE_OK) status = read_sessions(db, sessions, max, count, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", path);
done:
    rtune_sql_close(db);
    rtune_image_free(&image);
    return status;
}
