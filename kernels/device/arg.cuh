/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/arg.cuh: a block's part of argmin and argmax. While reading, a thread keeps only its best
 * value and the trip where it first met it; packed minima serve narrow elements. At the end, a thread that
 * has its warp's best value looks for the element: in registers if it was in the last trip (so for every
 * grid that covers the input), else that one trip is read again.
 */
#ifndef RTUNE_DEVICE_ARG_CUH
#define RTUNE_DEVICE_ARG_CUH

#include "kernels/device/cascade.cuh"
#include "kernels/device/op_order.cuh"

namespace rtune {

constexpr u64 no_index = ~u64(0);

template <class Op, class P> struct arg_thread {
    using T = typename Op::in;
    using E = typename Op::extreme;
    const input<T> &x;
    reader<E, P> r;
    packet<T> v[P::vectors]; /* of the last trip */
    using trips = typename P::trips;
    static constexpr trips no_trip = ~trips(0);
    typename Op::value best;
    trips found, last; /* found: where the best value was first; no_trip: nothing was read */
    trip at;         /* of the last one */

    RTUNE_DEVICE arg_thread(const args &a, const input<T> &x_)
        : x(x_), r(a, x_), best(E::identity()), found(no_trip), last(0), at({0, 0}) {}

    /* Is vector k of a trip there? */
    RTUNE_DEVICE bool has(trip w, u32 k) const {
        return r.t + k * P::block - w.skip < w.left - w.skip;
    }
    template <class Loaded> RTUNE_DEVICE void read(const Loaded &loaded) {
        const auto fold = [&](trips number, trip now) {
            const typename Op::value y = Op::best_of(v);
            last = number;
            at = now;
            /* The lead is shorter than a block: a thread's second vector is past it. */
            const bool some = has(now, 0) || (P::vectors > 1 && has(now, 1));
            if (some && (found == no_trip || Op::better(y, best))) {
                best = y;
                found = number;
            }
        };
        r.run(loaded, fold, v);
    }
    /* The index of the best value. */
    RTUNE_DEVICE u64 index() {
        const u64 begin = r.s.begin + found * r.s.step;
        if (found != last) {
            at = found == 0 ? first_trip<T, P>(x, r.s) : trip_at<T, P>(x, r.s, begin);
            load_trip<E, P>(v, x.body() + begin + r.t, r.t, at);
        }
        packet<T> one[1] = {v[0]};
        u32 k = 0, j = 0;
#pragma unroll
        for (u32 i = P::vectors; i-- > 0;) {
            const packet<T> w[1] = {v[i]};
            if (has(at, i) && Op::same(Op::best_of(w), best)) {
                k = i;
                one[0] = v[i];
            }
        }
#pragma unroll
        for (u32 i = x.count; i-- > 0;) j = Op::same(Op::value_of(one[0].e[i]), best) ? i : j;
        return x.index_of(begin + r.t + k * P::block) + j;
    }
};

/* Thread 0 holds the block's part. before(): as in kernel.cuh. */
template <class Op, class P, class Before>
RTUNE_DEVICE typename Op::acc arg_block(const args &a, const Before &before) {
    using T = typename Op::in;
    using K = typename Op::key;
    alignas(16) RTUNE_SHARED typename Op::acc shared[P::warps];
    const input<T> x(a);
    arg_thread<Op, P> mine(a, x);
    const u32 t = mine.r.t;
    ends<T> e;
    mine.read([&] { e = load_ends(x, x.in, this_block<P>() == block_count<P>() - 1, t, Op::pad()); });
    before();

    /* In the order of indices: head, vectors, tail. */
    constexpr K worst = Op::keys::worst;
    const bool some = mine.found != mine.no_trip;
    const K first = e.has_first ? Op::key_of(Op::value_of(e.first)) : worst;
    const K inner = some ? Op::key_of(mine.best) : worst;
    const K last = e.has_last ? Op::key_of(Op::value_of(e.last)) : worst;
    K least = first < inner ? first : inner;
    least = least_of_lanes(last < least ? last : least);
    u64 index = no_index;
    if (e.has_last && last == least) index = x.n - x.tail() + t;
    if (some && inner == least) index = mine.index();
    if (e.has_first && first == least) index = t;
    typename Op::acc found = Op::make(least, least_of_lanes(index));
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
