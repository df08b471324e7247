/* SPDX-License-Identifier: Apache-2.0 */
/* harness.cpp: inputs, launches and their failures. */
#include "tests/kernels/emu/harness.h"

#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/memory.h"

#include <cstdio>
#include <cstdlib>

namespace rtune_emu {

namespace {

constexpr unsigned char poison = 0xab;
constexpr size_t result_max = 16;

using ull = unsigned long long;

/* Everything that is needed to repeat a launch. */
const char *describe(const shot &s) {
    static char text[320];
    snprintf(text, sizeof text,
             "%s grid=%u n=%llu base%%128=%u,%u order=%d seed=%llu scale=%g accumulate=%d "
             "root=%d",
             s.of->name, s.grid, ull(s.n), unsigned(reinterpret_cast<uintptr_t>(s.in) % 128),
             unsigned(reinterpret_cast<uintptr_t>(s.in2) % 128), int(s.in_order), ull(s.seed),
             s.scale, s.before != nullptr, s.root);
    return text;
}

/* All kernels of the launch, as the runtime enqueues them. */
const char *run_kernels(const shot &s, rtune_kernel_args *args) {
    const unsigned block = s.of->config.block;
    args->partials = s.grid;
    const char *bad = run({s.of->kernel, args, s.grid, block, s.in_order, s.seed});
    if (!bad && s.of->second) bad = run({s.of->second, args, 1, block, s.in_order, s.seed});
    return bad;
}

} // namespace

uint64_t test_seed() {
    static const uint64_t seed = [] {
        const char *text = getenv("RTUNE_TEST_SEED");
        const uint64_t s = text ? strtoull(text, nullptr, 10) : 20261129;
        printf("RTUNE_TEST_SEED=%llu\n", ull(s));
        fflush(stdout);
        return s;
    }();
    return seed;
}

void *place(unsigned input, const void *data, uint64_t n, size_t size, placement where) {
    constexpr size_t capacity = 9 << 20, margin = 256;
    static const guarded arenas[2] = {guarded_new(capacity), guarded_new(capacity)};
    static unsigned calls = 0;
    const guarded &arena = arenas[input];
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

void shoot(const shot &s, unsigned char got[result_max]) {
    static void *const workspace = workspace_new();
    static const guarded result = guarded_new(64);
    const size_t size = reference_size(&s.of->problem);
    rtune_kernel_args args = {};
    char *out = result.end - size;
    memset(result.begin, poison, size_t(result.end - result.begin));
    if (s.before) memcpy(out, s.before, size);
    args.in = s.in;
    args.in2 = s.in2;
    args.out = out;
    args.workspace = workspace;
    args.n = s.n;
    args.scale = s.scale;
    if (s.before) args.flags |= RTUNE_ACCUMULATE;
    if (s.root) args.flags |= RTUNE_ROOT;

    const char *bad = run_kernels(s, &args);
    if (!bad) bad = workspace_check(workspace);
    for (const char *p = result.end - 64; !bad && p < out; p++)
        if (static_cast<unsigned char>(*p) != poison) bad = "wrote in front of the result";
    if (bad) fail_msg("%s: %s", describe(s), bad);
    memset(got, 0, result_max);
    memcpy(got, out, size);
}

void expect(const shot &s, const reference_result &result, const char *why) {
    reference_result want = result;
    unsigned char got[result_max];
    char message[256];
    rtune_problem p = s.of->problem;
    p.n = s.n;
    if (s.before) reference_accumulate(&p, s.before, &want);
    shoot(s, got);
    if (!reference_check(&p, &want, got, message, sizeof message))
        fail_msg("%s: %s: %s", why, describe(s), message);
}

bool has_root(const rtune_problem &p) {
    rtune_problem norm = p;
    norm.flags |= RTUNE_ROOT;
    return rtune_problem_check(&norm, nullptr) == RTUNE_OK;
}

bool one_block(const instance &of) { return of.config.finish == RTUNE_FINISH_ONE; }

} // namespace rtune_emu
