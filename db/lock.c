/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c: one writer at a time. A lock is flock(2) on a file of its own that is never deleted, so
 * that nobody can hold a lock on a file that is gone; the kernel lets go of it when its process
 * dies.
 */
#include "base/clock.h"
#include "db/db_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20 };

static enum rtune_status wait_for(int fd, unsigned wait_ms, struct rtune_error *err) {
    const struct timespec pause = {0, POLL_MS * 1000000L};
    uint64_t deadline = rtune_clock_ns() + (uint64_t)wait_ms * 1000000u;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP)
            return rtune_err_set_errno(err, RTUNE_IO, errno,
                                       "this file system has no locks (use a store on a local one: "
                                       "--db FILE or RTUNE_DB)");
        if (errno != EWOULDBLOCK) return rtune_err_set_errno(err, RTUNE_IO, errno, "cannot lock");
        if (rtune_clock_ns() >= deadline)
            return rtune_err_set(err, RTUNE_LOCKED,
                                 "another process holds the lock (waited %u.%01u s)",
                                 wait_ms / 1000, wait_ms % 1000 / 100);
        nanosleep(&pause, NULL);
    }
    return RTUNE_OK;
}

enum rtune_status rtune_lock_take(const char *path, unsigned wait_ms, struct rtune_lock *lock,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char name[RTUNE_DB_PATH];
    struct stat info;
    int fd = -1;
    TRY(rtune_path_suffix(name, path, ".lock", err));
    /* Private to its owner: a reader could hold it for ever. */
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0) TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "cannot open the lock file"));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        TRY(rtune_err_set(err, RTUNE_IO, "the lock file is not a regular file"));
    TRY(wait_for(fd, wait_ms, err));
    lock->fd = fd;
    fd = -1;
done:
    if (fd >= 0) close(fd);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s.lock", path);
    return status;
}

void rtune_lock_release(struct rtune_lock *lock) {
    if (lock->fd >= 0) close(lock->fd);
    lock->fd = -1;
}
