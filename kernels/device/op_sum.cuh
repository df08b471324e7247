/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/op_sum.cuh: sum, asum, sumsq, dot, count_nonzero and prod, plain. Integers are summed
 * exactly: narrow ones by dot products in 32 bits within a trip, which no trip overflows, then in the
 * result's width. Floats are summed in f32 or f64, one lane for each element of a packet.
 */
#ifndef RTUNE_DEVICE_OP_SUM_CUH
#define RTUNE_DEVICE_OP_SUM_CUH

#include "kernels/device/types.cuh"

namespace rtune {

enum class term_kind : int { value, magnitude, square, product };

/* A float term, rounded once (no contraction: compiled with --fmad=false). */
template <term_kind TERM, class C> RTUNE_DEVICE C float_term(C x) {
    return TERM == term_kind::magnitude ? magnitude(x) : TERM == term_kind::square ? x * x : x;
}
template <term_kind TERM, class C> RTUNE_DEVICE C float_term(C x, C y) { return x * y; }

/* A sum of squares may be stored as a norm: the root of the sum before it is rounded to R. */
template <class R, term_kind TERM, class A> RTUNE_DEVICE void store_sum(const args &a, A x) {
    R *out = static_cast<R *>(a.out);
    if constexpr (number<R>::is_float) {
        if constexpr (TERM == term_kind::square) {
            if (a.flags & root_flag) x = root(x);
        }
        R r = float_result<R, A>(x);
        if (a.flags & accumulate_flag) r = float_result<R, A>(to_compute(*out) + to_compute(r));
        *out = r;
    } else {
        if (a.flags & accumulate_flag) x = A(x + A(*out));
        *out = R(x);
    }
}

/* ---- floats ---------------------------------------------------------------------------------- */

template <class T, class R, term_kind TERM>
struct float_sum : folded<float_sum<T, R, TERM>, T, T, typename number<T>::compute,
                          typename number<T>::compute, true, TERM == term_kind::product ? 2 : 1> {
    using acc = typename number<T>::compute;
    RTUNE_DEVICE static T pad() { return from_bits<T>(0); }
    RTUNE_DEVICE static acc start() { return 0; }
    RTUNE_DEVICE static acc lift(T x) { return float_term<TERM>(to_compute(x)); }
    RTUNE_DEVICE static acc lift(T x, T y) {
        return float_term<TERM>(to_compute(x), to_compute(y));
    }
    RTUNE_DEVICE static acc merge(acc a, acc b) { return a + b; }
    RTUNE_DEVICE static acc join(acc a, acc b) { return a + b; }
    RTUNE_DEVICE static acc identity() { return 0; }
    RTUNE_DEVICE static acc combine(acc a, acc b) { return a + b; }
    RTUNE_DEVICE static void store(const args &a, acc x) { store_sum<R, TERM>(a, x); }
};

/* ---- integers -------------------------------------------------------------------------------- */

/* Terms of the elements of one 32-bit word of narrow ones, summed. PART is wide enough for a trip. */
template <class T, term_kind TERM, class PART, u64 SIZE = sizeof(T)> struct word_terms;
template <class T, term_kind TERM, class PART> struct word_terms<T, TERM, PART, 1> {
    using part = u32;
    RTUNE_DEVICE static u32 dot(u32 a, u32 b) {
        return number<T>::is_signed ? dot4_signed(a, b, 0) : dot4_unsigned(a, b, 0);
    }
    RTUNE_DEVICE static u32 lift(u32 w) {
        if (TERM == term_kind::magnitude) return dot(w, signs4(w) | 0x01010101u);
        if (TERM == term_kind::square) return dot(w, w);
        return dot(w, 0x01010101u);
    }
    RTUNE_DEVICE static u32 lift(u32 w, u32 v) { return dot(w, v); }
};
template <class T, term_kind TERM, class PART> struct word_terms<T, TERM, PART, 2> {
    static constexpr bool linear = TERM == term_kind::value || TERM == term_kind::magnitude;
    template <bool LINEAR, class P> struct choose { using type = P; };
    template <class P> struct choose<true, P> { using type = u32; };
    using part = typename choose<linear, PART>::type; /* products of halves take 32 bits each */
    RTUNE_DEVICE static part product(u32 a, u32 b) {
        if (number<T>::is_signed) return part(i64(i32(i16(a)) * i32(i16(b))));
        return part(u64(a & 0xffff) * (b & 0xffff));
    }
    RTUNE_DEVICE static part lift(u32 w) {
        if constexpr (linear) {
            const u32 ones = TERM == term_kind::magnitude ? signs2(w) | 0x0101u : 0x0101u;
            return number<T>::is_signed ? dot2_signed(w, ones, 0) : dot2_unsigned(w, ones, 0);
        } else {
            return lift(w, w);
        }
    }
    RTUNE_DEVICE static part lift(u32 w, u32 v) {
        return product(w, v) + product(w >> 16, v >> 16);
    }
};
/* 4 and 8 bytes: an element is a unit. */
template <class T, term_kind TERM, class PART> struct element_terms {
    using part = PART;
    using compute = typename number<T>::compute;
    RTUNE_DEVICE static PART lift(T x) {
        if (TERM == term_kind::square) return lift(x, x);
        if (TERM == term_kind::magnitude && number<T>::is_signed && x < T(0))
            return PART(typename number<T>::word(0) - typename number<T>::word(x));
        return PART(compute(x)); /* with the sign, modulo 2^bits */
    }
    RTUNE_DEVICE static PART lift(T x, T y) { return PART(compute(x)) * PART(compute(y)); }
};
template <class T, term_kind TERM, class PART>
struct word_terms<T, TERM, PART, 4> : element_terms<T, TERM, PART> {};
template <class T, term_kind TERM, class PART>
struct word_terms<T, TERM, PART, 8> : element_terms<T, TERM, PART> {};

template <class T> struct sum_unit { using type = u32; };
template <> struct sum_unit<i32> { using type = i32; };
template <> struct sum_unit<i64> { using type = i64; };
template <> struct sum_unit<u64> { using type = u64; };

/* A packed finish: native results wrap in the upper half of the word, so any total is right; wide ones
 * must fit above the count (rtune_finish_admits). */
template <class A> struct packing {
    static constexpr u32 packed_bits = sizeof(A) == 4 ? 32 : 51;
    RTUNE_DEVICE static u64 pack(A x) { return u64(x); }
    RTUNE_DEVICE static A unpack(u64 x) { return A(x); }
};

template <class T, class R, term_kind TERM, class A, class Terms>
struct integer_sum
    : folded<integer_sum<T, R, TERM, A, Terms>, T, typename sum_unit<T>::type, typename Terms::part, A,
             false, TERM == term_kind::product ? 2 : 1> {
    using acc = A;
    using part = typename Terms::part;
    static constexpr u32 packed_bits = packing<A>::packed_bits;
    static constexpr redux_kind redux = redux_kind::add;
    RTUNE_DEVICE static u64 pack(A x) { return packing<A>::pack(x); }
    RTUNE_DEVICE static A unpack(u64 x) { return packing<A>::unpack(x); }
    RTUNE_DEVICE static T pad() { return T(0); }
    RTUNE_DEVICE static A start() { return 0; }
    template <class... U> RTUNE_DEVICE static part lift(U... u) { return Terms::lift(u...); }
    RTUNE_DEVICE static part merge(part a, part b) { return a + b; }
    /* A narrow part is signed as the input is, unless its terms are none below 0. */
    RTUNE_DEVICE static A widen(part x) {
        constexpr bool is_signed = number<T>::is_signed && TERM != term_kind::magnitude;
        if constexpr (sizeof(part) == 4 && is_signed) return A(i64(i32(x)));
        return A(x);
    }
    RTUNE_DEVICE static A join(A a, A b) { return a + b; }
    RTUNE_DEVICE static A identity() { return 0; }
    RTUNE_DEVICE static A combine(A a, A b) { return a + b; }
    RTUNE_DEVICE static void store(const args &a, A x) { store_sum<R, TERM>(a, x); }
};

template <class T, class R, term_kind TERM, bool FLOAT = number<T>::is_float> struct sum_op {
    using word = typename bits_of<sizeof(R) == 8 ? 8 : 4>::type;
    using type = integer_sum<T, R, TERM, word, word_terms<T, TERM, word>>;
};
template <class T, class R, term_kind TERM> struct sum_op<T, R, TERM, true> {
    using type = float_sum<T, R, TERM>;
};
template <class T, class R> using op_sum = typename sum_op<T, R, term_kind::value>::type;
template <class T, class R> using op_asum = typename sum_op<T, R, term_kind::magnitude>::type;
template <class T, class R> using op_sumsq = typename sum_op<T, R, term_kind::square>::type;
template <class T, class R> using op_dot = typename sum_op<T, R, term_kind::product>::type;

/* ---- counting -------------------------------------------------------------------------------- */

/* A bit for each element of a unit that is not zero: the highest of the element. Floats without their
 * sign, so that -0 is zero. */
template <class T, u64 SIZE = sizeof(T)> struct nonzero;
template <class T> struct nonzero<T, 1> {
    using unit = u32;
    static constexpr u32 all = 0x80808080u;
    RTUNE_DEVICE static u32 bits(u32 w) { return ((w & ~all) + ~all) | w; }
    RTUNE_DEVICE static u32 count(u32 b) { return dot4_unsigned(b >> 7 & 0x01010101u, 0x01010101u, 0); }
};
template <class T> struct nonzero<T, 2> {
    using unit = u32;
    static constexpr u32 all = 0x80008000u;
    RTUNE_DEVICE static u32 bits(u32 w) {
        const u32 low = (w & ~all) + ~all;
        return number<T>::is_float ? low : low | w;
    }
    RTUNE_DEVICE static u32 count(u32 b) { return (b >> 31) + (b >> 15 & 1); }
};
template <class T> struct nonzero<T, 4> {
    using unit = u32;
    static constexpr u32 all = 1;
    RTUNE_DEVICE static u32 bits(u32 w) { return (number<T>::is_float ? w << 1 : w) != 0; }
    RTUNE_DEVICE static u32 count(u32 b) { return b; }
};
template <class T> struct nonzero<T, 8> {
    using unit = u64;
    static constexpr u32 all = 1;
    RTUNE_DEVICE static u32 bits(u64 w) { return (number<T>::is_float ? w << 1 : w) != 0; }
    RTUNE_DEVICE static u32 count(u32 b) { return b; }
};

template <class T, class R>
struct op_count_nonzero
    : folded<op_count_nonzero<T, R>, T, typename nonzero<T>::unit, u32, u64, false>,
      packing<u64> {
    using N = nonzero<T>;
    using acc = u64;
    using packing<u64>::packed_bits;
    static constexpr redux_kind redux = redux_kind::add;
    RTUNE_DEVICE static T pad() { return from_bits<T>(0); }
    RTUNE_DEVICE static u64 start() { return 0; }
    RTUNE_DEVICE static u32 lift(typename N::unit w) { return N::count(N::bits(w)); }
    RTUNE_DEVICE static u32 merge(u32 a, u32 b) { return a + b; }
    RTUNE_DEVICE static u64 join(u64 a, u64 b) { return a + b; }
    RTUNE_DEVICE static u64 identity() { return 0; }
    RTUNE_DEVICE static u64 combine(u64 a, u64 b) { return a + b; }
    RTUNE_DEVICE static void store(const args &a, u64 x) { store_sum<u64, term_kind::value>(a, x); }
};

/* ---- products -------------------------------------------------------------------------------- */

template <class T, class R>
struct float_prod : folded<float_prod<T, R>, T, T, typename number<T>::compute,
                           typename number<T>::compute, true> {
    using acc = typename number<T>::compute;
    RTUNE_DEVICE static T pad() { return from_bits<T>(number<T>::one); }
    RTUNE_DEVICE static acc start() { return 1; }
    RTUNE_DEVICE static acc lift(T x) { return to_compute(x); }
    RTUNE_DEVICE static acc merge(acc a, acc b) { return a * b; }
    RTUNE_DEVICE static acc join(acc a, acc b) { return a * b; }
    RTUNE_DEVICE static acc identity() { return 1; }
    RTUNE_DEVICE static acc combine(acc a, acc b) { return a * b; }
    RTUNE_DEVICE static void store(const args &a, acc x) {
        R *out = static_cast<R *>(a.out);
        R r = float_result<R, acc>(x);
        if (a.flags & accumulate_flag) r = float_result<R, acc>(to_compute(*out) * to_compute(r));
        *out = r;
    }
};

/* The elements of a unit multiplied. 4 bytes or 2 halves have an exact product of 32 bits, two such one
 * of 64. */
template <class T, class A, u64 SIZE = sizeof(T)> struct unit_product {
    using unit = T;
    RTUNE_DEVICE static A lift(T x) { return A(typename number<T>::compute(x)); }
};
template <class T> RTUNE_DEVICE typename number<T>::compute byte_of(u32 w, u32 k) {
    if constexpr (number<T>::is_signed) return T(w >> 8 * k);
    else return unsigned_byte(w, k);
}
template <class T> RTUNE_DEVICE typename number<T>::compute word_product(u32 w) {
    using C = typename number<T>::compute;
    if constexpr (sizeof(T) == 1)
        return C((byte_of<T>(w, 0) * byte_of<T>(w, 1)) * (byte_of<T>(w, 2) * byte_of<T>(w, 3)));
    else return C(C(T(w)) * C(T(w >> 16)));
}
template <class T, class A> struct narrow_product {
    using C = typename number<T>::compute;
    using unit = u64;
    RTUNE_DEVICE static A lift(u64 d) {
        return A(C(word_product<T>(u32(d)))) * A(C(word_product<T>(u32(d >> 32))));
    }
};
template <class T, class A> struct unit_product<T, A, 1> : narrow_product<T, A> {};
template <class T, class A> struct unit_product<T, A, 2> : narrow_product<T, A> {};

template <class T, class R, class A>
struct integer_prod
    : folded<integer_prod<T, R, A>, T, typename unit_product<T, A>::unit, A, A, false> {
    using acc = A;
    RTUNE_DEVICE static T pad() { return T(1); }
    RTUNE_DEVICE static A start() { return 1; }
    RTUNE_DEVICE static A lift(typename unit_product<T, A>::unit x) {
        return unit_product<T, A>::lift(x);
    }
    RTUNE_DEVICE static A merge(A a, A b) { return a * b; }
    RTUNE_DEVICE static A join(A a, A b) { return a * b; }
    RTUNE_DEVICE static A identity() { return 1; }
    RTUNE_DEVICE static A combine(A a, A b) { return a * b; }
    RTUNE_DEVICE static void store(const args &a, A x) {
        R *out = static_cast<R *>(a.out);
        if (a.flags & accumulate_flag) x = x * A(*out);
        *out = R(x);
    }
};
template <class T, class R, bool FLOAT = number<T>::is_float> struct prod_op {
    using type = integer_prod<T, R, typename bits_of<sizeof(R) == 8 ? 8 : 4>::type>;
};
template <class T, class R> struct prod_op<T, R, true> { using type = float_prod<T, R>; };
template <class T, class R> using op_prod = typename prod_op<T, R>::type;

} // namespace rtune

#endif
