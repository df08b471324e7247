/* SPDX-License-Identifier: Apache-2.0 */
/* data.c: data by a counter; cancelling terms are pairs, shuffled, and one that remains. */
#include "tests/accuracy/data.h"

#include "tests/reference/element.h"

#include "base/rng.h"

#include <math.h>

static const struct {
    const char *name;
    double condition; /* 0: as it comes */
} sets[ACCURACY_DATA_COUNT] = {
    [ACCURACY_UNIFORM] = {"uniform", 0}, [ACCURACY_NORMAL] = {"normal", 0},
    [ACCURACY_1E4] = {"1e4", 1e4},       [ACCURACY_1E8] = {"1e8", 1e8},
    [ACCURACY_1E12] = {"1e12", 1e12},
};

const char *accuracy_data_name(enum accuracy_data data) { return sets[data].name; }

static double uniform(uint64_t seed, uint64_t i) {
    return (double)(rtune_rng_at(seed, i) >> 11) * 0x1p-53;
}

/* Nearly normal: the sum of four. */
static double normal(uint64_t i) {
    double sum = -2;
    for (uint64_t k = 0; k < 4; k++)
        sum += uniform(10 + k, i);
    return sum;
}

static void swap(enum rtune_dtype dtype, void *data, uint64_t i, uint64_t j) {
    const uint64_t a = element_get(dtype, data, i), b = element_get(dtype, data, j);
    element_put(dtype, data, i, b);
    element_put(dtype, data, j, a);
}

static void fill_cancelling(double condition, enum rtune_dtype dtype, uint64_t n, void *x,
                            void *y) {
    const uint64_t sign = (element_mask(dtype) >> 1) + 1;
    struct rtune_rng rng = {4, 0};
    double magnitude = 0;
    uint64_t i = 0;
    for (; i + 2 < n; i += 2) {
        const double size = ldexp(1, (int)(rtune_rng_at(1, i) % 8));
        const uint64_t bits = element_round(dtype, size * (1 + uniform(2, i)));
        const uint64_t factor = element_round(dtype, 0.5 + uniform(3, i));
        element_put(dtype, x, i, bits);
        element_put(dtype, x, i + 1, bits ^ sign);
        element_put(dtype, y, i, factor);
        element_put(dtype, y, i + 1, factor);
        magnitude += 2 * element_value(dtype, bits);
    }
    for (; i < n; i++) {
        element_put(dtype, x, i, element_round(dtype, i + 1 < n ? 0 : magnitude / condition));
        element_put(dtype, y, i, element_round(dtype, 1));
    }
    for (i = n - 1; i > 0; i--) {
        const uint64_t j = rtune_rng_below(&rng, i + 1);
        swap(dtype, x, i, j);
        swap(dtype, y, i, j);
    }
}

void accuracy_fill(enum accuracy_data data, enum rtune_dtype dtype, uint64_t n, void *x, void *y) {
    if (sets[data].condition > 0) {
        fill_cancelling(sets[data].condition, dtype, n, x, y);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        const double value = data == ACCURACY_UNIFORM ? uniform(1, i) : normal(i);
        const double other = data == ACCURACY_UNIFORM ? uniform(2, i) : normal(i + n);
        element_put(dtype, x, i, element_round(dtype, value));
        element_put(dtype, y, i, element_round(dtype, other));
    }
}
