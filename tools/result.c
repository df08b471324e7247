/* SPDX-License-Identifier: Apache-2.0 */
/* tools/result.c: results as text. The program never sets a locale, so that printf writes a point.
 */
#include "tools/result.h"

#include "tools/console.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers -----------------------------------------------------------------------------------
 */

/* One number of any type: floats exactly in a double, integers in 64 bits of their sign. */
struct number {
    bool is_float, is_signed;
    double f;
    int64_t i;
    uint64_t u;
};

/* The binary16 or bfloat16 number of these bits. */
static double short_float(unsigned bits, int mantissa_bits) {
    const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
    const unsigned exponent = (bits & 0x7fff) >> mantissa_bits;
    const unsigned top = 0x7fffu >> mantissa_bits; /* the exponent of NaN and the infinities */
    const int bias = (int)(top >> 1);
    double value;
    if (exponent == top)
        value = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp((double)mantissa, 1 - bias - mantissa_bits);
    else
        value =
            ldexp((double)(mantissa | 1u << mantissa_bits), (int)exponent - bias - mantissa_bits);
    return bits & 0x8000 && !isnan(value) ? -value : value;
}

static struct number load(enum rtune_dtype dtype, const unsigned char *bytes) {
    const struct rtune_dtype_info *info = rtune_dtype_info(dtype);
    struct number number = {.is_float = info->is_float, .is_signed = info->is_signed};
    const unsigned unused = 64 - 8 * info->size;
    float single;
    memcpy(&number.u, bytes, info->size); /* little-endian hosts */
    if (info->is_signed) number.i = (int64_t)(number.u << unused) >> unused;
    switch (dtype) {
    case RTUNE_F16:
        number.f = short_float((unsigned)number.u, 10);
        break;
    case RTUNE_BF16:
        number.f = short_float((unsigned)number.u, 7);
        break;
    case RTUNE_F32:
        memcpy(&single, bytes, sizeof single);
        number.f = single;
        break;
    case RTUNE_F64:
        memcpy(&number.f, bytes, sizeof number.f);
        break;
    default:
        break;
    }
    return number;
}

static void print_number(enum rtune_dtype dtype, const unsigned char *bytes, char text[48]) {
    const struct number number = load(dtype, bytes);
    if (number.is_float)
        (void)snprintf(text, 48, "%.17g", number.f);
    else if (number.is_signed)
        (void)snprintf(text, 48, "%" PRId64, number.i);
    else
        (void)snprintf(text, 48, "%" PRIu64, number.u);
}

/* ---- text --------------------------------------------------------------------------------------
 */

static bool is_indexed(const struct rtune_problem *problem) {
    return problem->op == RTUNE_ARGMIN || problem->op == RTUNE_ARGMAX;
}

void result_text(const struct rtune_problem *problem, const unsigned char bytes[RESULT_BYTES],
                 struct result_text *text) {
    const enum rtune_dtype dtype = rtune_result_dtype(problem);
    memset(text, 0, sizeof *text);
    text->keys[0] = "value";
    print_number(dtype, bytes, text->first);
    if (problem->mode == RTUNE_FIXED) {
        text->keys[1] = "flags";
        print_number(RTUNE_U32, bytes + offsetof(struct rtune_fixed, flags), text->second);
    } else if (problem->op == RTUNE_MINMAX) {
        text->keys[0] = "min";
        text->keys[1] = "max";
        print_number(dtype, bytes + rtune_dtype_size(dtype), text->second);
    } else if (is_indexed(problem)) {
        text->keys[1] = "index";
        print_number(RTUNE_I64, bytes + 8, text->second);
    }
}

void result_print(const struct rtune_problem *problem, const struct result_text *text) {
    const bool pair = text->second[0] != '\0' && problem->mode != RTUNE_FIXED;
    console_printf("%s%s%s\n", text->first, pair ? " " : "", pair ? text->second : "");
}

/* Values that JSON cannot spell (nan, inf) become strings. */
static void json_value(struct json *json, const char *key, const char *value) {
    if (strpbrk(value, "in") != NULL)
        json_text(json, key, value);
    else
        json_number(json, key, value);
}

void result_json(struct json *json, const struct result_text *text) {
    json_value(json, text->keys[0], text->first);
    if (text->second[0] != '\0') json_value(json, text->keys[1], text->second);
}

const char *result_warns(const struct rtune_problem *problem,
                         const unsigned char bytes[RESULT_BYTES]) {
    struct rtune_fixed fixed;
    if (problem->mode != RTUNE_FIXED) return NULL;
    memcpy(&fixed, bytes, sizeof fixed);
    switch (fixed.flags & (RTUNE_FIXED_RANGE | RTUNE_FIXED_NAN)) {
    case RTUNE_FIXED_RANGE:
        return "some terms x scale are beyond 64 bits and count as the nearest integer";
    case RTUNE_FIXED_NAN:
        return "some terms are NaN and count as 0";
    case RTUNE_FIXED_RANGE | RTUNE_FIXED_NAN:
        return "some terms x scale are beyond 64 bits and count as the nearest integer, and some "
               "are "
               "NaN and count as 0";
    default:
        return NULL;
    }
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* Is b the extreme of the two, where a came first? */
static bool replaces(const struct rtune_problem *problem, const struct number *a,
                     const struct number *b) {
    const bool greater = problem->op == RTUNE_ARGMAX;
    if (a->is_float) {
        if (isnan(a->f)) return problem->nan_rule == RTUNE_NAN_IGNORE && !isnan(b->f);
        if (isnan(b->f)) return problem->nan_rule == RTUNE_NAN_PROPAGATE;
        return greater ? b->f > a->f : b->f < a->f;
    }
    if (a->is_signed) return greater ? b->i > a->i : b->i < a->i;
    return greater ? b->u > a->u : b->u < a->u;
}

void result_join(const struct rtune_problem *problem, uint64_t from,
                 const unsigned char piece[RESULT_BYTES], unsigned char total[RESULT_BYTES]) {
    const struct number before = load(problem->dtype, total);
    const struct number after = load(problem->dtype, piece);
    int64_t index;
    if (!replaces(problem, &before, &after)) return;
    memcpy(&index, piece + 8, sizeof index);
    index += (int64_t)from;
    memcpy(total, piece, 8);
    memcpy(total + 8, &index, sizeof index);
}
