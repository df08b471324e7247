/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/sized.h: public structs that begin with their own size, as the caller was compiled. Later
 * versions add fields at the end, and 0 in a new field means what was before it; so a struct of an
 * older caller is read as a full one of this library, and a record is written as far as the
 * caller's reaches.
 */
#ifndef RTUNE_BASE_SIZED_H
#define RTUNE_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Bytes of a struct up to and with a member: the last one of the oldest version that is served. */
#define RTUNE_SIZE_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Copy the caller's struct into a full one of size bytes and set its struct_size, the first member
 * of both. false, and nothing is written: its size is below the oldest or above size. */
static inline bool rtune_sized_read(void *full, size_t size, const void *given, size_t oldest) {
    size_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < oldest || given_size > size) return false;
    memcpy(full, given, given_size);
    memset((char *)full + given_size, 0, size - given_size);
    memcpy(full, &size, sizeof size);
    return true;
}

/* Copy a full struct of size bytes into the caller's, but its struct_size, as far as both reach. */
static inline void rtune_sized_write(void *given, const void *full, size_t size) {
    const size_t skip = sizeof(size_t);
    size_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size > size) given_size = size;
    memcpy((char *)given + skip, (const char *)full + skip, given_size - skip);
}

#endif /* RTUNE_BASE_SIZED_H */
