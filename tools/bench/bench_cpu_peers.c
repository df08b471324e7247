/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cpu_peers.c: `#pragma omp parallel for simd reduction` for each op, and `declare reduction`
 * for what OpenMP has no operator for, of i32, i64, f32 and f64.
 */
#include "tools/bench/bench_cpu.h"

#include <string.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

/* s, of a type and with a first value, over all i, by a step that OpenMP may reorder. */
#define FOLD(name, type, total, first, op, step)                                                   \
    static void name(const void *in, const void *in2, uint64_t n, void *out) {                     \
        const type *x = in, *y = in2;                                                              \
        total s = first;                                                                           \
        (void)y;                                                                                   \
        PRAGMA(omp parallel for simd reduction(op : s))                                            \
        for (uint64_t i = 0; i < n; i++)                                                           \
            s = step;                                                                              \
        memcpy(out, &s, sizeof s);                                                                 \
    }

#define MINMAX(name, type)                                                                         \
    static void name(const void *in, const void *in2, uint64_t n, void *out) {                     \
        const type *x = in;                                                                        \
        type least = x[0], most = x[0];                                                            \
        (void)in2;                                                                                 \
        PRAGMA(omp parallel for simd reduction(min : least) reduction(max : most))                 \
        for (uint64_t i = 0; i < n; i++) {                                                         \
            least = x[i] < least ? x[i] : least;                                                   \
            most = x[i] > most ? x[i] : most;                                                      \
        }                                                                                          \
        memcpy(out, (const type[2]){least, most}, 2 * sizeof least);                               \
    }

/* The first of equals, whatever the order in which threads are joined. */
#define INDEX(name, type, better)                                                                  \
    struct name##_best {                                                                           \
        type value;                                                                                \
        uint64_t index;                                                                            \
    };                                                                                             \
    static struct name##_best name##_join(struct name##_best a, struct name##_best b) {            \
        const bool takes = b.value better a.value || (b.value == a.value && b.index < a.index);    \
        return takes ? b : a;                                                                      \
    }                                                                                              \
    PRAGMA(omp declare reduction(name                                                              \
                                 : struct name##_best                                              \
                                 : omp_out = name##_join(omp_out, omp_in))                         \
               initializer(omp_priv = omp_orig))                                                   \
    static void name(const void *in, const void *in2, uint64_t n, void *out) {                     \
        const type *x = in;                                                                        \
        struct name##_best s = {x[0], 0};                                                          \
        (void)in2;                                                                                 \
        PRAGMA(omp parallel for reduction(name : s))                                               \
        for (uint64_t i = 0; i < n; i++)                                                           \
            if (x[i] better s.value) s.value = x[i], s.index = i;                                  \
        memcpy(out, &s, sizeof s);                                                                 \
    }

#define OF_NUMBERS(t, type, total)                                                                 \
    FOLD(sum_##t, type, total, 0, +, s + x[i])                                                     \
    FOLD(sumsq_##t, type, total, 0, +, s + (total)x[i] * x[i])                                     \
    FOLD(asum_##t, type, total, 0, +, s + (x[i] < 0 ? -(total)x[i] : x[i]))                        \
    FOLD(dot_##t, type, total, 0, +, s + (total)x[i] * y[i])                                       \
    FOLD(prod_##t, type, total, 1, *, s *x[i])                                                     \
    FOLD(min_##t, type, type, x[0], min, x[i] < s ? x[i] : s)                                      \
    FOLD(max_##t, type, type, x[0], max, x[i] > s ? x[i] : s)                                      \
    MINMAX(minmax_##t, type)                                                                       \
    INDEX(argmin_##t, type, <)                                                                     \
    INDEX(argmax_##t, type, >)                                                                     \
    FOLD(any_##t, type, int32_t, 0, |, s | (x[i] != 0))                                            \
    FOLD(all_##t, type, int32_t, 1, &, s &(x[i] != 0))                                             \
    FOLD(count_##t, type, uint64_t, 0, +, s + (x[i] != 0))
#define OF_BITS(t, type)                                                                           \
    FOLD(band_##t, type, type, -1, &, s &x[i])                                                     \
    FOLD(bor_##t, type, type, 0, |, s | x[i])                                                      \
    FOLD(bxor_##t, type, type, 0, ^, s ^ x[i])

OF_NUMBERS(i32, int32_t, int64_t)
OF_NUMBERS(i64, int64_t, int64_t)
OF_NUMBERS(f32, float, float)
OF_NUMBERS(f64, double, double)
OF_BITS(i32, int32_t)
OF_BITS(i64, int64_t)

#define NUMBERS(t)                                                                                 \
    [RTUNE_SUM] = sum_##t, [RTUNE_SUMSQ] = sumsq_##t, [RTUNE_ASUM] = asum_##t,                     \
    [RTUNE_DOT] = dot_##t, [RTUNE_PROD] = prod_##t, [RTUNE_MIN] = min_##t, [RTUNE_MAX] = max_##t,  \
    [RTUNE_MINMAX] = minmax_##t, [RTUNE_ARGMIN] = argmin_##t, [RTUNE_ARGMAX] = argmax_##t,         \
    [RTUNE_ANY] = any_##t, [RTUNE_ALL] = all_##t, [RTUNE_COUNT_NONZERO] = count_##t
#define BITS(t) [RTUNE_BAND] = band_##t, [RTUNE_BOR] = bor_##t, [RTUNE_BXOR] = bxor_##t

static bench_peer_fn *const peers[RTUNE_DTYPE_COUNT][RTUNE_OP_COUNT] = {
    [RTUNE_I32] = {NUMBERS(i32), BITS(i32)},
    [RTUNE_I64] = {NUMBERS(i64), BITS(i64)},
    [RTUNE_F32] = {NUMBERS(f32)},
    [RTUNE_F64] = {NUMBERS(f64)},
};

bench_peer_fn *bench_peer_find(enum rtune_op op, enum rtune_dtype dtype) {
    return peers[dtype][op];
}

bool bench_peer_has(enum rtune_dtype dtype) { return peers[dtype][RTUNE_SUM] != NULL; }

void bench_read_all(const void *in, const void *in2, uint64_t n, void *out) {
    typedef uint64_t vector __attribute__((vector_size(64), aligned(8)));
    const vector *x = in;
    const uint64_t trips = n / (8 * sizeof(vector));
    uint64_t bits = 0;
    (void)in2;
#pragma omp parallel reduction(| : bits)
    {
        vector a = {0}, b = {0}, c = {0}, d = {0};
#pragma omp for schedule(static)
        for (uint64_t i = 0; i < trips; i++) {
            const vector *p = x + 8 * i;
            a |= p[0] | p[4], b |= p[1] | p[5], c |= p[2] | p[6], d |= p[3] | p[7];
        }
        a |= b | c | d;
        for (int k = 0; k < 8; k++)
            bits |= a[k];
    }
    memcpy(out, &bits, sizeof bits);
}
