/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/leaves.cuh: the mode reproducible: sums in one tree that depends on n alone, specified to
 * the bit in docs/REPRODUCIBLE.md. A warp sums a leaf, and a warp, a block and the grid each sum an aligned
 * power of two of leaves, which is a node of the tree whatever the config.
 *
 * A leaf is `rows` rows of 512 bytes; a row's elements belong to as many residues, each summed down the
 * rows. Vectors are loaded where memory aligns them, so a lane's elements belong to residues that are
 * rotated by a shift; the tree over residues combines those half a turn apart first, and no rotation
 * changes that.
 */
#ifndef RTUNE_DEVICE_LEAVES_CUH
#define RTUNE_DEVICE_LEAVES_CUH

#include "kernels/device/cascade.cuh"
#include "kernels/device/op_sum.cuh"

namespace rtune {

template <class T, class R, term_kind TERM> struct op_leaves {
    using in = T;
    using acc = typename number<T>::compute;
    static constexpr u32 inputs = TERM == term_kind::product ? 2 : 1, packed_bits = 0;
    static constexpr bool ordered = true, repeats = false, own_warp = false;
    static constexpr redux_kind redux = redux_kind::none;
    static constexpr u32 count = packet<T>::count; /* elements of a vector */
    static constexpr u32 rows = 16;
    static constexpr u32 row_vectors = 32; /* one a lane */
    static constexpr u64 leaf = u64(rows) * row_vectors * count;
    RTUNE_DEVICE static T pad() { return from_bits<T>(0); }
    RTUNE_DEVICE static acc term(T x) { return float_term<TERM>(to_compute(x)); }
    RTUNE_DEVICE static acc term(T x, T y) {
        return float_term<TERM>(to_compute(x), to_compute(y));
    }
    RTUNE_DEVICE static acc identity() { return 0; }
    RTUNE_DEVICE static acc combine(acc a, acc b) { return a + b; }
    RTUNE_DEVICE static void store(const args &a, acc x) { store_sum<R, TERM>(a, x); }
};
template <class T, class R> using op_sum_reproducible = op_leaves<T, R, term_kind::value>;
template <class T, class R> using op_asum_reproducible = op_leaves<T, R, term_kind::magnitude>;
template <class T, class R> using op_sumsq_reproducible = op_leaves<T, R, term_kind::square>;
template <class T, class R> using op_dot_reproducible = op_leaves<T, R, term_kind::product>;

RTUNE_DEVICE u64 ceil_power(u64 x) { /* the smallest power of two not below x, 1 for 0 */
    u64 p = 1;
    while (p < x) p *= 2;
    return p;
}

/* One leaf's sums: a lane's elements of each row, down the rows. Rows begin where lines of memory do; so
 * the first of them may hold the end of the leaf before, and a 17th one the end of this leaf. */
template <class Op, class P> struct leaf_sum {
    using T = typename Op::in;
    using A = typename Op::acc;
    static constexpr u32 count = Op::count;
    static constexpr u32 batch = P::vectors < Op::rows ? P::vectors : Op::rows; /* rows in flight */

    const input<T> &x;
    const T *in2;
    const bool skewed; /* in2 lies otherwise than in modulo 16 bytes */
    const u32 lane;
    const u32 zero; /* as the compiler does not know */
    A a[count];

    RTUNE_DEVICE leaf_sum(const input<T> &x_, const args &args_, u32 lane_)
        : x(x_), in2(static_cast<const T *>(args_.in2)),
          skewed(Op::inputs == 2 && (reinterpret_cast<u64>(in2) - x_.off) % 16 != 0), lane(lane_),
          zero(args_.flags >> 31) {}

    /* Vector q of an input, if it is whole; else pads. */
    RTUNE_DEVICE packet<T> vector(u64 q, bool valid) const {
        packet<T> v = filled<T>(Op::pad());
        load_vector_if<P::load>(v.raw, x.body() + q, valid);
        return v;
    }
    /* The vectors of the second input that go with those of add_rows. */
    template <u32 N>
    RTUNE_DEVICE void load_second(packet<T> (&w)[N], u64 q, const bool (&valid)[N]) const {
        const T *p = in2 + i64(x.index_of(q));
        constexpr u32 row = Op::row_vectors * count;
        if (!skewed) {
#pragma unroll
            for (u32 k = 0; k < N; k++) {
                w[k] = filled<T>(Op::pad());
                load_vector_if<P::load>(w[k].raw, reinterpret_cast<const vec16 *>(p + k * row),
                                        valid[k]);
            }
        } else {
#pragma unroll
            for (u32 k = 0; k < N; k++) {
#pragma unroll
                for (u32 j = 0; j < count; j++)
                    w[k].e[j] = load_element_if(p + k * row + j, valid[k], Op::pad());
            }
        }
    }
    /* Nothing, but it takes all the vectors: so the first addition waits until all loads are on their way.
     * Else the compiler spreads them among the additions, two in flight at a time. loads_first, which would
     * do, was no faster here, and slower with 8 rows. */
    template <u32 N> RTUNE_DEVICE void hold(packet<T> (&v)[N]) const {
        u32 none = zero;
#pragma unroll
        for (u32 k = 1; k < N; k++) none &= v[k].w[0];
#pragma unroll
        for (u32 i = 0; i < 4; i++) v[0].w[i] ^= none;
    }
    /* Rows [row, row + ROWS) of the leaf whose first row begins at vector `first`; of its first row all
     * but the first `shift` elements are the leaf's, of the 17th only those. */
    template <u32 ROWS> RTUNE_DEVICE void add_rows(u64 first, u32 row, u32 shift) {
        packet<T> v[ROWS], w[ROWS];
        bool valid[ROWS];
        const u32 before = shift > lane * count ? shift - lane * count : 0; /* of this lane */
        const u64 q = first + row * Op::row_vectors + lane;
#pragma unroll
        for (u32 k = 0; k < ROWS; k++) {
            valid[k] = q + k * Op::row_vectors - x.lead < x.inner(); /* wraps below the lead */
            v[k] = vector(q + k * Op::row_vectors, valid[k]);
        }
        if constexpr (Op::inputs == 2) load_second(w, q, valid);
        if constexpr (ROWS > 1) {
            hold(v);
            if constexpr (Op::inputs == 2) hold(w);
        }
#pragma unroll
        for (u32 k = 0; k < ROWS; k++) {
#pragma unroll
            for (u32 j = 0; j < count; j++) {
                A t;
                if constexpr (Op::inputs == 1) t = Op::term(v[k].e[j]);
                else t = Op::term(v[k].e[j], w[k].e[j]);
                if (k == 0 && row == 0 && j < before) t = 0;
                if (k == 0 && row == Op::rows && j >= before) t = 0;
                a[j] = a[j] + t;
            }
        }
    }
    /* This lane's elements [from, to) of those that lie at vector q. */
    RTUNE_DEVICE void add_elements(u64 q, u64 from, u64 to, bool mine) {
#pragma unroll
        for (u32 j = 0; j < count; j++) {
            const u64 i = x.index_of(q) + j; /* wraps in front of the array, and is no less than to */
            const bool valid = mine && i >= from && i < to;
            const T e = load_element_if(x.in + i, valid, Op::pad());
            if constexpr (Op::inputs == 1) a[j] = a[j] + Op::term(e);
            else a[j] = a[j] + Op::term(e, load_element_if(in2 + i, valid, Op::pad()));
        }
    }
    /* The value of leaf l; all lanes of the warp call it and hold it. Vectors in front of the array, where
     * the first row may begin, have numbers that wrap. */
    RTUNE_DEVICE A sum(u64 l) {
        constexpr u64 line = 8; /* vectors */
        const u64 begin = l * Op::leaf;
        const u64 end = begin + Op::leaf < x.n ? begin + Op::leaf : x.n;
        const u64 at = begin + x.off / sizeof(T); /* elements behind vector 0 */
        const u64 first = at / count / line * line;
        const u32 shift = u32(at - first * count);
#pragma unroll
        for (u32 j = 0; j < count; j++) a[j] = 0;
        const u32 head = x.head(), tail = x.tail();
        if (begin < head) { /* at the vector before the first whole one */
            const u64 q = u64(x.lead) - 1;
            add_elements(q, begin, head < end ? head : end, lane == u32(q - first));
        }
#pragma unroll 1
        for (u32 row = 0; row < Op::rows; row += batch) add_rows<batch>(first, row, shift);
        if (shift) add_rows<1>(first, Op::rows, shift);
        if (tail && x.n - tail < end) { /* it is no whole vector; two leaves may share it */
            const u64 from = x.n - tail > begin ? x.n - tail : begin;
            add_elements(x.end, from, end, lane == u32(x.end - first) % 32);
        }
        return fold();
    }
    /* Over the residues: half a turn apart first. */
    RTUNE_DEVICE A fold() {
#pragma unroll
        for (u32 mask = 16; mask > 0; mask /= 2) {
#pragma unroll
            for (u32 j = 0; j < count; j++) a[j] = a[j] + exchange_xor(a[j], mask);
        }
        struct add {
            RTUNE_DEVICE static A apply(A p, A q) { return p + q; }
        };
        return tree<add>(a);
    }
};

/* Leaves [begin, begin + size), size a power of two and begin a multiple of it, of which those below `end`
 * are there, by one warp: a stack of nodes, one a level, in the lanes. All lanes hold the value. */
template <class Op, class P>
RTUNE_DEVICE typename Op::acc warp_leaves(leaf_sum<Op, P> &leaf, u64 begin, u64 size, u64 end) {
    using A = typename Op::acc;
    A stack = 0;
    const u64 have = begin >= end ? 0 : end - begin < size ? end - begin : size;
#pragma unroll 1
    for (u64 k = 0; k < have; k++) {
        A x = leaf.sum(begin + k);
        u32 level = 0;
#pragma unroll 1
        for (; k >> level & 1; level++) x = exchange_from(stack, level) + x;
        if (leaf.lane == level) stack = x;
    }
    A x = 0; /* the right edge of the tree: what is missing adds nothing */
#pragma unroll 1
    for (u32 level = 0; have >> level; level++) {
        const A y = exchange_from(stack, level);
        if (have >> level & 1) x = y + x;
    }
    return x;
}

/* The block's node of the tree: thread 0 holds it. Blocks beyond the largest power of two in the grid have
 * none. */
template <class Op, class P, class Beside>
RTUNE_DEVICE typename Op::acc leaves_block(const args &a, Beside &beside) {
    using A = typename Op::acc;
    alignas(16) RTUNE_SHARED A parts[32];
    const shared_array<A> shared(parts);
    const input<typename Op::in> x(a);
    const u32 t = thread_index(), lane = t % 32, warp = t / 32;
    const u64 leaves = (x.n + Op::leaf - 1) / Op::leaf, all = ceil_power(leaves);
    u64 blocks = ceil_power(block_count<P>());
    if (blocks > block_count<P>()) blocks /= 2;
    if (blocks > all) blocks = all;
    const u64 mine = all / blocks; /* leaves of a block, a power of two */
    u64 workers = ceil_power(P::warps);
    if (workers > P::warps) workers /= 2;
    if (workers > mine) workers = mine;

    A y = 0;
    beside.loaded(); /* nothing is yet, but it is a long way */
    if (this_block<P>() < blocks && warp < workers) {
        const u64 each = mine / workers;
        leaf_sum<Op, P> leaf(x, a, lane);
        y = warp_leaves<Op, P>(leaf, this_block<P>() * mine + warp * each, each, leaves);
    }
    beside.read();
    if constexpr (P::warps > 1) {
        if (lane == 0) shared.put(warp, y);
        barrier();
        if (warp == 0) y = warp_all<Op>(lane < P::warps ? shared.get(lane) : A(0));
    }
    return y;
}

} // namespace rtune

#endif
