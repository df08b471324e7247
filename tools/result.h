/* SPDX-License-Identifier: Apache-2.0 */
/* tools/result.h: the bytes of a result as text, and results of pieces that the library does not
 * accumulate. */
#ifndef RTUNE_TOOLS_RESULT_H
#define RTUNE_TOOLS_RESULT_H

#include "kernels/kernels.h"
#include "tools/json_out.h"

enum { RESULT_BYTES = 16 }; /* of the largest result */

/* A result as it is printed: an integer exactly, a float as %.17g. */
struct result_text {
    char first[48];
    char second[48]; /* index, max or flags; "" if there is only one */
    const char *keys[2];
};
void result_text(const struct rtune_problem *problem, const unsigned char bytes[RESULT_BYTES],
                 struct result_text *text);
/* "value", "value index" or "min max" alone on a line; the flags of mode fixed are left to
 * result_warns. */
void result_print(const struct rtune_problem *problem, const struct result_text *text);
void result_json(struct json *json, const struct result_text *text);
/* What the flags of a result of mode fixed say; NULL for all others. */
const char *result_warns(const struct rtune_problem *problem,
                         const unsigned char bytes[RESULT_BYTES]);

/* argmin and argmax: take the result of the elements from `from` on into that of those before. */
void result_join(const struct rtune_problem *problem, uint64_t from,
                 const unsigned char piece[RESULT_BYTES], unsigned char total[RESULT_BYTES]);

#endif /* RTUNE_TOOLS_RESULT_H */
