/* SPDX-License-Identifier: Apache-2.0 */
/* base/buf.c: a growing byte buffer with a stated maximum. */
#include "base/buf.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rtune_buf_init(struct rtune_buf *buf, size_t max) {
    memset(buf, 0, sizeof(*buf));
    buf->max = max;
}

void rtune_buf_free(struct rtune_buf *buf) {
    if (buf == NULL) return;
    free(buf->data);
    rtune_buf_init(buf, buf->max);
}

/* Room for size more bytes and a NUL. */
static bool reserve(struct rtune_buf *buf, size_t size) {
    if (buf->failed != RTUNE_OK) return false;
    if (size > buf->max - buf->size) {
        buf->failed = RTUNE_RANGE;
        return false;
    }
    size_t need = buf->size + size; /* without the NUL, so that it cannot overflow */
    if (need < buf->capacity) return true;
    size_t capacity = buf->capacity < 64 ? 64 : buf->capacity;
    while (capacity <= need && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    char *data = capacity > need ? realloc(buf->data, capacity) : NULL;
    if (data == NULL) {
        buf->failed = RTUNE_NO_MEMORY;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void rtune_buf_add(struct rtune_buf *buf, const void *data, size_t size) {
    if (!reserve(buf, size)) return;
    if (size > 0) memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void rtune_buf_puts(struct rtune_buf *buf, const char *text) {
    rtune_buf_add(buf, text, strlen(text));
}

void rtune_buf_printf(struct rtune_buf *buf, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0) {
        if (buf->failed == RTUNE_OK) buf->failed = RTUNE_RANGE;
    } else if (reserve(buf, (size_t)length)) {
        vsnprintf(buf->data + buf->size, (size_t)length + 1, fmt, again);
        buf->size += (size_t)length;
    }
    va_end(again);
}

static void add_json_char(struct rtune_buf *buf, const char *text, size_t length) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = *text != '\0' ? strchr(from, *text) : NULL;
    if (found != NULL) {
        char escape[2] = {'\\', to[found - from]};
        rtune_buf_add(buf, escape, sizeof(escape));
    } else if ((unsigned char)*text < 0x20) {
        rtune_buf_printf(buf, "\\u%04x", (unsigned)(unsigned char)*text);
    } else {
        rtune_buf_add(buf, text, length);
    }
}

void rtune_buf_json(struct rtune_buf *buf, const char *text) {
    if (text == NULL) {
        rtune_buf_puts(buf, "null");
        return;
    }
    rtune_buf_puts(buf, "\"");
    for (size_t left = strlen(text); left > 0;) {
        size_t length = rtune_utf8_next(text, left, NULL);
        if (length == 0) {
            rtune_buf_puts(buf, "\xef\xbf\xbd"); /* U+FFFD */
            length = 1;
        } else {
            add_json_char(buf, text, length);
        }
        text += length;
        left -= length;
    }
    rtune_buf_puts(buf, "\"");
}

enum rtune_status rtune_buf_status(const struct rtune_buf *buf, struct rtune_error *err) {
    if (buf->failed == RTUNE_OK) return RTUNE_OK;
    if (buf->failed == RTUNE_NO_MEMORY)
        return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory at %zu bytes of text", buf->size);
    return rtune_err_set(err, buf->failed, "text is too long (at most %zu bytes)", buf->max);
}
