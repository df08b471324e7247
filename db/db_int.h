/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db/db_int.h: what the files of db/ share, private to db/ and its tests: files, locks, images, and
 * the parts of merging and publishing (statements and rows: db/sql.h). Functions that are given no
 * path leave it to their callers to put one in front of a message.
 */
#ifndef RTUNE_DB_DB_INT_H
#define RTUNE_DB_DB_INT_H

#include "db/sql.h"

#include <sys/stat.h>

enum {
    RTUNE_DB_PATH = 640,        /* a store's path (below 512) and any suffix */
    RTUNE_DB_WAIT_MS = 10000,   /* for a lock that another process holds */
    RTUNE_DB_SAMPLES_MAX = 4096 /* of one trial */
};

/* Of the file with the trials, in the folder of a store. */
#define RTUNE_SAMPLES_NAME "samples.db"

/* ---- steps of a write, for tests ------------------------------------------------------------- */

/* What is about to be done when a hook is called. */
enum rtune_db_step {
    RTUNE_STEP_LOCK,
    RTUNE_STEP_READ,
    RTUNE_STEP_MERGE,
    RTUNE_STEP_BACKUP, /* write PATH.v<N>, before a migrated store replaces PATH */
    RTUNE_STEP_KEEP,   /* write PATH.1 */
    RTUNE_STEP_CREATE, /* create a new file beside the one to replace */
    RTUNE_STEP_WRITE,  /* write its second half */
    RTUNE_STEP_SYNC,   /* fsync it */
    RTUNE_STEP_RENAME,
    RTUNE_STEP_FOLDER,      /* fsync the folder */
    RTUNE_STEP_WORK_SCHEMA, /* commit an empty work database */
    RTUNE_STEP_WORK_COMMIT, /* commit one row to it */
    RTUNE_STEP_WORK_STORE,  /* merge its winners into the store */
    RTUNE_STEP_WORK_SAMPLES,
    RTUNE_STEP_SAMPLES_COMMIT,
    RTUNE_STEP_WORK_DELETE,
    RTUNE_STEP_COUNT
};

/* How writes are done; tests change it. */
struct rtune_db_io {
    unsigned wait_ms; /* for the locks of the store and of the samples */
    /* NULL, or gives an errno value to fail with. */
    int (*step)(void *user, enum rtune_db_step step);
    void *user;
    const struct rtune_schema *store;
    bool remote; /* as if the folder were on a network file system */
};
struct rtune_db_io rtune_db_io_default(void);
/* Call the hook; its errno value becomes IO, naming path. */
enum rtune_status rtune_db_at(const struct rtune_db_io *io, enum rtune_db_step step,
                              const char *path, struct rtune_error *err);

/* ---- table.c --------------------------------------------------------------------------------- */

/* All winners of an open store or work database; rows that cannot be served are counted in
 * *skipped. */
enum rtune_status rtune_table_read(sqlite3 *db, struct rtune_table *table, size_t *skipped,
                                   struct rtune_error *err);
/* INVALID, UNSUPPORTED or RANGE if winners may not be stored: out of range, or intervals that
 * overlap. */
enum rtune_status rtune_table_check(const struct rtune_table *table, struct rtune_error *err);

/* ---- trust.c --------------------------------------------------------------------------------- */

/* Open for reading what stands at path, below the folder fd (AT_FDCWD: none): a regular file, no
 * symbolic link, of root or this user, that no other may write. Never blocks. Errors: NOT_FOUND,
 * IO, STORE_FOREIGN (not a regular file), STORE_UNTRUSTED. */
enum rtune_status rtune_trust_open(int folder, const char *path, int *fd, struct stat *info,
                                   struct rtune_error *err);
/* The same for a folder. */
enum rtune_status rtune_trust_folder(const char *path, int *fd, struct rtune_error *err);
/* Read size bytes from the start of fd; STORE_DAMAGED if there are fewer. */
enum rtune_status rtune_trust_read(int fd, void *data, size_t size, struct rtune_error *err);

/* ---- image.c --------------------------------------------------------------------------------- */

/* A whole database as read from a file. */
struct rtune_image {
    unsigned char *data; /* owned */
    size_t size;
    int version;   /* user_version */
    unsigned mode; /* permission bits of the file */
};
void rtune_image_free(struct rtune_image *image);
/* Judge a database by its first bytes, before SQLite sees them: STORE_FOREIGN, STORE_NEWER,
 * STORE_DAMAGED. file_size is the size of the whole. */
enum rtune_status rtune_image_header(const unsigned char *header, size_t have, uint64_t file_size,
                                     const struct rtune_schema *schema, int *version,
                                     struct rtune_error *err);
/* STORE_DAMAGED if a journal or write-ahead log of another program lies beside the file at path
 * (which may be missing): bytes of half a change, or a change that would undo a later one. Not for
 * databases that SQLite opens in place, whose journals it knows how to handle. */
enum rtune_status rtune_image_alone(const char *path, struct rtune_error *err);
/* Read and judge the file at path. */
enum rtune_status rtune_image_load(const char *path, const struct rtune_schema *schema,
                                   struct rtune_image *image, struct rtune_error *err);
/* Open an image of a store: checked, and brought to the schema's version in memory if it is older.
 * With writable it is a private copy, else the image must outlive the connection. */
enum rtune_status rtune_image_open(const void *data, size_t size, const struct rtune_schema *schema,
                                   bool writable, sqlite3 **db, struct rtune_error *err);
/* Judge the file of an on-disk database (work, samples) the same way; *empty: missing or 0 bytes.
 */
enum rtune_status rtune_image_probe(const char *path, const struct rtune_schema *schema,
                                    bool *empty, struct rtune_error *err);

/* ---- merge.c, publish.c, lock.c -------------------------------------------------------------- */

/* Merge checked rows into an open store or work database, inside the caller's transaction. They
 * belong to the session `owner` (0: none). */
enum rtune_status rtune_merge_rows(sqlite3 *db, const struct rtune_table *table, int64_t owner,
                                   struct rtune_error *err);
/* Insert one session; its row's id. */
enum rtune_status rtune_merge_session(sqlite3 *db, const struct rtune_session *session, int64_t *id,
                                      struct rtune_error *err);
/* Insert or update one device; its row's id. */
enum rtune_status rtune_merge_device(sqlite3 *db, const struct rtune_identity *identity,
                                     int64_t *id, struct rtune_error *err);
/* rtune_store_merge with other means than the usual. */
enum rtune_status rtune_store_merge_with(const char *path, const struct rtune_table *table,
                                         const struct rtune_session *session,
                                         const struct rtune_db_io *io, struct rtune_error *err);

/* Replace the file at path: PATH.new written and synced, then renamed; the folder synced. */
enum rtune_status rtune_publish_file(const char *path, const void *data, size_t size, unsigned mode,
                                     const struct rtune_db_io *io, struct rtune_error *err);

struct rtune_lock {
    int fd; /* -1: not held */
};
/* Hold PATH.lock, which stays when the lock is released. LOCKED after wait_ms. */
enum rtune_status rtune_lock_take(const char *path, unsigned wait_ms, struct rtune_lock *lock,
                                  struct rtune_error *err);
void rtune_lock_release(struct rtune_lock *lock);

/* ---- paths.c --------------------------------------------------------------------------------- */

/* path + suffix into out. RANGE if it does not fit. */
enum rtune_status rtune_path_suffix(char out[RTUNE_DB_PATH], const char *path, const char *suffix,
                                    struct rtune_error *err);
/* Folder of a path ("." if it has none). */
enum rtune_status rtune_path_folder(char out[RTUNE_DB_PATH], const char *path,
                                    struct rtune_error *err);
/* INVALID if the path of a store is empty, RANGE if it is longer than RTUNE_STORE_PATH_MAX. */
enum rtune_status rtune_path_check(const char *store_path, struct rtune_error *err);
/* INVALID if a store at this path would be its own samples.db. */
enum rtune_status rtune_path_not_samples(const char *store_path, struct rtune_error *err);
/* Make the folder of a store and see that it can be written. */
enum rtune_status rtune_store_folder(const struct rtune_store_path *path, struct rtune_error *err);
/* Does the file system of a folder lack what WAL needs (shared memory, locks across hosts)? */
bool rtune_path_is_remote(const char *folder);
/* The same for an f_type of statfs(2). */
bool rtune_path_magic_is_remote(uint64_t magic);

/* ---- samples.c, work.c ----------------------------------------------------------------------- */

/* Copy what is new of the runs and trials of an open work database, which are of one device, into
 * the samples at path. */
enum rtune_status rtune_samples_merge(const char *path, sqlite3 *work,
                                      const struct rtune_identity *identity,
                                      const struct rtune_db_io *io, struct rtune_error *err);
/* Add a trial to a work or samples database, inside the caller's transaction. */
struct rtune_trial_key {
    int64_t session, seq, device; /* seq: 1, 2, ... within the session */
};
enum rtune_status rtune_trial_insert(sqlite3_stmt *insert, const struct rtune_trial_key *key,
                                     const struct rtune_trial *trial, struct rtune_error *err);
/* Step a bound SELECT of trials to its end and visit each. */
typedef enum rtune_status (*rtune_trial_row)(void *user, int64_t seq,
                                             const struct rtune_trial *trial,
                                             struct rtune_error *err);
enum rtune_status rtune_trial_walk(sqlite3_stmt *select, rtune_trial_row visit, void *user,
                                   struct rtune_error *err);
/* The same for a caller's visit. Messages get the path in front, unless they are the visit's. */
enum rtune_status rtune_trial_visit_all(sqlite3_stmt *select, const char *path,
                                        rtune_trial_visit visit, void *user,
                                        struct rtune_error *err);
/* Read or replace a session by its id. */
enum rtune_status rtune_session_find(sqlite3 *db, int64_t id, struct rtune_session *session,
                                     struct rtune_error *err);
enum rtune_status rtune_session_update(sqlite3 *db, const struct rtune_session *session,
                                       struct rtune_error *err);
/* rtune_work_open with other means than the usual. */
enum rtune_status rtune_work_open_with(rtune_work **work, const char *store_path,
                                       const struct rtune_identity *identity, bool resume,
                                       const struct rtune_db_io *io, struct rtune_error *err);

#endif /* RTUNE_DB_DB_INT_H */
