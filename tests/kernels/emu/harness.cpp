/* SPDX-License-Identifier: Apache-2.0 */
/* harness.cpp: inputs, launches and their failures. */
#include "tests/kernels/emu/harness.h"

#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/memory.h"

#include <cstdio>
#include <cstdlib>

namespace rtune_emu {

uint64_t test_seed() {
    static const uint64_t seed = [] {
        const char *text = getenv("RTUNE_TEST_SEED");
        const uint64_t s = text ? strtoull(text, nullptr, 10) : 20261129;
        printf("RTUNE_TEST_SEED=%llu\n", static_cast<unsigned long long>(s));
        fflush(stdout);
        return s;
    }();
    return seed;
}

void *place(const void *data, uint64_t n, size_t size, placement where) {
    constexpr size_t capacity = 9 << 20, margin = 256;
    static const guarded arena = guarded_new(capacity);
    static unsigned calls = 0;
    const int garbage = calls++ % 2 ? 0x4b : 0xcb; /* large, of either sign, in every dtype */
    const size_t bytes = n * size, offset = where.offset * size;
    if (bytes + offset + margin > capacity) abort();
    char *begin = where.at_end ? arena.end - bytes : arena.begin + offset;
    if (where.at_end) {
        memset(begin - margin, garbage, margin);
    } else {
        memset(arena.begin, garbage, offset);
        memset(begin + bytes, garbage, margin);
    }
    if (bytes) memcpy(begin, data, bytes);
    return begin;
}

uint64_t shoot(const shot &s) {
    static void *const workspace = workspace_new();
    static const guarded result = guarded_new(64);
    const size_t size = rtune_result_size(&s.of->problem);
    rtune_kernel_args args = {};
    char *out = result.end - size;
    memcpy(out, &s.before, size);
    args.in = s.in;
    args.out = out;
    args.workspace = workspace;
    args.n = s.n;
    args.scale = 1.0;
    args.flags = s.accumulate ? uint32_t(RTUNE_ACCUMULATE) : 0;

    const char *bad = run({s.of->kernel, &args, s.grid, s.of->config.block, s.in_order, s.seed});
    if (!bad) bad = workspace_check(workspace);
    if (bad)
        fail_msg("%s grid=%u n=%llu seed=%llu: %s", s.of->name, s.grid,
                 static_cast<unsigned long long>(s.n), static_cast<unsigned long long>(s.seed),
                 bad);
    uint64_t bits = 0;
    memcpy(&bits, out, size);
    return bits;
}

void expect(const shot &s, uint64_t bits, const char *why) {
    const uint64_t got = shoot(s);
    if (got == bits) return;
    fail_msg(
        "%s: %s grid=%u n=%llu base%%16=%u order=%d seed=%llu accumulate=%d: %016llx, not %016llx",
        why, s.of->name, s.grid, static_cast<unsigned long long>(s.n),
        unsigned(reinterpret_cast<uintptr_t>(s.in) % 16), int(s.in_order),
        static_cast<unsigned long long>(s.seed), s.accumulate, static_cast<unsigned long long>(got),
        static_cast<unsigned long long>(bits));
}

} // namespace rtune_emu
