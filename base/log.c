/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.c: a log sink that hangs on a handle. */
#include "base/log.h"

#include <stdio.h>

void rtune_log_write(const struct rtune_log *log, enum rtune_log_level level, const char *fmt,
                     ...) {
    if (log == NULL || log->fn == NULL || level > log->level) return;
    char message[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    log->fn(log->user, level, message);
}
