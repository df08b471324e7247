/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: results combined (RTUNE_ACCUMULATE) and compared. */
#include "tests/reference/sums.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_float_result(const struct rtune_problem *p) {
    return p->op <= RTUNE_PROD && element_is_float(p->dtype) && p->mode != RTUNE_FIXED;
}

static enum rtune_dtype float_type(const struct rtune_problem *p) {
    return p->acc == RTUNE_NATIVE ? p->dtype : sums_accumulator(p->dtype);
}

/* ---- accumulate ------------------------------------------------------------------------------ */

static double combine_floats(const struct rtune_problem *p, double before, double x) {
    const enum rtune_dtype wide = sums_accumulator(p->dtype);
    const double sum = p->op == RTUNE_PROD ? before * x : before + x;
    return element_value(wide, element_round(wide, sum));
}

static void accumulate_float(const struct rtune_problem *p, const void *before,
                             struct reference_result *result) {
    const enum rtune_dtype type = float_type(p);
    const double old = element_value(type, element_get(type, before, 0));
    if (result->exact) {
        const double x = element_value(type, element_get(type, result->bytes, 0));
        result_put(result, 0, type, element_round(type, combine_floats(p, old, x)));
        return;
    }
    /* The result may or may not have been rounded to its type before. */
    const double low = (double)result->low, high = (double)result->high;
    const double ends[4] = {low, high, element_value(type, element_round(type, low)),
                            element_value(type, element_round(type, high))};
    result->low = INFINITY;
    result->high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        const double x = combine_floats(p, old, ends[k]);
        result->low = fminl(result->low, nextafter(x, -INFINITY));
        result->high = fmaxl(result->high, nextafter(x, INFINITY));
    }
}

/* The other ops take the old and the new value as two elements of an input of the result's type. */
static void accumulate_pair(const struct rtune_problem *p, const void *before,
                            struct reference_result *result) {
    struct rtune_problem two = *p;
    struct reference r;
    unsigned char pair[16];
    if (p->mode == RTUNE_FIXED) {
        for (int k = 0; k < 2; k++) {
            const uint64_t a = element_get(RTUNE_U64, before, (uint64_t)k),
                           b = element_get(RTUNE_U64, result->bytes, (uint64_t)k);
            result_put(result, 8 * (size_t)k, RTUNE_U64, k ? a | b : a + b);
        }
        return;
    }
    if (p->op <= RTUNE_DOT || p->op == RTUNE_COUNT_NONZERO) two.op = RTUNE_SUM;
    if (p->op <= RTUNE_PROD || p->op == RTUNE_COUNT_NONZERO) {
        two.dtype = result->size == 1   ? RTUNE_U8
                    : result->size == 2 ? RTUNE_U16
                    : result->size == 4 ? RTUNE_U32
                                        : RTUNE_U64;
        two.acc = RTUNE_NATIVE;
    }
    if (p->op == RTUNE_ANY || p->op == RTUNE_ALL) two.dtype = RTUNE_I32;
    const size_t half = element_size(two.dtype), values = result->size / half;
    for (size_t k = 0; k < values; k++) { /* minmax has two */
        struct reference_result one;
        if (p->op == RTUNE_MINMAX) two.op = k ? RTUNE_MAX : RTUNE_MIN;
        memcpy(pair, (const char *)before + k * half, half);
        memcpy(pair + half, result->bytes + k * half, half);
        reference_begin(&r, &two, 1);
        reference_add(&r, pair, NULL, 2);
        reference_end(&r, 0, &one);
        memcpy(result->bytes + k * half, one.bytes, half);
    }
}

void reference_accumulate(const struct rtune_problem *problem, const void *before,
                          struct reference_result *result) {
    if (result->empty || result->open) return;
    if (is_float_result(problem))
        accumulate_float(problem, before, result);
    else
        accumulate_pair(problem, before, result);
}

/* ---- compare --------------------------------------------------------------------------------- */

static void hexadecimal(const void *bytes, size_t size, char *text) {
    for (size_t k = 0; k < size; k++)
        snprintf(text + 2 * k, 3, "%02x", ((const unsigned char *)bytes)[size - 1 - k]);
}

bool reference_check(const struct rtune_problem *problem, const struct reference_result *result,
                     const void *got, char *message, size_t size) {
    char is[33] = "", should[33] = "";
    message[0] = '\0';
    if (result->empty) {
        snprintf(message, size, "a result where there is none");
        return false;
    }
    if (result->open) return true;
    hexadecimal(got, result->size, is);
    if (result->exact) {
        hexadecimal(result->bytes, result->size, should);
        if (memcmp(got, result->bytes, result->size) == 0) return true;
        snprintf(message, size, "0x%s, should be 0x%s", is, should);
        return false;
    }
    const enum rtune_dtype type = float_type(problem);
    const double value = element_value(type, element_get(type, got, 0));
    const double low = element_value(type, element_round(type, result->low));
    const double high = element_value(type, element_round(type, result->high));
    if (value >= low && value <= high) return true;
    snprintf(message, size, "%.17g (0x%s), should be from %.17g to %.17g", value, is, low, high);
    return false;
}
