/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd.h: private to kernels/cpu. Registers of the instruction set that this translation unit is
 * compiled for, as GCC and clang vector types, and the few operations that those have no operator
 * for.
 *
 * A logical vector is 64 bytes everywhere: SIMD_PIECES registers.
 */
#ifndef RTUNE_KERNELS_CPU_SIMD_H
#define RTUNE_KERNELS_CPU_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SIMD_AVX512 1
#define SIMD_AVX2 0
#define SIMD_BYTES 64
#elif defined(__AVX2__)
#define SIMD_AVX512 0
#define SIMD_AVX2 1
#define SIMD_BYTES 32
#else
#define SIMD_AVX512 0
#define SIMD_AVX2 0
#define SIMD_BYTES 16
#endif
#if SIMD_AVX512 || SIMD_AVX2
#include <immintrin.h>
#endif

enum { SIMD_PIECES = 64 / SIMD_BYTES };

typedef float simd_f32 __attribute__((vector_size(SIMD_BYTES)));
typedef double simd_f64 __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t simd_i32 __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t simd_i64 __attribute__((vector_size(SIMD_BYTES)));
typedef uint32_t simd_u32 __attribute__((vector_size(SIMD_BYTES)));
typedef uint64_t simd_u64 __attribute__((vector_size(SIMD_BYTES)));

/* Memory is asked for this far ahead of the loads: about what arrives from main memory during one
 * access of it; hardware prefetchers alone stop at the end of a page. Nothing faults, so there is
 * no need to stop at the end of the input. */
enum { SIMD_AHEAD = 4096 };
#define SIMD_PREFETCH(p)                                                                           \
    do {                                                                                           \
        __builtin_prefetch((const void *)((uintptr_t)(p) + SIMD_AHEAD));                           \
        __asm__ volatile("" : : : "memory"); /* stays between the loads before and after it */     \
    } while (0)

/* x has been loaded into a register, before any later prefetch. Else compilers load it anew for
 * each use, and bunch the prefetches: either costs up to a fifth of the bandwidth. */
#if defined(__x86_64__)
#define SIMD_LOADED(x) __asm__ volatile("" : "+v"(x) : : "memory")
#elif defined(__aarch64__)
#define SIMD_LOADED(x) __asm__ volatile("" : "+w"(x) : : "memory")
#else
#define SIMD_LOADED(x) (void)(x)
#endif

/* Two sums or products over the two halves of 64-bit lanes. */
struct simd_halves {
    simd_u64 low, high;
};

/* Functions would pass registers by value across an ABI that depends on the instruction set:
 * macros. Signed minimum and maximum. */
#if SIMD_AVX512
#define SIMD_MIN_I32(a, b) ((simd_i32)_mm512_min_epi32((__m512i)(a), (__m512i)(b)))
#define SIMD_MAX_I32(a, b) ((simd_i32)_mm512_max_epi32((__m512i)(a), (__m512i)(b)))
#define SIMD_MIN_I64(a, b) ((simd_i64)_mm512_min_epi64((__m512i)(a), (__m512i)(b)))
#define SIMD_MAX_I64(a, b) ((simd_i64)_mm512_max_epi64((__m512i)(a), (__m512i)(b)))
#elif SIMD_AVX2
#define SIMD_MIN_I32(a, b) ((simd_i32)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define SIMD_MAX_I32(a, b) ((simd_i32)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define SIMD_PICK_I64(mask, a, b)                                                                  \
    ((simd_i64)_mm256_blendv_epi8((__m256i)(b), (__m256i)(a), (__m256i)(mask)))
#define SIMD_MIN_I64(a, b) SIMD_PICK_I64((b) > (a), a, b)
#define SIMD_MAX_I64(a, b) SIMD_PICK_I64((a) > (b), a, b)
#else
#define SIMD_PICK(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define SIMD_MIN_I32(a, b) SIMD_PICK((b) > (a), a, b)
#define SIMD_MAX_I32(a, b) SIMD_PICK((a) > (b), a, b)
#define SIMD_MIN_I64(a, b) SIMD_PICK((b) > (a), a, b)
#define SIMD_MAX_I64(a, b) SIMD_PICK((a) > (b), a, b)
#endif

/* All ones where x is negative. Only AVX-512 shifts 64-bit lanes arithmetically; only there is a
 * compare dearer than a shift. */
#define SIMD_SIGN_I32(x) ((x) >> 31)
#if SIMD_AVX512
#define SIMD_SIGN_I64(x) ((x) >> 63)
#else
#define SIMD_SIGN_I64(x) ((simd_i64)((x) < 0))
#endif

/* EACH_n(M) expands M(0) ... M(n - 1): accumulators need names to be kept in registers. */
#define EACH_1(M) M(0)
#define EACH_2(M) EACH_1(M) M(1)
#define EACH_4(M) EACH_2(M) M(2) M(3)
#define EACH_8(M) EACH_4(M) M(4) M(5) M(6) M(7)
#define EACH_16(M) EACH_8(M) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define EACH_32(M)                                                                                 \
    EACH_16(M)                                                                                     \
    M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)

/* SIMD_EACH_v: over the registers of v logical vectors. */
#if SIMD_BYTES == 64
#define SIMD_EACH_1 EACH_1
#define SIMD_EACH_2 EACH_2
#define SIMD_EACH_4 EACH_4
#define SIMD_EACH_8 EACH_8
#elif SIMD_BYTES == 32
#define SIMD_EACH_1 EACH_2
#define SIMD_EACH_2 EACH_4
#define SIMD_EACH_4 EACH_8
#define SIMD_EACH_8 EACH_16
#else
#define SIMD_EACH_1 EACH_4
#define SIMD_EACH_2 EACH_8
#define SIMD_EACH_4 EACH_16
#define SIMD_EACH_8 EACH_32
#endif

#endif /* RTUNE_KERNELS_CPU_SIMD_H */
