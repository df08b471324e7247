/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd.h: private to kernels/cpu. Registers of the instruction set that this translation unit is
 * compiled for, as GCC and clang vector types, and the few operations that those have no operator
 * for.
 *
 * A logical vector is 64 bytes everywhere: SIMD_PIECES registers.
 *
 * Functions would pass registers by value across an ABI that depends on the instruction set:
 * macros.
 */
#ifndef RTUNE_KERNELS_CPU_SIMD_H
#define RTUNE_KERNELS_CPU_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SIMD_AVX512 1
#define SIMD_AVX2 0
#define SIMD_SSE2 0
#define SIMD_BYTES 64
#elif defined(__AVX2__)
#define SIMD_AVX512 0
#define SIMD_AVX2 1
#define SIMD_SSE2 0
#define SIMD_BYTES 32
#else
#define SIMD_AVX512 0
#define SIMD_AVX2 0
#if defined(__SSE2__)
#define SIMD_SSE2 1
#else
#define SIMD_SSE2 0
#endif
#define SIMD_BYTES 16
#endif
#if SIMD_AVX512 || SIMD_AVX2 || SIMD_SSE2
#include <immintrin.h>
#endif

enum { SIMD_PIECES = 64 / SIMD_BYTES };

#define SIMD_VECTOR(type, name) typedef type name __attribute__((vector_size(SIMD_BYTES)))
SIMD_VECTOR(float, simd_f32);
SIMD_VECTOR(double, simd_f64);
SIMD_VECTOR(int8_t, simd_i8);
SIMD_VECTOR(int16_t, simd_i16);
SIMD_VECTOR(int32_t, simd_i32);
SIMD_VECTOR(int64_t, simd_i64);
SIMD_VECTOR(uint8_t, simd_u8);
SIMD_VECTOR(uint16_t, simd_u16);
SIMD_VECTOR(uint32_t, simd_u32);
SIMD_VECTOR(uint64_t, simd_u64);

/* Memory is asked for this far ahead of the loads: about what arrives from main memory during one
 * access of it; hardware prefetchers alone stop at the end of a page. Nothing faults, so there is
 * no need to stop at the end of the input. */
enum { SIMD_AHEAD = 4096 };
#define SIMD_PREFETCH_AT(p, ahead)                                                                 \
    do {                                                                                           \
        __builtin_prefetch((const void *)((uintptr_t)(p) + (ahead)));                              \
        __asm__ volatile("" : : : "memory"); /* stays between the loads before and after it */     \
    } while (0)
#define SIMD_PREFETCH(p) SIMD_PREFETCH_AT(p, SIMD_AHEAD)

/* x has been loaded into a register, before any later prefetch. Else compilers load it anew for
 * each use, and bunch the prefetches: either costs up to a fifth of the bandwidth. */
#if defined(__x86_64__)
#define SIMD_LOADED(x) __asm__ volatile("" : "+v"(x) : : "memory")
#elif defined(__aarch64__)
#define SIMD_LOADED(x) __asm__ volatile("" : "+w"(x) : : "memory")
#else
#define SIMD_LOADED(x) (void)(x)
#endif
#define SIMD_LOAD(type, x, p)                                                                      \
    type x;                                                                                        \
    memcpy(&x, p, sizeof x);                                                                       \
    SIMD_LOADED(x)

/* ---- integers -------------------------------------------------------------------------------- */

#define SIMD_LOW32 UINT64_C(0xffffffff)
#define SIMD_PICK(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))

/* SAD: sums of 8 bytes each, as 64 bits. MADD: sums of two products of signed 16-bit lanes each, as
 * 32 bits. MUL_U32, MUL_I32: 64-bit products of the low halves. MIN, MAX of U8 and of signed lanes.
 * ANY: is a bit set? */
#if SIMD_AVX512
#define SIMD_M(x) ((__m512i)(x))
#define SIMD_SAD(x) ((simd_u64)_mm512_sad_epu8(SIMD_M(x), _mm512_setzero_si512()))
#define SIMD_MADD(a, b) ((simd_i32)_mm512_madd_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MUL_U32(a, b) ((simd_u64)_mm512_mul_epu32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MUL_I32(a, b) ((simd_u64)_mm512_mul_epi32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_U8(a, b) ((simd_u8)_mm512_min_epu8(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_U8(a, b) ((simd_u8)_mm512_max_epu8(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_I16(a, b) ((simd_i16)_mm512_min_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_I16(a, b) ((simd_i16)_mm512_max_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_I32(a, b) ((simd_i32)_mm512_min_epi32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_I32(a, b) ((simd_i32)_mm512_max_epi32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_I64(a, b) ((simd_i64)_mm512_min_epi64(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_I64(a, b) ((simd_i64)_mm512_max_epi64(SIMD_M(a), SIMD_M(b)))
#define SIMD_ANY(x) (_mm512_test_epi64_mask(SIMD_M(x), SIMD_M(x)) != 0)
#elif SIMD_AVX2
#define SIMD_M(x) ((__m256i)(x))
#define SIMD_SAD(x) ((simd_u64)_mm256_sad_epu8(SIMD_M(x), _mm256_setzero_si256()))
#define SIMD_MADD(a, b) ((simd_i32)_mm256_madd_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MUL_U32(a, b) ((simd_u64)_mm256_mul_epu32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MUL_I32(a, b) ((simd_u64)_mm256_mul_epi32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_U8(a, b) ((simd_u8)_mm256_min_epu8(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_U8(a, b) ((simd_u8)_mm256_max_epu8(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_I16(a, b) ((simd_i16)_mm256_min_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_I16(a, b) ((simd_i16)_mm256_max_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_I32(a, b) ((simd_i32)_mm256_min_epi32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_I32(a, b) ((simd_i32)_mm256_max_epi32(SIMD_M(a), SIMD_M(b)))
#define SIMD_BLEND(mask, a, b) ((simd_i64)_mm256_blendv_epi8(SIMD_M(b), SIMD_M(a), SIMD_M(mask)))
#define SIMD_MIN_I64(a, b) SIMD_BLEND((b) > (a), a, b)
#define SIMD_MAX_I64(a, b) SIMD_BLEND((a) > (b), a, b)
#define SIMD_ANY(x) (!_mm256_testz_si256(SIMD_M(x), SIMD_M(x)))
#else
#if SIMD_SSE2
#define SIMD_M(x) ((__m128i)(x))
#define SIMD_SAD(x) ((simd_u64)_mm_sad_epu8(SIMD_M(x), _mm_setzero_si128()))
#define SIMD_MADD(a, b) ((simd_i32)_mm_madd_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MUL_U32(a, b) ((simd_u64)_mm_mul_epu32(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_U8(a, b) ((simd_u8)_mm_min_epu8(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_U8(a, b) ((simd_u8)_mm_max_epu8(SIMD_M(a), SIMD_M(b)))
#define SIMD_MIN_I16(a, b) ((simd_i16)_mm_min_epi16(SIMD_M(a), SIMD_M(b)))
#define SIMD_MAX_I16(a, b) ((simd_i16)_mm_max_epi16(SIMD_M(a), SIMD_M(b)))
#else
#define SIMD_SAD(x) SIMD_SUM_U16((simd_u16)((simd_u16)(x)&0xff) + ((simd_u16)(x) >> 8))
#define SIMD_LOW_I16(x) ((simd_i32)((simd_u32)(x) << 16) >> 16)
#define SIMD_MADD(a, b)                                                                            \
    (SIMD_LOW_I16(a) * SIMD_LOW_I16(b) + ((simd_i32)(a) >> 16) * ((simd_i32)(b) >> 16))
#define SIMD_MUL_U32(a, b) (((simd_u64)(a)&SIMD_LOW32) * ((simd_u64)(b)&SIMD_LOW32))
#define SIMD_MIN_U8(a, b) ((simd_u8)SIMD_PICK((simd_u8)((b) > (a)), a, b))
#define SIMD_MAX_U8(a, b) ((simd_u8)SIMD_PICK((simd_u8)((a) > (b)), a, b))
#define SIMD_MIN_I16(a, b) ((simd_i16)SIMD_PICK((simd_i16)((b) > (a)), a, b))
#define SIMD_MAX_I16(a, b) ((simd_i16)SIMD_PICK((simd_i16)((a) > (b)), a, b))
#endif
#define SIMD_SIGN_EXTEND(x) ((((simd_u64)(x)&SIMD_LOW32) ^ 0x80000000) - 0x80000000)
#define SIMD_MUL_I32(a, b) (SIMD_SIGN_EXTEND(a) * SIMD_SIGN_EXTEND(b))
#define SIMD_MIN_I32(a, b) SIMD_PICK((b) > (a), a, b)
#define SIMD_MAX_I32(a, b) SIMD_PICK((a) > (b), a, b)
#define SIMD_MIN_I64(a, b) SIMD_PICK((b) > (a), a, b)
#define SIMD_MAX_I64(a, b) SIMD_PICK((a) > (b), a, b)
#define SIMD_ANY(x) ((((simd_u64)(x))[0] | ((simd_u64)(x))[1]) != 0)
#endif

/* Sums of 16-bit (32-bit) lanes in 64 bits. */
#define SIMD_SUM_U16(x) SIMD_SUM_U32(((simd_u32)(x)&0xffff) + ((simd_u32)(x) >> 16))
#define SIMD_SUM_U32(x) (((simd_u64)(x)&SIMD_LOW32) + ((simd_u64)(x) >> 32))

/* All ones where x is negative. Only AVX-512 shifts 64-bit lanes arithmetically; only there is a
 * compare dearer than a shift. */
#define SIMD_SIGN_I16(x) ((x) >> 15)
#define SIMD_SIGN_I32(x) ((x) >> 31)
#if SIMD_AVX512
#define SIMD_SIGN_I64(x) ((x) >> 63)
#else
#define SIMD_SIGN_I64(x) ((simd_i64)((x) < 0))
#endif

/* ---- floats ---------------------------------------------------------------------------------- */

/* GET_from_to: declare x, a register of the elements at p in their order, widened exactly. */
#define SIMD_GET_f32_f32(x, p) SIMD_LOAD(simd_f32, x, p)
#define SIMD_GET_f64_f64(x, p) SIMD_LOAD(simd_f64, x, p)
#if SIMD_AVX2 || SIMD_SSE2
#define SIMD_LOAD_8(x, p)                                                                          \
    uint64_t x##b_;                                                                                \
    memcpy(&x##b_, p, sizeof x##b_);                                                               \
    __m128i x = _mm_cvtsi64_si128((long long)x##b_);                                               \
    SIMD_LOADED(x)
#endif
#if SIMD_AVX512
#define SIMD_GET_U16(x, p)                                                                         \
    SIMD_LOAD(__m256i, x##h_, p);                                                                  \
    const simd_u32 x = (simd_u32)_mm512_cvtepu16_epi32(x##h_)
#elif SIMD_AVX2
#define SIMD_GET_U16(x, p)                                                                         \
    SIMD_LOAD(__m128i, x##h_, p);                                                                  \
    const simd_u32 x = (simd_u32)_mm256_cvtepu16_epi32(x##h_)
#elif SIMD_SSE2
#define SIMD_GET_U16(x, p)                                                                         \
    SIMD_LOAD_8(x##h_, p);                                                                         \
    const simd_u32 x = (simd_u32)_mm_unpacklo_epi16(x##h_, _mm_setzero_si128())
#else
#define SIMD_GET_U16(x, p)                                                                         \
    uint16_t x##h_ __attribute__((vector_size(SIMD_BYTES / 2)));                                   \
    memcpy(&x##h_, p, sizeof x##h_);                                                               \
    const simd_u32 x = __builtin_convertvector(x##h_, simd_u32)
#endif
#define SIMD_GET_bf16_f32(x, p)                                                                    \
    SIMD_GET_U16(x##w_, p);                                                                        \
    const simd_f32 x = (simd_f32)(x##w_ << 16)
#if SIMD_AVX512
#define SIMD_GET_f16_f32(x, p)                                                                     \
    SIMD_LOAD(__m256i, x##h_, p);                                                                  \
    const simd_f32 x = (simd_f32)_mm512_cvtph_ps(x##h_)
#define SIMD_GET_f32_f64(x, p)                                                                     \
    SIMD_LOAD(__m256, x##s_, p);                                                                   \
    const simd_f64 x = (simd_f64)_mm512_cvtps_pd(x##s_)
#define SIMD_GET_f16_f64(x, p)                                                                     \
    SIMD_LOAD(__m128i, x##h_, p);                                                                  \
    const simd_f64 x = (simd_f64)_mm512_cvtps_pd(_mm256_cvtph_ps(x##h_))
#define SIMD_GET_bf16_f64(x, p)                                                                    \
    SIMD_LOAD(__m128i, x##h_, p);                                                                  \
    const __m256i x##s_ = _mm256_slli_epi32(_mm256_cvtepu16_epi32(x##h_), 16);                     \
    const simd_f64 x = (simd_f64)_mm512_cvtps_pd(_mm256_castsi256_ps(x##s_))
#elif SIMD_AVX2
#define SIMD_GET_f16_f32(x, p)                                                                     \
    SIMD_LOAD(__m128i, x##h_, p);                                                                  \
    const simd_f32 x = (simd_f32)_mm256_cvtph_ps(x##h_)
#define SIMD_GET_f32_f64(x, p)                                                                     \
    SIMD_LOAD(__m128, x##s_, p);                                                                   \
    const simd_f64 x = (simd_f64)_mm256_cvtps_pd(x##s_)
#define SIMD_GET_f16_f64(x, p)                                                                     \
    SIMD_LOAD_8(x##h_, p);                                                                         \
    const simd_f64 x = (simd_f64)_mm256_cvtps_pd(_mm_cvtph_ps(x##h_))
#define SIMD_GET_bf16_f64(x, p)                                                                    \
    SIMD_LOAD_8(x##h_, p);                                                                         \
    const __m128i x##s_ = _mm_slli_epi32(_mm_cvtepu16_epi32(x##h_), 16);                           \
    const simd_f64 x = (simd_f64)_mm256_cvtps_pd(_mm_castsi128_ps(x##s_))
#else
/* Exponent and fraction moved to their places and scaled by 2^112, with a correct exponent where
 * that of the half is all ones. */
#define SIMD_GET_f16_f32(x, p)                                                                     \
    SIMD_GET_U16(x##w_, p);                                                                        \
    const simd_u32 x##m_ = (x##w_ & 0x7fff) << 13;                                                 \
    const simd_u32 x##i_ = (simd_u32)((simd_i32)x##m_ > 0x0f7fffff) & 0x7f800000;                  \
    const simd_f32 x =                                                                             \
        (simd_f32)((simd_u32)((simd_f32)x##m_ * 0x1p112f) | x##i_ | (x##w_ & 0x8000) << 16)
#define SIMD_GET_f32_f64(x, p)                                                                     \
    float x##s_[2];                                                                                \
    memcpy(x##s_, p, sizeof x##s_);                                                                \
    const simd_f64 x = {x##s_[0], x##s_[1]}
#define SIMD_GET_f16_f64(x, p)                                                                     \
    uint32_t x##w_;                                                                                \
    memcpy(&x##w_, p, sizeof x##w_);                                                               \
    const simd_f64 x = {rtune_f16_value((uint16_t)x##w_), rtune_f16_value((uint16_t)(x##w_ >> 16))}
#define SIMD_GET_bf16_f64(x, p)                                                                    \
    uint32_t x##w_;                                                                                \
    memcpy(&x##w_, p, sizeof x##w_);                                                               \
    const simd_f64 x = {rtune_f32_value(x##w_ << 16), rtune_f32_value(x##w_ & 0xffff0000)}
#endif

/* FMA: a * b + c, rounded once. */
#if SIMD_AVX512
#define SIMD_FMA(a, b, c) ((simd_f64)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#elif SIMD_AVX2
#define SIMD_FMA(a, b, c) ((simd_f64)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#endif

/* ---- names for accumulators ------------------------------------------------------------------ */

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
