/* SPDX-License-Identifier: Apache-2.0 */
/* Work databases and samples: rows there and back, locks, resuming, publishing. */
#include "tests/db/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEN_MAX = 64 };

/* What a walk gave. */
struct seen {
    size_t count;
    double tags[SEEN_MAX];
    size_t samples[SEEN_MAX];
    enum rtune_reason reasons[SEEN_MAX];
    size_t stop_at; /* 0: never */
};

static enum rtune_status see(void *user, const struct rtune_trial *trial, struct rtune_error *err) {
    struct seen *seen = user;
    assert_true(seen->count < SEEN_MAX);
    seen->tags[seen->count] = trial->us;
    seen->samples[seen->count] = trial->sample_count;
    seen->reasons[seen->count++] = trial->reason;
    for (size_t i = 0; i < trial->sample_count; i++)
        assert_true(trial->samples[i] == trial->us + (double)i);
    if (seen->count != seen->stop_at) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_INTERRUPTED, "enough");
}

static rtune_work *open_work(const char *store, unsigned device, bool resume) {
    struct rtune_identity identity = make_device(device);
    struct rtune_error err = {0};
    rtune_work *work = NULL;
    assert_status(RTUNE_OK, &err, rtune_work_open(&work, store, &identity, resume, &err));
    return work;
}

static void begin(rtune_work *work) {
    struct rtune_session session = make_session("quick");
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_work_begin(work, &session, "block: [256]", &err));
    assert_true(session.id > 0);
    assert_string_equal(session.outcome, "running");
    assert_int_equal(session.ended, 0);
}

static void add(rtune_work *work, uint64_t n, double tag, size_t samples) {
    struct rtune_trial trial = make_trial(n, tag, samples);
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_work_add_trial(work, &trial, &err));
}

static void add_winner(rtune_work *work, uint64_t n, uint64_t from, uint64_t to, double tag) {
    struct rtune_winner winner = make_winner(n, from, to, tag);
    struct rtune_error err = {0};
    winner.device = 77; /* ignored, as its session is */
    winner.session = 99;
    assert_status(RTUNE_OK, &err, rtune_work_add_winners(work, &winner, 1, &err));
}

static void publish(rtune_work *work, const char *outcome, bool keep) {
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_work_publish(work, outcome, keep, &err));
}

static struct seen walk(rtune_work *work, const struct rtune_problem *problem) {
    struct seen seen = {0};
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_work_trials(work, problem, see, &seen, &err));
    return seen;
}

static struct seen walk_samples(const char *path, const char *key) {
    struct seen seen = {0};
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_samples_read(path, key, see, &seen, &err));
    return seen;
}

static void peek(const char *store, unsigned device, bool *exists, uint64_t *trials) {
    struct rtune_identity identity = make_device(device);
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_work_peek(store, &identity, exists, trials, &err));
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void trials_come_back(void **state) {
    rtune_work *work = open_work(in(state, "tune.db"), 0, false);
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1000);
    struct seen seen = {0};
    struct rtune_error err = {0};
    begin(work);
    add(work, 1000, 3, 5);
    add(work, 2000, 2, 64);
    add(work, 1000, 1, 0);
    seen = walk(work, NULL);
    assert_int_equal(seen.count, 3);
    assert_true(seen.tags[0] == 3 && seen.tags[1] == 2 && seen.tags[2] == 1); /* as they came */
    assert_int_equal(seen.samples[1], 64);
    seen = walk(work, &problem);
    assert_int_equal(seen.count, 2);
    assert_true(seen.tags[0] == 3 && seen.tags[1] == 1);
    problem.nan_rule = RTUNE_NAN_IGNORE; /* the same problem: a sum has no NaN rule */
    assert_int_equal(walk(work, &problem).count, 2);
    problem.cache = RTUNE_WARM;
    assert_int_equal(walk(work, &problem).count, 0);
    seen = (struct seen){.stop_at = 2};
    assert_status(RTUNE_INTERRUPTED, &err, rtune_work_trials(work, NULL, see, &seen, &err));
    assert_int_equal(seen.count, 2);
    assert_string_equal(err.message, "enough"); /* the visit's own words */
    rtune_work_close(work);
}

static enum rtune_status same_trial(void *user, const struct rtune_trial *trial,
                                    struct rtune_error *err) {
    const struct rtune_trial *expected = user;
    (void)err;
    assert_int_equal(rtune_problem_compare(&trial->problem, &expected->problem), 0);
    assert_true(rtune_config_equal(&trial->config, &expected->config));
    assert_string_equal(trial->detail, expected->detail);
    assert_int_equal(trial->reason, expected->reason);
    assert_true(trial->us == expected->us && trial->us_lo == expected->us_lo &&
                trial->us_hi == expected->us_hi);
    assert_int_equal(trial->sample_count, expected->sample_count);
    assert_memory_equal(trial->samples, expected->samples,
                        expected->sample_count * sizeof *expected->samples);
    return RTUNE_OK;
}

static void every_field_of_a_trial(void **state) {
    static double samples[4096] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0};
    rtune_work *work = open_work(in(state, "tune.db"), 0, false);
    struct rtune_trial trial = {
        .problem = RTUNE_PROBLEM(RTUNE_MAX, RTUNE_I64, (uint64_t)1 << 33),
        .reason = RTUNE_REASON_CORRECTNESS,
        .us = 0.1,
        .us_lo = 0.2,
        .us_hi = 0.3,
        .samples = samples,
        .sample_count = 4096,
    };
    struct rtune_error err = {0};
    trial.problem.cache = RTUNE_DIRTY;
    trial.config = rtune_config_default(&trial.problem, true);
    trial.config.map = RTUNE_MAP_CHUNK;
    memset(trial.detail, 'd', sizeof trial.detail - 1);
    begin(work);
    assert_status(RTUNE_OK, &err, rtune_work_add_trial(work, &trial, &err));
    assert_int_equal(rtune_work_trials(work, NULL, same_trial, &trial, NULL), RTUNE_OK);
    publish(work, "complete", false);
    assert_status(RTUNE_OK, &err,
                  rtune_samples_read(in(state, "samples.db"), NULL, same_trial, &trial, &err));
    rtune_work_close(work);
}

static void every_reason(void **state) {
    rtune_work *work = open_work(in(state, "tune.db"), 0, false);
    struct seen seen;
    begin(work);
    for (int i = 0; i < RTUNE_REASON_COUNT; i++) {
        struct rtune_trial trial = make_trial(10, 0, 0);
        trial.reason = (enum rtune_reason)i;
        trial.samples = NULL;
        assert_int_equal(rtune_work_add_trial(work, &trial, NULL), RTUNE_OK);
        assert_non_null(rtune_reason_name(trial.reason));
    }
    assert_null(rtune_reason_name(RTUNE_REASON_COUNT));
    seen = walk(work, NULL);
    assert_int_equal(seen.count, RTUNE_REASON_COUNT);
    for (int i = 0; i < RTUNE_REASON_COUNT; i++)
        assert_int_equal(seen.reasons[i], i);
    rtune_work_close(work);
}

static void what_is_refused(void **state) {
    static const double samples[4097];
    rtune_work *work = open_work(in(state, "tune.db"), 0, false);
    struct rtune_trial trial = make_trial(10, 1, 3);
    struct rtune_winner winner = make_winner(10, 20, 30, 1);
    struct rtune_session session = make_session("quick");
    struct rtune_error err = {0};
    assert_status(RTUNE_INVALID, &err, rtune_work_add_trial(work, &trial, &err));
    assert_status(RTUNE_INVALID, &err, rtune_work_update(work, &session, &err));
    assert_status(RTUNE_INVALID, &err, rtune_work_add_winners(work, &winner, 0, &err));
    assert_status(RTUNE_INVALID, &err, rtune_work_publish(work, "complete", false, &err));
    begin(work);
    assert_status(RTUNE_INVALID, &err, rtune_work_add_winners(work, &winner, 1, &err));
    assert_status(RTUNE_INVALID, &err, rtune_work_publish(work, "", false, &err));
    assert_status(RTUNE_INVALID, &err,
                  rtune_work_publish(work, "an outcome that is too long", false, &err));
    trial.samples = samples;
    trial.sample_count = 4097;
    assert_status(RTUNE_RANGE, &err, rtune_work_add_trial(work, &trial, &err));
    trial = make_trial(10, 1, 3);
    trial.us = 1.0 / 0.0;
    assert_status(RTUNE_RANGE, &err, rtune_work_add_trial(work, &trial, &err));
    trial = make_trial(10, 1, 3);
    trial.problem.op = RTUNE_OP_COUNT;
    assert_status(RTUNE_INVALID, &err, rtune_work_add_trial(work, &trial, &err));
    assert_int_equal(walk(work, NULL).count, 0);
    add(work, 10, 1, 3); /* a refusal leaves no transaction behind */
    assert_int_equal(walk(work, NULL).count, 1);
    rtune_work_close(work);
    rtune_work_close(NULL);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int try_open(void *argument) {
    struct rtune_identity identity = make_device(0);
    rtune_work *work = NULL;
    return (int)rtune_work_open(&work, argument, &identity, false, NULL);
}

static void one_tuner_per_device(void **state) {
    const char *store = in(state, "tune.db");
    struct rtune_identity identity = make_device(0);
    struct rtune_error err = {0};
    rtune_work *work = open_work(store, 0, false), *second = NULL;
    bool exists = true;
    uint64_t trials = 9;
    begin(work);
    add(work, 10, 1, 1);
    assert_status(RTUNE_LOCKED, &err, rtune_work_open(&second, store, &identity, false, &err));
    assert_non_null(strstr(err.message, "tuning this device"));
    assert_null(second);
    assert_int_equal(in_child(try_open, (void *)(uintptr_t)store), RTUNE_LOCKED);
    assert_status(RTUNE_LOCKED, &err, rtune_work_peek(store, &identity, &exists, &trials, &err));
    assert_int_equal(trials, 9);
    second = open_work(store, 1, false); /* another device */
    rtune_work_close(second);
    assert_int_equal(walk(work, NULL).count, 1);
    rtune_work_close(work);
    assert_int_equal(in_child(try_open, (void *)(uintptr_t)store), RTUNE_OK);
}

static size_t count_files(void *const *state, const char *part) {
    char command[600];
    snprintf(command, sizeof command, "ls '%s' | grep -c '%s'", (const char *)*state, part);
    FILE *pipe = popen(command, "r");
    unsigned count = 99;
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%u", &count), 1);
    pclose(pipe);
    return count;
}

static void resume_or_not(void **state) {
    const char *store = in(state, "tune.db");
    bool exists = true;
    uint64_t trials = 9;
    peek(store, 0, &exists, &trials);
    assert_false(exists);
    assert_int_equal(trials, 0);
    rtune_work *work = open_work(store, 0, false);
    rtune_work_close(work);
    assert_int_equal(count_files(state, "work-[0-9a-f]*$"), 0); /* unused */
    work = open_work(store, 0, true); /* nothing to resume is no failure */
    begin(work);
    add(work, 10, 1, 4);
    add(work, 20, 2, 4);
    rtune_work_close(work);
    peek(store, 0, &exists, &trials);
    assert_true(exists);
    assert_int_equal(trials, 2);
    peek(store, 1, &exists, &trials);
    assert_false(exists);
    work = open_work(store, 0, true);
    assert_int_equal(walk(work, NULL).count, 2);
    begin(work);
    add(work, 30, 3, 4);
    assert_int_equal(walk(work, NULL).count, 3);
    rtune_work_close(work);
    work = open_work(store, 0, false);
    assert_int_equal(walk(work, NULL).count, 0);
    rtune_work_close(work);
}

static void retire(void **state) {
    const char *store = in(state, "tune.db"), *samples = in(state, "samples.db");
    struct rtune_session session = make_session("standard");
    struct rtune_work_match match = {true, true};
    struct rtune_error err = {0};
    rtune_work *work = open_work(store, 0, false);
    assert_status(RTUNE_OK, &err, rtune_work_compare(work, &session, "space", &match, &err));
    assert_false(match.kernels || match.space);
    assert_status(RTUNE_OK, &err, rtune_work_begin(work, &session, "space", &err));
    assert_status(RTUNE_INVALID, &err, rtune_work_retire(work, &err));
    add(work, 10, 1, 4);
    add(work, 20, 2, 4);
    add_winner(work, 10, 0, UINT64_MAX, 1);
    rtune_work_close(work);
    work = open_work(store, 0, true);
    assert_status(RTUNE_OK, &err, rtune_work_compare(work, &session, "space", &match, &err));
    assert_true(match.kernels && match.space);
    assert_status(RTUNE_OK, &err, rtune_work_compare(work, &session, "spaces", &match, &err));
    assert_true(match.kernels && !match.space);
    char *const words[] = {session.driver, session.source_hash, session.nvrtc};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(words); i++) {
        words[i][0] ^= 1;
        assert_status(RTUNE_OK, &err, rtune_work_compare(work, &session, "space", &match, &err));
        assert_false(match.kernels || match.space);
        words[i][0] ^= 1;
    }
    assert_status(RTUNE_OK, &err, rtune_work_retire(work, &err));
    assert_int_equal(walk(work, NULL).count, 0);
    assert_int_equal(walk_samples(samples, NULL).count, 2);
    begin(work); /* and it can be used */
    add(work, 30, 3, 4);
    publish(work, "complete", false);
    rtune_work_close(work);
    assert_int_equal(walk_samples(samples, NULL).count, 3);
}

static void damaged_work(void **state) {
    const char *store = in(state, "tune.db");
    struct rtune_identity identity = make_device(0);
    struct rtune_error err = {0};
    char path[RTUNE_DB_PATH], key[RTUNE_IDENTITY_KEY], hash[RTUNE_DIGEST_HEX];
    rtune_work *work = NULL;
    bool exists;
    uint64_t trials;
    rtune_identity_key(&identity, key);
    rtune_digest_hex(key, strlen(key), hash);
    snprintf(path, sizeof path, "%s.work-%.16s", store, hash);
    file_put(path, "hello", 5);
    assert_status(RTUNE_STORE_FOREIGN, &err, rtune_work_open(&work, store, &identity, true, &err));
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "(--fresh drops it)"));
    assert_status(RTUNE_STORE_FOREIGN, &err,
                  rtune_work_peek(store, &identity, &exists, &trials, &err));
    assert_non_null(strstr(err.message, "(--fresh drops it)"));
    assert_true(file_same(path, (const unsigned char *)"hello", 5));
    work = open_work(store, 0, false); /* a fresh start needs nothing of it */
    begin(work);
    add(work, 10, 1, 1);
    rtune_work_close(work);
    assert_int_equal(chmod(path, 0666), 0);
    assert_status(RTUNE_STORE_UNTRUSTED, &err,
                  rtune_work_open(&work, store, &identity, true, &err));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_status(RTUNE_IO, &err, rtune_work_open(&work, store, &identity, false, &err));
    assert_status(RTUNE_IO, &err,
                  rtune_work_open(&work, in(state, "no/folder.db"), &identity, false, &err));
}

/* ---- publishing ------------------------------------------------------------------------------ */

static void publish_all(void **state) {
    const char *store = in(state, "tune.db");
    struct rtune_session sessions[4], update = make_session("standard");
    struct rtune_trial trial = make_trial(10, 1, 1);
    struct rtune_error err = {0};
    char key[RTUNE_IDENTITY_KEY];
    size_t count = 0;
    rtune_work *work = open_work(store, 0, false);
    begin(work);
    add(work, 10, 1, 3);
    add(work, 20, 2, 3);
    add_winner(work, 10, 0, UINT64_MAX, 1);  /* decided first, */
    add_winner(work, 20, 15, UINT64_MAX, 2); /* then divided */
    update.sm_mhz_end = 1234;
    assert_status(RTUNE_OK, &err, rtune_work_update(work, &update, &err));
    publish(work, "complete", false);
    struct rtune_table table = get(store);
    assert_int_equal(table.winner_count, 2);
    assert_int_equal(table.winners[0].n_to, 14);
    assert_int_equal(table.winners[1].n_from, 15);
    assert_status(RTUNE_OK, &err, rtune_store_sessions(store, sessions, 4, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(table.winners[0].session, sessions[0].id);
    assert_string_equal(sessions[0].outcome, "complete");
    assert_string_equal(sessions[0].effort, "standard");
    assert_int_equal(sessions[0].sm_mhz_end, 1234);
    assert_true(sessions[0].ended > 1700000100);
    assert_true(sessions[0].seed == UINT64_MAX - 6);
    rtune_identity_key(&table.devices[0], key);
    rtune_table_free(&table);
    assert_int_equal(walk_samples(in(state, "samples.db"), NULL).count, 2);
    assert_int_equal(walk_samples(in(state, "samples.db"), key).count, 2);
    assert_int_equal(walk_samples(in(state, "samples.db"), "v1|other").count, 0);
    assert_status(RTUNE_INVALID, &err, rtune_work_add_trial(work, &trial, &err)); /* it is over */
    assert_status(RTUNE_INVALID, &err, rtune_work_trials(work, NULL, see, NULL, &err));
    rtune_work_close(work);
    assert_int_equal(count_files(state, "work-[0-9a-f]*$"), 0);
    assert_int_equal(count_files(state, "wal\\|shm\\|journal\\|new"), 0);
}

static void publish_and_keep(void **state) {
    const char *store = in(state, "tune.db"), *samples = in(state, "samples.db");
    struct rtune_winner newer = make_winner(10, 0, 19, 100);
    struct seen seen;
    rtune_work *work = open_work(store, 0, false);
    begin(work);
    add(work, 10, 1, 3);
    add(work, 20, 2, 3);
    add_winner(work, 10, 0, 19, 1);
    publish(work, "interrupted", true);
    rtune_work_close(work);
    put(store, 0, &newer, 1); /* someone imports something better meanwhile */
    work = open_work(store, 0, true);
    assert_int_equal(walk(work, NULL).count, 2);
    begin(work);
    add(work, 30, 3, 3);
    add_winner(work, 30, 20, 39, 3);
    publish(work, "complete", true);
    publish(work, "complete", false); /* again: nothing happens twice */
    rtune_work_close(work);
    seen = walk_samples(samples, NULL);
    assert_int_equal(seen.count, 3);
    assert_true(seen.tags[0] == 1 && seen.tags[1] == 2 && seen.tags[2] == 3);
    struct rtune_table table = get(store);
    assert_int_equal(table.winner_count, 2);
    assert_true(table.winners[0].us == 100);
    assert_true(table.winners[1].us == 3);
    rtune_table_free(&table);
}

static void nothing_decided(void **state) {
    rtune_work *work = open_work(in(state, "tune.db"), 0, false);
    begin(work);
    add(work, 10, 1, 3);
    publish(work, "interrupted", false);
    rtune_work_close(work);
    assert_false(file_exists(in(state, "tune.db"))); /* the store has nothing to say */
    assert_int_equal(walk_samples(in(state, "samples.db"), NULL).count, 1);
}

static void publish_into_a_locked_store(void **state) {
    const char *store = in(state, "tune.db");
    struct rtune_identity identity = make_device(0);
    struct rtune_db_io io = rtune_db_io_default();
    struct rtune_lock lock = {-1};
    struct rtune_error err = {0};
    rtune_work *work = NULL;
    io.wait_ms = 50;
    assert_status(RTUNE_OK, &err, rtune_work_open_with(&work, store, &identity, false, &io, &err));
    begin(work);
    add(work, 10, 1, 3);
    add_winner(work, 10, 0, 19, 1);
    assert_status(RTUNE_OK, &err, rtune_lock_take(store, 0, &lock, &err));
    assert_status(RTUNE_LOCKED, &err, rtune_work_publish(work, "complete", false, &err));
    rtune_lock_release(&lock);
    assert_int_equal(walk(work, NULL).count, 1); /* nothing is lost */
    publish(work, "complete", false);
    rtune_work_close(work);
    struct rtune_table table = get(store);
    assert_int_equal(table.winner_count, 1);
    rtune_table_free(&table);
}

static void bad_samples(void **state) {
    const char *path = in(state, "samples.db");
    struct rtune_error err = {0};
    struct seen seen = {0};
    assert_status(RTUNE_NOT_FOUND, &err, rtune_samples_read(path, NULL, see, &seen, &err));
    assert_false(file_exists(path));
    file_put(path, "hello", 5);
    assert_status(RTUNE_STORE_FOREIGN, &err, rtune_samples_read(path, NULL, see, &seen, &err));
    assert_non_null(strstr(err.message, path));
    rtune_work *work = open_work(in(state, "tune.db"), 0, false);
    begin(work);
    add(work, 10, 1, 3);
    assert_status(RTUNE_STORE_FOREIGN, &err, rtune_work_publish(work, "complete", false, &err));
    assert_non_null(strstr(err.message, path));
    assert_true(file_same(path, (const unsigned char *)"hello", 5));
    assert_int_equal(unlink(path), 0);
    publish(work, "complete", false);
    rtune_work_close(work);
    shell(path, "PRAGMA ignore_check_constraints = ON; UPDATE trial SET sample_count = 1 << 40");
    assert_status(RTUNE_STORE_DAMAGED, &err, rtune_samples_read(path, NULL, see, &seen, &err));
    shell(path, "PRAGMA user_version = 3");
    assert_status(RTUNE_STORE_NEWER, &err, rtune_samples_read(path, NULL, see, &seen, &err));
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(trials_come_back),
        SCRATCH(every_field_of_a_trial),
        SCRATCH(every_reason),
        SCRATCH(what_is_refused),
        SCRATCH(one_tuner_per_device),
        SCRATCH(resume_or_not),
        SCRATCH(retire),
        SCRATCH(damaged_work),
        SCRATCH(publish_all),
        SCRATCH(publish_and_keep),
        SCRATCH(nothing_decided),
        SCRATCH(publish_into_a_locked_store),
        SCRATCH(bad_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
