/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/arg.cuh: a block's part of argmin and argmax. While reading, a thread keeps its best value
 * and the vector where it first met it; packed minima serve narrow elements. Only at the end, and only
 * where a thread has its warp's best value, does it matter which element of that vector it is.
 */
#ifndef RTUNE_DEVICE_ARG_CUH
#define RTUNE_DEVICE_ARG_CUH

#include "kernels/device/cascade.cuh"
#include "kernels/device/op_order.cuh"

namespace rtune {

constexpr u32 no_vector = ~u32(0);
constexpr u64 no_index = ~u64(0);

/* A thread's best value and the vector it was in: that itself, and its number among the thread's. */
template <class Op> struct arg_best {
    typename Op::value value;
    packet<typename Op::in> vector;
    u32 number; /* no_vector: it read nothing */
};

/* The best of one packet. */
template <class E> RTUNE_DEVICE typename E::acc best_of(const packet<typename E::in> &v) {
    const packet<typename E::in> one[1] = {v};
    return E::close(E::all(one));
}

template <class Op, class P, class Loaded>
RTUNE_DEVICE arg_best<Op> arg_thread(reader<typename Op::extreme, P> &r, const Loaded &loaded) {
    using E = typename Op::extreme;
    arg_best<Op> best = {E::identity(), filled<typename Op::in>(Op::pad()), no_vector};
    packet<typename Op::in> v[P::vectors];
    const auto fold = [&](u32 number, trip at) {
#pragma unroll
        for (u32 k = 0; k < P::vectors; k++) {
            const typename Op::value y = best_of<E>(v[k]);
            const bool there = r.t + k * P::block - at.skip < at.left - at.skip;
            if (there && (best.number == no_vector || Op::better(y, best.value))) {
                best.value = y;
                best.vector = v[k];
                best.number = number * P::vectors + k;
            }
        }
    };
    r.run(loaded, fold, v);
    return best;
}

/* The index of a thread's best value. */
template <class Op, class P>
RTUNE_DEVICE u64 arg_index(const reader<typename Op::extreme, P> &r, const arg_best<Op> &best) {
    constexpr u32 count = packet<typename Op::in>::count;
    u32 at = 0;
#pragma unroll
    for (u32 j = count; j-- > 0;)
        at = Op::same(Op::extreme::value_of(best.vector.e[j]), best.value) ? j : at;
    const u64 vector = r.s.begin + best.number / P::vectors * r.s.step + r.t +
                       best.number % P::vectors * P::block;
    return r.x.index_of(vector) + at;
}

/* Thread 0 holds the block's part. before(): as in kernel.cuh. */
template <class Op, class P, class Before>
RTUNE_DEVICE typename Op::acc arg_block(const args &a, const Before &before) {
    using T = typename Op::in;
    using K = typename Op::key;
    alignas(16) RTUNE_SHARED typename Op::acc shared[P::warps];
    const input<T> x(a);
    reader<typename Op::extreme, P> r(a, x);
    ends<T> e;
    const auto loaded = [&] {
        e = load_ends(x, x.in, this_block<P>() == block_count<P>() - 1, r.t, Op::pad());
    };
    const arg_best<Op> mine = arg_thread<Op, P>(r, loaded);
    before();

    /* In the order of indices: head, vectors, tail. */
    constexpr K worst = Op::keys::worst;
    const bool there = mine.number != no_vector;
    const K first = e.has_first ? Op::key_of(Op::extreme::value_of(e.first)) : worst;
    const K inner = there ? Op::key_of(mine.value) : worst;
    const K last = e.has_last ? Op::key_of(Op::extreme::value_of(e.last)) : worst;
    K least = first < inner ? first : inner;
    least = least_of_lanes(last < least ? last : least);
    u64 index = no_index;
    if (e.has_last && last == least) index = x.n - x.tail() + r.t;
    if (there && inner == least) index = arg_index<Op, P>(r, mine);
    if (e.has_first && first == least) index = r.t;
    typename Op::acc found = Op::make(least, least_of_lanes(index));
    if constexpr (P::warps > 1) {
        const u32 lane = r.t % 32;
        if (lane == 0) shared[r.t / 32] = found;
        barrier();
        if (r.t < 32) found = Op::warp(lane < P::warps ? shared[lane] : Op::identity());
    }
    return found;
}

} // namespace rtune

#endif
