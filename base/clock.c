/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.c: monotonic time for measuring and wall time for records. */
#include "base/clock.h"

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
