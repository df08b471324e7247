/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates that cheat, crash, hang or fail in a worker process: each costs itself and nothing
 * else, and never wins (D01, D03, D05, D07). The first argument is the worker program,
 * bad_worker.c.
 */
#include "base/clock.h"
#include "base/num.h"
#include "kernels/cpu/cpu.h"
#include "tests/tuner/scratch.h"
#include "tuner/meter.h"
#include "tuner/search.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { SAMPLES = 5, MANY = 3 /* instances at least on every instruction set */ };
static const char *program;
static struct scratch scratch;
static char starts_path[256];
static struct rtune_candidate candidates[8];
static size_t count;
static const struct rtune_problem problem = RTUNE_PROBLEM_INIT(RTUNE_SUM, RTUNE_I32, 100003);
static atomic_bool stop;
/* Of the meters that are opened; 0: as in a session without a budget. */
static double grace_s;
static uint64_t deadline_ns;
static int warnings; /* of them */
static char warning[512];

/* The default, then one thread with each number of items. */
static void make_candidates(void) {
    memset(candidates, 0, sizeof(candidates));
    candidates[count++].config = rtune_config_default(&problem, false);
    for (size_t k = 0; count < RTUNE_ARRAY_SIZE(candidates); k++) {
        uint32_t items = rtune_cpu_items_at(RTUNE_I32, rtune_isa_detect(), k);
        if (items == 0) break;
        struct rtune_config c = candidates[0].config;
        c.items = items;
        c.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, 1};
        c.finish = RTUNE_FINISH_ONE;
        candidates[count++].config = c;
    }
    if (count < 1 + MANY) fail_msg("only %zu candidates", count);
}

static int set_up(void **state) {
    (void)state;
    scratch_make(&scratch);
    scratch_path(&scratch, "starts", starts_path, sizeof(starts_path));
    setenv("RTUNE_TEST_STARTS", starts_path, 1);
    unsetenv("RTUNE_TEST_CHEATS");
    stop = false;
    candidates[1].expect_us = 0;
    grace_s = 0;
    deadline_ns = 0;
    warnings = 0;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

static long starts(void) {
    struct stat info;
    return stat(starts_path, &info) == 0 ? (long)info.st_size : 0;
}

static void on_log(void *user, enum rtune_log_level level, const char *text) {
    (void)user;
    if (level != RTUNE_LOG_WARN) return;
    warnings++;
    snprintf(warning, sizeof(warning), "%s", text);
}

static struct rtune_meter *open_meter(double limit_s) {
    static const struct rtune_log log = {on_log, NULL, RTUNE_LOG_WARN};
    struct rtune_error err;
    struct rtune_meter *meter = NULL;
    struct rtune_worker_options options = {.worker = program,
                                           .device = "cpu",
                                           .images = -1,
                                           .threads = 1,
                                           .seed = 5,
                                           .candidate_limit_s = limit_s,
                                           .grace_s = grace_s,
                                           .deadline_ns = deadline_ns,
                                           .log = &log,
                                           .stop = &stop};
    if (rtune_meter_worker(&options, &meter, &err) != RTUNE_OK) fail_msg("%s", err.message);
    if (meter->ops->prepare(meter, problem.n * 4, &err) != RTUNE_OK) fail_msg("%s", err.message);
    return meter;
}

struct results {
    double samples[8][SAMPLES];
    struct rtune_measured of[8];
};

static void measure(struct rtune_meter *meter, bool thorough, struct results *r) {
    struct rtune_error err;
    struct rtune_measure_report report;
    struct rtune_measure m = {problem, candidates, count, SAMPLES, thorough};
    memset(r, 0, sizeof(*r));
    for (size_t k = 0; k < count; k++)
        r->of[k].samples = r->samples[k];
    if (meter->ops->measure(meter, &m, r->of, &report, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
}

/* "kind=items=N," of candidate 1 + k, whose finish tells it from the default. */
static void bend(const char *kind, size_t k, char *text, size_t size) {
    snprintf(text, size, "%s=items=%u,grid=1,load=plain,finish=one", kind,
             (unsigned)candidates[1 + k].config.items);
}

/* One candidate misbehaves: it alone fails, for that reason, in so many starts. What was measured
 * of it (without samples). */
static struct rtune_measured one_bad(const char *kind, enum rtune_reason reason, const char *detail,
                                     long want_starts, double limit_s) {
    struct results r;
    char text[160];
    bend(kind, 1, text, sizeof(text));
    setenv("RTUNE_TEST_CHEATS", text, 1);
    struct rtune_meter *meter = open_meter(limit_s);
    measure(meter, true, &r);
    for (size_t k = 0; k < count; k++) {
        if (k == 2) continue;
        if (r.of[k].reason != RTUNE_REASON_CORRECT)
            fail_msg("%s: %zu: %s", kind, k, r.of[k].detail);
        assert_int_equal(r.of[k].sample_count, SAMPLES);
        for (int j = 0; j < SAMPLES; j++)
            assert_true(r.samples[k][j] > 0);
    }
    if (r.of[2].reason != reason)
        fail_msg("%s: %s (%s)", kind, rtune_reason_name(r.of[2].reason), r.of[2].detail);
    if (strstr(r.of[2].detail, detail) == NULL) fail_msg("%s: %s", kind, r.of[2].detail);
    assert_int_equal(r.of[2].sample_count, 0);
    if (want_starts > 0) assert_int_equal(starts(), want_starts);
    rtune_meter_close(meter);
    return r.of[2];
}

static void test_good(void **state) {
    (void)state;
    struct results r;
    struct rtune_meter *meter = open_meter(0);
    assert_false(meter->info.cuda);
    assert_string_equal(meter->info.name, "cpu");
    assert_int_equal(meter->info.units, 1);
    measure(meter, false, &r);
    measure(meter, true, &r);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(r.of[k].reason, RTUNE_REASON_CORRECT);
    assert_int_equal(starts(), 1);
    rtune_meter_close(meter);
}

/* D01: faster but wrong. */
static void test_nothing(void **state) {
    (void)state;
    one_bad("nothing", RTUNE_REASON_CORRECTNESS, "wrong result: nothing was written", 1, 0);
}
static void test_skip(void **state) {
    (void)state;
    one_bad("skip", RTUNE_REASON_CORRECTNESS, "wrong result: ", 1, 0);
}
static void test_stale(void **state) {
    (void)state;
    one_bad("stale", RTUNE_REASON_CORRECTNESS, "wrong result: ", 1, 0);
}
static void test_overrun(void **state) {
    (void)state;
    one_bad("overrun", RTUNE_REASON_CORRECTNESS, "bytes after it were written", 1, 0);
}

/* D03: the context is gone; D07: an error that passes. */
static void test_sticky(void **state) {
    (void)state;
    one_bad("sticky", RTUNE_REASON_RUNTIME, "CUDA_ERROR_ILLEGAL_ADDRESS", 2, 0);
}
static void test_crash(void **state) {
    (void)state;
    one_bad("crash", RTUNE_REASON_RUNTIME, "signal 6", 2, 0);
}
static void test_refuse(void **state) {
    (void)state;
    one_bad("refuse", RTUNE_REASON_CONSTRAINTS, "CUDA_ERROR_INVALID_VALUE", 1, 0);
}
static void test_absent(void **state) {
    (void)state;
    one_bad("absent", RTUNE_REASON_COMPILE, "CUDA_ERROR_NOT_FOUND", 1, 0);
}

/* Milliseconds that were waited for a candidate in vain. */
static long waited_ms(const struct rtune_measured *of) {
    long ms = -1;
    if (sscanf(of->detail, "no end after %ld ms", &ms) != 1) fail_msg("%s", of->detail);
    return ms;
}

/* D05: an endless candidate is given up after a limit of 2 s at most, and not asked again. */
static void test_hang(void **state) {
    (void)state;
    struct rtune_measured of = one_bad("hang", RTUNE_REASON_TIMEOUT, "no end", 2, 2);
    assert_in_range(waited_ms(&of), 1000, 2000);
    assert_int_equal(warnings, 0);
}

/* Without a limit of the caller's it is asked again, with more time, and that is told. */
static void test_hang_twice(void **state) {
    (void)state;
    grace_s = 1.5;
    struct rtune_measured of = one_bad("hang", RTUNE_REASON_TIMEOUT, "no end", 3, 0);
    assert_in_range(waited_ms(&of), 2500, 4000);
    assert_int_equal(warnings, 1);
    assert_non_null(
        strstr(warning, "sum,i32,wide,plain,propagate,cold,n=100003: no answer for 1."));
    assert_non_null(strstr(warning, ",grid=1,"));
    assert_non_null(strstr(warning, "; it is asked once more"));
}

/* Late once is not to blame: the machine was suspended, or has other work. What failed in the first
 * attempt has failed, and is not asked again. */
static void all_good_after(const char *kind) {
    struct results r;
    char text[320], flaky[160];
    bend(kind, 1, text, sizeof(text));
    bend("once_skip", 0, flaky, sizeof(flaky));
    snprintf(text + strlen(text), sizeof(text) - strlen(text), ";%s", flaky);
    setenv("RTUNE_TEST_CHEATS", text, 1);
    struct rtune_meter *meter = open_meter(0);
    measure(meter, true, &r);
    for (size_t k = 0; k < count; k++) {
        bool good = k != 1;
        if ((r.of[k].reason == RTUNE_REASON_CORRECT) != good)
            fail_msg("%s: %zu: %s", kind, k, r.of[k].detail);
        assert_int_equal(r.of[k].sample_count, good ? SAMPLES : 0);
    }
    assert_int_equal(r.of[1].reason, RTUNE_REASON_CORRECTNESS);
    assert_int_equal(starts(), 2);
    rtune_meter_close(meter);
}

static void test_second_chance(void **state) {
    (void)state;
    all_good_after("stall");
}
static void test_busy_machine(void **state) {
    (void)state;
    deadline_ns = rtune_clock_ns() + UINT64_C(600000000000); /* far away */
    all_good_after("slow");
}
static void test_busy_while_timed(void **state) {
    (void)state;
    all_good_after("late_stall"); /* alone they all answer */
}

/* Once in a session: at the next request that it is late in it fails, after one wait. */
static void test_one_chance(void **state) {
    (void)state;
    struct results r;
    char text[160];
    static const long want[] = {3, 4};
    bend("hang", 1, text, sizeof(text));
    setenv("RTUNE_TEST_CHEATS", text, 1);
    grace_s = 1;
    struct rtune_meter *meter = open_meter(0);
    for (size_t round = 0; round < RTUNE_ARRAY_SIZE(want); round++) {
        measure(meter, false, &r);
        assert_int_equal(r.of[2].reason, RTUNE_REASON_TIMEOUT);
        assert_int_equal(starts(), want[round]);
    }
    rtune_meter_close(meter);
}

/* Two chances in vain, and one between them that was not: there are others. */
static void test_chances_go_on(void **state) {
    (void)state;
    struct results r;
    char text[512], one[160];
    static const char *const kinds[MANY] = {"hang", "slow", "hang"};
    text[0] = '\0';
    for (size_t k = 0; k < MANY; k++) {
        bend(kinds[k], k, one, sizeof(one));
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s;", one);
    }
    setenv("RTUNE_TEST_CHEATS", text, 1);
    grace_s = 3;
    struct rtune_meter *meter = open_meter(0);
    measure(meter, false, &r);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(r.of[k].reason,
                         k == 1 || k == 3 ? RTUNE_REASON_TIMEOUT : RTUNE_REASON_CORRECT);
    assert_int_equal(warnings, 3);
    bend("hang", 0, one, sizeof(one)); /* ends the worker that knows the old cheats */
    snprintf(text, sizeof(text), "%s;slow=finish=slots", one);
    setenv("RTUNE_TEST_CHEATS", text, 1);
    measure(meter, false, &r);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(r.of[k].reason, k == 1 ? RTUNE_REASON_TIMEOUT : RTUNE_REASON_CORRECT);
    assert_int_equal(warnings, 4);
    rtune_meter_close(meter);
}

/* A session that is over by then gives none. */
static void test_no_chance_at_the_end(void **state) {
    (void)state;
    deadline_ns = rtune_clock_ns();
    struct rtune_measured of = one_bad("hang", RTUNE_REASON_TIMEOUT, "no end", 2, 0);
    assert_in_range(waited_ms(&of), 1000, 2000);
    assert_int_equal(warnings, 0);
}

/* They behave while they are verified and fail when they are timed among others: those are measured
 * one by one, so that the culprit shows. */
static void test_late(void **state) {
    (void)state;
    one_bad("late_crash", RTUNE_REASON_RUNTIME, "signal 6", 3, 0);
}
static void test_late_hang(void **state) {
    (void)state;
    grace_s = 1.5; /* alone it is late twice */
    struct rtune_measured of = one_bad("late_hang", RTUNE_REASON_TIMEOUT, "no end", 4, 0);
    assert_in_range(waited_ms(&of), 3500, 6000);
}

/* Configs that no kernel can have. */
static void test_constraints(void **state) {
    (void)state;
    struct results r;
    struct rtune_config kept = candidates[3].config;
    candidates[3].config.items = 7;
    struct rtune_meter *meter = open_meter(0);
    measure(meter, false, &r);
    candidates[3].config = kept;
    assert_int_equal(r.of[3].reason, RTUNE_REASON_CONSTRAINTS);
    assert_non_null(strstr(r.of[3].detail, "items: 7"));
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(r.of[k].reason, RTUNE_REASON_CORRECT);
    rtune_meter_close(meter);
}

/* D01 as it is asked for: three cheats at once, n = 1,000,003; none of them wins. */
static void test_cheats_do_not_win(void **state) {
    (void)state;
    char text[512], one[160];
    struct rtune_found found;
    struct rtune_error err;
    static const struct rtune_rounds rounds = {2, 2, 5, 8, 8};
    static const char *const kinds[MANY] = {"nothing", "skip", "stale"};
    struct rtune_problem million = problem;
    million.n = 1000003;
    text[0] = '\0';
    for (size_t k = 0; k < MANY; k++) {
        bend(kinds[k], k, one, sizeof(one));
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", k ? ";" : "", one);
    }
    setenv("RTUNE_TEST_CHEATS", text, 1);
    struct rtune_meter *meter = open_meter(0);
    assert_int_equal(meter->ops->prepare(meter, million.n * 4, &err), RTUNE_INVALID);
    rtune_meter_close(meter);
    struct rtune_worker_options options = {
        .worker = program, .device = "cpu", .images = -1, .threads = 1, .seed = 6};
    assert_int_equal(rtune_meter_worker(&options, &meter, &err), RTUNE_OK);
    assert_int_equal(meter->ops->prepare(meter, million.n * 4, &err), RTUNE_OK);
    assert_int_equal(rtune_search(meter, &million, candidates, 1 + MANY, RTUNE_NO_FAVOURITE,
                                  &rounds, &found, &err),
                     RTUNE_OK);
    assert_int_equal(found.winner, 0);
    for (size_t k = 0; k < found.count; k++)
        if (found.ranking[k].candidate != 0)
            assert_int_equal(found.ranking[k].reason, RTUNE_REASON_CORRECTNESS);
    free(found.ranking);
    rtune_meter_close(meter);
}

/* The stop flag ends a hanging request at once. */
static void on_alarm(int signal_number) {
    (void)signal_number;
    stop = true;
}

static void stop_after(unsigned seconds) {
    struct results r;
    char text[160];
    struct rtune_error err;
    struct rtune_measure_report report;
    bend("hang", 0, text, sizeof(text));
    setenv("RTUNE_TEST_CHEATS", text, 1);
    struct rtune_meter *meter = open_meter(0);
    struct rtune_measure m = {problem, candidates, count, SAMPLES, false};
    for (size_t k = 0; k < count; k++)
        r.of[k].samples = r.samples[k];
    signal(SIGALRM, on_alarm);
    alarm(seconds);
    uint64_t start = rtune_clock_ns();
    stop = false;
    assert_int_equal(meter->ops->measure(meter, &m, r.of, &report, &err), RTUNE_INTERRUPTED);
    assert_true(rtune_clock_ns() - start < (seconds + 2) * UINT64_C(1000000000));
    rtune_meter_close(meter);
}

static void test_stop(void **state) {
    (void)state;
    candidates[1].expect_us = 1e6; /* would be waited for for a long time */
    stop_after(1);
}

static void test_stop_second_chance(void **state) {
    (void)state;
    grace_s = 1000;
    stop_after(3);
    assert_int_equal(starts(), 2);
}

/* No such program, one that is no worker, a device that is not there. */
static void test_cannot_start(void **state) {
    (void)state;
    struct rtune_meter *meter = NULL;
    struct rtune_error err;
    struct rtune_worker_options options = {
        .worker = "/nowhere/at/all", .device = "cpu", .images = -1};
    assert_int_equal(rtune_meter_worker(&options, &meter, &err), RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "could not be run"));
    options.worker = "/bin/true";
    assert_int_equal(rtune_meter_worker(&options, &meter, &err), RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "exit status 0"));
    options.worker = program;
    options.device = "toaster:0";
    assert_int_not_equal(rtune_meter_worker(&options, &meter, &err), RTUNE_OK);
    assert_non_null(strstr(err.message, "toaster"));
    assert_null(meter);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    program = argv[1];
    make_candidates();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_skip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stale, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overrun, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sticky, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_crash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hang, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_second_chance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_busy_machine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hang_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_busy_while_timed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_chance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chances_go_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_chance_at_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_hang, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constraints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cheats_do_not_win, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stop_second_chance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cannot_start, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
