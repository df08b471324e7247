/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.h: a log sink that hangs on a handle. Nothing in the tree prints by itself but tools/.
 */
#ifndef RTUNE_BASE_LOG_H
#define RTUNE_BASE_LOG_H

#include "base/err.h"

struct rtune_log {
    rtune_log_fn fn; /* NULL: silent */
    void *user;
    enum rtune_log_level level; /* messages above it are dropped */
};

/* Format and hand one message (without a newline) to the sink. log may be NULL. Thread-safe if fn
 * is. */
void rtune_log_write(const struct rtune_log *log, enum rtune_log_level level, const char *fmt, ...)
    RTUNE_PRINTF(3, 4);

#endif /* RTUNE_BASE_LOG_H */
