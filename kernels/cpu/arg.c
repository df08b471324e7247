/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arg.c: argmin and argmax. The extreme key of a block is found at full speed; only where a block
 * beats all before it, its first element with such a value is looked for, while it is in the cache.
 *
 * A partial is the order key of an element and its index. Keys of one rank are ties: zeros of both
 * signs, and all NaNs.
 */
#include "base/num.h"
#include "kernels/cpu/cpu_int.h"

enum { BLOCK_BYTES = 16384 };

static uint64_t type_bits(const struct rtune_cpu_kernel *kernel) { return 8 * kernel->element; }

/* Least and greatest key of a type; those of bytes are unsigned. */
static int64_t least_key(const struct rtune_cpu_kernel *kernel) {
    return kernel->element == 1 ? 0 : INT64_MIN >> (64 - type_bits(kernel));
}
static int64_t greatest_key(const struct rtune_cpu_kernel *kernel) {
    return kernel->element == 1 ? UINT8_MAX : INT64_MAX >> (64 - type_bits(kernel));
}

/* All keys that tie with key: {first, last}. */
static void tie_range(const struct rtune_cpu_kernel *kernel, int64_t key, int64_t range[2]) {
    const uint64_t nans = rtune_float_layouts[kernel->dtype].nans;
    range[0] = range[1] = key;
    if (nans == 0) return;
    const int64_t zero = rtune_cpu_key(kernel, 0);
    const int64_t minus = rtune_cpu_key(kernel, UINT64_C(1) << (type_bits(kernel) - 1));
    const int64_t low = least_key(kernel) + 2 * (int64_t)nans;
    const int64_t high = greatest_key(kernel) - 2 * (int64_t)nans;
    if (key == zero || key == minus) {
        range[0] = zero < minus ? zero : minus;
        range[1] = zero < minus ? minus : zero;
    } else if (kernel->nan_rule == RTUNE_NAN_PROPAGATE && key < low) {
        range[0] = least_key(kernel), range[1] = low - 1;
    } else if (kernel->nan_rule == RTUNE_NAN_IGNORE && key > high) {
        range[0] = high + 1, range[1] = greatest_key(kernel);
    }
}

void rtune_cpu_arg_reduce(const struct rtune_cpu_kernel *kernel,
                          const struct rtune_cpu_input *input, union rtune_cpu_value *out) {
    const uint64_t block = BLOCK_BYTES / kernel->element;
    int64_t best[2] = {INT64_MAX, INT64_MAX};
    for (uint64_t done = 0; done < input->n; done += block) {
        struct rtune_cpu_input part = *input;
        union rtune_cpu_value extreme;
        part.in = (const unsigned char *)input->in + done * kernel->element;
        part.n = rtune_min_u64(block, input->n - done);
        kernel->extreme(kernel, &part, &extreme);
        if (done > 0 && extreme.key[0] >= best[0]) continue;
        tie_range(kernel, extreme.key[0], best);
        const uint64_t at = kernel->find(kernel, part.in, part.n, best);
        uint64_t bits = 0;
        memcpy(&bits, (const unsigned char *)part.in + at * kernel->element, kernel->element);
        out->key[0] = rtune_cpu_key(kernel, bits);
        out->key[1] = (int64_t)(input->first + done + at);
    }
}

void rtune_cpu_arg_combine(const struct rtune_cpu_kernel *kernel, union rtune_cpu_value *a,
                           const union rtune_cpu_value *b) {
    int64_t ties[2];
    tie_range(kernel, a->key[0], ties);
    if (b->key[0] < ties[0]) *a = *b;
}

void rtune_cpu_arg_finish(const struct rtune_cpu_kernel *kernel, union rtune_cpu_value *value,
                          uint64_t n) {
    (void)n;
    value->bits = rtune_cpu_unkey(kernel, value->key[0]);
}
