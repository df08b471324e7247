/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db/sql.h: statements, rows and formats of databases, private to db/.
 *
 * sql.c is the only file that holds SQL text or prepares a statement, rows.c the only one that
 * knows which column is which field, schema.c the only one that knows which tables are in which
 * database. Paths in messages are put in front by the callers.
 */
#ifndef RTUNE_DB_SQL_H
#define RTUNE_DB_SQL_H

#include "base/num.h"
#include "db/db.h"

#include <sqlite3.h>

/* ---- sql.c ----------------------------------------------------------------------------------- */

enum rtune_sql {
    RTUNE_SQL_BEGIN,
    RTUNE_SQL_COMMIT,
    RTUNE_SQL_ROLLBACK,
    RTUNE_SQL_VACUUM,
    RTUNE_SQL_APPLICATION_ID,
    RTUNE_SQL_USER_VERSION,
    RTUNE_SQL_QUICK_CHECK,
    RTUNE_SQL_INTEGRITY_CHECK,
    RTUNE_SQL_FOREIGN_KEY_CHECK,
    RTUNE_SQL_OVERLAP_CHECK,
    RTUNE_SQL_ODD_OBJECTS,
    RTUNE_SQL_SECURE_DELETE,
    RTUNE_SQL_CELL_CHECK,
    RTUNE_SQL_EXCLUSIVE,
    RTUNE_SQL_WAL,
    RTUNE_SQL_TRUNCATE,
    RTUNE_SQL_SYNC_FULL,
    RTUNE_SQL_SYNC_NORMAL,
    RTUNE_SQL_DEVICE_ALL,
    RTUNE_SQL_DEVICE_FIND,
    RTUNE_SQL_DEVICE_INSERT,
    RTUNE_SQL_DEVICE_UPDATE,
    RTUNE_SQL_SESSION_ALL,
    RTUNE_SQL_SESSION_FIND,
    RTUNE_SQL_SESSION_INSERT,
    RTUNE_SQL_SESSION_UPDATE,
    RTUNE_SQL_SESSION_ABANDON,
    RTUNE_SQL_SESSION_PRUNE,
    RTUNE_SQL_WINNER_ALL,
    RTUNE_SQL_WINNER_INSERT,
    RTUNE_SQL_WINNER_DELETE,
    RTUNE_SQL_WINNER_CUT_RIGHT,
    RTUNE_SQL_WINNER_CUT_LEFT,
    RTUNE_SQL_WINNER_CLEAR,
    RTUNE_SQL_WINNER_ORPHAN,
    RTUNE_SQL_WINNER_DISOWN,
    RTUNE_SQL_RUN_ALL,
    RTUNE_SQL_RUN_FIND,
    RTUNE_SQL_RUN_INSERT,
    RTUNE_SQL_RUN_MATCH,
    RTUNE_SQL_TRIAL_COUNT,
    RTUNE_SQL_TRIAL_LAST,
    RTUNE_SQL_TRIAL_INSERT,
    RTUNE_SQL_TRIAL_ALL,
    RTUNE_SQL_TRIAL_OF_PROBLEM,
    RTUNE_SQL_TRIAL_OF_DEVICE,
    RTUNE_SQL_TRIAL_OF_SESSION,
    RTUNE_SQL_COUNT
};

enum rtune_sql_access {
    RTUNE_SQL_MEMORY, /* a private database in memory; path is not used */
    RTUNE_SQL_READ,
    RTUNE_SQL_WRITE /* made if missing */
};
/* Open with every guard that SQLite has against hostile files. */
enum rtune_status rtune_sql_open(const char *path, enum rtune_sql_access access, sqlite3 **db,
                                 struct rtune_error *err);
void rtune_sql_close(sqlite3 *db); /* accepts NULL; rolls back */
enum rtune_status rtune_sql_fail(sqlite3 *db, struct rtune_error *err); /* its last error */
enum rtune_status rtune_sql_prepare(sqlite3 *db, enum rtune_sql which, sqlite3_stmt **stmt,
                                    struct rtune_error *err);
/* *row: there is one; NULL: there must be none. A statement without a row is reset. */
enum rtune_status rtune_sql_step(sqlite3_stmt *stmt, bool *row, struct rtune_error *err);
/* Prepare, run to the end, finalize. */
enum rtune_status rtune_sql_run(sqlite3 *db, enum rtune_sql which, struct rtune_error *err);
/* The first column of the only row, as a number or a text. No row: 0 or "". */
enum rtune_status rtune_sql_number(sqlite3 *db, enum rtune_sql which, int64_t *value,
                                   struct rtune_error *err);
enum rtune_status rtune_sql_text(sqlite3 *db, enum rtune_sql which, char *text, size_t size,
                                 struct rtune_error *err);
enum rtune_status rtune_sql_script(sqlite3 *db, const char *script, struct rtune_error *err);
/* Set application_id and user_version. */
enum rtune_status rtune_sql_stamp(sqlite3 *db, int32_t application_id, int version,
                                  struct rtune_error *err);

/* ---- rows.c ---------------------------------------------------------------------------------- */

/* The tables that rows of a struct live in, and the struct. */
enum rtune_row {
    RTUNE_ROW_DEVICE,  /* attributes of struct rtune_identity; the key is bound apart */
    RTUNE_ROW_SESSION, /* struct rtune_session but its id */
    RTUNE_ROW_PROBLEM, /* struct rtune_problem but its n: what kind of problem */
    RTUNE_ROW_WINNER,  /* struct rtune_winner but its device */
    RTUNE_ROW_TRIAL,   /* struct rtune_trial but its samples */
    RTUNE_ROW_COUNT
};
/* Bind a struct's fields to parameters from `first` (1-based) on, *next (may be NULL) being the one
 * after them. RANGE, naming the column, for a value that the store cannot keep. */
enum rtune_status rtune_row_bind(sqlite3_stmt *stmt, int first, enum rtune_row row,
                                 const void *data, int *next, struct rtune_error *err);
/* Fill a struct's fields from columns from `first` (0-based) on. RANGE or SYNTAX, naming the
 * column, for a value of a wrong type or out of range. */
enum rtune_status rtune_row_read(sqlite3_stmt *stmt, int first, enum rtune_row row, void *data,
                                 int *next, struct rtune_error *err);
/* n and interval ends in the database: 63 bits, the largest meaning "no upper end". */
int64_t rtune_row_end(uint64_t n_to);

/* ---- schema.c -------------------------------------------------------------------------------- */

enum {
    RTUNE_SAMPLES_APPLICATION_ID = 0x72747331, /* "rts1" */
    RTUNE_WORK_APPLICATION_ID = 0x72747731     /* "rtw1" */
};

/* One format of database: which tables, by the scripts that lead to each version. */
struct rtune_schema {
    const char *what; /* "store", for messages */
    int32_t application_id;
    int version;
    const char *const *const *steps; /* steps[v]: NULL-terminated scripts from version v to v + 1 */
};
const struct rtune_schema *rtune_schema_store(void);
const struct rtune_schema *rtune_schema_samples(void);
const struct rtune_schema *rtune_schema_work(void);
/* Bring a database of a version to the schema's; 0: an empty one. Inside the caller's transaction.
 */
enum rtune_status rtune_schema_apply(sqlite3 *db, const struct rtune_schema *schema, int version,
                                     struct rtune_error *err);

#endif /* RTUNE_DB_SQL_H */
