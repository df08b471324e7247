/* SPDX-License-Identifier: Apache-2.0 */
/* Strict reading of numbers, sizes and durations: what is taken, and what is refused and how. */
#include "base/num.h"
#include "base/parse.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

struct u64_case {
    const char *text;
    enum rtune_status status;
    uint64_t value;
};

typedef enum rtune_status (*parse_u64_fn)(const char *, uint64_t, uint64_t, uint64_t *,
                                          struct rtune_error *);

/* expected: words that every SYNTAX message of this reader has, so that users learn what is right.
 */
static void check_u64(parse_u64_fn parse, const struct u64_case *cases, size_t count, uint64_t min,
                      uint64_t max, const char *expected) {
    for (size_t i = 0; i < count; i++) {
        struct rtune_error err = {0};
        uint64_t value = 0xabababababababab;
        enum rtune_status status = parse(cases[i].text, min, max, &value, &err);
        if (status != cases[i].status) fail_msg("\"%s\": %s", cases[i].text, err.message);
        assert_int_equal(err.status, status);
        if (status == RTUNE_OK) {
            assert_int_equal(value, cases[i].value);
            continue;
        }
        assert_int_equal(value, 0xabababababababab); /* outputs are written only on success */
        const char *words = status == RTUNE_RANGE ? "out of range (expected " : expected;
        if (strstr(err.message, words) == NULL) fail_msg("\"%s\": %s", cases[i].text, err.message);
        assert_int_equal(parse(cases[i].text, min, max, &value, NULL), status);
    }
}

static void test_u64(void **state) {
    (void)state;
    static const struct u64_case cases[] = {
        {"0", RTUNE_OK, 0},
        {"007", RTUNE_OK, 7},
        {"4294967297", RTUNE_OK, 4294967297},
        {"8589934592", RTUNE_OK, 8589934592},
        {"18446744073709551615", RTUNE_OK, UINT64_MAX},
        {"18446744073709551616", RTUNE_RANGE, 0},
        {"99999999999999999999999999", RTUNE_RANGE, 0},
        {"-1", RTUNE_SYNTAX, 0},
        {"+1", RTUNE_SYNTAX, 0},
        {" -1", RTUNE_SYNTAX, 0},
        {"\n-1", RTUNE_SYNTAX, 0},
        {" 1", RTUNE_SYNTAX, 0},
        {"1 ", RTUNE_SYNTAX, 0},
        {"1\n", RTUNE_SYNTAX, 0},
        {"1e9", RTUNE_SYNTAX, 0},
        {"1.5", RTUNE_SYNTAX, 0},
        {"1,5", RTUNE_SYNTAX, 0},
        {"0x10", RTUNE_SYNTAX, 0},
        {"", RTUNE_SYNTAX, 0},
        {"12abc", RTUNE_SYNTAX, 0},
        {"8G", RTUNE_SYNTAX, 0},
        {"\xd9\xa1", RTUNE_SYNTAX, 0}, /* ARABIC-INDIC DIGIT ONE */
    };
    check_u64(rtune_parse_u64, cases, RTUNE_ARRAY_SIZE(cases), 0, UINT64_MAX,
              "is not a whole number (expected decimal digits alone)");
    static const struct u64_case block[] = {
        {"32", RTUNE_OK, 32},     {"1024", RTUNE_OK, 1024},
        {"31", RTUNE_RANGE, 0},   {"4294967552", RTUNE_RANGE, 0},
        {"1025", RTUNE_RANGE, 0}, {"18446744073709551872", RTUNE_RANGE, 0},
    };
    check_u64(rtune_parse_u64, block, RTUNE_ARRAY_SIZE(block), 32, 1024, "");
}

static void test_u64_messages(void **state) {
    (void)state;
    struct rtune_error err;
    uint64_t value;
    assert_int_equal(rtune_parse_u64("\n-1", 1, 9, &value, &err), RTUNE_SYNTAX);
    assert_string_equal(err.message,
                        "\"\\n-1\" is not a whole number (expected decimal digits alone)");
    assert_int_equal(rtune_parse_u64("4294967552", 1, 1024, &value, &err), RTUNE_RANGE);
    assert_string_equal(err.message, "\"4294967552\" is out of range (expected 1 to 1024)");
}

static void test_size(void **state) {
    (void)state;
    static const struct u64_case cases[] = {
        {"0", RTUNE_OK, 0},
        {"1000", RTUNE_OK, 1000},
        {"4294967297", RTUNE_OK, 4294967297},
        {"8589934592", RTUNE_OK, 8589934592},
        {"64Ki", RTUNE_OK, 65536},
        {"8Mi", RTUNE_OK, 8388608},
        {"2Gi", RTUNE_OK, 2147483648},
        {"1Ti", RTUNE_OK, 1099511627776},
        {"8K", RTUNE_OK, 8000},
        {"8M", RTUNE_OK, 8000000},
        {"8G", RTUNE_OK, 8000000000},
        {"8T", RTUNE_OK, 8000000000000},
        {"2^0", RTUNE_OK, 1},
        {"2^20", RTUNE_OK, 1048576},
        {"2^63", RTUNE_OK, UINT64_C(1) << 63},
        {"2^64", RTUNE_RANGE, 0},
        {"2^18446744073709551616", RTUNE_RANGE, 0},
        {"16777216Ti", RTUNE_RANGE, 0},
        {"18446744073709551615K", RTUNE_RANGE, 0},
        {"18446744073709551616", RTUNE_RANGE, 0},
        {"18446744073709551616Ki", RTUNE_RANGE, 0},
        {"-1", RTUNE_SYNTAX, 0},
        {" -1", RTUNE_SYNTAX, 0},
        {"\n-1", RTUNE_SYNTAX, 0},
        {"1e9", RTUNE_SYNTAX, 0},
        {"1.5", RTUNE_SYNTAX, 0},
        {"1.5Ki", RTUNE_SYNTAX, 0},
        {"0x10", RTUNE_SYNTAX, 0},
        {"", RTUNE_SYNTAX, 0},
        {"Ki", RTUNE_SYNTAX, 0},
        {"12abc", RTUNE_SYNTAX, 0},
        {"1Y", RTUNE_SYNTAX, 0},
        {"1KiB", RTUNE_SYNTAX, 0},
        {"1 Ki", RTUNE_SYNTAX, 0},
        {"8g", RTUNE_SYNTAX, 0},
        {"3^2", RTUNE_SYNTAX, 0},
        {"10^6", RTUNE_SYNTAX, 0},
        {"2^", RTUNE_SYNTAX, 0},
        {"2^-1", RTUNE_SYNTAX, 0},
        {"2^2^2", RTUNE_SYNTAX, 0},
        {"18446744073709551618^2", RTUNE_SYNTAX, 0}, /* 2 modulo 2^64 */
    };
    check_u64(rtune_parse_size, cases, RTUNE_ARRAY_SIZE(cases), 0, UINT64_MAX,
              "units K M G T Ki Mi Gi Ti");
    static const struct u64_case positive[] = {{"0", RTUNE_RANGE, 0},
                                               {"2^0", RTUNE_OK, 1},
                                               {"2^33", RTUNE_OK, UINT64_C(1) << 33},
                                               {"2^34", RTUNE_RANGE, 0}};
    check_u64(rtune_parse_size, positive, RTUNE_ARRAY_SIZE(positive), 1, UINT64_C(1) << 33, "");
}

struct double_case {
    const char *text;
    enum rtune_status status;
    double value;
};

typedef enum rtune_status (*parse_double_fn)(const char *, double, double, double *,
                                             struct rtune_error *);

static void check_double(parse_double_fn parse, const struct double_case *cases, size_t count,
                         double min, double max) {
    for (size_t i = 0; i < count; i++) {
        struct rtune_error err = {0};
        double value = -77;
        enum rtune_status status = parse(cases[i].text, min, max, &value, &err);
        if (status != cases[i].status) fail_msg("\"%s\": %s", cases[i].text, err.message);
        assert_true(value == (status == RTUNE_OK ? cases[i].value : -77));
        if (status != RTUNE_OK && strlen(cases[i].text) < 300)
            assert_non_null(strstr(err.message, status == RTUNE_SYNTAX ? "expected" : "is "));
    }
}

static void test_double(void **state) {
    (void)state;
    char tiny[300], endless[500];
    memset(tiny, '0', sizeof(tiny));
    memcpy(tiny, "0.", 2);
    strcpy(tiny + 290, "25e289");
    memset(endless, '1', sizeof(endless));
    endless[sizeof(endless) - 1] = '\0';
    const struct double_case cases[] = {
        {"0", RTUNE_OK, 0},           {"1.5", RTUNE_OK, 1.5},
        {"-2e-3", RTUNE_OK, -2e-3},   {"1E+2", RTUNE_OK, 100},
        {"0.1", RTUNE_OK, 0.1},       {"1e308", RTUNE_OK, 1e308},
        {"5e-324", RTUNE_OK, 5e-324}, {"0e-999", RTUNE_OK, 0},
        {tiny, RTUNE_OK, 2.5},        {"1e309", RTUNE_RANGE, 0},
        {"-1e309", RTUNE_RANGE, 0},   {"1e-999", RTUNE_RANGE, 0},
        {endless, RTUNE_SYNTAX, 0},   {"nan", RTUNE_SYNTAX, 0},
        {"inf", RTUNE_SYNTAX, 0},     {"-Infinity", RTUNE_SYNTAX, 0},
        {"0x1p3", RTUNE_SYNTAX, 0},   {"0x10", RTUNE_SYNTAX, 0},
        {"1,5", RTUNE_SYNTAX, 0},     {".5", RTUNE_SYNTAX, 0},
        {"5.", RTUNE_SYNTAX, 0},      {"1e", RTUNE_SYNTAX, 0},
        {"1e+", RTUNE_SYNTAX, 0},     {"+1", RTUNE_SYNTAX, 0},
        {" 1", RTUNE_SYNTAX, 0},      {"1 ", RTUNE_SYNTAX, 0},
        {"", RTUNE_SYNTAX, 0},        {"-", RTUNE_SYNTAX, 0},
        {"1.5.2", RTUNE_SYNTAX, 0},   {"1f", RTUNE_SYNTAX, 0},
    };
    check_double(rtune_parse_double, cases, RTUNE_ARRAY_SIZE(cases), -1.7976931348623157e308,
                 1.7976931348623157e308);
    const struct double_case fraction[] = {
        {"0.5", RTUNE_OK, 0.5}, {"1.5", RTUNE_RANGE, 0}, {"-0.1", RTUNE_RANGE, 0}};
    check_double(rtune_parse_double, fraction, RTUNE_ARRAY_SIZE(fraction), 0, 1);
}

static void test_duration(void **state) {
    (void)state;
    static const struct double_case cases[] = {
        {"500ms", RTUNE_OK, 0.5},   {"10s", RTUNE_OK, 10},     {"5m", RTUNE_OK, 300},
        {"2h", RTUNE_OK, 7200},     {"1.5s", RTUNE_OK, 1.5},   {"0.1ms", RTUNE_OK, 0.0001},
        {"100ms", RTUNE_OK, 0.1},   {"0s", RTUNE_OK, 0},       {"1e3s", RTUNE_OK, 1000},
        {"10", RTUNE_SYNTAX, 0},    {"s", RTUNE_SYNTAX, 0},    {"", RTUNE_SYNTAX, 0},
        {"1d", RTUNE_SYNTAX, 0},    {"1 s", RTUNE_SYNTAX, 0},  {"1S", RTUNE_SYNTAX, 0},
        {"1m30s", RTUNE_SYNTAX, 0}, {"nans", RTUNE_SYNTAX, 0}, {"infs", RTUNE_SYNTAX, 0},
        {"1,5s", RTUNE_SYNTAX, 0},  {"-1s", RTUNE_RANGE, 0},   {"1e308h", RTUNE_RANGE, 0},
        {"25h", RTUNE_RANGE, 0},
    };
    check_double(rtune_parse_duration, cases, RTUNE_ARRAY_SIZE(cases), 0, 86400);
    struct rtune_error err;
    double seconds;
    assert_int_equal(rtune_parse_duration("25h", 0.5, 86400, &seconds, &err), RTUNE_RANGE);
    assert_string_equal(err.message, "\"25h\" is out of range (expected 0.5s to 86400s)");
}

static void test_num(void **state) {
    (void)state;
    uint64_t out = 5;
    assert_false(rtune_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    assert_false(rtune_add_u64(UINT64_MAX, 1, &out));
    assert_true(rtune_mul_u64(UINT64_C(1) << 32, 3, &out));
    assert_int_equal(out, UINT64_C(3) << 32);
    assert_int_equal(rtune_ceil_div(UINT64_MAX, 2), UINT64_C(1) << 63);
    assert_int_equal(rtune_ceil_div(0, 3), 0);
    assert_int_equal(rtune_ceil_div(9, 3), 3);
    assert_true(rtune_is_pow2(1) && rtune_is_pow2(UINT64_C(1) << 63));
    assert_false(rtune_is_pow2(0) || rtune_is_pow2(3) || rtune_is_pow2(UINT64_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u64),      cmocka_unit_test(test_u64_messages),
        cmocka_unit_test(test_size),     cmocka_unit_test(test_double),
        cmocka_unit_test(test_duration), cmocka_unit_test(test_num),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
