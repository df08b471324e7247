/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever lies where a store should be, rtune_open succeeds, says once what is wrong, creates
 * nothing, and the sum is right (cases E03, E11, E15 and E19 of the failures that others had).
 */
#include "tests/runtime/toy.h"

#include "base/buf.h"
#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct heard {
    unsigned warnings;
    char last[600];
};

static void hear(void *user, enum rtune_log_level level, const char *message) {
    struct heard *heard = user;
    if (level > RTUNE_LOG_WARN || strstr(message, "skipped") == NULL) return;
    heard->warnings++;
    snprintf(heard->last, sizeof heard->last, "%s", message);
}

static rtune *open_cpu(struct heard *heard) {
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_error err = {0};
    rtune *rt = NULL;
    memset(heard, 0, sizeof *heard);
    opts.device = "cpu";
    opts.log = hear;
    opts.log_user = heard;
    opts.threads = 1;
    if (rtune_open(&rt, &opts, &err) != RTUNE_OK) fail_msg("%s", err.message);
    return rt;
}

static void check_sum(rtune *rt) {
    const int32_t in[] = {5, 6, 7};
    int64_t out = 0;
    struct rtune_error err = {0};
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 3);
    struct rtune_args a = RTUNE_ARGS(in, &out);
    if (rtune_reduce(rt, &p, &a, NULL, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_int_equal(out, 18);
}

/* Open with RTUNE_DB at path. One warning with these words and the path, and the status is told. */
static void check_skipped(const char *path, enum rtune_status status) {
    struct heard heard;
    struct rtune_store_info info;
    struct stat before;
    struct stat after;
    const bool there = lstat(path, &before) == 0;
    setenv("RTUNE_DB", path, 1);
    rtune *rt = open_cpu(&heard);
    unsetenv("RTUNE_DB");
    check_sum(rt);
    assert_true(rtune_store_at(rt, 0, &info));
    if (info.status != status) {
        fail_msg("%s: %s, not %s: %s", path, rtune_status_name(info.status),
                 rtune_status_name(status), info.reason);
    }
    assert_string_equal(info.path, path);
    assert_int_equal(info.rows, 0);
    assert_int_equal(heard.warnings, status == RTUNE_NOT_FOUND ? 0 : 1);
    if (heard.warnings > 0 && !strstr(heard.last, path)) fail_msg("%s", heard.last);
    assert_true(info.reason[0] != '\0');
    assert_int_equal(lstat(path, &after) == 0, there); /* nothing made, nothing deleted */
    if (there) assert_int_equal(before.st_size, after.st_size);
    rtune_close(rt);
}

/* A store for this cpu, to be spoilt. */
static void write_good(const char *path) {
    struct rows rows = {0};
    struct rtune_identity cpu;
    struct rtune_error err = {0};
    if (rtune_device_cpu_identity(1, &cpu, &err) != RTUNE_OK) fail_msg("%s", err.message);
    rows_add(&rows, rows_device(&rows, &cpu), RTUNE_SUM, RTUNE_I32, 3, "grid=1");
    rows_write(&rows, path);
}

static void test_good(void **state) {
    (void)state;
    struct heard heard;
    struct rtune_store_info info;
    write_good(scratch_path("good.db"));
    setenv("RTUNE_DB", scratch_path("good.db"), 1);
    rtune *rt = open_cpu(&heard);
    unsetenv("RTUNE_DB");
    assert_int_equal(heard.warnings, 0);
    assert_true(rtune_store_at(rt, 0, &info));
    assert_int_equal(info.status, RTUNE_OK);
    assert_int_equal(info.rows, 1);
    check_served(rt, &RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 3), RTUNE_FROM_EXACT, "grid=1", "n=3");
    check_sum(rt);
    rtune_close(rt);
}

static void put(const char *path, const void *data, size_t size) {
    assert_int_equal(rtune_file_write(path, data, size, 0644, NULL), RTUNE_OK);
}

static void test_bad_files(void **state) {
    (void)state;
    struct rtune_buf good;
    const char *path = scratch_path("bad.db");
    write_good(path);
    assert_int_equal(rtune_file_read(path, 1 << 22, &good, NULL), RTUNE_OK);
    char *copy = malloc(good.size);
    assert_non_null(copy);
    check_skipped(scratch_path("absent.db"), RTUNE_NOT_FOUND);
    put(path, "", 0);
    check_skipped(path, RTUNE_STORE_DAMAGED);
    memset(copy, 0x5a, 4096);
    put(path, copy, 4096);
    check_skipped(path, RTUNE_STORE_FOREIGN);
    memcpy(copy, good.data, good.size);
    memset(copy + 100, 0x5a, good.size - 100);
    put(path, copy, good.size);
    check_skipped(path, RTUNE_STORE_DAMAGED);
    put(path, good.data, good.size / 2);
    check_skipped(path, RTUNE_STORE_DAMAGED);
    memcpy(copy, good.data, good.size);
    copy[63]++; /* user_version, big-endian at 60 of the SQLite header */
    put(path, copy, good.size);
    check_skipped(path, RTUNE_STORE_NEWER);
    memcpy(copy, good.data, good.size);
    copy[71]++; /* application_id */
    put(path, copy, good.size);
    check_skipped(path, RTUNE_STORE_FOREIGN);
    put(path, good.data, good.size);
    assert_int_equal(chmod(path, 0666), 0);
    check_skipped(path, RTUNE_STORE_UNTRUSTED);
    free(copy);
    rtune_buf_free(&good);
}

static void test_not_files(void **state) {
    (void)state;
    const char *path = scratch_path("folder.db");
    assert_int_equal(mkdir(path, 0755), 0);
    check_skipped(path, RTUNE_STORE_FOREIGN);
    path = scratch_path("fifo.db"); /* opening it must not wait for a writer */
    assert_int_equal(mkfifo(path, 0644), 0);
    check_skipped(path, RTUNE_STORE_FOREIGN);
    path = scratch_path("loop.db");
    assert_int_equal(symlink(path, path), 0);
    check_skipped(path, RTUNE_STORE_UNTRUSTED);
    check_skipped("/dev/zero", RTUNE_STORE_FOREIGN);
}

/* No home, an empty one, one that is not there, a relative one: nothing is made in the current
 * folder. */
static void test_environment(void **state) {
    (void)state;
    static const char *const homes[] = {NULL, "", "/nonexistent", "relative"};
    char *before = getcwd(NULL, 0);
    assert_non_null(before);
    assert_int_equal(mkdir(scratch_path("empty"), 0755), 0);
    assert_int_equal(chdir(scratch_path("empty")), 0);
    for (size_t h = 0; h < 4; h++) {
        for (size_t x = 0; x < 4; x++) {
            struct heard heard;
            if (homes[h])
                setenv("HOME", homes[h], 1);
            else
                unsetenv("HOME");
            if (homes[x])
                setenv("XDG_DATA_HOME", homes[x], 1);
            else
                unsetenv("XDG_DATA_HOME");
            rtune *rt = open_cpu(&heard);
            check_sum(rt);
            rtune_close(rt);
        }
    }
    DIR *dir = opendir(".");
    size_t entries = 0;
    assert_non_null(dir);
    while (readdir(dir))
        entries++;
    closedir(dir);
    assert_int_equal(entries, 2);
    assert_int_equal(chdir(before), 0);
    free(before);
    clean_environment();
}

/* Another process holds the store: reading takes no lock, and lookups never see the file. */
static void test_locked(void **state) {
    (void)state;
    struct heard heard;
    sqlite3 *holder = NULL;
    const char *path = scratch_path("locked.db");
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 3);
    write_good(path);
    assert_int_equal(sqlite3_open_v2(path, &holder, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(holder, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    const uint64_t start = rtune_clock_ns();
    setenv("RTUNE_DB", path, 1);
    rtune *rt = open_cpu(&heard);
    unsetenv("RTUNE_DB");
    assert_true(rtune_clock_ns() - start < UINT64_C(5000000000));
    const uint64_t lookups = rtune_clock_ns();
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(rtune_lookup(rt, &p, &launch, NULL), RTUNE_OK);
        if (i % 10 == 0) check_sum(rt);
    }
    assert_true(rtune_clock_ns() - lookups < UINT64_C(5000000000));
    rtune_close(rt);
    sqlite3_close(holder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),      cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_not_files), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_locked),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
