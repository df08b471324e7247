/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reading of regular files alone, and writing that is whole or not at all. */
#include "base/buf.h"
#include "tests/scratch_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch[SCRATCH_FOLDER];

static const char *at(const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
    return path;
}

static int make_scratch(void **state) {
    (void)state;
    return scratch_folder_make(scratch, "file");
}

static int remove_scratch(void **state) {
    (void)state;
    return scratch_folder_remove(scratch);
}

static void put(const char *name, const void *data, size_t size) {
    int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static size_t count_entries(void) {
    DIR *dir = opendir(scratch);
    size_t count = 0;
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2;
}

/* Reading what is at name fails with this status, an empty buffer, and a message with these words.
 */
static void check_refused(const char *path, size_t max, enum rtune_status status,
                          const char *words) {
    struct rtune_buf buf;
    struct rtune_error err;
    memset(&buf, 0xab, sizeof(buf)); /* initialised by the call */
    assert_int_equal(rtune_file_read(path, max, &buf, &err), status);
    if (strstr(err.message, words) == NULL || strstr(err.message, path) == NULL)
        fail_msg("%s", err.message);
    assert_null(buf.data);
    assert_int_equal(buf.size, 0);
    rtune_buf_free(&buf);
}

static void test_read(void **state) {
    (void)state;
    struct rtune_buf buf;
    char big[40000];
    for (size_t i = 0; i < sizeof(big); i++)
        big[i] = (char)(i * 31);
    put("big", big, sizeof(big));
    assert_int_equal(rtune_file_read(at("big"), sizeof(big), &buf, NULL), RTUNE_OK);
    assert_int_equal(buf.size, sizeof(big));
    assert_memory_equal(buf.data, big, sizeof(big));
    assert_int_equal(buf.data[buf.size], '\0');
    rtune_buf_free(&buf);
    put("empty", "", 0);
    assert_int_equal(rtune_file_read(at("empty"), 0, &buf, NULL), RTUNE_OK);
    assert_int_equal(buf.size, 0);
    assert_string_equal(buf.data, "");
    rtune_buf_free(&buf);
    /* A regular file that says size 0. */
    assert_int_equal(rtune_file_read("/proc/self/status", 65536, &buf, NULL), RTUNE_OK);
    assert_true(buf.size > 10);
    rtune_buf_free(&buf);
}

static void test_read_refused(void **state) {
    (void)state;
    put("eleven", "0123456789a", 11);
    check_refused(at("eleven"), 10, RTUNE_RANGE, "too large (at most 10 bytes)");
    check_refused(at("absent"), 10, RTUNE_NOT_FOUND, "No such file");
    check_refused(at("eleven/below"), 10, RTUNE_IO, "Not a directory");
    check_refused(scratch, 10, RTUNE_IO, "is a folder");
    check_refused("/dev/null", 10, RTUNE_IO, "not a regular file");
    check_refused("/dev/zero", 10, RTUNE_IO, "not a regular file");
    assert_int_equal(symlink("loop", at("loop")), 0);
    check_refused(at("loop"), 10, RTUNE_IO, "symbolic links");
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    alarm(20); /* a FIFO without a writer must not block */
    check_refused(at("fifo"), 10, RTUNE_IO, "not a regular file");
    alarm(0);
    unlink(at("fifo"));
    unlink(at("loop"));
}

/* A file that is cut while it is read gives the bytes that were there, never more and never a hang.
 */
static void test_read_truncated(void **state) {
    (void)state;
    char data[1 << 16];
    struct rtune_buf buf;
    memset(data, 'q', sizeof(data));
    put("cut", data, sizeof(data));
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 2000; i++)
            if (truncate(at("cut"), i % 2 == 0 ? 100 : (off_t)sizeof(data)) != 0) _exit(1);
        _exit(0);
    }
    int status = -1;
    size_t reads = 0;
    do {
        assert_int_equal(rtune_file_read(at("cut"), sizeof(data), &buf, NULL), RTUNE_OK);
        assert_true(buf.size >= 100 && buf.size <= sizeof(data));
        assert_int_equal(buf.data[99], 'q');
        rtune_buf_free(&buf);
        reads++;
    } while (waitpid(pid, &status, WNOHANG) == 0);
    assert_int_equal(status, 0);
    assert_true(reads > 0);
}

static void check_content(const char *name, const char *expected, unsigned mode) {
    struct rtune_buf buf;
    struct stat info;
    assert_int_equal(rtune_file_read(at(name), 1 << 20, &buf, NULL), RTUNE_OK);
    assert_string_equal(buf.data, expected);
    rtune_buf_free(&buf);
    assert_int_equal(stat(at(name), &info), 0);
    assert_int_equal(info.st_mode & 07777, mode);
}

static void test_write(void **state) {
    (void)state;
    mode_t mask = umask(027);
    assert_int_equal(rtune_file_write(at("new"), "one", 3, 0666, NULL), RTUNE_OK);
    umask(mask);
    check_content("new", "one", 0640);
    size_t entries = count_entries();
    assert_int_equal(rtune_file_write(at("new"), "two!", 4, 0600, NULL), RTUNE_OK);
    check_content("new", "two!", 0600);
    assert_int_equal(rtune_file_write(at("new"), NULL, 0, 0600, NULL), RTUNE_OK);
    check_content("new", "", 0600);
    assert_int_equal(count_entries(), entries); /* no temporary file stays */
    char before[4096];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(scratch), 0);
    assert_int_equal(rtune_file_write("bare", "x", 1, 0600, NULL), RTUNE_OK);
    assert_int_equal(chdir(before), 0);
    check_content("bare", "x", 0600);
}

static void test_write_link(void **state) {
    (void)state;
    struct stat info;
    put("real", "old", 3);
    assert_int_equal(symlink("real", at("link")), 0);
    assert_int_equal(rtune_file_write(at("link"), "new", 3, 0644, NULL), RTUNE_OK);
    check_content("real", "new", 0644);
    assert_int_equal(lstat(at("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
}

static void test_write_refused(void **state) {
    (void)state;
    struct rtune_error err;
    char deep[5000];
    size_t entries = count_entries();
    assert_int_equal(rtune_file_write(scratch, "x", 1, 0600, &err), RTUNE_IO);
    assert_non_null(strstr(err.message, "is not a regular file"));
    assert_int_equal(rtune_file_write("/dev/null", "x", 1, 0600, &err), RTUNE_IO);
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(rtune_file_write(at("absent/x"), "x", 1, 0600, &err), RTUNE_NOT_FOUND);
    assert_non_null(strstr(err.message, "absent/x: cannot create: No such file"));
    assert_int_equal(rtune_file_write("", "x", 1, 0600, &err), RTUNE_NOT_FOUND);
    memset(deep, 'd', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(rtune_file_write(deep, "x", 1, 0600, &err), RTUNE_IO);
    assert_int_equal(count_entries(), entries);
}

/* A write that fails half way (here at a file size limit) leaves the old file and nothing else. */
static void test_write_fails_whole(void **state) {
    (void)state;
    char data[8192];
    memset(data, 'n', sizeof(data));
    put("kept", "old", 3);
    size_t entries = count_entries();
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {4096, 4096};
        struct rtune_error err = {0};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
        enum rtune_status status = rtune_file_write(at("kept"), data, sizeof(data), 0600, &err);
        _exit(status == RTUNE_IO && strstr(err.message, "File too large") != NULL ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    check_content("kept", "old", 0644);
    assert_int_equal(count_entries(), entries);
}

/* Readers beside a writer see one whole version after another. */
static void test_write_atomic(void **state) {
    (void)state;
    enum { SIZE = 1 << 16, WRITES = 60 };
    static char data[SIZE];
    memset(data, 'a', SIZE);
    put("versions", data, SIZE);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 1; i <= WRITES; i++) {
            memset(data, 'a' + i % 26, SIZE);
            if (rtune_file_write(at("versions"), data, SIZE, 0600, NULL) != RTUNE_OK) _exit(1);
        }
        _exit(0);
    }
    int status = -1;
    do {
        struct rtune_buf buf;
        assert_int_equal(rtune_file_read(at("versions"), SIZE, &buf, NULL), RTUNE_OK);
        assert_int_equal(buf.size, SIZE);
        for (size_t i = 1; i < SIZE; i++)
            if (buf.data[i] != buf.data[0]) fail_msg("torn at byte %zu", i);
        rtune_buf_free(&buf);
    } while (waitpid(pid, &status, WNOHANG) == 0);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_refused),
        cmocka_unit_test(test_read_truncated),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_write_link),
        cmocka_unit_test(test_write_refused),
        cmocka_unit_test(test_write_fails_whole),
        cmocka_unit_test(test_write_atomic),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
