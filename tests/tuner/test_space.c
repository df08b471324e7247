/* SPDX-License-Identifier: Apache-2.0 */
/* Search spaces: the default one reads, small ones give exactly the configs they say, bad ones are
 * refused. */
#include "base/buf.h"
#include "base/num.h"
#include "tuner/space.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char SMALL[] = "rtune_space: 1\n"
                            "cuda:\n"
                            "  axes:\n"
                            "    block: [64, 128]\n"
                            "    vectors: [1]\n"
                            "    grid: [1, 2, 1xsm, cover]\n"
                            "    load: [plain]\n"
                            "    finish: [one, slots]\n"
                            "    map: [strip]\n"
                            "    occupancy: [0]\n"
                            "  constraints:\n"
                            "    idle_blocks: false\n"
                            "    one_block_finish: true\n";

static const struct rtune_identity GPU = {.cuda = true, .cc_major = 9, .sm_count = 4};

static rtune_space *parse(const char *text) {
    rtune_space *space = NULL;
    struct rtune_error err = {0};
    if (rtune_space_parse(text, text == NULL ? 0 : strlen(text), "s.yaml", &space, &err) !=
        RTUNE_OK)
        fail_msg("%s:%d:%d: %s", err.file, err.line, err.column, err.message);
    return space;
}

/* The configs after the first, which is the built-in default, are these. */
static void check_configs(const char *text, const struct rtune_identity *device,
                          enum rtune_dtype dtype, uint64_t n, const char *expected) {
    rtune_space *space = parse(text);
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, dtype, n);
    struct rtune_config *configs = NULL, builtin = rtune_config_default(&problem, device->cuda);
    struct rtune_error err = {0};
    size_t count = 0, used = 0;
    char found[4096] = "";
    if (rtune_space_configs(space, device, &problem, &configs, &count, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    assert_true(count >= 1 && rtune_config_equal(&configs[0], &builtin));
    for (size_t i = 1; i < count; i++) {
        char grid[32];
        rtune_grid_print(&configs[i].grid, grid, sizeof(grid));
        used += (size_t)snprintf(found + used, sizeof(found) - used, "%u/%u/%s/%s ",
                                 (unsigned)configs[i].block, (unsigned)configs[i].items, grid,
                                 rtune_finish_name(configs[i].finish));
    }
    assert_string_equal(found, expected);
    free(configs);
    rtune_space_free(space);
}

static void test_small(void **state) {
    (void)state;
    /* 256 elements a tile at block 64: one tile, so one block, which finishes alone. */
    check_configs(SMALL, &GPU, RTUNE_F32, 256, "64/4/1/one 128/4/1/one ");
    check_configs(SMALL, &GPU, RTUNE_F32, 1, "64/4/1/one 128/4/1/one ");
    check_configs(SMALL, &GPU, RTUNE_F32, 0, "64/4/1/one 128/4/1/one ");
    /* Two tiles of 256: the grids 2 and cover are the same launch, and 2 is named first. */
    check_configs(SMALL, &GPU, RTUNE_F32, 257, "64/4/1/one 64/4/2/slots 128/4/1/one ");
    /* Twice the element size, half the elements in flight. */
    check_configs(SMALL, &GPU, RTUNE_F64, 257,
                  "64/2/1/one 64/2/2/slots 64/2/cover/slots 128/2/1/one 128/2/2/slots ");
    /* Far more tiles than multiprocessors: what covers depends on residency, and cover stays. */
    check_configs(SMALL, &GPU, RTUNE_F32, 100000,
                  "64/4/1/one 64/4/2/slots 64/4/1xsm/slots 64/4/cover/slots "
                  "128/4/1/one 128/4/2/slots 128/4/1xsm/slots 128/4/cover/slots ");
    check_configs(SMALL, &GPU, RTUNE_F32, UINT64_MAX,
                  "64/4/1/one 64/4/2/slots 64/4/1xsm/slots 64/4/cover/slots "
                  "128/4/1/one 128/4/2/slots 128/4/1xsm/slots 128/4/cover/slots ");
}

static void replace(char *text, const char *from, const char *to) {
    char *at = strstr(text, from);
    if (at == NULL) fail_msg("no \"%s\" in the space", from);
    memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
    memcpy(at, to, strlen(to));
}

static void test_constraints(void **state) {
    (void)state;
    char text[1024];
    /* 100 registers a thread come to 104: there are enough for a block of 64, not for one of 128.
     */
    strcpy(text, SMALL);
    replace(text, "idle_blocks: false", "registers_per_sm: 6656\n    register_base: 100");
    check_configs(text, &GPU, RTUNE_F32, 100000,
                  "64/4/1/one 64/4/2/slots 64/4/1xsm/slots 64/4/cover/slots ");
    /* Without the rule on idle blocks, two blocks and one per multiprocessor stay for one tile. */
    strcpy(text, SMALL);
    replace(text, "idle_blocks: false", "idle_blocks: true");
    check_configs(text, &GPU, RTUNE_F32, 1,
                  "64/4/1/one 64/4/2/slots 64/4/1xsm/slots "
                  "128/4/1/one 128/4/2/slots 128/4/1xsm/slots ");
    /* Bytes in flight: 16 x 64 a block, 4 multiprocessors. Only the last entry that applies counts.
     */
    strcpy(text, SMALL);
    replace(text, "idle_blocks: false",
            "in_flight: [{from: 0, min: 0, max: 256}, {from: 1Ki, min: 1Ki, max: 1Ki}]");
    check_configs(text, &GPU, RTUNE_F32, 100000, "64/4/1xsm/slots 128/4/2/slots ");
    check_configs(text, &GPU, RTUNE_F32, 255, "64/4/1/one ");
    /* Bytes per block, and waves of what is resident (2048 threads: 16 blocks of 128, 32 of 64). */
    strcpy(text, SMALL);
    replace(text, "idle_blocks: false", "bytes_per_block: 1000");
    check_configs(text, &GPU, RTUNE_F32, 999, "64/4/1/one 64/4/2/slots 128/4/1/one 128/4/2/slots ");
    strcpy(text, SMALL);
    replace(text, "[1, 2, 1xsm, cover]", "[32xsm, 33xsm]");
    replace(text, "idle_blocks: false", "waves: 1\n    threads_per_sm: 2048");
    check_configs(text, &GPU, RTUNE_F32, 100000, "64/4/32xsm/slots ");
    replace(text, "waves: 1", "waves: 2");
    check_configs(text, &GPU, RTUNE_F32, 100000,
                  "64/4/32xsm/slots 64/4/33xsm/slots 128/4/32xsm/slots ");
    /* Occupancy beyond the threads of a multiprocessor. */
    strcpy(text, SMALL);
    replace(text, "occupancy: [0]", "occupancy: [16, 17]");
    replace(text, "[1, 2, 1xsm, cover]", "[1]");
    check_configs(text, &GPU, RTUNE_F32, 1, "64/4/1/one 64/4/1/one 128/4/1/one ");
}

/* What is in the cache is only read by plain loads, if the space says so. */
static void test_warm(void **state) {
    (void)state;
    for (int warm = 0; warm < 2; warm++) {
        for (int plain = 0; plain < 2; plain++) {
            char text[1024];
            struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 100000);
            struct rtune_config *configs = NULL;
            size_t count = 0, others = 0;
            strcpy(text, SMALL);
            replace(text, "load: [plain]", "load: [plain, noallocate]");
            replace(text, "idle_blocks: false", plain ? "warm_plain: true" : "warm_plain: false");
            if (warm) problem.cache = RTUNE_WARM;
            rtune_space *space = parse(text);
            assert_int_equal(rtune_space_configs(space, &GPU, &problem, &configs, &count, NULL),
                             RTUNE_OK);
            for (size_t k = 0; k < count; k++)
                others += configs[k].load != RTUNE_LOAD_PLAIN;
            assert_int_equal(others > 0, !(warm && plain));
            assert_true(count > 1);
            free(configs);
            rtune_space_free(space);
        }
    }
}

/* Only what a kernel can be, and only where it is served. */
static void test_finishes(void **state) {
    (void)state;
    static const struct rtune_identity older = {.cuda = true, .cc_major = 8, .sm_count = 4};
    char text[1024];
    strcpy(text, SMALL);
    replace(text, "[64, 128]", "[64]");
    replace(text, "[1, 2, 1xsm, cover]", "[1xsm]");
    replace(text, "[one, slots]", "[last, packed, two_kernels, dependent, cluster, atomic]");
    replace(text, "occupancy: [0]", "occupancy: [0]\n    extra: [0, 2, 3, 8]");
    check_configs(text, &GPU, RTUNE_F32, 100000,
                  "64/4/1xsm/last 64/4/1xsm/two_kernels 64/4/1xsm/dependent 64/4/1xsm/cluster "
                  "64/4/1xsm/cluster ");
    check_configs(text, &older, RTUNE_F32, 100000, "64/4/1xsm/last 64/4/1xsm/two_kernels ");
    /* The last n that a packed word holds. */
    check_configs(text, &older, RTUNE_I32, (1 << 19) - 1,
                  "64/4/1xsm/last 64/4/1xsm/packed 64/4/1xsm/two_kernels ");
    check_configs(text, &older, RTUNE_I32, 1 << 19, "64/4/1xsm/last 64/4/1xsm/two_kernels ");
    /* Stages times 64 threads times 16 bytes, on a multiprocessor with room for five. */
    replace(text, "[last, packed, two_kernels, dependent, cluster, atomic]", "[slots]");
    replace(text, "extra: [0, 2, 3, 8]", "variant: [cascaded, bulk]\n    extra: [0, 2, 3, 8]");
    replace(text, "[1xsm]", "[1xsm, cover]");
    replace(text, "idle_blocks: false", "waves: 1\n    shared_per_sm: 5Ki");
    check_configs(text, &GPU, RTUNE_F32, 100000,
                  "64/4/1xsm/slots 64/4/cover/slots 64/4/1xsm/slots 64/4/1xsm/slots "
                  "64/4/cover/slots 64/4/cover/slots ");
    check_configs(text, &older, RTUNE_F32, 100000, "64/4/1xsm/slots 64/4/cover/slots ");
}

/* The file of everything has all values of all axes, and reads. */
static void test_everything(void **state) {
    (void)state;
    static const enum rtune_name_kind kinds[] = {RTUNE_NAMES_LOAD, RTUNE_NAMES_FINISH,
                                                 RTUNE_NAMES_MAP, RTUNE_NAMES_VARIANT};
    struct rtune_buf text;
    struct rtune_error err = {0};
    assert_int_equal(rtune_file_read(RTUNE_EVERYTHING, 1 << 20, &text, &err), RTUNE_OK);
    rtune_space *space = parse(text.data);
    const struct rtune_identity h200 = {.cuda = true, .cc_major = 9, .sm_count = 132};
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 1 << 18);
    struct rtune_config *configs = NULL;
    size_t count = 0;
    assert_int_equal(rtune_space_configs(space, &h200, &p, &configs, &count, &err), RTUNE_OK);
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(kinds); k++) {
        for (int value = 0; value < rtune_names(kinds[k])->count; value++) {
            bool found = kinds[k] == RTUNE_NAMES_FINISH && value == RTUNE_FINISH_ATOMIC;
            for (size_t i = 0; i < count && !found; i++) {
                const int has[] = {(int)configs[i].load, (int)configs[i].finish,
                                   (int)configs[i].map, (int)configs[i].variant};
                found = has[k] == value;
            }
            if (!found) fail_msg("no %s", rtune_names(kinds[k])->name(value));
        }
    }
    free(configs);
    rtune_space_free(space);
    rtune_buf_free(&text);
}

static void test_builtin_once(void **state) {
    (void)state;
    /* The built-in default covers two tiles with two blocks: of its instance, only other grids are
     * new. */
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1);
    struct rtune_config d = rtune_config_default(&problem, true);
    char text[1024], expected[64];
    assert_int_equal(d.grid.kind, RTUNE_GRID_COVER);
    snprintf(text, sizeof(text),
             "rtune_space: 1\ncuda: {axes: {block: [%u], vectors: [%u], grid: [2, 3, cover], load: "
             "[%s], finish: [%s], map: [%s], occupancy: [%u]}}\n",
             (unsigned)d.block, (unsigned)d.items / 4, rtune_load_name(d.load),
             rtune_finish_name(d.finish), rtune_map_name(d.map), (unsigned)d.occupancy);
    snprintf(expected, sizeof(expected), "%u/%u/3/%s ", (unsigned)d.block, (unsigned)d.items,
             rtune_finish_name(d.finish));
    check_configs(text, &GPU, RTUNE_F32, (uint64_t)d.block * d.items * 2, expected);
}

static void test_cpu(void **state) {
    (void)state;
    static const char text[] = "rtune_space: 1\n"
                               "cpu:\n"
                               "  axes: {vectors: [4, 8], grid: [1, 2, 4, 1xsm, cover], load: "
                               "[plain], finish: [one, slots], map: [chunk]}\n"
                               "  constraints: {one_block_finish: true, bytes_per_block: 4Ki}\n";
    const struct rtune_identity two = {.cores = 2, .isa = "avx2"};
    check_configs(text, &two, RTUNE_F32, 1 << 20,
                  "1/16/1/one 1/16/2/slots 1/32/1/one 1/32/2/slots ");
    /* Too little for two threads. */
    check_configs(text, &two, RTUNE_F32, 1024, "1/16/1/one 1/32/1/one ");
    const struct rtune_identity one = {.cores = 1, .isa = "unheard of"};
    check_configs(text, &one, RTUNE_F64, 1 << 20, "1/8/1/one 1/16/1/one ");
    rtune_space *space = parse(SMALL);
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1);
    struct rtune_config *configs = NULL;
    struct rtune_error err = {0};
    size_t count = 0;
    assert_int_equal(rtune_space_configs(space, &two, &problem, &configs, &count, &err),
                     RTUNE_UNSUPPORTED);
    assert_string_equal(err.message, "s.yaml: the search space has no part for cpu devices");
    assert_null(configs);
    rtune_space_free(space);
    rtune_space_free(NULL);
}

static void check_refused(const char *from, const char *to, int line, const char *words) {
    char text[16384];
    rtune_space *space = NULL;
    struct rtune_error err = {0};
    strcpy(text, SMALL);
    replace(text, from, to);
    if (rtune_space_parse(text, strlen(text), "s.yaml", &space, &err) == RTUNE_OK)
        fail_msg("passed, instead of: %s", words);
    if (strstr(err.message, words) == NULL || err.line != line || err.column < 1)
        fail_msg("wanted %d: %s; got %d:%d: %s", line, words, err.line, err.column, err.message);
    assert_string_equal(err.file, "s.yaml");
    assert_null(space);
}

static void test_refused(void **state) {
    (void)state;
    check_refused("rtune_space: 1", "rtune_space: 2", 1, "format 2 is not known");
    check_refused("rtune_space: 1", "rtune_profile: 1", 1, "unknown key \"rtune_profile\"");
    check_refused("cuda:", "gpu:", 2,
                  "unknown key \"gpu\" (expected one of rtune_space, cuda, cpu)");
    check_refused("  axes:", "  axis:", 3,
                  "unknown key \"axis\" (expected one of axes, constraints)");
    check_refused("    map: [strip]\n", "", 4, "key \"map\" is missing");
    check_refused("    map: [strip]", "    maps: [strip]", 9, "unknown key \"maps\"");
    check_refused("[64, 128]", "[64, 4294967552]", 4, "\"4294967552\" is out of range");
    check_refused("[64, 128]", "[64, 100]", 4, "block: 100 is not allowed");
    check_refused("[64, 128]", "[1]", 4, "\"1\" is out of range (expected 32 to 1024)");
    check_refused("[64, 128]", "[64, 128, 64]", 4, "block: \"64\" is given twice");
    check_refused("[64, 128]", "[\"64\"]", 4, "expected a whole number, not the quoted text");
    check_refused("[64, 128]", "[]", 4, "block: a list of 0 (expected 1 to 64 values)");
    check_refused("[64, 128]", "64", 4, "block: expected a list, not \"64\"");
    check_refused("vectors: [1]", "vectors: [3]", 5, "vectors: 3 is not allowed");
    check_refused("vectors: [1]", "vectors: [32]", 5, "vectors: 32 is not allowed");
    check_refused("vectors: [1]", "vectors: [0]", 5, "vectors: 0 is not allowed");
    check_refused("1xsm, cover", "4097, cover", 6, "grid");
    check_refused("1xsm, cover", "1xsn, cover", 6, "\"1xsn\" is not a grid");
    check_refused("1xsm, cover", "2, cover", 6, "grid: \"2\" is given twice");
    check_refused("[plain]", "[fast]", 7, "\"fast\" is not known (use one of plain,");
    check_refused("[one, slots]", "[none]", 8, "\"none\" is not known");
    check_refused("occupancy: [0]", "occupancy: [33]", 10, "occupancy: 33 is not allowed");
    check_refused("occupancy: [0]", "occupancy: [0]\n    extra: [0, 9]", 11,
                  "extra: 9 is not allowed (0, 2 to 8 stages");
    check_refused("occupancy: [0]", "occupancy: [0]\n    extra: [17]", 11, "extra: 17 is not");
    check_refused("occupancy: [0]", "occupancy: [0]\n    extra: [1]", 11, "extra: 1 is not");
    check_refused("occupancy: [0]", "occupancy: [0]\n    variant: [bulky]", 11, "cascaded, bulk");
    check_refused("occupancy: [0]", "occupancies: [0]", 10, "occupancies");
    check_refused("idle_blocks: false", "idle_blocks: no", 12, "expected true or false");
    check_refused("idle_blocks: false", "wave: 1", 12,
                  "unknown key \"wave\" (expected one of threads");
    check_refused("idle_blocks: false", "waves: -1", 12, "waves: \"-1\" is not a size");
    check_refused("idle_blocks: false", "waves: 2^32", 12, "out of range");
    check_refused("idle_blocks: false", "in_flight: [{from: 0, min: 2, max: 1}]", 12,
                  "max: \"1\" is out of range (expected 2 to");
    check_refused("idle_blocks: false",
                  "in_flight: [{from: 1, min: 0, max: 1}, {from: 1, min: 0, max: 1}]", 12,
                  "from: entries must ascend");
    check_refused("idle_blocks: false", "in_flight: [{from: 1, max: 1}]", 12,
                  "key \"min\" is missing");
    check_refused("cuda:", "x: &a 1\ncuda:", 2, "anchors");
}

static void test_too_many(void **state) {
    (void)state;
    char blocks[256], grids[1024];
    size_t used = 0, length = 0;
    for (int i = 1; i <= 32; i++)
        used += (size_t)snprintf(blocks + used, sizeof(blocks) - used, "%s%d", i == 1 ? "[" : ",",
                                 32 * i);
    strcpy(blocks + used, "]");
    for (int i = 1; i <= 64; i++)
        length +=
            (size_t)snprintf(grids + length, sizeof(grids) - length, "%s%d", i == 1 ? "[" : ",", i);
    strcpy(grids + length, "]");
    char text[4096];
    snprintf(text, sizeof(text),
             "rtune_space: 1\ncuda:\n  axes: {block: %s, vectors: [1, 2, 4, 8, 16], grid: %s,\n    "
             "load: [plain, noncoherent, noallocate, evictfirst], finish: [one, slots, last, "
             "packed],\n    "
             "map: [strip, chunk], occupancy: [0, 1, 2]}\n",
             blocks, grids);
    rtune_space *space = NULL;
    struct rtune_error err = {0};
    assert_int_equal(rtune_space_parse(text, strlen(text), "s.yaml", &space, &err), RTUNE_RANGE);
    assert_non_null(strstr(err.message, "combinations are too many (at most 524288)"));
    assert_int_equal(err.line, 3);
    assert_int_equal(rtune_space_parse("", 0, "s.yaml", &space, &err), RTUNE_SYNTAX);
    assert_non_null(strstr(err.message, "no search space found"));
    assert_int_equal(rtune_space_parse("rtune_space: 1\n", 15, "s.yaml", &space, &err),
                     RTUNE_SYNTAX);
    assert_non_null(strstr(err.message, "no search space found: neither cuda nor cpu"));
    assert_null(space);
}

static void test_default_text(void **state) {
    (void)state;
    rtune_space *space = parse(NULL), *again;
    const char *text = rtune_space_text(space);
    assert_non_null(strstr(text, "\nrtune_space: 1\n"));
    again = parse(text);
    assert_string_equal(rtune_space_text(again), text);
    rtune_space_free(again);
    rtune_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_builtin_once), cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_default_text), cmocka_unit_test(test_warm),
        cmocka_unit_test(test_finishes),     cmocka_unit_test(test_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
