/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/types.cuh: what the ops must know of an element type, and how packets of elements are
 * folded into a thread's state.
 *
 * An op is a policy with
 *   in, inputs             element type; 1, or 2 for dot
 *   state, begin(args)     what a thread keeps while it reads
 *   fold(state, packets)   adds VECTORS packets of 16 bytes (a pair of arrays for dot)
 *   edge(state, e)         adds at most two single elements
 *   end(state) -> acc      the thread's partial: 4 to 16 bytes in words, trivially copyable
 *   identity(), combine()  of acc; associative and commutative up to rounding
 *   pad()                  an element that changes nothing
 *   store(args, acc)       the result, into the caller's memory
 * and, where they hold, packed_bits with pack() and unpack(), redux, ordered, repeats, own_warp with warp().
 */
#ifndef RTUNE_DEVICE_TYPES_CUH
#define RTUNE_DEVICE_TYPES_CUH

#include "kernels/device/ptx_math.cuh"

namespace rtune {

/* ---- element types --------------------------------------------------------------------------- */

template <u64 SIZE> struct bits_of;
template <> struct bits_of<1> { using type = u8; };
template <> struct bits_of<2> { using type = u16; };
template <> struct bits_of<4> { using type = u32; };
template <> struct bits_of<8> { using type = u64; };

/* For integers: the type itself to compute in, of 32 or 64 bits. */
template <class T, bool SIGNED> struct integer {
    static constexpr bool is_float = false, is_signed = SIGNED;
    using word = typename bits_of<sizeof(T) == 8 ? 8 : 4>::type; /* wraps without being undefined */
    static constexpr T highest =
        T(typename bits_of<sizeof(T)>::type(~u64(0)) >> (SIGNED ? 1 : 0));
    static constexpr T lowest = SIGNED ? T(-highest - 1) : T(0);
};
template <class T> struct number;
template <> struct number<i8> : integer<i8, true> { using compute = i32; };
template <> struct number<u8> : integer<u8, false> { using compute = u32; };
template <> struct number<i16> : integer<i16, true> { using compute = i32; };
template <> struct number<u16> : integer<u16, false> { using compute = u32; };
template <> struct number<i32> : integer<i32, true> { using compute = i32; };
template <> struct number<u32> : integer<u32, false> { using compute = u32; };
template <> struct number<i64> : integer<i64, true> { using compute = i64; };
template <> struct number<u64> : integer<u64, false> { using compute = u64; };

/* Bit patterns; compute is the type sums are made in. */
template <class T, class C, u64 INFINITY_BITS, u64 NAN_BITS, u64 ONE_BITS> struct floating {
    static constexpr bool is_float = true, is_signed = true;
    using compute = C;
    using bits = typename bits_of<sizeof(T)>::type;
    static constexpr bits sign = bits(bits(1) << (8 * sizeof(T) - 1));
    static constexpr bits infinity = bits(INFINITY_BITS), nan = bits(NAN_BITS), one = bits(ONE_BITS);
};
template <> struct number<f16> : floating<f16, f32, 0x7c00, 0x7e00, 0x3c00> {};
template <> struct number<bf16> : floating<bf16, f32, 0x7f80, 0x7fc0, 0x3f80> {};
template <> struct number<f32> : floating<f32, f32, 0x7f800000, 0x7fc00000, 0x3f800000> {};
template <> struct number<f64>
    : floating<f64, f64, 0x7ff0000000000000ull, 0x7ff8000000000000ull, 0x3ff0000000000000ull> {};

/* A value from its bits, and back. */
template <class T> union pun {
    T value;
    typename bits_of<sizeof(T)>::type bits;
};
template <class T> RTUNE_DEVICE T from_bits(u64 bits) {
    pun<T> p;
    p.bits = typename bits_of<sizeof(T)>::type(bits);
    return p.value;
}
template <class T> RTUNE_DEVICE u64 to_bits(T x) {
    pun<T> p;
    p.value = x;
    return p.bits;
}

template <class T> RTUNE_DEVICE typename number<T>::compute to_compute(T x) {
    return typename number<T>::compute(x);
}
template <> RTUNE_DEVICE f32 to_compute<f16>(f16 x) { return to_f32(x); }
template <> RTUNE_DEVICE f32 to_compute<bf16>(bf16 x) { return to_f32(x); }

/* A float of the compute type as a result, rounded once; any NaN becomes the canonical quiet one. */
template <class R, class C> RTUNE_DEVICE R round_to(C x) { return x; }
template <> RTUNE_DEVICE f16 round_to<f16, f32>(f32 x) { return to_f16(x); }
template <> RTUNE_DEVICE bf16 round_to<bf16, f32>(f32 x) { return to_bf16(x); }
template <class R, class C> RTUNE_DEVICE R float_result(C x) {
    if (x != x) return from_bits<R>(number<R>::nan);
    return round_to<R, C>(x);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* 16 bytes as elements of T, or as the units in which an op takes them. */
template <class T> union packet {
    static constexpr u32 count = 16 / sizeof(T);
    vec16 raw;
    T e[count];
    u32 w[4];
    u64 d[2];
};
template <class Unit, class T> RTUNE_DEVICE Unit unit_of(const packet<T> &p, u32 j) {
    union {
        vec16 raw;
        Unit units[16 / sizeof(Unit)];
    } u;
    u.raw = p.raw;
    return u.units[j];
}
template <class T> RTUNE_DEVICE packet<T> filled(T x) {
    packet<T> p;
#pragma unroll
    for (u32 j = 0; j < packet<T>::count; j++) p.e[j] = x;
    return p;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* An accumulator as the 32-bit words in which it travels. */
template <class A> union words {
    static constexpr u32 count = sizeof(A) / 4;
    static_assert(sizeof(A) % 4 == 0 && sizeof(A) <= 16, "an accumulator of at most 16 bytes");
    A value;
    u32 w[count];
};
/* An array in shared memory that is only accessed through this; it must be aligned to 16 bytes (to an element
 * of 4). Made ahead of the loads, where its address is worked out: shared_address says why. What one
 * thread puts, others get behind a barrier. */
template <class A> class shared_array {
#if RTUNE_ON_DEVICE
    u32 base;

  public:
    RTUNE_DEVICE explicit shared_array(A *shared) : base(shared_address(shared)) {}
    RTUNE_DEVICE A get(u32 k) const {
        words<A> x;
        load_shared(base + k * u32(sizeof(A)), x.w);
        return x.value;
    }
    RTUNE_DEVICE void put(u32 k, A value) const {
        words<A> x;
        x.value = value;
        store_shared(base + k * u32(sizeof(A)), x.w);
    }
#else
    A *base;

  public:
    explicit shared_array(A *shared) : base(shared) {}
    A get(u32 k) const { return base[k]; }
    void put(u32 k, A value) const { base[k] = value; }
#endif
};
template <class A> RTUNE_DEVICE A exchange_xor(A x, u32 mask) {
    words<A> from, to;
    from.value = x;
#pragma unroll
    for (u32 i = 0; i < words<A>::count; i++) to.w[i] = shuffle_xor(from.w[i], mask);
    return to.value;
}
template <class A> RTUNE_DEVICE A exchange_from(A x, u32 lane) {
    words<A> from, to;
    from.value = x;
#pragma unroll
    for (u32 i = 0; i < words<A>::count; i++) to.w[i] = shuffle(from.w[i], lane);
    return to.value;
}

/* One value from all lanes', by instructions that take 32 bits; only where has_redux. 64-bit sums go in
 * three parts, of which 32 fit; extremes by their upper halves first. */
template <redux_kind KIND> RTUNE_DEVICE u32 redux_of(u32 x) { return redux<KIND>(x); }
template <redux_kind KIND> RTUNE_DEVICE i32 redux_of(i32 x) { return i32(redux<KIND>(u32(x))); }
template <redux_kind KIND> RTUNE_DEVICE u64 redux_of(u64 x) {
    if constexpr (KIND == redux_kind::add) {
        constexpr u64 low = (1u << 22) - 1, middle = (1u << 21) - 1;
        const u32 a = redux<KIND>(u32(x & low)), b = redux<KIND>(u32(x >> 22 & middle));
        return a + (u64(b) << 22) + (u64(redux<KIND>(u32(x >> 43))) << 43);
    } else if constexpr (KIND == redux_kind::and_bits || KIND == redux_kind::or_bits ||
                         KIND == redux_kind::xor_bits) {
        return u64(redux<KIND>(u32(x >> 32))) << 32 | redux<KIND>(u32(x));
    } else {
        constexpr bool least = KIND == redux_kind::min_signed || KIND == redux_kind::min_unsigned;
        const u32 high = redux<KIND>(u32(x >> 32));
        const u32 low = u32(x >> 32) == high ? u32(x) : least ? ~u32(0) : 0;
        constexpr redux_kind inner = least ? redux_kind::min_unsigned : redux_kind::max_unsigned;
        return u64(high) << 32 | redux<inner>(low);
    }
}
template <redux_kind KIND> RTUNE_DEVICE i64 redux_of(i64 x) { return i64(redux_of<KIND>(u64(x))); }

/* The least of all lanes' values. */
RTUNE_DEVICE u32 least_of_lanes(u32 x) {
    if constexpr (has_redux) {
        return redux<redux_kind::min_unsigned>(x);
    } else {
#pragma unroll
        for (u32 mask = 16; mask > 0; mask /= 2) {
            const u32 y = shuffle_xor(x, mask);
            if (y < x) x = y;
        }
        return x;
    }
}
RTUNE_DEVICE u64 least_of_lanes(u64 x) {
    if constexpr (has_redux) {
        return redux_of<redux_kind::min_unsigned>(x);
    } else {
#pragma unroll
        for (u32 mask = 16; mask > 0; mask /= 2) {
            const u64 y = exchange_xor(x, mask);
            if (y < x) x = y;
        }
        return x;
    }
}

/* Reduce over all 32 lanes, all of which hold the result, by neighbours: (0, 1), (2, 3), ..., then their
 * pairs, where the order matters. An op that knows a shorter way has warp(). */
template <class Op> RTUNE_DEVICE typename Op::acc warp_all(typename Op::acc x) {
    if constexpr (Op::own_warp) {
        return Op::warp(x);
    } else if constexpr (has_redux && Op::redux != redux_kind::none) {
        return redux_of<Op::redux>(x);
    } else {
#pragma unroll
        for (u32 mask = 1; mask < 32; mask *= 2) x = Op::combine(x, exchange_xor(x, mask));
        return x;
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* t[0] = F::apply over N values as a tree; N need not be a power of two. The steps are templates, so that
 * every index is a constant and t stays in registers. */
template <class F, u32 HALF, class T, u32 N> RTUNE_DEVICE void tree_step(T (&t)[N]) {
#pragma unroll
    for (u32 k = 0; k < HALF; k++) {
        if (k + HALF < N) t[k] = F::apply(t[k], t[k + HALF]);
    }
    if constexpr (HALF > 1) tree_step<F, HALF / 2>(t);
}
template <class F, class T, u32 N> RTUNE_DEVICE T tree(T (&t)[N]) {
    static_assert(N <= 32, "the first step is of 16");
    if constexpr (N > 16) tree_step<F, 16>(t);
    else if constexpr (N > 8) tree_step<F, 8>(t);
    else if constexpr (N > 4) tree_step<F, 4>(t);
    else if constexpr (N > 2) tree_step<F, 2>(t);
    else if constexpr (N > 1) tree_step<F, 1>(t);
    return t[0];
}
template <class D> struct by_merge {
    template <class T> RTUNE_DEVICE static T apply(T a, T b) { return D::merge(a, b); }
};
template <class D> struct by_join {
    template <class T> RTUNE_DEVICE static T apply(T a, T b) { return D::join(a, b); }
};
template <class D> struct by_combine {
    template <class T> RTUNE_DEVICE static T apply(T a, T b) { return D::combine(a, b); }
};

/* ---- folding --------------------------------------------------------------------------------- */

/* The elements at the ends of an array: each thread of one block has at most one of the head and one of
 * the tail; the others have pads. */
template <class T> struct ends {
    T first, last;
    bool has_first, has_last;
};

/* The usual fold of an op D: units are lifted to parts, the parts of one trip merged as a tree and
 * joined to a thread's lanes: one lane for each unit of a packet (floats, whose sums then have short
 * chains), or a single one. D has lift, merge, widen (part to lane), join, start, close (lane to acc). */
template <class D, class In, class Unit, class Part, class Lane, bool MANY_LANES, u32 INPUTS = 1>
struct folded {
    using in = In;
    static constexpr u32 inputs = INPUTS;
    static constexpr bool ordered = false, repeats = false, own_warp = false;
    static constexpr u32 packed_bits = 0;
    static constexpr redux_kind redux = redux_kind::none;
    static constexpr u32 units = 16 / sizeof(Unit), lanes = MANY_LANES ? units : 1;
    struct state {
        Lane lane[lanes];
    };
    RTUNE_DEVICE static state begin(const args &) {
        state s;
#pragma unroll
        for (u32 j = 0; j < lanes; j++) s.lane[j] = D::start();
        return s;
    }
    template <u32 VECTORS> RTUNE_DEVICE static Part trip(const packet<In> (&v)[VECTORS], u32 j) {
        Part t[VECTORS];
#pragma unroll
        for (u32 k = 0; k < VECTORS; k++) t[k] = D::lift(unit_of<Unit>(v[k], j));
        return tree<by_merge<D>>(t);
    }
    template <u32 VECTORS>
    RTUNE_DEVICE static Part trip(const packet<In> (&v)[VECTORS], const packet<In> (&w)[VECTORS],
                                  u32 j) {
        Part t[VECTORS];
#pragma unroll
        for (u32 k = 0; k < VECTORS; k++)
            t[k] = D::lift(unit_of<Unit>(v[k], j), unit_of<Unit>(w[k], j));
        return tree<by_merge<D>>(t);
    }
    /* Packs: one array of packets, or two. */
    template <class... Packs> RTUNE_DEVICE static Part all(const Packs &...packs) {
        Part t[units];
#pragma unroll
        for (u32 j = 0; j < units; j++) t[j] = trip(packs..., j);
        return tree<by_merge<D>>(t);
    }
    template <class... Packs> RTUNE_DEVICE static void fold(state &s, const Packs &...packs) {
        if constexpr (MANY_LANES) {
#pragma unroll
            for (u32 j = 0; j < units; j++)
                s.lane[j] = D::join(s.lane[j], D::widen(trip(packs..., j)));
        } else {
            s.lane[0] = D::join(s.lane[0], D::widen(all(packs...)));
        }
    }
    /* Both elements lie in one unit, or each in one of its own. */
    static constexpr u32 edge_units = sizeof(Unit) >= 2 * sizeof(In) ? 1 : 2;
    RTUNE_DEVICE static packet<In> edge_packet(const ends<In> &e) {
        packet<In> p = filled<In>(D::pad());
        p.e[0] = e.first;
        p.e[1] = e.last;
        return p;
    }
    RTUNE_DEVICE static void edge(state &s, const ends<In> &e) {
        const packet<In> p = edge_packet(e);
#pragma unroll
        for (u32 j = 0; j < edge_units; j++)
            s.lane[0] = D::join(s.lane[0], D::widen(D::lift(unit_of<Unit>(p, j))));
    }
    RTUNE_DEVICE static void edge(state &s, const ends<In> &e, const ends<In> &f) {
        const packet<In> p = edge_packet(e), q = edge_packet(f);
#pragma unroll
        for (u32 j = 0; j < edge_units; j++)
            s.lane[0] = D::join(s.lane[0],
                                D::widen(D::lift(unit_of<Unit>(p, j), unit_of<Unit>(q, j))));
    }
    RTUNE_DEVICE static auto end(state &s) { return D::close(tree<by_join<D>>(s.lane)); }
    /* Most parts are lanes. */
    RTUNE_DEVICE static Lane widen(Part x) { return Lane(x); }
    RTUNE_DEVICE static Lane close(Lane x) { return x; }
};

} // namespace rtune

#endif
