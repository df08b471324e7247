/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.c: fork, exec, and a bounded wait. */
#include "tuner/spawn.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXEC_FAILED = 127, PROBED_MAX = 1 << 16, CLOEXEC_FLAG = 1 << 2 /* CLOSE_RANGE_CLOEXEC */ };
#define END_NS UINT64_C(5000000000)

/* Everything from first on is closed by exec. Kernels before 5.11 cannot do it in one call. */
static void close_on_exec(int first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, CLOEXEC_FLAG) == 0) return;
#endif
    for (int k = first; k < PROBED_MAX; k++) {
        int flags = fcntl(k, F_GETFD);
        if (flags >= 0) fcntl(k, F_SETFD, flags | FD_CLOEXEC);
    }
}

/* In the child, between fork and exec: async-signal-safe calls only. argv is complete but for the
 * number of the descriptor, which the parent wrote into it too. */
static void run_child(const char *program, char *const argv[], int fd, pid_t parent) {
    int null = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXEC_FAILED);
    if (null >= 0) {
        for (int k = 0; k <= 2; k++)
            dup2(null, k);
    }
    sigset_t none; /* the parent waits for its signals in a thread, and blocks them */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_on_exec(3);
    fcntl(fd, F_SETFD, 0);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    execv(program, argv);
    _exit(EXEC_FAILED);
}

enum rtune_status rtune_spawn(const char *program, struct rtune_child *child,
                              struct rtune_error *err) {
    int pair[2];
    char number[16], verb[] = "worker", option[] = "--fd", name[512];
    if (program == NULL || program[0] == '\0')
        return rtune_err_set(err, RTUNE_INVALID, "worker: no program to start it with");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return rtune_err_set_errno(err, RTUNE_IO, errno, "worker: no socket");
    snprintf(number, sizeof(number), "%d", pair[1]);
    snprintf(name, sizeof(name), "%s", program);
    char *const argv[] = {name, verb, option, number, NULL};
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) run_child(program, argv, pair[1], parent);
    int cause = errno;
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return rtune_err_set_errno(err, RTUNE_IO, cause, "worker: cannot start a process");
    }
    child->pid = pid;
    child->fd = pair[0];
    return RTUNE_OK;
}

static void tell_end(int state, char *why, size_t size) {
    if (why == NULL) return;
    if (WIFSIGNALED(state))
        snprintf(why, size, "signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
    else if (WEXITSTATUS(state) == EXEC_FAILED)
        snprintf(why, size, "the program could not be run");
    else
        snprintf(why, size, "exit status %d", WEXITSTATUS(state));
}

/* Ends by itself within a moment once its socket is closed or it has crashed; true if it did. */
static bool reap(pid_t pid, uint64_t limit_ns, int *state) {
    uint64_t start = rtune_clock_ns();
    for (;;) {
        pid_t got = waitpid(pid, state, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR)) return got == pid;
        if (rtune_clock_ns() - start > limit_ns) return false;
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

void rtune_spawn_end(struct rtune_child *child, char *why, size_t size) {
    int state = 0;
    if (why != NULL && size > 0) why[0] = '\0';
    if (child->fd >= 0 && child->pid > 0) close(child->fd);
    if (child->pid > 0) {
        if (why != NULL && reap(child->pid, UINT64_C(200000000), &state)) {
            tell_end(state, why, size);
        } else {
            kill(child->pid, SIGKILL);
            (void)reap(child->pid, END_NS, &state);
        }
    }
    child->pid = 0;
    child->fd = -1;
}
