/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/interrupt.h: SIGINT, SIGTERM and SIGHUP as a request to stop and keep what is decided. The
 * second one, or three seconds without an end, leaves at once; the work database then keeps what
 * was measured.
 */
#ifndef RTUNE_TOOLS_INTERRUPT_H
#define RTUNE_TOOLS_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

/* To be called before any other thread starts: threads inherit what is blocked. */
void interrupt_install(void);
/* Becomes true with the first signal; for rtune_tune_options.stop. */
const atomic_bool *interrupt_flag(void);
/* Ask for the same stop from inside the program, as if the signal had come (no time limit). */
void interrupt_request(int signal_number);
/* Number of the first signal, 0 if there was none. */
int interrupt_signal(void);

#endif /* RTUNE_TOOLS_INTERRUPT_H */
