/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.c: monotonic time for measuring and wall time for records. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t rtune_clock_ns(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t rtune_clock_unix(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

void rtune_clock_iso(int64_t unix_seconds, char *text, size_t size) {
    time_t seconds = (time_t)unix_seconds;
    struct tm utc;
    if (size == 0) return;
    text[0] = '\0';
    if (gmtime_r(&seconds, &utc) == NULL) return;
    /* Not strftime: digits and names must not follow the locale. */
    snprintf(text, size, "%04d-%02d-%02dT%02d:%02d:%02dZ", utc.tm_year + 1900, utc.tm_mon + 1,
             utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}
