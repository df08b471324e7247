/* SPDX-License-Identifier: Apache-2.0 */
/* Stores: every field there and back, devices, sessions, rows that cannot be served, images, sizes.
 */
#include "tests/db/helper.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void expect_winner(const struct rtune_winner *found, const struct rtune_winner *expected) {
    assert_int_equal(rtune_problem_compare(&found->problem, &expected->problem), 0);
    assert_int_equal(found->problem.struct_size, sizeof found->problem);
    assert_true(rtune_config_equal(&found->config, &expected->config));
    assert_int_equal(found->n_from, expected->n_from);
    assert_int_equal(found->n_to, expected->n_to);
    const double times[] = {expected->us, expected->us_lo, expected->us_hi, expected->default_us,
                            expected->floor_us};
    assert_memory_equal(&found->us, times, sizeof times); /* to the bit */
    assert_int_equal(found->kernel_abi, expected->kernel_abi);
    assert_string_equal(found->source_hash, expected->source_hash);
    assert_string_equal(found->cubin, expected->cubin);
    assert_string_equal(found->driver, expected->driver);
}
_Static_assert(offsetof(struct rtune_winner, floor_us) ==
                   offsetof(struct rtune_winner, us) + 4 * sizeof(double),
               "the times of a winner are an array");

static void expect_device(const struct rtune_identity *found,
                          const struct rtune_identity *expected) {
    assert_true(rtune_identity_equal(found, expected));
    assert_string_equal(found->name, expected->name);
    assert_string_equal(found->uuid, expected->uuid);
    assert_string_equal(found->pci, expected->pci);
    assert_string_equal(found->driver, expected->driver);
    assert_int_equal(found->memory_bytes, expected->memory_bytes);
    assert_int_equal(found->power_mw, expected->power_mw);
    assert_int_equal(found->ecc, expected->ecc);
}

static void expect_session(const struct rtune_session *found,
                           const struct rtune_session *expected) {
    assert_int_equal(found->started, expected->started);
    assert_int_equal(found->ended, expected->ended);
    assert_string_equal(found->tool_version, expected->tool_version);
    assert_string_equal(found->source_hash, expected->source_hash);
    assert_string_equal(found->driver, expected->driver);
    assert_string_equal(found->nvrtc, expected->nvrtc);
    assert_int_equal(found->sm_mhz_start, expected->sm_mhz_start);
    assert_int_equal(found->sm_mhz_end, expected->sm_mhz_end);
    assert_int_equal(found->memory_mhz, expected->memory_mhz);
    assert_int_equal(found->temperature_c, expected->temperature_c);
    assert_int_equal(found->seed, expected->seed);
    assert_string_equal(found->effort, expected->effort);
    assert_string_equal(found->outcome, expected->outcome);
}

static void every_field_comes_back(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_identity device = make_device(32);
    struct rtune_winner winner = {
        .problem = RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F64, (uint64_t)1 << 40),
        .n_from = ((uint64_t)1 << 40) - 1,
        .n_to = UINT64_MAX,
        .us = 1.0 / 3,
        .us_lo = 5e-324,
        .us_hi = RTUNE_DB_US_MAX,
        .default_us = 4.67,
        .floor_us = 0,
        .kernel_abi = RTUNE_KERNEL_ABI,
        .source_hash = "abc",
        .driver = "580.65.06",
    };
    winner.problem.nan_rule = RTUNE_NAN_IGNORE;
    winner.problem.cache = RTUNE_DIRTY;
    winner.config = (struct rtune_config){.variant = RTUNE_CASCADED,
                                          .block = 256,
                                          .items = 8,
                                          .grid = {RTUNE_GRID_BLOCKS, 528},
                                          .load = RTUNE_LOAD_EVICTFIRST,
                                          .finish = RTUNE_FINISH_CLUSTER,
                                          .map = RTUNE_MAP_CHUNK,
                                          .occupancy = 2,
                                          .extra = 8};
    memset(winner.cubin, 'c', sizeof winner.cubin - 1);
    struct rtune_table table = {&device, 1, &winner, 1};
    struct rtune_session session = make_session("quick");
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, &session, &err));
    struct rtune_table read = get(path);
    assert_int_equal(read.device_count, 1);
    assert_int_equal(read.winner_count, 1);
    expect_device(&read.devices[0], &device);
    expect_winner(&read.winners[0], &winner);
    assert_true(read.winners[0].session > 0);
    rtune_table_free(&read);
    rtune_table_free(&read); /* twice is harmless */
    rtune_table_free(NULL);
}

static void cpu_device_is_kept_too(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_identity device = make_cpu();
    struct rtune_winner winner = make_winner(1000, 1, UINT64_MAX, 3);
    winner.config = rtune_config_default(&winner.problem, false);
    winner.config.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, 8};
    struct rtune_table table = {&device, 1, &winner, 1};
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, NULL, &err));
    struct rtune_table read = get(path);
    assert_true(rtune_identity_equal(&read.devices[0], &device));
    assert_true(rtune_config_equal(&read.winners[0].config, &winner.config));
    rtune_table_free(&read);
}

/* Cases E05 and E07: rows are of the device they were measured on; what it is called does not
 * matter. */
static void attributes_follow_the_newest(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_identity device = make_device(14);
    struct rtune_table table = {&device, 1, NULL, 0};
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct rtune_error err = {0};
    put(path, 14, &winner, 1);
    put(path, 32, &winner, 1);
    strcpy(device.driver, "999.1");
    device.ecc = false;
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, NULL, &err));
    device.name[0] = '\0'; /* known by its key alone: what is known stays */
    device.driver[0] = '\0';
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, NULL, &err));
    struct rtune_table read = get(path);
    assert_int_equal(read.device_count, 2);
    assert_int_equal(read.winner_count, 2);
    assert_int_equal(read.devices[0].sm_count, 114);
    assert_string_equal(read.devices[0].name, "NVIDIA X");
    assert_string_equal(read.devices[0].driver, "999.1");
    assert_false(read.devices[0].ecc);
    assert_int_equal(read.devices[1].sm_count, 132);
    assert_string_equal(read.devices[1].driver, "580.1");
    rtune_table_free(&read);
}

static void merge_with_session(const char *path, uint64_t n, int64_t started, const char *effort) {
    struct rtune_identity device = make_device(0);
    struct rtune_winner winner = make_winner(n, n, n, 1);
    struct rtune_session session = make_session(effort);
    struct rtune_table table = {&device, 1, &winner, 1};
    struct rtune_error err = {0};
    session.started = started;
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, &session, &err));
}

static void sessions_newest_first(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_session sessions[8], expected = make_session("third");
    struct rtune_error err = {0};
    size_t count = 99;
    merge_with_session(path, 1, 100, "first");
    merge_with_session(path, 2, 300, "third");
    merge_with_session(path, 3, 200, "second");
    assert_status(RTUNE_OK, &err, rtune_store_sessions(path, sessions, 8, &count, &err));
    assert_int_equal(count, 3);
    expected.started = 300;
    assert_true(sessions[0].id > 0);
    expect_session(&sessions[0], &expected);
    assert_string_equal(sessions[1].effort, "second");
    assert_string_equal(sessions[2].effort, "first");
    assert_status(RTUNE_OK, &err, rtune_store_sessions(path, sessions, 1, &count, &err));
    assert_int_equal(count, 1);
    merge_with_session(path, 1, 400, "fourth"); /* takes the first one's only winner */
    assert_status(RTUNE_OK, &err, rtune_store_sessions(path, sessions, 8, &count, &err));
    assert_int_equal(count, 3);
    assert_string_equal(sessions[0].effort, "fourth");
    assert_string_equal(sessions[2].effort, "second");
    assert_status(RTUNE_NOT_FOUND, &err,
                  rtune_store_sessions(in(state, "no.db"), sessions, 8, &count, &err));
    assert_int_equal(count, 3);
}

/* Whatever another program made of a row, the others are served. */
static void rows_that_cannot_be_served(void **state) {
    static const char *const damage[] = {
        "UPDATE winner SET kernel_abi = 99 WHERE n = 5",
        "UPDATE winner SET block = 48 WHERE n = 5",
        "UPDATE winner SET items = 3 WHERE n = 5",
        "UPDATE winner SET op = 'frobnicate' WHERE n = 5",
        "UPDATE winner SET dtype = 'f8' WHERE n = 5",
        "UPDATE winner SET grid = '0xsm' WHERE n = 5",
        "UPDATE winner SET us = 'fast' WHERE n = 5",
        "UPDATE winner SET us = 9e999 WHERE n = 5",
        "UPDATE winner SET us = -1 WHERE n = 5",
        "UPDATE winner SET us = 1e308, us_hi = 1e308 WHERE n = 5",
        "UPDATE winner SET floor_us = 1e13 WHERE n = 5",
        "UPDATE winner SET us = us_hi + 1 WHERE n = 5",
        "UPDATE winner SET us_lo = us + 0.25 WHERE n = 5",
        "UPDATE winner SET block = 4294967296 + 256 WHERE n = 5",
        "UPDATE winner SET block = x'00' WHERE n = 5",
        "UPDATE winner SET driver = printf('%.*c', 32, 'x') WHERE n = 5",
        "UPDATE winner SET driver = 'a' || char(0) || 'b' WHERE n = 5",
        "UPDATE winner SET device = 77 WHERE n = 5",
        "UPDATE winner SET n_to = 20 WHERE n = 5",
        "UPDATE winner SET flags = 1024 WHERE n = 5",
    };
    struct rtune_winner winners[] = {make_winner(5, 1, 9, 1), make_winner(15, 10, 19, 2)};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(damage); i++) {
        char name[16];
        struct rtune_table table;
        struct rtune_error err = {0};
        size_t skipped = 0;
        snprintf(name, sizeof name, "%zu.db", i);
        const char *path = in(state, name);
        put(path, 0, winners, 2);
        shell(path, damage[i]);
        assert_status(RTUNE_OK, &err, rtune_store_read(path, &table, &skipped, &err));
        if (skipped != 1 || table.winner_count != 1)
            fail_msg("%s: %zu left out, %zu kept", damage[i], skipped, table.winner_count);
        assert_int_equal(table.devices[table.winners[0].device].sm_count, 100);
        rtune_table_free(&table);
        assert_status(RTUNE_OK, &err, rtune_store_read(path, &table, NULL, &err));
        rtune_table_free(&table);
    }
}

static void devices_of_later_versions(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_winner winners[] = {make_winner(5, 1, 9, 1), make_winner(15, 10, 19, 2)};
    struct rtune_table table;
    struct rtune_error err = {0};
    size_t skipped = 0;
    put(path, 0, winners, 2);
    put(path, 1, winners, 2);
    shell(path, "UPDATE device SET key = 'v9|' || key WHERE key LIKE '%sm=100%'");
    assert_status(RTUNE_OK, &err, rtune_store_read(path, &table, &skipped, &err));
    assert_int_equal(skipped, 2);
    assert_int_equal(table.device_count, 1);
    assert_int_equal(table.winner_count, 2);
    assert_int_equal(table.devices[table.winners[0].device].sm_count, 101);
    rtune_table_free(&table);
    /* A merge keeps what it does not understand. */
    put(path, 1, winners, 2);
    assert_status(RTUNE_OK, &err, rtune_store_read(path, &table, &skipped, &err));
    assert_int_equal(skipped, 2);
    rtune_table_free(&table);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void what_a_merge_leaves(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct stat info;
    size_t size, files = 0;
    put(path, 0, &winner, 1);
    unsigned char *first = file_get(path, &size);
    assert_int_equal(chmod(path, 0600), 0);
    winner.us = 2;
    put(path, 0, &winner, 1);
    assert_true(file_same(in(state, "tune.db.1"), first, size));
    assert_false(file_same(path, first, size));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600); /* kept */
    free(first);
    DIR *folder = opendir(*state);
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        files += entry->d_name[0] != '.';
    closedir(folder);
    assert_int_equal(files, 3); /* with tune.db.lock */
}

static void new_stores_of_root_are_for_all(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct stat info;
    mode_t old = umask(0077);
    put(path, 0, &winner, 1);
    umask(old);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, geteuid() == 0 ? 0644 : 0600);
}

static void images(void **state) {
    struct rtune_identity devices[] = {make_device(1), make_device(0)};
    struct rtune_winner winners[] = {make_winner(5, 1, 9, 1), make_winner(15, 10, 19, 2)};
    struct rtune_table table = {devices, 2, winners, 2}, read;
    struct rtune_error err = {0};
    size_t size, skipped = 9;
    winners[1].device = 1;
    assert_status(RTUNE_OK, &err, rtune_store_write_image(in(state, "a"), &table, &err));
    assert_status(RTUNE_OK, &err, rtune_store_write_image(in(state, "b"), &table, &err));
    unsigned char *bytes = file_get(in(state, "a"), &size);
    assert_true(file_same(in(state, "b"), bytes, size));
    /* As shipped: in memory that cannot be written. */
    void *fixed = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fixed != MAP_FAILED);
    memcpy(fixed, bytes, size);
    assert_int_equal(mprotect(fixed, size, PROT_READ), 0);
    assert_status(RTUNE_OK, &err, rtune_store_read_image(fixed, size, &read, &skipped, &err));
    assert_int_equal(read.device_count, 2);
    assert_int_equal(read.winner_count, 2);
    assert_int_equal(skipped, 0);
    assert_int_equal(read.devices[read.winners[0].device].sm_count, 100);
    assert_true(read.winners[0].us == 2);
    rtune_table_free(&read);
    munmap(fixed, size);
    assert_status(RTUNE_STORE_DAMAGED, &err, rtune_store_read_image(bytes, 0, &read, NULL, &err));
    assert_status(RTUNE_STORE_DAMAGED, &err,
                  rtune_store_read_image(bytes, size / 2, &read, NULL, &err));
    assert_status(RTUNE_STORE_DAMAGED, &err, rtune_store_read_image(bytes, 50, &read, NULL, &err));
    free(bytes);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Rows as long as a bare tune makes them: every field full, large n. */
static struct rtune_winner *make_many(size_t count) {
    struct rtune_winner *winners = calloc(count, sizeof *winners);
    assert_non_null(winners);
    for (size_t i = 0; i < count; i++) {
        uint64_t n = ((uint64_t)1 << 32) + 1000 * i;
        winners[i] = make_winner(n, n - 500, n + 499, 1.0 / (double)(i + 3));
        winners[i].config.load = RTUNE_LOAD_NONCOHERENT;
    }
    return winners;
}

static void five_thousand_winners_fit(void **state) {
    enum { COUNT = 5000 };
    const char *path = in(state, "tune.db");
    struct rtune_winner *winners = make_many(COUNT);
    struct stat info;
    put(path, 0, winners, COUNT);
    assert_int_equal(stat(path, &info), 0);
    print_message("%d winners: %lld bytes\n", COUNT, (long long)info.st_size);
    assert_true((size_t)info.st_size < RTUNE_DB_STORE_MAX);
    struct rtune_table table = get(path);
    assert_int_equal(table.winner_count, COUNT);
    rtune_table_free(&table);
    put(path, 0, winners, COUNT); /* replaced, not added */
    assert_int_equal(stat(path, &info), 0);
    assert_true((size_t)info.st_size < RTUNE_DB_STORE_MAX);
    free(winners);
}

static void too_many_winners_are_refused(void **state) {
    enum { COUNT = 15000 };
    const char *path = in(state, "tune.db");
    struct rtune_winner *winners = make_many(COUNT);
    struct rtune_identity device = make_device(0);
    struct rtune_table table = {&device, 1, winners, COUNT};
    struct rtune_error err = {0};
    size_t size;
    put(path, 0, winners, 10);
    unsigned char *before = file_get(path, &size);
    assert_status(RTUNE_RANGE, &err, rtune_store_merge(path, &table, NULL, &err));
    assert_non_null(strstr(err.message, path));
    assert_true(file_same(path, before, size));
    free(before);
    free(winners);
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(every_field_comes_back),
        SCRATCH(cpu_device_is_kept_too),
        SCRATCH(attributes_follow_the_newest),
        SCRATCH(sessions_newest_first),
        SCRATCH(rows_that_cannot_be_served),
        SCRATCH(devices_of_later_versions),
        SCRATCH(what_a_merge_leaves),
        SCRATCH(new_stores_of_root_are_for_all),
        SCRATCH(images),
        SCRATCH(five_thousand_winners_fit),
        SCRATCH(too_many_winners_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
