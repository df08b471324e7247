/* SPDX-License-Identifier: Apache-2.0 */
/* base/print.c: locale-independent writing of what base/parse.c reads, and quoting for messages. */
#include "base/num.h"
#include "base/parse.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rtune_print_double(double value, char *text, size_t size) {
    char digits[40];
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale); /* of this thread alone, and put back below */
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    if (c_locale != (locale_t)0) {
        uselocale(before);
        freelocale(c_locale);
    }
    return snprintf(text, size, "%s", digits);
}

int rtune_print_size(uint64_t value, char *text, size_t size) {
    static const char *const units[] = {"Ki", "Mi", "Gi", "Ti"};
    if (value >= 1024 && rtune_is_pow2(value))
        return snprintf(text, size, "2^%d", __builtin_ctzll(value));
    int unit = -1;
    uint64_t count = value;
    while (count >= 1024 && count % 1024 == 0 && unit < 3) {
        count /= 1024;
        unit++;
    }
    return snprintf(text, size, "%" PRIu64 "%s", count, unit < 0 ? "" : units[unit]);
}

/* One character of text as a message shows it, NUL-terminated; returns the bytes of text it stands
 * for. */
static size_t quote_one(const char *text, size_t left, char shown[8]) {
    static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";
    const char *found = strchr(from, *text);
    uint32_t code = 0;
    size_t length = rtune_utf8_next(text, left, &code);
    if (found != NULL) {
        snprintf(shown, 8, "\\%c", to[found - from]);
        return 1;
    }
    if (length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        snprintf(shown, 8, "\\x%02x", (unsigned)(unsigned char)*text);
        return 1;
    }
    memcpy(shown, text, length);
    shown[length] = '\0';
    return length;
}

void rtune_print_quoted(const char *text, char *out, size_t size) {
    size_t left = strlen(text), used = 0;
    char shown[8];
    if (size < 8) { /* too small for quotes and dots to make sense */
        if (size > 0) out[0] = '\0';
        return;
    }
    out[used++] = '"';
    while (left > 0) {
        size_t taken = quote_one(text, left, shown);
        size_t length = strlen(shown);
        if (used + length + sizeof("...\"") > size) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(out + used, shown, length);
        used += length;
        text += taken;
        left -= taken;
    }
    out[used++] = '"';
    out[used] = '\0';
}
