/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/text.h: one-line texts put together without printf, for the launch record: it is filled
 * on every lookup, which promises to take less than a microsecond and to allocate nothing.
 */
#ifndef RTUNE_RUNTIME_TEXT_H
#define RTUNE_RUNTIME_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct rtune_text {
    char *data; /* always ends in NUL; what does not fit is cut off */
    size_t size, used;
};

static inline struct rtune_text rtune_text_over(char *data, size_t size) {
    data[0] = '\0';
    return (struct rtune_text){data, size, 0};
}

static inline void rtune_text_add(struct rtune_text *text, const char *s) {
    while (*s && text->used + 1 < text->size)
        text->data[text->used++] = *s++;
    text->data[text->used] = '\0';
}

static inline void rtune_text_add_u64(struct rtune_text *text, uint64_t value) {
    char digits[21];
    size_t k = sizeof digits - 1;
    digits[k] = '\0';
    do {
        digits[--k] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    rtune_text_add(text, digits + k);
}

#endif /* RTUNE_RUNTIME_TEXT_H */
