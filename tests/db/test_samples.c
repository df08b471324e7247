/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of the trials: what makes it unusable is found before anything is measured, costs no
 * winners if it comes later, and no store is made in its place.
 */
#include "tests/db/helper.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static rtune_work *begin_one_trial(const char *store) {
    struct rtune_identity identity = make_device(0);
    struct rtune_session session = make_session("standard");
    struct rtune_trial trial = make_trial(10, 1, 3);
    struct rtune_error err = {0};
    rtune_work *work = NULL;
    assert_status(RTUNE_OK, &err, rtune_work_open(&work, store, &identity, false, &err));
    assert_status(RTUNE_OK, &err, rtune_work_begin(work, &session, "space", &err));
    assert_status(RTUNE_OK, &err, rtune_work_add_trial(work, &trial, &err));
    return work;
}

/* A failure of the samples comes after the winners, says so, and can be made good. */
static void winners_come_first(void **state) {
    const char *store = in(state, "tune.db"), *path = in(state, "samples.db");
    struct rtune_winner winner = make_winner(10, 0, 19, 1);
    struct rtune_error err = {0};
    rtune_work *work = begin_one_trial(store);
    assert_status(RTUNE_OK, &err, rtune_work_add_winners(work, &winner, 1, &err));
    assert_int_equal(rtune_work_published(work), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_status(RTUNE_STORE_FOREIGN, &err, rtune_work_publish(work, "complete", false, &err));
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "what was decided is stored"));
    assert_int_equal(rtune_work_published(work), 1);
    struct rtune_table table = get(store);
    assert_int_equal(table.winner_count, 1);
    rtune_table_free(&table);
    assert_int_equal(rmdir(path), 0);
    assert_status(RTUNE_OK, &err, rtune_work_publish(work, "complete", false, &err));
    assert_int_equal(rtune_work_published(work), 1);
    assert_true(file_exists(path));
    rtune_work_close(work);
}

/* What would make publishing fail is found before anything is measured. */
static void probe_samples(void **state) {
    const char *store = in(state, "tune.db"), *path = in(state, "samples.db");
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_samples_probe(store, &err));
    assert_false(file_exists(path));
    rtune_work *work = begin_one_trial(store);
    assert_status(RTUNE_OK, &err, rtune_work_publish(work, "complete", false, &err));
    rtune_work_close(work);
    assert_status(RTUNE_OK, &err, rtune_samples_probe(store, &err));
    shell(path, "PRAGMA user_version = 3");
    assert_status(RTUNE_STORE_NEWER, &err, rtune_samples_probe(store, &err));
    file_put(path, "hello", 5);
    assert_status(RTUNE_STORE_FOREIGN, &err, rtune_samples_probe(store, &err));
    assert_non_null(strstr(err.message, path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_status(RTUNE_STORE_UNTRUSTED, &err, rtune_samples_probe(store, &err));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status(RTUNE_STORE_FOREIGN, &err, rtune_samples_probe(store, &err));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_status(RTUNE_STORE_FOREIGN, &err, rtune_samples_probe(store, &err));
}

static void samples_are_no_store(void **state) {
    const char *path = in(state, "samples.db");
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    struct rtune_identity device = make_device(0);
    struct rtune_table table = {&device, 1, &winner, 1};
    struct rtune_store_path target;
    struct rtune_error err = {0};
    rtune_work *work = NULL;
    assert_status(RTUNE_INVALID, &err, rtune_store_target(path, &target, &err));
    assert_non_null(strstr(err.message, path));
    assert_status(RTUNE_INVALID, &err, rtune_store_target("samples.db", &target, &err));
    assert_status(RTUNE_OK, &err, rtune_store_target(in(state, "my-samples.db"), &target, &err));
    assert_status(RTUNE_INVALID, &err, rtune_store_merge(path, &table, NULL, &err));
    assert_status(RTUNE_INVALID, &err, rtune_work_open(&work, path, &device, false, &err));
    assert_null(work);
    assert_false(file_exists(path));
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(winners_come_first),
        SCRATCH(probe_samples),
        SCRATCH(samples_are_no_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
