/* SPDX-License-Identifier: Apache-2.0 */
/* Kept trials: what is measured is stored at once, what is stored is not measured again, and a
 * sweep can be searched again without its device. */
#include "tests/tuner/fake_meter.h"
#include "tests/tuner/scratch.h"
#include "tuner/records.h"
#include "tuner/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct scratch scratch;
static char store[256];
static const struct rtune_identity identity = {.cuda = true,
                                               .cc_major = 9,
                                               .sm_count = 132,
                                               .l2_bytes = 1 << 20,
                                               .bus_bits = 5120,
                                               .memory_mhz = 1600,
                                               .sm_mhz = 1900};
static const struct rtune_problem problem = RTUNE_PROBLEM_INIT(RTUNE_SUM, RTUNE_F32, 4096);

static int set_up(void **state) {
    (void)state;
    scratch_make(&scratch);
    scratch_path(&scratch, "tune.db", store, sizeof(store));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

static void ok(enum rtune_status status, const struct rtune_error *err) {
    if (status != RTUNE_OK) fail_msg("%s", err->message);
}

static rtune_work *open_work(bool resume) {
    struct rtune_error err;
    rtune_work *work = NULL;
    struct rtune_session row = {.seed = 1};
    ok(rtune_work_open(&work, store, &identity, resume, &err), &err);
    ok(rtune_work_begin(work, &row, "", &err), &err);
    return work;
}

enum { COUNT = 6, SAMPLES = 5 };
static struct rtune_candidate candidates[COUNT];

static void make_candidates(void) {
    memset(candidates, 0, sizeof(candidates));
    for (uint32_t k = 0; k < COUNT; k++)
        candidates[k].config = fake_config(128, 16, 1u << k);
}

/* One fails, the others take as long as they have blocks. */
static double landscape(const struct rtune_problem *p, const struct rtune_config *c) {
    (void)p;
    return c->grid.value == 4 ? -(double)RTUNE_REASON_CORRECTNESS : 10.0 + c->grid.value;
}

struct results {
    double samples[COUNT][SAMPLES];
    struct rtune_measured of[COUNT];
};

static void measure(struct rtune_meter *meter, bool thorough, struct results *results) {
    struct rtune_error err;
    struct rtune_measure_report report;
    struct rtune_measure m = {problem, candidates, COUNT, SAMPLES, thorough};
    memset(results, 0, sizeof(*results));
    for (int k = 0; k < COUNT; k++)
        results->of[k].samples = results->samples[k];
    ok(meter->ops->measure(meter, &m, results->of, &report, &err), &err);
}

static size_t told;
static void count_trial(void *user, const struct rtune_trial *trial) {
    (void)user;
    assert_true(trial->reason != RTUNE_REASON_CORRECT || trial->sample_count == SAMPLES);
    told++;
}

static void test_records(void **state) {
    (void)state;
    struct rtune_records records;
    const double first[] = {1, 2}, second[] = {3};
    rtune_records_init(&records);
    assert_null(rtune_records_find(&records, &problem, &candidates[0].config));
    for (uint32_t k = 0; k < 5000; k++) {
        struct rtune_trial t = {.problem = problem, .config = fake_config(32, 4, k + 1)};
        t.samples = first;
        t.sample_count = 2;
        assert_int_equal(rtune_records_add(&records, &t, NULL), RTUNE_OK);
        t.samples = second;
        t.sample_count = 1;
        assert_int_equal(rtune_records_add(&records, &t, NULL), RTUNE_OK);
    }
    assert_int_equal(records.count, 5000);
    struct rtune_config wanted = fake_config(32, 4, 4321);
    struct rtune_record *r = rtune_records_find(&records, &problem, &wanted);
    assert_non_null(r);
    assert_int_equal(r->trial_count, 2);
    assert_int_equal(r->sample_count, 3);
    assert_true(r->samples[1] == 2 && r->samples[2] == 3 && r->ends[0] == 2 && r->ends[1] == 3);
    struct rtune_problem other = problem;
    other.n++;
    assert_null(rtune_records_find(&records, &other, &wanted));
    rtune_records_free(&records);
}

/* A session is killed after it measured twice; the resumed one gets the same answers without
 * measuring, then goes on. */
static void test_resume(void **state) {
    (void)state;
    struct results before[2], after[3];
    struct fake_meter fake;
    struct rtune_meter *meter = NULL;
    struct rtune_error err;
    rtune_work *work = open_work(false);
    fake_meter_init(&fake, landscape, 0.1, 1);
    told = 0;
    ok(rtune_meter_record(&fake.base, work, false, count_trial, NULL, &meter, &err), &err);
    measure(meter, false, &before[0]);
    measure(meter, true, &before[1]);
    assert_int_equal(told, 2 * COUNT);
    assert_int_equal(fake.requests, 2);
    rtune_meter_close(meter);
    rtune_work_close(work); /* as kill -9 leaves it: not published */

    work = open_work(true);
    fake_meter_init(&fake, landscape, 0.1, 2); /* other noise */
    ok(rtune_meter_record(&fake.base, work, true, count_trial, NULL, &meter, &err), &err);
    measure(meter, false, &after[0]);
    measure(meter, true, &after[1]);
    assert_int_equal(fake.requests, 0);
    assert_int_equal(told, 2 * COUNT);
    for (int s = 0; s < 2; s++) {
        assert_memory_equal(before[s].samples, after[s].samples, sizeof(before[s].samples));
        for (int k = 0; k < COUNT; k++) {
            assert_int_equal(before[s].of[k].reason, after[s].of[k].reason);
            assert_string_equal(before[s].of[k].detail, after[s].of[k].detail);
        }
    }
    measure(meter, true, &after[2]);
    assert_int_equal(fake.requests, 1);
    assert_memory_not_equal(after[1].samples, after[2].samples, sizeof(after[2].samples));
    rtune_meter_close(meter);
    rtune_work_close(work);
}

/* Some candidates are new: they alone are measured, unless rounds must be shared. */
static void test_partial(void **state) {
    (void)state;
    struct results results;
    struct fake_meter fake;
    struct rtune_meter *meter = NULL;
    struct rtune_error err;
    rtune_work *work = open_work(false);
    struct rtune_candidate late = candidates[COUNT - 1];
    fake_meter_init(&fake, landscape, 0.1, 1);
    ok(rtune_meter_record(&fake.base, work, false, NULL, NULL, &meter, &err), &err);
    candidates[COUNT - 1] = candidates[0];
    measure(meter, false, &results);
    rtune_meter_close(meter);
    candidates[COUNT - 1] = late;
    fake_meter_init(&fake, landscape, 0.1, 2);
    ok(rtune_meter_record(&fake.base, work, true, NULL, NULL, &meter, &err), &err);
    measure(meter, false, &results);
    assert_int_equal(fake.taken, SAMPLES);
    assert_true(results.samples[COUNT - 1][0] > 0 && results.samples[0][0] > 0);
    fake.taken = 0;
    measure(meter, true, &results);
    assert_int_equal(fake.taken, (COUNT - 1) * SAMPLES); /* all but the one that fails */
    rtune_meter_close(meter);
    rtune_work_close(work);
}

/* A published sweep is searched again, on its timings, and the same config wins. */
static void test_replay(void **state) {
    (void)state;
    struct fake_meter fake;
    struct rtune_meter *meter = NULL;
    struct rtune_error err;
    struct rtune_found live, again;
    static const struct rtune_rounds rounds = {3, 5, 9, 4, 3};
    char samples[256];
    rtune_work *work = open_work(false);
    fake_meter_init(&fake, landscape, 0.01, 1);
    ok(rtune_meter_record(&fake.base, work, false, NULL, NULL, &meter, &err), &err);
    ok(rtune_search(meter, &problem, candidates, COUNT, RTUNE_NO_FAVOURITE, &rounds, &live, &err),
       &err);
    rtune_meter_close(meter);
    ok(rtune_work_publish(work, "complete", false, &err), &err);
    rtune_work_close(work);

    ok(rtune_samples_path(store, samples, sizeof(samples), &err), &err);
    ok(rtune_meter_replay(samples, &meter, &err), &err);
    assert_true(meter->info.cuda);
    assert_string_equal(meter->info.identity.model, "replay");
    struct rtune_config *configs = NULL;
    size_t count = 0;
    ok(meter->ops->configs(meter, &problem, &configs, &count, &err), &err);
    assert_int_equal(count, COUNT);
    free(configs);
    ok(rtune_search(meter, &problem, candidates, COUNT, RTUNE_NO_FAVOURITE, &rounds, &again, &err),
       &err);
    assert_int_equal(live.winner, 0);
    assert_int_equal(again.winner, live.winner);
    assert_true(again.us.median == live.us.median && again.us.lo == live.us.lo);
    assert_int_equal(again.ranking[COUNT - 1].reason, RTUNE_REASON_CORRECTNESS);
    free(live.ranking);
    free(again.ranking);
    struct rtune_candidate unknown = {.config = fake_config(1024, 4, 7)};
    ok(rtune_search(meter, &problem, &unknown, 1, RTUNE_NO_FAVOURITE, &rounds, &again, &err), &err);
    assert_int_equal(again.winner, SIZE_MAX);
    assert_int_equal(again.ranking[0].reason, RTUNE_REASON_CONSTRAINTS);
    free(again.ranking);
    rtune_meter_close(meter);
    assert_int_equal(rtune_meter_replay("/nowhere/samples.db", &meter, &err), RTUNE_NOT_FOUND);
}

int main(void) {
    make_candidates();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test_setup_teardown(test_resume, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_partial, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replay, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
