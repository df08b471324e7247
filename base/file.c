/* SPDX-License-Identifier: Apache-2.0 */
/* base/file.c: bounded reading and atomic writing of files. */
#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum rtune_status fail_errno(const char *path, const char *what, struct rtune_error *err) {
    enum rtune_status status = errno == ENOENT ? RTUNE_NOT_FOUND : RTUNE_IO;
    return rtune_err_set_errno(err, status, errno, "%s: %s", path, what);
}

/* Read to the end of the file, whatever its size says: it may be growing, or be under /proc. */
static enum rtune_status read_all(int fd, const char *path, size_t max, struct rtune_buf *buf,
                                  struct rtune_error *err) {
    char chunk[16384];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(path, "cannot read", err);
        if (got == 0) break;
        rtune_buf_add(buf, chunk, (size_t)got);
        if (buf->failed == RTUNE_RANGE)
            return rtune_err_set(err, RTUNE_RANGE, "%s: file is too large (at most %zu bytes)",
                                 path, max);
        if (buf->failed != RTUNE_OK) return rtune_buf_status(buf, err);
    }
    rtune_buf_add(buf, "", 0); /* an empty file is an empty text, not NULL */
    return rtune_buf_status(buf, err);
}

enum rtune_status rtune_file_read(const char *path, size_t max, struct rtune_buf *buf,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct stat info;
    rtune_buf_init(buf, max);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail_errno(path, "cannot open", err);
    if (fstat(fd, &info) != 0) TRY(fail_errno(path, "cannot examine", err));
    if (S_ISDIR(info.st_mode))
        TRY(rtune_err_set(err, RTUNE_IO, "%s: is a folder (expected a regular file)", path));
    if (!S_ISREG(info.st_mode))
        TRY(rtune_err_set(err, RTUNE_IO, "%s: is not a regular file", path));
    TRY(read_all(fd, path, max, buf, err));
done:
    close(fd);
    if (status != RTUNE_OK) rtune_buf_free(buf);
    return status;
}

enum rtune_status rtune_fd_write(int fd, const char *path, const void *data, size_t size,
                                 struct rtune_error *err) {
    const char *bytes = data;
    while (size > 0) {
        ssize_t put = write(fd, bytes, size < (1u << 30) ? size : (1u << 30));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_errno(path, "cannot write", err);
        bytes += put;
        size -= (size_t)put;
    }
    return RTUNE_OK;
}

/* The file that path leads to, so that a symbolic link stays one; anything that is there and is not
 * a regular file is refused, since a rename would replace it. */
static enum rtune_status resolve_target(const char *path, char target[PATH_MAX],
                                        struct rtune_error *err) {
    struct stat info;
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return rtune_err_set(err, RTUNE_IO, "%s: is not a regular file (name a regular file)",
                                 path);
        if (realpath(path, target) == NULL) return fail_errno(path, "cannot resolve", err);
        return RTUNE_OK;
    }
    if (errno != ENOENT) return fail_errno(path, "cannot examine", err);
    if (strlen(path) >= PATH_MAX)
        return rtune_err_set(err, RTUNE_RANGE, "path is too long (at most %d bytes)", PATH_MAX - 1);
    memcpy(target, path, strlen(path) + 1);
    return RTUNE_OK;
}

/* Open a fresh file beside target; its mode follows the umask. */
static int open_temporary(const char *target, unsigned mode, char *name, size_t size) {
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        int length = snprintf(name, size, "%s.%ld-%llx.tmp", target, (long)getpid(),
                              (unsigned long long)rtune_clock_ns() + attempt);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* Some file systems cannot sync a folder and say EINVAL; one may write to a folder that one may not
 * read. */
enum rtune_status rtune_folder_sync(const char *path, struct rtune_error *err) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        snprintf(folder, sizeof(folder), ".");
    else
        slash[slash == folder ? 1 : 0] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) return RTUNE_OK;
    int failed = fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? errno : 0;
    if (fd >= 0) close(fd);
    if (failed == 0) return RTUNE_OK;
    return rtune_err_set_errno(err, RTUNE_IO, failed, "%s: cannot write to the disk", folder);
}

enum rtune_status rtune_file_write(const char *path, const void *data, size_t size, unsigned mode,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char target[PATH_MAX], temporary[PATH_MAX];
    bool made = false;
    int fd = -1;
    TRY(resolve_target(path, target, err));
    fd = open_temporary(target, mode, temporary, sizeof(temporary));
    if (fd < 0) TRY(fail_errno(path, "cannot create", err));
    made = true;
    TRY(rtune_fd_write(fd, path, data, size, err));
    if (fsync(fd) != 0) TRY(fail_errno(path, "cannot write to the disk", err));
    int closed = close(fd);
    fd = -1;
    if (closed != 0) TRY(fail_errno(path, "cannot close", err));
    if (rename(temporary, target) != 0) TRY(fail_errno(path, "cannot replace", err));
    made = false;
    TRY(rtune_folder_sync(target, err));
done:
    if (fd >= 0) close(fd);
    if (made) unlink(temporary);
    return status;
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Another process may make the same folder, and an existing one may lie on a read-only file system,
 * so what counts is that a folder is there afterwards. */
static enum rtune_status make_one(const char *path, unsigned mode, struct rtune_error *err) {
    if (mkdir(path, (mode_t)mode) == 0) return RTUNE_OK;
    int errnum = errno;
    if (is_folder(path)) return RTUNE_OK;
    if (errnum == EEXIST) errnum = ENOTDIR;
    return rtune_err_set_errno(err, RTUNE_IO, errnum, "%s: cannot make the folder", path);
}

enum rtune_status rtune_folder_make(const char *path, unsigned mode, struct rtune_error *err) {
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0) return rtune_err_set(err, RTUNE_INVALID, "the name of a folder is empty");
    if (length >= sizeof(part))
        return rtune_err_set(err, RTUNE_RANGE, "path is too long (at most %d bytes)", PATH_MAX - 1);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i < length; i++) {
        if (part[i] != '/' || part[i - 1] == '/') continue;
        part[i] = '\0';
        enum rtune_status status = make_one(part, mode, err);
        if (status != RTUNE_OK) return status;
        part[i] = '/';
    }
    return make_one(part, mode, err);
}

enum rtune_status rtune_path_join(char *out, size_t size, const char *folder, const char *name,
                                  struct rtune_error *err) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] != '/' ? "/" : "";
    size_t need = length + strlen(slash) + strlen(name) + 1;
    if (need > size)
        return rtune_err_set(err, RTUNE_RANGE, "path is too long (%zu bytes, at most %zu): %s%s%s",
                             need - 1, size == 0 ? 0 : size - 1, folder, slash, name);
    memmove(out, folder, length);
    snprintf(out + length, size - length, "%s%s", slash, name);
    return RTUNE_OK;
}
