/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/op_modes.cuh: sum, asum, sumsq and dot of floats in the modes kahan (compensated) and fixed
 * (fixed-point). The mode reproducible has a cascade of its own: leaves.cuh.
 */
#ifndef RTUNE_DEVICE_OP_MODES_CUH
#define RTUNE_DEVICE_OP_MODES_CUH

#include "kernels/device/op_sum.cuh"

namespace rtune {

/* What the two modes share: T elements, one or two inputs, folded one element after the other. D has
 * add(state, lane, x) or add(state, lane, x, y). */
template <class D, class T, term_kind TERM> struct sequential {
    using in = T;
    static constexpr u32 inputs = TERM == term_kind::product ? 2 : 1, packed_bits = 0;
    static constexpr bool ordered = false, repeats = false, own_warp = false;
    static constexpr redux_kind redux = redux_kind::none;
    RTUNE_DEVICE static T pad() { return from_bits<T>(0); }
    template <class S> RTUNE_DEVICE static void edge(S &s, const ends<T> &e) {
        D::add(s, 0, e.first);
        D::add(s, 0, e.last);
    }
    template <class S> RTUNE_DEVICE static void edge(S &s, const ends<T> &e, const ends<T> &f) {
        D::add(s, 0, e.first, f.first);
        D::add(s, 0, e.last, f.last);
    }
};

/* ---- kahan ----------------------------------------------------------------------------------- */

/* s + c is the sum; c is what the additions to s lost (Neumaier 1974; TwoSum of Knuth, TAOCP 2, 4.2.2,
 * which needs no comparison; TwoProd by fused multiply-add). */
template <class C> struct alignas(2 * sizeof(C)) compensated {
    C s, c;
};
template <class C> RTUNE_DEVICE void two_sum(compensated<C> &a, C x) {
    const C s = a.s + x, t = s - a.s;
    a.c = a.c + ((a.s - (s - t)) + (x - t));
    a.s = s;
}

template <class T, class R, term_kind TERM>
struct kahan : sequential<kahan<T, R, TERM>, T, TERM> {
    using C = typename number<T>::compute;
    using acc = compensated<C>;
    static constexpr u32 lanes = packet<T>::count;
    struct state {
        acc lane[lanes];
    };
    RTUNE_DEVICE static state begin(const args &) {
        state s;
#pragma unroll
        for (u32 j = 0; j < lanes; j++) s.lane[j] = identity();
        return s;
    }
    RTUNE_DEVICE static void add(state &s, u32 j, T x) {
        const C y = to_compute(x);
        if (TERM == term_kind::square) add_product(s.lane[j], y, y);
        else two_sum(s.lane[j], float_term<TERM>(y));
    }
    RTUNE_DEVICE static void add(state &s, u32 j, T x, T y) {
        add_product(s.lane[j], to_compute(x), to_compute(y));
    }
    RTUNE_DEVICE static void add_product(acc &a, C x, C y) {
        const C p = x * y;
        two_sum(a, p);
        a.c = a.c + fma(x, y, -p);
    }
    template <u32 V> RTUNE_DEVICE static void fold(state &s, const packet<T> (&v)[V]) {
#pragma unroll
        for (u32 k = 0; k < V; k++) {
#pragma unroll
            for (u32 j = 0; j < lanes; j++) add(s, j, v[k].e[j]);
        }
    }
    template <u32 V>
    RTUNE_DEVICE static void fold(state &s, const packet<T> (&v)[V], const packet<T> (&w)[V]) {
#pragma unroll
        for (u32 k = 0; k < V; k++) {
#pragma unroll
            for (u32 j = 0; j < lanes; j++) add(s, j, v[k].e[j], w[k].e[j]);
        }
    }
    RTUNE_DEVICE static acc end(state &s) { return tree<by_combine<kahan>>(s.lane); }
    RTUNE_DEVICE static acc identity() { return {0, 0}; }
    RTUNE_DEVICE static acc combine(acc a, acc b) {
        two_sum(a, b.s);
        a.c = a.c + b.c;
        return a;
    }
    /* Past an infinity the compensation is NaN, and the sum says it all. */
    RTUNE_DEVICE static void store(const args &a, acc x) {
        store_sum<R, TERM>(a, x.c - x.c == 0 ? x.s + x.c : x.s);
    }
};

/* f16 and bf16: their terms are exact in f64, and a plain sum there errs less than a compensated one in
 * f32, in fewer instructions. */
template <class T> RTUNE_DEVICE f64 to_f64(T x) { return f64(to_compute(x)); }
/* The sign goes before the conversion, which takes it along for nothing. */
template <term_kind TERM, class T> RTUNE_DEVICE f64 f64_term(T x) {
    if (TERM == term_kind::magnitude) return f64(magnitude(to_compute(x)));
    return float_term<TERM>(to_f64(x));
}
template <class T, class R, term_kind TERM>
struct f64_sum : folded<f64_sum<T, R, TERM>, T, T, f64, f64, false,
                        TERM == term_kind::product ? 2 : 1> {
    using acc = f64;
    RTUNE_DEVICE static T pad() { return from_bits<T>(0); }
    RTUNE_DEVICE static f64 start() { return 0; }
    RTUNE_DEVICE static f64 lift(T x) { return f64_term<TERM>(x); }
    RTUNE_DEVICE static f64 lift(T x, T y) { return to_f64(x) * to_f64(y); }
    RTUNE_DEVICE static f64 merge(f64 a, f64 b) { return a + b; }
    RTUNE_DEVICE static f64 join(f64 a, f64 b) { return a + b; }
    RTUNE_DEVICE static f64 identity() { return 0; }
    RTUNE_DEVICE static f64 combine(f64 a, f64 b) { return a + b; }
    RTUNE_DEVICE static void store(const args &a, f64 x) { store_sum<R, TERM>(a, R(x)); }
};
template <class T, class R, term_kind TERM, u64 SIZE = sizeof(T)> struct kahan_op {
    using type = kahan<T, R, TERM>;
};
template <class T, class R, term_kind TERM> struct kahan_op<T, R, TERM, 2> {
    using type = f64_sum<T, R, TERM>;
};
template <class T, class R> using op_sum_kahan = typename kahan_op<T, R, term_kind::value>::type;
template <class T, class R>
using op_asum_kahan = typename kahan_op<T, R, term_kind::magnitude>::type;
template <class T, class R> using op_sumsq_kahan = typename kahan_op<T, R, term_kind::square>::type;
template <class T, class R> using op_dot_kahan = typename kahan_op<T, R, term_kind::product>::type;

/* ---- fixed ----------------------------------------------------------------------------------- */

/* term x scale, rounded to an integer once, while it is below 2^51: fma into the binade whose unit is 1.
 * The sum of such words is the sum of the integers and of as many constants. What is not below shows in
 * the upper half of the word, and is done again with care. */
struct alignas(16) fixed_acc {
    u64 sum;
    u32 flags, unused;
};
constexpr u64 fixed_magic = 0x4338000000000000ull; /* 1.5 x 2^52 */

RTUNE_DEVICE fixed_acc fixed_careful(f64 t, f64 scale) {
    const f64 p = t * scale;
    if (p != p) return {0, fixed_nan, 0};
    if (p >= 9223372036854775808.0) return {~u64(0) >> 1, fixed_range, 0};
    if (p < -9223372036854775808.0) return {u64(1) << 63, fixed_range, 0};
    if (magnitude(p) < 4503599627370496.0) { /* 2^52: below, one rounding */
        const f64 big = p < 0 ? -4503599627370496.0 : 4503599627370496.0;
        return {u64(round_even(fma(t, scale, big) - big)), 0, 0};
    }
    return {u64(round_even(p)), 0, 0};
}

template <class T, class R, term_kind TERM>
struct fixed : sequential<fixed<T, R, TERM>, T, TERM> {
    using acc = fixed_acc;
    struct state {
        f64 scale;
        u64 sum;
        u32 flags;
    };
    RTUNE_DEVICE static state begin(const args &a) { return {a.scale, 0, 0}; }
    RTUNE_DEVICE static f64 term(T x) { return f64_term<TERM>(x); }
    RTUNE_DEVICE static f64 term(T x, T y) { return to_f64(x) * to_f64(y); }
    template <class... Elements>
    RTUNE_DEVICE static void add(state &s, u32, Elements... e) { /* of the ends */
        const acc q = fixed_careful(term(e...), s.scale);
        s.sum += q.sum;
        s.flags |= q.flags;
    }
    /* The words of one vector, and whether one of them is not below 2^51. */
    template <class... Packs> RTUNE_DEVICE static bool vector(state &s, const Packs &...v) {
        constexpr u32 count = packet<T>::count;
        u64 sum = 0;
        u32 strange = 0;
#pragma unroll
        for (u32 j = 0; j < count; j++) {
            const u64 bits = f64_bits(fma(term(v.e[j]...), s.scale, f64_of(fixed_magic)));
            sum += bits;
            strange |= u32(bits >> 32) ^ u32(fixed_magic >> 32);
        }
        if (strange >> 20) return true;
        s.sum += sum - count * fixed_magic;
        return false;
    }
    /* One body for all the vectors that need it: less code. */
    template <u32 V, class... Packs>
    RTUNE_DEVICE static void careful(state &s, u32 which, const Packs &...v) {
#pragma unroll 1
        while (which) {
            u32 k = 0;
            while (!(which >> k & 1)) k++;
            which &= which - 1;
            carefully(s, chosen<V>(k, v)...);
        }
    }
    template <u32 V>
    RTUNE_DEVICE static packet<T> chosen(u32 k, const packet<T> (&v)[V]) {
        packet<T> p = v[0];
#pragma unroll
        for (u32 i = 1; i < V; i++) {
#pragma unroll
            for (u32 j = 0; j < 4; j++) p.w[j] = k == i ? v[i].w[j] : p.w[j];
        }
        return p;
    }
    template <class... Packs> RTUNE_DEVICE static void carefully(state &s, const Packs &...v) {
#pragma unroll
        for (u32 j = 0; j < packet<T>::count; j++) add(s, 0, v.e[j]...);
    }
    template <u32 V> RTUNE_DEVICE static void fold(state &s, const packet<T> (&v)[V]) {
        u32 strange = 0;
#pragma unroll
        for (u32 k = 0; k < V; k++) strange |= u32(vector(s, v[k])) << k;
        if (strange) careful<V>(s, strange, v);
    }
    template <u32 V>
    RTUNE_DEVICE static void fold(state &s, const packet<T> (&v)[V], const packet<T> (&w)[V]) {
        u32 strange = 0;
#pragma unroll
        for (u32 k = 0; k < V; k++) strange |= u32(vector(s, v[k], w[k])) << k;
        if (strange) careful<V>(s, strange, v, w);
    }
    RTUNE_DEVICE static acc end(state &s) { return {s.sum, s.flags, 0}; }
    RTUNE_DEVICE static acc identity() { return {0, 0, 0}; }
    RTUNE_DEVICE static acc combine(acc a, acc b) { return {a.sum + b.sum, a.flags | b.flags, 0}; }
    RTUNE_DEVICE static void store(const args &a, acc x) { /* struct rtune_fixed */
        u64 *out = static_cast<u64 *>(a.out);
        if (a.flags & accumulate_flag) {
            x.sum += out[0];
            x.flags |= u32(out[1]);
        }
        out[0] = x.sum;
        out[1] = x.flags;
    }
};
template <class T, class R> using op_sum_fixed = fixed<T, R, term_kind::value>;
template <class T, class R> using op_asum_fixed = fixed<T, R, term_kind::magnitude>;
template <class T, class R> using op_sumsq_fixed = fixed<T, R, term_kind::square>;
template <class T, class R> using op_dot_fixed = fixed<T, R, term_kind::product>;

} // namespace rtune

#endif
