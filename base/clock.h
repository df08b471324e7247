/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.h: monotonic time for measuring and wall time for records. */
#ifndef RTUNE_BASE_CLOCK_H
#define RTUNE_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t rtune_clock_ns(void);
/* Seconds since the Unix epoch, UTC. */
int64_t rtune_clock_unix(void);

#endif /* RTUNE_BASE_CLOCK_H */
