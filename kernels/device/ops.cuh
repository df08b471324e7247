/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/ops.cuh: the ops as policies of the cascade. A policy has: in (element), acc (accumulator,
 * also the result), identity(), pad() (an element whose load() is the identity), load(element), and an
 * associative, commutative combine(); finish() makes the result.
 */
#ifndef RTUNE_DEVICE_OPS_CUH
#define RTUNE_DEVICE_OPS_CUH

#include "kernels/device/ptx.cuh"

namespace rtune {

template <class T> struct number;
template <> struct number<f32> {
    static constexpr bool is_float = true;
    RTUNE_DEVICE static f32 infinity() { return f32_of(0x7f800000u); }
    RTUNE_DEVICE static f32 nan() { return f32_of(0x7fc00000u); }
};
template <> struct number<f64> {
    static constexpr bool is_float = true;
    RTUNE_DEVICE static f64 infinity() { return f64_of(0x7ff0000000000000ull); }
    RTUNE_DEVICE static f64 nan() { return f64_of(0x7ff8000000000000ull); }
};
template <> struct number<i32> {
    static constexpr bool is_float = false;
    using wrap = u32; /* arithmetic modulo 2^bits without undefined overflow */
    static constexpr i32 lowest = -2147483647 - 1, highest = 2147483647;
};
template <> struct number<i64> {
    static constexpr bool is_float = false;
    using wrap = u64;
    static constexpr i64 lowest = -9223372036854775807ll - 1, highest = 9223372036854775807ll;
};

/* The canonical quiet NaN for any NaN. */
template <class A> RTUNE_DEVICE A canonical(A x) {
    if constexpr (number<A>::is_float) {
        if (x != x) return number<A>::nan();
    }
    return x;
}

template <class T, class A> struct op_sum {
    using in = T;
    using acc = A;
    RTUNE_DEVICE static A identity() { return A(0); }
    RTUNE_DEVICE static T pad() { return T(0); }
    RTUNE_DEVICE static A load(T x) { return A(x); }
    RTUNE_DEVICE static A combine(A a, A b) {
        if constexpr (number<A>::is_float) {
            return a + b;
        } else {
            using U = typename number<A>::wrap;
            return A(U(a) + U(b));
        }
    }
    RTUNE_DEVICE static A finish(A a) { return canonical(a); }
};

template <class T, class A> struct op_prod {
    using in = T;
    using acc = A;
    RTUNE_DEVICE static A identity() { return A(1); }
    RTUNE_DEVICE static T pad() { return T(1); }
    RTUNE_DEVICE static A load(T x) { return A(x); }
    RTUNE_DEVICE static A combine(A a, A b) {
        if constexpr (number<A>::is_float) {
            return a * b;
        } else {
            using U = typename number<A>::wrap;
            return A(U(a) * U(b));
        }
    }
    RTUNE_DEVICE static A finish(A a) { return canonical(a); }
};

/* min and max. IGNORE takes NaN as identity, so that all NaN gives NaN; else the identity is the
 * infinity (the extreme integer), never a largest finite value. */
template <class T, bool MAX, bool IGNORE> struct op_extreme {
    using in = T;
    using acc = T;
    RTUNE_DEVICE static T identity() {
        if constexpr (!number<T>::is_float) {
            return MAX ? number<T>::lowest : number<T>::highest;
        } else if constexpr (IGNORE) {
            return number<T>::nan();
        } else {
            return MAX ? -number<T>::infinity() : number<T>::infinity();
        }
    }
    RTUNE_DEVICE static T pad() { return identity(); }
    RTUNE_DEVICE static T load(T x) { return x; }
    RTUNE_DEVICE static T combine(T a, T b) {
        if constexpr (!number<T>::is_float) {
            return MAX ? (a > b ? a : b) : (a < b ? a : b);
        } else if constexpr (IGNORE) {
            return MAX ? max_number(a, b) : min_number(a, b);
        } else {
            return MAX ? max_nan(a, b) : min_nan(a, b);
        }
    }
    RTUNE_DEVICE static T finish(T a) { return canonical(a); }
};

/* The names that generated programs use. */
template <class T, class A> using op_min = op_extreme<T, false, false>;
template <class T, class A> using op_max = op_extreme<T, true, false>;
template <class T, class A> using op_min_ignore = op_extreme<T, false, true>;
template <class T, class A> using op_max_ignore = op_extreme<T, true, true>;

} // namespace rtune

#endif
