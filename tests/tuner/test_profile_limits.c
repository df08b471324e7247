/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten thousand rows, more than a session of every kind of problem has: they fit a store that
 * rtune_open reads and a profile of its largest size, and come back whole.
 */
#include "base/digest.h"
#include "base/num.h"
#include "base/rng.h"
#include "db/db.h"
#include "scratch.h"
#include "tuner/profile.h"
#include "tuner/yaml.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { KINDS = 300, DIRTY_KINDS = 30, SIZES = 34, ROWS = KINDS * SIZES };

static struct rtune_table table;

/* Nanoseconds, as the tuner stores them. */
static uint64_t time_of(struct rtune_rng *rng, unsigned bits) {
    return 3000 + (UINT64_C(1) << bits) / 1000 + rtune_rng_below(rng, 1000);
}

/* What a tuner finds: a few hundred configs in all, and each row has one of its neighbours' or one
 * of its own. */
static struct rtune_config config_of(struct rtune_rng *rng, const struct rtune_problem *p) {
    static const char *const grids[] = {"1", "16", "64", "128", "1xsm", "2xsm", "4xsm", "cover"};
    struct rtune_config c = rtune_config_default(p, true);
    c.block = 128u << rtune_rng_below(rng, 4);
    c.items = (16u << rtune_rng_below(rng, 4)) / (uint32_t)rtune_dtype_size(p->dtype);
    c.load = rtune_rng_below(rng, 2) ? RTUNE_LOAD_NOALLOCATE : RTUNE_LOAD_PLAIN;
    assert_int_equal(rtune_grid_parse(grids[rtune_rng_below(rng, 8)], &c.grid, NULL), RTUNE_OK);
    return c;
}

static void fill_row(struct rtune_rng *rng, struct rtune_winner *w, const struct rtune_problem *p,
                     unsigned bits) {
    const uint64_t n = UINT64_C(1) << bits;
    memset(w, 0, sizeof(*w));
    w->problem = *p;
    w->problem.n = n;
    w->n_from = bits > 0 ? n - n / 4 : 1;
    w->n_to = n + 2 * n / 4 - 1;
    if (w->n_to < n) w->n_to = n;
    w->config = bits > 0 && rtune_rng_below(rng, 3) ? w[-1].config : config_of(rng, p);
    uint64_t ns = time_of(rng, bits);
    w->us = (double)ns / 1000;
    w->us_lo = (double)(ns - 32) / 1000;
    w->us_hi = (double)(ns + 64) / 1000;
    w->default_us = (double)time_of(rng, bits) / 1000;
    w->floor_us = (double)time_of(rng, bits) / 1000;
    w->kernel_abi = RTUNE_KERNEL_ABI;
    snprintf(w->source_hash, sizeof(w->source_hash), "%s", rtune_device_sources_hash());
    uint64_t word = rtune_rng_below(rng, UINT64_MAX);
    rtune_digest_hex(&word, sizeof(word), w->cubin);
    snprintf(w->driver, sizeof(w->driver), "580.159.04");
}

static int make_table(void **state) {
    (void)state;
    struct rtune_rng rng = {.seed = 7};
    struct rtune_problem p;
    table.devices = calloc(1, sizeof(*table.devices));
    table.winners = calloc(ROWS, sizeof(*table.winners));
    if (table.devices == NULL || table.winners == NULL) return 1;
    table.device_count = 1;
    table.devices[0] = (struct rtune_identity){.cuda = true, .cc_major = 9, .sm_count = 132};
    for (size_t k = 0; table.winner_count < ROWS; k++) {
        if (!rtune_problem_at(k, &p)) break;
        for (int cache = RTUNE_COLD; cache <= (k < DIRTY_KINDS ? RTUNE_DIRTY : RTUNE_COLD);
             cache++) {
            p.cache = (enum rtune_cache)cache;
            for (unsigned bits = 0; bits < SIZES; bits++)
                fill_row(&rng, &table.winners[table.winner_count++], &p, bits);
        }
    }
    return table.winner_count == ROWS ? 0 : 1;
}

static int drop_table(void **state) {
    (void)state;
    free(table.devices);
    free(table.winners);
    return 0;
}

/* Both tables are in the order of problems. */
static void check_same(const struct rtune_table *again, bool with_cubins) {
    assert_int_equal(again->winner_count, ROWS);
    for (size_t k = 0; k < ROWS; k++) {
        const struct rtune_winner *x = &table.winners[k], *y = &again->winners[k];
        assert_int_equal(rtune_problem_compare(&x->problem, &y->problem), 0);
        assert_true(rtune_config_equal(&x->config, &y->config));
        assert_true(x->n_from == y->n_from && x->n_to == y->n_to);
        assert_true(x->us == y->us && x->us_lo == y->us_lo && x->us_hi == y->us_hi);
        assert_true(x->default_us == y->default_us && x->floor_us == y->floor_us);
        assert_string_equal(x->source_hash, y->source_hash);
        assert_string_equal(x->driver, y->driver);
        assert_string_equal(with_cubins ? x->cubin : "", y->cubin);
    }
}

static void test_profile(void **state) {
    (void)state;
    struct rtune_buf text, second;
    struct rtune_table again;
    struct rtune_error err;
    rtune_buf_init(&text, RTUNE_YAML_MAX);
    rtune_buf_init(&second, RTUNE_YAML_MAX);
    if (rtune_profile_print(&table, NULL, &text, &err) != RTUNE_OK) fail_msg("%s", err.message);
    print_message("profile: %zu bytes\n", text.size);
    if (rtune_profile_parse(text.data, text.size, "p", &again, &err) != RTUNE_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.message);
    check_same(&again, false);
    assert_int_equal(rtune_profile_print(&again, NULL, &second, &err), RTUNE_OK);
    assert_string_equal(text.data, second.data);
    rtune_table_free(&again);
    rtune_buf_free(&second);
    rtune_buf_free(&text);
}

/* What a reader would not take is not written: two devices of as many rows, but each alone. */
static void test_too_long(void **state) {
    (void)state;
    const uint32_t second = 1;
    struct rtune_table both = {.device_count = 2, .winner_count = 2 * (size_t)ROWS};
    struct rtune_buf text;
    struct rtune_error err;
    rtune_buf_init(&text, 2 * RTUNE_YAML_MAX);
    both.devices = calloc(2, sizeof(*both.devices));
    both.winners = calloc(both.winner_count, sizeof(*both.winners));
    assert_true(both.devices != NULL && both.winners != NULL);
    both.devices[0] = both.devices[1] = table.devices[0];
    both.devices[1].sm_count = 114;
    memcpy(both.winners, table.winners, ROWS * sizeof(*both.winners));
    memcpy(both.winners + ROWS, table.winners, ROWS * sizeof(*both.winners));
    for (size_t k = ROWS; k < both.winner_count; k++)
        both.winners[k].device = second;
    assert_int_equal(rtune_profile_print(&both, NULL, &text, &err), RTUNE_RANGE);
    assert_non_null(strstr(err.message, "over 1048576 bytes"));
    assert_int_equal(text.size, 0);
    assert_int_equal(rtune_profile_print(&both, &second, &text, &err), RTUNE_OK);
    rtune_buf_free(&text);
    rtune_table_free(&both);
}

/* ---- short rows by hand ---------------------------------------------------------------------- */

#define CONFIG "block=512,items=16,grid=2xsm,load=noallocate,finish=slots,map=strip,occupancy=0"
#define HEAD                                                                                       \
    "rtune_profile: 1\ndevices:\n"                                                                 \
    "  - identity: \"v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0\"\n"
#define PROBLEM                                                                                    \
    "    problems:\n      - op: sum\n        dtype: f32\n        acc: wide\n        mode: plain\n" \
    "        nan: propagate\n        cache: cold\n        kernel_abi: 1\n"                         \
    "        source_hash: \"\"\n        driver: \"580\"\n        rows:\n"

static enum rtune_status parse(const char *configs, const char *row, struct rtune_table *read,
                               struct rtune_error *err) {
    char text[2048];
    snprintf(text, sizeof(text), HEAD "%s" PROBLEM "        - %s\n", configs, row);
    return rtune_profile_parse(text, strlen(text), "p", read, err);
}

static void refuse(enum rtune_status status, const char *configs, const char *row, int line,
                   const char *message) {
    struct rtune_table read;
    struct rtune_error err;
    assert_int_equal(parse(configs, row, &read, &err), status);
    if (strstr(err.message, message) == NULL) fail_msg("%s", err.message);
    assert_int_equal(err.line, line);
}

static void test_short_rows(void **state) {
    (void)state;
    static const char configs[] = "    configs:\n      - [c1, \"" CONFIG "\"]\n";
    static const char twice[] = "    configs:\n      - [c1, \"" CONFIG "\"]\n"
                                "      - [c1, \"" CONFIG "\"]\n";
    struct rtune_table read;
    struct rtune_error err;
    if (parse(configs, "[64, 1, 100, c1, 3.5, 3.25, 3.75, 4, 2, \"\", \"other\"]", &read, &err) !=
        RTUNE_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.message);
    const struct rtune_winner *w = &read.winners[0];
    assert_int_equal(read.winner_count, 1);
    assert_true(w->problem.n == 64 && w->n_from == 1 && w->n_to == 100);
    assert_true(w->config.block == 512 && w->config.grid.value == 2);
    assert_true(w->us == 3.5 && w->us_lo == 3.25 && w->us_hi == 3.75);
    assert_true(w->default_us == 4 && w->floor_us == 2);
    assert_string_equal(w->driver, "other");
    free(read.devices);
    free(read.winners);
    refuse(RTUNE_SYNTAX, configs, "[64, 1, 100, c2, 3, 3, 3, 4, 2]", 17,
           "\"c2\" is not among the device's");
    refuse(RTUNE_SYNTAX, "", "[64, 1, 100, c1, 3, 3, 3, 4, 2]", 15,
           "\"c1\" is not among the device's");
    refuse(RTUNE_SYNTAX, twice, "[64, 1, 100, c1, 3, 3, 3, 4, 2]", 6, "\"c1\" is given twice");
    refuse(RTUNE_RANGE, configs, "[64, 1, 100, c1, 3, 3, 3, 4]", 17, "9");
    refuse(RTUNE_RANGE, configs, "[64, 1, 100, c1, 3, 3, 3, 4, 2, \"\", \"\", 1]", 17, "11");
}

static void test_store(void **state) {
    (void)state;
    struct scratch scratch;
    char path[256];
    struct rtune_table again;
    struct rtune_error err;
    struct stat info;
    size_t skipped = 0;
    scratch_make(&scratch);
    scratch_path(&scratch, "tune.db", path, sizeof(path));
    if (rtune_store_merge(path, &table, NULL, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_int_equal(stat(path, &info), 0);
    print_message("store: %lld bytes\n", (long long)info.st_size);
    memset(&again, 0, sizeof(again));
    if (rtune_store_read(path, &again, &skipped, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_int_equal(skipped, 0);
    check_same(&again, true);
    rtune_table_free(&again);
    scratch_remove(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_short_rows),
        cmocka_unit_test(test_store),
    };
    return cmocka_run_group_tests(tests, make_table, drop_table);
}
