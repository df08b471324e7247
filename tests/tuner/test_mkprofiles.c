/* SPDX-License-Identifier: Apache-2.0 */
/* The build tool rtune_mkprofiles (argument 1): profiles in, one store image out, or a place and
 * exit 1. */
#include "base/buf.h"
#include "profile_fixture.h"
#include "tests/scratch_folder.h"
#include "tuner/profile.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *tool;
static char scratch[SCRATCH_FOLDER];

static const char *at(const char *name) {
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
    return path;
}

static int make_scratch(void **state) {
    (void)state;
    return scratch_folder_make(scratch, "mkprofiles");
}

static int remove_scratch(void **state) {
    (void)state;
    return scratch_folder_remove(scratch);
}

static void put(const char *name, const char *text) {
    assert_int_equal(rtune_file_write(at(name), text, strlen(text), 0644, NULL), RTUNE_OK);
}

/* Exit status of the tool; stderr goes to the file "errors". */
static int run(const char *out, const char *a, const char *b) {
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(at("errors"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || dup2(fd, 2) != 2) _exit(127);
        execl(tool, tool, out, a, a == NULL ? NULL : b, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_errors(const char *words) {
    struct rtune_buf text;
    assert_int_equal(rtune_file_read(at("errors"), 65536, &text, NULL), RTUNE_OK);
    if (strstr(text.data, words) == NULL) fail_msg("no \"%s\" in: %s", words, text.data);
    rtune_buf_free(&text);
}

/* The image holds exactly this profile: it prints as one. */
static void check_image(const char *name, const char *profile) {
    struct rtune_buf image, text;
    struct rtune_table table = {0};
    struct rtune_error err = {0};
    size_t skipped = 99;
    assert_int_equal(rtune_file_read(at(name), RTUNE_DB_STORE_MAX, &image, NULL), RTUNE_OK);
    if (rtune_store_read_image(image.data, image.size, &table, &skipped, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(skipped, 0);
    rtune_buf_init(&text, 1 << 20);
    if (rtune_profile_print(&table, NULL, &text, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_string_equal(text.data, profile);
    rtune_buf_free(&text);
    rtune_buf_free(&image);
    rtune_table_free(&table);
}

static void test_none(void **state) {
    (void)state;
    assert_int_equal(run(at("none.db"), NULL, NULL), 0);
    struct rtune_buf image;
    struct rtune_table table = {0};
    assert_int_equal(rtune_file_read(at("none.db"), RTUNE_DB_STORE_MAX, &image, NULL), RTUNE_OK);
    assert_int_equal(rtune_store_read_image(image.data, image.size, &table, NULL, NULL), RTUNE_OK);
    assert_int_equal(table.winner_count, 0);
    rtune_buf_free(&image);
    rtune_table_free(&table);
}

/* One profile, and the same in two files: the same image, whatever the order. */
static void test_merge(void **state) {
    (void)state;
    put("both.yaml", PROFILE);
    assert_int_equal(run(at("both.db"), at("both.yaml"), NULL), 0);
    check_image("both.db", PROFILE);
    const char *devices = strstr(PROFILE, "  - identity"),
               *cuda = strstr(PROFILE, "  - identity: \"v1|cuda");
    char *first = malloc(strlen(PROFILE) + 1), *second = malloc(strlen(PROFILE) + 1);
    assert_true(first != NULL && second != NULL);
    snprintf(first, (size_t)(cuda - PROFILE) + 1, "%s", PROFILE);
    snprintf(second, strlen(PROFILE) + 1, "%.*s%s", (int)(devices - PROFILE), PROFILE, cuda);
    put("first.yaml", first);
    put("second.yaml", second);
    assert_int_equal(run(at("ab.db"), at("first.yaml"), at("second.yaml")), 0);
    check_image("ab.db", PROFILE);
    struct rtune_buf one, two;
    assert_int_equal(rtune_file_read(at("both.db"), 1 << 22, &one, NULL), RTUNE_OK);
    assert_int_equal(rtune_file_read(at("ab.db"), 1 << 22, &two, NULL), RTUNE_OK);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    rtune_buf_free(&one);
    rtune_buf_free(&two);
    free(first);
    free(second);
}

static void test_refused(void **state) {
    (void)state;
    char *text = profile_with("block=256", "block=257");
    put("good.yaml", PROFILE);
    put("bad.yaml", text);
    free(text);
    assert_int_equal(run(at("out.db"), at("bad.yaml"), NULL), 1);
    check_errors("bad.yaml:");
    check_errors("block: 257 is not allowed");
    assert_int_not_equal(access(at("out.db"), F_OK), 0); /* nothing is written */
    assert_int_equal(run(at("out.db"), at("good.yaml"), at("good.yaml")), 1);
    check_errors("is in another profile too");
    assert_int_equal(run(at("out.db"), at("absent.yaml"), NULL), 1);
    check_errors("absent.yaml: cannot open");
    assert_int_equal(run(at("absent/out.db"), at("good.yaml"), NULL), 1);
    assert_int_equal(run(NULL, NULL, NULL), 2);
    check_errors("usage: rtune_mkprofiles");
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    tool = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
