/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/text.h: one-line texts put together without printf, for the launch record: it is filled
 * on every lookup, which promises to take less than a microsecond and to allocate nothing.
 */
#ifndef RTUNE_RUNTIME_TEXT_H
#define RTUNE_RUNTIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rtune_text {
    char *data; /* always ends in NUL */
    size_t size, used;
    bool full; /* something was cut or left out; nothing is added any more */
};

static inline struct rtune_text rtune_text_over(char *data, size_t size) {
    data[0] = '\0';
    return (struct rtune_text){data, size, 0, false};
}

/* Add s, or as much of it as there is room for. */
static inline void rtune_text_add(struct rtune_text *text, const char *s) {
    if (text->full) return;
    while (*s && text->used + 1 < text->size)
        text->data[text->used++] = *s++;
    text->data[text->used] = '\0';
    text->full = *s != '\0';
}

/* Add s whole, or, if there is no room for that, nothing. */
static inline void rtune_text_add_whole(struct rtune_text *text, const char *s) {
    if (strlen(s) >= text->size - text->used) text->full = true;
    rtune_text_add(text, s);
}

/* After the last: a separator before what was left out goes, too. */
static inline void rtune_text_end(struct rtune_text *text) {
    while (text->full && text->used > 0 && strchr(" ,;:", text->data[text->used - 1]) != NULL)
        text->data[--text->used] = '\0';
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
