/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish.c: replace a file so that whoever opens it, whenever and after whatever crash, finds the
 * old one or the new one and nothing in between. Each step can be made to fail, or to be the last,
 * by a test.
 */
#include "base/buf.h"
#include "db/db_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NEW_MODE = 0644 };

struct rtune_db_io rtune_db_io_default(void) {
    return (struct rtune_db_io){.wait_ms = RTUNE_DB_WAIT_MS, .store = rtune_schema_store()};
}

enum rtune_status rtune_db_at(const struct rtune_db_io *io, enum rtune_db_step step,
                              const char *path, struct rtune_error *err) {
    int errnum = io->step == NULL ? 0 : io->step(io->user, step);
    if (errnum == 0) return RTUNE_OK;
    return rtune_err_set_errno(err, RTUNE_IO, errnum, "%s: cannot write", path);
}

/* A new file with the given content, on the disk when the call returns. */
static enum rtune_status write_new(const char *name, const unsigned char *data, size_t size,
                                   unsigned mode, const struct rtune_db_io *io,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    /* A new file's mode follows the umask, but for root: its stores are there to be read by all. */
    bool exact = mode != 0 || geteuid() == 0;
    int fd = -1;
    TRY(rtune_db_at(io, RTUNE_STEP_CREATE, name, err));
    if (unlink(name) != 0 && errno != ENOENT)
        TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot remove what a crash left", name));
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, NEW_MODE);
    if (fd < 0) TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot create", name));
    if (exact && fchmod(fd, mode == 0 ? NEW_MODE : mode) != 0)
        TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot set its mode", name));
    TRY(rtune_fd_write(fd, name, data, size / 2, err));
    TRY(rtune_db_at(io, RTUNE_STEP_WRITE, name, err));
    TRY(rtune_fd_write(fd, name, data + size / 2, size - size / 2, err));
    TRY(rtune_db_at(io, RTUNE_STEP_SYNC, name, err));
    if (fsync(fd) != 0)
        TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot write to the disk", name));
    int closed = close(fd);
    fd = -1;
    if (closed != 0) TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot close", name));
done:
    if (fd >= 0) close(fd);
    return status;
}

enum rtune_status rtune_publish_file(const char *path, const void *data, size_t size, unsigned mode,
                                     const struct rtune_db_io *io, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char name[RTUNE_DB_PATH] = "";
    bool left = false;
    TRY(rtune_path_suffix(name, path, ".new", err));
    left = true;
    TRY(write_new(name, data, size, mode, io, err));
    TRY(rtune_db_at(io, RTUNE_STEP_RENAME, path, err));
    if (rename(name, path) != 0)
        TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot replace", path));
    left = false;
    TRY(rtune_db_at(io, RTUNE_STEP_FOLDER, path, err));
    TRY(rtune_folder_sync(path, err));
done:
    if (left) unlink(name);
    return status;
}
