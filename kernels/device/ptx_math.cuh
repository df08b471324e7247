/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/ptx_math.cuh: arithmetic that C++ has no operator for: bits of floats, conversions of f16
 * and bf16, dot products of bytes and halves, packed minimum and maximum. The host bodies follow the same
 * definitions in plain integers.
 *
 * Words of packed values: 4 bytes, or 2 halves, the first element lowest.
 */
#ifndef RTUNE_DEVICE_PTX_MATH_CUH
#define RTUNE_DEVICE_PTX_MATH_CUH

#include "kernels/device/ptx.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define RTUNE_SM80 1
#else
#define RTUNE_SM80 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RTUNE_SM90 1
#else
#define RTUNE_SM90 0
#endif

namespace rtune {

/* Has the machine f64 units for more than a few lanes (CUDA C++ Programming Guide, throughput of arithmetic
 * instructions: 32 or 64 results of f64 a clock, elsewhere 1 or 2)? Hosts have. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
constexpr bool fast_f64 = true;
#else
constexpr bool fast_f64 = false;
#endif

/* ---- bits ------------------------------------------------------------------------------------ */

#if RTUNE_ON_DEVICE
RTUNE_DEVICE u32 f32_bits(f32 x) { return __float_as_uint(x); }
RTUNE_DEVICE f32 f32_of(u32 bits) { return __uint_as_float(bits); }
RTUNE_DEVICE u64 f64_bits(f64 x) { return u64(__double_as_longlong(x)); }
RTUNE_DEVICE f64 f64_of(u64 bits) { return __longlong_as_double(i64(bits)); }
/* a * b + c, rounded once. */
RTUNE_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
RTUNE_DEVICE f64 fma(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
/* To the nearest integer, ties to even; |x| < 2^63. */
RTUNE_DEVICE i64 round_even(f64 x) { return __double2ll_rn(x); }
/* |x|: a modifier of most instructions that use it. */
RTUNE_DEVICE f32 magnitude(f32 x) { return ::fabsf(x); } /* NVRTC has no __builtin_fabsf */
RTUNE_DEVICE f64 magnitude(f64 x) { return ::fabs(x); }
/* Correctly rounded: sqrt.rn, whatever the compiler's options for sqrt are. */
RTUNE_DEVICE f32 root(f32 x) { return __fsqrt_rn(x); }
RTUNE_DEVICE f64 root(f64 x) { return __dsqrt_rn(x); }
#else
template <class To, class From> RTUNE_DEVICE To same_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "sizes");
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
RTUNE_DEVICE u32 f32_bits(f32 x) { return same_bits<u32>(x); }
RTUNE_DEVICE f32 f32_of(u32 bits) { return same_bits<f32>(bits); }
RTUNE_DEVICE u64 f64_bits(f64 x) { return same_bits<u64>(x); }
RTUNE_DEVICE f64 f64_of(u64 bits) { return same_bits<f64>(bits); }
RTUNE_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
RTUNE_DEVICE f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
RTUNE_DEVICE i64 round_even(f64 x) { return i64(__builtin_rint(x)); }
RTUNE_DEVICE f32 magnitude(f32 x) { return __builtin_fabsf(x); }
RTUNE_DEVICE f64 magnitude(f64 x) { return __builtin_fabs(x); }
RTUNE_DEVICE f32 root(f32 x) { return __builtin_sqrtf(x); }
RTUNE_DEVICE f64 root(f64 x) { return __builtin_sqrt(x); }
#endif

/* ---- f16 and bf16 ---------------------------------------------------------------------------- */

RTUNE_DEVICE f32 to_f32(bf16 x) { return f32_of(u32(x.bits) << 16); }
/* Nearest, ties to even. NaN becomes some NaN. */
RTUNE_DEVICE bf16 to_bf16(f32 x) {
    const u32 bits = f32_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {u16(0x7fc0)};
    return {u16((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}
#if RTUNE_ON_DEVICE
RTUNE_DEVICE f32 to_f32(f16 x) {
    f32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
RTUNE_DEVICE f16 to_f16(f32 x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
#else
RTUNE_DEVICE f32 to_f32(f16 x) {
    const u32 sign = u32(x.bits & 0x8000) << 16, rest = x.bits & 0x7fff;
    if (rest >= 0x7c00) return f32_of(sign | 0x7f800000u | (rest & 0x3ff) << 13);
    const f32 magnitude = f32_of(rest << 13) * f32_of((254u - 15) << 23); /* exact, subnormals too */
    return f32_of(sign | f32_bits(magnitude));
}
RTUNE_DEVICE f16 to_f16(f32 x) {
    const u32 bits = f32_bits(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return {u16(sign | 0x7e00)};
    if (rest >= 0x47800000u) return {u16(sign | 0x7c00)}; /* 2^16 and more */
    if (rest < 0x38800000u) { /* below 2^-14: the addition rounds to a multiple of 2^-24 */
        const f32 y = f32_of(rest) + 0.5f;
        return {u16(sign | (f32_bits(y) - f32_bits(0.5f)))};
    }
    return {u16(sign | ((rest - (112u << 23) + 0xfffu + (rest >> 13 & 1)) >> 13))};
}
#endif

/* ---- dot products ---------------------------------------------------------------------------- */

#if RTUNE_ON_DEVICE
/* c + sum of products of the bytes of a and b; of both halves of a and the two lower bytes of b. */
RTUNE_DEVICE u32 dot4_signed(u32 a, u32 b, u32 c) { return u32(__dp4a(i32(a), i32(b), i32(c))); }
RTUNE_DEVICE u32 dot4_unsigned(u32 a, u32 b, u32 c) { return __dp4a(a, b, c); }
RTUNE_DEVICE u32 dot2_signed(u32 a, u32 b, u32 c) {
    u32 d;
    asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
RTUNE_DEVICE u32 dot2_unsigned(u32 a, u32 b, u32 c) {
    u32 d;
    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
/* Byte k in one instruction. */
RTUNE_DEVICE u32 unsigned_byte(u32 a, u32 k) { return __byte_perm(a, 0, 0x4440 + k); }
/* 0xff for each negative byte; the lower two bytes 0xff for each negative half. */
RTUNE_DEVICE u32 signs4(u32 a) {
    u32 d;
    asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(d) : "r"(a));
    return d;
}
RTUNE_DEVICE u32 signs2(u32 a) {
    u32 d;
    asm("prmt.b32 %0, %1, 0, 0x44b9;" : "=r"(d) : "r"(a));
    return d;
}
#else
RTUNE_DEVICE u32 dot4_signed(u32 a, u32 b, u32 c) {
    for (u32 k = 0; k < 32; k += 8) c += u32(i32(i8(a >> k)) * i32(i8(b >> k)));
    return c;
}
RTUNE_DEVICE u32 dot4_unsigned(u32 a, u32 b, u32 c) {
    for (u32 k = 0; k < 32; k += 8) c += (a >> k & 255) * (b >> k & 255);
    return c;
}
RTUNE_DEVICE u32 dot2_signed(u32 a, u32 b, u32 c) {
    return c + u32(i32(i16(a)) * i32(i8(b))) + u32(i32(i16(a >> 16)) * i32(i8(b >> 8)));
}
RTUNE_DEVICE u32 dot2_unsigned(u32 a, u32 b, u32 c) {
    return c + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
RTUNE_DEVICE u32 unsigned_byte(u32 a, u32 k) { return a >> 8 * k & 255; }
RTUNE_DEVICE u32 signs4(u32 a) { return (a >> 7 & 0x01010101u) * 255u; }
RTUNE_DEVICE u32 signs2(u32 a) { return ((a >> 15 & 1) | (a >> 31) << 8) * 255u; }
#endif

/* ---- minimum and maximum of floats ----------------------------------------------------------- */

/* IEEE 754-2019 minimumNumber, maximumNumber: NaN only if both are; minimum, maximum: NaN if either is.
 * -0 < +0: equal operands have equal bits unless they are zeros, so the sign bits decide there. */
RTUNE_DEVICE f64 zero_min(f64 a, f64 b) { return f64_of(f64_bits(a) | f64_bits(b)); }
RTUNE_DEVICE f64 zero_max(f64 a, f64 b) { return f64_of(f64_bits(a) & f64_bits(b)); }
template <class F> RTUNE_DEVICE F plain_min_number(F a, F b) {
    if (a != a) return b;
    if (b != b) return a;
    return a < b ? a : b < a ? b : zero_min(a, b);
}
template <class F> RTUNE_DEVICE F plain_max_number(F a, F b) {
    if (a != a) return b;
    if (b != b) return a;
    return a > b ? a : b > a ? b : zero_max(a, b);
}
RTUNE_DEVICE f64 min_number(f64 a, f64 b) { return plain_min_number(a, b); }
RTUNE_DEVICE f64 max_number(f64 a, f64 b) { return plain_max_number(a, b); }
RTUNE_DEVICE f64 min_nan(f64 a, f64 b) { return a != a ? a : b != b ? b : min_number(a, b); }
RTUNE_DEVICE f64 max_nan(f64 a, f64 b) { return a != a ? a : b != b ? b : max_number(a, b); }

#if RTUNE_ON_DEVICE
#define RTUNE_F32_MATH(name, instruction)                                                          \
    RTUNE_DEVICE f32 name(f32 a, f32 b) {                                                          \
        f32 r;                                                                                     \
        asm(instruction ".f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));                            \
        return r;                                                                                  \
    }
RTUNE_F32_MATH(min_number, "min")
RTUNE_F32_MATH(max_number, "max")
#if RTUNE_SM80
RTUNE_F32_MATH(min_nan, "min.NaN")
RTUNE_F32_MATH(max_nan, "max.NaN")
#endif
#undef RTUNE_F32_MATH
#else
RTUNE_DEVICE f32 zero_min(f32 a, f32 b) { return f32_of(f32_bits(a) | f32_bits(b)); }
RTUNE_DEVICE f32 zero_max(f32 a, f32 b) { return f32_of(f32_bits(a) & f32_bits(b)); }
RTUNE_DEVICE f32 min_number(f32 a, f32 b) { return plain_min_number(a, b); }
RTUNE_DEVICE f32 max_number(f32 a, f32 b) { return plain_max_number(a, b); }
#endif
#if !RTUNE_SM80
RTUNE_DEVICE f32 min_nan(f32 a, f32 b) { return a != a ? a : b != b ? b : min_number(a, b); }
RTUNE_DEVICE f32 max_nan(f32 a, f32 b) { return a != a ? a : b != b ? b : max_number(a, b); }
#endif

/* ---- packed minimum and maximum -------------------------------------------------------------- */

/* Of each half, as i16, u16, f16 or bf16 (NaN rule and zeros as above). */
template <class T, bool MAX, bool NAN_WINS> struct halves;

/* One half after the other, where there is no instruction. */
template <class F> RTUNE_DEVICE u32 each_half(u32 a, u32 b, F pick) {
    return u32(pick(u16(a), u16(b))) | u32(pick(u16(a >> 16), u16(b >> 16))) << 16;
}
template <bool MAX, bool NAN_WINS, class F> RTUNE_DEVICE F float_pick(F a, F b) {
    if (NAN_WINS) return MAX ? max_nan(a, b) : min_nan(a, b);
    return MAX ? max_number(a, b) : min_number(a, b);
}

#define RTUNE_HALVES_ASM(instruction)                                                              \
    u32 d;                                                                                         \
    asm(instruction " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));                                    \
    return d
template <bool MAX, bool N> struct halves<i16, MAX, N> {
    RTUNE_DEVICE static u32 pick(u32 a, u32 b) {
#if RTUNE_SM90
        if (MAX) { RTUNE_HALVES_ASM("max.s16x2"); }
        RTUNE_HALVES_ASM("min.s16x2");
#else
        return each_half(a, b, [](u16 x, u16 y) {
            return (i16(x) < i16(y)) == MAX ? y : x;
        });
#endif
    }
};
template <bool MAX, bool N> struct halves<u16, MAX, N> {
    RTUNE_DEVICE static u32 pick(u32 a, u32 b) {
#if RTUNE_SM90
        if (MAX) { RTUNE_HALVES_ASM("max.u16x2"); }
        RTUNE_HALVES_ASM("min.u16x2");
#else
        return each_half(a, b, [](u16 x, u16 y) { return (x < y) == MAX ? y : x; });
#endif
    }
};
template <bool MAX, bool NAN_WINS> struct halves<f16, MAX, NAN_WINS> {
    RTUNE_DEVICE static u32 pick(u32 a, u32 b) {
#if RTUNE_SM80
        if (MAX && NAN_WINS) { RTUNE_HALVES_ASM("max.NaN.f16x2"); }
        if (MAX) { RTUNE_HALVES_ASM("max.f16x2"); }
        if (NAN_WINS) { RTUNE_HALVES_ASM("min.NaN.f16x2"); }
        RTUNE_HALVES_ASM("min.f16x2");
#else
        return each_half(a, b, [](u16 x, u16 y) {
            return to_f16(float_pick<MAX, NAN_WINS>(to_f32(f16{x}), to_f32(f16{y}))).bits;
        });
#endif
    }
};
template <bool MAX, bool NAN_WINS> struct halves<bf16, MAX, NAN_WINS> {
    RTUNE_DEVICE static u32 pick(u32 a, u32 b) {
#if RTUNE_SM80
        if (MAX && NAN_WINS) { RTUNE_HALVES_ASM("max.NaN.bf16x2"); }
        if (MAX) { RTUNE_HALVES_ASM("max.bf16x2"); }
        if (NAN_WINS) { RTUNE_HALVES_ASM("min.NaN.bf16x2"); }
        RTUNE_HALVES_ASM("min.bf16x2");
#else
        return each_half(a, b, [](u16 x, u16 y) {
            return to_bf16(float_pick<MAX, NAN_WINS>(to_f32(bf16{x}), to_f32(bf16{y}))).bits;
        });
#endif
    }
};
#undef RTUNE_HALVES_ASM

/* ---- reductions of a warp in one instruction ------------------------------------------------- */

enum class redux_kind : int { none, add, min_signed, max_signed, min_unsigned, max_unsigned, and_bits,
                              or_bits, xor_bits };
/* Is there one on this machine? */
#if RTUNE_SM80
constexpr bool has_redux = true;
#define RTUNE_REDUX(kind, instruction)                                                             \
    if (KIND == redux_kind::kind)                                                                  \
    asm volatile("redux.sync." instruction " %0, %1, 0xffffffff;" : "=r"(d) : "r"(x))
template <redux_kind KIND> RTUNE_DEVICE u32 redux(u32 x) {
    u32 d = x;
    RTUNE_REDUX(add, "add.s32");
    RTUNE_REDUX(min_signed, "min.s32");
    RTUNE_REDUX(max_signed, "max.s32");
    RTUNE_REDUX(min_unsigned, "min.u32");
    RTUNE_REDUX(max_unsigned, "max.u32");
    RTUNE_REDUX(and_bits, "and.b32");
    RTUNE_REDUX(or_bits, "or.b32");
    RTUNE_REDUX(xor_bits, "xor.b32");
    return d;
}
#undef RTUNE_REDUX
#else
constexpr bool has_redux = false;
template <redux_kind KIND> RTUNE_DEVICE u32 redux(u32 x) { return x; }
#endif

} // namespace rtune

#endif
