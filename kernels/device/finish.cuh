/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/finish.cuh: how the blocks' partials become one value. Partials are combined in an order
 * that depends on the grid alone; so every finish but `packed` (integers) and `atomic` (which says so)
 * gives the same bits whichever block comes last. For an ordered op it is a tree of neighbours.
 */
#ifndef RTUNE_DEVICE_FINISH_CUH
#define RTUNE_DEVICE_FINISH_CUH

#include "kernels/device/cascade.cuh"

namespace rtune {

template <class T> RTUNE_DEVICE T *workspace_at(const args &a, u32 offset) {
    return reinterpret_cast<T *>(static_cast<u8 *>(a.workspace) + offset);
}

/* ---- where partials are ---------------------------------------------------------------------- */

/* A source reads at most four partials of a chunk for each lane of a warp: neighbours for an op whose tree
 * is fixed, else 32 apart, so that a small grid has one for each lane. What lies beyond the count is the
 * identity and is not touched: nobody has brought it into L2. */
constexpr u32 four = 4;
struct chunk {
    u32 begin, each; /* each: 1 or 4 partials a lane */
};
template <class Op> RTUNE_DEVICE u32 partial_index(chunk c, u32 lane, u32 k) {
    if (c.each == 1) return k == 0 ? c.begin + lane : ~u32(0);
    return c.begin + (Op::ordered ? lane * four + k : lane + k * 32);
}

/* Plain partials, 16 bytes apart. */
template <class A> union partial {
    word2 raw;
    A value;
};
RTUNE_DEVICE word2 *partial_of(const args &a, u32 block) {
    return workspace_at<word2>(a, header_bytes + grid_max * slot_bytes_max + block * partial_bytes);
}
template <class A> RTUNE_DEVICE void store_partial(const args &a, u32 block, A x) {
    partial<A> p;
    p.raw = {0, 0};
    p.value = x;
    store_words(partial_of(a, block), p.raw);
}
template <class Op> struct partial_source {
    const args &a;
    u32 count;
    RTUNE_DEVICE void read(chunk c, u32 lane, typename Op::acc (&x)[four]) const {
        partial<typename Op::acc> p[four];
#pragma unroll
        for (u32 k = 0; k < four; k++) {
            const u32 i = partial_index<Op>(c, lane, k);
            p[k].raw = i < count ? load_words(partial_of(a, i)) : word2{0, 0};
        }
#pragma unroll
        for (u32 k = 0; k < four; k++)
            x[k] = partial_index<Op>(c, lane, k) < count ? p[k].value : Op::identity();
    }
};

/* Flagged slots: each 32-bit word of an accumulator below a flag, in one 64-bit word that is written
 * and read whole. So no fence is needed, and a slot is full when all its flags are set. A third 32-bit
 * word of at most 31 bits (the upper half of an index) lies between the first one and its flag. */
template <class A> struct slots {
    static constexpr bool folded = words<A>::count == 3;
    static constexpr u32 count = folded ? 2 : words<A>::count; /* 64-bit words of a slot */
    static constexpr u64 flag = u64(1) << 63;
    static_assert(count * 8 <= slot_bytes_max, "a slot's room in the workspace");
    RTUNE_DEVICE static u64 *at(const args &a, u32 block) {
        return workspace_at<u64>(a, header_bytes) + block * count;
    }
    RTUNE_DEVICE static void write(const args &a, u32 block, A x) {
        words<A> w;
        w.value = x;
        u64 *p = at(a, block), first = flag | w.w[0];
        if constexpr (folded) first |= u64(w.w[2] & 0x7fffffffu) << 32;
        if constexpr (count == 1) {
            store_word(p, first);
        } else {
            store_words(reinterpret_cast<word2 *>(p), {first, flag | w.w[1]});
            if constexpr (count == 4)
                store_words(reinterpret_cast<word2 *>(p + 2), {flag | w.w[2], flag | w.w[3]});
        }
    }
    RTUNE_DEVICE static void empty(const args &a, u32 block) {
        u64 *p = at(a, block);
        if constexpr (count == 1) {
            store_word(p, 0);
        } else {
#pragma unroll
            for (u32 i = 0; i < count; i += 2) store_words(reinterpret_cast<word2 *>(p + i), {0, 0});
        }
    }
    RTUNE_DEVICE static void read(const args &a, u32 block, u64 (&raw)[count]) {
        const u64 *p = at(a, block);
        if constexpr (count == 1) {
            raw[0] = load_word(p);
        } else {
#pragma unroll
            for (u32 i = 0; i < count; i += 2) {
                const word2 w = load_words(reinterpret_cast<const word2 *>(p + i));
                raw[i] = w.lo;
                raw[i + 1] = w.hi;
            }
        }
    }
    RTUNE_DEVICE static bool is_full(const u64 (&raw)[count]) {
        u64 all = flag;
#pragma unroll
        for (u32 i = 0; i < count; i++) all &= raw[i];
        return all != 0;
    }
    RTUNE_DEVICE static A value(const u64 (&raw)[count]) {
        words<A> w;
#pragma unroll
        for (u32 i = 0; i < count; i++) w.w[i] = u32(raw[i]);
        if constexpr (folded) w.w[2] = u32(raw[0] >> 32) & 0x7fffffffu;
        return w.value;
    }
};
/* Waits for slots that are not full yet, and empties them: use it only in the block that started last,
 * whose peers are all running or done. `own` stands for that block's, which it need not write. */
template <class Op> struct slot_source {
    using A = typename Op::acc;
    using S = slots<A>;
    const args &a;
    u32 count, self;
    A own;
    RTUNE_DEVICE void read(chunk c, u32 lane, A (&x)[four]) const {
        u64 raw[four][S::count];
#pragma unroll
        for (u32 k = 0; k < four; k++) { /* what need not be read is full */
            const u32 i = partial_index<Op>(c, lane, k);
#pragma unroll
            for (u32 w = 0; w < S::count; w++) raw[k][w] = i < count && i != self ? 0 : S::flag;
        }
        bool missing;
        do { /* all that are missing at once: a trip costs one latency, however many they are */
            missing = false;
#pragma unroll
            for (u32 k = 0; k < four; k++)
                if (!S::is_full(raw[k])) S::read(a, partial_index<Op>(c, lane, k), raw[k]);
#pragma unroll
            for (u32 k = 0; k < four; k++) missing = missing || !S::is_full(raw[k]);
        } while (missing);
#pragma unroll
        for (u32 k = 0; k < four; k++) {
            const u32 i = partial_index<Op>(c, lane, k);
            x[k] = i == self ? own : i < count ? S::value(raw[k]) : Op::identity();
            if (i < count && i != self) S::empty(a, i);
        }
    }
};

/* ---- gathering ------------------------------------------------------------------------------- */

constexpr u32 warp_most = 32 * four; /* partials that one warp takes at once, and alone */

/* All lanes of the warp hold what the partials of a chunk come to. */
template <class Op, class Source>
RTUNE_DEVICE typename Op::acc gather_chunk(const Source &source, chunk c, u32 lane) {
    typename Op::acc x[four];
    source.read(c, lane, x);
    return warp_all<Op>(Op::combine(Op::combine(x[0], x[1]), Op::combine(x[2], x[3])));
}
/* All threads call it, or only the first warp if there are at most warp_most partials. Thread 0 holds the
 * result. shared: 32 accumulators. */
template <class Op, class P, class Source>
RTUNE_DEVICE typename Op::acc gather(const Source &source, u32 count, typename Op::acc *shared) {
    const u32 t = thread_index(), lane = t % 32;
    const u32 each = count > warp_most && count <= 1024 ? 1 : four; /* at most 32 chunks */
    const u32 size = 32 * each, chunks = (count + size - 1) / size;
    typename Op::acc x = Op::identity();
#pragma unroll 1
    for (u32 c = t / 32; c < chunks; c += P::warps) {
        x = gather_chunk<Op>(source, {c * size, each}, lane);
        if (chunks > 1 && lane == 0) shared[c] = x;
    }
    if (chunks == 1) return x;
    barrier();
    if (t >= 32) return x;
    return warp_all<Op>(lane < chunks ? shared[lane] : Op::identity());
}

/* ---- finishes -------------------------------------------------------------------------------- */

/* Who writes a slot takes a ticket as soon as its loads are on their way, whose latency hides behind
 * theirs. One of one needs none. */
template <class Op> struct ticket_beside {
    const args &a;
    u32 self, count;
    shared_array<u32> shared;
    u32 ticket = 0;
    RTUNE_DEVICE void loaded() {
        if (thread_index() != 0 || count == 1) return;
        ticket = ticket_relaxed(workspace_at<u32>(a, ticket_start), count - 1);
        prefetch(slots<typename Op::acc>::at(a, self));
    }
    RTUNE_DEVICE void read() {
        if (thread_index() == 0) shared.put(0, ticket);
    }
    /* Is this the block that started last? For all threads, behind the barrier after read(). */
    template <class P> RTUNE_DEVICE bool is_last() const {
        return (P::warps > 1 ? shared.get(0) : shuffle(ticket, 0)) == count - 1;
    }
};
/* Flagged slots: the block that started last gathers. */
template <class Op, class P, class Block>
RTUNE_DEVICE void finish_slots(const args &a, const Block &block) {
    using A = typename Op::acc;
    alignas(16) RTUNE_SHARED A shared[32];
    RTUNE_SHARED A shared_own;
    RTUNE_SHARED u32 shared_word;
    const shared_array<u32> shared_ticket(&shared_word);
    const u32 t = thread_index(), grid = grid_size();
    ticket_beside<Op> beside = {a, block_index(), grid, shared_ticket};
    const A x = block(beside);
    if (grid == 1) { /* past the rest of the code, which need not be fetched then */
        if (t == 0) Op::store(a, x);
        return;
    }
    if (!beside.template is_last<P>()) {
        if (t == 0) slots<A>::write(a, block_index(), x);
        return;
    }
    slot_source<Op> source = {a, grid, block_index(), x};
    if (grid <= warp_most) {
        if (t >= 32) return;
        source.own = exchange_from(x, 0);
    } else {
        if (t == 0) shared_own = x;
        barrier();
        source.own = shared_own;
    }
    const A all = gather<Op, P>(source, grid, shared);
    if (t == 0) Op::store(a, all);
}

/* Last block done: the ticket is taken after the partial is stored, with release and acquire order. */
template <class Op, class P, class Block>
RTUNE_DEVICE void finish_last(const args &a, const Block &block) {
    using A = typename Op::acc;
    alignas(16) RTUNE_SHARED A shared[32];
    RTUNE_SHARED u32 shared_word;
    const shared_array<u32> shared_ticket(&shared_word);
    const u32 t = thread_index(), grid = grid_size();
    if (t == 0) {
        prefetch(partial_of(a, block_index()));
        prefetch(workspace_at<u32>(a, ticket_done));
    }
    const A x = block(nothing_beside());
    u32 ticket = 0;
    if (t == 0) {
        store_partial(a, block_index(), x);
        ticket = ticket_acq_rel(workspace_at<u32>(a, ticket_done), grid - 1);
        shared_ticket.put(0, ticket);
    }
    if constexpr (P::warps > 1) barrier();
    if ((P::warps > 1 ? shared_ticket.get(0) : shuffle(ticket, 0)) != grid - 1) return;
    const A all = gather<Op, P>(partial_source<Op>{a, grid}, grid, shared);
    if (t == 0) Op::store(a, all);
}

/* One atomic carries the number of blocks that are done and their total; who completes the count has the
 * total. Valid where the running total fits its field: rtune_finish_admits. */
template <class Op, class P, class Block>
RTUNE_DEVICE void finish_packed(const args &a, const Block &block) {
    static_assert(Op::packed_bits > 0, "this op's values cannot be packed");
    constexpr u32 shift = 64 - Op::packed_bits;
    u64 *word = workspace_at<u64>(a, packed_word);
    if (thread_index() == 0) prefetch(word);
    const typename Op::acc x = block(nothing_beside());
    if (thread_index() != 0) return;
    const u64 add = Op::pack(x) << shift | 1;
    const u64 total = add_relaxed(word, add) + add;
    if ((total & ((u64(1) << shift) - 1)) != grid_size()) return;
    store_word(word, 0);
    Op::store(a, Op::unpack(u64(i64(total) >> shift)));
}

/* Floating-point atomics: not deterministic. */
template <class Op, class P, class Block>
RTUNE_DEVICE void finish_atomic(const args &a, const Block &block) {
    using A = typename Op::acc;
    A *sum = workspace_at<A>(a, atomic_sum);
    if (thread_index() == 0) {
        prefetch(sum);
        prefetch(workspace_at<u32>(a, ticket_done));
    }
    const A x = block(nothing_beside());
    if (thread_index() != 0) return;
    reduce_add(sum, x);
    if (ticket_acq_rel(workspace_at<u32>(a, ticket_done), grid_size() - 1) != grid_size() - 1) return;
    words<u64> bits;
    bits.value = load_word(reinterpret_cast<const u64 *>(sum));
    store_word(reinterpret_cast<u64 *>(sum), 0);
    Op::store(a, from_bits<A>(bits.value));
}

template <class Op, class P, class Block>
RTUNE_DEVICE void finish_one(const args &a, const Block &block) {
    const typename Op::acc x = block(nothing_beside());
    if (thread_index() == 0) Op::store(a, x);
}

/* The first of two kernels, and the second: one block. */
template <class Op, class P, class Block>
RTUNE_DEVICE void finish_first(const args &a, const Block &block) {
    const typename Op::acc x = block(nothing_beside());
    if (thread_index() == 0) store_partial(a, block_index(), x);
}
template <class Op, class P> RTUNE_DEVICE void finish_second(const args &a) {
    alignas(16) RTUNE_SHARED typename Op::acc shared[32];
    const u32 t = thread_index();
    if (a.partials <= warp_most && t >= 32) return;
    const typename Op::acc x = gather<Op, P>(partial_source<Op>{a, a.partials}, a.partials, shared);
    if (t == 0) Op::store(a, x);
}

} // namespace rtune

#endif
