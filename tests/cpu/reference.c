/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c: data, plain loops and guarded memory for the tests of the cpu kernels. */
#include "tests/cpu/reference.h"

#include "base/parse.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- data ------------------------------------------------------------------------------------ */

static double signed_unit(uint64_t bits) { return (double)(int64_t)bits * 0x1p-63; }

/* Exact sums need small integers, exact products powers of two that mostly cancel. */
static double exact_element(enum rtune_op op, uint64_t bits) {
    static const double factors[] = {2.0, 0.5, -1.0, 1.0};
    if (op == RTUNE_SUM) return (double)(bits % 17) - 8.0;
    if (op == RTUNE_PROD) return bits % 64 < 4 ? factors[bits % 64] : 1.0;
    return signed_unit(bits) * 1e6;
}

static double float_element(enum rtune_op op, enum data_set set, uint64_t bits,
                            bool *negative_nan) {
    const uint64_t dice = bits >> 40;
    *negative_nan = false;
    switch (set) {
    case DATA_RANDOM:
        if (op == RTUNE_PROD) return 1.0 + signed_unit(bits) * 1e-3;
        if (op != RTUNE_SUM && dice % 97 == 0) return dice & 1 ? INFINITY : -INFINITY;
        return signed_unit(bits) * (dice % 5 ? 1.0 : 1000.0);
    case DATA_ZEROS:
        if (dice % 3 == 0) return dice & 8 ? 0.0 : -0.0;
        return op == RTUNE_MIN ? (double)(bits % 7) : op == RTUNE_MAX ? -(double)(bits % 7) : 0.0;
    case DATA_NANS:
        *negative_nan = dice & 8;
        return dice % 5 == 0 ? (double)NAN : (double)(bits % 17) - 8.0;
    default:
        return exact_element(op, bits);
    }
}

void data_fill(const struct rtune_problem *problem, enum data_set set, uint64_t seed, void *out,
               uint64_t n) {
    const size_t size = rtune_dtype_size(problem->dtype);
    const bool is_float = rtune_dtype_info(problem->dtype)->is_float;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t bits = rtune_rng_at(seed, i);
        unsigned char *at = (unsigned char *)out + i * size;
        if (!is_float) {
            const uint64_t odd = problem->op == RTUNE_PROD ? bits | 1 : bits;
            memcpy(at, &odd, size); /* the low bytes */
            continue;
        }
        bool negative_nan;
        const double x = float_element(problem->op, set, bits, &negative_nan);
        const double value = isnan(x) && negative_nan ? -x : x;
        const float narrow = (float)value;
        memcpy(at, size == 4 ? (const void *)&narrow : (const void *)&value, size);
    }
}

/* ---- references ------------------------------------------------------------------------------ */

static long double element(const struct rtune_problem *problem, const void *in, uint64_t i) {
    float narrow;
    double value;
    if (problem->dtype == RTUNE_F32) {
        memcpy(&narrow, (const char *)in + 4 * i, sizeof narrow);
        return narrow;
    }
    memcpy(&value, (const char *)in + 8 * i, sizeof value);
    return value;
}

static int64_t integer(const struct rtune_problem *problem, const void *in, uint64_t i) {
    int32_t narrow;
    int64_t value;
    if (problem->dtype == RTUNE_I32) {
        memcpy(&narrow, (const char *)in + 4 * i, sizeof narrow);
        return narrow;
    }
    memcpy(&value, (const char *)in + 8 * i, sizeof value);
    return value;
}

static bool below(long double a, long double b) {
    return a < b || (a == b && signbit(a) && !signbit(b));
}

/* b after a, by the rules of IEEE 754-2019 for minimum, maximum and their Number forms. */
static long double extreme(const struct rtune_problem *problem, long double a, long double b) {
    const bool propagate = problem->nan_rule == RTUNE_NAN_PROPAGATE;
    if (isnan(a)) return propagate ? a : b;
    if (isnan(b)) return propagate ? b : a;
    return (problem->op == RTUNE_MIN ? below(b, a) : below(a, b)) ? b : a;
}

static void store_float(const struct rtune_problem *problem, long double x,
                        union rtune_cpu_value *value) {
    const double full = (double)x;
    const float narrow = (float)x;
    value->bits = 0;
    if (isnan(x))
        value->bits = problem->dtype == RTUNE_F32 ? 0x7fc00000u : 0x7ff8000000000000u;
    else if (problem->dtype == RTUNE_F32)
        memcpy(value->bytes, &narrow, sizeof narrow);
    else
        memcpy(value->bytes, &full, sizeof full);
}

static struct expected float_reference(const struct rtune_problem *problem, enum data_set set,
                                       const void *in) {
    const long double unit = problem->dtype == RTUNE_F32 ? 0x1p-24L : 0x1p-53L;
    struct expected expected = {.tolerance = 0};
    long double total = problem->op == RTUNE_SUM    ? 0.0L
                        : problem->op == RTUNE_PROD ? 1.0L
                                                    : element(problem, in, 0);
    long double sizes = 0;
    for (uint64_t i = 0; i < problem->n; i++) {
        const long double x = element(problem, in, i);
        sizes += fabsl(x);
        if (problem->op == RTUNE_SUM)
            total += x;
        else if (problem->op == RTUNE_PROD)
            total *= x;
        else
            total = extreme(problem, total, x);
    }
    store_float(problem, total, &expected.value);
    if (set == DATA_RANDOM && problem->op == RTUNE_SUM)
        expected.tolerance = (double)(140 * unit * sizes);
    if (set == DATA_RANDOM && problem->op == RTUNE_PROD)
        expected.tolerance = (double)((problem->n + 4) * unit * fabsl(total));
    return expected;
}

struct expected reference(const struct rtune_problem *problem, enum data_set set, const void *in) {
    struct expected expected = {.tolerance = 0};
    if (rtune_dtype_info(problem->dtype)->is_float) return float_reference(problem, set, in);
    uint64_t total = problem->op == RTUNE_SUM    ? 0
                     : problem->op == RTUNE_PROD ? 1
                                                 : (uint64_t)integer(problem, in, 0);
    for (uint64_t i = 0; i < problem->n; i++) {
        const int64_t x = integer(problem, in, i);
        switch (problem->op) {
        case RTUNE_SUM:
            total += (uint64_t)x;
            break;
        case RTUNE_PROD:
            total *= (uint64_t)x;
            break;
        case RTUNE_MIN:
            total = x < (int64_t)total ? (uint64_t)x : total;
            break;
        default:
            total = x > (int64_t)total ? (uint64_t)x : total;
            break;
        }
    }
    expected.value.bits = total;
    if (rtune_result_size(problem) == 4) expected.value.bits &= UINT32_MAX;
    return expected;
}

bool result_matches(const struct rtune_problem *problem, const struct expected *expected,
                    const union rtune_cpu_value *got) {
    const size_t size = rtune_result_size(problem);
    if (expected->tolerance == 0 || isnan(expected->tolerance))
        return memcmp(expected->value.bytes, got->bytes, size) == 0;
    const long double want = element(problem, expected->value.bytes, 0);
    return fabsl(element(problem, got->bytes, 0) - want) <= (long double)expected->tolerance;
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
