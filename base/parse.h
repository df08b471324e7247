/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/parse.h: strict, locale-independent reading of numbers, sizes, durations and lists.
 *
 * Every function reads the whole text or fails with SYNTAX or RANGE and a message that says what
 * was expected. No leading or trailing white space, no sign on unsigned numbers, no silent wrap.
 */
#ifndef RTUNE_BASE_PARSE_H
#define RTUNE_BASE_PARSE_H

#include "base/err.h"

/* Decimal digits only. */
enum rtune_status rtune_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value,
                                  struct rtune_error *err);
/* Decimal floating point in the C locale; NaN and infinities are refused. */
enum rtune_status rtune_parse_double(const char *text, double min, double max, double *value,
                                     struct rtune_error *err);
/* Element counts: "1000", "64Ki", "8Mi", "2Gi", "1Ti", "2^20"; also "8K", "8M", "8G", "8T", which
 * are powers of 1000. */
enum rtune_status rtune_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value,
                                   struct rtune_error *err);
/* Durations in seconds: "500ms", "10s", "5m", "2h", "1.5s". The unit is required. */
enum rtune_status rtune_parse_duration(const char *text, double min, double max, double *seconds,
                                       struct rtune_error *err);

/* A list of sizes: commas and ranges, "1000,64Ki,2^10..2^25". A range gives each power of two from
 * its first to its last, both of which must be powers of two. The result is sorted and unique; the
 * caller frees *values with free(). At most 4096 values. */
enum rtune_status rtune_parse_sizes(const char *text, uint64_t min, uint64_t max, uint64_t **values,
                                    size_t *count, struct rtune_error *err);

/* Length and start of the next comma-separated field of *text, advancing *text; false at the end.
 * Empty fields are returned with length 0; "" is one empty field. *text is NULL after the last
 * field. */
bool rtune_parse_field(const char **text, const char **field, size_t *length);

/* Print a double so that it reads back to the same bits, independent of the locale: shortest of
 * %.15g, %.16g, %.17g. Returns the length, as snprintf. */
int rtune_print_double(double value, char *text, size_t size);
/* Print an element count in a short exact spelling that rtune_parse_size reads ("2^20", "3Mi",
 * "1000"). */
int rtune_print_size(uint64_t value, char *text, size_t size);
/* Text in double quotes, for messages: quotes, backslashes, control bytes and bytes that are not
 * UTF-8 are escaped, and what does not fit ends in "...". size is at least 8. */
void rtune_print_quoted(const char *text, char *out, size_t size);

#endif /* RTUNE_BASE_PARSE_H */
