/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Medians and their intervals: known ranks, coverage on skewed noise with outliers, pairing.
 * RTUNE_TEST_SEED repeats.
 */
#include "base/rng.h"
#include "tuner/stats.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rtune_rng rng;

static double uniform(void) { return (double)(rtune_rng_u64(&rng) >> 11) * 0x1p-53; }

/* Times have a long tail to one side: exponential noise, and now and then a large disturbance. */
static double noisy(double us) {
    double x = us - 0.1 * log(1 - uniform());
    return uniform() < 0.03 ? x * (2 + uniform()) : x;
}

static void test_small(void **state) {
    (void)state;
    struct rtune_summary s = rtune_stats_summary(NULL, 0);
    assert_true(s.median == 0 && s.lo == 0 && s.hi == 0 && s.count == 0);
    const double one[] = {3};
    s = rtune_stats_summary(one, 1);
    assert_true(s.median == 3 && s.lo == 3 && s.hi == 3);
    const double four[] = {4, 1, 3, 2};
    s = rtune_stats_summary(four, 4);
    assert_true(s.median == 2.5 && s.lo == 1 && s.hi == 4 && s.count == 4);
}

/* Ranks of the table in David and Nagaraja, appendix: n = 6: 1 and 6; 9: 2 and 8; 25: 8 and 18. */
static void test_ranks(void **state) {
    (void)state;
    static const struct {
        size_t n, lo, hi;
    } cases[] = {{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {15, 4, 12}, {25, 8, 18}, {100, 40, 61}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        double samples[100];
        for (size_t k = 0; k < cases[c].n; k++)
            samples[k] = (double)((k * 7) % cases[c].n + 1);
        if (cases[c].n % 7 == 0) fail_msg("the shuffle needs n prime to 7");
        struct rtune_summary s = rtune_stats_summary(samples, cases[c].n);
        assert_int_equal((int)s.lo, (int)cases[c].lo);
        assert_int_equal((int)s.hi, (int)cases[c].hi);
    }
}

/* The interval holds the true median in at least 95 % of the cases; 20,000 of them tell 95
 * from 94.4. */
static void coverage(size_t n, double least) {
    enum { RUNS = 20000 };
    static double samples[1000];
    /* Median of noisy(10): the 3 % of disturbances lie above, so it is the quantile 0.5 / 0.97 of
     * the exponential part. */
    double truth = 10 - 0.1 * log(1 - 0.5 / 0.97);
    int held = 0;
    for (int run = 0; run < RUNS; run++) {
        for (size_t k = 0; k < n; k++)
            samples[k] = noisy(10);
        struct rtune_summary s = rtune_stats_summary(samples, n);
        held += s.lo <= truth && truth <= s.hi;
    }
    double part = (double)held / RUNS;
    if (part < least) fail_msg("n = %zu: %.4f of the intervals hold the median", n, part);
}

static void test_coverage(void **state) {
    (void)state;
    coverage(6, 0.95);
    coverage(9, 0.95);
    coverage(25, 0.945);
    coverage(100, 0.945);
    coverage(700, 0.94);
}

/* A drift that both share hides a difference of 1 % from two medians, not from the paired one. */
static void test_paired(void **state) {
    (void)state;
    enum { N = 25 };
    double a[N], b[N];
    int found = 0, invented = 0;
    for (int run = 0; run < 500; run++) {
        for (int k = 0; k < N; k++) {
            double drift = 1 + 0.2 * uniform();
            a[k] = 10.0 * drift + 0.02 * uniform();
            b[k] = 10.1 * drift + 0.02 * uniform();
        }
        struct rtune_summary d = rtune_stats_paired(a, b, N);
        found += d.hi < 0;
        for (int k = 0; k < N; k++)
            b[k] = a[k] + 0.02 * (uniform() - 0.5);
        d = rtune_stats_paired(a, b, N);
        invented += d.hi < 0 || d.lo > 0;
    }
    assert_int_equal(found, 500);
    assert_true(invented <= 40); /* 5 % of 500, and three standard deviations */
}

static void test_quantile(void **state) {
    (void)state;
    const double samples[] = {5, 1, 4, 2, 3};
    assert_true(rtune_stats_quantile(samples, 5, 0) == 1);
    assert_true(rtune_stats_quantile(samples, 5, 0.5) == 3);
    assert_true(rtune_stats_quantile(samples, 5, 1) == 5);
    assert_true(rtune_stats_quantile(samples, 0, 0.5) == 0);
}

int main(void) {
    const char *env = getenv("RTUNE_TEST_SEED");
    rng.seed = env != NULL ? strtoull(env, NULL, 10) : 7;
    print_message("RTUNE_TEST_SEED=%" PRIu64 "\n", rng.seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),    cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_coverage), cmocka_unit_test(test_paired),
        cmocka_unit_test(test_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
