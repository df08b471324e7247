/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Racing on landscapes with noise: the best is found, ties and failures are handled, the default
 * wins unless it is beaten, break-points land where two curves cross. RTUNE_TEST_SEED repeats.
 */
#include "base/num.h"
#include "tests/tuner/fake_meter.h"
#include "tuner/search.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;
static const struct rtune_rounds standard = {3, 8, 25, 24, 8};
static const struct rtune_problem problem = RTUNE_PROBLEM_INIT(RTUNE_SUM, RTUNE_F32, 1 << 20);

/* 4 blocks x 4 items x 8 grids, the default (another block) first. */
enum { GRID_COUNT = 128, COUNT = GRID_COUNT + 1 };
static struct rtune_candidate candidates[COUNT];

static void make_candidates(void) {
    static const uint32_t blocks[] = {128, 256, 512, 1024}, items[] = {4, 8, 16, 32};
    memset(candidates, 0, sizeof(candidates));
    candidates[0].config = fake_config(64, 16, 132);
    for (uint32_t k = 0; k < GRID_COUNT; k++)
        candidates[1 + k].config = fake_config(blocks[k % 4], items[k / 4 % 4], 33u << (k / 16));
}

/* A bowl with one lowest point at block 256, items 16, grid 264; a step off it costs 3 % or more.
 */
static double bowl(const struct rtune_problem *p, const struct rtune_config *c) {
    (void)p;
    double b = fabs(log2(c->block / 256.0)), i = fabs(log2(c->items / 16.0));
    double g = fabs(log2(c->grid.value / 264.0));
    return 5.0 * (1 + 0.05 * b + 0.04 * i + 0.03 * g);
}

static size_t search(struct fake_meter *meter, long favourite, struct rtune_found *found) {
    struct rtune_error err;
    memset(found, 0, sizeof(*found));
    enum rtune_status status =
        rtune_search(&meter->base, &problem, candidates, COUNT, favourite, &standard, found, &err);
    if (status != RTUNE_OK) fail_msg("%s", err.message);
    size_t winner = found->winner;
    free(found->ranking);
    found->ranking = NULL;
    return winner;
}

static void test_best_is_found(void **state) {
    (void)state;
    for (unsigned run = 0; run < 50; run++) {
        struct fake_meter meter;
        struct rtune_found found;
        fake_meter_init(&meter, bowl, 0.03, seed + run);
        size_t winner = search(&meter, RTUNE_NO_FAVOURITE, &found);
        const struct rtune_config *c = &candidates[winner].config;
        assert_true(c->block == 256 && c->items == 16 && c->grid.value == 264);
        assert_true(found.us.lo <= found.us.median && found.us.median <= found.us.hi);
        assert_true(found.default_us > found.us.median);
        assert_int_equal(meter.thorough, 1);
        /* Racing costs a small part of giving everybody the finalists' samples. */
        assert_true(meter.taken < COUNT * 25 / 3);
    }
}

/* Several equally good ones: always the same, whatever the noise (D11). */
static double plateau(const struct rtune_problem *p, const struct rtune_config *c) {
    double us = bowl(p, c);
    return us < 5.4 ? 5.0 : us;
}

static void test_ties_are_stable(void **state) {
    (void)state;
    size_t first = 0;
    for (unsigned run = 0; run < 10; run++) {
        struct fake_meter meter;
        struct rtune_found found;
        fake_meter_init(&meter, plateau, 0.005, seed + run);
        size_t winner = search(&meter, RTUNE_NO_FAVOURITE, &found);
        if (run == 0) first = winner;
        assert_int_equal(winner, first);
    }
    /* The neighbouring size's winner keeps its place among equals, and only among them. */
    for (size_t k = 1; k < COUNT; k++) {
        struct fake_meter meter;
        struct rtune_found found;
        double us = plateau(&problem, &candidates[k].config);
        fake_meter_init(&meter, plateau, 0.005, seed + 100 + k);
        size_t winner = search(&meter, (long)k, &found);
        if (us == 5.0)
            assert_int_equal(winner, k);
        else
            assert_int_not_equal(winner, k);
    }
}

static double default_is_best(const struct rtune_problem *p, const struct rtune_config *c) {
    return c->block == 64 ? 4.99 : bowl(p, c);
}

static double default_is_near(const struct rtune_problem *p, const struct rtune_config *c) {
    return c->block == 64 ? 5.005 : bowl(p, c);
}

static double default_is_beaten(const struct rtune_problem *p, const struct rtune_config *c) {
    return c->block == 64 ? 5.15 : bowl(p, c);
}

static void test_default(void **state) {
    (void)state;
    int kept = 0;
    for (unsigned run = 0; run < 20; run++) {
        struct fake_meter meter;
        struct rtune_found found;
        fake_meter_init(&meter, default_is_best, 0.02, seed + run);
        assert_int_equal(search(&meter, RTUNE_NO_FAVOURITE, &found), 0);
        fake_meter_init(&meter, default_is_near, 0.02, seed + run);
        kept += search(&meter, RTUNE_NO_FAVOURITE, &found) == 0;
        fake_meter_init(&meter, default_is_beaten, 0.02, seed + run);
        assert_int_not_equal(search(&meter, RTUNE_NO_FAVOURITE, &found), 0);
    }
    assert_true(kept >= 19); /* 0.1 % is within the noise */
}

/* Launches of a millisecond: half a percent is told, and the default is not given up for noise. */
static double long_bowl(const struct rtune_problem *p, const struct rtune_config *c) {
    return c->block == 64 ? 1005 : bowl(p, c) * 200; /* the best takes 1000 */
}

static double long_plateau(const struct rtune_problem *p, const struct rtune_config *c) {
    (void)p;
    (void)c;
    return 1000;
}

static void test_long(void **state) {
    (void)state;
    int kept = 0;
    for (unsigned run = 0; run < 20; run++) {
        struct fake_meter meter;
        struct rtune_found found;
        fake_meter_init(&meter, long_bowl, 0.002, seed + run);
        const size_t winner = search(&meter, RTUNE_NO_FAVOURITE, &found);
        assert_true(winner != 0 && bowl(&problem, &candidates[winner].config) <= 5.0);
        fake_meter_init(&meter, long_plateau, 0.002, seed + run);
        kept += search(&meter, RTUNE_NO_FAVOURITE, &found) == 0;
    }
    assert_true(kept >= 18);
}

/* The best ones fail, each for another reason: the race goes on without them (D07). */
static double failing(const struct rtune_problem *p, const struct rtune_config *c) {
    double us = bowl(p, c);
    if (us >= 5.299) return us;
    return c->block == 256 ? -RTUNE_REASON_RUNTIME : -RTUNE_REASON_CORRECTNESS;
}

static double all_fail(const struct rtune_problem *p, const struct rtune_config *c) {
    (void)p;
    (void)c;
    return -RTUNE_REASON_TIMEOUT;
}

static void test_failures(void **state) {
    (void)state;
    struct fake_meter meter;
    struct rtune_found found;
    struct rtune_error err;
    fake_meter_init(&meter, failing, 0.01, seed);
    assert_int_equal(rtune_search(&meter.base, &problem, candidates, COUNT, RTUNE_NO_FAVOURITE,
                                  &standard, &found, &err),
                     RTUNE_OK);
    assert_true(found.winner < COUNT);
    assert_true(bowl(&problem, &candidates[found.winner].config) < 5.36);
    size_t failures = 0;
    for (size_t k = 0; k < found.count; k++) {
        bool fails = failing(&problem, &candidates[found.ranking[k].candidate].config) < 0;
        assert_int_equal(found.ranking[k].stage == 0, fails);
        assert_int_equal(found.ranking[k].reason == RTUNE_REASON_CORRECT, !fails);
        failures += fails;
        if (k > 0 && !fails) assert_true(found.ranking[k - 1].stage >= found.ranking[k].stage);
    }
    assert_true(failures > 5);
    free(found.ranking);
    fake_meter_init(&meter, all_fail, 0.01, seed);
    assert_int_equal(search(&meter, RTUNE_NO_FAVOURITE, &found), SIZE_MAX);
    fake_meter_init(&meter, bowl, 0.01, seed);
    meter.interrupt_at = 2;
    assert_int_equal(rtune_search(&meter.base, &problem, candidates, COUNT, RTUNE_NO_FAVOURITE,
                                  &standard, &found, &err),
                     RTUNE_INTERRUPTED);
}

/* One candidate, one sample, no second stage: still an answer. */
static void test_smallest(void **state) {
    (void)state;
    static const struct rtune_rounds least = {1, 0, 1, 0, 0};
    struct fake_meter meter;
    struct rtune_found found;
    fake_meter_init(&meter, bowl, 0, seed);
    assert_int_equal(rtune_search(&meter.base, &problem, candidates, 1, 0, &least, &found, NULL),
                     RTUNE_OK);
    assert_int_equal(found.winner, 0);
    assert_true(found.us.median == found.default_us && found.default_us > 0);
    free(found.ranking);
}

/* The first is better below 100,000, the second above. */
static double crossing(const struct rtune_problem *p, const struct rtune_config *c) {
    double us = 3 + 2 * (double)p->n / 100000;
    return c->block == 128 ? us : 4 + (double)p->n / 100000;
}

static double second_fails(const struct rtune_problem *p, const struct rtune_config *c) {
    return c->block == 128 ? crossing(p, c) : -RTUNE_REASON_CORRECTNESS;
}

static void test_between(void **state) {
    (void)state;
    struct rtune_candidate pair[2];
    struct fake_meter meter;
    uint64_t from = 0;
    memset(pair, 0, sizeof(pair));
    pair[0].config = fake_config(128, 4, 16);
    pair[1].config = fake_config(256, 4, 16);
    fake_meter_init(&meter, crossing, 0.01, seed);
    const uint64_t low = 1 << 16, high = 1 << 18;
    assert_int_equal(
        rtune_search_between(&meter.base, &problem, low, high, pair, 8, 25, &from, NULL), RTUNE_OK);
    assert_true(from > 90000 && from < 110000);
    assert_int_equal(
        rtune_search_between(&meter.base, &problem, low, high, pair, 2, 9, &from, NULL), RTUNE_OK);
    assert_true(from > 80000 && from < 131072);
    size_t requests = meter.requests;
    assert_int_equal(
        rtune_search_between(&meter.base, &problem, low, high, pair, 0, 9, &from, NULL), RTUNE_OK);
    assert_int_equal(from, 1 << 17);
    assert_int_equal(meter.requests, requests);
    /* Neighbours: nothing lies between, the break is the upper one. */
    assert_int_equal(rtune_search_between(&meter.base, &problem, 7, 8, pair, 2, 9, &from, NULL),
                     RTUNE_OK);
    assert_int_equal(from, 8);
    /* A config that is wrong in between does not get what lies between. */
    fake_meter_init(&meter, second_fails, 0.01, seed);
    assert_int_equal(
        rtune_search_between(&meter.base, &problem, low, high, pair, 20, 3, &from, NULL), RTUNE_OK);
    assert_int_equal(from, high);
}

int main(void) {
    const char *env = getenv("RTUNE_TEST_SEED");
    seed = env != NULL ? strtoull(env, NULL, 10) : 11;
    print_message("RTUNE_TEST_SEED=%" PRIu64 "\n", seed);
    make_candidates();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_is_found), cmocka_unit_test(test_ties_are_stable),
        cmocka_unit_test(test_default),       cmocka_unit_test(test_long),
        cmocka_unit_test(test_failures),      cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
