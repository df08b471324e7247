/* SPDX-License-Identifier: Apache-2.0 */
/* base/utf8.h: recognising UTF-8 (RFC 3629), for messages, JSON and profiles. */
#ifndef RTUNE_BASE_UTF8_H
#define RTUNE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the valid character that starts at text, of which size bytes may be looked at; 0 if none
 * does (also at a size of 0). *code (may be NULL) gets the character. */
size_t rtune_utf8_next(const char *text, size_t size, uint32_t *code);

/* Length of the longest prefix of a NUL-terminated text that has at most max bytes and does not cut
 * a valid character in two. */
size_t rtune_utf8_prefix(const char *text, size_t max);

#endif /* RTUNE_BASE_UTF8_H */
