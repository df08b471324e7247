/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/datafile.h: the elements of a .npy or raw file, or of standard input, in order. Reads with
 * read(2) alone, so that a file that shrinks meanwhile is an error and not a signal.
 */
#ifndef RTUNE_TOOLS_DATAFILE_H
#define RTUNE_TOOLS_DATAFILE_H

#include "tools/npy.h"

#define DATAFILE_UNKNOWN UINT64_MAX

struct datafile {
    const char *name; /* borrowed; "standard input" */
    int fd;           /* -1: closed */
    bool npy;
    enum rtune_dtype dtype;
    uint64_t n;     /* elements to hand out, DATAFILE_UNKNOWN for a raw stream */
    bool to_end;    /* the last one must end the file */
    uint64_t given; /* elements handed out */
    unsigned char head[NPY_PREFIX_MAX]; /* bytes read ahead */
    size_t head_at, head_size;
};

/* Open a file ("-": standard input). raw: the element type of raw data and the type that a .npy
 * file must have; NULL for .npy files alone. limit: read only the first so many elements,
 * DATAFILE_UNKNOWN for all. Errors: NOT_FOUND, IO, those of npy.h, and INVALID if raw is needed or
 * contradicts the file. */
enum rtune_status datafile_open(struct datafile *file, const char *path,
                                const enum rtune_dtype *raw, uint64_t limit,
                                struct rtune_error *err);
/* Read at most count elements; *got < count only at the end. A file that is shorter than it says is
 * IO. */
enum rtune_status datafile_read(struct datafile *file, void *out, uint64_t count, uint64_t *got,
                                struct rtune_error *err);
void datafile_close(struct datafile *file);

#endif /* RTUNE_TOOLS_DATAFILE_H */
