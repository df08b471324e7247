/* SPDX-License-Identifier: Apache-2.0 */
/* memory.cpp: guard pages by mmap. */
#include "tests/kernels/emu/memory.h"

#include "tests/kernels/emu/selection.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace rtune_emu {

guarded guarded_new(size_t capacity) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t size = (capacity + page - 1) / page * page;
    void *map = mmap(nullptr, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *begin = static_cast<char *>(map) + page;
    if (map == MAP_FAILED || mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) {
        perror("guarded buffer");
        abort();
    }
    return {begin, begin + size};
}

void *workspace_new() {
    const size_t bytes = rtune_workspace_bytes();
    const size_t flagged = RTUNE_WORKSPACE_HEADER + size_t(RTUNE_GRID_MAX) * RTUNE_WORKSPACE_SLOT;
    char *workspace = guarded_new(bytes).end - bytes;
    memset(workspace, 0, flagged);
    memset(workspace + flagged, 0xab, bytes - flagged);
    return workspace;
}

const char *workspace_check(const void *workspace) {
    static char text[96];
    const size_t flagged = RTUNE_WORKSPACE_HEADER + size_t(RTUNE_GRID_MAX) * RTUNE_WORKSPACE_SLOT;
    const unsigned char *byte = static_cast<const unsigned char *>(workspace);
    if (byte[0] == 0 && memcmp(byte, byte + 1, flagged - 1) == 0) return nullptr;
    size_t k = 0;
    while (byte[k] == 0)
        k++;
    if (k < RTUNE_WORKSPACE_HEADER)
        snprintf(text, sizeof text, "workspace: header byte %zu is %u after the launch", k,
                 byte[k]);
    else
        snprintf(text, sizeof text, "workspace: byte %zu of the slots is %u after the launch",
                 k - RTUNE_WORKSPACE_HEADER, byte[k]);
    return text;
}

} // namespace rtune_emu
