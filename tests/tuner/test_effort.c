/* SPDX-License-Identifier: Apache-2.0 */
/* How much is measured for how much time. */
#include "base/num.h"
#include "tuner/effort.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct rtune_cost small = {160, 4}, large = {160, 15000};

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
                           rtune_effort_cap(RTUNE_EFFORT_STANDARD, true));
    assert_int_equal(s.candidates, 3000);
    assert_int_equal(s.rounds.samples1, 3);
    assert_true(s.rounds.samples3 >= 25);
    s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 16, &small,
                           rtune_effort_cap(RTUNE_EFFORT_STANDARD, false));
    assert_int_equal(s.candidates, 16);
    assert_true(s.rounds.samples3 >= 25);
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

/* What the issue asks for: 22 kinds at 34 sizes within five minutes on a GPU whose largest launches
 * take 7 to 15 ms, at the unshrunk standard effort. */
static void test_bare_session_fits(void **state) {
    (void)state;
    double total = 0;
    for (int kind = 0; kind < 22; kind++) {
        double size = kind % 2 ? 8 : 4;
        for (int bits = 0; bits <= 33; bits++) {
            double launch = 3 + ldexp(size, bits) / 4.6e6;
            struct rtune_cost cost = {160, launch};
            bool full = kind == 0;
            size_t count = full ? (launch >= 300 ? 49 : 700) : 16;
            double cap = rtune_effort_cap(RTUNE_EFFORT_STANDARD, full);
            struct rtune_share s = rtune_effort_share(RTUNE_EFFORT_STANDARD, count, &cost, cap);
            total += rtune_effort_seconds(&s, &cost);
        }
    }
    assert_true(total < 240);
    struct rtune_share s = rtune_effort_share(RTUNE_EFFORT_STANDARD, 49, &large, 0.75);
    assert_true(rtune_effort_seconds(&s, &large) < 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_ample),
        cmocka_unit_test(test_shrinks),
        cmocka_unit_test(test_bare_session_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
