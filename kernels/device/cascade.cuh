/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/cascade.cuh: the cascaded reduction, Harris's last kernel made current, up to the block.
 * Each thread first reduces many elements serially in registers (Brent's theorem), then warps by shuffles,
 * then the block through shared memory; finish.cuh has the grid. thread -> warp -> block -> grid; each
 * layer uses only the one below and says which threads hold the valid result.
 *
 * Right for every n, every element-aligned base and every grid: the head up to the first 16-byte boundary
 * and the tail behind the last one are loaded element by element by the last block.
 */
#ifndef RTUNE_DEVICE_CASCADE_CUH
#define RTUNE_DEVICE_CASCADE_CUH

#include "kernels/device/types.cuh"

namespace rtune {

/* One config: a plain aggregate, all in the type. EXTRA: stages of the bulk variant, blocks of a cluster. */
template <variant_kind VARIANT, int BLOCK, int VECTORS, load_kind LOAD, finish_kind FINISH, map_kind MAP,
          int EXTRA>
struct policy {
    static_assert(BLOCK >= 32 && BLOCK <= 1024 && BLOCK % 32 == 0, "block");
    static_assert(VECTORS >= 1 && VECTORS <= 16 && (VECTORS & (VECTORS - 1)) == 0, "vectors");
    static constexpr variant_kind variant = VARIANT;
    static constexpr u32 block = BLOCK;
    static constexpr u32 warps = BLOCK / 32;
    static constexpr u32 vectors = VECTORS; /* of 16 bytes, in flight per thread */
    static constexpr u64 tile = u64(BLOCK) * VECTORS; /* vectors per block and trip */
    /* Counts the trips of one block over 2^40 elements of 8 bytes. */
    using trips = typename bits_of<(tile > 128 ? 4 : 8)>::type;
    static constexpr load_kind load = LOAD;
    static constexpr finish_kind finish = FINISH;
    static constexpr map_kind map = MAP;
    static constexpr u32 extra = EXTRA;
};

/* ---- the input ------------------------------------------------------------------------------- */

/* The array as vectors, counted from where the line of 128 bytes begins that its first element is in, so
 * that a warp reads whole lines whatever the base is. Vectors [lead, end) are wholly the array's; the head
 * in front of them and the tail behind are shorter than one. */
template <class T> struct input {
    static constexpr u32 count = packet<T>::count;
    const T *in;
    u64 n, end; /* end is lead - 1 if all of the array lies in one vector: only a head */
    u32 off, lead; /* bytes from vector 0 to the first element */
    RTUNE_DEVICE explicit input(const args &a) : in(static_cast<const T *>(a.in)), n(a.n) {
        off = u32(reinterpret_cast<u64>(in)) % 128;
        lead = (off + 15) / 16;
        end = (off + n * sizeof(T)) / 16;
    }
    RTUNE_DEVICE bool tiny() const { return end < lead; }
    RTUNE_DEVICE u64 inner() const { return tiny() ? 0 : end - lead; } /* whole vectors */
    RTUNE_DEVICE const vec16 *body() const {
        return reinterpret_cast<const vec16 *>(reinterpret_cast<const u8 *>(in) - off);
    }
    RTUNE_DEVICE u32 head() const { return tiny() ? u32(n) : (lead * 16 - off) / u32(sizeof(T)); }
    RTUNE_DEVICE u32 tail() const {
        return tiny() ? 0 : (off + u32(n) * u32(sizeof(T))) % 16 / u32(sizeof(T));
    }
    /* Index of the first element of a vector; wraps where that is in front of the array. */
    RTUNE_DEVICE u64 index_of(u64 vector) const {
        return u64(i64(vector * 16 - off) / i64(sizeof(T)));
    }
};

/* Vectors [begin, end) that this block reads, in trips of one tile, step vectors apart. */
struct span {
    u64 begin, end, step;
};
template <class P> RTUNE_DEVICE u32 this_block() {
    return P::finish == finish_kind::one ? 0 : block_index();
}
template <class P> RTUNE_DEVICE u32 block_count() {
    return P::finish == finish_kind::one ? 1 : grid_size();
}
template <class P> RTUNE_DEVICE span block_span(u64 vectors) {
    const u64 b = this_block<P>(), g = block_count<P>();
    if constexpr (P::map == map_kind::strip) {
        return {b * P::tile, vectors, g * P::tile};
    } else {
        const u64 chunk = (vectors + g * 8 - 1) / (g * 8) * 8; /* whole lines */
        const u64 begin = b * chunk, end = begin + chunk;
        return {begin, end < vectors ? end : vectors, P::tile};
    }
}
/* The vectors of one trip that are to be read: [skip, left) of its tile; none if left is not above. */
struct trip {
    u32 skip;
    i32 left;
    /* Is vector k of thread t there? The lead is shorter than a block. */
    template <class P> RTUNE_DEVICE bool has(u32 t, u32 k) const {
        return i32(t + k * P::block) < left && (k > 0 || t >= skip);
    }
};
/* The trip that begins at vector i, at most grid_max tiles beyond the end. */
template <class P> RTUNE_DEVICE trip trip_at(const span &s, u64 i, u32 skip) {
    const i64 rest = i64(s.end - i);
    return {skip, rest < i64(P::tile) ? i32(rest) : i32(P::tile)};
}
template <class T, class P> RTUNE_DEVICE trip first_trip(const input<T> &x, const span &s) {
    return trip_at<P>(s, s.begin, this_block<P>() == 0 ? x.lead : 0);
}

/* *p if valid, else an element that changes nothing. Predicated, as the loads of a partial tile. */
template <class T> RTUNE_DEVICE T load_element_if(const T *p, bool valid, T pad) {
    pun<T> x;
    x.value = pad;
    load_bits_if(x.bits, p, valid);
    return x.value;
}

/* The ends that are thread t's, in one block only; the others' are pads. */
template <class T>
RTUNE_DEVICE ends<T> load_ends(const input<T> &x, const T *in, bool edge, u32 t, T pad) {
    ends<T> e;
    const u32 tail = x.tail();
    e.has_first = edge && t < x.head();
    e.has_last = edge && t < tail;
    e.first = load_element_if(in + t, e.has_first, pad);
    e.last = load_element_if(in + (x.n - tail + t), e.has_last, pad);
    return e;
}

/* One trip's vectors; p is thread t's first one. Offsets from there are constants, which spares addresses:
 * else the compiler spreads the loads among the additions, two in flight at a time. */
template <class Op, class P>
RTUNE_DEVICE void load_trip(packet<typename Op::in> (&v)[P::vectors], const vec16 *p, u32 t, trip r) {
    if constexpr (Op::repeats) {
#pragma unroll
        for (u32 k = 0; k < P::vectors; k++) {
            const u32 i = t + k * P::block, last = u32(r.left) - 1, below = i < last ? i : last;
            load_vector_if<P::load>(v[k].raw, p + (i64(below > r.skip ? below : r.skip) - t), true);
        }
    } else {
#pragma unroll
        for (u32 k = 0; k < P::vectors; k++) {
            v[k] = filled<typename Op::in>(Op::pad());
            load_vector_if<P::load>(v[k].raw, p + k * P::block, r.has<P>(t, k));
        }
    }
}
/* The same from a second input that does not lie as the first one does modulo 16 bytes. */
template <class Op, class P>
RTUNE_DEVICE void load_trip_skewed(packet<typename Op::in> (&v)[P::vectors], const typename Op::in *p,
                                   u32 t, trip r) {
    constexpr u32 count = packet<typename Op::in>::count;
#pragma unroll
    for (u32 k = 0; k < P::vectors; k++) {
#pragma unroll
        for (u32 j = 0; j < count; j++)
            v[k].e[j] = load_element_if(p + k * P::block * count + j, r.has<P>(t, k), Op::pad());
    }
}

/* ---- thread ---------------------------------------------------------------------------------- */

/* What a finish does beside the reading: loaded() when the first loads are on their way, in front of all
 * arithmetic; read() when a thread is done, ahead of a barrier that all threads pass if the block has more
 * than one warp: what loaded() asked for is waited for there. */
struct nothing_beside {
    RTUNE_DEVICE void loaded() {}
    RTUNE_DEVICE void read() {}
};

/* A thread's way through its block's trips. The first one's loads come before anything else, the ends'
 * after them and before the first addition; what has no use for the loop never runs it. */
template <class Op, class P> struct reader {
    using T = typename Op::in;
    const input<T> &x;
    const span s;
    const u32 t;
    const vec16 *p; /* this thread's first vector of the trip */
    const T *q;     /* the same of a second input */
    bool skewed;

    RTUNE_DEVICE reader(const args &a, const input<T> &x_)
        : x(x_), s(block_span<P>(x_.end)), t(thread_index()), p(x_.body() + s.begin + t) {
        if constexpr (Op::inputs == 2) {
            q = static_cast<const T *>(a.in2) + i64(x.index_of(s.begin + t));
            skewed = reinterpret_cast<u64>(q) % 16 != 0;
        }
    }
    template <u32 V> RTUNE_DEVICE void load(trip r, packet<T> (&v)[V]) const {
        load_trip<Op, P>(v, p, t, r);
    }
    template <u32 V>
    RTUNE_DEVICE void load(trip r, packet<T> (&v)[V], packet<T> (&w)[V]) const {
        load_trip<Op, P>(v, p, t, r);
        if (skewed) load_trip_skewed<Op, P>(w, q, t, r);
        else load_trip<Op, P>(w, reinterpret_cast<const vec16 *>(q), t, r);
    }
    RTUNE_DEVICE void step() {
        p += s.step;
        if constexpr (Op::inputs == 2) q += s.step * x.count;
    }
    /* Calls loaded() once all first loads are on their way, then fold(number, trip) for each trip, whose
     * packets are in packs. */
    template <class Loaded, class Fold, class... Packs>
    RTUNE_DEVICE void run(const Loaded &loaded, const Fold &fold, Packs &...packs) {
        trip r = first_trip<T, P>(x, s);
        if constexpr (Op::repeats) {
            const bool some = i32(r.skip) < r.left;
            if (some) load(r, packs...);
            loaded();
            if (!some) return;
        } else {
            load(r, packs...);
            loaded();
        }
        loads_first(x.body() + s.begin);
        u64 i = s.begin;
        for (typename P::trips number = 0;; number++) {
            RTUNE_NO_UNROLL; /* its loads wait for the additions: copies would only be code to fetch */
            fold(number, r);
            i += s.step;
            if (i >= s.end) break;
            step();
            r = trip_at<P>(s, i, 0);
            load(r, packs...);
            loads_first(x.body() + i);
        }
    }
};

/* Every thread holds its own partial. */
template <class Op, class P, class Beside>
RTUNE_DEVICE typename Op::acc thread_reduce(const args &a, Beside &beside) {
    using T = typename Op::in;
    const input<T> x(a);
    const bool edge = this_block<P>() == block_count<P>() - 1;
    reader<Op, P> r(a, x);
    typename Op::state sums = Op::begin(a);
    ends<T> e, f;
    const auto loaded = [&] {
        beside.loaded();
        e = load_ends(x, x.in, edge, r.t, Op::pad());
        if constexpr (Op::inputs == 2)
            f = load_ends(x, static_cast<const T *>(a.in2), edge, r.t, Op::pad());
    };
    packet<T> v[P::vectors], w[P::vectors];
    if constexpr (Op::inputs == 1) {
        r.run(loaded, [&](typename P::trips, trip) { Op::fold(sums, v); }, v);
        Op::edge(sums, e);
    } else {
        r.run(loaded, [&](typename P::trips, trip) { Op::fold(sums, v, w); }, v, w);
        Op::edge(sums, e, f);
    }
    return Op::end(sums);
}

/* ---- warp ------------------------------------------------------------------------------------ */

/* Reduce over the first LANES lanes, rounded up to a power of two (lanes from LANES up hold the identity).
 * These lanes hold the result; the others do not. */
template <class Op, u32 LANES> RTUNE_DEVICE typename Op::acc warp_reduce(typename Op::acc x) {
    if constexpr (Op::own_warp) {
        return Op::warp(x);
    } else if constexpr (has_redux && Op::redux != redux_kind::none && LANES > 8) {
        return redux_of<Op::redux>(x);
    } else {
#pragma unroll
        for (u32 mask = 16; mask > 0; mask /= 2) {
            if (mask < LANES) x = Op::combine(x, exchange_xor(x, mask));
        }
        return x;
    }
}
/* ---- block ----------------------------------------------------------------------------------- */

/* All threads of the block call it. Thread 0 holds the result. `shared` has room for one
 * accumulator a warp and is not used again by this launch. One barrier, if there is more than one warp: what
 * thread 0 wrote to shared memory before the call is visible to all after it. */
template <class Op, class P>
RTUNE_DEVICE typename Op::acc block_reduce(typename Op::acc x,
                                           const shared_array<typename Op::acc> &shared) {
    using A = typename Op::acc;
    x = warp_reduce<Op, 32>(x);
    if constexpr (P::warps > 1) {
        const u32 t = thread_index(), lane = t % 32, warp = t / 32;
        if (lane == 0) shared.put(warp, x);
        barrier();
        if (warp == 0) {
            if constexpr (Op::own_warp) {
                x = Op::warp(lane < P::warps ? shared.get(lane) : Op::identity());
            } else if constexpr (P::warps * sizeof(A) <= 64) { /* four loads and a tree beat the shuffles */
                A all[P::warps];
#pragma unroll
                for (u32 k = 0; k < P::warps; k++) all[k] = shared.get(k);
                x = tree<by_combine<Op>>(all);
            } else {
                const A y = lane < P::warps ? shared.get(lane) : Op::identity();
                x = warp_reduce<Op, P::warps>(y);
            }
        }
    }
    return x;
}

} // namespace rtune

#endif
