/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.h: monotonic time for measuring and wall time for records. */
#ifndef RTUNE_BASE_CLOCK_H
#define RTUNE_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t rtune_clock_ns(void);
/* Seconds since the Unix epoch, UTC. */
int64_t rtune_clock_unix(void);
/* "2026-11-29T22:48:19Z" of a Unix time; text needs 21 bytes. */
void rtune_clock_iso(int64_t unix_seconds, char *text, size_t size);

#endif /* RTUNE_BASE_CLOCK_H */
