/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: buffers between two pages that nobody may touch, so that any access outside is a crash,
 * and a workspace that must be found empty after every launch.
 */
#ifndef RTUNE_TESTS_EMU_MEMORY_H
#define RTUNE_TESTS_EMU_MEMORY_H

#include <cstddef>

namespace rtune_emu {

/* capacity bytes (rounded up to pages) from begin to end; the pages before and behind are
 * PROT_NONE. Lives until the process ends. */
struct guarded {
    char *begin;
    char *end;
};
guarded guarded_new(size_t capacity);

/* A workspace that ends at a guard page: flags and counters zero, partials garbage. */
void *workspace_new();
/* Is every flag and counter zero again? NULL, or which is not. */
const char *workspace_check(const void *workspace);

} // namespace rtune_emu

#endif
