/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/npy.h: the header of a NumPy .npy file, format versions 1.0, 2.0 and 3.0
 * (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html), read strictly.
 */
#ifndef RTUNE_TOOLS_NPY_H
#define RTUNE_TOOLS_NPY_H

#include "base/err.h"

enum {
    NPY_MAGIC = 6,         /* bytes of "\x93NUMPY" */
    NPY_PREFIX_MAX = 12,   /* magic, version, header length */
    NPY_HEADER_MAX = 65535 /* bytes of header that are accepted, whatever the version */
};

struct npy_header {
    enum rtune_dtype dtype;
    uint64_t n;     /* elements: the product of the shape, 1 for a scalar */
    uint64_t bytes; /* n elements */
    int dims;
};

/* Does the file start like a .npy file? */
bool npy_is_magic(const unsigned char *bytes, size_t size);
/* Bytes before the header (10 or 12) and of the header, from the first 12 bytes of a file. Errors:
 * SYNTAX (version), RANGE (length). */
enum rtune_status npy_read_prefix(const unsigned char prefix[NPY_PREFIX_MAX], size_t *before,
                                  size_t *length, struct rtune_error *err);
/* Read the header's text. Errors: SYNTAX; UNSUPPORTED for element types that have no dtype here,
 * big endian among them; RANGE for shapes that overflow. Messages do not name the file. */
enum rtune_status npy_read_header(const char *text, size_t length, struct npy_header *header,
                                  struct rtune_error *err);

#endif /* RTUNE_TOOLS_NPY_H */
