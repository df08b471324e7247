/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/buf.h: a growing byte buffer with a stated maximum, and bounded file reading and atomic
 * writing. A buffer always ends in a NUL that size does not count.
 */
#ifndef RTUNE_BASE_BUF_H
#define RTUNE_BASE_BUF_H

#include "base/err.h"

struct rtune_buf {
    char *data; /* NULL while empty */
    size_t size;
    size_t capacity;
    size_t max;               /* bytes at most */
    enum rtune_status failed; /* first failure (NO_MEMORY or RANGE); later appends do nothing */
};

void rtune_buf_init(struct rtune_buf *buf, size_t max);
void rtune_buf_free(struct rtune_buf *buf);
void rtune_buf_add(struct rtune_buf *buf, const void *data, size_t size);
void rtune_buf_puts(struct rtune_buf *buf, const char *text);
void rtune_buf_printf(struct rtune_buf *buf, const char *fmt, ...) RTUNE_PRINTF(2, 3);
/* Append text as a JSON string, quotes included; NULL as null. Bytes that are not UTF-8 become
 * U+FFFD. */
void rtune_buf_json(struct rtune_buf *buf, const char *text);
/* The first failure of any append, as an error. */
enum rtune_status rtune_buf_status(const struct rtune_buf *buf, struct rtune_error *err);

/* Read a whole regular file of at most max bytes. Never blocks on a FIFO or device: the file is
 * opened with O_NONBLOCK and must be regular. buf is initialised here, with max, and is empty after
 * a failure; the caller frees it. Errors: NOT_FOUND, IO, RANGE (too large), NO_MEMORY. */
enum rtune_status rtune_file_read(const char *path, size_t max, struct rtune_buf *buf,
                                  struct rtune_error *err);
/* Write a file whole or not at all: a temporary file beside it, fsync, rename, fsync of the folder.
 * mode is subject to the umask. A symbolic link stays one; what is there and is not a regular file
 * is refused. Errors: NOT_FOUND (no such folder), IO, RANGE (path too long). */
enum rtune_status rtune_file_write(const char *path, const void *data, size_t size, unsigned mode,
                                   struct rtune_error *err);
/* The parts of that for who has steps of their own between them: write all bytes to an open file
 * (path is for the message), and fsync the folder that a path (below PATH_MAX) is in, which makes a
 * rename to it durable. Errors: IO. */
enum rtune_status rtune_fd_write(int fd, const char *path, const void *data, size_t size,
                                 struct rtune_error *err);
enum rtune_status rtune_folder_sync(const char *path, struct rtune_error *err);
/* mkdir -p with mode for every folder made; an existing folder is success (also when another
 * process makes it at the same time). */
enum rtune_status rtune_folder_make(const char *path, unsigned mode, struct rtune_error *err);
/* Join folder and name into out. Errors: RANGE (does not fit). */
enum rtune_status rtune_path_join(char *out, size_t size, const char *folder, const char *name,
                                  struct rtune_error *err);

#endif /* RTUNE_BASE_BUF_H */
