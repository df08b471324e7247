/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/hopper.cuh: what blocks do that run beside each other, which no fixture emulates, and its
 * PTX: clusters with distributed shared memory, a meeting of the whole grid, dependent launch, and the
 * variant that is fed by bulk copies. sm_90 and newer, but for the meeting.
 */
#ifndef RTUNE_DEVICE_HOPPER_CUH
#define RTUNE_DEVICE_HOPPER_CUH

#include "kernels/device/finish.cuh"

#if RTUNE_ON_DEVICE
namespace rtune {

/* ---- primitives ------------------------------------------------------------------------------ */

RTUNE_DEVICE u32 cluster_rank() {
    u32 x;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(x));
    return x;
}
RTUNE_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory"); }
RTUNE_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory"); }
/* Store into the same variable of another block of the cluster. */
RTUNE_DEVICE void store_remote(void *shared, u32 rank, u32 x) {
    const u32 local = shared_address(shared);
    asm volatile("{\n\t.reg .u32 r;\n\tmapa.shared::cluster.u32 r, %0, %1;\n\t"
                 "st.shared::cluster.u32 [r], %2;\n\t}"
                 : : "r"(local), "r"(rank), "r"(x) : "memory");
}
/* Of a dependent launch: wait for the kernel before. */
RTUNE_DEVICE void wait_for_first() { asm volatile("griddepcontrol.wait;" : : : "memory"); }

/* ---- finishes -------------------------------------------------------------------------------- */

/* Partials meet in the shared memory of each cluster's first block; clusters by flagged slots. */
template <class Op, class P, class Block>
RTUNE_DEVICE void finish_cluster(const args &a, const Block &block) {
    using A = typename Op::acc;
    alignas(16) RTUNE_SHARED A shared_ranks[P::extra];
    alignas(16) RTUNE_SHARED A shared[32];
    RTUNE_SHARED A shared_own;
    RTUNE_SHARED u32 shared_word;
    const shared_array<u32> shared_ticket(&shared_word);
    const u32 t = thread_index(), clusters = grid_size() / P::extra, rank = cluster_rank();
    const u32 self = block_index() / P::extra;
    cluster_arrive(); /* all have started before anyone writes to another */
    ticket_beside<Op> beside = {a, self, rank == 0 ? clusters : 1, shared_ticket};
    words<A> w;
    w.value = block(beside);
    cluster_wait();
    if (t == 0) {
#pragma unroll
        for (u32 i = 0; i < words<A>::count; i++)
            store_remote(reinterpret_cast<u32 *>(&shared_ranks[rank]) + i, 0, w.w[i]);
    }
    cluster_arrive();
    if (rank != 0) return;
    cluster_wait();
    A x = Op::identity();
    if (t < 32) x = warp_all<Op>(t < P::extra ? shared_ranks[t] : Op::identity());
    if (clusters == 1) {
        if (t == 0) Op::store(a, x);
        return;
    }
    if (!beside.template is_last<P>()) {
        if (t == 0) slots<A>::write(a, self, x);
        return;
    }
    if (t == 0) shared_own = x;
    barrier();
    const slot_source<Op> source = {a, clusters, self, shared_own};
    if (clusters <= warp_most && t >= 32) return;
    const A all = gather<Op, P>(source, clusters, shared);
    if (t == 0) Op::store(a, all);
}

/* All blocks arrive, which the cooperative launch lets run together; the first waits for them. */
template <class Op, class P, class Block>
RTUNE_DEVICE void finish_grid_sync(const args &a, const Block &block) {
    using A = typename Op::acc;
    alignas(16) RTUNE_SHARED A shared[32];
    u32 *arrived = workspace_at<u32>(a, ticket_done);
    const u32 t = thread_index(), grid = grid_size();
    const A x = block(nothing_beside());
    if (t == 0) {
        store_partial(a, block_index(), x);
        ticket_acq_rel(arrived, ~u32(0));
    }
    if (block_index() != 0) return;
    if (t == 0) {
        while (load_acquire(arrived) != grid) {}
        store_word(reinterpret_cast<u64 *>(arrived), 0);
    }
    barrier();
    const A all = gather<Op, P>(partial_source<Op>{a, grid}, grid, shared);
    if (t == 0) Op::store(a, all);
}

/* ---- bulk copies ----------------------------------------------------------------------------- */

RTUNE_DEVICE void transfer_init(u64 *full) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(shared_address(full)) : "memory");
}
RTUNE_DEVICE void transfer_fence() { asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); }
RTUNE_DEVICE void transfer_begin(u64 *full, void *to, const void *from, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 : : "r"(shared_address(full)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 : : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(full)) : "memory");
}
RTUNE_DEVICE void transfer_wait(u64 *full, u32 parity) {
    asm volatile("{\n\t.reg .pred p;\n\tagain:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t@!p bra again;\n\t}"
                 : : "r"(shared_address(full)), "r"(parity) : "memory");
}

/* thread_reduce, but tiles come through P::extra stages of shared memory. One input. */
template <class Op, class P, class Beside>
RTUNE_DEVICE typename Op::acc bulk_reduce(const args &a, Beside &beside) {
    using T = typename Op::in;
    static_assert(Op::inputs == 1, "one input");
    alignas(128) RTUNE_SHARED vec16 buffer[P::extra][P::tile];
    RTUNE_SHARED u64 full[P::extra];
    const input<T> x(a);
    const u32 t = thread_index();
    const ends<T> e = load_ends(x, x.in, block_index() == grid_size() - 1, t, Op::pad());
    span s = block_span<P>(x.end);
    if (s.begin == 0 && s.end <= x.lead) s.end = 0; /* nothing but the lead */
    typename Op::state sums = Op::begin(a);
    const auto trip_of = [&](u64 i) { return trip_at<P>(s, i, i == 0 ? x.lead : 0); };
    const auto fetch = [&](u64 i, u32 stage) {
        const trip r = trip_of(i);
        transfer_begin(&full[stage], buffer[stage] + r.skip, x.body() + i + r.skip,
                       (u32(r.left) - r.skip) * 16);
    };
    if (t == 0) {
        for (u32 k = 0; k < P::extra; k++) transfer_init(&full[k]);
        transfer_fence();
        for (u32 k = 0; k < P::extra && s.begin + k * s.step < s.end; k++) fetch(s.begin + k * s.step, k);
    }
    beside.loaded();
    barrier();
    u32 stage = 0, parity = 0;
    for (u64 i = s.begin; i < s.end; i += s.step) {
        const trip r = trip_of(i);
        packet<T> v[P::vectors];
        transfer_wait(&full[stage], parity);
#pragma unroll
        for (u32 k = 0; k < P::vectors; k++) {
            v[k] = filled<T>(Op::pad());
            if (r.has<P>(t, k)) v[k].raw = buffer[stage][t + k * P::block];
            else if (Op::repeats) v[k].raw = buffer[stage][r.left - 1];
        }
        barrier(); /* the stage is free again */
        const u64 next = i + P::extra * s.step;
        if (t == 0 && next < s.end) fetch(next, stage);
        Op::fold(sums, v);
        if (++stage == P::extra) {
            stage = 0;
            parity ^= 1;
        }
    }
    Op::edge(sums, e);
    return Op::end(sums);
}

} // namespace rtune
#endif

#endif
