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
        const u64 rest = s.end - i;
        load_trip<E, P>(v, p, t, rest < P::tile ? u32(rest) : u32(P::tile));
        const typename Op::value y = E::close(E::all(v));
        if (best.trip == no_index || Op::better(y, best.value)) {
            best.value = y;
            best.trip = i;
        }
    }
    return best;
}

/* The first index in a thread's vectors of one trip whose element is the wanted one, which *element gets. */
template <class Op, class P>
RTUNE_DEVICE u64 arg_find(const input<typename Op::in> &x, u64 trip, typename Op::value wanted,
                          typename Op::value *element) {
    using T = typename Op::in;
    const span s = block_span<P>(x.vectors);
    u64 found = no_index;
#pragma unroll 1
    for (u32 k = 0; k < P::vectors && found == no_index; k++) {
        const u64 i = trip + thread_index() + k * P::block;
        if (i >= s.end) break;
        packet<T> v;
        v.raw = x.body()[i];
#pragma unroll
        for (u32 j = packet<T>::count; j-- > 0;) {
            const typename Op::value y = to_compute(v.e[j]);
            if (!Op::same(y, wanted)) continue;
            found = x.head + i * packet<T>::count + j;
            *element = y;
        }
    }
    return found;
}

/* Thread 0 holds the block's part. before(): as in kernel.cuh. */
template <class Op, class P, class Before>
RTUNE_DEVICE typename Op::acc arg_block(const args &a, const Before &before) {
    using T = typename Op::in;
    using V = typename Op::value;
    using A = typename Op::acc;
    using E = typename Op::extreme;
    alignas(16) RTUNE_SHARED V shared_values[P::warps];
    alignas(16) RTUNE_SHARED A shared[P::warps];
    RTUNE_SHARED V shared_best;
    const input<T> x(a);
    const u32 t = thread_index();
    const ends<T> e = load_ends(x, x.in, block_index() == grid_size() - 1, t, Op::pad());
    const arg_best<V> mine = arg_thread<Op, P>(x);

    before();
    const V first = to_compute(e.first), last = to_compute(e.last);
    V best = block_reduce<E, P>(E::combine(mine.value, E::combine(first, last)), shared_values);
    if constexpr (P::warps > 1) {
        if (t == 0) shared_best = best;
        barrier();
        best = shared_best;
    } else {
        best = exchange_from(best, 0);
    }
    A found = Op::identity();
    if (e.has_first && Op::same(first, best)) found = A::of(first, t);
    if (mine.trip != no_index && Op::same(mine.value, best)) {
        V element = best;
        const u64 index = arg_find<Op, P>(x, mine.trip, best, &element);
        if (index < found.index) found = A::of(element, index);
    }
    if (e.has_last && Op::same(last, best) && found.index == no_index)
        found = A::of(last, x.n - x.tail + t);
    return block_reduce<Op, P>(found, shared);
}

} // namespace rtune

#endif
