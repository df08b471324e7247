/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/arg.cuh: a block's part of argmin and argmax. Two ways, by the size of an element: where
 * arithmetic is cheap beside the loads (4 and 8 bytes), a thread carries the place of its best element
 * along. Narrow ones are compared packed, and only the trip is kept in which the best value came first; a
 * thread that has its warp's best looks for the place at the end: in registers if it was in the last trip
 * (so for every grid that covers the input), else that one trip is read again.
 */
#ifndef RTUNE_DEVICE_ARG_CUH
#define RTUNE_DEVICE_ARG_CUH

#include "kernels/device/cascade.cuh"
#include "kernels/device/op_order.cuh"

namespace rtune {

constexpr u64 no_index = ~u64(0);

/* What both ways have in common. E: an op for the reader's loads and pads. */
template <class Op, class P> struct arg_reader {
    using T = typename Op::in;
    using E = typename Op::extreme;
    using trips = typename P::trips;
    static constexpr trips no_trip = ~trips(0);
    const input<T> &x;
    reader<E, P> r;
    packet<T> v[P::vectors]; /* of the last trip */
    trips found = no_trip;   /* where the best value was first; no_trip: nothing was read */
    RTUNE_DEVICE arg_reader(const args &a, const input<T> &x_) : x(x_), r(a, x_) {}
    /* Has the thread any vector in this trip? The lead is shorter than a block: a second one is past it. */
    RTUNE_DEVICE bool some(trip now) const {
        return now.has<P>(r.t, 0) || (P::vectors > 1 && now.has<P>(r.t, 1));
    }
    RTUNE_DEVICE u64 begin_of(trips number) const { return r.s.begin + number * r.s.step; }
};

/* Elements of 4 and 8 bytes. */
template <class Op, class P> struct arg_carrier : arg_reader<Op, P> {
    using base = arg_reader<Op, P>;
    using typename base::T;
    using typename base::trips;
    using base::found, base::r, base::v, base::x;
    struct place {
        T value;
        u32 at; /* elements from the thread's first one in the trip */
    };
    struct earlier { /* of two in the order of places */
        RTUNE_DEVICE static place apply(place p, place q) {
            return Op::better_element(q.value, p.value) ? q : p;
        }
    };
    place best = {Op::pad(), 0};
    using base::base;

    RTUNE_DEVICE static place best_of(const packet<T> (&v)[P::vectors]) {
        constexpr u32 count = packet<T>::count;
        place all[P::vectors];
#pragma unroll
        for (u32 k = 0; k < P::vectors; k++) {
            place one[count];
#pragma unroll
            for (u32 j = 0; j < count; j++) one[j] = {v[k].e[j], k * P::block * count + j};
            all[k] = pairs(one);
        }
        return pairs(all);
    }
    /* Neighbours first, so that of equal ones the first is kept. */
    template <u32 N> RTUNE_DEVICE static place pairs(place (&t)[N]) {
        if constexpr (N > 1) {
            place half[N / 2];
#pragma unroll
            for (u32 k = 0; k < N / 2; k++) half[k] = earlier::apply(t[2 * k], t[2 * k + 1]);
            return pairs(half);
        } else {
            return t[0];
        }
    }
    template <class Loaded> RTUNE_DEVICE void read(const Loaded &loaded) {
        const auto fold = [&](trips number, trip now) {
            constexpr u32 count = packet<T>::count;
            place y = best_of(v);
            if (r.t < now.skip && y.at < count) y.at = P::block * count; /* a pad: the rest equals it */
            if (this->some(now) && (found == base::no_trip || Op::better_element(y.value, best.value))) {
                best = y;
                found = number;
            }
        };
        r.run(loaded, fold, v);
    }
    RTUNE_DEVICE typename Op::key key() const { return Op::key_of(Op::value_of(best.value)); }
    RTUNE_DEVICE u64 index() const { return x.index_of(this->begin_of(found) + r.t) + best.at; }
};

/* Elements of 1 and 2 bytes. */
template <class Op, class P> struct arg_finder : arg_reader<Op, P> {
    using base = arg_reader<Op, P>;
    using typename base::E;
    using typename base::T;
    using typename base::trips;
    using base::found, base::r, base::v, base::x;
    typename Op::value best = E::identity();
    trips last = 0;
    trip at = {0, 0}; /* of the last one */
    using base::base;

    template <class Loaded> RTUNE_DEVICE void read(const Loaded &loaded) {
        const auto fold = [&](trips number, trip now) {
            const typename Op::value y = Op::best_of(v);
            last = number;
            at = now;
            if (this->some(now) && (found == base::no_trip || Op::better(y, best))) {
                best = y;
                found = number;
            }
        };
        r.run(loaded, fold, v);
    }
    RTUNE_DEVICE typename Op::key key() const { return Op::key_of(best); }
    RTUNE_DEVICE u64 index() {
        const u64 begin = this->begin_of(found);
        if (found != last) {
            at = found == 0 ? first_trip<T, P>(x, r.s) : trip_at<P>(r.s, begin, 0);
            load_trip<E, P>(v, x.body() + begin + r.t, r.t, at);
        }
        packet<T> one[1] = {v[0]};
        u32 k = 0, j = 0;
#pragma unroll
        for (u32 i = P::vectors; i-- > 0;) {
            const packet<T> w[1] = {v[i]};
            if (at.has<P>(r.t, i) && Op::same(Op::best_of(w), best)) {
                k = i;
                one[0] = v[i];
            }
        }
#pragma unroll
        for (u32 i = x.count; i-- > 0;) j = Op::same(Op::value_of(one[0].e[i]), best) ? i : j;
        return x.index_of(begin + r.t + k * P::block) + j;
    }
};

template <class Op, class P, bool NARROW = sizeof(typename Op::in) <= 2> struct arg_way {
    using type = arg_finder<Op, P>;
};
template <class Op, class P> struct arg_way<Op, P, false> {
    using type = arg_carrier<Op, P>;
};

/* Thread 0 holds the block's part. */
template <class Op, class P, class Beside>
RTUNE_DEVICE typename Op::acc arg_block(const args &a, Beside &beside) {
    using T = typename Op::in;
    using K = typename Op::key;
    alignas(16) RTUNE_SHARED typename Op::acc parts[P::warps];
    const shared_array<typename Op::acc> shared(parts);
    const input<T> x(a);
    const bool last_block = this_block<P>() == block_count<P>() - 1;
    const bool edge = last_block && (x.head() > 0 || x.tail() > 0);
    typename arg_way<Op, P>::type mine(a, x);
    const u32 t = mine.r.t;
    ends<T> e;
    mine.read([&] {
        beside.loaded();
        e = load_ends(x, x.in, edge, t, Op::pad());
    });
    beside.read();

    /* In the order of indices: head, vectors, tail. */
    constexpr K worst = Op::keys::worst;
    const bool some = mine.found != mine.no_trip;
    const K inner = some ? mine.key() : worst;
    K least = inner, first = worst, last = worst;
    if (edge) {
        if (e.has_first) first = Op::key_of(Op::value_of(e.first));
        if (e.has_last) last = Op::key_of(Op::value_of(e.last));
        least = first < least ? first : least;
        least = last < least ? last : least;
    }
    least = least_of_lanes(least);
    u64 index = no_index;
    if (e.has_last && last == least) index = x.n - x.tail() + t;
    if (some && inner == least) index = mine.index();
    if (e.has_first && first == least) index = t;
    const bool narrow = x.n >> 32 == 0; /* indices of 32 bits, and no_index beyond them */
    typename Op::acc found = Op::make(least, Op::least_index(index, narrow));
    if constexpr (P::warps > 1) {
        const u32 lane = t % 32;
        if (lane == 0) shared.put(t / 32, found);
        barrier();
        if (t < 32) found = Op::warp(lane < P::warps ? shared.get(lane) : Op::identity(), narrow);
    }
    return found;
}

} // namespace rtune

#endif
