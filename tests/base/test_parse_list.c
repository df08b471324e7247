/* SPDX-License-Identifier: Apache-2.0 */
/* Fields, and lists and ranges of sizes. */
#include "base/num.h"
#include "base/parse.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_field(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *fields[4];
    } cases[] = {
        {"", {""}},        {"a", {"a"}},      {"a,bc", {"a", "bc"}},
        {"a,", {"a", ""}}, {",a", {"", "a"}}, {",,", {"", "", ""}},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        const char *text = cases[i].text, *field;
        size_t length, k = 0;
        while (rtune_parse_field(&text, &field, &length)) {
            assert_true(k < 4 && cases[i].fields[k] != NULL);
            assert_int_equal(length, strlen(cases[i].fields[k]));
            assert_memory_equal(field, cases[i].fields[k], length);
            k++;
        }
        assert_true(k == 4 || cases[i].fields[k] == NULL);
        assert_null(text);
    }
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        uint64_t values[8];
    } cases[] = {
        {"7", 1, {7}},
        {"1000,64Ki,2^10", 3, {1000, 1024, 65536}},
        {"8,4,8,2,4", 3, {2, 4, 8}},
        {"2^3..2^6", 4, {8, 16, 32, 64}},
        {"1..8", 4, {1, 2, 4, 8}},
        {"4..4", 1, {4}},
        {"2^2..16,5,8", 4, {4, 5, 8, 16}},
        {"2^62..2^63", 2, {UINT64_C(1) << 62, UINT64_C(1) << 63}},
        {"4294967297,8589934592", 2, {4294967297, 8589934592}},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        struct rtune_error err = {0};
        uint64_t *values = NULL;
        size_t count = 0;
        if (rtune_parse_sizes(cases[i].text, 1, UINT64_MAX, &values, &count, &err) != RTUNE_OK)
            fail_msg("%s: %s", cases[i].text, err.message);
        assert_int_equal(count, cases[i].count);
        assert_memory_equal(values, cases[i].values, count * sizeof(values[0]));
        free(values);
    }
}

static void test_sizes_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum rtune_status status;
        const char *words;
    } cases[] = {
        {"", RTUNE_SYNTAX, "empty entry"},
        {"1,", RTUNE_SYNTAX, "empty entry"},
        {"1,,2", RTUNE_SYNTAX, "empty entry"},
        {"1, 2", RTUNE_SYNTAX, "\" 2\" is not a size"},
        {"2^4..2^2", RTUNE_SYNTAX, "the smaller one first"},
        {"3..8", RTUNE_SYNTAX, "two powers of two"},
        {"1..1000", RTUNE_SYNTAX, "two powers of two"},
        {"1..2..4", RTUNE_SYNTAX, "is not a size"},
        {"1...8", RTUNE_SYNTAX, "is not a size"},
        {"..8", RTUNE_SYNTAX, "\"\" is not a size"},
        {"8..", RTUNE_SYNTAX, "\"\" is not a size"},
        {"0..8", RTUNE_RANGE, "expected 1 to 4096"},
        {"1,4097", RTUNE_RANGE, "expected 1 to 4096"},
        {"-1", RTUNE_SYNTAX, "\"-1\" is not a size"},
        {"1000000000000000000000000000000000000000000000000000000000000000000", RTUNE_SYNTAX,
         "too long"},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        struct rtune_error err = {0};
        uint64_t *values = NULL;
        size_t count = 99;
        assert_int_equal(rtune_parse_sizes(cases[i].text, 1, 4096, &values, &count, &err),
                         cases[i].status);
        assert_null(values);
        assert_int_equal(count, 99);
        if (strstr(err.message, cases[i].words) == NULL)
            fail_msg("%s: %s", cases[i].text, err.message);
    }
}

static void test_sizes_bounded(void **state) {
    (void)state;
    enum { ENTRIES = 4097 };
    struct rtune_error err;
    uint64_t *values = NULL;
    size_t count = 0, used = 0;
    char *text = malloc(ENTRIES * 8);
    assert_non_null(text);
    for (int i = 0; i < ENTRIES; i++)
        used += (size_t)sprintf(text + used, "%s%d", i == 0 ? "" : ",", i + 1);
    assert_int_equal(rtune_parse_sizes(text, 1, 10000, &values, &count, &err), RTUNE_RANGE);
    assert_string_equal(err.message, "too many sizes (at most 4096)");
    *strrchr(text, ',') = '\0';
    assert_int_equal(rtune_parse_sizes(text, 1, 10000, &values, &count, &err), RTUNE_OK);
    assert_int_equal(count, 4096);
    assert_int_equal(values[4095], 4096);
    free(values);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_refused),
        cmocka_unit_test(test_sizes_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
