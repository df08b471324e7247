/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c: the private database of one running session. Each row is committed as it comes, so that a
 * killed session loses at most the row it was writing; publishing merges winners into the store and
 * trials into samples.db, and may be repeated after a failure without doing anything twice.
 */
#include "base/clock.h"
#include "db/db_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { HASH_DIGITS = 16, TOKEN_BYTES = 16, SYNC_NS = 250000000 };

struct rtune_work {
    sqlite3 *db;          /* NULL once published and deleted */
    sqlite3_stmt *insert; /* of a trial, from the first one on: parsing it takes longest */
    struct rtune_lock lock;
    struct rtune_db_io io;
    struct rtune_identity identity;
    char store[RTUNE_DB_PATH];
    char path[RTUNE_DB_PATH];
    int64_t device;  /* row of the identity */
    int64_t session; /* 0 before rtune_work_begin */
    int64_t seq;     /* of the last trial of the session */
    size_t published;
    bool wal;
    uint64_t synced_ns; /* when the last commit reached the disk for certain */
};

static enum rtune_status work_path(char path[RTUNE_DB_PATH], const char *store_path,
                                   const struct rtune_identity *identity, struct rtune_error *err) {
    char key[RTUNE_IDENTITY_KEY], hash[RTUNE_DIGEST_HEX], suffix[32];
    rtune_identity_key(identity, key);
    rtune_digest_hex(key, strlen(key), hash);
    snprintf(suffix, sizeof suffix, ".work-%.*s", HASH_DIGITS, hash);
    return rtune_path_suffix(path, store_path, suffix, err);
}

static void close_database(rtune_work *work) {
    sqlite3_finalize(work->insert);
    work->insert = NULL;
    rtune_sql_close(work->db);
    work->db = NULL;
}

/* The database first: SQLite ignores a journal whose database is missing or empty. */
static enum rtune_status delete_files(const char *path, struct rtune_error *err) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    enum rtune_status status = RTUNE_OK;
    char name[RTUNE_DB_PATH];
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(suffixes); i++) {
        TRY(rtune_path_suffix(name, path, suffixes[i], err));
        if (unlink(name) != 0 && errno != ENOENT)
            TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot remove", name));
    }
done:
    return status;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Tables of a new database. It must be in the main file before WAL is turned on, so that the file
 * says what it is whatever happens. */
static enum rtune_status make_schema(struct rtune_work *work, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_schema *schema = rtune_schema_work();
    int64_t version = 0;
    TRY(rtune_sql_run(work->db, RTUNE_SQL_BEGIN, err));
    TRY(rtune_sql_number(work->db, RTUNE_SQL_USER_VERSION, &version, err));
    if (version < schema->version) TRY(rtune_schema_apply(work->db, schema, (int)version, err));
    TRY(rtune_merge_device(work->db, &work->identity, &work->device, err));
    TRY(rtune_db_at(&work->io, RTUNE_STEP_WORK_SCHEMA, work->path, err));
    TRY(rtune_sql_run(work->db, RTUNE_SQL_COMMIT, err));
done:
    return status;
}

/* A write-ahead log makes a commit one append. It needs a local file system; elsewhere, or if
 * SQLite says no, a rollback journal does. The lock of the identity keeps others out, so no shared
 * memory is needed. */
static enum rtune_status choose_journal(struct rtune_work *work, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char folder[RTUNE_DB_PATH], mode[16] = "";
    TRY(rtune_path_folder(folder, work->path, err));
    if (!work->io.remote && !rtune_path_is_remote(folder))
        TRY(rtune_sql_text(work->db, RTUNE_SQL_WAL, mode, sizeof mode, err));
    work->wal = strcmp(mode, "wal") == 0;
    if (!work->wal) TRY(rtune_sql_run(work->db, RTUNE_SQL_TRUNCATE, err));
done:
    return status;
}

/* Put the path in front, and what helps at the end, of a message about a work database. */
static void explain_work(const char *path, enum rtune_status status, struct rtune_error *err) {
    if (err == NULL || status == RTUNE_OK) return;
    bool bad = status == RTUNE_STORE_DAMAGED || status == RTUNE_STORE_FOREIGN ||
               status == RTUNE_STORE_NEWER || status == RTUNE_STORE_UNTRUSTED;
    const struct rtune_error why = *err;
    if (bad) rtune_err_set(err, status, "%s (--fresh drops it)", why.message);
    rtune_err_prefix(err, "%s", path);
}

static enum rtune_status open_database(struct rtune_work *work, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    bool empty = false;
    TRY(rtune_image_probe(work->path, rtune_schema_work(), &empty, err));
    if (empty) TRY(delete_files(work->path, err));
    TRY(rtune_sql_open(work->path, RTUNE_SQL_WRITE, &work->db, err));
    TRY(rtune_sql_run(work->db, RTUNE_SQL_EXCLUSIVE, err));
    TRY(rtune_sql_run(work->db, RTUNE_SQL_SYNC_FULL, err));
    TRY(make_schema(work, err));
    TRY(choose_journal(work, err));
done:
    return status;
}

enum rtune_status rtune_work_open_with(rtune_work **work, const char *store_path,
                                       const struct rtune_identity *identity, bool resume,
                                       const struct rtune_db_io *io, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_work *opened = calloc(1, sizeof *opened);
    if (opened == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for a session"));
    opened->lock.fd = -1;
    opened->io = *io;
    opened->identity = *identity;
    TRY(rtune_path_not_samples(store_path, err));
    TRY(rtune_path_suffix(opened->store, store_path, "", err));
    TRY(work_path(opened->path, store_path, identity, err));
    status = rtune_lock_take(opened->path, 0, &opened->lock, err);
    if (status == RTUNE_LOCKED)
        rtune_err_set(err, RTUNE_LOCKED,
                      "%s.lock: another process is tuning this device (wait until it is done)",
                      opened->path);
    TRY(status);
    if (!resume) TRY(delete_files(opened->path, err));
    status = open_database(opened, err);
    explain_work(opened->path, status, err);
    TRY(status);
    *work = opened;
    opened = NULL;
done:
    rtune_work_close(opened);
    return status;
}

enum rtune_status rtune_work_open(rtune_work **work, const char *store_path,
                                  const struct rtune_identity *identity, bool resume,
                                  struct rtune_error *err) {
    struct rtune_db_io io = rtune_db_io_default();
    return rtune_work_open_with(work, store_path, identity, resume, &io, err);
}

static uint64_t count_trials(sqlite3 *db) {
    int64_t count = 0;
    return rtune_sql_number(db, RTUNE_SQL_TRIAL_COUNT, &count, NULL) == RTUNE_OK ? (uint64_t)count
                                                                                 : 0;
}

void rtune_work_close(rtune_work *work) {
    if (work == NULL) return;
    /* A session that never began leaves nothing to resume. */
    bool unused = work->db != NULL && work->session == 0 && count_trials(work->db) == 0;
    close_database(work);
    if (unused) (void)delete_files(work->path, NULL);
    rtune_lock_release(&work->lock);
    free(work);
}

enum rtune_status rtune_work_peek(const char *store_path, const struct rtune_identity *identity,
                                  bool *exists, uint64_t *trials, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_work *work = NULL;
    char path[RTUNE_DB_PATH];
    bool empty = true;
    uint64_t count = 0;
    TRY(work_path(path, store_path, identity, err));
    status = rtune_image_probe(path, rtune_schema_work(), &empty, err);
    explain_work(path, status, err);
    TRY(status);
    if (!empty) {
        TRY(rtune_work_open(&work, store_path, identity, true, err));
        count = count_trials(work->db);
    }
    *exists = !empty;
    *trials = count;
done:
    rtune_work_close(work);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum rtune_status need_session(const rtune_work *work, struct rtune_error *err) {
    if (work->db != NULL && work->session != 0) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_INVALID, "%s: no session has begun", work->path);
}

/* Under WAL, a commit is safe from a crash of the process at once, and from a power loss when it is
 * synced: some commits are, so that what a power loss takes is from the last quarter of a second of
 * committing. */
static enum rtune_status begin_rows(rtune_work *work, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t now = rtune_clock_ns();
    bool sync = !work->wal || work->synced_ns == 0 || now - work->synced_ns >= SYNC_NS;
    if (sync) work->synced_ns = now;
    TRY(rtune_sql_run(work->db, sync ? RTUNE_SQL_SYNC_FULL : RTUNE_SQL_SYNC_NORMAL, err));
    TRY(rtune_sql_run(work->db, RTUNE_SQL_BEGIN, err));
done:
    return status;
}

/* Commit if all went well so far, else take it back. */
static enum rtune_status end_rows(rtune_work *work, enum rtune_status so_far,
                                  struct rtune_error *err) {
    enum rtune_status status = so_far;
    TRY(status);
    TRY(rtune_db_at(&work->io, RTUNE_STEP_WORK_COMMIT, work->path, err));
    TRY(rtune_sql_run(work->db, RTUNE_SQL_COMMIT, err));
done:
    if (status != RTUNE_OK) {
        if (sqlite3_get_autocommit(work->db) == 0)
            (void)rtune_sql_run(work->db, RTUNE_SQL_ROLLBACK, NULL);
        rtune_err_prefix(err, "%s", work->path);
    }
    return status;
}

/* A name for the run that no other run of any machine has. */
static enum rtune_status make_token(char token[2 * TOKEN_BYTES + 1], struct rtune_error *err) {
    unsigned char bytes[TOKEN_BYTES];
    ssize_t got;
    do
        got = getrandom(bytes, sizeof bytes, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof bytes)
        return rtune_err_set_errno(err, RTUNE_IO, errno, "cannot get random bytes");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return RTUNE_OK;
}

static enum rtune_status insert_run(sqlite3 *db, int64_t session, const char *token,
                                    const char *config_text, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *stmt = NULL;
    TRY(rtune_sql_prepare(db, RTUNE_SQL_RUN_INSERT, &stmt, err));
    sqlite3_bind_int64(stmt, 1, session);
    if (sqlite3_bind_text(stmt, 2, token, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_bind_text(stmt, 3, config_text == NULL ? "" : config_text, -1, SQLITE_TRANSIENT) !=
            SQLITE_OK)
        TRY(rtune_sql_fail(db, err));
    TRY(rtune_sql_step(stmt, NULL, err));
done:
    sqlite3_finalize(stmt);
    return status;
}

enum rtune_status rtune_work_begin(rtune_work *work, struct rtune_session *session,
                                   const char *config_text, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_session row = *session;
    char token[2 * TOKEN_BYTES + 1];
    if (work->db == NULL) TRY(rtune_err_set(err, RTUNE_INVALID, "%s: is published", work->path));
    if (row.started == 0) row.started = rtune_clock_unix();
    row.ended = 0;
    snprintf(row.outcome, sizeof row.outcome, "running");
    TRY(make_token(token, err));
    TRY(begin_rows(work, err));
    status = rtune_sql_run(work->db, RTUNE_SQL_SESSION_ABANDON, err); /* of a killed process */
    if (status == RTUNE_OK) status = rtune_merge_session(work->db, &row, &row.id, err);
    if (status == RTUNE_OK) status = insert_run(work->db, row.id, token, config_text, err);
    TRY(end_rows(work, status, err));
    work->session = row.id;
    work->seq = 0;
    *session = row;
done:
    return status;
}

enum rtune_status rtune_work_update(rtune_work *work, const struct rtune_session *session,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_session row = *session;
    TRY(need_session(work, err));
    row.id = work->session;
    TRY(begin_rows(work, err));
    TRY(end_rows(work, rtune_session_update(work->db, &row, err), err));
done:
    return status;
}

enum rtune_status rtune_work_add_trial(rtune_work *work, const struct rtune_trial *trial,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_trial_key key = {work->session, work->seq + 1, work->device};
    TRY(need_session(work, err));
    TRY(rtune_problem_check(&trial->problem, err));
    TRY(begin_rows(work, err));
    if (work->insert == NULL)
        status = rtune_sql_prepare(work->db, RTUNE_SQL_TRIAL_INSERT, &work->insert, err);
    if (status == RTUNE_OK) status = rtune_trial_insert(work->insert, &key, trial, err);
    sqlite3_reset(work->insert); /* also after a failure: the transaction must end */
    TRY(end_rows(work, status, err));
    work->seq = key.seq;
done:
    return status;
}

enum rtune_status rtune_work_add_winners(rtune_work *work, const struct rtune_winner *winners,
                                         size_t count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_table table = {&work->identity, 1, NULL, count};
    TRY(need_session(work, err));
    table.winners = malloc((count + 1) * sizeof *table.winners);
    if (table.winners == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for %zu rows", count));
    if (count > 0) memcpy(table.winners, winners, count * sizeof *winners);
    for (size_t i = 0; i < count; i++)
        table.winners[i].device = 0;
    TRY(rtune_table_check(&table, err));
    TRY(begin_rows(work, err));
    TRY(end_rows(work, rtune_merge_rows(work->db, &table, work->session, err), err));
done:
    free(table.winners);
    return status;
}

enum rtune_status rtune_work_trials(rtune_work *work, const struct rtune_problem *problem,
                                    rtune_trial_visit visit, void *user, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *select = NULL;
    if (work->db == NULL) TRY(rtune_err_set(err, RTUNE_INVALID, "%s: is published", work->path));
    TRY(rtune_sql_prepare(work->db, problem ? RTUNE_SQL_TRIAL_OF_PROBLEM : RTUNE_SQL_TRIAL_ALL,
                          &select, err));
    if (problem != NULL) {
        TRY(rtune_problem_check(problem, err));
        struct rtune_problem kind = rtune_problem_canonical(problem);
        sqlite3_bind_int64(select, 1, (int64_t)kind.n);
        TRY(rtune_row_bind(select, 2, RTUNE_ROW_PROBLEM, &kind, NULL, err));
    }
    TRY(rtune_trial_visit_all(select, work->path, visit, user, err));
done:
    sqlite3_finalize(select);
    return status;
}

/* ---- what another session left --------------------------------------------------------------- */

enum rtune_status rtune_work_compare(rtune_work *work, const struct rtune_session *session,
                                     const char *config_text, struct rtune_work_match *match,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3_stmt *select = NULL;
    bool row = false;
    if (work->db == NULL) TRY(rtune_err_set(err, RTUNE_INVALID, "%s: is published", work->path));
    TRY(rtune_sql_prepare(work->db, RTUNE_SQL_RUN_MATCH, &select, err));
    if (sqlite3_bind_text(select, 1, session->source_hash, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_bind_text(select, 2, session->driver, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_bind_text(select, 3, config_text, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        sqlite3_bind_text(select, 4, session->nvrtc, -1, SQLITE_TRANSIENT) != SQLITE_OK)
        TRY(rtune_sql_fail(work->db, err));
    TRY(rtune_sql_step(select, &row, err));
    int found = row ? sqlite3_column_int(select, 0) : 0;
    match->kernels = found >= 1;
    match->space = found >= 2;
done:
    sqlite3_finalize(select);
    return status;
}

enum rtune_status rtune_work_retire(rtune_work *work, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char samples[RTUNE_DB_PATH];
    if (work->db == NULL || work->session != 0)
        TRY(rtune_err_set(err, RTUNE_INVALID, "%s: a session has begun", work->path));
    TRY(rtune_sql_run(work->db, RTUNE_SQL_SESSION_ABANDON, err));
    TRY(rtune_samples_path(work->store, samples, sizeof samples, err));
    TRY(rtune_samples_merge(samples, work->db, &work->identity, &work->io, err));
    close_database(work);
    TRY(delete_files(work->path, err));
    status = open_database(work, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", work->path);
done:
    return status;
}

/* ---- publishing ------------------------------------------------------------------------------ */

static enum rtune_status end_session(rtune_work *work, const char *outcome,
                                     struct rtune_session *session, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (outcome[0] == '\0' || strlen(outcome) >= sizeof session->outcome)
        TRY(rtune_err_set(err, RTUNE_INVALID, "\"%.40s\" is not an outcome", outcome));
    TRY(rtune_session_find(work->db, work->session, session, err));
    session->ended = rtune_clock_unix();
    snprintf(session->outcome, sizeof session->outcome, "%s", outcome);
    TRY(rtune_work_update(work, session, err));
done:
    return status;
}

/* Winners into the store; then they are no longer the work's, so that a resumed session cannot put
 * them over newer ones. */
static enum rtune_status publish_winners(rtune_work *work, const struct rtune_session *session,
                                         struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_table table = {0};
    TRY(rtune_db_at(&work->io, RTUNE_STEP_WORK_STORE, work->path, err));
    TRY(rtune_table_read(work->db, &table, NULL, err));
    if (table.winner_count == 0) goto done;
    TRY(rtune_store_merge_with(work->store, &table, session, &work->io, err));
    work->published += table.winner_count;
    TRY(begin_rows(work, err));
    TRY(end_rows(work, rtune_sql_run(work->db, RTUNE_SQL_WINNER_CLEAR, err), err));
done:
    rtune_table_free(&table);
    return status;
}

static enum rtune_status publish_trials(rtune_work *work, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char samples[RTUNE_DB_PATH];
    TRY(rtune_samples_path(work->store, samples, sizeof samples, err));
    TRY(rtune_db_at(&work->io, RTUNE_STEP_WORK_SAMPLES, samples, err));
    TRY(rtune_samples_merge(samples, work->db, &work->identity, &work->io, err));
done:
    if (status != RTUNE_OK && err != NULL) {
        const struct rtune_error why = *err;
        rtune_err_set(err, status,
                      "%s: the trials could not be recorded, but what was decided is stored "
                      "(--resume records them)",
                      why.message);
    }
    return status;
}

size_t rtune_work_published(const rtune_work *work) { return work->published; }

enum rtune_status rtune_work_publish(rtune_work *work, const char *outcome, bool keep,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_session session;
    TRY(need_session(work, err));
    TRY(end_session(work, outcome, &session, err));
    TRY(publish_winners(work, &session, err));
    TRY(publish_trials(work, err));
    if (keep) goto done;
    TRY(rtune_db_at(&work->io, RTUNE_STEP_WORK_DELETE, work->path, err));
    close_database(work);
    TRY(delete_files(work->path, err));
done:
    return status;
}
