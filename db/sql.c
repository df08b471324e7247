/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.c: every SQL statement of the project in one table, and the only place that prepares one,
 * opens a database or turns SQLite's errors into ours.
 */
#include "db/sql.h"
#include "db/columns.h"

#include <stdio.h>
#include <string.h>

/* ", a, b", ", ?, ?" and " AND a = :a AND b = :b" of a list of columns. */
#define NAME_OF(s, field, column, kind, names) ", " #column
#define MARK_OF(s, field, column, kind, names) ", ?"
#define MATCH_OF(s, field, column, kind, names) " AND " #column " = :" #column
#define KIND_NAMES RTUNE_COLUMNS_PROBLEM(NAME_OF, , )
#define KIND_MATCH RTUNE_COLUMNS_PROBLEM(MATCH_OF, , )
#define DEVICE_NAMES RTUNE_COLUMNS_DEVICE(NAME_OF)
#define DEVICE_MARKS RTUNE_COLUMNS_DEVICE(MARK_OF)
#define SESSION_NAMES RTUNE_COLUMNS_SESSION(NAME_OF)
#define SESSION_MARKS RTUNE_COLUMNS_SESSION(MARK_OF)
#define WINNER_NAMES RTUNE_COLUMNS_WINNER(NAME_OF)
#define WINNER_MARKS RTUNE_COLUMNS_WINNER(MARK_OF)
#define TRIAL_NAMES RTUNE_COLUMNS_TRIAL(NAME_OF)
#define TRIAL_MARKS RTUNE_COLUMNS_TRIAL(MARK_OF)
#define TRIAL_SELECT "SELECT seq" TRIAL_NAMES ", sample_count, samples FROM trial"
/* The rows of a kind that can meet [?1, ?2]: intervals do not overlap, so these are the last one
 * that begins at or below ?1 and all that begin up to ?2. */
#define NEAR                                                                                       \
    " AND device = ?3" KIND_MATCH                                                                  \
    " AND n_from <= ?2 AND n_from >= (SELECT coalesce(max(n_from), 0)"                             \
    " FROM winner WHERE n_from <= ?1 AND device = ?3" KIND_MATCH ")"

static const char *const statements[RTUNE_SQL_COUNT] = {
    [RTUNE_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [RTUNE_SQL_COMMIT] = "COMMIT",
    [RTUNE_SQL_ROLLBACK] = "ROLLBACK",
    [RTUNE_SQL_VACUUM] = "VACUUM",
    [RTUNE_SQL_APPLICATION_ID] = "PRAGMA application_id",
    [RTUNE_SQL_USER_VERSION] = "PRAGMA user_version",
    [RTUNE_SQL_QUICK_CHECK] = "PRAGMA quick_check(1)",
    [RTUNE_SQL_INTEGRITY_CHECK] = "PRAGMA integrity_check(1)",
    [RTUNE_SQL_FOREIGN_KEY_CHECK] = "SELECT count(*) FROM pragma_foreign_key_check",
    [RTUNE_SQL_OVERLAP_CHECK] =
        "SELECT count(*) FROM (SELECT n_from, lag(n_to) OVER (PARTITION BY device" KIND_NAMES
        " ORDER BY n_from) AS n_before FROM winner) WHERE n_before >= n_from",
    [RTUNE_SQL_ODD_OBJECTS] = "SELECT count(*) FROM sqlite_master WHERE type NOT IN "
                              "('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'",
    [RTUNE_SQL_SECURE_DELETE] = "PRAGMA secure_delete = ON",
    [RTUNE_SQL_CELL_CHECK] = "PRAGMA cell_size_check = ON",
    [RTUNE_SQL_EXCLUSIVE] = "PRAGMA locking_mode = EXCLUSIVE",
    [RTUNE_SQL_WAL] = "PRAGMA journal_mode = WAL",
    [RTUNE_SQL_TRUNCATE] = "PRAGMA journal_mode = TRUNCATE",
    [RTUNE_SQL_SYNC_FULL] = "PRAGMA synchronous = FULL",
    [RTUNE_SQL_SYNC_NORMAL] = "PRAGMA synchronous = NORMAL",

    [RTUNE_SQL_DEVICE_ALL] = "SELECT id, key" DEVICE_NAMES " FROM device ORDER BY key",
    [RTUNE_SQL_DEVICE_FIND] = "SELECT id FROM device WHERE key = ?",
    [RTUNE_SQL_DEVICE_INSERT] =
        "INSERT INTO device (key" DEVICE_NAMES ") VALUES (?" DEVICE_MARKS ")",
    [RTUNE_SQL_DEVICE_UPDATE] =
        "UPDATE device SET (id" DEVICE_NAMES ") = (?1" DEVICE_MARKS ") WHERE id = ?1",

    [RTUNE_SQL_SESSION_ALL] =
        "SELECT id" SESSION_NAMES " FROM session ORDER BY started DESC, id DESC LIMIT ?",
    [RTUNE_SQL_SESSION_FIND] = "SELECT id" SESSION_NAMES " FROM session WHERE id = ?",
    [RTUNE_SQL_SESSION_INSERT] =
        "INSERT INTO session (id" SESSION_NAMES ") VALUES (NULL" SESSION_MARKS ")",
    [RTUNE_SQL_SESSION_UPDATE] =
        "UPDATE session SET (id" SESSION_NAMES ") = (?1" SESSION_MARKS ") WHERE id = ?1",
    [RTUNE_SQL_SESSION_ABANDON] =
        "UPDATE session SET outcome = 'interrupted' WHERE outcome = 'running'",
    [RTUNE_SQL_SESSION_PRUNE] = "DELETE FROM session WHERE id <> ? AND id NOT IN "
                                "(SELECT session FROM winner WHERE session IS NOT NULL)",

    [RTUNE_SQL_WINNER_ALL] = "SELECT device" WINNER_NAMES " FROM winner ORDER BY device",
    [RTUNE_SQL_WINNER_INSERT] =
        "INSERT INTO winner (device" WINNER_NAMES ") VALUES (?" WINNER_MARKS ")",
    /* ?1 and ?2: the new interval; ?3: the device; then the kind of problem. */
    [RTUNE_SQL_WINNER_DELETE] = "DELETE FROM winner WHERE n BETWEEN ?1 AND ?2" NEAR,
    [RTUNE_SQL_WINNER_CUT_RIGHT] =
        "UPDATE winner SET n_to = ?1 - 1 WHERE n < ?1 AND n_to >= ?1" NEAR,
    [RTUNE_SQL_WINNER_CUT_LEFT] = "UPDATE winner SET n_from = ?2 + 1 WHERE n > ?2" NEAR,
    [RTUNE_SQL_WINNER_CLEAR] = "DELETE FROM winner",
    [RTUNE_SQL_WINNER_ORPHAN] = "DELETE FROM winner WHERE device NOT IN (SELECT id FROM device)",
    [RTUNE_SQL_WINNER_DISOWN] = "UPDATE winner SET session = NULL WHERE session NOT IN "
                                "(SELECT id FROM session)",

    [RTUNE_SQL_RUN_ALL] = "SELECT session, token, config_text FROM run ORDER BY session",
    [RTUNE_SQL_RUN_FIND] = "SELECT session FROM run WHERE token = ?",
    [RTUNE_SQL_RUN_INSERT] = "INSERT INTO run (session, token, config_text) VALUES (?, ?, ?)",
    [RTUNE_SQL_RUN_MATCH] = "SELECT (s.source_hash = ?1 AND s.driver = ?2 AND s.nvrtc = ?4) * "
                            "(1 + (r.config_text = ?3)) FROM run AS r JOIN session AS s ON s.id = "
                            "r.session ORDER BY s.id DESC LIMIT 1",

    [RTUNE_SQL_TRIAL_COUNT] = "SELECT count(*) FROM trial",
    [RTUNE_SQL_TRIAL_LAST] = "SELECT coalesce(max(seq), 0) FROM trial WHERE session = ?",
    [RTUNE_SQL_TRIAL_INSERT] = "INSERT INTO trial (session, seq, device" TRIAL_NAMES
                               ", sample_count, samples) VALUES (?, ?, ?" TRIAL_MARKS ", ?, ?)",
    [RTUNE_SQL_TRIAL_ALL] = TRIAL_SELECT " ORDER BY id",
    [RTUNE_SQL_TRIAL_OF_PROBLEM] = TRIAL_SELECT " WHERE n = ?1" KIND_MATCH " ORDER BY id",
    [RTUNE_SQL_TRIAL_OF_DEVICE] =
        TRIAL_SELECT " WHERE device = (SELECT id FROM device WHERE key = ?) ORDER BY id",
    [RTUNE_SQL_TRIAL_OF_SESSION] = TRIAL_SELECT " WHERE session = ? AND seq > ? ORDER BY seq",
};

/* Bounds for what a database that someone else wrote can make SQLite do. The one attached database
 * is VACUUM's own. */
static const struct {
    int id;
    int value;
} limits[] = {
    {SQLITE_LIMIT_LENGTH, 4 << 20},    {SQLITE_LIMIT_SQL_LENGTH, 1 << 16},
    {SQLITE_LIMIT_COLUMN, 64},         {SQLITE_LIMIT_EXPR_DEPTH, 32},
    {SQLITE_LIMIT_COMPOUND_SELECT, 4}, {SQLITE_LIMIT_VDBE_OP, 25000},
    {SQLITE_LIMIT_FUNCTION_ARG, 8},    {SQLITE_LIMIT_ATTACHED, 1},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},   {SQLITE_LIMIT_VARIABLE_NUMBER, 64},
    {SQLITE_LIMIT_WORKER_THREADS, 0},  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64},
};

static enum rtune_status status_of(int rc) {
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return RTUNE_NO_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return RTUNE_LOCKED;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return RTUNE_IO;
    case SQLITE_ERROR: /* a table or column that should be there is not */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_TOOBIG:    /* over our limits */
    case SQLITE_INTERRUPT: /* too much work, see rtune_image_open */
    case SQLITE_CONSTRAINT:
        return RTUNE_STORE_DAMAGED;
    default:
        return RTUNE_INTERNAL;
    }
}

enum rtune_status rtune_sql_fail(sqlite3 *db, struct rtune_error *err) {
    if (db == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "SQLite: out of memory");
    int rc = sqlite3_extended_errcode(db);
    int errnum = sqlite3_system_errno(db);
    enum rtune_status status = status_of(rc);
    if (status == RTUNE_IO && errnum != 0)
        return rtune_err_set_errno(err, status, errnum, "SQLite: %s", sqlite3_errmsg(db));
    return rtune_err_set(err, status, "SQLite: %s (code %d)", sqlite3_errmsg(db), rc);
}

enum rtune_status rtune_sql_open(const char *path, enum rtune_sql_access access, sqlite3 **db,
                                 struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    static const int access_flags[] = {
        [RTUNE_SQL_MEMORY] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
        [RTUNE_SQL_READ] = SQLITE_OPEN_READONLY,
        [RTUNE_SQL_WRITE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
    };
    int flags = access_flags[access] | SQLITE_OPEN_NOMUTEX;
    sqlite3 *opened = NULL;
    /* A folder on the way may be a link; the file itself was looked at by rtune_trust_open. */
    if (sqlite3_open_v2(access == RTUNE_SQL_MEMORY ? ":memory:" : path, &opened, flags, NULL) !=
        SQLITE_OK)
        TRY(rtune_sql_fail(opened, err));
    sqlite3_extended_result_codes(opened, 1);
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(limits); i++)
        sqlite3_limit(opened, limits[i].id, limits[i].value);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    TRY(rtune_sql_run(opened, RTUNE_SQL_CELL_CHECK, err));
    *db = opened;
    opened = NULL;
done:
    rtune_sql_close(opened);
    return status;
}

void rtune_sql_close(sqlite3 *db) { sqlite3_close(db); }

enum rtune_status rtune_sql_prepare(sqlite3 *db, enum rtune_sql which, sqlite3_stmt **stmt,
                                    struct rtune_error *err) {
    if (sqlite3_prepare_v2(db, statements[which], -1, stmt, NULL) == SQLITE_OK) return RTUNE_OK;
    return rtune_sql_fail(db, err);
}

enum rtune_status rtune_sql_step(sqlite3_stmt *stmt, bool *row, struct rtune_error *err) {
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW && row != NULL) {
        *row = true;
        return RTUNE_OK;
    }
    if (rc == SQLITE_DONE) {
        if (row != NULL) *row = false;
        sqlite3_reset(stmt);
        return RTUNE_OK;
    }
    if (rc == SQLITE_ROW) return rtune_err_set(err, RTUNE_INTERNAL, "SQLite: unexpected row");
    enum rtune_status status = rtune_sql_fail(sqlite3_db_handle(stmt), err);
    sqlite3_reset(stmt);
    return status;
}

enum rtune_status rtune_sql_run(sqlite3 *db, enum rtune_sql which, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = true;
    TRY(rtune_sql_prepare(db, which, &stmt, err));
    while (row)
        TRY(rtune_sql_step(stmt, &row, err));
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_sql_number(sqlite3 *db, enum rtune_sql which, int64_t *value,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    TRY(rtune_sql_prepare(db, which, &stmt, err));
    TRY(rtune_sql_step(stmt, &row, err));
    *value = row ? sqlite3_column_int64(stmt, 0) : 0;
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_sql_text(sqlite3 *db, enum rtune_sql which, char *text, size_t size,
                                 struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    TRY(rtune_sql_prepare(db, which, &stmt, err));
    TRY(rtune_sql_step(stmt, &row, err));
    const char *read = row ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    snprintf(text, size, "%s", read == NULL ? "" : read);
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_sql_script(sqlite3 *db, const char *script, struct rtune_error *err) {
    if (sqlite3_exec(db, script, NULL, NULL, NULL) == SQLITE_OK) return RTUNE_OK;
    return rtune_sql_fail(db, err);
}

enum rtune_status rtune_sql_stamp(sqlite3 *db, int32_t application_id, int version,
                                  struct rtune_error *err) {
    char script[96];
    snprintf(script, sizeof script, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             (int)application_id, version);
    return rtune_sql_script(db, script, err);
}
