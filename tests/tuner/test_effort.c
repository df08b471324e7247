/* SPDX-License-Identifier: Apache-2.0 */
/* How much is measured for how much time. */
#include "base/num.h"
#include "tuner/effort.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct rtune_cost small = {160, 4, false}, large = {160, 15000, true};

static void test_names(void **state) {
    (void)state;
    assert_string_equal(rtune_effort_name(RTUNE_EFFORT_QUICK), "quick");
    assert_string_equal(rtune_effort_name(RTUNE_EFFORT_STANDARD), "standard");
    assert_string_equal(rtune_effort_name(RTUNE_EFFORT_EXHAUSTIVE), "exhaustive");
    assert_null(rtune_effort_name(RTUNE_EFFORT_COUNT));
}

/* With all the time there is: everybody is measured, finalists often enough for an interval. */
static void test_ample(void **state) {
    (void)state;
    struct rtune_share s = rtune_effort_share(RTUNE_EFFORT_EXHAUSTIVE, 3000, &small, INFINITY);
    assert_int_equal(s.candidates, 3000);
    s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 3000, &small,
                           rtune_effort_cap(RTUNE_EFFORT_STANDARD, RTUNE_ROLE_REFERENCE));
    assert_int_equal(s.candidates, 3000);
    assert_int_equal(s.rounds.samples1, 3);
    assert_true(s.rounds.samples3 > 75 && s.rounds.samples3 <= 101);
    s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 16, &small,
                           rtune_effort_cap(RTUNE_EFFORT_STANDARD, RTUNE_ROLE_LEAD));
    assert_int_equal(s.candidates, 16);
    assert_true(s.rounds.samples3 > 25);
    /* No more than the ladder has where launches are long, or time has no limit. */
    static const struct rtune_cost long_one = {160, 300, true};
    s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 16, &long_one,
                           rtune_effort_cap(RTUNE_EFFORT_STANDARD, RTUNE_ROLE_REFERENCE));
    assert_int_equal(s.rounds.samples3, 25);
    s = rtune_effort_share(RTUNE_EFFORT_EXHAUSTIVE, 16, &small, INFINITY);
    assert_int_equal(s.rounds.samples3, 41);
    s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 6, &small,
                           rtune_effort_cap(RTUNE_EFFORT_STANDARD, RTUNE_ROLE_FOLLOWER));
    assert_int_equal(s.candidates, 6);
    assert_true(s.rounds.samples3 >= 9);
}

/* Less time never measures more, and never less than a race of four. */
static void test_shrinks(void **state) {
    (void)state;
    static const double seconds[] = {10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0};
    double before = INFINITY;
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(seconds); k++) {
        struct rtune_share s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 1000, &small, seconds[k]);
        double cost = rtune_effort_seconds(&s, &small);
        assert_true(cost <= before);
        before = cost;
        assert_true(s.candidates >= 4 && s.rounds.samples1 >= 1 && s.rounds.samples3 >= 3);
        assert_true(s.rounds.keep2 >= 2);
    }
    struct rtune_share s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 2, &small, 0);
    assert_int_equal(s.candidates, 2);
}

/* A large input is measured with a few launches in all. */
static void test_large(void **state) {
    (void)state;
    struct rtune_share s =
        rtune_effort_share(RTUNE_EFFORT_STANDARD, 6, &large,
                           rtune_effort_cap(RTUNE_EFFORT_STANDARD, RTUNE_ROLE_FOLLOWER));
    assert_int_equal(s.candidates, 4);
    assert_true(rtune_effort_seconds(&s, &large) < 30 * large.launch_us / 1e6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_ample),
        cmocka_unit_test(test_shrinks),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
