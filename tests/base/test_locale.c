/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers read and print the same in every locale, and the host's locale is left as it was. */
#include "base/clock.h"
#include "base/parse.h"
#include "comma_locale.h"

#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_comma_locale(void **state) {
    (void)state;
    char text[64], before[512];
    double value = 0;
    if (!comma_locale_set()) skip();
    snprintf(text, sizeof(text), "%.1f", 1.5);
    assert_string_equal(text, "1,5"); /* else the rest would prove nothing */
    snprintf(before, sizeof(before), "%s", setlocale(LC_ALL, NULL));
    locale_t thread_before = uselocale((locale_t)0);

    rtune_print_double(1234567.25, text, sizeof(text));
    assert_string_equal(text, "1234567.25");
    assert_int_equal(rtune_parse_double("1234567.25", 0, 1e9, &value, NULL), RTUNE_OK);
    assert_true(value == 1234567.25);
    assert_int_equal(rtune_parse_double("1,5", 0, 1e9, &value, NULL), RTUNE_SYNTAX);
    assert_int_equal(rtune_parse_duration("1.5s", 0, 10, &value, NULL), RTUNE_OK);
    assert_true(value == 1.5);
    struct rtune_error err;
    assert_int_equal(rtune_parse_duration("11.5s", 0.5, 10, &value, &err), RTUNE_RANGE);
    assert_string_equal(err.message, "\"11.5s\" is out of range (expected 0.5s to 10s)");

    assert_string_equal(setlocale(LC_ALL, NULL), before);
    assert_true(uselocale((locale_t)0) == thread_before);
    snprintf(text, sizeof(text), "%.1f", 1.5);
    assert_string_equal(text, "1,5");
    comma_locale_reset();
}

static void test_thread_locale_kept(void **state) {
    (void)state;
    locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assert_true(own != (locale_t)0);
    locale_t mine = duplocale(own), before = uselocale(mine);
    char text[64];
    rtune_print_double(0.1, text, sizeof(text));
    assert_true(uselocale((locale_t)0) == mine);
    uselocale(before);
    freelocale(mine);
    freelocale(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comma_locale),
        cmocka_unit_test(test_thread_locale_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
