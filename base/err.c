/* SPDX-License-Identifier: Apache-2.0 */
/* base/err.c: filling error records. */
#include "base/err.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Messages quote what users wrote; control bytes must not reach a terminal. */
static void sanitize(char *text) {
    for (char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) *p = '?';
    }
}

/* Arguments may point into *err, so the text is made apart and copied last. */
static void set_message(struct rtune_error *err, const char *text) {
    size_t length = rtune_utf8_prefix(text, sizeof(err->message) - 1);
    memcpy(err->message, text, length);
    err->message[length] = '\0';
    sanitize(err->message);
}

static enum rtune_status fill(struct rtune_error *err, enum rtune_status status, const char *file,
                              int line, int column, const char *text) {
    if (err == NULL) return status;
    char place[sizeof(err->file)];
    snprintf(place, sizeof(place), "%s", file == NULL ? "" : file);
    set_message(err, text);
    memcpy(err->file, place, sizeof(err->file));
    sanitize(err->file);
    err->status = status;
    err->line = line;
    err->column = column;
    return status;
}

enum { TEXT_MAX = 2 * sizeof(((struct rtune_error *)NULL)->message) };

enum rtune_status rtune_err_set(struct rtune_error *err, enum rtune_status status, const char *fmt,
                                ...) {
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return fill(err, status, NULL, 0, 0, text);
}

enum rtune_status rtune_err_set_at(struct rtune_error *err, enum rtune_status status,
                                   const char *file, int line, int column, const char *fmt, ...) {
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return fill(err, status, file, line, column, text);
}

enum rtune_status rtune_err_set_errno(struct rtune_error *err, enum rtune_status status, int errnum,
                                      const char *fmt, ...) {
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof(text)) {
        int saved = errno;
        errno = errnum;
        snprintf(text + length, sizeof(text) - (size_t)length, ": %m"); /* thread-safe strerror */
        errno = saved;
    }
    return fill(err, status, NULL, 0, 0, text);
}

void rtune_err_prefix(struct rtune_error *err, const char *fmt, ...) {
    if (err == NULL) return;
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof(text))
        snprintf(text + length, sizeof(text) - (size_t)length, ": %s", err->message);
    set_message(err, text);
}

void rtune_err_format(const struct rtune_error *err, char *text, size_t size) {
    if (err->file[0] == '\0')
        snprintf(text, size, "%s", err->message);
    else if (err->line <= 0)
        snprintf(text, size, "%s: %s", err->file, err->message);
    else if (err->column <= 0)
        snprintf(text, size, "%s:%d: %s", err->file, err->line, err->message);
    else
        snprintf(text, size, "%s:%d:%d: %s", err->file, err->line, err->column, err->message);
}

void rtune_err_clear(struct rtune_error *err) {
    if (err == NULL) return;
    err->status = RTUNE_OK;
    err->line = 0;
    err->column = 0;
    err->file[0] = '\0';
    err->message[0] = '\0';
}
