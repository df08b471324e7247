/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files at a store's path that are no good store: each is refused by readers and writers alike,
 * with the status that says why, and is left as it is. Cases E03, E11 (read-only folders, other
 * users) and E15.
 */
#include "base/rng.h"
#include "tests/db/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* Reading, listing and merging all fail alike, name the file, and leave nothing behind. */
static void expect_refused(const char *path, enum rtune_status expected, const char *words) {
    struct rtune_identity device = make_device(7);
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct rtune_table table = {&device, 1, &winner, 1}, read = {0};
    struct rtune_session session;
    struct rtune_error err = {0};
    char other[RTUNE_DB_PATH];
    size_t skipped = 77, count = 77;
    assert_status(expected, &err, rtune_store_read(path, &read, &skipped, &err));
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\" not in \"%s\"", words, err.message);
    assert_non_null(strstr(err.message, path));
    assert_null(read.winners);
    assert_int_equal(skipped, 77);
    assert_status(expected, &err, rtune_store_sessions(path, &session, 1, &count, &err));
    assert_int_equal(count, 77);
    assert_status(expected, &err, rtune_store_merge(path, &table, NULL, &err));
    assert_non_null(strstr(err.message, path));
    snprintf(other, sizeof other, "%s.1", path);
    assert_false(file_exists(other));
    snprintf(other, sizeof other, "%s.new", path);
    assert_false(file_exists(other));
}

/* The same for a regular file, whose bytes stay. */
static void expect_kept(const char *path, enum rtune_status expected, const char *words) {
    size_t size;
    unsigned char *before = file_get(path, &size);
    expect_refused(path, expected, words);
    assert_true(file_same(path, before, size));
    free(before);
}

static void put_good(const char *path) {
    struct rtune_winner winners[40];
    for (size_t i = 0; i < 40; i++)
        winners[i] = make_winner(10 * i + 5, 10 * i, 10 * i + 9, 1);
    put(path, 0, winners, 40);
}

static void not_a_database(void **state) {
    unsigned char noise[4096];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)rtune_rng_at(1, i);
    file_put(in(state, "empty"), "", 0);
    expect_kept(in(state, "empty"), RTUNE_STORE_DAMAGED, "is empty");
    file_put(in(state, "noise"), noise, sizeof noise);
    expect_kept(in(state, "noise"), RTUNE_STORE_FOREIGN, "not an SQLite database");
    file_put(in(state, "text"), "hello", 5);
    expect_kept(in(state, "text"), RTUNE_STORE_FOREIGN, "not an SQLite database");
    file_put(in(state, "short"), "SQLite format 3", 16);
    expect_kept(in(state, "short"), RTUNE_STORE_DAMAGED, "header");
    shell(in(state, "other"), "PRAGMA application_id = 7; CREATE TABLE t (a)");
    expect_kept(in(state, "other"), RTUNE_STORE_FOREIGN, "0x00000007");
}

static void damaged_content(void **state) {
    size_t size;
    put_good(in(state, "good"));
    unsigned char *good = file_get(in(state, "good"), &size), *bad = malloc(size + 4096);
    assert_non_null(bad);
    file_put(in(state, "half"), good, size / 2);
    expect_kept(in(state, "half"), RTUNE_STORE_DAMAGED, "truncated");
    file_put(in(state, "page-less"), good, size - 4096);
    expect_kept(in(state, "page-less"), RTUNE_STORE_DAMAGED, "truncated");
    memcpy(bad, good, size);
    memset(bad + size, 0, 4096);
    file_put(in(state, "longer"), bad, size + 4096);
    expect_kept(in(state, "longer"), RTUNE_STORE_DAMAGED, "added to");
    for (size_t i = 100; i < size; i++)
        bad[i] = (unsigned char)rtune_rng_at(2, i);
    file_put(in(state, "garbage"), bad, size);
    expect_kept(in(state, "garbage"), RTUNE_STORE_DAMAGED, "SQLite");
    memcpy(bad, good, size);
    for (size_t i = 4096; i < size; i++)
        bad[i] = (unsigned char)rtune_rng_at(3, i);
    file_put(in(state, "tail"), bad, size);
    expect_kept(in(state, "tail"), RTUNE_STORE_DAMAGED, "SQLite");
    memcpy(bad, good, size);
    bad[16] = 3, bad[17] = 3;
    file_put(in(state, "page-size"), bad, size);
    expect_kept(in(state, "page-size"), RTUNE_STORE_DAMAGED, "page size");
    free(bad);
    free(good);
}

static void odd_databases(void **state) {
    static const struct {
        const char *sql, *words;
    } cases[] = {
        {"PRAGMA journal_mode = WAL", "WAL"},
        {"CREATE VIEW v AS SELECT 1", "views"},
        {"CREATE TRIGGER t AFTER DELETE ON winner BEGIN SELECT 1; END", "triggers"},
        {"ALTER TABLE winner RENAME TO w; CREATE VIEW winner AS SELECT * FROM w", "views"},
        {"CREATE VIRTUAL TABLE f USING fts5(a)", "virtual"},
        {"DROP TABLE winner", "no such table"},
        {"ALTER TABLE device RENAME COLUMN uuid TO guid", "no such column"},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        struct rtune_table read = {0};
        struct rtune_error err = {0};
        char name[16];
        snprintf(name, sizeof name, "%zu.db", i);
        put_good(in(state, name));
        shell(in(state, name), cases[i].sql);
        assert_status(RTUNE_STORE_DAMAGED, &err,
                      rtune_store_read(in(state, name), &read, NULL, &err));
        if (strstr(err.message, cases[i].words) == NULL)
            fail_msg("\"%s\" not in \"%s\"", cases[i].words, err.message);
    }
}

/* What a killed sqlite3 leaves: the store may be half a change, or get another one later. */
static void interrupted_changes(void **state) {
    static const char *const suffixes[] = {"-journal", "-wal"};
    static const char hot[] = "\xd9\xd5\x05\xf9", done[] = "\0\0\0\0";
    const char *path = in(state, "tune.db");
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct rtune_identity device = make_device(7);
    struct rtune_table table = {&device, 1, &winner, 1};
    struct rtune_error err = {0};
    char beside[RTUNE_DB_PATH];
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(suffixes); i++) {
        snprintf(beside, sizeof beside, "%s%s", path, suffixes[i]);
        file_put(beside, hot, sizeof hot - 1);
        /* Where there is no store yet, SQLite could bring the change into a new one. */
        assert_status(RTUNE_STORE_DAMAGED, &err, rtune_store_merge(path, &table, NULL, &err));
        assert_false(file_exists(path));
        assert_int_equal(unlink(beside), 0);
        put_good(path);
        file_put(beside, hot, sizeof hot - 1);
        expect_kept(path, RTUNE_STORE_DAMAGED, suffixes[i]);
        expect_kept(path, RTUNE_STORE_DAMAGED, "sqlite3");
        file_put(beside, hot, 0);
        put(path, 7, &winner, 1);
        if (i == 0) { /* a journal that is done with, as PRAGMA journal_mode = PERSIST leaves it */
            file_put(beside, done, sizeof done - 1);
            put(path, 7, &winner, 1);
        }
        assert_int_equal(unlink(beside), 0);
        assert_int_equal(unlink(path), 0);
        snprintf(beside, sizeof beside, "%s.1", path);
        assert_int_equal(unlink(beside), 0);
    }
}

/* The real thing: killed in the middle of a transaction that has spilled into the file. */
static int die_in_a_change(void *path) {
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK) return 1;
    if (sqlite3_exec(db,
                     "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; "
                     "UPDATE winner SET block = 64; "
                     "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
                     "FROM c LIMIT 2000) SELECT x, hex(zeroblob(100)) FROM c",
                     NULL, NULL, NULL) != SQLITE_OK)
        return 2;
    _exit(0); /* neither commits nor rolls back */
}

static void half_a_transaction(void **state) {
    const char *path = in(state, "tune.db");
    put_good(path);
    assert_int_equal(in_child(die_in_a_change, (void *)(uintptr_t)path), 0);
    assert_true(file_exists(in(state, "tune.db-journal")));
    expect_kept(path, RTUNE_STORE_DAMAGED, "interrupted change");
    shell(path, "SELECT count(*) FROM winner"); /* as the message says */
    struct rtune_table table = get(path);
    assert_true(table.winner_count > 0);
    for (size_t i = 0; i < table.winner_count; i++)
        assert_int_not_equal(table.winners[i].config.block, 64);
    rtune_table_free(&table);
}

static void too_large(void **state) {
    const char *path = in(state, "tune.db");
    put_good(path);
    assert_int_equal(truncate(path, (off_t)RTUNE_DB_STORE_MAX + 4096), 0);
    expect_kept(path, RTUNE_STORE_DAMAGED, "larger");
}

static void not_a_file(void **state) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    alarm(60); /* whatever blocks is killed */
    assert_int_equal(mkdir(in(state, "folder"), 0755), 0);
    expect_refused(in(state, "folder"), RTUNE_STORE_FOREIGN, "folder");
    assert_int_equal(mkfifo(in(state, "fifo"), 0600), 0);
    expect_refused(in(state, "fifo"), RTUNE_STORE_FOREIGN, "regular file");
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", (const char *)*state);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    expect_refused(in(state, "s"), RTUNE_STORE_FOREIGN, "regular file");
    close(fd);
    alarm(0);
}

static void links(void **state) {
    put_good(in(state, "good"));
    assert_int_equal(symlink(in(state, "good"), in(state, "link")), 0);
    expect_refused(in(state, "link"), RTUNE_STORE_UNTRUSTED, "symbolic link");
    assert_int_equal(symlink(in(state, "b"), in(state, "a")), 0);
    assert_int_equal(symlink(in(state, "a"), in(state, "b")), 0);
    expect_refused(in(state, "a"), RTUNE_STORE_UNTRUSTED, "symbolic link");
    assert_int_equal(symlink(in(state, "nowhere"), in(state, "dangling")), 0);
    expect_refused(in(state, "dangling"), RTUNE_STORE_UNTRUSTED, "symbolic link");
    assert_false(file_exists(in(state, "nowhere")));
    /* A folder on the way may be one: homes often are. */
    assert_int_equal(symlink((const char *)*state, in(state, "way")), 0);
    struct rtune_table table = get(in(state, "way/good"));
    assert_int_equal(table.winner_count, 40);
    rtune_table_free(&table);
}

static void others_may_write(void **state) {
    const char *path = in(state, "tune.db");
    put_good(path);
    assert_int_equal(chmod(path, 0646), 0);
    expect_kept(path, RTUNE_STORE_UNTRUSTED, "chmod");
    assert_int_equal(chmod(path, 0664), 0);
    expect_kept(path, RTUNE_STORE_UNTRUSTED, "chmod");
    assert_int_equal(chmod(path, 0444), 0);
    struct rtune_table table = get(path);
    rtune_table_free(&table);
}

static void missing(void **state) {
    struct rtune_table read = {0};
    struct rtune_error err = {0};
    assert_status(RTUNE_NOT_FOUND, &err, rtune_store_read(in(state, "no.db"), &read, NULL, &err));
    file_put(in(state, "file"), "x", 1);
    assert_status(RTUNE_NOT_FOUND, &err,
                  rtune_store_read(in(state, "file/tune.db"), &read, NULL, &err));
    assert_false(file_exists(in(state, "no.db")));
    assert_false(file_exists(in(state, "no.db.lock"))); /* reading makes nothing */
}

/* ---- other users ----------------------------------------------------------------------------- */

struct attempt {
    const char *path;
    const char *words;
    bool merge;
};

/* Exit status: the enum rtune_status, or 100 and more. */
static int try_as_nobody(void *argument) {
    const struct attempt *attempt = argument;
    struct rtune_identity device = make_device(7);
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct rtune_table table = {&device, 1, &winner, 1}, read = {0};
    struct rtune_error err = {0};
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) return 100;
    enum rtune_status status = attempt->merge ? rtune_store_merge(attempt->path, &table, NULL, &err)
                                              : rtune_store_read(attempt->path, &read, NULL, &err);
    if (attempt->words != NULL && strstr(err.message, attempt->words) == NULL) return 101;
    rtune_table_free(&read);
    return (int)status;
}

static void another_owner(void **state) {
    const char *path = in(state, "tune.db");
    struct attempt attempt = {path, "belongs to user", false};
    if (geteuid() != 0) skip(); /* only root can give a file away */
    put_good(path);
    assert_int_equal(in_child(try_as_nobody, &(struct attempt){path, NULL, false}), RTUNE_OK);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(in_child(try_as_nobody, &attempt), RTUNE_STORE_UNTRUSTED);
    expect_kept(path, RTUNE_STORE_UNTRUSTED, "belongs to user 12345"); /* root is no exception */
    assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    assert_int_equal(in_child(try_as_nobody, &(struct attempt){path, NULL, false}), RTUNE_OK);
}

static void not_readable(void **state) {
    const char *path = in(state, "tune.db");
    struct attempt attempt = {path, "cannot open", false};
    put_good(path);
    assert_int_equal(chmod(path, 0000), 0);
    assert_int_equal(in_child(try_as_nobody, &attempt), RTUNE_IO);
}

static void read_only_folder(void **state) {
    const char *path = in(state, "ro/tune.db");
    struct attempt attempt = {path, path, true};
    assert_int_equal(mkdir(in(state, "ro"), 0755), 0);
    put_good(path);
    assert_int_equal(unlink(in(state, "ro/tune.db.lock")), 0);
    assert_int_equal(chmod(in(state, "ro"), 0555), 0);
    assert_int_equal(in_child(try_as_nobody, &(struct attempt){path, NULL, false}), RTUNE_OK);
    assert_int_equal(in_child(try_as_nobody, &attempt), RTUNE_IO);
    assert_int_equal(chmod(in(state, "ro"), 0755), 0);
}

/* ---- formats --------------------------------------------------------------------------------- */

static void newer_format(void **state) {
    const char *path = in(state, "tune.db");
    put_good(path);
    shell(path, "ALTER TABLE winner ADD COLUMN colour TEXT; PRAGMA user_version = 3");
    expect_kept(path, RTUNE_STORE_NEWER, "format 3");
}

static void no_format(void **state) {
    put_good(in(state, "zero"));
    shell(in(state, "zero"), "PRAGMA user_version = 0");
    expect_kept(in(state, "zero"), RTUNE_STORE_DAMAGED, "format");
    put_good(in(state, "minus"));
    shell(in(state, "minus"), "PRAGMA user_version = -1");
    expect_kept(in(state, "minus"), RTUNE_STORE_DAMAGED, "format");
}

/* A later release: one more step, one more column. */
static const struct rtune_schema *later_schema(void) {
    static const char *const more[] = {
        "ALTER TABLE session ADD COLUMN note TEXT NOT NULL DEFAULT 'x'", NULL};
    static const char *const *steps[RTUNE_DB_SCHEMA + 1];
    static struct rtune_schema later;
    later = *rtune_schema_store();
    memcpy(steps, later.steps, RTUNE_DB_SCHEMA * sizeof steps[0]);
    steps[RTUNE_DB_SCHEMA] = more;
    later.steps = steps;
    later.version = RTUNE_DB_SCHEMA + 1;
    return &later;
}

static void older_format(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_db_io later = rtune_db_io_default();
    struct rtune_identity device = make_device(1);
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct rtune_session session = make_session("quick");
    struct rtune_table table = {&device, 1, &winner, 1};
    struct rtune_image image = {0};
    struct rtune_error err = {0};
    sqlite3 *db = NULL;
    int64_t version = 0;
    size_t size;
    later.store = later_schema();
    put_good(path);
    unsigned char *old = file_get(path, &size);
    /* Readers bring it up to date in memory. */
    assert_status(RTUNE_OK, &err, rtune_image_load(path, later.store, &image, &err));
    assert_status(RTUNE_OK, &err,
                  rtune_image_open(image.data, image.size, later.store, false, &db, &err));
    assert_int_equal(rtune_sql_number(db, RTUNE_SQL_USER_VERSION, &version, NULL), RTUNE_OK);
    assert_int_equal(version, later.store->version);
    rtune_sql_close(db);
    rtune_image_free(&image);
    assert_true(file_same(path, old, size));
    /* A merge does it for good, once, and keeps the old file. */
    assert_status(RTUNE_OK, &err, rtune_store_merge_with(path, &table, &session, &later, &err));
    assert_true(file_same(in(state, "tune.db.v2"), old, size));
    assert_true(file_same(in(state, "tune.db.1"), old, size));
    assert_int_equal(unlink(in(state, "tune.db.v2")), 0);
    assert_status(RTUNE_OK, &err, rtune_store_merge_with(path, &table, &session, &later, &err));
    assert_false(file_exists(in(state, "tune.db.v2")));
    /* Nothing was lost, and this release does not touch it. */
    assert_status(RTUNE_OK, &err, rtune_image_load(path, later.store, &image, &err));
    assert_int_equal(image.version, later.store->version);
    assert_status(RTUNE_OK, &err,
                  rtune_image_open(image.data, image.size, later.store, false, &db, &err));
    struct rtune_table all = {0};
    assert_status(RTUNE_OK, &err, rtune_table_read(db, &all, NULL, &err));
    assert_int_equal(all.winner_count, 41);
    rtune_table_free(&all);
    rtune_sql_close(db);
    rtune_image_free(&image);
    assert_int_equal(unlink(in(state, "tune.db.1")), 0);
    expect_kept(path, RTUNE_STORE_NEWER, "format 3");
    free(old);
}

/* A store of the first format, which knew no extra. */
static void put_format_1(const char *path) {
    static const char rows[] =
        "INSERT INTO device VALUES (1, '%s', 'a', 'b', 'c', '1', 1, 1, 0);"
        "INSERT INTO winner VALUES (1, 'sum', 'f32', 'wide', 'plain', 'propagate', 0, 'cold', 1000,"
        " 1, 2000, 'cascaded', 256, 16, '4xsm', 'plain', 'last', 'strip', 0, 3, 2, 4, 5, 1, %d, '',"
        " '', '1', NULL)";
    const struct rtune_identity device = make_device(1);
    struct rtune_schema first = *rtune_schema_store();
    struct rtune_error err = {0};
    char key[RTUNE_IDENTITY_KEY], script[sizeof rows + sizeof key + 16];
    sqlite3 *db = NULL;
    first.version = 1;
    rtune_identity_key(&device, key);
    snprintf(script, sizeof script, rows, key, RTUNE_KERNEL_ABI);
    assert_status(RTUNE_OK, &err, rtune_sql_open(path, RTUNE_SQL_WRITE, &db, &err));
    assert_status(RTUNE_OK, &err, rtune_schema_apply(db, &first, 0, &err));
    assert_status(RTUNE_OK, &err, rtune_sql_script(db, script, &err));
    rtune_sql_close(db);
    assert_int_equal(chmod(path, 0600), 0);
}

static void first_format(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_identity device = make_device(1);
    struct rtune_winner winner = make_winner(5000, 4000, 9000, 1);
    struct rtune_session session = make_session("quick");
    struct rtune_table table = {&device, 1, &winner, 1}, read = {0};
    struct rtune_error err = {0};
    size_t skipped = 9;
    winner.config.finish = RTUNE_FINISH_CLUSTER;
    winner.config.extra = 4;
    put_format_1(path);
    assert_status(RTUNE_OK, &err, rtune_store_read(path, &read, &skipped, &err));
    assert_int_equal(skipped, 0);
    assert_int_equal(read.winner_count, 1);
    assert_int_equal(read.winners[0].config.finish, RTUNE_FINISH_LAST);
    assert_int_equal(read.winners[0].config.extra, 0);
    rtune_table_free(&read);
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, &session, &err));
    assert_true(file_exists(in(state, "tune.db.v1")));
    assert_status(RTUNE_OK, &err, rtune_store_read(path, &read, &skipped, &err));
    assert_int_equal(read.winner_count, 2);
    assert_int_equal(read.winners[0].config.extra, 0);
    assert_int_equal(read.winners[1].config.extra, 4);
    rtune_table_free(&read);
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(not_a_database),     SCRATCH(damaged_content),  SCRATCH(odd_databases),
        SCRATCH(too_large),          SCRATCH(not_a_file),       SCRATCH(links),
        SCRATCH(others_may_write),   SCRATCH(missing),          SCRATCH(another_owner),
        SCRATCH(not_readable),       SCRATCH(read_only_folder), SCRATCH(newer_format),
        SCRATCH(no_format),          SCRATCH(older_format),     SCRATCH(interrupted_changes),
        SCRATCH(half_a_transaction), SCRATCH(first_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
