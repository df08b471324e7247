/* SPDX-License-Identifier: Apache-2.0 */
/* One-line texts: what does not fit is cut off, or left out as a whole. */
#include "base/num.h"
#include "runtime/text.h"

#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>

/* A buffer of each size, with a byte behind it that must stay. */
static void test_add_cuts(void **state) {
    (void)state;
    static const char whole[] = "abcdefgh";
    for (size_t size = 1; size <= sizeof whole + 2; size++) {
        char data[16], want[16];
        memset(data, '#', sizeof data);
        struct rtune_text text = rtune_text_over(data, size);
        rtune_text_add(&text, "abc");
        rtune_text_add(&text, "defgh");
        snprintf(want, size, "%s", whole);
        assert_string_equal(data, want);
        assert_int_equal(text.used, strlen(want));
        assert_int_equal(data[size], '#');
    }
}

static void test_add_whole_or_nothing(void **state) {
    (void)state;
    for (size_t size = 4; size <= 12; size++) {
        char data[16];
        memset(data, '#', sizeof data);
        struct rtune_text text = rtune_text_over(data, size);
        rtune_text_add(&text, "abc");
        rtune_text_add_whole(&text, ", def");
        const bool fits = size >= sizeof "abc, def";
        assert_string_equal(data, fits ? "abc, def" : "abc");
        assert_int_equal(text.full, !fits);
        rtune_text_add_whole(&text, ""); /* nothing comes after what was left out */
        rtune_text_add(&text, "g");
        const bool more = size >= sizeof "abc, defg";
        assert_string_equal(data, more ? "abc, defg" : fits ? "abc, def" : "abc");
        assert_int_equal(text.used, strlen(data));
        assert_int_equal(data[size], '#');
    }
}

static void test_end(void **state) {
    (void)state;
    char data[8];
    struct rtune_text text = rtune_text_over(data, sizeof data);
    rtune_text_add(&text, "ab, ");
    rtune_text_end(&text);
    assert_string_equal(data, "ab, "); /* nothing was left out */
    rtune_text_add_whole(&text, "cdefgh");
    rtune_text_end(&text);
    assert_string_equal(data, "ab");
    text = rtune_text_over(data, sizeof data);
    rtune_text_add_whole(&text, "12345678");
    rtune_text_end(&text);
    assert_string_equal(data, "");
}

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        uint64_t value;
        const char *text;
    } known[] = {{0, "0"}, {9, "9"}, {10, "10"}, {UINT64_MAX, "18446744073709551615"}};
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(known); k++) {
        char data[32];
        struct rtune_text text = rtune_text_over(data, sizeof data);
        rtune_text_add_u64(&text, known[k].value);
        assert_string_equal(data, known[k].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_cuts),
        cmocka_unit_test(test_add_whole_or_nothing),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
