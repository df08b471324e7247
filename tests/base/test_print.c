/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed reads back: golden texts and random values. RTUNE_TEST_SEED repeats a run. */
#include "base/clock.h"
#include "base/num.h"
#include "base/parse.h"
#include "base/rng.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static void test_double_texts(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.0, "0"},
                 {-0.0, "-0"},
                 {1.0, "1"},
                 {1.5, "1.5"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1e15, "1e+15"},
                 {DBL_MAX, "1.7976931348623157e+308"},
                 {5e-324, "4.94065645841247e-324"},
                 {INFINITY, "inf"}};
    char text[64];
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        int length = rtune_print_double(cases[i].value, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(text));
    }
    assert_int_equal(rtune_print_double(0.25, text, 3), 4);
    assert_string_equal(text, "0.");
    assert_int_equal(rtune_print_double(0.25, NULL, 0), 4);
}

static void test_double_round_trip(void **state) {
    (void)state;
    struct rtune_rng rng = {seed, 0};
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = rtune_rng_u64(&rng);
        double value, back;
        char text[64];
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value)) continue;
        rtune_print_double(value, text, sizeof(text));
        struct rtune_error err = {0};
        if (rtune_parse_double(text, -DBL_MAX, DBL_MAX, &back, &err) != RTUNE_OK)
            fail_msg("%s: %s", text, err.message);
        assert_memory_equal(&back, &value, sizeof(value));
    }
}

static void test_size_texts(void **state) {
    (void)state;
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {512, "512"},
        {1000, "1000"},
        {1024, "2^10"},
        {3072, "3Ki"},
        {1048576, "2^20"},
        {1048577, "1048577"},
        {3145728, "3Mi"},
        {UINT64_C(1) << 63, "2^63"},
        {UINT64_MAX, "18446744073709551615"},
        {UINT64_C(3) << 41, "6Ti"},
        {UINT64_C(5) << 52, "20480Ti"},
    };
    char text[64];
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        assert_int_equal(rtune_print_size(cases[i].value, text, sizeof(text)),
                         strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static void test_size_round_trip(void **state) {
    (void)state;
    struct rtune_rng rng = {seed + 1, 0};
    for (int i = 0; i < 20000; i++) {
        uint64_t value = rtune_rng_u64(&rng) >> rtune_rng_below(&rng, 64), back = 0;
        value &= ~UINT64_C(0) << rtune_rng_below(&rng, 64); /* trailing zeros: units and powers */
        char text[64];
        rtune_print_size(value, text, sizeof(text));
        if (rtune_parse_size(text, 0, UINT64_MAX, &back, NULL) != RTUNE_OK || back != value)
            fail_msg("%" PRIu64 " prints as %s, which reads as %" PRIu64, value, text, back);
    }
}

static void test_quoted(void **state) {
    (void)state;
    static const struct {
        const char *text, *quoted;
    } cases[] = {{"", "\"\""},
                 {"plain", "\"plain\""},
                 {"a\"b\\c\n\r\t", "\"a\\\"b\\\\c\\n\\r\\t\""},
                 {"\x1b[0m\x7f", "\"\\x1b[0m\\x7f\""},
                 {"\xc3\xa9\xff", "\"\xc3\xa9\\xff\""},
                 {"\xc2\x9b", "\"\\xc2\\x9b\""}, /* C1 control */
                 {"12345678901234567890", "\"12345678901234567890\""},
                 {"123456789012345678901234567", "\"12345678901234567890123456...\""}};
    char text[32];
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        rtune_print_quoted(cases[i].text, text, sizeof(text));
        assert_string_equal(text, cases[i].quoted);
    }
    rtune_print_quoted("\xe2\x82\xac\xe2\x82\xac", text, 10); /* never half a character */
    assert_string_equal(text, "\"\xe2\x82\xac...\"");
    rtune_print_quoted("abcdef", text, 8);
    assert_string_equal(text, "\"ab...\"");
    rtune_print_quoted("abc", text, 1);
    assert_string_equal(text, "");
}

static void test_rng(void **state) {
    (void)state;
    /* The published first outputs of SplitMix64 for the seeds 0 and 1234567. */
    static const uint64_t zero[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f};
    static const uint64_t other[] = {6457827717110365317u, 3203168211198807973u,
                                     9817491932198370423u};
    struct rtune_rng rng = {0, 0};
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(rtune_rng_at(0, i), zero[i]);
        assert_int_equal(rtune_rng_at(1234567, i), other[i]);
        assert_int_equal(rtune_rng_u64(&rng), zero[i]);
    }
    for (int i = 0; i < 1000; i++)
        assert_true(rtune_rng_below(&rng, 7) < 7);
}

int main(void) {
    const char *text = getenv("RTUNE_TEST_SEED");
    seed = rtune_clock_ns();
    if (text != NULL && rtune_parse_u64(text, 0, UINT64_MAX, &seed, NULL) != RTUNE_OK) return 2;
    printf("RTUNE_TEST_SEED=%" PRIu64 "\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_texts), cmocka_unit_test(test_double_round_trip),
        cmocka_unit_test(test_size_texts),   cmocka_unit_test(test_size_round_trip),
        cmocka_unit_test(test_quoted),       cmocka_unit_test(test_rng),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
