/* SPDX-License-Identifier: Apache-2.0 */
/* Who may be late once more, and when nobody may. */
#include "tuner/chances.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static struct rtune_config config(uint32_t k) {
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1000);
    struct rtune_config c = rtune_config_default(&p, true);
    c.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, 1 + k};
    return c;
}

static bool late(struct rtune_chances *chances, uint32_t k) {
    const struct rtune_config c = config(k);
    return rtune_chances_late(chances, &c);
}
static bool more_time(const struct rtune_chances *chances, uint32_t k) {
    const struct rtune_config c = config(k);
    return rtune_chances_more_time(chances, &c);
}
static void answer(struct rtune_chances *chances, uint32_t k) {
    const struct rtune_config c = config(k);
    rtune_chances_answered(chances, &c);
}

/* A config may be late once, whatever it does in between. */
static void test_once(void **state) {
    (void)state;
    for (int answers = 0; answers < 2; answers++) {
        struct rtune_chances chances = {0};
        assert_false(more_time(&chances, 0));
        assert_true(late(&chances, 0));
        assert_true(more_time(&chances, 0));
        assert_false(more_time(&chances, 1));
        if (answers) answer(&chances, 0);
        assert_true(more_time(&chances, 0));
        assert_false(late(&chances, 0));
        assert_false(more_time(&chances, 0));
        assert_false(late(&chances, 0));
        /* what its chance was worth is counted once, the first time that it shows */
        assert_int_equal(chances.in_vain, answers ? 0 : 1);
    }
}

/* Two in vain in a row are the end, unless one that is still open answers. */
static void test_in_vain(void **state) {
    (void)state;
    struct rtune_chances chances = {0};
    for (uint32_t k = 0; k < 3; k++)
        assert_true(late(&chances, k));
    assert_false(late(&chances, 0));
    answer(&chances, 0); /* it was late twice */
    answer(&chances, 5); /* it was never late */
    assert_int_equal(chances.in_vain, 1);
    answer(&chances, 1);
    assert_int_equal(chances.in_vain, 0);
    assert_true(late(&chances, 3));
    assert_false(late(&chances, 3));
    assert_false(late(&chances, 2));
    assert_int_equal(chances.in_vain, 2);
    answer(&chances, 1); /* told before */
    assert_false(late(&chances, 4));
    assert_false(more_time(&chances, 4));
}

static void test_many(void **state) {
    (void)state;
    struct rtune_chances chances = {0};
    for (uint32_t k = 0; k < RTUNE_CHANCES; k++) {
        assert_true(late(&chances, k));
        answer(&chances, k);
    }
    assert_false(late(&chances, RTUNE_CHANCES));
    assert_true(more_time(&chances, RTUNE_CHANCES - 1));
    assert_int_equal(chances.count, RTUNE_CHANCES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_in_vain),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
