/* SPDX-License-Identifier: Apache-2.0 */
/* data.c: data sets and guarded memory for the tests of the cpu kernels. */
#include "tests/cpu/data.h"

#include "base/parse.h"
#include "base/rng.h"
#include "tests/cpu/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int data_sets(enum rtune_dtype dtype) {
    return rtune_dtype_info(dtype)->is_float ? DATA_SET_COUNT : DATA_RANDOM + 1;
}

static double signed_unit(uint64_t bits) { return (double)(int64_t)bits * 0x1p-63; }

static bool is_order(enum rtune_op op) { return op >= RTUNE_MIN && op <= RTUNE_ARGMAX; }

/* Exact sums need small integers, exact products powers of two that mostly cancel. */
static double exact_element(enum rtune_op op, uint64_t bits) {
    static const double factors[] = {2.0, 0.5, -1.0, 1.0};
    if (op == RTUNE_PROD) return bits % 64 < 4 ? factors[bits % 64] : 1.0;
    if (is_order(op)) return signed_unit(bits) * 6e4;
    return (double)(bits % 17) - 8.0;
}

static double float_element(const struct rtune_problem *problem, enum data_set set, uint64_t bits) {
    const enum rtune_op op = problem->op;
    const uint64_t dice = bits >> 40;
    switch (set) {
    case DATA_RANDOM:
        if (op == RTUNE_PROD) return 1.0 + signed_unit(bits) * 1e-3;
        if ((is_order(op) || problem->mode == RTUNE_FIXED) && dice % 97 == 0)
            return dice & 1 ? INFINITY : -INFINITY;
        if (problem->mode == RTUNE_FIXED && dice % 89 == 0) return signed_unit(bits) * 3e18;
        return signed_unit(bits) * (dice % 5 ? 1.0 : 1000.0);
    case DATA_ZEROS:
        if (dice % 3 == 0) return dice & 8 ? 0.0 : -0.0;
        if (op == RTUNE_MIN || op == RTUNE_ARGMIN) return (double)(bits % 7);
        return op == RTUNE_MAX || op == RTUNE_ARGMAX ? -(double)(bits % 7) : 0.0;
    case DATA_NANS:
        if (dice % 5 == 0) return dice & 8 ? -(double)NAN : (double)NAN;
        return (double)(bits % 17) - 8.0;
    default:
        return exact_element(op, bits);
    }
}

/* Any bits, odd ones for products; and, for what counts and finds zeros, few bits. */
static uint64_t integer_element(const struct rtune_problem *problem, enum data_set set,
                                uint64_t bits) {
    if (set == DATA_RANDOM) return bits >> 40 & bits >> 48 & bits >> 56 & 7;
    return problem->op == RTUNE_PROD ? bits | 1 : bits;
}

void data_fill(const struct rtune_problem *problem, enum data_set set, uint64_t seed, void *out,
               uint64_t n) {
    const size_t size = rtune_dtype_size(problem->dtype);
    const bool is_float = rtune_dtype_info(problem->dtype)->is_float;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t bits = rtune_rng_at(seed, i);
        const uint64_t element =
            is_float ? encode_float(problem->dtype, (quad)float_element(problem, set, bits))
                     : integer_element(problem, set, bits);
        uint64_t kept = element;
        /* NaNs with a sign and a payload, which must not show. */
        if (is_float && set == DATA_NANS && bits >> 40 & 8 && is_nan_bits(problem->dtype, element))
            kept |= UINT64_C(1) << (8 * size - 1) | 1;
        memcpy((unsigned char *)out + i * size, &kept, size); /* the low bytes */
    }
}

/* ---- guarded memory -------------------------------------------------------------------------- */

void guarded_make(struct guarded *guarded, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (size + page - 1) / page * page;
    guarded->map_size = inner + 2 * page;
    guarded->map =
        mmap(NULL, guarded->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guarded->map == MAP_FAILED || mprotect(guarded->map, page, PROT_NONE) != 0 ||
        mprotect(guarded->map + page + inner, page, PROT_NONE) != 0) {
        perror("guarded memory");
        exit(1);
    }
    guarded->start = guarded->map + page;
    guarded->end = guarded->start + inner;
}

void guarded_free(struct guarded *guarded) { munmap(guarded->map, guarded->map_size); }

uint64_t test_seed(void) {
    const char *text = getenv("RTUNE_TEST_SEED");
    uint64_t seed = 20240607;
    if (text && rtune_parse_u64(text, 0, UINT64_MAX, &seed, NULL) != RTUNE_OK) {
        fprintf(stderr, "RTUNE_TEST_SEED: \"%s\" is not a number\n", text);
        exit(1);
    }
    printf("RTUNE_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}
