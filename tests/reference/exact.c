/* SPDX-License-Identifier: Apache-2.0 */
/* exact.c: shift, add, carry. */
#include "tests/reference/exact.h"

#include <math.h>
#include <stdbool.h>

__extension__ typedef unsigned __int128 wide;

/* |x| = significand x 2^*exponent. */
static uint64_t take_apart(double x, int *exponent) {
    const double fraction = frexp(fabs(x), exponent);
    *exponent -= 53;
    return (uint64_t)ldexp(fraction, 53);
}

/* sum += or -= value x 2^exponent. */
static void add(struct exact *sum, wide value, int exponent, bool negative) {
    const unsigned at = (unsigned)(exponent + EXACT_POINT), shift = at % 64;
    const uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64);
    const uint64_t parts[3] = {low << shift, shift ? high << shift | low >> (64 - shift) : high,
                               shift ? high >> (64 - shift) : 0};
    unsigned carry = negative;
    for (unsigned i = at / 64, k = 0; i < EXACT_LIMBS && (k < 3 || carry != negative); i++, k++) {
        const uint64_t part = k < 3 ? parts[k] : 0;
        const wide t = (wide)sum->limb[i] + (negative ? ~part : part) + carry;
        sum->limb[i] = (uint64_t)t;
        carry = (unsigned)(t >> 64);
    }
}

void exact_add(struct exact *sum, double x) {
    int exponent;
    const uint64_t significand = take_apart(x, &exponent);
    if (significand) add(sum, significand, exponent, x < 0);
}

void exact_add_product(struct exact *sum, double x, double y) {
    int ex, ey;
    const uint64_t sx = take_apart(x, &ex), sy = take_apart(y, &ey);
    if (sx && sy) add(sum, (wide)sx * sy, ex + ey, (x < 0) != (y < 0));
}

long double exact_value(const struct exact *sum) {
    struct exact magnitude = *sum;
    const bool negative = sum->limb[EXACT_LIMBS - 1] >> 63;
    unsigned carry = 1, top = EXACT_LIMBS;
    for (unsigned i = 0; i < EXACT_LIMBS && negative; i++) {
        magnitude.limb[i] = ~magnitude.limb[i] + carry;
        carry = carry && magnitude.limb[i] == 0;
    }
    while (top > 0 && magnitude.limb[top - 1] == 0)
        top--;
    if (top == 0) return 0;
    /* 128 bits from the leading one on, and a last bit for all that is below: rounded by one
     * addition of two long doubles, which are exact if those have 64 bits or more. */
    const uint64_t *limb = &magnitude.limb[top - 1];
    const unsigned shift = (unsigned)__builtin_clzll(limb[0]);
    const uint64_t next = top > 1 ? limb[-1] : 0, after = top > 2 ? limb[-2] : 0;
    const uint64_t high = shift ? limb[0] << shift | next >> (64 - shift) : limb[0];
    uint64_t low = shift ? next << shift | after >> (64 - shift) : next;
    bool more = shift && top > 2 ? after << shift != 0 : after != 0;
    for (unsigned i = 0; top > 3 && i < top - 3 && !more; i++)
        more = magnitude.limb[i] != 0;
    low |= more;
    const int exponent = (int)(top * 64) - (int)shift - 128 - EXACT_POINT;
    const long double value =
        ldexpl((long double)high, exponent + 64) + ldexpl((long double)low, exponent);
    return negative ? -value : value;
}

long double exact_distance(const struct exact *sum, double x) {
    struct exact rest = *sum;
    exact_add(&rest, -x);
    return fabsl(exact_value(&rest));
}
