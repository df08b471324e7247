/* SPDX-License-Identifier: Apache-2.0 */
/* helper.c: see helper.h. */
#include "tests/db/helper.h"

#include "base/buf.h"
#include "tests/scratch_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int scratch_make(void **state) {
    char *path = malloc(SCRATCH_FOLDER);
    if (path == NULL) return -1;
    if (scratch_folder_make(path, "db") != 0) {
        free(path);
        return -1;
    }
    *state = path;
    return chmod(path, 0755);
}

int scratch_remove(void **state) {
    int failed = scratch_folder_remove(*state);
    free(*state);
    return failed;
}

const char *in(void *const *state, const char *name) {
    enum { MOST = 64 };
    static char paths[MOST][RTUNE_DB_PATH];
    static unsigned next;
    char path[RTUNE_DB_PATH];
    snprintf(path, sizeof path, "%s/%s", (const char *)*state, name);
    for (unsigned i = 0; i < MOST; i++)
        if (strcmp(paths[i], path) == 0) return paths[i];
    return strcpy(paths[next++ % MOST], path);
}

struct rtune_identity make_device(unsigned k) {
    struct rtune_identity device = {
        .cuda = true,
        .cc_major = 9,
        .sm_count = 100 + k,
        .l2_bytes = 60u << 20,
        .bus_bits = 6144,
        .memory_mhz = 3200,
        .sm_mhz = 2000,
        .name = "NVIDIA X",
        .uuid = "GPU-0",
        .pci = "0000:17:00.0",
        .driver = "580.1",
        .memory_bytes = UINT64_C(140) << 30,
        .power_mw = 700000,
        .ecc = true,
    };
    return device;
}

struct rtune_identity make_cpu(void) {
    struct rtune_identity device = {
        .model = "Some CPU @ 2.0 GHz",
        .isa = "avx2",
        .cores = 8,
        .l1_bytes = 32768,
        .l3_bytes = 32u << 20,
        .name = "Some CPU @ 2.0 GHz",
    };
    return device;
}

struct rtune_winner make_winner(uint64_t n, uint64_t from, uint64_t to, double tag) {
    struct rtune_winner winner = {
        .problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, n),
        .n_from = from,
        .n_to = to,
        .us = tag,
        .us_lo = tag / 2,
        .us_hi = tag * 2,
        .default_us = 0.1,
        .floor_us = 1.0 / 3,
        .kernel_abi = RTUNE_KERNEL_ABI,
        .source_hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        .cubin = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210",
        .driver = "580.1",
    };
    winner.config = rtune_config_default(&winner.problem, true);
    winner.config.grid = (struct rtune_grid){RTUNE_GRID_SM, 4};
    return winner;
}

struct rtune_session make_session(const char *effort) {
    struct rtune_session session = {
        .started = 1700000000,
        .ended = 1700000100,
        .tool_version = "0.1.0",
        .source_hash = "abc",
        .driver = "580.1",
        .nvrtc = "13.0",
        .sm_mhz_start = 1980,
        .sm_mhz_end = 1755,
        .memory_mhz = 3201,
        .temperature_c = 55,
        .seed = UINT64_MAX - 6,
        .outcome = "complete",
    };
    snprintf(session.effort, sizeof session.effort, "%s", effort);
    return session;
}

struct rtune_trial make_trial(uint64_t n, double tag, size_t count) {
    static double samples[64];
    struct rtune_trial trial = {
        .problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, n),
        .us = tag,
        .us_lo = tag,
        .us_hi = tag,
        .samples = samples,
        .sample_count = count,
    };
    trial.config = rtune_config_default(&trial.problem, true);
    assert_in_range(count, 0, 64);
    for (size_t i = 0; i < count; i++)
        samples[i] = tag + (double)i;
    return trial;
}

void put(const char *path, unsigned device, const struct rtune_winner *winners, size_t count) {
    struct rtune_identity identity = make_device(device);
    struct rtune_winner *copy = malloc((count + 1) * sizeof *copy);
    struct rtune_table table = {&identity, 1, copy, count};
    struct rtune_error err = {0};
    assert_non_null(copy);
    if (count > 0) memcpy(copy, winners, count * sizeof *copy);
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, NULL, &err));
    free(copy);
}

struct rtune_table get(const char *path) {
    struct rtune_table table = {0};
    struct rtune_error err = {0};
    size_t skipped = 99;
    assert_status(RTUNE_OK, &err, rtune_store_read(path, &table, &skipped, &err));
    assert_int_equal(skipped, 0);
    return table;
}

void file_put(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

unsigned char *file_get(const char *path, size_t *size) {
    struct rtune_buf buf;
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_file_read(path, 64u << 20, &buf, &err));
    *size = buf.size;
    return (unsigned char *)buf.data;
}

bool file_exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

bool file_same(const char *a, const unsigned char *data, size_t size) {
    size_t found;
    unsigned char *bytes = file_get(a, &found);
    bool same = found == size && memcmp(bytes, data, size) == 0;
    free(bytes);
    return same;
}

void shell(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int child_start(int (*function)(void *), void *argument) {
    fflush(NULL);
    int pid = fork();
    if (pid == 0) _exit(function(argument));
    assert_true(pid > 0);
    return pid;
}

int child_wait(int pid) {
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int in_child(int (*function)(void *), void *argument) {
    return child_wait(child_start(function, argument));
}

void check_status(enum rtune_status expected, enum rtune_status found,
                  const struct rtune_error *err, const char *text, const char *file, int line) {
    if (expected != found)
        print_error("%s: %s, expected %s: %s\n", text, rtune_status_name(found),
                    rtune_status_name(expected), err == NULL ? "" : err->message);
    _assert_int_equal(found, expected, file, line);
    if (err == NULL || expected == RTUNE_OK) return;
    _assert_int_equal(err->status, expected, file, line);
    _assert_true(err->message[0] != '\0', "a failure says why", file, line);
}

int trip_step(void *user, enum rtune_db_step step) {
    struct trip *trip = user;
    (void)step;
    if (++trip->calls != trip->at) return 0;
    if (trip->errnum == 0) raise(SIGKILL);
    return trip->errnum;
}

struct rtune_db_io trip_io(struct trip *trip) {
    struct rtune_db_io io = rtune_db_io_default();
    io.step = trip_step;
    io.user = trip;
    return io;
}
