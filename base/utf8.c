/* SPDX-License-Identifier: Apache-2.0 */
/* base/utf8.c: recognising UTF-8 (RFC 3629). */
#include "base/utf8.h"

#include <string.h>

size_t rtune_utf8_next(const char *text, size_t size, uint32_t *code) {
    const unsigned char *s = (const unsigned char *)text;
    static const struct {
        unsigned char mask, lead;
        uint32_t least; /* shorter characters must not be spelled longer */
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t length = 1; length <= 4 && length <= size; length++) {
        if ((s[0] & forms[length - 1].mask) != forms[length - 1].lead) continue;
        uint32_t c = s[0] & (unsigned char)~forms[length - 1].mask;
        for (size_t i = 1; i < length; i++) {
            if ((s[i] & 0xc0) != 0x80) return 0;
            c = c << 6 | (s[i] & 0x3f);
        }
        if (c < forms[length - 1].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
        if (code != NULL) *code = c;
        return length;
    }
    return 0;
}

size_t rtune_utf8_prefix(const char *text, size_t max) {
    size_t length = strnlen(text, max);
    if (length < max || text[max] == '\0') return length;
    /* A valid character that straddles the cut starts at most three bytes before it. */
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        size_t start = length - back;
        size_t bytes = rtune_utf8_next(text + start, strnlen(text + start, 4), NULL);
        if (bytes > back) return start;
    }
    return length;
}
