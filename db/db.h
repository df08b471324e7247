/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db/db.h: what is known. All SQL is in db/: typed rows go in and come out.
 *
 * Three kinds of file. The *store* (tune.db): devices, sessions and winners; read whole and
 * read-only by librtune, replaced whole by a rename, never written in place. The *samples*
 * (samples.db beside it): raw samples and failures of every session. A *work* database: the private
 * partial database of one running session, committed row by row, that publishing merges into the
 * two others.
 *
 * Arrays returned by a call are freed with the matching _free call, which accepts NULL.
 */
#ifndef RTUNE_DB_DB_H
#define RTUNE_DB_DB_H

#include "base/digest.h"
#include "base/err.h"
#include "base/log.h"
#include "kernels/kernels.h"

enum {
    RTUNE_DB_SCHEMA = 2,                 /* user_version of a store */
    RTUNE_DB_APPLICATION_ID = 0x72747531 /* "rtu1" */
};
#define RTUNE_DB_US_MAX 1e12                 /* a time in a store, microseconds: 11 days */
#define RTUNE_DB_STORE_MAX ((size_t)4 << 20) /* bytes of a store that readers accept */

/* ---- device identity ------------------------------------------------------------------------- */

/* The first part decides speed and is the key; the second is attributes. */
struct rtune_identity {
    bool cuda;
    /* cuda */
    int cc_major, cc_minor;
    uint32_t sm_count;
    uint64_t l2_bytes;
    uint32_t bus_bits;
    uint32_t memory_mhz; /* rounded to 50 */
    uint32_t sm_mhz;     /* maximum clock, rounded to 50 */
    bool mig;
    /* cpu */
    char model[64];
    char isa[16];
    uint32_t cores; /* usable by this process */
    uint64_t l1_bytes, l3_bytes;
    /* attributes */
    char name[256];
    char uuid[64];
    char pci[32];
    char driver[32];
    uint64_t memory_bytes;
    uint32_t power_mw; /* limit; 0: unknown */
    bool ecc;
};

enum { RTUNE_IDENTITY_KEY = 256 };
/* The key, from the first part, as in
 * "v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0".
 */
void rtune_identity_key(const struct rtune_identity *identity, char key[RTUNE_IDENTITY_KEY]);
/* Reads the key back into the first part; the attributes become empty. */
enum rtune_status rtune_identity_parse(const char *key, struct rtune_identity *identity,
                                       struct rtune_error *err);
/* Same key. */
bool rtune_identity_equal(const struct rtune_identity *a, const struct rtune_identity *b);
/* Same compute capability (cpu: same instruction set), so that a config of one can run on the
 * other. */
bool rtune_identity_similar(const struct rtune_identity *a, const struct rtune_identity *b);
/* 0 for equal keys, larger for more different hardware; only meaningful for similar ones. */
double rtune_identity_distance(const struct rtune_identity *a, const struct rtune_identity *b);

/* ---- rows ------------------------------------------------------------------------------------ */

/* One tuned size of one problem on one device, and the interval of n its config is served for. */
struct rtune_winner {
    struct rtune_problem problem; /* canonical; n is the tuned size */
    uint64_t n_from, n_to;        /* served interval, both inclusive */
    struct rtune_config config;
    double us, us_lo, us_hi; /* median and confidence interval at n */
    double default_us;       /* built-in default in the same measurement; 0: not measured */
    double floor_us;         /* floor model at n; 0: unknown */
    uint32_t kernel_abi;
    char source_hash[RTUNE_DIGEST_HEX];
    char cubin[RTUNE_DIGEST_HEX]; /* digest of the stored cubin; "" if none */
    char driver[32];              /* at tuning time */
    int64_t session;              /* id in the same database */
    uint32_t device;              /* index into the table's devices */
};

struct rtune_session {
    int64_t id;             /* set by the database */
    int64_t started, ended; /* Unix seconds; ended 0 while running */
    char tool_version[32];
    char source_hash[RTUNE_DIGEST_HEX];
    char driver[32];
    char nvrtc[32];
    uint32_t sm_mhz_start, sm_mhz_end, memory_mhz, temperature_c; /* 0: unknown */
    uint64_t seed;
    char effort[16];
    char outcome[16]; /* "running", "complete", "interrupted", "budget", "failed" */
};

/* Why a candidate did not count; "correct" is the absence of a failure. */
enum rtune_reason {
    RTUNE_REASON_CORRECT,
    RTUNE_REASON_TIMEOUT,
    RTUNE_REASON_COMPILE,
    RTUNE_REASON_RUNTIME,
    RTUNE_REASON_CORRECTNESS,
    RTUNE_REASON_CONSTRAINTS,
    RTUNE_REASON_COUNT
};
const char *rtune_reason_name(enum rtune_reason reason);

/* One measured (or failed) candidate at one size. */
struct rtune_trial {
    struct rtune_problem problem; /* canonical, with n */
    struct rtune_config config;
    enum rtune_reason reason;
    char detail[256];        /* of a failure: the driver's or compiler's word */
    double us, us_lo, us_hi; /* of the samples; 0 for a failure */
    const double *samples;   /* us, in the order taken; borrowed for the call */
    size_t sample_count;     /* at most 4096 */
};

/* An immutable copy of (a part of) some stores. */
struct rtune_table {
    struct rtune_identity *devices;
    size_t device_count;
    struct rtune_winner *winners; /* sorted by device, then rtune_problem_compare */
    size_t winner_count;
};
void rtune_table_free(struct rtune_table *table);

/* ---- where stores are ------------------------------------------------------------------------ */

enum rtune_store_kind { RTUNE_STORE_OPTION, RTUNE_STORE_ENV, RTUNE_STORE_USER, RTUNE_STORE_SYSTEM };
enum { RTUNE_STORE_PATH_MAX = 510 }; /* bytes */
struct rtune_store_path {
    enum rtune_store_kind kind;
    char path[RTUNE_STORE_PATH_MAX + 2]; /* one more tells a path that was cut */
};
/* Stores to read, best first: the option (may be NULL) alone, else RTUNE_DB alone, else the user
 * store and the system store. "none" in place of a path gives 0 paths. XDG_DATA_HOME, and HOME
 * where that is not used, count only if absolute; neither: no user store. Nothing is ever looked
 * for in the current or a temporary folder. A user store whose path does not fit is left out; a
 * path that is given and is empty or does not fit is cut so that rtune_store_read says so. */
enum { RTUNE_STORE_PATHS = 2 };
size_t rtune_store_paths(const char *option, struct rtune_store_path paths[RTUNE_STORE_PATHS]);
/* Does the option, or RTUNE_DB where it is NULL, say "none"? Then the shipped profiles are not used
 * either. */
bool rtune_store_is_none(const char *option);
/* The store that tune and import write: option, else RTUNE_DB, else the system store as
 * root, else the user store. Makes its folder (0755 for the system store, else 0700). NOT_FOUND,
 * with what to set, if there is none; INVALID for a samples.db; IO naming the path if its folder
 * cannot be made or written. */
enum rtune_status rtune_store_target(const char *option, struct rtune_store_path *path,
                                     struct rtune_error *err);
/* The same path, as root or not, but nothing is made or looked at. */
enum rtune_status rtune_store_choose(const char *option, bool root, struct rtune_store_path *path,
                                     struct rtune_error *err);

/* ---- reading --------------------------------------------------------------------------------- */

/* Read a store: O_NOFOLLOW and O_NONBLOCK, regular file, owned by root or this user and not
 * writable by others (else UNTRUSTED), at most RTUNE_DB_STORE_MAX bytes, deserialised read-only.
 * Rows of another kernel abi or with values that rtune_instance_check refuses are left out and
 * counted in *skipped (may be NULL). Errors: INVALID and RANGE for the path, NOT_FOUND, IO,
 * STORE_DAMAGED, STORE_FOREIGN, STORE_NEWER, STORE_UNTRUSTED, NO_MEMORY. */
enum rtune_status rtune_store_read(const char *path, struct rtune_table *table, size_t *skipped,
                                   struct rtune_error *err);
/* The same from bytes in memory (the shipped profiles). */
enum rtune_status rtune_store_read_image(const void *image, size_t size, struct rtune_table *table,
                                         size_t *skipped, struct rtune_error *err);
/* Sessions of a store, newest first, at most max. */
enum rtune_status rtune_store_sessions(const char *path, struct rtune_session *sessions, size_t max,
                                       size_t *count, struct rtune_error *err);

/* ---- writing --------------------------------------------------------------------------------- */

/* Merge a table into the store at path: under the store's lock re-read it (a damaged, foreign or
 * newer store is refused and left alone; an older one is migrated, the old file kept as PATH.v<N>),
 * replace the rows of the same device and problem that were tuned inside the new intervals and cut
 * those that reach into one (docs/STORE.md), check, fsync, keep the old file as PATH.1, rename,
 * fsync the folder. Winners' intervals of one problem must not overlap. session may be NULL, else
 * it owns the winners. LOCKED after 10 s of waiting. Errors also: INVALID, UNSUPPORTED and RANGE
 * for winners that may not be stored, or a store that would become larger than readers accept. */
enum rtune_status rtune_store_merge(const char *path, const struct rtune_table *table,
                                    const struct rtune_session *session, struct rtune_error *err);
/* Write a table as a fresh store image to a file (the shipped profiles, at build time).
 * Byte-identical for equal tables. */
enum rtune_status rtune_store_write_image(const char *path, const struct rtune_table *table,
                                          struct rtune_error *err);

typedef struct rtune_work rtune_work;

/* Open the work database of one device identity beside the store (STORE.work-<hash of the key>) and
 * hold the lock of that identity until it is closed (LOCKED at once if another process has it).
 * resume: keep the trials that are there; else start empty. */
enum rtune_status rtune_work_open(rtune_work **work, const char *store_path,
                                  const struct rtune_identity *identity, bool resume,
                                  struct rtune_error *err);
/* Does a work database of an unfinished session exist, and with how many trials? */
enum rtune_status rtune_work_peek(const char *store_path, const struct rtune_identity *identity,
                                  bool *exists, uint64_t *trials, struct rtune_error *err);
enum rtune_status rtune_work_begin(rtune_work *work, struct rtune_session *session,
                                   const char *config_text, struct rtune_error *err);
/* How much the last run in a work database has in common with a session that would begin now: the
 * kernels' source, the NVRTC and the driver, so that a trial of one holds for the other; and the
 * search space too. Both false for an empty one. */
struct rtune_work_match {
    bool kernels, space;
};
enum rtune_status rtune_work_compare(rtune_work *work, const struct rtune_session *session,
                                     const char *config_text, struct rtune_work_match *match,
                                     struct rtune_error *err);
/* Copy the trials of a work database in which no session has begun to samples.db, then empty it.
 * Its winners, if there are any, are dropped. */
enum rtune_status rtune_work_retire(rtune_work *work, struct rtune_error *err);
/* Store the session's fields again (clocks at its end, temperature); session->id stays. */
enum rtune_status rtune_work_update(rtune_work *work, const struct rtune_session *session,
                                    struct rtune_error *err);
/* Committed when the call returns. */
enum rtune_status rtune_work_add_trial(rtune_work *work, const struct rtune_trial *trial,
                                       struct rtune_error *err);
/* Committed when the call returns; by the rule of rtune_store_merge, newer rows replace older ones.
 * device and session of the rows are ignored: they are the work's. */
enum rtune_status rtune_work_add_winners(rtune_work *work, const struct rtune_winner *winners,
                                         size_t count, struct rtune_error *err);
/* Call visit for every trial of the same problem kind and n (every kind if problem is NULL), oldest
 * first; samples live for the visit only. A visit that does not return OK ends the walk. */
typedef enum rtune_status (*rtune_trial_visit)(void *user, const struct rtune_trial *trial,
                                               struct rtune_error *err);
enum rtune_status rtune_work_trials(rtune_work *work, const struct rtune_problem *problem,
                                    rtune_trial_visit visit, void *user, struct rtune_error *err);
/* Publish: end the session with an outcome, merge its winners into the store and its trials into
 * samples.db, in this order. keep: leave the work database for --resume; else delete it. It is also
 * left after a failure, and publishing again does what is still to do. */
enum rtune_status rtune_work_publish(rtune_work *work, const char *outcome, bool keep,
                                     struct rtune_error *err);
/* How many winners rtune_work_publish has put into the store: also if it failed after that, because
 * of samples.db. */
size_t rtune_work_published(const rtune_work *work);
void rtune_work_close(rtune_work *work);

/* Path of the samples that belong to a store: samples.db in its folder. */
enum rtune_status rtune_samples_path(const char *store_path, char *path, size_t size,
                                     struct rtune_error *err);
/* Could the trials of a session be recorded beside this store? Before they are measured: the errors
 * of rtune_store_read but for NOT_FOUND (it is made when it is needed). */
enum rtune_status rtune_samples_probe(const char *store_path, struct rtune_error *err);
/* Walk the recorded trials of a samples.db (replay, report), oldest first; identity_key NULL: of
 * all devices. */
enum rtune_status rtune_samples_read(const char *path, const char *identity_key,
                                     rtune_trial_visit visit, void *user, struct rtune_error *err);

/* ---- stored cubins --------------------------------------------------------------------------- */

/* Kept as files STORE.kernels/<digest of content>.cubin, 0644 in a folder of the store's owner. One
 * that is there, and passes the checks of reading, is left as it is. */
enum rtune_status rtune_cubin_write(const char *store_path, const void *image, size_t size,
                                    char digest[RTUNE_DIGEST_HEX], struct rtune_error *err);
/* Read and check: owner, mode, digest, ELF magic, at most 4 MiB. The caller frees *image with
 * free(). */
enum rtune_status rtune_cubin_read(const char *store_path, const char *digest, void **image,
                                   size_t *size, struct rtune_error *err);

#endif /* RTUNE_DB_DB_H */
