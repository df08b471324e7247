/* SPDX-License-Identifier: Apache-2.0 */
/* tools/interrupt.c: signal handlers that touch nothing but flags and end the process. */
#include "tools/interrupt.h"

#include "base/clock.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_SECONDS = 3 };
/* timeout(1) signals its child and then the group that both are in: two signals, one wish. */
#define SAME_WISH_NS UINT64_C(500000000)

/* Written by a handler, read by the threads that compile. */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2 &&
                   ATOMIC_LLONG_LOCK_FREE == 2,
               "safe in a handler");
static atomic_bool stop;
static atomic_int first_signal;
static atomic_ullong first_ns; /* when it came */

static void leave(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
    _exit(128 + first_signal);
}

static void on_signal(int number) {
    int none = 0;
    uint64_t now = rtune_clock_ns();
    if (!atomic_compare_exchange_strong(&first_signal, &none, number)) {
        if (first_ns == 0 || now - first_ns < SAME_WISH_NS) return;
        leave("\nreduce-tune: interrupted twice: left at once (continue with --resume)\n");
    }
    first_ns = now;
    stop = true;
    (void)alarm(GRACE_SECONDS);
}

static void on_alarm(int number) {
    (void)number;
    leave("\nreduce-tune: interrupted: the session did not end in time (continue with --resume)\n");
}

static void install_one(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void interrupt_install(void) {
    struct sigaction before;
    /* nohup(1) ignores SIGHUP on purpose. Shells ignore SIGINT in background jobs without meaning
     * it. */
    if (sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
        install_one(SIGHUP, on_signal);
    install_one(SIGINT, on_signal);
    install_one(SIGTERM, on_signal);
    install_one(SIGALRM, on_alarm);
}

const atomic_bool *interrupt_flag(void) { return &stop; }

void interrupt_request(int signal_number) {
    int none = 0;
    if (atomic_compare_exchange_strong(&first_signal, &none, signal_number))
        first_ns = rtune_clock_ns();
    stop = true;
}

int interrupt_signal(void) { return first_signal; }
