/* SPDX-License-Identifier: Apache-2.0 */
/* Making folders, also by many processes at once, and joining paths. */
#include "base/buf.h"
#include "tests/scratch_folder.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch[SCRATCH_FOLDER];

static int make_scratch(void **state) {
    (void)state;
    return scratch_folder_make(scratch, "folder");
}

static int remove_scratch(void **state) {
    (void)state;
    return scratch_folder_remove(scratch);
}

static void check_folder(const char *name, unsigned mode) {
    char path[512];
    struct stat info;
    snprintf(path, sizeof(path), "%s/%s", scratch, name);
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(info.st_mode & 07777, mode);
}

static void test_make(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s/a//b/c/", scratch);
    assert_int_equal(rtune_folder_make(path, 0700, NULL), RTUNE_OK);
    check_folder("a", 0700);
    check_folder("a/b/c", 0700);
    assert_int_equal(rtune_folder_make(path, 0755, NULL), RTUNE_OK);
    check_folder("a/b/c", 0700); /* what is there keeps its mode */
    assert_int_equal(rtune_folder_make("/", 0700, NULL), RTUNE_OK);
    snprintf(path, sizeof(path), "%s/link", scratch);
    assert_int_equal(symlink("a", path), 0);
    strcat(path, "/d");
    assert_int_equal(rtune_folder_make(path, 0700, NULL), RTUNE_OK);
    check_folder("a/d", 0700);
}

static void test_refused(void **state) {
    (void)state;
    char path[512], deep[5000];
    struct rtune_error err;
    snprintf(path, sizeof(path), "%s/file", scratch);
    assert_int_equal(rtune_file_write(path, "", 0, 0600, NULL), RTUNE_OK);
    assert_int_equal(rtune_folder_make(path, 0700, &err), RTUNE_IO);
    assert_non_null(strstr(err.message, "/file: cannot make the folder: Not a directory"));
    strcat(path, "/below/it");
    assert_int_equal(rtune_folder_make(path, 0700, &err), RTUNE_IO);
    assert_non_null(strstr(err.message, "/file: cannot make the folder: Not a directory"));
    assert_int_equal(rtune_folder_make("/proc/rtune", 0700, &err), RTUNE_IO);
    assert_non_null(strstr(err.message, "/proc/rtune: cannot make the folder"));
    assert_int_equal(rtune_folder_make("", 0700, &err), RTUNE_INVALID);
    memset(deep, 'd', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(rtune_folder_make(deep, 0700, &err), RTUNE_RANGE);
}

/* Started together by closing a pipe, all processes must succeed. */
static void test_race(void **state) {
    (void)state;
    enum { PROCESSES = 64 };
    char path[512];
    int gate[2];
    snprintf(path, sizeof(path), "%s/race/1/2/3/4", scratch);
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            char byte;
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0) _exit(2);
            _exit(rtune_folder_make(path, 0700, NULL) == RTUNE_OK ? 0 : 1);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    check_folder("race", 0700);
    check_folder("race/1/2/3/4", 0700);
}

static void test_join(void **state) {
    (void)state;
    char out[10];
    struct rtune_error err;
    assert_int_equal(rtune_path_join(out, sizeof(out), "/a", "b", NULL), RTUNE_OK);
    assert_string_equal(out, "/a/b");
    assert_int_equal(rtune_path_join(out, sizeof(out), "/a/", "b", NULL), RTUNE_OK);
    assert_string_equal(out, "/a/b");
    assert_int_equal(rtune_path_join(out, sizeof(out), "", "b", NULL), RTUNE_OK);
    assert_string_equal(out, "b");
    assert_int_equal(rtune_path_join(out, sizeof(out), "/4567", "890", NULL), RTUNE_OK);
    assert_string_equal(out, "/4567/890");
    assert_int_equal(rtune_path_join(out, sizeof(out), "/4567", "8901", &err), RTUNE_RANGE);
    assert_string_equal(err.message, "path is too long (10 bytes, at most 9): /4567/8901");
    assert_string_equal(out, "/4567/890");
    strcpy(out, "/x");
    assert_int_equal(rtune_path_join(out, sizeof(out), out, "y", NULL), RTUNE_OK);
    assert_string_equal(out, "/x/y");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_join),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
