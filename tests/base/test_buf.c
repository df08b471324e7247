/* SPDX-License-Identifier: Apache-2.0 */
/* The bounded buffer and JSON strings. */
#include "base/buf.h"
#include "base/num.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Let a huge allocation fail under AddressSanitizer as it does without. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

static void test_append(void **state) {
    (void)state;
    struct rtune_buf buf;
    rtune_buf_init(&buf, 1000);
    assert_null(buf.data);
    rtune_buf_puts(&buf, "ab");
    rtune_buf_add(&buf, "c\0d", 3);
    rtune_buf_printf(&buf, "%d-%s", 42, "x");
    assert_int_equal(buf.size, 9);
    assert_memory_equal(buf.data, "abc\0d42-x", 10);
    assert_int_equal(rtune_buf_status(&buf, NULL), RTUNE_OK);
    for (int i = 0; i < 900; i++) {
        rtune_buf_add(&buf, "z", 1);
        assert_int_equal(buf.data[buf.size], '\0');
    }
    assert_int_equal(buf.size, 909);
    rtune_buf_free(&buf);
    assert_null(buf.data);
    rtune_buf_free(&buf);
    rtune_buf_free(NULL);
}

static void test_maximum(void **state) {
    (void)state;
    struct rtune_buf buf;
    struct rtune_error err;
    rtune_buf_init(&buf, 5);
    rtune_buf_puts(&buf, "12345");
    assert_int_equal(rtune_buf_status(&buf, &err), RTUNE_OK);
    rtune_buf_puts(&buf, "");
    assert_int_equal(rtune_buf_status(&buf, &err), RTUNE_OK);
    rtune_buf_printf(&buf, "%d", 6);
    assert_int_equal(rtune_buf_status(&buf, &err), RTUNE_RANGE);
    assert_string_equal(err.message, "text is too long (at most 5 bytes)");
    assert_string_equal(buf.data, "12345");
    rtune_buf_free(&buf);

    rtune_buf_init(&buf, 5);
    rtune_buf_puts(&buf, "123456"); /* fails, and so does all that follows, even if it would fit */
    rtune_buf_puts(&buf, "1");
    assert_int_equal(rtune_buf_status(&buf, &err), RTUNE_RANGE);
    assert_int_equal(buf.size, 0);
    rtune_buf_free(&buf);
}

static void test_no_memory(void **state) {
    (void)state;
    struct rtune_buf buf;
    struct rtune_error err;
    rtune_buf_init(&buf, SIZE_MAX);
    rtune_buf_puts(&buf, "kept");
    rtune_buf_add(&buf, "", SIZE_MAX / 2 - 8); /* nothing is read before the allocation succeeds */
    assert_int_equal(rtune_buf_status(&buf, &err), RTUNE_NO_MEMORY);
    assert_string_equal(err.message, "out of memory at 4 bytes of text");
    assert_string_equal(buf.data, "kept");
    rtune_buf_free(&buf);
    rtune_buf_init(&buf, SIZE_MAX);
    rtune_buf_add(&buf, "", SIZE_MAX);
    assert_int_equal(buf.failed, RTUNE_NO_MEMORY);
    rtune_buf_free(&buf);
}

static void test_json(void **state) {
    (void)state;
    static const struct {
        const char *text, *json;
    } cases[] = {{"", "\"\""},
                 {"plain / text", "\"plain / text\""},
                 {"\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
                 {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
                 {"\xf0\x9f\x98\x80 \xe2\x82\xac", "\"\xf0\x9f\x98\x80 \xe2\x82\xac\""},
                 {"a\xff\xc3z", "\"a\xef\xbf\xbd\xef\xbf\xbdz\""},
                 {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
                 {NULL, "null"}};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        struct rtune_buf buf;
        rtune_buf_init(&buf, 1000);
        rtune_buf_json(&buf, cases[i].text);
        assert_string_equal(buf.data, cases[i].json);
        rtune_buf_free(&buf);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_maximum),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
