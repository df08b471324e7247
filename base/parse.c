/* SPDX-License-Identifier: Apache-2.0 */
/* base/parse.c: strict, locale-independent reading of numbers, sizes and durations. */
#include "base/parse.h"
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { QUOTE_MAX = 72, NUMBER_MAX = 32, LITERAL_MAX = 400 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static enum rtune_status syntax(const char *text, const char *expected, struct rtune_error *err) {
    char quoted[QUOTE_MAX];
    rtune_print_quoted(text, quoted, sizeof(quoted));
    return rtune_err_set(err, RTUNE_SYNTAX, "%s is not %s", quoted, expected);
}

static enum rtune_status range_u64(const char *text, uint64_t min, uint64_t max,
                                   struct rtune_error *err) {
    char quoted[QUOTE_MAX];
    rtune_print_quoted(text, quoted, sizeof(quoted));
    return rtune_err_set(err, RTUNE_RANGE,
                         "%s is out of range (expected %" PRIu64 " to %" PRIu64 ")", quoted, min,
                         max);
}

/* Reads digits, at least one; *value saturates at UINT64_MAX with *fits false. */
static const char *read_digits(const char *text, uint64_t *value, bool *fits) {
    if (!is_digit(*text)) return NULL;
    *value = 0;
    *fits = true;
    for (; is_digit(*text); text++) {
        if (!rtune_mul_u64(*value, 10, value) ||
            !rtune_add_u64(*value, (uint64_t)(*text - '0'), value))
            *fits = false;
    }
    if (!*fits) *value = UINT64_MAX;
    return text;
}

enum rtune_status rtune_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value,
                                  struct rtune_error *err) {
    uint64_t number;
    bool fits;
    const char *end = read_digits(text, &number, &fits);
    if (end == NULL || *end != '\0')
        return syntax(text, "a whole number (expected decimal digits alone)", err);
    if (!fits || number < min || number > max) return range_u64(text, min, max, err);
    *value = number;
    return RTUNE_OK;
}

/* End of a decimal literal like -1.5e-3 at text, NULL if none starts there. strtod alone would also
 * take white space, hexadecimal digits, "inf" and "nan". */
static const char *scan_double(const char *text) {
    if (*text == '-') text++;
    if (!is_digit(*text)) return NULL;
    while (is_digit(*text))
        text++;
    if (*text == '.') {
        if (!is_digit(*++text)) return NULL;
        while (is_digit(*text))
            text++;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-') text++;
        if (!is_digit(*text)) return NULL;
        while (is_digit(*text))
            text++;
    }
    return text;
}

/* The value of a scanned literal of length bytes. The C locale object costs nothing and touches
 * neither the process's nor the thread's locale. */
static enum rtune_status convert_double(const char *text, size_t length, double *value,
                                        struct rtune_error *err) {
    char literal[LITERAL_MAX];
    if (length >= sizeof(literal))
        return rtune_err_set(err, RTUNE_SYNTAX,
                             "a number of %zu characters is too long (at most %d)", length,
                             LITERAL_MAX - 1);
    memcpy(literal, text, length);
    literal[length] = '\0';
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for the C locale");
    int saved = errno;
    errno = 0;
    *value = strtod_l(literal, NULL, c_locale);
    bool vanished = errno == ERANGE && *value == 0.0;
    errno = saved;
    freelocale(c_locale);
    if (vanished)
        return rtune_err_set(err, RTUNE_RANGE, "\"%.40s\" is too small for a double", literal);
    return RTUNE_OK;
}

static enum rtune_status check_double(const char *text, double number, double min, double max,
                                      const char *unit, struct rtune_error *err) {
    if (number >= min && number <= max) return RTUNE_OK;
    char quoted[QUOTE_MAX], low[NUMBER_MAX], high[NUMBER_MAX];
    rtune_print_quoted(text, quoted, sizeof(quoted));
    rtune_print_double(min, low, sizeof(low));
    rtune_print_double(max, high, sizeof(high));
    return rtune_err_set(err, RTUNE_RANGE, "%s is out of range (expected %s%s to %s%s)", quoted,
                         low, unit, high, unit);
}

enum rtune_status rtune_parse_double(const char *text, double min, double max, double *value,
                                     struct rtune_error *err) {
    double number;
    const char *end = scan_double(text);
    if (end == NULL || *end != '\0')
        return syntax(text, "a number (expected decimal digits, such as 1.5 or 2e-3)", err);
    enum rtune_status status = convert_double(text, (size_t)(end - text), &number, err);
    if (status == RTUNE_OK) status = check_double(text, number, min, max, "", err);
    if (status == RTUNE_OK) *value = number;
    return status;
}

static const struct {
    const char *suffix;
    uint64_t factor;
} SIZE_UNITS[] = {
    {"", 1},
    {"K", UINT64_C(1000)},
    {"M", UINT64_C(1000000)},
    {"G", UINT64_C(1000000000)},
    {"T", UINT64_C(1000000000000)},
    {"Ki", UINT64_C(1) << 10},
    {"Mi", UINT64_C(1) << 20},
    {"Gi", UINT64_C(1) << 30},
    {"Ti", UINT64_C(1) << 40},
};

enum rtune_status rtune_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value,
                                   struct rtune_error *err) {
    static const char expected[] = "a size (expected a whole number such as 1000, 64Ki, 8M or "
                                   "2^20; units K M G T Ki Mi Gi Ti)";
    uint64_t number, exponent;
    bool fits, found = false;
    const char *end = read_digits(text, &number, &fits);
    if (end == NULL) return syntax(text, expected, err);
    if (*end == '^') {
        bool power_fits;
        const char *tail = read_digits(end + 1, &exponent, &power_fits);
        if (tail == NULL || *tail != '\0' || !fits || number != 2)
            return syntax(text, expected, err);
        if (exponent > 63) return range_u64(text, min, max, err);
        number = UINT64_C(1) << exponent;
        found = true;
    }
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(SIZE_UNITS) && !found; i++) {
        if (strcmp(end, SIZE_UNITS[i].suffix) != 0) continue;
        fits = fits && rtune_mul_u64(number, SIZE_UNITS[i].factor, &number);
        found = true;
    }
    if (!found) return syntax(text, expected, err);
    if (!fits || number < min || number > max) return range_u64(text, min, max, err);
    *value = number;
    return RTUNE_OK;
}

enum rtune_status rtune_parse_duration(const char *text, double min, double max, double *seconds,
                                       struct rtune_error *err) {
    static const struct {
        const char *suffix;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}};
    static const char expected[] =
        "a duration (expected a number and a unit: 500ms, 1.5s, 5m or 2h)";
    const char *end = scan_double(text);
    if (end == NULL) return syntax(text, expected, err);
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(units); i++) {
        if (strcmp(end, units[i].suffix) != 0) continue;
        double number;
        enum rtune_status status = convert_double(text, (size_t)(end - text), &number, err);
        /* Dividing keeps 500ms at exactly the double nearest to 0.5. */
        if (status == RTUNE_OK)
            number = units[i].seconds < 1 ? number / 1000.0 : number * units[i].seconds;
        if (status == RTUNE_OK) status = check_double(text, number, min, max, "s", err);
        if (status == RTUNE_OK) *seconds = number;
        return status;
    }
    return syntax(text, expected, err);
}
