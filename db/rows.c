/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c: typed rows to and from statements. The list of columns of db/columns.h becomes one table
 * per kind of row; two loops, one that binds and one that reads, serve them all.
 */
#include "db/columns.h"
#include "db/sql.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum kind {
    NAME,   /* an enum, stored by its name */
    REASON, /* enum rtune_reason, the same */
    GRID,   /* struct rtune_grid, as rtune_grid_print writes it */
    TEXT,
    BOOL,
    U32,
    U64,  /* at most 2^63 - 2 */
    END,  /* the same, anything larger being "no upper end" */
    BITS, /* 64 bits, stored as a signed number */
    I64,
    ID,  /* a row's id; 0: NULL */
    REAL /* finite */
};

struct column {
    const char *name;
    enum kind kind;
    size_t offset;
    size_t size;
    enum rtune_name_kind names;
};

#define COLUMN(s, field, column, kind, names)                                                      \
    {#column, kind, offsetof(s, field), sizeof(((s *)0)->field), names},
static const struct column device_columns[] = {RTUNE_COLUMNS_DEVICE(COLUMN)};
static const struct column session_columns[] = {RTUNE_COLUMNS_SESSION(COLUMN)};
static const struct column problem_columns[] = {
    RTUNE_COLUMNS_PROBLEM(COLUMN, struct rtune_problem, )};
static const struct column winner_columns[] = {RTUNE_COLUMNS_WINNER(COLUMN)};
static const struct column trial_columns[] = {RTUNE_COLUMNS_TRIAL(COLUMN)};

static const struct {
    const struct column *columns;
    size_t count;
} rows[RTUNE_ROW_COUNT] = {
    [RTUNE_ROW_DEVICE] = {device_columns, RTUNE_ARRAY_SIZE(device_columns)},
    [RTUNE_ROW_SESSION] = {session_columns, RTUNE_ARRAY_SIZE(session_columns)},
    [RTUNE_ROW_PROBLEM] = {problem_columns, RTUNE_ARRAY_SIZE(problem_columns)},
    [RTUNE_ROW_WINNER] = {winner_columns, RTUNE_ARRAY_SIZE(winner_columns)},
    [RTUNE_ROW_TRIAL] = {trial_columns, RTUNE_ARRAY_SIZE(trial_columns)},
};

/* Enums are moved as ints. */
_Static_assert(sizeof(enum rtune_op) == sizeof(int) && sizeof(enum rtune_reason) == sizeof(int) &&
                   sizeof(enum rtune_load) == sizeof(int),
               "enums have the size of an int");

static const char *const reasons[RTUNE_REASON_COUNT] = {
    [RTUNE_REASON_CORRECT] = "correct",         [RTUNE_REASON_TIMEOUT] = "timeout",
    [RTUNE_REASON_COMPILE] = "compile",         [RTUNE_REASON_RUNTIME] = "runtime",
    [RTUNE_REASON_CORRECTNESS] = "correctness", [RTUNE_REASON_CONSTRAINTS] = "constraints",
};

const char *rtune_reason_name(enum rtune_reason reason) {
    return (unsigned)reason < RTUNE_REASON_COUNT ? reasons[reason] : NULL;
}

int64_t rtune_row_end(uint64_t n_to) { return n_to >= INT64_MAX ? INT64_MAX : (int64_t)n_to; }

/* ---- binding --------------------------------------------------------------------------------- */

/* The text of a field that is stored as one; NULL for an enum out of range. */
static const char *text_of(const struct column *column, const char *at, char *scratch,
                           size_t size) {
    int value;
    struct rtune_grid grid;
    switch (column->kind) {
    case TEXT:
        return memchr(at, '\0', column->size) == NULL ? NULL : at;
    case GRID:
        memcpy(&grid, at, sizeof grid);
        rtune_grid_print(&grid, scratch, size);
        return scratch;
    case NAME:
    case REASON:
        memcpy(&value, at, sizeof value);
        break;
    default:
        return NULL;
    }
    if (column->kind == REASON) return rtune_reason_name((enum rtune_reason)value);
    return value < 0 ? NULL : rtune_names(column->names)->name(value);
}

/* The number of a field that is stored as one; false if the database cannot keep it. */
static bool number_of(const struct column *column, const char *at, int64_t *number) {
    bool flag;
    uint32_t u32;
    uint64_t u64 = 0;
    if (column->size == sizeof u64) memcpy(&u64, at, sizeof u64);
    switch (column->kind) {
    case BOOL:
        memcpy(&flag, at, sizeof flag);
        *number = flag;
        return true;
    case U32:
        memcpy(&u32, at, sizeof u32);
        *number = u32;
        return true;
    case U64:
        *number = (int64_t)u64;
        return u64 < INT64_MAX;
    case END:
        *number = rtune_row_end(u64);
        return true;
    default:
        memcpy(number, &u64, sizeof u64);
        return true;
    }
}

static enum rtune_status bind_one(sqlite3_stmt *stmt, int index, const struct column *column,
                                  const char *at, struct rtune_error *err) {
    char scratch[64];
    const char *text;
    double real;
    int64_t number = 0;
    int rc = SQLITE_OK;
    switch (column->kind) {
    case NAME:
    case REASON:
    case GRID:
    case TEXT:
        text = text_of(column, at, scratch, sizeof scratch);
        if (text == NULL)
            return rtune_err_set(err, RTUNE_RANGE, "%s: value out of range", column->name);
        rc = sqlite3_bind_text(stmt, index, text, -1, SQLITE_TRANSIENT);
        break;
    case REAL:
        memcpy(&real, at, sizeof real);
        if (!isfinite(real))
            return rtune_err_set(err, RTUNE_RANGE, "%s: not a finite number", column->name);
        rc = sqlite3_bind_double(stmt, index, real);
        break;
    default:
        if (!number_of(column, at, &number))
            return rtune_err_set(err, RTUNE_RANGE, "%s: larger than 2^63 - 2", column->name);
        rc = column->kind == ID && number == 0 ? sqlite3_bind_null(stmt, index)
                                               : sqlite3_bind_int64(stmt, index, number);
        break;
    }
    return rc == SQLITE_OK ? RTUNE_OK : rtune_sql_fail(sqlite3_db_handle(stmt), err);
}

enum rtune_status rtune_row_bind(sqlite3_stmt *stmt, int first, enum rtune_row row,
                                 const void *data, int *next, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    for (size_t i = 0; i < rows[row].count; i++) {
        const struct column *column = &rows[row].columns[i];
        TRY(bind_one(stmt, first + (int)i, column, (const char *)data + column->offset, err));
    }
    if (next != NULL) *next = first + (int)rows[row].count;
done:
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum rtune_status read_reason(const char *text, int *value, struct rtune_error *err) {
    for (int i = 0; i < RTUNE_REASON_COUNT; i++) {
        if (strcmp(text, reasons[i]) != 0) continue;
        *value = i;
        return RTUNE_OK;
    }
    return rtune_err_set(err, RTUNE_SYNTAX, "unknown reason \"%.40s\"", text);
}

static enum rtune_status read_text(const struct column *column, const char *text, char *at,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_grid grid;
    int value = 0;
    switch (column->kind) {
    case NAME:
        TRY(rtune_name_parse(column->names, text, &value, err));
        break;
    case REASON:
        TRY(read_reason(text, &value, err));
        break;
    case GRID:
        TRY(rtune_grid_parse(text, &grid, err));
        memcpy(at, &grid, sizeof grid);
        return status;
    default:
        if (strlen(text) >= column->size)
            TRY(rtune_err_set(err, RTUNE_RANGE, "text longer than %zu bytes", column->size - 1));
        memcpy(at, text, strlen(text) + 1);
        return status;
    }
    memcpy(at, &value, sizeof value);
done:
    return status;
}

static enum rtune_status read_number(const struct column *column, int64_t number, char *at,
                                     struct rtune_error *err) {
    int64_t min = 0, max = INT64_MAX - 1;
    uint64_t u64 = (uint64_t)number;
    if (column->kind == BOOL) max = 1;
    if (column->kind == U32) max = UINT32_MAX;
    if (column->kind == END || column->kind == BITS || column->kind == I64) max = INT64_MAX;
    if (column->kind == BITS || column->kind == I64) min = INT64_MIN;
    if (number < min || number > max)
        return rtune_err_set(err, RTUNE_RANGE, "%lld is out of range", (long long)number);
    if (column->kind == END && number == INT64_MAX) u64 = UINT64_MAX;
    if (column->kind == BOOL)
        memcpy(at, &(bool){number != 0}, sizeof(bool));
    else if (column->kind == U32)
        memcpy(at, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    else
        memcpy(at, &u64, sizeof u64);
    return RTUNE_OK;
}

static enum rtune_status read_one(sqlite3_stmt *stmt, int index, const struct column *column,
                                  char *at, struct rtune_error *err) {
    int type = sqlite3_column_type(stmt, index);
    switch (column->kind) {
    case NAME:
    case REASON:
    case GRID:
    case TEXT: {
        if (type != SQLITE_TEXT) break;
        const char *text = (const char *)sqlite3_column_text(stmt, index);
        if (text == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "SQLite: out of memory");
        if (strlen(text) != (size_t)sqlite3_column_bytes(stmt, index)) break;
        return read_text(column, text, at, err);
    }
    case REAL: {
        if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) break;
        double real = sqlite3_column_double(stmt, index);
        if (!isfinite(real)) break;
        memcpy(at, &real, sizeof real);
        return RTUNE_OK;
    }
    default:
        if (type != SQLITE_INTEGER && !(column->kind == ID && type == SQLITE_NULL)) break;
        return read_number(column, sqlite3_column_int64(stmt, index), at, err);
    }
    return rtune_err_set(err, RTUNE_SYNTAX, "value of a wrong type");
}

enum rtune_status rtune_row_read(sqlite3_stmt *stmt, int first, enum rtune_row row, void *data,
                                 int *next, struct rtune_error *err) {
    for (size_t i = 0; i < rows[row].count; i++) {
        const struct column *column = &rows[row].columns[i];
        enum rtune_status status =
            read_one(stmt, first + (int)i, column, (char *)data + column->offset, err);
        if (status == RTUNE_OK) continue;
        rtune_err_prefix(err, "%s", column->name);
        return status;
    }
    if (next != NULL) *next = first + (int)rows[row].count;
    return RTUNE_OK;
}
