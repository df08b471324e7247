/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/cascade.cuh: the cascaded reduction, Harris's last kernel made current. Each thread first
 * reduces many elements serially in registers (Brent's theorem), then warps by shuffles, then the block
 * through shared memory, then the grid by one of the finishes. thread -> warp -> block -> grid; each layer
 * uses only the one below and says which threads hold the valid result.
 *
 * Right for every n, every element-aligned base and every grid: the head up to the first 16-byte boundary
 * and the tail behind the last one are loaded element by element by the last block.
 */
#ifndef RTUNE_DEVICE_CASCADE_CUH
#define RTUNE_DEVICE_CASCADE_CUH

#include "kernels/device/ops.cuh"

namespace rtune {

/* One config: a plain aggregate, all in the type. */
template <int BLOCK, int VECTORS, load_kind LOAD, finish_kind FINISH, map_kind MAP> struct policy {
    static_assert(BLOCK >= 32 && BLOCK <= 1024 && BLOCK % 32 == 0, "block");
    static_assert(VECTORS >= 1 && VECTORS <= 16 && (VECTORS & (VECTORS - 1)) == 0, "vectors");
    static constexpr u32 block = BLOCK;
    static constexpr u32 warps = BLOCK / 32;
    static constexpr u32 vectors = VECTORS; /* of 16 bytes, in flight per thread */
    static constexpr u64 tile = u64(BLOCK) * VECTORS; /* vectors per block and trip */
    static constexpr load_kind load = LOAD;
    static constexpr finish_kind finish = FINISH;
    static constexpr map_kind map = MAP;
};

template <u64 SIZE> struct bits_of;
template <> struct bits_of<4> {
    using type = u32;
};
template <> struct bits_of<8> {
    using type = u64;
};

/* ---- thread ---------------------------------------------------------------------------------- */

template <class Op> union packet {
    static constexpr u32 count = 16 / sizeof(typename Op::in);
    vec16 raw;
    typename Op::in e[count];
};

/* Combine N values as a tree; N need not be a power of two. The steps are templates, so that every index
 * is a constant and t stays in registers. */
template <class Op, u32 HALF, u32 N> RTUNE_DEVICE void tree_step(typename Op::acc (&t)[N]) {
#pragma unroll
    for (u32 k = 0; k < HALF; k++) {
        if (k + HALF < N) t[k] = Op::combine(t[k], t[k + HALF]);
    }
    if constexpr (HALF > 1) tree_step<Op, HALF / 2>(t);
}
template <class Op, u32 N> RTUNE_DEVICE typename Op::acc tree(typename Op::acc (&t)[N]) {
    static_assert(N <= 32, "the first step is of 16");
    if constexpr (N > 16) tree_step<Op, 16>(t);
    else if constexpr (N > 8) tree_step<Op, 8>(t);
    else if constexpr (N > 4) tree_step<Op, 4>(t);
    else if constexpr (N > 2) tree_step<Op, 2>(t);
    else if constexpr (N > 1) tree_step<Op, 1>(t);
    return t[0];
}

/* sums[j] = op(sums[j], all packets' element j), the packets combined as a tree. */
template <class Op, u32 VECTORS>
RTUNE_DEVICE void fold(typename Op::acc (&sums)[packet<Op>::count], const packet<Op> (&v)[VECTORS]) {
#pragma unroll
    for (u32 j = 0; j < packet<Op>::count; j++) {
        typename Op::acc t[VECTORS];
#pragma unroll
        for (u32 k = 0; k < VECTORS; k++) t[k] = Op::load(v[k].e[j]);
        sums[j] = Op::combine(sums[j], tree<Op, VECTORS>(t));
    }
}

/* Vectors [begin, end) that this block reads, in trips of one tile, step vectors apart. */
struct span {
    u64 begin, end, step;
};
template <class P> RTUNE_DEVICE span block_span(u64 vectors) {
    const u64 b = block_index(), g = grid_size();
    if constexpr (P::map == map_kind::strip) {
        return {b * P::tile, vectors, g * P::tile};
    } else {
        const u64 chunk = vectors / g, more = vectors % g; /* the first `more` blocks take one more */
        const u64 begin = b * chunk + (b < more ? b : more);
        return {begin, begin + chunk + (b < more ? 1 : 0), P::tile};
    }
}

/* *p if valid, else an element whose load() is the identity. Predicated, as the loads of a partial tile. */
template <class Op>
RTUNE_DEVICE typename Op::in load_element_if(const typename Op::in *p, bool valid) {
    union {
        typename Op::in element;
        typename bits_of<sizeof(typename Op::in)>::type bits;
    } x;
    x.element = Op::pad();
    load_bits_if(x.bits, p, valid);
    return x.element;
}

/* Every thread holds its own partial. */
template <class Op, class P> RTUNE_DEVICE typename Op::acc thread_reduce(const args &a) {
    using T = typename Op::in;
    using A = typename Op::acc;
    constexpr u32 V = packet<Op>::count;
    const T *in = static_cast<const T *>(a.in);
    const u32 t = thread_index();

    u64 head = ((0 - reinterpret_cast<u64>(in)) & 15) / sizeof(T);
    if (head > a.n) head = a.n;
    const u64 vectors = (a.n - head) / V;
    const u32 tail = u32((a.n - head) % V);
    const vec16 *body = reinterpret_cast<const vec16 *>(in + head);

    /* Loaded first, used last. */
    const bool edge = block_index() == grid_size() - 1;
    const T first = load_element_if<Op>(in + t, edge && t < u32(head));
    const T last = load_element_if<Op>(in + (a.n - tail + t), edge && t < tail);

    A sums[V];
#pragma unroll
    for (u32 j = 0; j < V; j++) sums[j] = Op::identity();

    const span s = block_span<P>(vectors);
    const vec16 *p = body + s.begin + t;
    u64 i = s.begin;
    for (; i < s.end; i += s.step, p += s.step) { /* one body for whole and partial tiles: less code */
        packet<Op> v[P::vectors];
        const u64 rest = s.end - i;
        const u32 left = rest < P::tile ? u32(rest) : u32(P::tile);
#pragma unroll
        for (u32 k = 0; k < P::vectors; k++) {
#pragma unroll
            for (u32 j = 0; j < V; j++) v[k].e[j] = Op::pad();
            load_vector_if<P::load>(v[k].raw, p + k * P::block, t + k * P::block < left);
        }
        fold<Op, P::vectors>(sums, v);
    }
    return Op::combine(tree<Op, V>(sums), Op::combine(Op::load(first), Op::load(last)));
}

/* ---- warp ------------------------------------------------------------------------------------ */

template <class A> union words {
    static constexpr u32 count = sizeof(A) / 4;
    A value;
    u32 w[count];
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

/* Reduce over the first LANES lanes, rounded up to a power of two (lanes from LANES up hold the identity).
 * These lanes hold the result; the others do not. */
template <class Op, u32 LANES> RTUNE_DEVICE typename Op::acc warp_reduce(typename Op::acc x) {
#pragma unroll
    for (u32 mask = 16; mask > 0; mask /= 2) {
        if (mask < LANES) x = Op::combine(x, exchange_xor(x, mask));
    }
    return x;
}

/* ---- block ----------------------------------------------------------------------------------- */

/* All threads of the block call it. Thread 0 holds the result. `shared` has room for one
 * accumulator a warp and is not reused by this launch. One barrier, if there is more than one warp: what
 * thread 0 wrote to shared memory before the call is visible to all after it. */
template <class Op, class P>
RTUNE_DEVICE typename Op::acc block_reduce(typename Op::acc x, typename Op::acc *shared) {
    using A = typename Op::acc;
    x = warp_reduce<Op, 32>(x);
    if constexpr (P::warps > 1) {
        const u32 t = thread_index(), lane = t % 32, warp = t / 32;
        if (lane == 0) shared[warp] = x;
        barrier();
        if (warp == 0) {
            if constexpr (P::warps * sizeof(A) <= 64) { /* four loads and a tree beat the shuffles */
                A all[P::warps];
#pragma unroll
                for (u32 k = 0; k < P::warps; k++) all[k] = shared[k];
                x = tree<Op, P::warps>(all);
            } else {
                const A y = lane < P::warps ? shared[lane] : Op::identity();
                x = warp_reduce<Op, P::warps>(y);
            }
        }
    }
    return x;
}

/* ---- grid ------------------------------------------------------------------------------------ */

/* Thread 0 of one block calls it. */
template <class Op> RTUNE_DEVICE void write_result(const args &a, typename Op::acc x) {
    using A = typename Op::acc;
    A *out = static_cast<A *>(a.out);
    if (a.flags & accumulate_flag) x = Op::combine(*out, x);
    *out = Op::finish(x);
}

template <class T> RTUNE_DEVICE T *workspace_at(const args &a, u32 offset) {
    return reinterpret_cast<T *>(static_cast<u8 *>(a.workspace) + offset);
}

/* A flagged slot: each 32-bit word of an accumulator beside a flag, in one 64-bit word that is written
 * and read whole. So no fence is needed, and a slot is full when all its flags are set. */
template <class A, u32 WORDS = words<A>::count> struct slot;
template <class A> struct slot<A, 1> {
    u64 raw;
    RTUNE_DEVICE static slot full(A x) {
        words<A> w;
        w.value = x;
        return {(u64(1) << 32) | w.w[0]};
    }
    RTUNE_DEVICE bool is_full() const { return (raw >> 32) != 0; }
    RTUNE_DEVICE A value() const {
        words<A> w;
        w.w[0] = u32(raw);
        return w.value;
    }
    RTUNE_DEVICE static slot read(const slot *p) { return {load_word(&p->raw)}; }
    RTUNE_DEVICE static void write(slot *p, slot x) { store_word(&p->raw, x.raw); }
    RTUNE_DEVICE static slot empty() { return {0}; }
};
template <class A> struct slot<A, 2> {
    word2 raw;
    RTUNE_DEVICE static slot full(A x) {
        words<A> w;
        w.value = x;
        return {{(u64(1) << 32) | w.w[0], (u64(1) << 32) | w.w[1]}};
    }
    RTUNE_DEVICE bool is_full() const { return (raw.lo >> 32) != 0 && (raw.hi >> 32) != 0; }
    RTUNE_DEVICE A value() const {
        words<A> w;
        w.w[0] = u32(raw.lo);
        w.w[1] = u32(raw.hi);
        return w.value;
    }
    RTUNE_DEVICE static slot read(const slot *p) { return {load_words(&p->raw)}; }
    RTUNE_DEVICE static void write(slot *p, slot x) { store_words(&p->raw, x.raw); }
    RTUNE_DEVICE static slot empty() { return {{0, 0}}; }
};

/* Combine the grid's slots first, first + stride, ... in index order, `own` standing for this block's, and
 * empty them. Waits for slots that are not full yet: call it only in the block that started last, whose
 * peers are all running or done. */
template <class Op>
RTUNE_DEVICE typename Op::acc gather_slots(slot<typename Op::acc> *slots, u32 first, u32 stride,
                                           typename Op::acc own) {
    using A = typename Op::acc;
    using S = slot<A>;
    constexpr u32 batch = 4; /* reads in flight; more code is fetched more slowly when L2 is cold */
    const u32 grid = grid_size(), self = block_index();
    A x = Op::identity();
    for (u32 base = first; base < grid; base += batch * stride) {
        S s[batch];
#pragma unroll
        for (u32 k = 0; k < batch; k++) {
            const u32 i = base + k * stride;
            s[k] = i < grid && i != self ? S::empty() : S::full(own);
        }
        bool missing;
        do { /* read all that are missing at once: a trip costs one latency, however many they are */
            missing = false;
#pragma unroll
            for (u32 k = 0; k < batch; k++) {
                if (!s[k].is_full()) s[k] = S::read(slots + base + k * stride);
            }
#pragma unroll
            for (u32 k = 0; k < batch; k++) missing = missing || !s[k].is_full();
        } while (missing);
#pragma unroll
        for (u32 k = 0; k < batch; k++) {
            const u32 i = base + k * stride;
            if (i < grid) {
                x = Op::combine(x, s[k].value());
                if (i != self) S::write(slots + i, S::empty());
            }
        }
    }
    return x;
}

template <class Op> RTUNE_DEVICE slot<typename Op::acc> *slots_of(const args &a) {
    return workspace_at<slot<typename Op::acc>>(a, header_bytes);
}
/* 64-bit words, partial_bytes apart. */
RTUNE_DEVICE u64 *partial_of(const args &a, u32 block) {
    return workspace_at<u64>(a, header_bytes + grid_max * slot_bytes_max + block * partial_bytes);
}

/* Flagged slots. Each block takes a ticket when it starts, whose latency hides behind its loads; the one
 * that started last gathers. Deterministic: the slots are combined in index order. */
template <class Op, class P>
RTUNE_DEVICE void finish_slots(const args &a, u32 ticket, typename Op::acc x) {
    using A = typename Op::acc;
    alignas(16) RTUNE_SHARED A shared[P::warps];
    alignas(16) RTUNE_SHARED A shared_all[P::warps];
    RTUNE_SHARED A shared_own;
    RTUNE_SHARED u32 shared_ticket;
    slot<A> *slots = slots_of<Op>(a);
    const u32 t = thread_index(), grid = grid_size();

    if constexpr (P::warps > 1) {
        if (t == 0) shared_ticket = ticket;
    }
    x = block_reduce<Op, P>(x, shared);
    if (grid == 1) { /* past the rest of the code, which need not be fetched then */
        if (t == 0) write_result<Op>(a, x);
        return;
    }
    if constexpr (P::warps > 1) {
        ticket = shared_ticket;
    } else {
        ticket = shuffle(ticket, 0);
    }
    if (ticket != grid - 1) {
        if (t == 0) slot<A>::write(slots + block_index(), slot<A>::full(x));
        return;
    }
    if (P::warps == 1 || grid <= 128) { /* one warp, one batch */
        if (t >= 32) return;
        x = warp_reduce<Op, 32>(gather_slots<Op>(slots, t, 32, exchange_from(x, 0)));
    } else {
        if (t == 0) shared_own = x;
        barrier();
        x = block_reduce<Op, P>(gather_slots<Op>(slots, t, P::block, shared_own), shared_all);
    }
    if (t == 0) write_result<Op>(a, x);
}

/* Last block done: the ticket is taken after the partial is stored, with release and acquire order. */
template <class Op, class P> RTUNE_DEVICE void finish_last(const args &a, typename Op::acc x) {
    using A = typename Op::acc;
    alignas(16) RTUNE_SHARED A shared[P::warps];
    alignas(16) RTUNE_SHARED A shared_all[P::warps];
    RTUNE_SHARED u32 shared_ticket;
    const u32 t = thread_index(), grid = grid_size();

    x = block_reduce<Op, P>(x, shared);
    u32 ticket = 0;
    if (t == 0) {
        union {
            u64 bits;
            A value;
        } w;
        w.bits = 0;
        w.value = x;
        store_word(partial_of(a, block_index()), w.bits);
        ticket = ticket_acq_rel(workspace_at<u32>(a, ticket_done), grid - 1);
        shared_ticket = ticket;
    }
    if constexpr (P::warps > 1) {
        barrier();
        ticket = shared_ticket;
    } else {
        ticket = shuffle(ticket, 0);
    }
    if (ticket != grid - 1) return;

    x = Op::identity();
    for (u32 i = t; i < grid; i += P::block) {
        union {
            u64 bits;
            A value;
        } w;
        w.bits = load_word(partial_of(a, i));
        x = Op::combine(x, w.value);
    }
    x = block_reduce<Op, P>(x, shared_all);
    if (t == 0) write_result<Op>(a, x);
}

template <class Op, class P> RTUNE_DEVICE void finish_one(const args &a, typename Op::acc x) {
    alignas(16) RTUNE_SHARED typename Op::acc shared[P::warps];
    x = block_reduce<Op, P>(x, shared);
    if (thread_index() == 0) write_result<Op>(a, x);
}

/* The body of every kernel of the family. Thread 0 first touches what the finish will need, so that a
 * workspace that is not in L2 is fetched while the elements are: 0.2 to 0.3 us on an H200. */
template <class Op, class P> RTUNE_DEVICE void cascade(const args &a) {
    static_assert(sizeof(typename Op::acc) <= 8, "accumulators of more than one slot pair");
    if constexpr (P::finish == finish_kind::slots) {
        u32 ticket = 0;
        if (thread_index() == 0 && grid_size() > 1) {
            prefetch(slots_of<Op>(a) + block_index());
            ticket = ticket_relaxed(workspace_at<u32>(a, ticket_start), grid_size() - 1);
        }
        finish_slots<Op, P>(a, ticket, thread_reduce<Op, P>(a));
    } else if constexpr (P::finish == finish_kind::last) {
        if (thread_index() == 0) {
            prefetch(partial_of(a, block_index()));
            prefetch(workspace_at<u32>(a, ticket_done));
        }
        finish_last<Op, P>(a, thread_reduce<Op, P>(a));
    } else {
        finish_one<Op, P>(a, thread_reduce<Op, P>(a));
    }
}

} // namespace rtune

#endif
