/* SPDX-License-Identifier: Apache-2.0 */
/* RTUNE_OVERRIDE: selectors, partial configs, the first entry that fits, and every way to get it
 * wrong. */
#include "tests/runtime/toy.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

/* The config that text gives a problem, or false. */
static bool overridden(const char *text, bool cuda, struct rtune_problem problem,
                       struct rtune_config *config, uint32_t *entry) {
    struct rtune_override override = {0};
    struct rtune_error err = {0};
    const struct rtune_problem canonical = rtune_problem_canonical(&problem);
    if (rtune_override_parse(text, cuda, &override, &err) != RTUNE_OK) fail_msg("%s", err.message);
    const bool found = rtune_override_find(&override, &problem, &canonical, cuda, config, entry);
    rtune_override_free(&override);
    return found;
}

static void check_config(const char *text, struct rtune_problem problem, const char *expected,
                         uint32_t entry) {
    struct rtune_config config;
    struct rtune_config want = rtune_config_default(&problem, true);
    uint32_t number = 0;
    char got[192];
    if (!overridden(text, true, problem, &config, &number)) fail_msg("%s selects nothing", text);
    assert_int_equal(rtune_config_parse(expected, &want, NULL), RTUNE_OK);
    rtune_config_print(&config, got, sizeof got);
    if (!rtune_config_equal(&config, &want)) fail_msg("%s gives %s", text, got);
    assert_int_equal(number, entry);
}

static void test_every_axis_alone(void **state) {
    (void)state;
    static const char *const axes[] = {
        "block=64",    "items=8",         "grid=17",          "grid=2xsm",
        "grid=cover",  "load=plain",      "map=chunk",        "map=strip",
        "finish=last", "load=evictfirst", "occupancy=2",      "finish=slots",
        "block=512",   "items=16",        "load=noncoherent", "occupancy=0",
    };
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1000);
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(axes); i++) {
        char text[64] = "sum,f32:";
        check_config(strcat(text, axes[i]), p, axes[i], 1);
    }
}

static void test_selectors(void **state) {
    (void)state;
    struct rtune_config config;
    uint32_t entry;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1000);
    check_config("sum,f32:block=256,items=16,grid=4xsm", p, "block=256,items=16,grid=4xsm", 1);
    check_config("*:block=64", p, "block=64", 1);
    check_config("f32:block=64", p, "block=64", 1);
    check_config("cold,f32,sum,plain,propagate,wide:block=64", p, "block=64", 1);
    assert_false(overridden("max:block=64", true, p, &config, &entry));
    assert_false(overridden("sum,f64:block=64", true, p, &config, &entry));
    assert_false(overridden("sum,f32,warm:block=64", true, p, &config, &entry));
    assert_false(overridden("", true, p, &config, &entry));
    assert_false(overridden(";;", true, p, &config, &entry));
    check_config("max:block=64;sum:block=96;*:block=128", p, "block=96", 2);
    check_config("max:block=64;;sum:block=96;", p, "block=96", 2);
    /* acc does not matter to min of integers: native is what was asked, wide what serves it */
    p = RTUNE_PROBLEM(RTUNE_MIN, RTUNE_I32, 1000);
    p.acc = RTUNE_NATIVE;
    check_config("min,i32,native:block=64", p, "block=64", 1);
    check_config("min,i32,wide:block=64", p, "block=64", 1);
}

/* An entry that no kernel can have for this dtype does not stand in the way of the next one. */
static void test_skips_impossible(void **state) {
    (void)state;
    const struct rtune_problem f32 = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1000);
    const struct rtune_problem f64 = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F64, 1000);
    check_config("sum:items=64;sum:items=32", f32, "items=64", 1);
    check_config("sum:items=64;sum:items=32", f64, "items=32", 2);
}

static void test_cpu(void **state) {
    (void)state;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1000);
    struct rtune_config config;
    struct rtune_error err = {0};
    struct rtune_override override = {0};
    uint32_t entry;
    assert_true(overridden("sum:grid=3", false, p, &config, &entry));
    assert_int_equal(config.block, 1);
    assert_int_equal(config.grid.value, 3);
    assert_int_equal(rtune_override_parse("sum:block=256", false, &override, &err), RTUNE_INVALID);
    assert_non_null(strstr(err.message, "block"));
    assert_int_equal(rtune_override_parse("sum:block=1", true, &override, &err), RTUNE_INVALID);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"sum", "\":\""},
        {"sum:", "axis=value"},
        {":block=64", "\"\""},
        {"sum,:block=64", "\"\""},
        {"summ:block=64", "summ"},
        {"sum,max:block=64", "second op"},
        {"sum,*:block=64", "\"*\""},
        {"sum:block=33", "block"},
        {"sum:block=-1", "block"},
        {"sum:block=64,block=64", "twice"},
        {"sum:blok=64", "blok"},
        {"sum:grid=0", "grid"},
        {"sum:finish=one", "grid"},
        {"sum:block=4294967552", "block"},
        {"band,f16:block=64", "selector"},
        {"min:finish=packed", "packed"},
        {"sum,f32:finish=packed", "packed"},
        {"sum,i32:finish=atomic", "atomic"},
        {"dot:variant=bulk,block=128,extra=2", "bulk"},
        {"sum:finish=cluster", "extra"},
        {"sum:block=64;max:items=3", "entry 2"},
        {" sum:block=64", " sum"},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        struct rtune_override override = {0};
        struct rtune_error err = {0};
        assert_int_equal(rtune_override_parse(cases[i].text, true, &override, &err), RTUNE_INVALID);
        assert_int_equal(err.status, RTUNE_INVALID);
        if (!strstr(err.message, cases[i].words) || !strstr(err.message, "RTUNE_OVERRIDE")) {
            fail_msg("%s: %s", cases[i].text, err.message);
        }
        assert_null(override.entries);
        assert_int_equal(rtune_override_parse(cases[i].text, true, &override, NULL), RTUNE_INVALID);
    }
}

static void test_bounds(void **state) {
    (void)state;
    struct rtune_override override = {0};
    char text[5000] = "";
    for (size_t i = 0; i <= RTUNE_OVERRIDE_MAX; i++)
        strcat(text, "sum:block=64;");
    assert_int_equal(rtune_override_parse(text, true, &override, NULL), RTUNE_INVALID);
    text[RTUNE_OVERRIDE_MAX * strlen("sum:block=64;")] = '\0';
    assert_int_equal(rtune_override_parse(text, true, &override, NULL), RTUNE_OK);
    assert_int_equal(override.count, RTUNE_OVERRIDE_MAX);
    rtune_override_free(&override);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(rtune_override_parse(text, true, &override, NULL), RTUNE_INVALID);
}

/* A mistake in the variable is told by rtune_open; what is right beats every store. */
static void test_open(void **state) {
    (void)state;
    struct rtune_error err = {0};
    rtune *rt = NULL;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1 << 20);
    setenv("RTUNE_OVERRIDE", "sum:blokc=1", 1);
    assert_int_equal(rtune_open_on(&rt, &toy_new(NULL)->base, NULL, &err), RTUNE_INVALID);
    assert_null(rt);
    assert_non_null(strstr(err.message, "RTUNE_OVERRIDE"));
    setenv("RTUNE_OVERRIDE", "max:block=64;sum:grid=3", 1);
    rt = toy_open(toy_new(NULL), "none");
    check_served(rt, &p, RTUNE_FROM_OVERRIDE, "grid=3", "entry 2");
    rtune_close(rt);
    unsetenv("RTUNE_OVERRIDE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_axis_alone),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_skips_impossible),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_open),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
