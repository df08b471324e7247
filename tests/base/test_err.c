/* SPDX-License-Identifier: Apache-2.0 */
/* Error records, statuses, the log sink, the version and the clock. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/utf8.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_set(void **state) {
    (void)state;
    struct rtune_error err;
    memset(&err, 0xab, sizeof(err));
    assert_int_equal(rtune_err_set(&err, RTUNE_RANGE, "block: %d is too large", 7), RTUNE_RANGE);
    assert_int_equal(err.status, RTUNE_RANGE);
    assert_string_equal(err.message, "block: 7 is too large");
    assert_string_equal(err.file, "");
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 0);
    assert_int_equal(rtune_err_set(NULL, RTUNE_IO, "lost"), RTUNE_IO);
}

static void test_place(void **state) {
    (void)state;
    struct rtune_error err;
    char text[128];
    assert_int_equal(rtune_err_set_at(&err, RTUNE_SYNTAX, "a.yaml", 3, 9, "unknown key"),
                     RTUNE_SYNTAX);
    rtune_err_format(&err, text, sizeof(text));
    assert_string_equal(text, "a.yaml:3:9: unknown key");
    err.column = 0;
    rtune_err_format(&err, text, sizeof(text));
    assert_string_equal(text, "a.yaml:3: unknown key");
    err.line = 0;
    rtune_err_format(&err, text, sizeof(text));
    assert_string_equal(text, "a.yaml: unknown key");
    err.file[0] = '\0';
    rtune_err_format(&err, text, 8);
    assert_string_equal(text, "unknown");
    /* A later failure without a place must not keep the old one. */
    rtune_err_set_at(&err, RTUNE_SYNTAX, "a.yaml", 3, 9, "unknown key");
    rtune_err_set(&err, RTUNE_IO, "other");
    assert_string_equal(err.file, "");
    assert_int_equal(err.line, 0);
}

static void test_errno(void **state) {
    (void)state;
    struct rtune_error err;
    errno = EINTR;
    assert_int_equal(rtune_err_set_errno(&err, RTUNE_IO, ENOSPC, "%s: cannot write", "x"),
                     RTUNE_IO);
    assert_string_equal(err.message, "x: cannot write: No space left on device");
    assert_int_equal(errno, EINTR);
}

static void test_prefix(void **state) {
    (void)state;
    struct rtune_error err;
    rtune_err_set_at(&err, RTUNE_RANGE, "f", 1, 2, "inner");
    rtune_err_prefix(&err, "--%s", "sizes");
    assert_string_equal(err.message, "--sizes: inner");
    assert_int_equal(err.status, RTUNE_RANGE);
    assert_int_equal(err.line, 1);
    /* The message may be an argument of its own replacement. */
    rtune_err_set(&err, RTUNE_IO, "again %s", err.message);
    assert_string_equal(err.message, "again --sizes: inner");
    rtune_err_prefix(NULL, "nothing");
    rtune_err_clear(&err);
    assert_int_equal(err.status, RTUNE_OK);
    assert_string_equal(err.message, "");
    rtune_err_clear(NULL);
}

static void test_long_message(void **state) {
    (void)state;
    struct rtune_error err;
    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text + 509, "\xe2\x82\xac", 3); /* a euro sign across the end of the record */
    rtune_err_set(&err, RTUNE_IO, "%s", text);
    assert_int_equal(strlen(err.message), 509);
    rtune_err_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.message), 509);
    rtune_err_set_at(&err, RTUNE_IO, text, 1, 1, "%s", text + 512);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_int_equal(strlen(err.file), sizeof(err.file) - 1);
}

static void test_control_bytes(void **state) {
    (void)state;
    struct rtune_error err;
    rtune_err_set_at(&err, RTUNE_IO, "a\x1b[2J", 1, 1, "b\x1b[31m\x7f\a\n\tc");
    assert_string_equal(err.file, "a?[2J");
    assert_string_equal(err.message, "b?[31m??\n\tc");
}

static void test_status(void **state) {
    (void)state;
    assert_string_equal(rtune_status_name(RTUNE_OK), "OK");
    assert_string_equal(rtune_status_name(RTUNE_STORE_UNTRUSTED), "STORE_UNTRUSTED");
    assert_string_equal(rtune_status_text(RTUNE_RANGE), "value out of range");
    assert_string_equal(rtune_status_name((enum rtune_status)1), "UNKNOWN");
    assert_string_equal(rtune_status_text((enum rtune_status)1), "unknown status");
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", rtune_version_number() / 10000,
             rtune_version_number() / 100 % 100, rtune_version_number() % 100);
    assert_string_equal(rtune_version_string(), text);
}

struct heard {
    int count;
    enum rtune_log_level level;
    char text[64];
};

static void hear(void *user, enum rtune_log_level level, const char *message) {
    struct heard *heard = user;
    heard->count++;
    heard->level = level;
    snprintf(heard->text, sizeof(heard->text), "%s", message);
}

static void test_log(void **state) {
    (void)state;
    struct heard heard = {0};
    struct rtune_log log = {hear, &heard, RTUNE_LOG_WARN};
    rtune_log_write(&log, RTUNE_LOG_INFO, "dropped");
    assert_int_equal(heard.count, 0);
    rtune_log_write(&log, RTUNE_LOG_WARN, "kept %d", 5);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.level, RTUNE_LOG_WARN);
    assert_string_equal(heard.text, "kept 5");
    rtune_log_write(NULL, RTUNE_LOG_ERROR, "nobody listens");
    log.fn = NULL;
    rtune_log_write(&log, RTUNE_LOG_ERROR, "nobody listens");
    assert_int_equal(heard.count, 1);
}

static void test_clock(void **state) {
    (void)state;
    uint64_t before = rtune_clock_ns(), after = rtune_clock_ns();
    assert_true(after >= before);
    assert_true(rtune_clock_unix() > 1700000000);
}

static void test_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        uint32_t code;
    } cases[] = {
        {"a", 1, 'a'},
        {"\xc3\xa9", 2, 0xe9},
        {"\xe2\x82\xac", 3, 0x20ac},
        {"\x80", 0, 0},
        {"\xf0\x9f\x98\x80", 4, 0x1f600},
        {"\xc0\x80", 0, 0},
        {"\xe0\x80\x80", 0, 0},
        {"\xf0\x80\x80\x80", 0, 0},
        {"\xed\xa0\x80", 0, 0},
        {"\xf4\x90\x80\x80", 0, 0},
        {"\xff", 0, 0},
        {"\xc3", 0, 0},
        {"\xe2\x82", 0, 0},
        {"\xf0\x9f\x98", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t code = 0;
        size_t size = strlen(cases[i].text);
        assert_int_equal(rtune_utf8_next(cases[i].text, size, &code), cases[i].length);
        assert_int_equal(code, cases[i].code);
    }
    assert_int_equal(rtune_utf8_prefix("abc", 10), 3);
    assert_int_equal(rtune_utf8_prefix("abc", 3), 3);
    assert_int_equal(rtune_utf8_prefix("a\xe2\x82\xac", 4), 4);
    assert_int_equal(rtune_utf8_prefix("a\xe2\x82\xac", 3), 1);
    assert_int_equal(rtune_utf8_prefix("a\xe2\x82\xac", 1), 1);
    assert_int_equal(rtune_utf8_prefix("\x82\x82\x82\x82", 2), 2);
    assert_int_equal(rtune_utf8_prefix("\xe2\x82\xac", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),          cmocka_unit_test(test_place),
        cmocka_unit_test(test_errno),        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_long_message), cmocka_unit_test(test_control_bytes),
        cmocka_unit_test(test_status),       cmocka_unit_test(test_log),
        cmocka_unit_test(test_clock),        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
