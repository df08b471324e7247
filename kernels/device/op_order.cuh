/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/op_order.cuh: min, max, minmax, argmin and argmax; any and all; band, bor and bxor: ops in
 * which no step rounds. Narrow elements stay packed until a thread is done.
 */
#ifndef RTUNE_DEVICE_OP_ORDER_CUH
#define RTUNE_DEVICE_OP_ORDER_CUH

#include "kernels/device/op_sum.cuh" /* nonzero */

namespace rtune {

/* ---- one extreme ----------------------------------------------------------------------------- */

/* The better of two values of the compute type. NaN: IGNORE takes it as identity, so that all NaN gives
 * NaN; else it wins. */
template <bool MAX, bool IGNORE> RTUNE_DEVICE f32 better_of(f32 a, f32 b) {
    return float_pick<MAX, !IGNORE>(a, b);
}
template <bool MAX, bool IGNORE> RTUNE_DEVICE f64 better_of(f64 a, f64 b) {
    return float_pick<MAX, !IGNORE>(a, b);
}
template <bool MAX, bool IGNORE, class I> RTUNE_DEVICE I better_of(I a, I b) {
    return MAX ? (a > b ? a : b) : (a < b ? a : b);
}

template <class T> RTUNE_DEVICE T extreme_result(typename number<T>::compute x) {
    if constexpr (number<T>::is_float) return float_result<T>(x);
    else return T(x);
}

/* How the extremes of a type are kept in a thread: part of a unit, and the value at the end. one() is
 * for arg ops: keys of f64 that are equal there become the same (zeros, NaNs). LEAN: in few registers,
 * where there are two ways. */
template <class T, bool MAX, bool IGNORE, bool LEAN, u64 SIZE = sizeof(T)> struct extreme_parts {
    using value = typename number<T>::compute;
    using unit = T;
    using part = T;
    RTUNE_DEVICE static part lift(T x) { return x; }
    RTUNE_DEVICE static part merge(part a, part b) { return better_of<MAX, IGNORE>(a, b); }
    RTUNE_DEVICE static value close(part x) { return x; }
    RTUNE_DEVICE static value value_of(T x) { return x; }
    RTUNE_DEVICE static value one(value x) { return x; }
    RTUNE_DEVICE static T result(value x) { return extreme_result<T>(x); }
};
template <class T, bool MAX, bool IGNORE, bool LEAN>
struct extreme_parts<T, MAX, IGNORE, LEAN, 2> {
    using value = typename number<T>::compute;
    using unit = u32;
    using part = u32;
    RTUNE_DEVICE static part lift(u32 w) { return w; }
    RTUNE_DEVICE static part merge(part a, part b) { return halves<T, MAX, !IGNORE>::pick(a, b); }
    RTUNE_DEVICE static value close(part x) {
        return better_of<MAX, IGNORE>(to_compute(from_bits<T>(x & 0xffff)),
                                      to_compute(from_bits<T>(x >> 16)));
    }
    RTUNE_DEVICE static value value_of(T x) { return to_compute(x); }
    RTUNE_DEVICE static value one(value x) { return x; }
    RTUNE_DEVICE static T result(value x) { return extreme_result<T>(x); }
};
/* f64 as order keys: signed integers that compare as the floats do, -0 < +0; adding the number of keys
 * above infinity, modulo 2^64, brings all NaNs to the low end, subtracting it to the high end. */
template <bool MAX, bool IGNORE> struct f64_keys {
    using value = i64;
    static constexpr bool nan_low = MAX == IGNORE;
    static constexpr u64 nans = 0x000fffffffffffffull;
    static constexpr u64 turn = nan_low ? nans : 0 - nans;
    static constexpr i64 first_nan = nan_low ? i64(0x801ffffffffffffdull) : 0x7fe0000000000002ll;
    RTUNE_DEVICE static u64 ordered(u64 bits) { return bits ^ (u64(i64(bits) >> 63) >> 1); }
    RTUNE_DEVICE static value value_of(f64 x) { return value(ordered(f64_bits(x)) + turn); }
    RTUNE_DEVICE static value one(value k) {
        if (k == i64(turn) - 1) k++; /* -0 */
        return better_of<nan_low, IGNORE>(k, first_nan);
    }
    RTUNE_DEVICE static f64 result(value x) {
        return float_result<f64>(f64_of(ordered(u64(x) - turn)));
    }
};
/* Keys all the way: integers are compared and selected in half the instructions that floats with their
 * exceptions take. */
template <bool MAX, bool IGNORE, bool LATE> struct f64_parts : f64_keys<MAX, IGNORE> {
    using keys = f64_keys<MAX, IGNORE>;
    using part = i64;
    RTUNE_DEVICE static part lift(f64 x) { return keys::value_of(x); }
    RTUNE_DEVICE static part merge(part a, part b) { return better_of<MAX, IGNORE>(a, b); }
    RTUNE_DEVICE static i64 close(part x) { return x; }
};
/* The exceptions apart, and a key at the end: a float that is right but for NaN and the sign of a zero;
 * whether there was a NaN; and the upper words together, whose highest bit says of a zero that is the
 * extreme whether all of them (MAX) or any (MIN) had the sign. */
template <bool MAX> struct f64_parts<MAX, false, true> : f64_keys<MAX, false> {
    using keys = f64_keys<MAX, false>;
    struct part {
        f64 x;
        u32 signs;
        bool nan;
    };
    RTUNE_DEVICE static part lift(f64 x) { return {x, u32(f64_bits(x) >> 32), x != x}; }
    RTUNE_DEVICE static part merge(part a, part b) {
        return {(MAX ? a.x > b.x : a.x < b.x) ? a.x : b.x,
                MAX ? a.signs & b.signs : a.signs | b.signs, a.nan || b.nan};
    }
    RTUNE_DEVICE static i64 close(part p) {
        u64 bits = f64_bits(p.x);
        if (p.x == 0) bits = u64(p.signs >> 31) << 63;
        if (p.nan) bits = number<f64>::nan;
        return keys::value_of(f64_of(bits));
    }
};
template <bool MAX, bool IGNORE, bool LEAN>
struct extreme_parts<f64, MAX, IGNORE, LEAN, 8>
    : f64_parts<MAX, IGNORE, fast_f64 && !IGNORE && !LEAN> {
    using unit = f64;
};
/* Bytes in the upper halves of 16 bits: what is below a byte only decides between equal ones. */
struct byte_pairs {
    u32 even, odd;
};
template <class T, bool MAX, bool IGNORE, bool LEAN>
struct extreme_parts<T, MAX, IGNORE, LEAN, 1> {
    using value = typename number<T>::compute;
    using unit = u32;
    using part = byte_pairs;
    RTUNE_DEVICE static u32 pick(u32 a, u32 b) {
        if constexpr (number<T>::is_signed) return halves<i16, MAX, true>::pick(a, b);
        else return halves<u16, MAX, true>::pick(a, b);
    }
    RTUNE_DEVICE static part lift(u32 w) { return {w << 8, w}; }
    RTUNE_DEVICE static part merge(part a, part b) {
        return {pick(a.even, b.even), pick(a.odd, b.odd)};
    }
    RTUNE_DEVICE static value close(part x) {
        const u32 w = pick(x.even, x.odd);
        return better_of<MAX, IGNORE>(value(T(w >> 24)), value(T(w >> 8)));
    }
    RTUNE_DEVICE static value value_of(T x) { return x; }
    RTUNE_DEVICE static value one(value x) { return x; }
    RTUNE_DEVICE static T result(value x) { return T(x); }
};

template <class T, bool MAX, bool IGNORE> RTUNE_DEVICE T extreme_pad() {
    if constexpr (!number<T>::is_float) {
        return MAX ? number<T>::lowest : number<T>::highest;
    } else if constexpr (IGNORE) {
        return from_bits<T>(number<T>::nan);
    } else {
        return from_bits<T>(MAX ? number<T>::infinity | number<T>::sign : number<T>::infinity);
    }
}
template <class T, bool MAX, bool IGNORE, bool LEAN = false>
struct op_extreme
    : folded<op_extreme<T, MAX, IGNORE, LEAN>, T,
             typename extreme_parts<T, MAX, IGNORE, LEAN>::unit,
             typename extreme_parts<T, MAX, IGNORE, LEAN>::part,
             typename extreme_parts<T, MAX, IGNORE, LEAN>::part, false> {
    using parts = extreme_parts<T, MAX, IGNORE, LEAN>;
    using part = typename parts::part;
    using acc = typename parts::value;
    static constexpr bool by_key = number<T>::is_float && sizeof(T) != 8; /* f64 has order keys */
    static constexpr bool own_warp = by_key && has_redux;
    static constexpr redux_kind redux =
        by_key ? redux_kind::none
        : number<T>::is_signed ? (MAX ? redux_kind::max_signed : redux_kind::min_signed)
                               : (MAX ? redux_kind::max_unsigned : redux_kind::min_unsigned);
    RTUNE_DEVICE static T pad() { return extreme_pad<T, MAX, IGNORE>(); }
    RTUNE_DEVICE static part start() {
        return parts::lift(unit_of<typename parts::unit>(filled<T>(pad()), 0));
    }
    RTUNE_DEVICE static part lift(typename parts::unit u) { return parts::lift(u); }
    RTUNE_DEVICE static part merge(part a, part b) { return parts::merge(a, b); }
    RTUNE_DEVICE static part join(part a, part b) { return parts::merge(a, b); }
    RTUNE_DEVICE static acc close(part x) { return parts::close(x); }
    RTUNE_DEVICE static acc value_of(T x) { return parts::value_of(x); }
    RTUNE_DEVICE static T result(acc x) { return parts::result(x); }
    RTUNE_DEVICE static acc identity() { return value_of(pad()); }
    RTUNE_DEVICE static acc combine(acc a, acc b) { return better_of<MAX, IGNORE>(a, b); }
    /* f32 as a signed key that compares as it does, -0 < +0, NaN as the rule wants it. */
    RTUNE_DEVICE static f32 warp(f32 x) {
        constexpr bool nan_low = MAX == IGNORE;
        constexpr i32 nan = nan_low ? number<i32>::lowest : number<i32>::highest;
        const i32 bits = i32(to_bits(x)), ordered = bits ^ i32(u32(bits >> 31) >> 1);
        const i32 key = redux_of<MAX ? redux_kind::max_signed : redux_kind::min_signed>(
            x == x ? ordered : nan);
        const u32 back = u32(key ^ i32(u32(key >> 31) >> 1));
        return from_bits<f32>(key == nan ? u32(number<f32>::nan) : back);
    }
    RTUNE_DEVICE static void store(const args &a, acc x) {
        T *out = static_cast<T *>(a.out);
        if (a.flags & accumulate_flag) x = combine(value_of(*out), x);
        *out = result(x);
    }
};
template <class T, class R> using op_min = op_extreme<T, false, false>;
template <class T, class R> using op_max = op_extreme<T, true, false>;
template <class T, class R> using op_min_ignore = op_extreme<T, false, true>;
template <class T, class R> using op_max_ignore = op_extreme<T, true, true>;

/* ---- both extremes --------------------------------------------------------------------------- */

/* No element is neutral for both (but NaN that is ignored), so threads without one of their own read one
 * that others have, too: repeats. */
template <class T, bool IGNORE> struct op_both {
    using low = op_extreme<T, false, IGNORE, true>; /* two of them: 1024 x 8 vectors of f64 would spill */
    using high = op_extreme<T, true, IGNORE, true>;
    using in = T;
    static constexpr u32 inputs = 1, packed_bits = 0;
    static constexpr bool ordered = false, repeats = true, own_warp = has_redux;
    static constexpr redux_kind redux = redux_kind::none;
    struct state {
        typename low::state low_state;
        typename high::state high_state;
    };
    struct acc {
        typename low::acc min, max;
    };
    RTUNE_DEVICE static state begin(const args &a) { return {low::begin(a), high::begin(a)}; }
    template <u32 V> RTUNE_DEVICE static void fold(state &s, const packet<T> (&v)[V]) {
        low::fold(s.low_state, v);
        high::fold(s.high_state, v);
    }
    RTUNE_DEVICE static void edge(state &s, const ends<T> &e) {
        ends<T> least = e, most = e;
        if (!e.has_first) least.first = low::pad(), most.first = high::pad();
        if (!e.has_last) least.last = low::pad(), most.last = high::pad();
        low::edge(s.low_state, least);
        high::edge(s.high_state, most);
    }
    RTUNE_DEVICE static acc end(state &s) { return {low::end(s.low_state), high::end(s.high_state)}; }
    RTUNE_DEVICE static T pad() { return from_bits<T>(0); } /* never folded */
    RTUNE_DEVICE static acc identity() { return {low::identity(), high::identity()}; }
    RTUNE_DEVICE static acc combine(acc a, acc b) {
        return {low::combine(a.min, b.min), high::combine(a.max, b.max)};
    }
    RTUNE_DEVICE static acc warp(acc x) { return {warp_all<low>(x.min), warp_all<high>(x.max)}; }
    RTUNE_DEVICE static void store(const args &a, acc x) {
        T *out = static_cast<T *>(a.out);
        if (a.flags & accumulate_flag) x = combine({low::value_of(out[0]), high::value_of(out[1])}, x);
        out[0] = low::result(x.min);
        out[1] = high::result(x.max);
    }
};
template <class T, class R> using op_minmax = op_both<T, false>;
template <class T, class R> using op_minmax_ignore = op_both<T, true>;

/* ---- index of an extreme --------------------------------------------------------------------- */

/* Values as unsigned keys, the wanted ones lowest: then the answer is the least (key, index). Zeros have
 * one key, NaN the lowest (IGNORE: the highest). */
template <class K, bool MAX, bool IGNORE> struct arg_key {
    static constexpr K top = K(1) << (8 * sizeof(K) - 1), worst = ~K(0);
    RTUNE_DEVICE static K of_unsigned(K x) { return MAX ? K(~x) : x; }
    RTUNE_DEVICE static K of_signed(K x) { return of_unsigned(x ^ top); }
    RTUNE_DEVICE static K of_float(K bits, bool nan, bool zero) {
        const K ordered = zero ? top : bits & top ? K(~bits) : K(bits | top);
        return nan ? (IGNORE ? worst : K(0)) : of_unsigned(ordered);
    }
    RTUNE_DEVICE static K float_bits(K key) { /* not of NaN */
        const K ordered = of_unsigned(key);
        return ordered & top ? K(ordered ^ top) : K(~ordered);
    }
};
/* A key and the index in halves, the upper one below 2^31 but for none: no byte is padding, since
 * accumulators travel as words. */
template <class K> struct arg_acc;
template <> struct arg_acc<u32> {
    u32 key, low, high;
};
template <> struct alignas(16) arg_acc<u64> {
    u64 key;
    u32 low, high;
};

template <class T, bool MAX, bool IGNORE> struct op_arg {
    using extreme = op_extreme<T, MAX, IGNORE>;
    using in = T;
    using value = typename extreme::acc;
    using key = typename bits_of<sizeof(value)>::type;
    using keys = arg_key<key, MAX, IGNORE>;
    using acc = arg_acc<key>;
    static constexpr u32 inputs = 1, packed_bits = 0;
    static constexpr bool ordered = false, repeats = false, own_warp = true;
    static constexpr redux_kind redux = redux_kind::none;
    static constexpr bool floats = number<T>::is_float && sizeof(T) != 8; /* f64 has order keys */

    RTUNE_DEVICE static value value_of(T x) { return extreme::parts::one(extreme::value_of(x)); }
    /* The best of some packets. */
    template <u32 V> RTUNE_DEVICE static value best_of(const packet<T> (&v)[V]) {
        return extreme::parts::one(extreme::close(extreme::all(v)));
    }
    /* Strictly: equal ones are not better, and zeros are equal. */
    RTUNE_DEVICE static bool better(value a, value b) {
        if constexpr (floats) return better_element(a, b);
        else return MAX ? a > b : a < b;
    }
    /* The same of elements that are compared as they are. */
    template <class C> RTUNE_DEVICE static bool better_element(C a, C b) {
        if constexpr (number<T>::is_float) { /* or one of them is NaN, which must be the right one */
            const bool number = IGNORE ? a == a : b == b;
            return !(MAX ? a <= b : a >= b) && number;
        } else {
            return MAX ? a > b : a < b;
        }
    }
    RTUNE_DEVICE static bool same(value a, value b) { return a == b || (a != a && b != b); }
    RTUNE_DEVICE static key key_of(value x) {
        if constexpr (floats) return keys::of_float(key(to_bits(x)), x != x, x == 0);
        else if constexpr (number<T>::is_signed) return keys::of_signed(key(x));
        else return keys::of_unsigned(key(x));
    }
    RTUNE_DEVICE static value value_of_key(key k) {
        if constexpr (floats) {
            if (k == (IGNORE ? keys::worst : key(0))) return from_bits<value>(number<value>::nan);
            return from_bits<value>(keys::float_bits(k));
        } else {
            k = keys::of_unsigned(k);
            return value(number<T>::is_signed ? k ^ keys::top : k);
        }
    }
    RTUNE_DEVICE static T pad() { return extreme::pad(); }
    RTUNE_DEVICE static acc make(key k, u64 index) { return {k, u32(index), u32(index >> 32)}; }
    RTUNE_DEVICE static u64 index_of(acc x) { return u64(x.high) << 32 | x.low; }
    RTUNE_DEVICE static acc identity() { return make(keys::worst, ~u64(0)); }
    RTUNE_DEVICE static acc combine(acc a, acc b) {
        return b.key < a.key || (b.key == a.key && index_of(b) < index_of(a)) ? b : a;
    }
    /* narrow: all but no_index are below 2^32 - 1, and the least is, if any lane has one. */
    RTUNE_DEVICE static u64 least_index(u64 index, bool narrow) {
        return narrow ? least_of_lanes(u32(index)) : least_of_lanes(index);
    }
    /* The least key of all lanes, then the least of its indices. */
    RTUNE_DEVICE static acc warp(acc x, bool narrow = false) {
        const key best = least_of_lanes(x.key);
        return make(best, least_index(x.key == best ? index_of(x) : ~u64(0), narrow));
    }
    /* The element itself is read again where the key does not tell: zeros have signs. */
    RTUNE_DEVICE static void store(const args &a, acc x) {
        u64 *out = static_cast<u64 *>(a.out), index = index_of(x);
        T element = extreme::result(value_of_key(x.key));
        if constexpr (number<T>::is_float) {
            const auto v = to_compute(element);
            if (IGNORE && v != v) index = 0; /* all are */
            if (v == 0) element = static_cast<const T *>(a.in)[index];
        }
        out[0] = to_bits(element);
        out[1] = index;
    }
};
template <class T, class R> using op_argmin = op_arg<T, false, false>;
template <class T, class R> using op_argmax = op_arg<T, true, false>;
template <class T, class R> using op_argmin_ignore = op_arg<T, false, true>;
template <class T, class R> using op_argmax_ignore = op_arg<T, true, true>;

/* ---- any and all ----------------------------------------------------------------------------- */

/* A packed finish counts the blocks that say otherwise. */
template <class T, bool ALL> struct truth;
template <class T> struct truth<T, false> { /* any: all bits together */
    using unit = typename bits_of<sizeof(T) == 8 ? 8 : 4>::type;
    using part = unit;
    RTUNE_DEVICE static part lift(unit u) { return u; }
    RTUNE_DEVICE static part merge(part a, part b) { return a | b; }
    RTUNE_DEVICE static part start() { return 0; }
    RTUNE_DEVICE static u32 close(part x) {
        constexpr unit magnitude = sizeof(T) == 2 ? unit(0x7fff7fffu) : unit(~unit(0) >> 1);
        return (number<T>::is_float ? x & magnitude : x) != 0;
    }
};
template <class T> struct truth<T, true> { /* all: a bit an element */
    using zero = typename bits_of<sizeof(T)>::type;
    using N = nonzero<T>;
    using unit = typename N::unit;
    using part = u32;
    RTUNE_DEVICE static part lift(unit u) { return N::bits(u); }
    RTUNE_DEVICE static part merge(part a, part b) { return a & b; }
    RTUNE_DEVICE static part start() { return ~u32(0); }
    RTUNE_DEVICE static u32 close(part x) { return (x & N::all) == N::all; }
};

template <class T, bool ALL>
struct op_truth : folded<op_truth<T, ALL>, T, typename truth<T, ALL>::unit,
                         typename truth<T, ALL>::part, typename truth<T, ALL>::part, false> {
    using parts = truth<T, ALL>;
    using part = typename parts::part;
    using acc = u32;
    static constexpr u32 packed_bits = 32;
    static constexpr redux_kind redux = ALL ? redux_kind::and_bits : redux_kind::or_bits;
    RTUNE_DEVICE static u64 pack(u32 x) { return ALL ? 1 - x : x; }
    RTUNE_DEVICE static u32 unpack(u64 x) { return ALL ? x == 0 : x != 0; }
    RTUNE_DEVICE static T pad() { return from_bits<T>(ALL ? 1 : 0); }
    RTUNE_DEVICE static part start() { return parts::start(); }
    RTUNE_DEVICE static part lift(typename parts::unit u) { return parts::lift(u); }
    RTUNE_DEVICE static part merge(part a, part b) { return parts::merge(a, b); }
    RTUNE_DEVICE static part join(part a, part b) { return parts::merge(a, b); }
    RTUNE_DEVICE static u32 close(part x) { return parts::close(x); }
    RTUNE_DEVICE static u32 identity() { return ALL; }
    RTUNE_DEVICE static u32 combine(u32 a, u32 b) { return ALL ? a & b : a | b; }
    RTUNE_DEVICE static void store(const args &a, u32 x) {
        u32 *out = static_cast<u32 *>(a.out);
        if (a.flags & accumulate_flag) x = combine(*out != 0, x);
        *out = x;
    }
};
template <class T, class R> using op_any = op_truth<T, false>;
template <class T, class R> using op_all = op_truth<T, true>;

/* ---- bits ------------------------------------------------------------------------------------ */

enum class bit_kind : int { and_bits, or_bits, xor_bits };

template <class T, bit_kind BITS, class W = typename bits_of<sizeof(T) == 8 ? 8 : 4>::type>
struct op_bits : folded<op_bits<T, BITS, W>, T, W, W, W, false> {
    using acc = W;
    static constexpr redux_kind redux = BITS == bit_kind::and_bits ? redux_kind::and_bits
                                        : BITS == bit_kind::or_bits  ? redux_kind::or_bits
                                                                     : redux_kind::xor_bits;
    RTUNE_DEVICE static T pad() { return BITS == bit_kind::and_bits ? T(~T(0)) : T(0); }
    RTUNE_DEVICE static W start() { return identity(); }
    RTUNE_DEVICE static W lift(W w) { return w; }
    RTUNE_DEVICE static W merge(W a, W b) { return combine(a, b); }
    RTUNE_DEVICE static W join(W a, W b) { return combine(a, b); }
    RTUNE_DEVICE static W identity() { return BITS == bit_kind::and_bits ? ~W(0) : W(0); }
    RTUNE_DEVICE static W combine(W a, W b) {
        return BITS == bit_kind::and_bits ? (a & b) : BITS == bit_kind::or_bits ? (a | b) : (a ^ b);
    }
    RTUNE_DEVICE static void store(const args &a, W x) { /* the elements of a word together */
        T *out = static_cast<T *>(a.out);
        if constexpr (sizeof(T) <= 2) x = combine(x, x >> 16);
        if constexpr (sizeof(T) == 1) x = combine(x, x >> 8);
        if (a.flags & accumulate_flag) x = combine(x, W(*out));
        *out = T(x);
    }
};
template <class T, class R> using op_band = op_bits<T, bit_kind::and_bits>;
template <class T, class R> using op_bor = op_bits<T, bit_kind::or_bits>;
template <class T, class R> using op_bxor = op_bits<T, bit_kind::xor_bits>;

} // namespace rtune

#endif
