/* SPDX-License-Identifier: Apache-2.0 */
/* base/parse_list.c: comma-separated fields, and lists and ranges of sizes. */
#include "base/num.h"
#include "base/parse.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 4096, FIELD_MAX = 64 };

bool rtune_parse_field(const char **text, const char **field, size_t *length) {
    if (*text == NULL) return false;
    *field = *text;
    *length = strcspn(*text, ",");
    *text = (*field)[*length] == ',' ? *field + *length + 1 : NULL;
    return true;
}

struct size_list {
    uint64_t *values; /* room for LIST_MAX */
    size_t count;
    uint64_t min, max; /* of each value */
};

static enum rtune_status add_size(struct size_list *list, uint64_t value, struct rtune_error *err) {
    if (list->count == LIST_MAX)
        return rtune_err_set(err, RTUNE_RANGE, "too many sizes (at most %d)", LIST_MAX);
    list->values[list->count++] = value;
    return RTUNE_OK;
}

static enum rtune_status add_range(struct size_list *list, const char *field,
                                   const char *first_text, const char *last_text,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t first, last;
    TRY(rtune_parse_size(first_text, list->min, list->max, &first, err));
    TRY(rtune_parse_size(last_text, list->min, list->max, &last, err));
    if (!rtune_is_pow2(first) || !rtune_is_pow2(last) || first > last)
        TRY(rtune_err_set(
            err, RTUNE_SYNTAX,
            "\"%s\" is not a range (expected two powers of two, the smaller one first, "
            "such as 2^10..2^25)",
            field));
    for (uint64_t value = first;; value *= 2) {
        TRY(add_size(list, value, err));
        if (value == last) break;
    }
done:
    return status;
}

static enum rtune_status add_field(struct size_list *list, const char *start, size_t length,
                                   struct rtune_error *err) {
    char field[FIELD_MAX], first[FIELD_MAX];
    if (length == 0)
        return rtune_err_set(
            err, RTUNE_SYNTAX,
            "the list of sizes has an empty entry (expected sizes and ranges such as "
            "1000,64Ki,2^10..2^25)");
    if (length >= sizeof(field))
        return rtune_err_set(err, RTUNE_SYNTAX,
                             "an entry of the list of sizes is too long (at most %d "
                             "characters)",
                             FIELD_MAX - 1);
    memcpy(field, start, length);
    field[length] = '\0';
    const char *dots = strstr(field, "..");
    if (dots == NULL) {
        uint64_t value;
        enum rtune_status status = rtune_parse_size(field, list->min, list->max, &value, err);
        return status == RTUNE_OK ? add_size(list, value, err) : status;
    }
    memcpy(first, field, (size_t)(dots - field));
    first[dots - field] = '\0';
    return add_range(list, field, first, dots + 2, err);
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum rtune_status rtune_parse_sizes(const char *text, uint64_t min, uint64_t max, uint64_t **values,
                                    size_t *count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct size_list list = {NULL, 0, min, max};
    const char *field;
    size_t length, unique = 0;
    list.values = malloc(LIST_MAX * sizeof(list.values[0]));
    if (list.values == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a list"));
    while (rtune_parse_field(&text, &field, &length))
        TRY(add_field(&list, field, length, err));
    qsort(list.values, list.count, sizeof(list.values[0]), compare_u64);
    for (size_t i = 0; i < list.count; i++)
        if (i == 0 || list.values[i] != list.values[i - 1]) list.values[unique++] = list.values[i];
    *values = list.values;
    *count = unique;
    list.values = NULL;
done:
    free(list.values);
    return status;
}
