/* SPDX-License-Identifier: Apache-2.0 */
/* Configs: text there and back, what is allowed, defaults, and how many blocks a grid rule means.
 */
#include "kernels/kernels.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rtune_config base = {
    RTUNE_CASCADED,  256, 16, {RTUNE_GRID_SM, 4}, RTUNE_LOAD_NONCOHERENT, RTUNE_FINISH_SLOTS,
    RTUNE_MAP_STRIP, 0,   0,
};

static void test_printing(void **state) {
    (void)state;
    static const char text[] =
        "block=256,items=16,grid=4xsm,load=noncoherent,finish=slots,map=strip,"
        "occupancy=0";
    char out[160], small[10] = "#########";
    assert_int_equal(rtune_config_print(&base, out, sizeof out), strlen(text));
    assert_string_equal(out, text);
    assert_int_equal(rtune_config_print(&base, NULL, 0), strlen(text));
    assert_int_equal(rtune_config_print(&base, small, 6), strlen(text));
    assert_int_equal(rtune_config_print(NULL, out, sizeof out), strlen("(none)"));
    assert_string_equal(out, "(none)");
    assert_int_equal(rtune_config_print(NULL, NULL, 0), strlen("(none)"));
    assert_string_equal(small, "block");
    assert_int_equal(small[6], '#');
    struct rtune_config other = base;
    other.variant = (enum rtune_variant)9; /* only what is not cascaded shows its variant */
    rtune_config_print(&other, out, sizeof out);
    assert_int_equal(strncmp(out, "variant=?,block=256", 19), 0);
    other.variant = RTUNE_BULK, other.extra = 4; /* and only what has an extra shows that, last */
    rtune_config_print(&other, out, sizeof out);
    assert_int_equal(strncmp(out, "variant=bulk,block=256", 22), 0);
    assert_string_equal(out + strlen(out) - 20, ",occupancy=0,extra=4");
}

static struct rtune_config random_config(struct rtune_rng *rng) {
    struct rtune_config c = base;
    c.block = (uint32_t)rtune_rng_u64(rng);
    c.items = (uint32_t)rtune_rng_u64(rng);
    c.grid.kind = (enum rtune_grid_kind)rtune_rng_below(rng, RTUNE_GRID_COUNT);
    c.grid.value =
        c.grid.kind == RTUNE_GRID_COVER ? 0 : 1 + (uint32_t)rtune_rng_below(rng, RTUNE_GRID_MAX);
    c.load = (enum rtune_load)rtune_rng_below(rng, RTUNE_LOAD_COUNT);
    c.finish = (enum rtune_finish)rtune_rng_below(rng, RTUNE_FINISH_COUNT);
    c.map = (enum rtune_map)rtune_rng_below(rng, RTUNE_MAP_COUNT);
    c.occupancy = (uint32_t)rtune_rng_u64(rng);
    return c;
}

static void test_what_is_printed_reads_back(void **state) {
    (void)state;
    const char *env = getenv("RTUNE_TEST_SEED");
    struct rtune_rng rng = {env ? strtoull(env, NULL, 10) : 1, 0};
    print_message("RTUNE_TEST_SEED=%llu\n", (unsigned long long)rng.seed);
    for (int k = 0; k < 1000; k++) {
        struct rtune_config c = random_config(&rng), read = random_config(&rng);
        c.variant = (enum rtune_variant)rtune_rng_below(&rng, RTUNE_VARIANT_COUNT);
        c.extra = (uint32_t)rtune_rng_below(&rng, 3);
        char text[200], again[200];
        assert_true(rtune_config_print(&c, text, sizeof text) < (int)sizeof text);
        assert_int_equal(rtune_config_parse(text, &read, NULL), RTUNE_OK);
        assert_true(rtune_config_equal(&c, &read));
        rtune_config_print(&read, again, sizeof again);
        assert_string_equal(text, again);
    }
}

static void test_missing_axes_keep_their_value(void **state) {
    (void)state;
    struct rtune_config c = base;
    assert_int_equal(rtune_config_parse("finish=last,block=64", &c, NULL), RTUNE_OK);
    assert_int_equal(c.finish, RTUNE_FINISH_LAST);
    assert_int_equal(c.block, 64);
    assert_int_equal(c.items, 16);
    assert_int_equal(c.grid.kind, RTUNE_GRID_SM);
    assert_int_equal(rtune_config_parse("variant=cascaded,grid=cover", &c, NULL), RTUNE_OK);
    assert_int_equal(c.grid.kind, RTUNE_GRID_COVER);
    assert_int_equal(c.grid.value, 0);
}

static void test_bad_text_changes_nothing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum rtune_status status;
        const char *says;
    } bad[] = {
        {"", RTUNE_SYNTAX, ""},
        {"block", RTUNE_SYNTAX, "axis=value"},
        {"block=64,", RTUNE_SYNTAX, "axis=value"},
        {",block=64", RTUNE_SYNTAX, "axis=value"},
        {"block=64,block=64", RTUNE_SYNTAX, "twice"},
        {"blocks=64", RTUNE_SYNTAX, "\"blocks\" is not known"},
        {"Block=64", RTUNE_SYNTAX, "not known"},
        {"block =64", RTUNE_SYNTAX, "not known"},
        {"block=", RTUNE_SYNTAX, "block"},
        {"block=-1", RTUNE_SYNTAX, "block"},
        {"block=0x40", RTUNE_SYNTAX, "block"},
        {"block=99999999999", RTUNE_RANGE, "block"},
        {"load=fast", RTUNE_SYNTAX, "noallocate"},
        {"variant=warp", RTUNE_SYNTAX, "cascaded"},
        {"finish=one,map=tile", RTUNE_SYNTAX, "chunk"},
        {"grid=", RTUNE_SYNTAX, "grid"},
        {"grid=xsm", RTUNE_SYNTAX, "grid"},
        {"grid=4sm", RTUNE_SYNTAX, "grid"},
        {"grid=4xsmx", RTUNE_SYNTAX, "grid"},
        {"grid=-4", RTUNE_SYNTAX, "grid"},
        {"grid=0", RTUNE_RANGE, "grid"},
        {"grid=4097", RTUNE_RANGE, "grid"},
        {"grid=0xsm", RTUNE_RANGE, "grid"},
        {"block=64,occupancy=0000000000000000000000000000000000000000000000000000000001",
         RTUNE_SYNTAX, "too long"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        struct rtune_config c = base;
        struct rtune_error err = {.status = RTUNE_OK};
        assert_int_equal(rtune_config_parse(bad[k].text, &c, &err), bad[k].status);
        assert_int_equal(err.status, bad[k].status);
        if (!strstr(err.message, bad[k].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[k].text, err.message, bad[k].says);
        assert_true(rtune_config_equal(&c, &base));
    }
}

static void test_grid_text(void **state) {
    (void)state;
    static const char *const texts[] = {"1", "528", "4096", "1xsm", "32xsm", "cover"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        struct rtune_grid grid = {RTUNE_GRID_COUNT, 7};
        char text[16];
        assert_int_equal(rtune_grid_parse(texts[k], &grid, NULL), RTUNE_OK);
        rtune_grid_print(&grid, text, sizeof text);
        assert_string_equal(text, texts[k]);
    }
}

static enum rtune_status check(const char *change, enum rtune_dtype dtype, char says[512]) {
    struct rtune_config c = base;
    struct rtune_error err = {.status = RTUNE_OK};
    assert_int_equal(rtune_config_parse(change, &c, NULL), RTUNE_OK);
    enum rtune_status status = rtune_config_check(&c, dtype, &err);
    memcpy(says, err.message, sizeof err.message);
    return status;
}

static const struct {
    const char *change;
    enum rtune_dtype dtype;
    const char *axis; /* named by the error; NULL: allowed */
} allowed[] = {
    {"block=256", RTUNE_F32, NULL},
    {"block=32,occupancy=32", RTUNE_F32, NULL},
    {"block=96,items=4", RTUNE_F32, NULL},
    {"block=1024,items=64,occupancy=2", RTUNE_F32, NULL},
    {"block=1024,items=256", RTUNE_I8, NULL},
    {"items=2", RTUNE_F64, NULL},
    {"block=1,items=64,load=plain,map=chunk", RTUNE_F32, NULL},
    {"block=1,items=64,load=plain,map=chunk,finish=one,grid=1", RTUNE_F32, NULL},
    {"finish=one,grid=1", RTUNE_F32, NULL},
    {"block=0", RTUNE_F32, "block"},
    {"block=2", RTUNE_F32, "block"},
    {"block=48", RTUNE_F32, "block"},
    {"block=1056", RTUNE_F32, "block"},
    {"items=0", RTUNE_F32, "items"},
    {"items=2", RTUNE_F32, "items"},
    {"items=12", RTUNE_F32, "items"},
    {"items=128", RTUNE_F32, "items"},
    {"items=64", RTUNE_F64, "items"},
    {"items=4294967295", RTUNE_I8, "items"},
    {"items=2147483648", RTUNE_F64, "items"},
    {"occupancy=33,block=32", RTUNE_F32, "occupancy"},
    {"block=1024,occupancy=3", RTUNE_F32, "occupancy"},
    {"block=64,occupancy=67108864", RTUNE_F32, "occupancy"},
    {"block=1,items=64,occupancy=1", RTUNE_F32, "occupancy"},
    {"block=1,items=64,map=chunk", RTUNE_F32, "load"},
    {"block=1,items=64,load=plain", RTUNE_F32, "map"},
    {"block=1,items=64,load=plain,map=chunk,finish=last", RTUNE_F32, "finish"},
    {"finish=one,grid=2", RTUNE_F32, "grid"},
    {"finish=one,grid=cover", RTUNE_F32, "grid"},
    {"finish=one,grid=1xsm", RTUNE_F32, "grid"},
    {"block=1,items=64,load=plain,map=chunk,finish=packed", RTUNE_F32, "finish"},
    {"block=1,items=64,load=plain,map=chunk,finish=grid_sync", RTUNE_F32, "finish"},
    {"block=1,items=64,load=plain,map=chunk,variant=bulk,extra=2", RTUNE_F32, "variant"},
    {"finish=packed", RTUNE_F32, NULL},
    {"finish=two_kernels", RTUNE_F32, NULL},
    {"finish=dependent", RTUNE_F32, NULL},
    {"finish=grid_sync", RTUNE_F32, NULL},
    {"finish=atomic", RTUNE_F32, NULL},
    {"finish=cluster,extra=2", RTUNE_F32, NULL},
    {"finish=cluster,extra=16,grid=1", RTUNE_F32, NULL},
    {"finish=cluster", RTUNE_F32, "extra"},
    {"finish=cluster,extra=1", RTUNE_F32, "extra"},
    {"finish=cluster,extra=6", RTUNE_F32, "extra"},
    {"finish=cluster,extra=32", RTUNE_F32, "extra"},
    {"finish=slots,extra=2", RTUNE_F32, "extra"},
    {"variant=bulk,load=plain,extra=2", RTUNE_F32, NULL},
    {"variant=bulk,load=plain,extra=5,block=128,map=chunk", RTUNE_F32, NULL}, /* 40 KiB */
    {"variant=bulk,load=plain,extra=8,block=96,items=8", RTUNE_F32, NULL},
    {"variant=bulk,load=plain,extra=3", RTUNE_F32, "extra"}, /* 48 KiB */
    {"variant=bulk,load=plain,extra=9,block=32,items=4", RTUNE_F32, "extra"},
    {"variant=bulk,load=plain,extra=1", RTUNE_F32, "extra"},
    {"variant=bulk,load=plain", RTUNE_F32, "extra"},
    {"variant=bulk,extra=2", RTUNE_F32, "load"},
    {"variant=bulk,load=plain,finish=cluster,extra=2", RTUNE_F32, "finish"},
};

static void test_what_is_allowed(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof allowed / sizeof allowed[0]; k++) {
        char says[512], prefix[32];
        enum rtune_status status = check(allowed[k].change, allowed[k].dtype, says);
        snprintf(prefix, sizeof prefix, "%s: ", allowed[k].axis ? allowed[k].axis : "");
        if (status != (allowed[k].axis ? RTUNE_RANGE : RTUNE_OK))
            fail_msg("%s: status %d, %s", allowed[k].change, (int)status, says);
        if (allowed[k].axis && strncmp(says, prefix, strlen(prefix)) != 0)
            fail_msg("%s: \"%s\" does not name %s", allowed[k].change, says, allowed[k].axis);
    }
}

static void test_values_no_text_can_have(void **state) {
    (void)state;
    struct rtune_config c = base;
    c.load = RTUNE_LOAD_COUNT;
    assert_int_equal(rtune_config_check(&c, RTUNE_F32, NULL), RTUNE_RANGE);
    c = base, c.finish = (enum rtune_finish) - 1;
    assert_int_equal(rtune_config_check(&c, RTUNE_F32, NULL), RTUNE_RANGE);
    c = base, c.grid.kind = RTUNE_GRID_COUNT;
    assert_int_equal(rtune_config_check(&c, RTUNE_F32, NULL), RTUNE_RANGE);
    c = base, c.grid.kind = RTUNE_GRID_COVER; /* with the value 4 */
    assert_int_equal(rtune_config_check(&c, RTUNE_F32, NULL), RTUNE_RANGE);
}

/* Every axis counts in the order and in the hash, the grid where it is asked for. */
static void test_order_and_hash(void **state) {
    (void)state;
    static const char *const changes[] = {"block=512",   "items=32",    "load=evictfirst",
                                          "finish=last", "map=chunk",   "occupancy=2",
                                          "extra=2",     "variant=bulk"};
    struct rtune_config c;
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        c = base;
        assert_int_equal(rtune_config_parse(changes[k], &c, NULL), RTUNE_OK);
        for (int with_grid = 0; with_grid < 2; with_grid++) {
            assert_int_equal(rtune_config_compare(&base, &c, with_grid), -1);
            assert_int_equal(rtune_config_compare(&c, &base, with_grid), 1);
            assert_true(rtune_config_hash(&c, with_grid) != rtune_config_hash(&base, with_grid));
        }
    }
    c = base, c.grid.value++;
    assert_int_equal(rtune_config_compare(&base, &c, true), -1);
    assert_int_equal(rtune_config_compare(&base, &c, false), 0);
    assert_true(rtune_config_hash(&c, true) != rtune_config_hash(&base, true));
    assert_true(rtune_config_hash(&c, false) == rtune_config_hash(&base, false));
}

/* Only the axes that a text gives are put into another config. */
static void test_given_axes(void **state) {
    (void)state;
    struct rtune_config read = base, to = base;
    uint32_t given = 0;
    to.block = 64, to.items = 8, to.grid.value = 9, to.map = RTUNE_MAP_CHUNK;
    assert_int_equal(rtune_config_parse_axes("grid=7,block=512", &read, &given, NULL), RTUNE_OK);
    rtune_config_put_axes(&to, &read, given);
    assert_int_equal(to.block, 512);
    assert_int_equal(to.items, 8);
    assert_int_equal(to.grid.kind, RTUNE_GRID_BLOCKS);
    assert_int_equal(to.grid.value, 7);
    assert_int_equal(to.map, RTUNE_MAP_CHUNK);
}

static void test_equality(void **state) {
    (void)state;
    struct rtune_config c = base;
    c.grid.value++;
    assert_false(rtune_config_equal(&base, &c));
    assert_true(rtune_config_same_instance(&base, &c));
    c = base, c.occupancy = 1;
    assert_false(rtune_config_same_instance(&base, &c));
    c = base, c.extra = 2;
    assert_false(rtune_config_same_instance(&base, &c));
    c = base, c.map = RTUNE_MAP_CHUNK;
    assert_false(rtune_config_same_instance(&base, &c));
    assert_false(rtune_config_equal(&base, &c));
}

static void test_defaults_are_allowed(void **state) {
    (void)state;
    for (int d = 0; d < RTUNE_DTYPE_COUNT; d++) {
        const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, (enum rtune_dtype)d, 0);
        const struct rtune_config cuda = rtune_config_default(&p, true);
        const struct rtune_config cpu = rtune_config_default(&p, false);
        assert_int_equal(rtune_config_check(&cuda, p.dtype, NULL), RTUNE_OK);
        assert_int_equal(rtune_config_check(&cpu, p.dtype, NULL), RTUNE_OK);
        assert_int_equal(cpu.block, 1);
        assert_true(cuda.block >= 32);
    }
}

static uint32_t blocks(const char *change, uint64_t n, uint32_t sm_count, uint32_t resident) {
    struct rtune_config c = base;
    assert_int_equal(rtune_config_parse(change, &c, NULL), RTUNE_OK);
    return rtune_grid_resolve(&c, RTUNE_F32, n, sm_count, resident);
}

static void test_grids(void **state) {
    (void)state;
    assert_int_equal(blocks("grid=7", 1, 132, 8), 7);
    assert_int_equal(blocks("grid=4xsm", 1, 132, 8), 528);
    assert_int_equal(blocks("grid=4096xsm", 1, 132, 8), RTUNE_GRID_MAX);
    assert_int_equal(blocks("grid=1,finish=one", UINT64_MAX, 132, 8), 1);
    /* tiles of 256 x 16 */
    assert_int_equal(blocks("grid=cover", 0, 132, 8), 1);
    assert_int_equal(blocks("grid=cover", 4096, 132, 8), 1);
    assert_int_equal(blocks("grid=cover", 4097, 132, 8), 2);
    assert_int_equal(blocks("grid=cover", 1056 * 4096ull, 132, 8), 1056);
    assert_int_equal(blocks("grid=cover", UINT64_MAX, 132, 8), 1056);
    assert_int_equal(blocks("grid=cover", UINT64_MAX, 132, 64), RTUNE_GRID_MAX);
    assert_int_equal(blocks("grid=cover", UINT64_MAX, 132, 0), 132);
    /* all resident; whole clusters */
    assert_int_equal(blocks("grid=4xsm,finish=grid_sync", 1, 132, 3), 396);
    assert_int_equal(blocks("grid=4xsm,finish=grid_sync", 1, 132, 5), 528);
    assert_int_equal(blocks("grid=133,finish=cluster,extra=8", 1, 132, 8), 128);
    assert_int_equal(blocks("grid=7,finish=cluster,extra=8", 1, 132, 8), 8);
    assert_int_equal(blocks("grid=4096,finish=cluster,extra=16", 1, 132, 8), 4096);
    assert_int_equal(blocks("grid=cover,finish=cluster,extra=4", 6 * 4096, 132, 8), 4);
    /* cpu: chunks of at least 8192 f32, and no more threads than there are */
    assert_int_equal(blocks("block=1,items=64,grid=cover", 8192, 16, 1), 1);
    assert_int_equal(blocks("block=1,items=64,grid=cover", 8193, 16, 1), 2);
    assert_int_equal(blocks("block=1,items=64,grid=cover", 1 << 30, 16, 1), 16);
    assert_int_equal(blocks("block=1,items=64,grid=99", 10, 16, 1), 16);
    assert_int_equal(blocks("block=1,items=64,grid=3", 10, 16, 1), 3);
    assert_int_equal(blocks("block=1,items=64,grid=1xsm", 10, 16, 1), 16);
}

static void test_workspace(void **state) {
    (void)state;
    assert_int_equal(rtune_workspace_bytes(), 256 + 4096 * (32 + 16));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printing),
        cmocka_unit_test(test_what_is_printed_reads_back),
        cmocka_unit_test(test_missing_axes_keep_their_value),
        cmocka_unit_test(test_bad_text_changes_nothing),
        cmocka_unit_test(test_grid_text),
        cmocka_unit_test(test_what_is_allowed),
        cmocka_unit_test(test_values_no_text_can_have),
        cmocka_unit_test(test_order_and_hash),
        cmocka_unit_test(test_given_axes),
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_defaults_are_allowed),
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_workspace),
    };
    return cmocka_run_group_tests_name("configs", tests, NULL, NULL);
}
