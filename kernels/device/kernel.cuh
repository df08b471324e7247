/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/kernel.cuh: the bodies of the entry points: an op, a config, and the parts put together.
 */
#ifndef RTUNE_DEVICE_KERNEL_CUH
#define RTUNE_DEVICE_KERNEL_CUH

#include "kernels/device/arg.cuh"
#include "kernels/device/hopper.cuh"
#include "kernels/device/leaves.cuh"
#include "kernels/device/op_modes.cuh"

namespace rtune {

template <class Op> struct is_arg {
    static constexpr bool value = false;
};
template <class T, bool MAX, bool IGNORE> struct is_arg<op_arg<T, MAX, IGNORE>> {
    static constexpr bool value = true;
};

/* The block's partial, in thread 0. */
template <class Op, class P> struct block_stage {
    const args &a;
    template <class Beside> RTUNE_DEVICE typename Op::acc operator()(Beside &&beside) const {
        if constexpr (Op::ordered) {
            return leaves_block<Op, P>(a, beside);
        } else if constexpr (is_arg<Op>::value) {
            return arg_block<Op, P>(a, beside);
        } else {
            alignas(16) RTUNE_SHARED typename Op::acc parts[P::warps];
            const shared_array<typename Op::acc> shared(parts);
            const typename Op::acc x = thread_part(beside);
            beside.read();
            return block_reduce<Op, P>(x, shared);
        }
    }
    template <class Beside> RTUNE_DEVICE typename Op::acc thread_part(Beside &beside) const {
#if RTUNE_ON_DEVICE
        if constexpr (P::variant == variant_kind::bulk) return bulk_reduce<Op, P>(a, beside);
        else
#endif
            return thread_reduce<Op, P>(a, beside);
    }
};

template <class Op, class P> RTUNE_DEVICE void first_kernel(const args &a) {
    const block_stage<Op, P> block = {a};
    launch_dependents();
    if constexpr (P::finish == finish_kind::one) finish_one<Op, P>(a, block);
    if constexpr (P::finish == finish_kind::slots) finish_slots<Op, P>(a, block);
    if constexpr (P::finish == finish_kind::last) finish_last<Op, P>(a, block);
    if constexpr (P::finish == finish_kind::packed) finish_packed<Op, P>(a, block);
    if constexpr (P::finish == finish_kind::atomic) finish_atomic<Op, P>(a, block);
    if constexpr (P::finish == finish_kind::two_kernels || P::finish == finish_kind::dependent)
        finish_first<Op, P>(a, block);
#if RTUNE_ON_DEVICE
    if constexpr (P::finish == finish_kind::cluster) finish_cluster<Op, P>(a, block);
    if constexpr (P::finish == finish_kind::grid_sync) finish_grid_sync<Op, P>(a, block);
#endif
}

template <class Op, class P> RTUNE_DEVICE void second_kernel(const args &a) {
    launch_dependents();
#if RTUNE_ON_DEVICE
    if constexpr (P::finish == finish_kind::dependent) wait_for_first();
#endif
    finish_second<Op, P>(a);
}

} // namespace rtune

#endif
