/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/console.h: the program's standard output and standard error. Output to a closed pipe ends
 * the program quietly (console_finish), output to a full disk with a message. One thread uses it.
 */
#ifndef RTUNE_TOOLS_CONSOLE_H
#define RTUNE_TOOLS_CONSOLE_H

#include "base/err.h"

/* Ignore SIGPIPE and look at the terminal. Call once, first. */
void console_init(void);

/* Print on standard output; false once it is closed or failed (what is printed then is dropped). */
bool console_printf(const char *fmt, ...) RTUNE_PRINTF(1, 2);
bool console_write(const char *text, size_t size);
/* Hand what was printed to the reader now; false as above. */
bool console_flush(void);
/* Flush and give the exit code: code, or 141 (SIGPIPE) if the reader went away, or 1 with a message
 * if the output could not be written. */
int console_finish(int code);

/* Text from a store, a profile or a driver, as it may be shown on a terminal: control characters,
 * and bytes that are not UTF-8, are '?' (line feeds too, unless lines). Returns text. */
char *console_clean(char *text, bool lines);
/* A clean copy of text, cut to size, in out; returns out. */
const char *console_cleaned(const char *text, char *out, size_t size);

/* "reduce-tune: warning: ..." and "reduce-tune: ..." on standard error, above a progress line. The
 * text is cleaned. */
void console_warn(const char *fmt, ...) RTUNE_PRINTF(1, 2);
void console_error(const char *fmt, ...) RTUNE_PRINTF(1, 2);

/* Is standard error a terminal that shows progress? */
bool console_progress(void);
/* Replace the progress line on standard error; "" removes it. */
void console_progress_line(const char *text);
/* Escape sequences for standard output, "" without a terminal or with NO_COLOR set. */
const char *console_bold(void);
const char *console_plain(void);

#endif /* RTUNE_TOOLS_CONSOLE_H */
