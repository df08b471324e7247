/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole sessions on the cpu device, with a worker program whose kernels misbehave on request: what
 * is told, what is stored, and what survives cheats, a budget, Ctrl-C, kill -9 and bad options. The
 * first argument is the worker program.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"
#include "tests/tuner/tune_fixture.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *program;
static struct tune_fixture f;
static const struct rtune_problem kinds[2] = {RTUNE_PROBLEM_INIT(RTUNE_MAX, RTUNE_I64, 0),
                                              RTUNE_PROBLEM_INIT(RTUNE_SUM, RTUNE_F32, 0)};
static const uint64_t sizes[5] = {1, 100, 4096, 5000, 65536};

static int set_up(void **state) {
    (void)state;
    unsetenv("RTUNE_TEST_CHEATS");
    tune_open(&f, "cpu", program);
    f.options.problems = kinds;
    f.options.problem_count = 2;
    f.options.sizes = sizes;
    f.options.size_count = RTUNE_ARRAY_SIZE(sizes);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    tune_close(&f);
    return 0;
}

static bool is_a_size(uint64_t n) {
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(sizes); k++)
        if (sizes[k] == n) return true;
    return false;
}

static void test_complete(void **state) {
    (void)state;
    tune_ok(&f);
    assert_string_equal(f.told.outcome, "complete");
    assert_int_equal(f.told.dones, 1);
    assert_int_equal(f.told.total, 10);
    assert_int_equal(f.told.done, 10);
    assert_int_equal(f.told.problems, 10);
    assert_int_equal(f.told.stored, 10);
    assert_string_equal(f.told.stored_at, f.store);
    assert_true(f.told.trials > 30);
    tune_read(&f);
    assert_int_equal(f.table.device_count, 1);
    assert_int_equal(f.table.winner_count, 10);
    tune_check_intervals(&f);
    for (size_t k = 0; k < f.table.winner_count; k++) {
        const struct rtune_winner *w = &f.table.winners[k];
        assert_true(is_a_size(w->problem.n));
        assert_true(w->us > 0 && w->us_lo <= w->us && w->us <= w->us_hi);
        assert_true(w->default_us > 0);
        if (!(w->floor_us > 0 && w->floor_us <= w->us))
            fail_msg("n=%llu: floor %g us, measured %g us", (unsigned long long)w->problem.n,
                     w->floor_us, w->us);
        assert_int_equal(w->kernel_abi, RTUNE_KERNEL_ABI);
        assert_string_equal(w->source_hash, rtune_device_sources_hash());
        assert_string_equal(w->cubin, "");
        assert_int_equal(rtune_config_check(&w->config, w->problem.dtype, NULL), RTUNE_OK);
    }
    struct rtune_session session;
    size_t count = 0;
    assert_int_equal(rtune_store_sessions(f.store, &session, 1, &count, NULL), RTUNE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(session.outcome, "complete");
    assert_string_equal(session.effort, "standard");
    assert_int_equal(session.seed, 1);
    bool exists = true;
    uint64_t trials = 0;
    assert_int_equal(rtune_work_peek(f.store, &f.table.devices[0], &exists, &trials, NULL),
                     RTUNE_OK);
    assert_false(exists);
}

/* Every op, dtype, acc, mode and NaN rule can be verified and measured, and none of it fails. */
static void test_every_problem(void **state) {
    (void)state;
    enum { MOST = 512 };
    static struct rtune_problem all[MOST];
    static const uint64_t few[] = {1, 1000};
    size_t count = 0;
    while (count < MOST && rtune_problem_at(count, &all[count]))
        count++;
    assert_true(count > 250 && count < MOST);
    f.options.problems = all;
    f.options.problem_count = count;
    f.options.sizes = few;
    f.options.size_count = 2;
    f.options.effort = RTUNE_EFFORT_QUICK;
    tune_ok(&f);
    if (strcmp(f.told.said, "") != 0) print_message("%s", f.told.said);
    assert_string_equal(f.told.outcome, "complete");
    assert_int_equal(f.told.failures[RTUNE_REASON_CORRECTNESS], 0);
    assert_int_equal(f.told.failures[RTUNE_REASON_RUNTIME], 0);
    tune_read(&f);
    assert_int_equal(f.table.winner_count, 2 * count);
    tune_check_intervals(&f);
}

/* Of inputs that are in a cache no floor is known. */
static void test_warm_has_no_floor(void **state) {
    (void)state;
    struct rtune_problem warm = kinds[1];
    warm.cache = RTUNE_WARM;
    f.options.problems = &warm;
    f.options.problem_count = 1;
    tune_ok(&f);
    tune_read(&f);
    assert_int_equal(f.table.winner_count, 5);
    for (size_t k = 0; k < f.table.winner_count; k++)
        assert_true(f.table.winners[k].us > 0 && f.table.winners[k].floor_us == 0);
}

/* A replay of that session's samples needs no device and gives a store of its own. */
static void test_replay(void **state) {
    (void)state;
    char samples[512], device[600];
    tune_ok(&f);
    assert_int_equal(rtune_samples_path(f.store, samples, sizeof(samples), NULL), RTUNE_OK);
    snprintf(device, sizeof(device), "replay:%s", samples);
    f.options.device = device;
    f.options.worker = NULL;
    scratch_path(&f.scratch, "replayed.db", f.store, sizeof(f.store));
    tune_ok(&f);
    tune_read(&f);
    assert_int_equal(f.table.winner_count, 10);
    assert_string_equal(f.table.devices[0].model, "replay");
    tune_check_intervals(&f);
}

/* A plan measures and writes nothing. */
static void test_plan_only(void **state) {
    (void)state;
    f.options.plan_only = true;
    tune_ok(&f);
    assert_int_equal(f.told.trials + f.told.dones, 0);
    assert_int_equal(f.told.sizes, 5);
    assert_int_equal(access(f.store, F_OK), -1);
    f.options.plan_only = false;
    f.options.sizes = NULL;
    f.options.plan_only = true;
    tune_ok(&f);
    assert_true(f.told.sizes > 20); /* powers of two up to a part of the memory */
}

/* Cheats, a crash and a hang among the candidates: the session ends well, without them. */
static void test_cheats(void **state) {
    (void)state;
    setenv("RTUNE_TEST_CHEATS", "skip=items=32,;crash=items=128,;hang=items=8,", 1);
    f.options.candidate_limit_s = 0.5;
    tune_ok(&f);
    assert_string_equal(f.told.outcome, "complete");
    assert_true(f.told.failures[RTUNE_REASON_CORRECTNESS] >= 1);
    assert_true(f.told.failures[RTUNE_REASON_RUNTIME] >= 1);
    assert_true(f.told.failures[RTUNE_REASON_TIMEOUT] >= 1);
    tune_read(&f);
    assert_int_equal(f.table.winner_count, 10);
    for (size_t k = 0; k < f.table.winner_count; k++) {
        uint32_t items = f.table.winners[k].config.items;
        assert_true(items != 32 ||
                    f.table.winners[k].problem.n == 1); /* n = 1 has no last to skip */
        assert_true(items != 128 && items != 8);
    }
}

/* Everything fails: nothing is stored, it is said, and it is no success. */
static void test_all_fail(void **state) {
    (void)state;
    setenv("RTUNE_TEST_CHEATS", "nothing=block=1", 1);
    f.options.problem_count = 1;
    struct rtune_error err;
    assert_int_equal(tune_run(&f, &err), RTUNE_DEVICE);
    assert_int_equal(f.told.problems, 0);
    assert_string_equal(f.told.outcome, "failed");
    assert_int_equal(f.told.stored, 0);
    assert_string_equal(f.told.stored_at, "");
    assert_non_null(strstr(f.told.said, "the built-in kernel gives a wrong result on cpu"));
    assert_non_null(strstr(f.told.last_warning, "every candidate failed"));
    assert_non_null(strstr(err.message, "5 of 5 sizes have no winner, nothing is stored"));
}

/* Ctrl-C: what was decided is published, --resume measures only the rest. */
static void test_stop_and_resume(void **state) {
    (void)state;
    struct rtune_error err;
    tune_ok(&f);
    size_t all = f.told.trials;
    f.told.stop_after = all / 2;
    f.options.fresh = true;
    assert_int_equal(tune_run(&f, &err), RTUNE_INTERRUPTED);
    assert_string_equal(f.told.outcome, "interrupted");
    assert_int_equal(f.told.dones, 1);
    size_t decided = f.told.problems, before = f.told.trials;
    assert_true(decided > 0 && decided < 10);
    f.told.stop_after = 0;
    f.options.fresh = false;
    f.options.resume = true;
    tune_ok(&f);
    assert_string_equal(f.told.outcome, "complete");
    assert_int_equal(f.told.problems, 10);
    assert_true(f.told.trials < all);
    assert_true(f.told.trials + before < all + all / 2);
    tune_read(&f);
    assert_int_equal(f.table.winner_count, 10);
    tune_check_intervals(&f);
    /* There is nothing left to resume. */
    tune_ok(&f);
    assert_non_null(strstr(f.told.said, "no unfinished session"));
}

static void killed_after(size_t trials) {
    int how = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        f.told.kill_after = trials;
        (void)tune_run(&f, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

/* kill -9: the store is whole and old, the trials are there. */
static void test_kill_and_resume(void **state) {
    (void)state;
    killed_after(40);
    assert_int_equal(access(f.store, F_OK), -1);
    f.options.fresh = true;
    tune_ok(&f);
    assert_null(strstr(f.told.said, "unfinished"));
    f.options.fresh = false;
    assert_true(f.told.trials_before > 0 && f.told.trials_before < 40);
    killed_after(40);
    tune_read(&f);
    assert_int_equal(f.table.winner_count, 10);
    f.options.resume = true;
    tune_ok(&f);
    assert_int_equal(f.told.problems, 10);
    /* The trials that were kept decide the first size; none of them is made again. */
    assert_int_equal(f.told.trials_before, 0);
}

static const char other_space[] = "rtune_space: 1\n"
                                  "cpu:\n"
                                  "  axes:\n"
                                  "    vectors: [4, 8]\n"
                                  "    grid: [1]\n"
                                  "    load: [plain]\n"
                                  "    finish: [one]\n"
                                  "    map: [chunk]\n";

static enum rtune_status count_one(void *user, const struct rtune_trial *trial,
                                   struct rtune_error *err) {
    size_t *count = user;
    (void)trial;
    (void)err;
    (*count)++;
    return RTUNE_OK;
}

static size_t recorded(void) {
    char samples[512];
    size_t count = 0;
    assert_int_equal(rtune_samples_path(f.store, samples, sizeof(samples), NULL), RTUNE_OK);
    assert_int_equal(rtune_samples_read(samples, NULL, count_one, &count, NULL), RTUNE_OK);
    return count;
}

/* Neither --resume nor --fresh: the same plan goes on, another one begins anew; either way every
 * trial is recorded in the end. */
static void test_unfinished(void **state) {
    (void)state;
    killed_after(40);
    tune_ok(&f);
    assert_non_null(strstr(f.told.said, "going on from an unfinished session with"));
    assert_int_equal(f.told.problems, 10);
    size_t first = f.told.trials;
    assert_in_range(recorded(), 40 + first, 40 + first);
    killed_after(40);
    tune_space(&f, other_space);
    tune_ok(&f);
    assert_non_null(strstr(f.told.said, "another search space"));
    assert_non_null(strstr(f.told.said, "kept in the samples"));
    assert_int_equal(f.told.problems, 10);
    assert_in_range(recorded(), 80 + first + f.told.trials, 80 + first + f.told.trials);
}

/* A budget that does not suffice ends the session in time, with what there is. */
static void test_budget(void **state) {
    (void)state;
    static uint64_t
        many[4000]; /* twice as many steps, 4 times what a fast machine was seen to do */
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(many); k++)
        many[k] = 3000 + k;
    f.options.sizes = many;
    f.options.size_count = RTUNE_ARRAY_SIZE(many);
    f.options.budget_s = 4;
    uint64_t start = rtune_clock_ns();
    tune_ok(&f);
    double took = (double)(rtune_clock_ns() - start) / 1e9;
    assert_string_equal(f.told.outcome, "budget");
    assert_true(f.told.done < f.told.total && f.told.problems > 0);
    assert_true(took < 12); /* with the start of the worker and a share of a loaded machine */
    tune_read(&f);
    assert_int_equal(f.table.winner_count, f.told.problems);
    tune_check_intervals(&f);
}

static void nothing_stored(enum rtune_status status, const char *outcome) {
    struct rtune_error err;
    assert_int_equal(tune_run(&f, &err), status);
    assert_non_null(strstr(err.message, "nothing was decided, nothing is stored"));
    assert_string_equal(f.told.outcome, outcome);
    assert_int_equal(f.told.dones, 1);
    assert_int_equal(f.told.stored, 0);
    assert_string_equal(f.told.stored_at, "");
    assert_int_equal(access(f.store, F_OK), -1);
}

/* Stopped before the first decision: no store is named, and it is no success. */
static void test_nothing_decided(void **state) {
    (void)state;
    f.options.budget_s = 1e-9;
    nothing_stored(RTUNE_TIMEOUT, "budget");
    f.options.budget_s = 0;
    f.told.stop_after = 1;
    nothing_stored(RTUNE_INTERRUPTED, "interrupted");
}

/* A size that takes far longer than the budget is left out; the others are decided. */
static void test_left_out(void **state) {
    (void)state;
    static const uint64_t large[] = {64, UINT64_C(1) << 28};
    f.options.problems = kinds + 1;
    f.options.problem_count = 1;
    f.options.sizes = large;
    f.options.size_count = 2;
    f.options.budget_s = 8; /* 2^28 takes 16 s and more */
    uint64_t start = rtune_clock_ns();
    tune_ok(&f);
    assert_true((double)(rtune_clock_ns() - start) / 1e9 < 14);
    assert_non_null(strstr(f.told.said, "n=268435456: left out: it needs about"));
    assert_string_equal(f.told.outcome, "budget");
    assert_int_equal(f.told.stored, 1);
}

/* An unfinished session's file that is damaged: it is said how to drop it, and --fresh does. */
static void test_damaged_work(void **state) {
    (void)state;
    struct rtune_error err;
    glob_t found;
    char pattern[300];
    killed_after(20);
    snprintf(pattern, sizeof(pattern), "%s.work-????????????????", f.store);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(rtune_file_write(found.gl_pathv[0], "junk", 4, 0600, &err), RTUNE_OK);
    globfree(&found);
    assert_int_not_equal(tune_run(&f, &err), RTUNE_OK);
    assert_non_null(strstr(err.message, "--fresh drops it"));
    assert_int_equal(f.told.trials, 0);
    f.options.fresh = true;
    tune_ok(&f);
    assert_int_equal(f.told.stored, 10);
}

static void refuse(enum rtune_status status, const char *text) {
    struct rtune_error err;
    assert_int_equal(tune_run(&f, &err), status);
    if (strstr(err.message, text) == NULL) fail_msg("%s", err.message);
    assert_int_equal(f.told.plans, 0);
    assert_int_equal(access(f.store, F_OK), -1);
}

/* D20: silly options are refused before anything is opened. */
static void test_options(void **state) {
    (void)state;
    static const double bad_seconds[] = {-1, NAN, INFINITY, 1e12};
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(bad_seconds); k++) {
        f.options.budget_s = bad_seconds[k];
        refuse(RTUNE_INVALID, "budget");
        f.options.budget_s = 0;
        f.options.candidate_limit_s = bad_seconds[k];
        refuse(RTUNE_INVALID, "candidate limit");
        f.options.candidate_limit_s = 0;
    }
    static const uint64_t zero[] = {16, 0}, huge[] = {UINT64_C(1) << 41};
    f.options.sizes = zero;
    f.options.size_count = 2;
    refuse(RTUNE_RANGE, "sizes: 0");
    f.options.sizes = huge;
    f.options.size_count = 1;
    refuse(RTUNE_RANGE, "sizes: ");
    f.options.size_count = 0;
    refuse(RTUNE_INVALID, "sizes");
    f.options.sizes = sizes;
    f.options.size_count = 1;
    f.options.problem_count = 0;
    refuse(RTUNE_INVALID, "problems");
    f.options.problem_count = 2;
    f.options.effort = RTUNE_EFFORT_COUNT;
    refuse(RTUNE_INVALID, "effort");
    f.options.effort = RTUNE_EFFORT_QUICK;
    f.options.resume = f.options.fresh = true;
    refuse(RTUNE_INVALID, "resume");
    f.options.resume = f.options.fresh = false;
    f.options.worker = NULL;
    refuse(RTUNE_INVALID, "worker");
    f.options.worker = program;
    f.options.device = "";
    refuse(RTUNE_INVALID, "device");
    f.options.device = "cpu";
    struct rtune_problem undefined = RTUNE_PROBLEM(RTUNE_BAND, RTUNE_F32, 0);
    f.options.problems = &undefined;
    f.options.problem_count = 1;
    refuse(RTUNE_UNSUPPORTED, "band");
    f.options.problems = kinds;
    f.options.space_file = "/nowhere.yaml";
    refuse(RTUNE_NOT_FOUND, "/nowhere.yaml");
}

/* Sizes that do not fit the memory are left out aloud; if none fits, that is an error. */
static void test_too_large(void **state) {
    (void)state;
    static const uint64_t large[] = {64, UINT64_C(1) << 40};
    struct rtune_error err;
    f.options.sizes = large;
    f.options.size_count = 2;
    tune_ok(&f);
    assert_int_equal(f.told.problems, 2);
    assert_non_null(strstr(f.told.said, "2 sizes are left out"));
    f.options.sizes = large + 1;
    f.options.size_count = 1;
    assert_int_equal(tune_run(&f, &err), RTUNE_RANGE);
}

/* Another process tunes the same device. */
static void test_locked(void **state) {
    (void)state;
    struct rtune_error err;
    rtune_work *work = NULL;
    f.options.problem_count = 1;
    tune_ok(&f);
    tune_read(&f);
    assert_int_equal(rtune_work_open(&work, f.store, &f.table.devices[0], false, &err), RTUNE_OK);
    assert_int_equal(tune_run(&f, &err), RTUNE_LOCKED);
    rtune_work_close(work);
    tune_ok(&f);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    program = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_complete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_problem, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_warm_has_no_floor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plan_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cheats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stop_and_resume, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kill_and_resume, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unfinished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_budget, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_decided, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_locked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
