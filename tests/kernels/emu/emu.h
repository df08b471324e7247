/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emu.h: runs a kernel template on the host, one block at a time, one fiber a thread. Barriers and
 * shuffles are the points where a fiber yields. What a GPU leaves undefined is an error here: a
 * barrier that not all threads of the block reach, a shuffle that not all lanes of the warp reach,
 * or reach differently.
 *
 * One machine a process; not thread-safe.
 */
#ifndef RTUNE_TESTS_EMU_H
#define RTUNE_TESTS_EMU_H

#include <cstddef>
#include <cstdint>

namespace rtune_emu {

/* args points to a struct rtune_kernel_args. */
using kernel_fn = void (*)(const void *args);

/* What the generated files hold. */
struct entry {
    const char *name;
    kernel_fn kernel;
    kernel_fn second; /* of a finish by a second kernel, else NULL */
};

/* In which order blocks, warps between two barriers, and lanes between two shuffles run. */
enum class order { forward, backward, random };

struct launch {
    kernel_fn kernel;
    const void *args;
    unsigned grid;
    unsigned block;
    order in;
    uint64_t seed; /* for order::random */
};

/* Run all blocks. NULL, or what was undefined about it, in a text that lives until the next run;
 * the rest of the launch is then dropped. */
const char *run(const launch &l);

} // namespace rtune_emu

#endif
