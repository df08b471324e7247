/* SPDX-License-Identifier: Apache-2.0 */
/* tools/console.c: standard output, standard error and the progress line. */
#include "tools/console.h"

#include "base/utf8.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, COLUMNS_MAX = 512, MESSAGE_TEXT = 4096 };

static struct {
    int failed;    /* errno of the first write that failed */
    bool color;    /* on standard output */
    bool progress; /* standard error is a terminal */
    bool line;     /* a progress line is shown */
} console;

void console_init(void) {
    const char *term = getenv("TERM");
    const char *no_color = getenv("NO_COLOR");
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    (void)signal(SIGPIPE, SIG_IGN);
    console.color = isatty(STDOUT_FILENO) && !dumb && (no_color == NULL || no_color[0] == '\0');
    console.progress = isatty(STDERR_FILENO) && !dumb;
}

static void output_failed(void) {
    if (console.failed == 0) console.failed = errno != 0 ? errno : EIO;
}

bool console_write(const char *text, size_t size) {
    if (console.failed != 0) return false;
    errno = 0;
    if (size > 0 && fwrite(text, 1, size, stdout) != size) output_failed();
    return console.failed == 0;
}

bool console_printf(const char *fmt, ...) {
    if (console.failed != 0) return false;
    va_list args;
    va_start(args, fmt);
    errno = 0;
    if (vprintf(fmt, args) < 0) output_failed();
    va_end(args);
    return console.failed == 0;
}

bool console_flush(void) {
    if (console.failed != 0) return false;
    errno = 0;
    if (fflush(stdout) != 0) output_failed();
    return console.failed == 0;
}

int console_finish(int code) {
    console_progress_line("");
    (void)console_flush();
    if (console.failed == 0) return code;
    if (console.failed == EPIPE) return 128 + SIGPIPE;
    console_error("standard output: %s", strerror(console.failed));
    return code != 0 ? code : 1;
}

char *console_clean(char *text, bool lines) {
    size_t left = strlen(text);
    char *at = text;
    while (left > 0) {
        uint32_t code = 0;
        size_t length = rtune_utf8_next(at, left, &code);
        bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        if (length == 0 || (control && !(lines && code == '\n'))) {
            memset(at, '?', length == 0 ? 1 : length);
            length = length == 0 ? 1 : length;
        }
        at += length;
        left -= length;
    }
    return text;
}

const char *console_cleaned(const char *text, char *out, size_t size) {
    (void)snprintf(out, size, "%s", text);
    return console_clean(out, false);
}

static void message(const char *prefix, const char *fmt, va_list args) RTUNE_PRINTF(2, 0);

static void message(const char *prefix, const char *fmt, va_list args) {
    bool line = console.line;
    char text[MESSAGE_TEXT];
    (void)vsnprintf(text, sizeof text, fmt, args);
    if (line) (void)fputs("\r\033[K", stderr);
    console.line = false;
    (void)fputs(prefix, stderr);
    (void)fputs(console_clean(text, false), stderr);
    (void)fputc('\n', stderr);
}

void console_warn(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    message("reduce-tune: warning: ", fmt, args);
    va_end(args);
}

void console_error(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    message("reduce-tune: ", fmt, args);
    va_end(args);
}

bool console_progress(void) { return console.progress; }

static int terminal_columns(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return COLUMNS_DEFAULT;
    return size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
}

void console_progress_line(const char *text) {
    if (!console.progress || (text[0] == '\0' && !console.line)) return;
    (void)fprintf(stderr, "\r%.*s\033[K", terminal_columns() - 1, text);
    (void)fflush(stderr);
    console.line = text[0] != '\0';
}

const char *console_bold(void) { return console.color ? "\033[1m" : ""; }
const char *console_plain(void) { return console.color ? "\033[0m" : ""; }
