/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/arg.cuh: a block's part of argmin and argmax. While reading, a thread keeps only its best
 * value and the trip where it first met it; packed minima serve narrow elements. Then the block agrees on
 * the best value, and only threads that have it look through that one trip again, for the index.
 */
#ifndef RTUNE_DEVICE_ARG_CUH
#define RTUNE_DEVICE_ARG_CUH

#include "kernels/device/cascade.cuh"
#include "kernels/device/op_order.cuh"

namespace rtune {

constexpr u64 no_index = ~u64(0);

/* What a thread found: its best value, and the first vector of the trip where it first was. */
template <class V> struct arg_best {
    V value;
    u64 trip; /* no_index: it read nothing */
};

template <class Op, class P>
RTUNE_DEVICE arg_best<typename Op::value> arg_thread(const input<typename Op::in> &x) {
    using E = typename Op::extreme;
    const u32 t = thread_index();
    arg_best<typename Op::value> best = {E::identity(), no_index};
    const span s = block_span<P>(x.vectors);
    const vec16 *p = x.body() + s.begin;
    for (u64 i = s.begin; i < s.end; i += s.step, p += s.step) {
        packet<typename Op::in> v[P::vectors];
        load_trip<E, P>(v, p, t, trip_at<typename Op::in, P>(x, s, i));
        const typename Op::value y = E::close(E::all(v));
        if (best.trip == no_index || Op::better(y, best.value)) {
            best.value = y;
            best.trip = i;
        }
    }
    return best;
}

/* The first index in a thread's vectors of one trip whose element is the wanted one. */
template <class Op, class P>
RTUNE_DEVICE u64 arg_find(const input<typename Op::in> &x, u64 trip, typename Op::value wanted) {
    using T = typename Op::in;
    const u64 end = block_span<P>(x.vectors).end;
    u64 found = no_index;
#pragma unroll 1
    for (u32 k = 0; k < P::vectors && found == no_index; k++) {
        const u64 i = trip + thread_index() + k * P::block;
        if (i >= end) break;
        if (i < x.lead) continue;
        packet<T> v;
        v.raw = x.body()[i];
        u32 at = x.count;
#pragma unroll
        for (u32 j = x.count; j-- > 0;) at = Op::same(to_compute(v.e[j]), wanted) ? j : at;
        if (at < x.count) found = x.index_of(i) + at;
    }
    return found;
}

/* Thread 0 holds the block's part. before(): as in kernel.cuh. A warp agrees on its best value, and those
 * of its threads that have it search, before the warps meet: one barrier. */
template <class Op, class P, class Before>
RTUNE_DEVICE typename Op::acc arg_block(const args &a, const Before &before) {
    using T = typename Op::in;
    using V = typename Op::value;
    using E = typename Op::extreme;
    alignas(16) RTUNE_SHARED typename Op::acc shared[P::warps];
    const input<T> x(a);
    const u32 t = thread_index();
    const ends<T> e = load_ends(x, x.in, block_index() == grid_size() - 1, t, Op::pad());
    const arg_best<V> mine = arg_thread<Op, P>(x);
    before();

    const V first = to_compute(e.first), last = to_compute(e.last);
    V best = E::combine(mine.value, E::combine(first, last));
#pragma unroll
    for (u32 mask = 16; mask > 0; mask /= 2) best = E::combine(best, exchange_xor(best, mask));
    u64 index = no_index;
    if (e.has_last && Op::same(last, best)) index = x.n - x.tail + t;
    if (mine.trip != no_index && Op::same(mine.value, best)) {
        const u64 found = arg_find<Op, P>(x, mine.trip, best);
        if (found < index) index = found;
    }
    if (e.has_first && Op::same(first, best)) index = t;
    typename Op::acc found = Op::acc::of(best, least_of_lanes(index));
    if constexpr (P::warps > 1) {
        const u32 lane = t % 32;
        if (lane == 0) shared[t / 32] = found;
        barrier();
        if (t < 32) found = Op::warp(lane < P::warps ? shared[lane] : Op::identity());
    }
    return found;
}

} // namespace rtune

#endif
