/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where stores are: the order of places, the variables that count, and folders that cannot be made.
 * Cases E01 (which file systems avoid WAL), E11 and E13.
 */
#include "tests/db/helper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void clear_environment(void) {
    assert_int_equal(unsetenv("RTUNE_DB"), 0);
    assert_int_equal(unsetenv("XDG_DATA_HOME"), 0);
    assert_int_equal(unsetenv("HOME"), 0);
}

static void order_of_places(void **state) {
    struct rtune_store_path paths[RTUNE_STORE_PATHS];
    (void)state;
    clear_environment();
    setenv("HOME", "/home/me", 1);
    assert_int_equal(rtune_store_paths(NULL, paths), 2);
    assert_int_equal(paths[0].kind, RTUNE_STORE_USER);
    assert_string_equal(paths[0].path, "/home/me/.local/share/rtune/tune.db");
    assert_int_equal(paths[1].kind, RTUNE_STORE_SYSTEM);
    assert_string_equal(paths[1].path, "/var/lib/rtune/tune.db");
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_int_equal(rtune_store_paths(NULL, paths), 2);
    assert_string_equal(paths[0].path, "/data/rtune/tune.db");
    setenv("RTUNE_DB", "/env.db", 1);
    assert_int_equal(rtune_store_paths(NULL, paths), 1);
    assert_int_equal(paths[0].kind, RTUNE_STORE_ENV);
    assert_string_equal(paths[0].path, "/env.db");
    assert_int_equal(rtune_store_paths("/option.db", paths), 1);
    assert_int_equal(paths[0].kind, RTUNE_STORE_OPTION);
    assert_string_equal(paths[0].path, "/option.db");
}

static void none_is_no_store(void **state) {
    struct rtune_store_path paths[RTUNE_STORE_PATHS], target;
    struct rtune_error err = {0};
    (void)state;
    clear_environment();
    setenv("HOME", "/home/me", 1);
    assert_int_equal(rtune_store_paths("none", paths), 0);
    assert_true(rtune_store_is_none("none"));
    assert_false(rtune_store_is_none(NULL));
    setenv("RTUNE_DB", "none", 1);
    assert_int_equal(rtune_store_paths(NULL, paths), 0);
    assert_true(rtune_store_is_none(NULL));
    assert_int_equal(rtune_store_paths("/option.db", paths), 1);
    assert_false(rtune_store_is_none("/option.db"));
    assert_status(RTUNE_NOT_FOUND, &err, rtune_store_target(NULL, &target, &err));
    assert_non_null(strstr(err.message, "RTUNE_DB=none"));
    assert_status(RTUNE_NOT_FOUND, &err, rtune_store_target("none", &target, &err));
}

/* Case E11. */
static void odd_environments(void **state) {
    struct rtune_store_path paths[RTUNE_STORE_PATHS], target;
    struct rtune_error err = {0};
    static const char *const bad[] = {"", "relative/path", ".", "./x"};
    (void)state;
    clear_environment();
    assert_int_equal(rtune_store_paths(NULL, paths), 1);
    assert_int_equal(paths[0].kind, RTUNE_STORE_SYSTEM);
    assert_status(RTUNE_NOT_FOUND, &err, rtune_store_choose(NULL, false, &target, &err));
    assert_non_null(strstr(err.message, "RTUNE_DB"));
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(bad); i++) {
        setenv("HOME", bad[i], 1);
        setenv("XDG_DATA_HOME", bad[i], 1);
        setenv("RTUNE_DB", "", 1);
        assert_int_equal(rtune_store_paths(NULL, paths), 1);
        assert_int_equal(paths[0].kind, RTUNE_STORE_SYSTEM);
        assert_status(RTUNE_NOT_FOUND, &err, rtune_store_choose(NULL, false, &target, &err));
    }
    setenv("HOME", "/home/me", 1); /* a relative XDG_DATA_HOME is as good as none */
    assert_int_equal(rtune_store_paths(NULL, paths), 2);
    assert_string_equal(paths[0].path, "/home/me/.local/share/rtune/tune.db");
}

/* What is given and is no path is not passed over: reading it fails, and says why. */
static void expect_no_path(const char *option, enum rtune_status expected) {
    struct rtune_store_path paths[RTUNE_STORE_PATHS], target;
    struct rtune_table table = {0};
    struct rtune_session session;
    struct rtune_error err = {0};
    size_t count = 0;
    assert_int_equal(rtune_store_paths(option, paths), 1);
    assert_int_equal(paths[0].kind, RTUNE_STORE_OPTION);
    assert_status(expected, &err, rtune_store_read(paths[0].path, &table, NULL, &err));
    assert_status(expected, &err, rtune_store_sessions(paths[0].path, &session, 1, &count, &err));
    if (expected == RTUNE_IO) return;
    assert_non_null(strstr(err.message, option[0] == '\0' ? "empty" : "at most 510 bytes"));
    assert_status(expected, &err, rtune_store_merge(option, &table, NULL, &err));
    assert_status(expected, &err, rtune_store_choose(option, false, &target, &err));
}

static void no_paths(void **state) {
    char longest[600];
    struct rtune_store_path paths[RTUNE_STORE_PATHS], target;
    struct rtune_error err = {0};
    (void)state;
    clear_environment();
    memset(longest, 'a', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    expect_no_path(longest, RTUNE_RANGE);
    longest[511] = '\0';
    expect_no_path(longest, RTUNE_RANGE);
    expect_no_path("", RTUNE_INVALID);
    longest[510] = '\0';
    expect_no_path(longest, RTUNE_IO); /* it is a path, if not one of this file system */
    assert_status(RTUNE_OK, &err, rtune_store_choose(longest, false, &target, &err));
    longest[510] = longest[511] = 'a';
    setenv("HOME", longest, 1);
    assert_int_equal(rtune_store_paths(NULL, paths), 1);
    assert_int_equal(paths[0].kind, RTUNE_STORE_SYSTEM);
    assert_status(RTUNE_NOT_FOUND, &err, rtune_store_choose(NULL, false, &target, &err));
}

static void who_writes_where(void **state) {
    struct rtune_store_path target;
    struct rtune_error err = {0};
    (void)state;
    clear_environment();
    setenv("HOME", "/home/me", 1);
    assert_status(RTUNE_OK, &err, rtune_store_choose(NULL, true, &target, &err));
    assert_string_equal(target.path, "/var/lib/rtune/tune.db");
    assert_int_equal(target.kind, RTUNE_STORE_SYSTEM);
    assert_status(RTUNE_OK, &err, rtune_store_choose(NULL, false, &target, &err));
    assert_string_equal(target.path, "/home/me/.local/share/rtune/tune.db");
    setenv("RTUNE_DB", "/env.db", 1);
    assert_status(RTUNE_OK, &err, rtune_store_choose(NULL, true, &target, &err));
    assert_string_equal(target.path, "/env.db");
    assert_status(RTUNE_OK, &err, rtune_store_choose("/option.db", true, &target, &err));
    assert_string_equal(target.path, "/option.db");
    assert_status(RTUNE_INVALID, &err, rtune_store_choose("", true, &target, &err));
}

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static void target_makes_its_folder(void **state) {
    struct rtune_store_path target;
    struct rtune_error err = {0};
    clear_environment();
    assert_status(RTUNE_OK, &err, rtune_store_target(in(state, "a/b/tune.db"), &target, &err));
    assert_int_equal(mode_of(in(state, "a/b")), 0700);
    assert_false(file_exists(in(state, "a/b/tune.db")));
    struct rtune_store_path system = {.kind = RTUNE_STORE_SYSTEM};
    strcpy(system.path, in(state, "var/lib/tune.db"));
    mode_t old = umask(0077);
    assert_status(RTUNE_OK, &err, rtune_store_folder(&system, &err));
    umask(old);
    assert_int_equal(mode_of(in(state, "var/lib")), 0755);
}

static void folder_that_cannot_be_made(void **state) {
    struct rtune_store_path target = {0};
    struct rtune_error err = {0};
    clear_environment();
    file_put(in(state, "file"), "x", 1);
    setenv("RTUNE_DB", in(state, "file/below/tune.db"), 1);
    assert_status(RTUNE_IO, &err, rtune_store_target(NULL, &target, &err));
    assert_non_null(strstr(err.message, in(state, "file/below")));
    assert_non_null(strstr(err.message, "RTUNE_DB"));
    assert_string_equal(target.path, "");
}

/* What an ordinary user sees of a folder that is not his to write. */
static int target_as_nobody(void *argument) {
    struct rtune_store_path target;
    struct rtune_error err = {0};
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 100;
    enum rtune_status status = rtune_store_target(argument, &target, &err);
    if (status == RTUNE_IO && strstr(err.message, argument) == NULL) return 101;
    return (int)status;
}

static void folder_that_cannot_be_written(void **state) {
    clear_environment();
    assert_int_equal(mkdir(in(state, "ro"), 0755), 0);
    assert_int_equal(chmod(in(state, "ro"), 0555), 0);
    assert_int_equal(in_child(target_as_nobody, (void *)(uintptr_t)in(state, "ro/tune.db")),
                     RTUNE_IO);
    assert_int_equal(in_child(target_as_nobody, (void *)(uintptr_t)in(state, "ro/x/tune.db")),
                     RTUNE_IO);
    assert_false(file_exists(in(state, "ro/x")));
}

/* Case E13: many processes at once, no folder yet. */
static int make_target(void *argument) {
    struct rtune_store_path target;
    return (int)rtune_store_target(argument, &target, NULL);
}

static void folder_race(void **state) {
    enum { CHILDREN = 64 };
    int pids[CHILDREN];
    clear_environment();
    char *path = strdup(in(state, "p/q/r/s/tune.db"));
    for (int i = 0; i < CHILDREN; i++)
        pids[i] = child_start(make_target, path);
    for (int i = 0; i < CHILDREN; i++)
        assert_int_equal(child_wait(pids[i]), RTUNE_OK);
    assert_int_equal(mode_of(in(state, "p/q/r/s")), 0700);
    free(path);
}

/* Case E01. */
static void network_file_systems(void **state) {
    static const uint64_t remote[] = {0x6969, 0x65735546, 0x0bd00bd0, 0xff534d42, 0xfe534d42};
    static const uint64_t local[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(remote); i++)
        assert_true(rtune_path_magic_is_remote(remote[i]));
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(local); i++)
        assert_false(rtune_path_magic_is_remote(local[i]));
    /* statfs gives a signed number on some machines. */
    assert_true(rtune_path_magic_is_remote((uint64_t)(int64_t)(int32_t)0xff534d42));
    assert_true(rtune_path_is_remote(in(state, "not-there")));
}

static void parts_of_paths(void **state) {
    char out[RTUNE_DB_PATH], longest[RTUNE_DB_PATH];
    struct rtune_error err = {0};
    (void)state;
    assert_int_equal(rtune_path_folder(out, "/a/b", &err), RTUNE_OK);
    assert_string_equal(out, "/a");
    assert_int_equal(rtune_path_folder(out, "/a", &err), RTUNE_OK);
    assert_string_equal(out, "/");
    assert_int_equal(rtune_path_folder(out, "a", &err), RTUNE_OK);
    assert_string_equal(out, ".");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_status(RTUNE_RANGE, &err, rtune_path_suffix(out, longest, ".1", &err));
    assert_status(RTUNE_OK, &err, rtune_samples_path("/a/tune.db", out, sizeof out, &err));
    assert_string_equal(out, "/a/samples.db");
    assert_status(RTUNE_RANGE, &err, rtune_samples_path("/a/tune.db", out, 8, &err));
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_places),
        cmocka_unit_test(none_is_no_store),
        cmocka_unit_test(odd_environments),
        cmocka_unit_test(no_paths),
        cmocka_unit_test(who_writes_where),
        SCRATCH(target_makes_its_folder),
        SCRATCH(folder_that_cannot_be_made),
        SCRATCH(folder_that_cannot_be_written),
        SCRATCH(folder_race),
        SCRATCH(network_file_systems),
        cmocka_unit_test(parts_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
