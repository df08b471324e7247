/* SPDX-License-Identifier: Apache-2.0 */
/* tools/datafile.c: opening and reading data files. */
#include "tools/datafile.h"

#include "base/num.h"
#include "base/parse.h"
#include "kernels/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_MAX ((size_t)1 << 30)

/* Read size bytes, or fewer at the end of the file. */
static enum rtune_status read_bytes(struct datafile *file, void *out, size_t size, size_t *got,
                                    struct rtune_error *err) {
    unsigned char *to = out;
    *got = 0;
    while (*got < size && file->head_at < file->head_size)
        to[(*got)++] = file->head[file->head_at++];
    while (*got < size) {
        size_t left = size - *got;
        ssize_t n = read(file->fd, to + *got, left < READ_MAX ? left : READ_MAX);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot read", file->name);
        if (n == 0) break;
        *got += (size_t)n;
    }
    return RTUNE_OK;
}

static enum rtune_status open_fd(struct datafile *file, const char *path, struct rtune_error *err) {
    struct stat info;
    if (strcmp(path, "-") == 0) {
        file->name = "standard input";
        file->fd = dup(STDIN_FILENO);
    } else {
        file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    }
    if (file->fd < 0)
        return rtune_err_set_errno(err, errno == ENOENT ? RTUNE_NOT_FOUND : RTUNE_IO, errno,
                                   "%s: cannot open", file->name);
    if (fstat(file->fd, &info) == 0 && S_ISDIR(info.st_mode))
        return rtune_err_set(err, RTUNE_IO, "%s: is a folder (give a file)", file->name);
    return RTUNE_OK;
}

/* Bytes from the current position to the end of a regular file; false for pipes and devices. */
static bool bytes_left(const struct datafile *file, uint64_t *bytes) {
    struct stat info;
    if (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    off_t at = lseek(file->fd, 0, SEEK_CUR);
    if (at < 0) return false;
    *bytes =
        (info.st_size > at ? (uint64_t)(info.st_size - at) : 0) + file->head_size - file->head_at;
    return true;
}

static enum rtune_status read_npy(struct datafile *file, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct npy_header header;
    size_t before, length, got;
    char *text = NULL;
    if (file->head_size < NPY_PREFIX_MAX)
        TRY(rtune_err_set(err, RTUNE_IO, "ends within the header"));
    TRY(npy_read_prefix(file->head, &before, &length, err));
    file->head_at = before;
    text = malloc(length);
    if (text == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory"));
    TRY(read_bytes(file, text, length, &got, err));
    if (got < length) TRY(rtune_err_set(err, RTUNE_IO, "ends within the header"));
    TRY(npy_read_header(text, length, &header, err));
    file->dtype = header.dtype;
    file->n = header.n;
done:
    free(text);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", file->name);
    return status;
}

/* The bytes that follow the header must be the elements: no more, no less. */
static enum rtune_status check_npy_size(const struct datafile *file, struct rtune_error *err) {
    uint64_t need = file->n * rtune_dtype_size(file->dtype);
    uint64_t have;
    if (!bytes_left(file, &have) || have == need) return RTUNE_OK;
    return rtune_err_set(
        err, RTUNE_IO, "%s: %s (its header says %" PRIu64 " bytes of elements, %" PRIu64 " follow)",
        file->name, have < need ? "is truncated" : "has data after its end", need, have);
}

static enum rtune_status measure_raw(struct datafile *file, struct rtune_error *err) {
    size_t size = rtune_dtype_size(file->dtype);
    uint64_t have;
    file->n = DATAFILE_UNKNOWN;
    if (!bytes_left(file, &have)) return RTUNE_OK;
    if (have % size != 0)
        return rtune_err_set(err, RTUNE_IO,
                             "%s: %" PRIu64 " bytes are no whole number of %s elements", file->name,
                             have, rtune_dtype_name(file->dtype));
    file->n = have / size;
    return RTUNE_OK;
}

static enum rtune_status identify(struct datafile *file, const enum rtune_dtype *raw,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(read_bytes(file, file->head, sizeof file->head, &file->head_size, err));
    file->npy = npy_is_magic(file->head, file->head_size);
    if (file->npy) {
        TRY(read_npy(file, err));
        TRY(check_npy_size(file, err));
        if (raw != NULL && *raw != file->dtype)
            TRY(rtune_err_set(err, RTUNE_INVALID, "--dtype %s: %s holds %s (leave --dtype out)",
                              rtune_dtype_name(*raw), file->name, rtune_dtype_name(file->dtype)));
    } else {
        if (raw == NULL)
            TRY(rtune_err_set(err, RTUNE_INVALID, "%s: is no .npy file (give --dtype for raw data)",
                              file->name));
        file->dtype = *raw;
        TRY(measure_raw(file, err));
    }
done:
    return status;
}

enum rtune_status datafile_open(struct datafile *file, const char *path,
                                const enum rtune_dtype *raw, uint64_t limit,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct datafile opened = {.name = path, .fd = -1, .to_end = true};
    TRY(open_fd(&opened, path, err));
    TRY(identify(&opened, raw, err));
    if (limit != DATAFILE_UNKNOWN) {
        if (opened.n != DATAFILE_UNKNOWN && limit > opened.n)
            TRY(rtune_err_set(err, RTUNE_RANGE, "-n %" PRIu64 ": %s holds %" PRIu64 " elements",
                              limit, opened.name, opened.n));
        opened.n = limit;
        opened.to_end = false;
    }
    *file = opened;
    opened.fd = -1;
done:
    datafile_close(&opened);
    return status;
}

static enum rtune_status check_end(struct datafile *file, struct rtune_error *err) {
    unsigned char byte;
    size_t got;
    if (!file->to_end) return RTUNE_OK;
    enum rtune_status status = read_bytes(file, &byte, 1, &got, err);
    if (status != RTUNE_OK || got == 0) return status;
    return rtune_err_set(err, RTUNE_IO, "%s: has data after its end (%" PRIu64 " elements)",
                         file->name, file->n);
}

enum rtune_status datafile_read(struct datafile *file, void *out, uint64_t count, uint64_t *got,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t size = rtune_dtype_size(file->dtype);
    uint64_t wanted = rtune_min_u64(count, file->n - file->given);
    size_t bytes;
    TRY(read_bytes(file, out, wanted * size, &bytes, err));
    if (bytes < wanted * size && (file->n != DATAFILE_UNKNOWN || bytes % size != 0))
        TRY(rtune_err_set(err, RTUNE_IO,
                          "%s: is truncated (%" PRIu64 " whole elements, expected %s)", file->name,
                          file->given + bytes / size,
                          file->n == DATAFILE_UNKNOWN ? "no part of one after them" : "more"));
    file->given += bytes / size;
    if (file->given == file->n) TRY(check_end(file, err));
    *got = bytes / size;
done:
    return status;
}

void datafile_close(struct datafile *file) {
    if (file->fd >= 0) (void)close(file->fd);
    file->fd = -1;
}
