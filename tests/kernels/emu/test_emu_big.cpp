/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than 2^32 elements: a few megabytes mapped again and again over 16 GiB of addresses, and
 * five elements of their own at the end. The period is no power of two, so an index that lost its
 * upper bits reads something else.
 */
#include "kernels/device/cascade.cuh"

#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/emu.h"
#include "tests/kernels/emu/memory.h"

#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMU_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_SLOW 1
#endif
#endif

namespace {

constexpr size_t page = 4096, pages = 1021; /* of one period; prime */
constexpr size_t period = page * pages, total = size_t(1) << 34;
constexpr uint64_t n = (uint64_t(1) << 32) + 5;
constexpr int32_t last_five = 1000000007;

template <rtune::finish_kind FINISH, rtune::map_kind MAP> void kernel(const void *a) {
    rtune::cascade<rtune::op_sum<rtune::i32, rtune::i64>,
                   rtune::policy<32, 16, rtune::load_kind::plain, FINISH, MAP>>(
        *static_cast<const rtune::args *>(a));
}

int32_t element(uint64_t k) { return int32_t((k * 2654435761u) >> 11) ^ int32_t(k); }

/* The file of one period, filled; -1 if the system has no such thing. */
int period_file(int64_t *sum_of_period, int64_t *sum_of_rest) {
    const int fd = memfd_create("rtune-big", 0);
    if (fd < 0 || ftruncate(fd, off_t(period)) != 0) return -1;
    void *map = mmap(nullptr, period, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return -1;
    auto *x = static_cast<int32_t *>(map);
    *sum_of_period = *sum_of_rest = 0;
    for (size_t k = 0; k < period / 4; k++) {
        x[k] = element(k);
        *sum_of_period += x[k];
        if (k < total % period / 4) *sum_of_rest += x[k];
    }
    munmap(map, period);
    return fd;
}

/* total bytes of the file over and over, then one page with the last five elements, then a page
 * that nobody may touch. The elements end at that page. */
char *map_input(int fd) {
    void *space = mmap(nullptr, total + 2 * page, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return nullptr;
    char *base = static_cast<char *>(space);
    for (size_t at = 0; at < total; at += period) {
        const size_t size = total - at < period ? total - at : period;
        if (mmap(base + at, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
            return nullptr;
    }
    if (mprotect(base + total, page, PROT_READ | PROT_WRITE) != 0) return nullptr;
    return base;
}

void test_more_than_2_32_elements(void **) {
#ifdef EMU_SLOW
    print_message("skipped: sanitized builds take too long for 2^32 elements\n");
    skip();
#endif
    int64_t whole = 0, rest = 0, result = 0;
    const int fd = period_file(&whole, &rest);
    char *in = fd < 0 ? nullptr : map_input(fd);
    if (!in) {
        print_message("skipped: cannot map 16 GiB of addresses\n");
        skip();
    }
    for (int k = 0; k < 5; k++)
        memcpy(in + total + 4 * k, &last_five, 4);
    const int64_t want = int64_t(total / period) * whole + rest + 5 * int64_t(last_five);
    void *workspace = rtune_emu::workspace_new();
    rtune::args args = {};
    args.in = in;
    args.out = &result;
    args.workspace = workspace;
    args.n = n;
    using rtune::finish_kind;
    using rtune::map_kind;
    assert_null(rtune_emu::run({kernel<finish_kind::slots, map_kind::strip>, &args, 3, 32,
                                rtune_emu::order::backward, 0}));
    assert_true(result == want);
    assert_null(rtune_emu::workspace_check(workspace));
    close(fd);
    munmap(in, total + 2 * page);
}

} // namespace

int main() {
    const CMUnitTest tests[] = {cmocka_unit_test(test_more_than_2_32_elements)};
    return cmocka_run_group_tests_name("emulated kernels, big", tests, nullptr, nullptr);
}
