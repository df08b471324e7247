/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that die: at every step, at any moment, on a full disk. What was reported as committed
 * is there when the session is resumed, the store and the samples are whole, and nothing is
 * recorded twice.
 */
#include "base/rng.h"
#include "tests/db/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { KILLED = 128 + SIGKILL, TRIALS = 4, MOST = 20000 };

struct run {
    const char *store;
    struct rtune_db_io io;
    bool resume, for_ever;
    int report; /* a byte for every trial, and a W for winners, once they are committed */
    double tag;
    struct rtune_error err;
};

static enum rtune_status run_trials(struct run *run, rtune_work *work) {
    enum rtune_status status = RTUNE_OK;
    for (int i = 0; i < TRIALS || run->for_ever; i++) {
        struct rtune_trial trial = make_trial(1000, run->tag + i, 16);
        TRY(rtune_work_add_trial(work, &trial, &run->err));
        if (write(run->report, "t", 1) != 1) return RTUNE_INTERNAL;
    }
done:
    return status;
}

/* A whole session. */
static int run_session(void *argument) {
    enum rtune_status status = RTUNE_OK;
    struct run *run = argument;
    struct rtune_identity identity = make_device(0);
    struct rtune_session session = make_session("quick");
    struct rtune_winner winner = make_winner(1000, 0, UINT64_MAX, 1);
    rtune_work *work = NULL;
    TRY(rtune_work_open_with(&work, run->store, &identity, run->resume, &run->io, &run->err));
    TRY(rtune_work_begin(work, &session, "space", &run->err));
    TRY(run_trials(run, work));
    TRY(rtune_work_add_winners(work, &winner, 1, &run->err));
    if (write(run->report, "W", 1) != 1) TRY(RTUNE_INTERNAL);
    TRY(rtune_work_publish(work, "complete", false, &run->err));
done:
    rtune_work_close(work);
    return (int)status;
}

/* How many of each tag a walk found. */
struct tally {
    unsigned seen[MOST];
    size_t count;
};

static enum rtune_status tally(void *user, const struct rtune_trial *trial,
                               struct rtune_error *err) {
    struct tally *counts = user;
    (void)err;
    assert_in_range(trial->us, 0, MOST - 1);
    assert_int_equal(trial->sample_count, 16);
    assert_true(trial->samples[15] == trial->us + 15);
    counts->seen[(size_t)trial->us]++;
    counts->count++;
    return RTUNE_OK;
}

/* Take up what is left of a session and publish it. */
static void finish(const char *store) {
    struct rtune_identity identity = make_device(0);
    struct rtune_session session = make_session("quick");
    struct rtune_error err = {0};
    rtune_work *work = NULL;
    bool exists;
    uint64_t trials;
    assert_status(RTUNE_OK, &err, rtune_work_peek(store, &identity, &exists, &trials, &err));
    assert_status(RTUNE_OK, &err, rtune_work_open(&work, store, &identity, true, &err));
    assert_status(RTUNE_OK, &err, rtune_work_begin(work, &session, "space", &err));
    assert_status(RTUNE_OK, &err, rtune_work_publish(work, "complete", false, &err));
    rtune_work_close(work);
}

/* Each trial that was reported is recorded once, and at most one more. */
static void expect_recorded(const char *samples, size_t reported) {
    static struct tally counts;
    struct rtune_error err = {0};
    memset(&counts, 0, sizeof counts);
    assert_status(RTUNE_OK, &err, rtune_samples_read(samples, NULL, tally, &counts, &err));
    for (size_t i = 0; i < counts.count; i++)
        assert_int_equal(counts.seen[i], 1);
    assert_true(counts.count >= reported);
    assert_true(counts.count <= reported + 1);
}

/* What the child has reported: the number of trials, and of winners. */
static size_t read_reports(int fd, size_t *winners) {
    size_t trials = 0;
    char byte;
    *winners = 0;
    while (read(fd, &byte, 1) == 1) {
        trials += byte == 't';
        *winners += byte == 'W';
    }
    return trials;
}

/* Wait for a number of reports; how many of them are trials. */
static size_t wait_reports(int fd, size_t count) {
    size_t trials = 0;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    for (size_t i = 0; i < count; i++) {
        char byte = 0;
        assert_int_equal(poll(&ready, 1, 60000), 1);
        assert_int_equal(read(fd, &byte, 1), 1);
        trials += byte == 't';
    }
    return trials;
}

static void clean(void *const *state) {
    static const char *const names[] = {"tune.db", "tune.db.1", "samples.db", "samples.db-journal"};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(names); i++)
        if (file_exists(in(state, names[i]))) assert_int_equal(unlink(in(state, names[i])), 0);
}

static void die_at_every_step(void **state, bool remote) {
    int result = KILLED, deaths = 0, pipes[2];
    const char *store = in(state, "tune.db");
    for (int k = 1; result == KILLED; k++) {
        struct trip trip = {k, 0, 0};
        struct run run = {.store = store, .io = trip_io(&trip)};
        size_t winners;
        assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
        run.report = pipes[1];
        run.io.remote = remote;
        result = in_child(run_session, &run);
        deaths += result == KILLED;
        size_t trials = read_reports(pipes[0], &winners);
        if (file_exists(store)) {
            struct rtune_table table = get(store); /* whole, at once */
            assert_int_equal(table.winner_count, 1);
            rtune_table_free(&table);
        }
        finish(store);
        expect_recorded(in(state, "samples.db"), trials);
        assert_true(file_exists(store) || winners == 0);
        assert_int_equal(close(pipes[0]) | close(pipes[1]), 0);
        clean(state);
    }
    assert_int_equal(result, RTUNE_OK);
    print_message("%d deaths\n", deaths);
    assert_true(deaths >= 20);
}

static void die_at_every_step_local(void **state) { die_at_every_step(state, false); }

static void die_at_every_step_remote(void **state) { die_at_every_step(state, true); }

/* Every step fails once; then the same session is finished by another. */
static void fail_at_every_step(void **state) {
    bool done = false;
    const char *store = in(state, "tune.db");
    int pipes[2];
    for (int k = 1; !done; k++) {
        struct trip trip = {k, ENOSPC, 0};
        struct run run = {.store = store, .io = trip_io(&trip)};
        size_t winners;
        assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
        run.report = pipes[1];
        enum rtune_status status = (enum rtune_status)run_session(&run);
        done = trip.calls < k;
        assert_int_equal(status, done ? RTUNE_OK : RTUNE_IO);
        if (!done) assert_non_null(strstr(run.err.message, strerror(ENOSPC)));
        size_t trials = read_reports(pipes[0], &winners);
        finish(store);
        expect_recorded(in(state, "samples.db"), trials);
        assert_true(file_exists(store) || winners == 0);
        assert_int_equal(close(pipes[0]) | close(pipes[1]), 0);
        clean(state);
    }
}

/* Killed again and again while measuring; each time resumed. */
static void die_at_any_moment(void **state, bool remote) {
    const char *given = getenv("RTUNE_TEST_SEED");
    struct rtune_rng rng = {given == NULL ? 7 : strtoull(given, NULL, 10), 0};
    struct run run = {.store = in(state, "tune.db"), .io = rtune_db_io_default(), .for_ever = true};
    size_t reported = 0, winners;
    int pipes[2];
    print_message("RTUNE_TEST_SEED=%llu\n", (unsigned long long)rng.seed);
    assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
    run.io.remote = remote;
    run.report = pipes[1];
    for (int round = 0; round < 12; round++) {
        struct rtune_identity identity = make_device(0);
        const struct timespec moment = {0, (long)rtune_rng_below(&rng, 3000000)};
        bool exists = false;
        uint64_t trials = 0;
        int pid = child_start(run_session, &run);
        reported += wait_reports(pipes[0], rtune_rng_below(&rng, 12));
        nanosleep(&moment, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(child_wait(pid), KILLED);
        reported += read_reports(pipes[0], &winners);
        struct rtune_error err = {0};
        assert_status(RTUNE_OK, &err,
                      rtune_work_peek(run.store, &identity, &exists, &trials, &err));
        assert_in_range(trials, reported, reported + 1);
        reported = trials;
        run.tag = (double)trials; /* each trial has a tag of its own */
        run.resume = true;
    }
    print_message("%zu trials\n", reported);
    assert_true(reported > 0);
    finish(run.store);
    expect_recorded(in(state, "samples.db"), reported);
    assert_int_equal(close(pipes[0]) | close(pipes[1]), 0);
}

static void die_at_any_moment_local(void **state) { die_at_any_moment(state, false); }

static void die_at_any_moment_remote(void **state) { die_at_any_moment(state, true); }

/* A disk that is really too small, for this process. */
static int run_with_a_limit(void *argument) {
    const struct rlimit limit = {60000, 60000};
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
    return run_session(argument);
}

static void disk_too_small(void **state) {
    struct run run = {.store = in(state, "tune.db"), .io = rtune_db_io_default(), .for_ever = true};
    size_t winners;
    int pipes[2];
    assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
    run.report = pipes[1];
    assert_int_equal(in_child(run_with_a_limit, &run), RTUNE_IO);
    size_t trials = read_reports(pipes[0], &winners);
    assert_true(trials > 0);
    finish(run.store);
    expect_recorded(in(state, "samples.db"), trials);
    assert_int_equal(close(pipes[0]) | close(pipes[1]), 0);
}

/* Case E09, whole sessions: several devices tuned at once into one store and one file of samples.
 */
struct device_run {
    const char *store;
    unsigned device;
};

static int run_device(void *argument) {
    enum rtune_status status = RTUNE_OK;
    const struct device_run *run = argument;
    struct rtune_identity identity = make_device(run->device);
    struct rtune_session session = make_session("quick");
    rtune_work *work = NULL;
    TRY(rtune_work_open(&work, run->store, &identity, false, NULL));
    TRY(rtune_work_begin(work, &session, "space", NULL));
    for (unsigned i = 0; i < 5; i++) {
        uint64_t n = 100 * (uint64_t)i + run->device;
        struct rtune_trial trial = make_trial(n, 5 * run->device + i, 16);
        struct rtune_winner winner = make_winner(n, n, n, 1);
        TRY(rtune_work_add_trial(work, &trial, NULL));
        TRY(rtune_work_add_winners(work, &winner, 1, NULL));
    }
    TRY(rtune_work_publish(work, "complete", false, NULL));
done:
    rtune_work_close(work);
    return (int)status;
}

static void several_devices_at_once(void **state) {
    enum { DEVICES = 6 };
    int pids[DEVICES];
    struct device_run runs[DEVICES];
    for (unsigned i = 0; i < DEVICES; i++) {
        runs[i] = (struct device_run){in(state, "tune.db"), i};
        pids[i] = child_start(run_device, &runs[i]);
    }
    for (unsigned i = 0; i < DEVICES; i++)
        assert_int_equal(child_wait(pids[i]), RTUNE_OK);
    struct rtune_table table = get(in(state, "tune.db"));
    assert_int_equal(table.device_count, DEVICES);
    assert_int_equal(table.winner_count, 5 * DEVICES);
    rtune_table_free(&table);
    expect_recorded(in(state, "samples.db"), 5 * DEVICES);
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(die_at_every_step_local),  SCRATCH(die_at_every_step_remote),
        SCRATCH(fail_at_every_step),       SCRATCH(die_at_any_moment_local),
        SCRATCH(die_at_any_moment_remote), SCRATCH(disk_too_small),
        SCRATCH(several_devices_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
