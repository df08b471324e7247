/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/interrupt.c: a thread that waits for signals, which all others block. A handler would not
 * do: NVRTC puts its own in the place of ours, or ignores the signal, as long as it compiles.
 */
#include "tools/interrupt.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GRACE_NS UINT64_C(3000000000)
/* timeout(1) signals its child and then the group that both are in: two signals, one wish. */
#define SAME_WISH_NS UINT64_C(500000000)

static atomic_bool stop;
static atomic_int first_signal;
static sigset_t waited; /* written before the thread starts */

static void leave(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
    _exit(128 + first_signal);
}

/* Next signal until a time of rtune_clock_ns; 0 if none came. */
static int next_until(uint64_t end_ns) {
    for (;;) {
        const uint64_t now = rtune_clock_ns(), left = end_ns > now ? end_ns - now : 0;
        const struct timespec limit = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
        const int number = sigtimedwait(&waited, NULL, &limit);
        if (number > 0) return number;
        if (errno != EINTR) return 0;
    }
}

static void *watch(void *unused) {
    int number = 0, none = 0;
    (void)unused;
    while (sigwait(&waited, &number) != 0) {
    }
    const uint64_t first_ns = rtune_clock_ns();
    (void)atomic_compare_exchange_strong(&first_signal, &none, number);
    stop = true;
    while (next_until(first_ns + GRACE_NS) != 0)
        if (rtune_clock_ns() - first_ns >= SAME_WISH_NS)
            leave("\nreduce-tune: interrupted twice: left at once (continue with --resume)\n");
    leave("\nreduce-tune: interrupted: the session did not end in time (continue with --resume)\n");
    return NULL;
}

static void wait_for(int number) {
    (void)signal(number, SIG_DFL); /* a shell's background job has SIGINT ignored */
    (void)sigaddset(&waited, number);
}

void interrupt_install(void) {
    struct sigaction before;
    pthread_t thread;
    (void)sigemptyset(&waited);
    /* nohup(1) ignores SIGHUP on purpose. Shells ignore SIGINT in background jobs without meaning
     * it. */
    if (sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN) wait_for(SIGHUP);
    wait_for(SIGINT);
    wait_for(SIGTERM);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails instead, and says so */
    if (pthread_sigmask(SIG_BLOCK, &waited, NULL) != 0) return;
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        (void)pthread_detach(thread);
    else
        (void)pthread_sigmask(SIG_UNBLOCK, &waited, NULL); /* then they end the program */
}

const atomic_bool *interrupt_flag(void) { return &stop; }

void interrupt_request(int signal_number) {
    int none = 0;
    (void)atomic_compare_exchange_strong(&first_signal, &none, signal_number);
    stop = true;
}

int interrupt_signal(void) { return first_signal; }
