/* SPDX-License-Identifier: Apache-2.0 */
/* Stored kernels: named by their content, and not read unless they are what their name says. */
#include "tests/db/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 1000 };

static void make_image(unsigned char image[SIZE]) {
    for (size_t i = 0; i < SIZE; i++)
        image[i] = (unsigned char)i;
    memcpy(image, "\177ELF", 4);
}

/* Write one and give its digest and file. */
static const char *put_cubin(void *const *state, char digest[RTUNE_DIGEST_HEX]) {
    unsigned char image[SIZE];
    struct rtune_error err = {0};
    char name[128];
    make_image(image);
    assert_status(RTUNE_OK, &err,
                  rtune_cubin_write(in(state, "tune.db"), image, SIZE, digest, &err));
    snprintf(name, sizeof name, "tune.db.kernels/%s.cubin", digest);
    return in(state, name);
}

static void expect_refused(void *const *state, const char *digest, enum rtune_status expected,
                           const char *words) {
    struct rtune_error err = {0};
    void *image = NULL;
    size_t size = 7;
    assert_status(expected, &err,
                  rtune_cubin_read(in(state, "tune.db"), digest, &image, &size, &err));
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\" not in \"%s\"", words, err.message);
    assert_null(image);
    assert_int_equal(size, 7);
}

static void there_and_back(void **state) {
    unsigned char image[SIZE];
    char digest[RTUNE_DIGEST_HEX], again[RTUNE_DIGEST_HEX];
    struct rtune_error err = {0};
    struct stat first, info;
    void *read = NULL;
    size_t size = 0;
    make_image(image);
    const char *path = put_cubin(state, digest);
    rtune_digest_hex(image, SIZE, again);
    assert_string_equal(digest, again);
    assert_int_equal(stat(path, &first), 0);
    put_cubin(state, again); /* twice is once */
    assert_string_equal(digest, again);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_ino == first.st_ino);
    assert_int_equal(info.st_mode & 0133, 0);
    assert_status(RTUNE_OK, &err,
                  rtune_cubin_read(in(state, "tune.db"), digest, &read, &size, &err));
    assert_int_equal(size, SIZE);
    assert_memory_equal(read, image, SIZE);
    free(read);
}

static void not_what_its_name_says(void **state) {
    unsigned char image[SIZE];
    char digest[RTUNE_DIGEST_HEX];
    const char *path = put_cubin(state, digest);
    make_image(image);
    image[500] ^= 1;
    file_put(path, image, SIZE);
    expect_refused(state, digest, RTUNE_STORE_DAMAGED, "content");
    file_put(path, image, 10);
    expect_refused(state, digest, RTUNE_STORE_DAMAGED, "size");
    assert_int_equal(truncate(path, (4 << 20) + 1), 0);
    expect_refused(state, digest, RTUNE_STORE_DAMAGED, "size");
}

static void no_elf(void **state) {
    char name[128], digest[RTUNE_DIGEST_HEX], text[200] = "#!/bin/sh\n";
    struct rtune_error err = {0};
    unsigned char *large = calloc(1, (4u << 20) + 1);
    assert_non_null(large);
    memcpy(large, "\177ELF", 4);
    assert_status(RTUNE_STORE_DAMAGED, &err,
                  rtune_cubin_write(in(state, "tune.db"), text, sizeof text, digest, &err));
    assert_status(RTUNE_STORE_DAMAGED, &err,
                  rtune_cubin_write(in(state, "tune.db"), text, 0, digest, &err));
    assert_status(RTUNE_RANGE, &err,
                  rtune_cubin_write(in(state, "tune.db"), large, (4u << 20) + 1, digest, &err));
    assert_false(file_exists(in(state, "tune.db.kernels")));
    free(large);
    put_cubin(state, digest);
    rtune_digest_hex(text, sizeof text, digest);
    snprintf(name, sizeof name, "tune.db.kernels/%s.cubin", digest);
    file_put(in(state, name), text, sizeof text);
    expect_refused(state, digest, RTUNE_STORE_DAMAGED, "ELF");
}

/* A file that would not be read is replaced. */
static void repaired(void **state) {
    char digest[RTUNE_DIGEST_HEX], again[RTUNE_DIGEST_HEX];
    struct rtune_error err = {0};
    void *read = NULL;
    size_t size = 0;
    const char *path = put_cubin(state, digest);
    file_put(path, "junk", 4);
    expect_refused(state, digest, RTUNE_STORE_DAMAGED, "impossible size");
    put_cubin(state, again);
    assert_string_equal(digest, again);
    assert_status(RTUNE_OK, &err,
                  rtune_cubin_read(in(state, "tune.db"), digest, &read, &size, &err));
    assert_int_equal(size, SIZE);
    free(read);
}

static void digests_that_are_paths(void **state) {
    char digest[RTUNE_DIGEST_HEX], longer[80];
    put_cubin(state, digest);
    memset(longer, 'a', sizeof longer);
    longer[65] = '\0';
    expect_refused(state, "", RTUNE_INVALID, "digest");
    expect_refused(state, "../../etc/passwd", RTUNE_INVALID, "digest");
    expect_refused(state, longer, RTUNE_INVALID, "digest");
    longer[64] = '\0';
    memcpy(longer, "../", 3);
    expect_refused(state, longer, RTUNE_INVALID, "digest");
    memcpy(longer, "AAA", 3);
    expect_refused(state, longer, RTUNE_INVALID, "digest");
    memcpy(longer, "aaa", 3);
    expect_refused(state, longer, RTUNE_NOT_FOUND, longer);
}

static void not_trusted(void **state) {
    char digest[RTUNE_DIGEST_HEX];
    const char *path = put_cubin(state, digest), *folder = in(state, "tune.db.kernels");
    assert_int_equal(chmod(path, 0666), 0);
    expect_refused(state, digest, RTUNE_STORE_UNTRUSTED, "chmod");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    expect_refused(state, digest, RTUNE_STORE_UNTRUSTED, "chmod");
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(rename(path, in(state, "elsewhere")), 0);
    assert_int_equal(symlink(in(state, "elsewhere"), path), 0);
    expect_refused(state, digest, RTUNE_STORE_UNTRUSTED, "symbolic link");
    assert_int_equal(rename(folder, in(state, "moved")), 0);
    expect_refused(state, digest, RTUNE_NOT_FOUND, digest);
    assert_int_equal(symlink(in(state, "moved"), folder), 0);
    expect_refused(state, digest, RTUNE_STORE_UNTRUSTED, folder);
    assert_int_equal(unlink(folder), 0);
    file_put(folder, "x", 1);
    expect_refused(state, digest, RTUNE_STORE_UNTRUSTED, "folder");
    struct rtune_error err = {0};
    unsigned char image[SIZE];
    make_image(image);
    assert_status(RTUNE_IO, &err,
                  rtune_cubin_write(in(state, "tune.db"), image, SIZE, digest, &err));
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(there_and_back), SCRATCH(not_what_its_name_says),
        SCRATCH(no_elf),         SCRATCH(digests_that_are_paths),
        SCRATCH(not_trusted),    SCRATCH(repaired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
