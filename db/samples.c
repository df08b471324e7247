/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c: trials with their raw samples, in work databases and in samples.db, and the copying of
 * one into the other. samples.db only grows, so it is written in place, in one transaction per
 * session; runs have a token, so that copying twice adds nothing.
 */
#include "base/buf.h"
#include "db/db_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE_BYTES = 8 };

/* ---- one trial ------------------------------------------------------------------------------- */

/* Doubles as IEEE 754 binary64, least significant byte first. */
static void put_samples(unsigned char *out, const double *samples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &samples[i], sizeof bits);
        for (size_t b = 0; b < SAMPLE_BYTES; b++)
            *out++ = (unsigned char)(bits >> (8 * b));
    }
}

static void get_samples(double *samples, const unsigned char *in, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (size_t b = 0; b < SAMPLE_BYTES; b++)
            bits |= (uint64_t)*in++ << (8 * b);
        memcpy(&samples[i], &bits, sizeof bits);
    }
}

enum rtune_status rtune_trial_insert(sqlite3_stmt *insert, const struct rtune_trial_key *key,
                                     const struct rtune_trial *trial, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_trial row = *trial;
    unsigned char *blob = NULL;
    size_t size = trial->sample_count * SAMPLE_BYTES;
    int next = 0;
    if (trial->sample_count > RTUNE_DB_SAMPLES_MAX)
        TRY(rtune_err_set(err, RTUNE_RANGE, "%zu samples, at most %d are kept", trial->sample_count,
                          RTUNE_DB_SAMPLES_MAX));
    blob = malloc(size + 1);
    if (blob == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for samples"));
    put_samples(blob, trial->samples, trial->sample_count);
    row.problem = rtune_problem_canonical(&trial->problem);
    sqlite3_bind_int64(insert, 1, key->session);
    sqlite3_bind_int64(insert, 2, key->seq);
    sqlite3_bind_int64(insert, 3, key->device);
    TRY(rtune_row_bind(insert, 4, RTUNE_ROW_TRIAL, &row, &next, err));
    sqlite3_bind_int64(insert, next, (int64_t)trial->sample_count);
    if (sqlite3_bind_blob64(insert, next + 1, blob, size, SQLITE_TRANSIENT) != SQLITE_OK)
        TRY(rtune_sql_fail(sqlite3_db_handle(insert), err));
    TRY(rtune_sql_step(insert, NULL, err));
done:
    free(blob);
    return status;
}

/* The columns of TRIAL_SELECT: seq, the trial's, sample_count, samples. */
static enum rtune_status read_trial(sqlite3_stmt *select, struct rtune_trial *trial,
                                    double *samples, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    int next = 0;
    memset(trial, 0, sizeof *trial);
    trial->problem.struct_size = sizeof trial->problem;
    TRY(rtune_row_read(select, 1, RTUNE_ROW_TRIAL, trial, &next, err));
    int64_t count = sqlite3_column_int64(select, next);
    const void *blob = sqlite3_column_blob(select, next + 1);
    int bytes = sqlite3_column_bytes(select, next + 1);
    if (count < 0 || count > RTUNE_DB_SAMPLES_MAX || bytes != count * SAMPLE_BYTES ||
        (blob == NULL && count != 0))
        TRY(rtune_err_set(err, RTUNE_RANGE, "samples: %d bytes for %lld samples", bytes,
                          (long long)count));
    get_samples(samples, blob, (size_t)count);
    trial->samples = samples;
    trial->sample_count = (size_t)count;
done:
    return status;
}

enum rtune_status rtune_trial_walk(sqlite3_stmt *select, rtune_trial_row visit, void *user,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error bad = {0};
    struct rtune_trial trial;
    bool row = true;
    double *samples = malloc(RTUNE_DB_SAMPLES_MAX * sizeof *samples);
    if (samples == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for samples"));
    for (;;) {
        TRY(rtune_sql_step(select, &row, err));
        if (!row) break;
        int64_t seq = sqlite3_column_int64(select, 0);
        if (read_trial(select, &trial, samples, &bad) != RTUNE_OK)
            TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED, "trial %lld: %s", (long long)seq,
                              bad.message));
        TRY(visit(user, seq, &trial, err));
    }
done:
    free(samples);
    return status;
}

/* ---- sessions -------------------------------------------------------------------------------- */

enum rtune_status rtune_session_find(sqlite3 *db, int64_t id, struct rtune_session *session,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    struct rtune_session found = {.id = id};
    TRY(rtune_sql_prepare(db, RTUNE_SQL_SESSION_FIND, &stmt, err));
    sqlite3_bind_int64(stmt, 1, id);
    TRY(rtune_sql_step(stmt, &row, err));
    if (!row)
        TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED, "session %lld is not there", (long long)id));
    TRY(rtune_row_read(stmt, 1, RTUNE_ROW_SESSION, &found, NULL, err));
    *session = found;
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_session_update(sqlite3 *db, const struct rtune_session *session,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    TRY(rtune_sql_prepare(db, RTUNE_SQL_SESSION_UPDATE, &stmt, err));
    sqlite3_bind_int64(stmt, 1, session->id);
    TRY(rtune_row_bind(stmt, 2, RTUNE_ROW_SESSION, session, NULL, err));
    TRY(rtune_sql_step(stmt, NULL, err));
done:
    sqlite3_finalize(stmt);
    return status;
}

/* ---- copying --------------------------------------------------------------------------------- */

struct copy {
    sqlite3_stmt *insert;
    struct rtune_trial_key key;
};

static enum rtune_status copy_trial(void *user, int64_t seq, const struct rtune_trial *trial,
                                    struct rtune_error *err) {
    struct copy *copy = user;
    copy->key.seq = seq;
    return rtune_trial_insert(copy->insert, &copy->key, trial, err);
}

/* The session of a run in the samples, made if it is not there yet. */
static enum rtune_status place_run(sqlite3 *out, const struct rtune_session *session,
                                   sqlite3_stmt *run, int64_t *id, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *find = NULL, *insert = NULL;
    struct rtune_session copied = *session;
    bool row = false;
    TRY(rtune_sql_prepare(out, RTUNE_SQL_RUN_FIND, &find, err));
    sqlite3_bind_value(find, 1, sqlite3_column_value(run, 1));
    TRY(rtune_sql_step(find, &row, err));
    copied.id = row ? sqlite3_column_int64(find, 0) : 0;
    if (row) TRY(rtune_session_update(out, &copied, err));
    if (!row) {
        TRY(rtune_merge_session(out, session, &copied.id, err));
        TRY(rtune_sql_prepare(out, RTUNE_SQL_RUN_INSERT, &insert, err));
        sqlite3_bind_int64(insert, 1, copied.id);
        sqlite3_bind_value(insert, 2, sqlite3_column_value(run, 1));
        sqlite3_bind_value(insert, 3, sqlite3_column_value(run, 2));
        TRY(rtune_sql_step(insert, NULL, err));
    }
    *id = copied.id;
done:
    sqlite3_finalize(find);
    sqlite3_finalize(insert);
    return status;
}

static enum rtune_status last_trial(sqlite3 *db, int64_t session, int64_t *seq,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    TRY(rtune_sql_prepare(db, RTUNE_SQL_TRIAL_LAST, &stmt, err));
    sqlite3_bind_int64(stmt, 1, session);
    TRY(rtune_sql_step(stmt, &row, err));
    *seq = row ? sqlite3_column_int64(stmt, 0) : 0;
done:
    sqlite3_finalize(stmt);
    return status;
}

/* One run of the work database, which `run` stands on. */
static enum rtune_status copy_run(sqlite3 *work, sqlite3 *out, sqlite3_stmt *run, struct copy *copy,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *select = NULL;
    struct rtune_session session;
    int64_t from = sqlite3_column_int64(run, 0), last = 0;
    TRY(rtune_session_find(work, from, &session, err));
    TRY(place_run(out, &session, run, &copy->key.session, err));
    TRY(last_trial(out, copy->key.session, &last, err));
    TRY(rtune_sql_prepare(work, RTUNE_SQL_TRIAL_OF_SESSION, &select, err));
    sqlite3_bind_int64(select, 1, from);
    sqlite3_bind_int64(select, 2, last);
    TRY(rtune_trial_walk(select, copy_trial, copy, err));
done:
    sqlite3_finalize(select);
    return status;
}

static enum rtune_status copy_runs(sqlite3 *work, const struct rtune_identity *identity,
                                   sqlite3 *out, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct copy copy = {0};
    sqlite3_stmt *runs = NULL;
    bool row = true;
    TRY(rtune_merge_device(out, identity, &copy.key.device, err));
    TRY(rtune_sql_prepare(out, RTUNE_SQL_TRIAL_INSERT, &copy.insert, err));
    TRY(rtune_sql_prepare(work, RTUNE_SQL_RUN_ALL, &runs, err));
    for (;;) {
        TRY(rtune_sql_step(runs, &row, err));
        if (!row) break;
        TRY(copy_run(work, out, runs, &copy, err));
    }
done:
    sqlite3_finalize(runs);
    sqlite3_finalize(copy.insert);
    return status;
}

/* ---- samples.db ------------------------------------------------------------------------------ */

enum rtune_status rtune_samples_path(const char *store_path, char *path, size_t size,
                                     struct rtune_error *err) {
    char folder[RTUNE_DB_PATH];
    enum rtune_status status = rtune_path_folder(folder, store_path, err);
    if (status != RTUNE_OK) return status;
    return rtune_path_join(path, size, folder, RTUNE_SAMPLES_NAME, err);
}

enum rtune_status rtune_samples_probe(const char *store_path, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char path[RTUNE_DB_PATH];
    bool empty = false;
    TRY(rtune_samples_path(store_path, path, sizeof path, err));
    status = rtune_image_probe(path, rtune_schema_samples(), &empty, err);
    if (status == RTUNE_OK && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 && errno != ENOENT)
        status = rtune_err_set_errno(err, RTUNE_IO, errno, "cannot be written");
    if (status != RTUNE_OK)
        rtune_err_prefix(err, "%s: trials cannot be recorded there (move it away)", path);
done:
    return status;
}

/* Open for writing, made if it is missing, in a transaction. */
static enum rtune_status open_samples(const char *path, unsigned wait_ms, sqlite3 **db,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_schema *schema = rtune_schema_samples();
    sqlite3 *opened = NULL;
    int64_t version = 0;
    bool empty = false;
    TRY(rtune_image_probe(path, schema, &empty, err));
    TRY(rtune_sql_open(path, RTUNE_SQL_WRITE, &opened, err));
    sqlite3_busy_timeout(opened, (int)wait_ms); /* readers hold it for the time of their reading */
    TRY(rtune_sql_run(opened, RTUNE_SQL_SYNC_FULL, err));
    TRY(rtune_sql_run(opened, RTUNE_SQL_BEGIN, err));
    TRY(rtune_sql_number(opened, RTUNE_SQL_USER_VERSION, &version, err));
    if (version < schema->version) TRY(rtune_schema_apply(opened, schema, (int)version, err));
    *db = opened;
    opened = NULL;
done:
    rtune_sql_close(opened);
    return status;
}

enum rtune_status rtune_samples_merge(const char *path, sqlite3 *work,
                                      const struct rtune_identity *identity,
                                      const struct rtune_db_io *io, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_lock lock = {-1};
    sqlite3 *db = NULL;
    TRY(rtune_lock_take(path, io->wait_ms, &lock, err));
    status = open_samples(path, io->wait_ms, &db, err);
    if (status == RTUNE_OK) status = copy_runs(work, identity, db, err);
    if (status == RTUNE_OK) status = rtune_db_at(io, RTUNE_STEP_SAMPLES_COMMIT, path, err);
    if (status == RTUNE_OK) status = rtune_sql_run(db, RTUNE_SQL_COMMIT, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", path);
done:
    rtune_sql_close(db);
    rtune_lock_release(&lock);
    return status;
}

struct visitor {
    rtune_trial_visit visit;
    void *user;
    bool failed; /* the visit, whose message is its own */
};

static enum rtune_status visit_row(void *user, int64_t seq, const struct rtune_trial *trial,
                                   struct rtune_error *err) {
    struct visitor *visitor = user;
    (void)seq;
    enum rtune_status status = visitor->visit(visitor->user, trial, err);
    visitor->failed = status != RTUNE_OK;
    return status;
}

enum rtune_status rtune_trial_visit_all(sqlite3_stmt *select, const char *path,
                                        rtune_trial_visit visit, void *user,
                                        struct rtune_error *err) {
    struct visitor visitor = {visit, user, false};
    enum rtune_status status = rtune_trial_walk(select, visit_row, &visitor, err);
    if (status != RTUNE_OK && !visitor.failed) rtune_err_prefix(err, "%s", path);
    return status;
}

static enum rtune_status open_reading(const char *path, const char *identity_key, sqlite3 **db,
                                      sqlite3_stmt **select, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    bool empty = false;
    TRY(rtune_image_probe(path, rtune_schema_samples(), &empty, err));
    if (empty) TRY(rtune_err_set(err, RTUNE_NOT_FOUND, "no samples are recorded"));
    TRY(rtune_sql_open(path, RTUNE_SQL_READ, db, err));
    sqlite3_busy_timeout(*db, RTUNE_DB_WAIT_MS);
    TRY(rtune_sql_prepare(*db, identity_key ? RTUNE_SQL_TRIAL_OF_DEVICE : RTUNE_SQL_TRIAL_ALL,
                          select, err));
    if (identity_key != NULL &&
        sqlite3_bind_text(*select, 1, identity_key, -1, SQLITE_TRANSIENT) != SQLITE_OK)
        TRY(rtune_sql_fail(*db, err));
done:
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", path);
    return status;
}

enum rtune_status rtune_samples_read(const char *path, const char *identity_key,
                                     rtune_trial_visit visit, void *user, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3 *db = NULL;
    sqlite3_stmt *select = NULL;
    TRY(open_reading(path, identity_key, &db, &select, err));
    TRY(rtune_trial_visit_all(select, path, visit, user, err));
done:
    sqlite3_finalize(select);
    rtune_sql_close(db);
    return status;
}
