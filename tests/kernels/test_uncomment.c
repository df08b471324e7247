/* SPDX-License-Identifier: Apache-2.0 */
/* What a hash of sources must not see, and what it must. */
#include "kernels/uncomment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, const char *code) {
    char got[128];
    assert_true(strlen(text) < sizeof got);
    assert_int_equal(rtune_uncomment(text, got), strlen(code));
    assert_string_equal(got, code);
}

static void test_comments_and_blanks(void **state) {
    (void)state;
    expect("", "");
    expect(" /* nothing */ // at all", "");
    expect("int a; // one\nint b;", "int a;\nint b;");
    expect("int /* two\n lines */ c;", "int c;");
    expect("a/**/b", "a b");
    expect("a / b /* c */ * d", "a / b * d");
    expect("  x\t \r\n\n  y  ", "x\ny");
    expect("x /* never closed", "x");
    expect("// a /* b\nc // d */\ne", "c\ne");
}

static void test_literals_stay(void **state) {
    (void)state;
    expect("s = \"a  // b /* c\";", "s = \"a  // b /* c\";");
    expect("s = \"\\\"  //\" // end", "s = \"\\\"  //\"");
    expect("c = '\"';  // \"", "c = '\"';");
    expect("c = '\\'';  d", "c = '\\''; d");
    expect("\"open  //", "\"open  //");
    expect("\"open\\", "\"open\\");
}

static void test_code_is_seen(void **state) {
    (void)state;
    char a[64], b[64];
    rtune_uncomment("x = 1;", a);
    rtune_uncomment("x = 2;", b);
    assert_string_not_equal(a, b);
    rtune_uncomment("#define A\nB", a);
    rtune_uncomment("#define A B", b);
    assert_string_not_equal(a, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comments_and_blanks),
        cmocka_unit_test(test_literals_stay),
        cmocka_unit_test(test_code_is_seen),
    };
    return cmocka_run_group_tests_name("uncomment", tests, NULL, NULL);
}
