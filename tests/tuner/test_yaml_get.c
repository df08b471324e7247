/* SPDX-License-Identifier: Apache-2.0 */
/* Typed values out of a YAML tree, and text quoted into one. */
#include "base/buf.h"
#include "base/num.h"
#include "tuner/yaml.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static rtune_yaml *doc;

/* The value of "v: <text>". */
static const struct rtune_yaml_node *value_of(const char *text) {
    char line[512];
    struct rtune_error err = {0};
    rtune_yaml_free(doc);
    doc = NULL;
    snprintf(line, sizeof(line), "v: %s\n", text);
    if (rtune_yaml_parse(line, strlen(line), "f", "profile", &doc, &err) != RTUNE_OK)
        fail_msg("%s: %s", line, err.message);
    return rtune_yaml_root(doc)->first;
}

static int free_doc(void **state) {
    (void)state;
    rtune_yaml_free(doc);
    doc = NULL;
    return 0;
}

static void check_error(const char *text, enum rtune_status status, enum rtune_status wanted,
                        const struct rtune_error *err, const char *words) {
    if (status != wanted || strstr(err->message, words) == NULL || strncmp(err->message, "v: ", 3))
        fail_msg("%s: %s: %s", text, rtune_status_name(status), err->message);
    assert_string_equal(err->file, "f");
    assert_int_equal(err->line, 1);
    assert_int_equal(err->column, 4);
}

static void test_u64(void **state) {
    (void)state;
    uint64_t value = 0;
    assert_int_equal(rtune_yaml_u64(value_of("1024"), 1, 1024, &value, NULL), RTUNE_OK);
    assert_int_equal(value, 1024);
    assert_int_equal(rtune_yaml_u64(value_of("0"), 0, 1024, &value, NULL), RTUNE_OK);
    assert_int_equal(value, 0);
    static const struct {
        const char *text;
        enum rtune_status status;
        const char *words;
    } cases[] = {
        {"4294967552", RTUNE_RANGE, "\"4294967552\" is out of range (expected 1 to 1024)"},
        {"0", RTUNE_RANGE, "out of range"},
        {"\"8\"", RTUNE_SYNTAX, "expected a whole number, not the quoted text \"8\""},
        {"08", RTUNE_SYNTAX, "without leading zeros"},
        {"010", RTUNE_SYNTAX, "without leading zeros"},
        {"0x10", RTUNE_SYNTAX, "expected decimal digits alone"},
        {"1_000", RTUNE_SYNTAX, "expected decimal digits alone"},
        {"-1", RTUNE_SYNTAX, "expected decimal digits alone"},
        {"1e3", RTUNE_SYNTAX, "expected decimal digits alone"},
        {"1.0", RTUNE_SYNTAX, "expected decimal digits alone"},
        {"", RTUNE_SYNTAX, "expected a whole number, not null"},
        {"~", RTUNE_SYNTAX, "expected a whole number, not null"},
        {"[1]", RTUNE_SYNTAX, "expected a whole number, not a list"},
        {"{a: 1}", RTUNE_SYNTAX, "expected a whole number, not a mapping"},
        {"true", RTUNE_SYNTAX, "expected decimal digits alone"},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        struct rtune_error err = {0};
        value = 77;
        const struct rtune_yaml_node *node = value_of(cases[i].text);
        enum rtune_status status = rtune_yaml_u64(node, 1, 1024, &value, &err);
        if (cases[i].text[0] != '\0')
            check_error(cases[i].text, status, cases[i].status, &err, cases[i].words);
        assert_int_equal(status, cases[i].status);
        assert_int_equal(value, 77);
    }
}

static void test_other_numbers(void **state) {
    (void)state;
    struct rtune_error err = {0};
    uint64_t size = 0;
    double real = 0;
    bool flag = false;
    assert_int_equal(rtune_yaml_size(value_of("64Ki"), 0, 1 << 20, &size, NULL), RTUNE_OK);
    assert_int_equal(size, 65536);
    check_error("2^30", rtune_yaml_size(value_of("2^30"), 0, 1 << 20, &size, &err), RTUNE_RANGE,
                &err, "out of range");
    check_error("'1'", rtune_yaml_size(value_of("'1'"), 0, 1 << 20, &size, &err), RTUNE_SYNTAX,
                &err, "expected a size such as 1000, 64Ki or 2^20, not the quoted text");
    assert_int_equal(rtune_yaml_double(value_of("1.5e-3"), 0, 1, &real, NULL), RTUNE_OK);
    assert_true(real == 1.5e-3);
    check_error(".nan", rtune_yaml_double(value_of(".nan"), 0, 1, &real, &err), RTUNE_SYNTAX, &err,
                "expected decimal digits");
    check_error(".inf", rtune_yaml_double(value_of(".inf"), 0, 1, &real, &err), RTUNE_SYNTAX, &err,
                "expected decimal digits");
    check_error("1.5", rtune_yaml_double(value_of("1.5"), 0, 1, &real, &err), RTUNE_RANGE, &err,
                "out of range (expected 0 to 1)");
    assert_int_equal(rtune_yaml_bool(value_of("true"), &flag, NULL), RTUNE_OK);
    assert_true(flag);
    assert_int_equal(rtune_yaml_bool(value_of("false"), &flag, NULL), RTUNE_OK);
    assert_false(flag);
    static const char *const not_bool[] = {"yes", "True", "1", "\"true\"", "~", "[]"};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(not_bool); i++)
        check_error(not_bool[i], rtune_yaml_bool(value_of(not_bool[i]), &flag, &err), RTUNE_SYNTAX,
                    &err, "expected true or false, not");
}

static void test_text(void **state) {
    (void)state;
    struct rtune_error err = {0};
    char text[8];
    int name = -1;
    assert_int_equal(rtune_yaml_text(value_of("1234567"), text, sizeof(text), NULL), RTUNE_OK);
    assert_string_equal(text, "1234567");
    assert_int_equal(rtune_yaml_text(value_of("\"null\""), text, sizeof(text), NULL), RTUNE_OK);
    assert_string_equal(text, "null");
    assert_int_equal(rtune_yaml_text(value_of("''"), text, sizeof(text), NULL), RTUNE_OK);
    assert_string_equal(text, "");
    check_error("long", rtune_yaml_text(value_of("12345678"), text, sizeof(text), &err),
                RTUNE_RANGE, &err, "text of 8 bytes is too long (at most 7)");
    check_error("null", rtune_yaml_text(value_of("null"), text, sizeof(text), &err), RTUNE_SYNTAX,
                &err, "expected text, not null");
    check_error("[]", rtune_yaml_text(value_of("[a]"), text, sizeof(text), &err), RTUNE_SYNTAX,
                &err, "expected text, not a list");
    assert_int_equal(rtune_yaml_name(value_of("f32"), RTUNE_NAMES_DTYPE, &name, NULL), RTUNE_OK);
    assert_int_equal(name, RTUNE_F32);
    assert_int_equal(rtune_yaml_name(value_of("f33"), RTUNE_NAMES_DTYPE, &name, &err),
                     RTUNE_SYNTAX);
    assert_non_null(strstr(err.message, "f64")); /* the accepted names are there */
    assert_int_equal(err.column, 4);
}

static void test_fields(void **state) {
    (void)state;
    struct rtune_error err = {0};
    struct rtune_yaml_field f[] = {{"one", true, NULL}, {"two", false, NULL}};
    assert_int_equal(rtune_yaml_fields(value_of("{two: 2, one: 1}"), f, 2, &err), RTUNE_OK);
    assert_string_equal(f[0].value->text, "1");
    assert_string_equal(f[1].value->text, "2");
    assert_int_equal(rtune_yaml_fields(value_of("{one: 1}"), f, 2, &err), RTUNE_OK);
    assert_null(f[1].value);
    assert_int_equal(rtune_yaml_fields(value_of("{one: 1, tow: 2}"), f, 2, &err), RTUNE_SYNTAX);
    assert_string_equal(err.message, "unknown key \"tow\" (expected one of one, two)");
    assert_int_equal(err.column, 13);
    assert_int_equal(rtune_yaml_fields(value_of("{two: 2}"), f, 2, &err), RTUNE_SYNTAX);
    assert_string_equal(err.message, "key \"one\" is missing");
    assert_int_equal(rtune_yaml_fields(value_of("[one]"), f, 2, &err), RTUNE_SYNTAX);
    assert_string_equal(err.message, "v: expected a mapping (key: value), not a list");
    check_error("[1]", rtune_yaml_sequence(value_of("[1]"), 2, 3, &err), RTUNE_RANGE, &err,
                "a list of 1 (expected 2 to 3 values)");
    check_error("1", rtune_yaml_sequence(value_of("1"), 2, 3, &err), RTUNE_SYNTAX, &err,
                "expected a list, not \"1\"");
    assert_int_equal(rtune_yaml_sequence(value_of("[1, 2]"), 2, 3, &err), RTUNE_OK);
}

static void test_quote(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0x10",
        "008",
        "a: b",
        "# c",
        "- d",
        " lead",
        "trail ",
        "new\nline",
        "\"",
        "\\",
        "NULL",
        "true",
        "~",
        "",
        "\t",
        "\x01\x1f\x7f",
        "va:l",
        "%x",
        "&a",
        "*a",
        "!t",
        "|",
        ">",
        "{a: b}",
        "[x]",
        "'",
        "@",
        "`",
        "? x",
        "1.5",
        "---",
        "...",
        "\xf0\x9f\x98\x80",
        "\xc2\x85",
        "\xe2\x80\xa8\xe2\x80\xa9",
        "\xef\xbb\xbf",
        "\xc2\xa0",
        "\r\n",
        "\xef\xbf\xbd",
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(texts); i++) {
        struct rtune_buf buf;
        char text[64] = "unset";
        rtune_buf_init(&buf, 1000);
        rtune_yaml_quote(&buf, texts[i]);
        assert_null(strchr(buf.data, '\n'));
        assert_int_equal(rtune_yaml_text(value_of(buf.data), text, sizeof(text), NULL), RTUNE_OK);
        assert_string_equal(text, texts[i]);
        rtune_buf_free(&buf);
    }
    struct rtune_buf buf;
    rtune_buf_init(&buf, 1000);
    rtune_yaml_quote(&buf, "a\xff\xc3z");
    assert_string_equal(buf.data, "\"a??z\"");
    rtune_buf_free(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_u64, free_doc),
        cmocka_unit_test_teardown(test_other_numbers, free_doc),
        cmocka_unit_test_teardown(test_text, free_doc),
        cmocka_unit_test_teardown(test_fields, free_doc),
        cmocka_unit_test_teardown(test_quote, free_doc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
