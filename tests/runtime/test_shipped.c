/* SPDX-License-Identifier: Apache-2.0 */
/* Shipped profiles: the last file of the order, for this device and for similar ones. */
#include "tests/runtime/toy.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stands in for runtime/shipped.c, whose image depends on what configs/profiles holds. */
static struct rtune_buf image;

const void *rtune_shipped_image(size_t *size) {
    *size = image.size;
    return image.data;
}

#define SUM_F32(n) RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, (n))

static void check(const rtune *rt, uint64_t n, enum rtune_source source, const char *config,
                  const char *words) {
    const struct rtune_problem p = SUM_F32(n);
    check_served(rt, &p, source, config, words);
}

static void ship(struct rows *rows) {
    rows_write(rows, scratch_path("shipped.db"));
    rtune_buf_free(&image);
    assert_int_equal(rtune_file_read(scratch_path("shipped.db"), 1 << 20, &image, NULL), RTUNE_OK);
}

static void test_order(void **state) {
    (void)state;
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const struct rtune_identity h100 = toy_identity(9, 0, 114);
    struct rows rows = {0};
    uint32_t d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=64,grid=cover");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 4000, "block=64,grid=cover");
    d = rows_device(&rows, &h100);
    rows_add(&rows, d, RTUNE_MAX, RTUNE_F32, 1000, "block=64,grid=cover");
    ship(&rows);
    d = rows_device(&rows, &h200);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1000, "block=96,grid=cover");
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 1500, "block=96,grid=cover");
    d = rows_device(&rows, &h100);
    rows_add(&rows, d, RTUNE_SUM, RTUNE_F32, 3000, "block=128,grid=cover");
    rows_write(&rows, scratch_path("user.db"));

    rtune *rt = toy_open(toy_new(NULL), scratch_path("user.db"));
    check(rt, 1000, RTUNE_FROM_EXACT, "block=96,grid=cover", "");
    check(rt, 1200, RTUNE_FROM_BETWEEN, "block=96,grid=cover", "");
    /* exactly here, but shipped, beats the user's largest size and the similar device */
    check(rt, 4000, RTUNE_FROM_SHIPPED, "block=64,grid=cover", "shipped profile, tuned at n=4000");
    check(rt, 3000, RTUNE_FROM_SHIPPED, "block=64,grid=cover", "shipped profile, between");
    check(rt, 5000, RTUNE_FROM_CLAMPED, "block=96,grid=cover", "");
    const struct rtune_problem max = RTUNE_PROBLEM(RTUNE_MAX, RTUNE_F32, 1000);
    /* this device's rows of another op come before a similar device's of this one */
    check_served(rt, &max, RTUNE_FROM_SIBLING, "block=96,grid=cover", "like sum of f32");
    struct rtune_store_info info;
    uint32_t k = 0;
    while (rtune_store_at(rt, k, &info))
        k++;
    assert_true(k >= 2);
    assert_string_equal(info.path, "shipped profiles");
    assert_int_equal(info.rows, 3);
    rtune_close(rt);
}

/* "none" is the built-in config, whichever way it is said. */
static void test_none(void **state) {
    (void)state;
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    struct rows rows = {0};
    struct rtune_store_info info;
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUM, RTUNE_F32, 1000, "block=64");
    ship(&rows);
    rtune *rt = toy_open(toy_new(NULL), NULL);
    check(rt, 1000, RTUNE_FROM_SHIPPED, "block=64", "");
    rtune_close(rt);
    rt = toy_open(toy_new(NULL), "none");
    check(rt, 1000, RTUNE_FROM_BUILTIN, "", "nothing tuned");
    assert_false(rtune_store_at(rt, 0, &info));
    rtune_close(rt);
    setenv("RTUNE_DB", "none", 1);
    rt = toy_open(toy_new(NULL), NULL);
    unsetenv("RTUNE_DB");
    check(rt, 1000, RTUNE_FROM_BUILTIN, "", "nothing tuned");
    assert_false(rtune_store_at(rt, 0, &info));
    rtune_close(rt);
    setenv("RTUNE_DB", "none", 1); /* a store that is named counts alone */
    rt = toy_open(toy_new(NULL), scratch_path("absent.db"));
    unsetenv("RTUNE_DB");
    check(rt, 1000, RTUNE_FROM_SHIPPED, "block=64", "");
    rtune_close(rt);
}

/* A file of the user's is no shipped profile, whatever its name. */
static void test_name(void **state) {
    (void)state;
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    struct rows rows = {0};
    char *before = realpath(".", NULL);
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUM, RTUNE_F32, 1000, "block=64");
    ship(&rows);
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUM, RTUNE_F32, 1000, "block=96");
    rows_write(&rows, scratch_path("shipped profiles"));
    assert_non_null(before);
    assert_int_equal(chdir(scratch_path(".")), 0);
    rtune *rt = toy_open(toy_new(NULL), "shipped profiles");
    check(rt, 1000, RTUNE_FROM_EXACT, "block=96", "tuned at n=1000");
    rtune_close(rt);
    assert_int_equal(chdir(before), 0);
    free(before);
}

/* A library whose image is damaged still opens. */
static void test_damaged(void **state) {
    (void)state;
    struct rtune_store_info info;
    rtune_buf_free(&image);
    rtune_buf_init(&image, 1 << 20);
    rtune_buf_puts(&image, "not a store");
    rtune *rt = toy_open(toy_new(NULL), NULL);
    check(rt, 1000, RTUNE_FROM_BUILTIN, "", "nothing tuned");
    uint32_t k = 0;
    while (rtune_store_at(rt, k, &info))
        k++;
    assert_string_equal(info.path, "shipped profiles");
    assert_int_not_equal(info.status, RTUNE_OK);
    rtune_close(rt);
    rtune_buf_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
