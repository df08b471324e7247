/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c: opening files that others could have put there. What was opened is judged, not the name:
 * no links, regular files only, of root or this user, and nobody else may write to them.
 */
#include "db/db_int.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static enum rtune_status fail_open(int errnum, struct rtune_error *err) {
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
        return rtune_err_set(err, RTUNE_NOT_FOUND, "no such file");
    case ELOOP:
        return rtune_err_set(err, RTUNE_STORE_UNTRUSTED,
                             "is a symbolic link (name the file that it leads to)");
    case ENXIO: /* a socket, or a device without a driver */
        return rtune_err_set(err, RTUNE_STORE_FOREIGN, "is not a regular file");
    default:
        return rtune_err_set_errno(err, RTUNE_IO, errnum, "cannot open");
    }
}

static enum rtune_status judge_owner(const struct stat *info, struct rtune_error *err) {
    if (info->st_uid != 0 && info->st_uid != geteuid())
        return rtune_err_set(err, RTUNE_STORE_UNTRUSTED,
                             "belongs to user %lu, who is neither root nor this user",
                             (unsigned long)info->st_uid);
    if ((info->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return rtune_err_set(err, RTUNE_STORE_UNTRUSTED,
                             "others may write to it, mode %04o (chmod go-w)",
                             (unsigned)info->st_mode & 07777u);
    return RTUNE_OK;
}

enum rtune_status rtune_trust_open(int folder, const char *path, int *fd, struct stat *info,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    int opened = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (opened < 0) TRY(fail_open(errno, err));
    if (fstat(opened, info) != 0) TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "cannot examine"));
    if (S_ISDIR(info->st_mode)) TRY(rtune_err_set(err, RTUNE_STORE_FOREIGN, "is a folder"));
    if (!S_ISREG(info->st_mode))
        TRY(rtune_err_set(err, RTUNE_STORE_FOREIGN, "is not a regular file"));
    TRY(judge_owner(info, err));
    *fd = opened;
    opened = -1;
done:
    if (opened >= 0) close(opened);
    return status;
}

enum rtune_status rtune_trust_folder(const char *path, int *fd, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct stat info;
    int opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0 && errno == ENOTDIR && lstat(path, &info) == 0)
        TRY(rtune_err_set(err, RTUNE_STORE_UNTRUSTED, "is not a folder"));
    if (opened < 0) TRY(fail_open(errno, err));
    if (fstat(opened, &info) != 0) TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "cannot examine"));
    TRY(judge_owner(&info, err));
    *fd = opened;
    opened = -1;
done:
    if (opened >= 0) close(opened);
    return status;
}

enum rtune_status rtune_trust_read(int fd, void *data, size_t size, struct rtune_error *err) {
    size_t have = 0;
    while (have < size) {
        ssize_t got = pread(fd, (char *)data + have, size - have, (off_t)have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return rtune_err_set_errno(err, RTUNE_IO, errno, "cannot read");
        if (got == 0)
            return rtune_err_set(err, RTUNE_STORE_DAMAGED, "ends after %zu of %zu bytes", have,
                                 size);
        have += (size_t)got;
    }
    return RTUNE_OK;
}
