/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/abi.cuh: what host and device agree on: fixed-width names, kernel arguments and the
 * layout of a workspace. Mirrors kernels/kernels.h; includes nothing, so that NVRTC needs no header.
 */
#ifndef RTUNE_DEVICE_ABI_CUH
#define RTUNE_DEVICE_ABI_CUH

namespace rtune {

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;
struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};

/* struct rtune_kernel_args */
struct args {
    const void *in;
    const void *in2;
    void *out;
    void *workspace;
    u64 n;
    u32 flags; /* what every kernel reads comes first: 48 bytes are one line of the constant cache */
    u32 partials; /* blocks of this launch: how many partials a second kernel finds */
    f64 scale;
};
static_assert(sizeof(args) == 56, "struct rtune_kernel_args has another layout");

enum : u32 { accumulate_flag = 1u << 0, root_flag = 1u << 2 }; /* RTUNE_ACCUMULATE, RTUNE_ROOT */
enum : u32 { fixed_range = 1u << 0, fixed_nan = 1u << 1 }; /* enum rtune_fixed_flag */

/* Workspace: header, then slots, then partials. Between launches every flag, counter and sum is zero;
 * the partials hold garbage. Each item of the header has a sector of its own. */
enum : u32 {
    grid_max = 4096,      /* RTUNE_GRID_MAX */
    header_bytes = 256,   /* RTUNE_WORKSPACE_HEADER */
    slot_bytes_max = 32,  /* RTUNE_WORKSPACE_SLOT */
    partial_bytes = 16,   /* RTUNE_WORKSPACE_PARTIAL */
    ticket_start = 0,     /* u32: tickets of blocks that started */
    packed_word = 64,     /* u64: count of blocks and value */
    ticket_done = 128,    /* u32: tickets of blocks that are done */
    atomic_sum = 192      /* f32 or f64 */
};

/* Axis values; the same numbers as the enums of rtune.h. */
enum class load_kind : int { plain, noncoherent, noallocate, evictfirst };
enum class finish_kind : int {
    one,
    slots,
    last,
    packed,
    two_kernels,
    dependent,
    cluster,
    grid_sync,
    atomic
};
enum class map_kind : int { strip, chunk };
enum class variant_kind : int { cascaded, bulk };

} // namespace rtune

#endif
