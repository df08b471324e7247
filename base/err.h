/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/err.h: filling error records, and the one control macro.
 *
 * A function that can fail for a reason returns enum rtune_status and takes struct rtune_error *err
 * last (may be NULL). It fails through rtune_err_set and nowhere else.
 */
#ifndef RTUNE_BASE_ERR_H
#define RTUNE_BASE_ERR_H

#include "rtune/rtune.h"

#include <stdarg.h>

/* Evaluate expr once; on failure jump to done: with the status in the local variable `status`. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        status = (expr);                                                                           \
        if (status != RTUNE_OK) goto done;                                                         \
    } while (0)

#if defined(__GNUC__)
#define RTUNE_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define RTUNE_PRINTF(fmt, first)
#endif

/* Record a failure and return its status, so that `return rtune_err_set(...)` and
 * `TRY(rtune_err_set(...))` both read well. Messages have the form "what: why (what to do)". */
enum rtune_status rtune_err_set(struct rtune_error *err, enum rtune_status status, const char *fmt,
                                ...) RTUNE_PRINTF(3, 4);

/* The same, with a place in the user's input: 1-based line and column, 0 for unknown. */
enum rtune_status rtune_err_set_at(struct rtune_error *err, enum rtune_status status,
                                   const char *file, int line, int column, const char *fmt, ...)
    RTUNE_PRINTF(6, 7);

/* The same, with ": strerror(errnum)" appended. */
enum rtune_status rtune_err_set_errno(struct rtune_error *err, enum rtune_status status, int errnum,
                                      const char *fmt, ...) RTUNE_PRINTF(4, 5);

/* Put "context: " in front of a message that is already there; the status stays. */
void rtune_err_prefix(struct rtune_error *err, const char *fmt, ...) RTUNE_PRINTF(2, 3);

/* "file:line:column: message", or the message alone where there is no place. */
void rtune_err_format(const struct rtune_error *err, char *text, size_t size);

/* Make *err say success. */
void rtune_err_clear(struct rtune_error *err);

#endif /* RTUNE_BASE_ERR_H */
