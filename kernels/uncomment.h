/* SPDX-License-Identifier: Apache-2.0 */
/* uncomment.h: source text as the compiler sees it, for a hash that no comment changes. */
#ifndef RTUNE_KERNELS_UNCOMMENT_H
#define RTUNE_KERNELS_UNCOMMENT_H

#include <stddef.h>

/* Copy C or C++ text without its comments, with each run of blanks as one space, or as one end of
 * line if there was one in it outside of comments. code has room for strlen(text) + 1 bytes.
 * Returns its length. What is not closed ends with the text. Raw strings and digit separators are
 * not known. */
size_t rtune_uncomment(const char *text, char *code);

#endif
