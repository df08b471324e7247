/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaving, and what is done about clocks that drop, on a rig whose times are drawn. */
#include "base/num.h"
#include "tuner/rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 5, SAMPLES = 9, TAKES_MAX = 1000 };

/* The clock's slow-down (1: full speed) as a function of how many samples were taken. */
static double (*slow_down)(size_t taken);
static size_t taken, probes;
static const rtune_kernel *order[TAKES_MAX];
static size_t fail_at; /* sample whose launch fails, from 1; 0: none */
static bool broken;

static enum rtune_status drawn_timed(rtune_rig *rig, const struct rtune_shot *shot, double *us,
                                     struct rtune_error *err) {
    (void)rig;
    assert_true(taken < TAKES_MAX);
    order[taken++] = shot->kernel;
    if (taken == fail_at) return rtune_err_set(err, RTUNE_DEVICE, "drawn so");
    *us = (double)(1 + shot->grid) * slow_down(taken);
    return RTUNE_OK;
}

static enum rtune_status drawn_probe(rtune_rig *rig, double *us, struct rtune_error *err) {
    (void)rig;
    (void)err;
    probes++;
    *us = 20 * slow_down(taken);
    return RTUNE_OK;
}

static enum rtune_status drawn_wait(rtune_device *dev, void *stream, struct rtune_error *err) {
    (void)dev;
    (void)stream;
    return broken ? rtune_err_set(err, RTUNE_DEVICE, "gone") : RTUNE_OK;
}

static size_t failures;
static struct rtune_verdict last_verdict;
static void on_at(void *user, uint32_t slot) {
    (void)user;
    (void)slot;
}
static void on_fail(void *user, uint32_t slot, const struct rtune_verdict *verdict) {
    (void)user;
    (void)slot;
    failures++;
    last_verdict = *verdict;
}

struct setting {
    struct rtune_device_ops device_ops;
    rtune_device device;
    struct rtune_rig_ops rig_ops;
    rtune_rig rig;
    struct rtune_bench bench;
    struct rtune_bench_candidate candidates[COUNT];
    double samples[COUNT * SAMPLES];
    char kernels[COUNT]; /* addresses that tell them apart */
    struct rtune_bench_run run;
};

static void prepare(struct setting *s, double (*clock)(size_t)) {
    static const struct rtune_bench_listener listener = {on_at, on_fail, NULL};
    memset(s, 0, sizeof(*s));
    s->device_ops.stream_wait = drawn_wait;
    s->device.ops = &s->device_ops;
    s->rig_ops.timed = drawn_timed;
    s->rig_ops.probe = drawn_probe;
    s->rig.ops = &s->rig_ops;
    s->rig.dev = &s->device;
    s->rig.seed = 3;
    rtune_bench_init(&s->bench, &s->rig, NULL, &listener);
    s->bench.probe_us = 20;
    for (uint32_t k = 0; k < COUNT; k++) {
        s->candidates[k].alive = true;
        s->candidates[k].us = s->samples + k * SAMPLES;
        s->candidates[k].shot.grid = k;
        s->candidates[k].shot.kernel = (const rtune_kernel *)(const void *)&s->kernels[k];
    }
    s->run.candidates = s->candidates;
    s->run.count = COUNT;
    s->run.samples = SAMPLES;
    slow_down = clock;
    taken = probes = failures = fail_at = 0;
    broken = false;
}

static double steady(size_t n) {
    (void)n;
    return 1;
}

static void test_interleaved(void **state) {
    (void)state;
    struct setting s;
    size_t same_as_first = 0;
    prepare(&s, steady);
    assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_OK);
    assert_int_equal(taken, COUNT * SAMPLES);
    assert_int_equal(probes, SAMPLES + 1);
    assert_int_equal(s.run.discarded, 0);
    for (size_t r = 0; r < SAMPLES; r++) {
        for (size_t k = 0; k < COUNT; k++) {
            size_t seen = 0;
            for (size_t j = 0; j < COUNT; j++)
                seen += order[r * COUNT + j] == s.candidates[k].shot.kernel;
            assert_int_equal(seen, 1); /* everybody once a round */
            assert_true(s.candidates[k].us[r] == (double)(1 + k));
        }
        same_as_first += memcmp(&order[r * COUNT], order, COUNT * sizeof(order[0])) == 0;
    }
    assert_true(same_as_first < SAMPLES / 2); /* in an order drawn anew */
    rtune_bench_free(&s.bench);
}

/* The clock drops by a fifth for samples 12 to 22 and recovers: those rounds are taken again. */
static double dip(size_t n) { return n >= 12 && n <= 22 ? 1.2 : 1; }

static void test_drop_is_retaken(void **state) {
    (void)state;
    struct setting s;
    prepare(&s, dip);
    assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_OK);
    assert_true(s.run.discarded >= 2 && s.run.discarded < SAMPLES);
    assert_false(s.run.clock_drop);
    for (size_t k = 0; k < COUNT * SAMPLES; k++)
        assert_true(s.samples[k] == (double)(1 + k / SAMPLES));
    assert_true(s.bench.probe_us == 20);
    rtune_bench_free(&s.bench);
}

/* It drops and stays: what was taken is kept, told, and the lower clock is the session's from then
 * on. */
static double fall(size_t n) { return n < 3 ? 1 : 1.1; }

static void test_lasting_drop(void **state) {
    (void)state;
    struct setting s;
    prepare(&s, fall);
    assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_OK);
    assert_true(s.run.clock_drop);
    assert_true(taken <= 3 * COUNT * SAMPLES); /* bounded */
    assert_true(s.bench.probe_us > 21.9);
    s.run.discarded = 0;
    s.run.clock_drop = false;
    assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_OK);
    assert_int_equal(s.run.discarded, 0);
    assert_false(s.run.clock_drop);
    rtune_bench_free(&s.bench);
}

/* Another process takes turns on the device. */
static double shared(size_t n) { return n % 7 < 2 ? 1.5 : 1; }

static void test_foreign_load(void **state) {
    (void)state;
    struct setting s;
    bool told = false;
    prepare(&s, steady);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_OK);
        assert_false(s.run.foreign_load);
    }
    taken = 0;
    slow_down = shared;
    for (int k = 0; k < 6 && !told; k++) {
        taken = 0;
        assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_OK);
        told = s.run.foreign_load;
    }
    assert_true(told);
    rtune_bench_free(&s.bench);
}

/* A launch that fails takes its candidate out; a device that fails with it ends the run. */
static void test_failing_launch(void **state) {
    (void)state;
    struct setting s;
    prepare(&s, steady);
    fail_at = 8;
    assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_OK);
    assert_int_equal(failures, 1);
    assert_int_equal(last_verdict.reason, RTUNE_REASON_CONSTRAINTS);
    assert_int_equal(taken, 8 + (COUNT - 3) + (SAMPLES - 2) * (COUNT - 1));
    rtune_bench_free(&s.bench);
    prepare(&s, steady);
    fail_at = 8;
    broken = true;
    assert_int_equal(rtune_rounds_take(&s.bench, &s.run, NULL), RTUNE_DEVICE);
    assert_int_equal(failures, 1);
    assert_int_equal(last_verdict.reason, RTUNE_REASON_RUNTIME);
    assert_true(last_verdict.fatal && s.bench.dead);
    rtune_bench_free(&s.bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interleaved),    cmocka_unit_test(test_drop_is_retaken),
        cmocka_unit_test(test_lasting_drop),   cmocka_unit_test(test_foreign_load),
        cmocka_unit_test(test_failing_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
