/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than 2^32 elements: a few megabytes mapped again and again over gigabytes of addresses, and
 * five elements of their own at the end. The period is no power of two, so an index that lost its
 * upper bits reads something else. And many ones, where a counter in f32 would stall (A42).
 */
#include "tests/kernels/emu/cases.h"
#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/memory.h"

#include "base/rng.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMU_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_SLOW 1
#endif
#endif

using namespace rtune_emu;

namespace {

constexpr size_t page = 4096, pages = 2 * 1021; /* of one period; 1021 is prime */
constexpr size_t period = page * pages;
constexpr uint64_t n_big = (uint64_t(1) << 32) + 5;

/* The elements, and their end at a page that nobody may touch. */
struct big_input {
    rtune_problem problem;
    uint64_t n;
    size_t size, total; /* bytes of an element, and of all but those behind the last whole page */
    values cycle;       /* one period */
    values last;        /* the elements behind total */
    char *base, *in;
};

/* total bytes of the file over and over, then one page that ends with the last elements. */
char *map_cycle(int fd, size_t total) {
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

/* The instance's problem with n elements of the cycle that `x` makes; in is NULL if the system has
 * no room for that. */
big_input make(const instance &of, uint64_t n, double (*x)(uint64_t)) {
    big_input b = {};
    b.problem = of.problem;
    b.problem.n = b.n = n;
    b.size = element_size(of.problem.dtype);
    b.total = n * b.size / page * page;
    b.cycle = repeat(of.problem.dtype, period / b.size, 0);
    for (uint64_t i = 0; i < b.cycle.n; i++)
        b.cycle.put(i, x(i));
    b.last = repeat(of.problem.dtype, n - b.total / b.size, 1);
    const int fd = memfd_create("rtune-big", 0);
    const bool written = fd >= 0 && ftruncate(fd, off_t(period)) == 0 &&
                         pwrite(fd, b.cycle.bytes.data(), period, 0) == ssize_t(period);
    b.base = written ? map_cycle(fd, b.total) : nullptr;
    if (fd >= 0) close(fd);
    b.in = b.base;
    return b;
}

/* Launch and compare. Last elements may have been changed since make. */
void check(const instance &of, const big_input &b, uint64_t bits, int64_t index) {
    reference_result result = {};
    result.exact = true;
    result.size = reference_size(&of.problem);
    memcpy(result.bytes, &bits, result.size < 8 ? result.size : 8);
    memcpy(result.bytes + 8, &index, sizeof index);
    if (!b.last.bytes.empty()) memcpy(b.base + b.total, b.last.bytes.data(), b.last.bytes.size());
    expect({&of, 3, b.in, b.in, 1, b.n, order::backward, 0, nullptr}, result, "big");
    munmap(b.base, b.total + 2 * page);
}

const instance &big(rtune_op op, rtune_dtype dtype) {
    for (const instance &of : catalog_big())
        if (of.problem.op == op && of.problem.dtype == dtype) return of;
    fail_msg("no such instance");
    abort();
}

void skip_if(bool slow, const char *why) {
    if (!slow) return;
    print_message("skipped: %s\n", why);
    skip();
}
#ifdef EMU_SLOW
constexpr bool is_slow = true;
#else
constexpr bool is_slow = false;
#endif

/* -100 ... 100, a third of them 0. */
double small_element(uint64_t i) {
    const uint64_t random = rtune_rng_at(11, i);
    return random % 3 ? double(random / 3 % 201) - 100 : 0;
}

/* Sum or count of the whole input, from that of a period. */
uint64_t total_of(const big_input &b) {
    reference r;
    reference_result cycle, rest, last;
    uint64_t word[3];
    const uint64_t rest_n = b.total % period / b.size;
    reference_begin(&r, &b.problem, 1);
    reference_add(&r, b.cycle.bytes.data(), nullptr, rest_n);
    reference_end(&r, 0, &rest);
    reference_add(&r, b.cycle.bytes.data() + rest_n * b.size, nullptr, b.cycle.n - rest_n);
    reference_end(&r, 0, &cycle);
    reference_begin(&r, &b.problem, 1);
    reference_add(&r, b.last.bytes.data(), nullptr, b.last.n);
    reference_end(&r, 0, &last);
    memcpy(&word[0], cycle.bytes, 8);
    memcpy(&word[1], rest.bytes, 8);
    memcpy(&word[2], last.bytes, 8);
    return b.total / period * word[0] + word[1] + word[2];
}

void test_sum(void **) {
    skip_if(is_slow, "sanitized builds take too long for 2^32 elements");
    const instance &of = big(RTUNE_SUM, RTUNE_I8);
    const big_input b = make(of, n_big, small_element);
    skip_if(!b.in, "cannot map 4 GiB of addresses");
    check(of, b, total_of(b), 0);
}

void test_count(void **) {
    skip_if(is_slow, "sanitized builds take too long for 2^32 elements");
    const instance &of = big(RTUNE_COUNT_NONZERO, RTUNE_I8);
    const big_input b = make(of, n_big, small_element);
    skip_if(!b.in, "cannot map 4 GiB of addresses");
    check(of, b, total_of(b), 0);
}

void test_argmax(void **) {
    skip_if(is_slow, "sanitized builds take too long for 2^32 elements");
    const instance &of = big(RTUNE_ARGMAX, RTUNE_I8);
    big_input b = make(of, n_big, small_element);
    skip_if(!b.in, "cannot map 4 GiB of addresses");
    b.last.put(b.last.n - 3, 101), b.last.put(b.last.n - 1, 101);
    check(of, b, 101, int64_t(n_big) - 3);
}

/* The reference of one leaf at a time, and the tree over them. */
uint64_t tree_of(const big_input &b) {
    constexpr size_t leaf = 4096;
    static_assert(period % (2 * leaf) == 0, "a period has whole leaves");
    std::vector<float> level;
    const auto value = [&b](const unsigned char *x, uint64_t n) {
        rtune_problem p = b.problem;
        reference_result result;
        const rtune_args args = RTUNE_ARGS(x, nullptr);
        float f;
        p.n = n;
        reference_compute(&p, &args, &result);
        memcpy(&f, result.bytes, sizeof f);
        return f;
    };
    for (uint64_t at = 0; at < b.total; at += 2 * leaf) {
        const size_t k = at / (2 * leaf) % (period / (2 * leaf));
        level.push_back(at < period ? value(b.cycle.bytes.data() + at, leaf) : level[k]);
    }
    level.push_back(value(b.last.bytes.data(), b.last.n));
    while (level.size() > 1) {
        for (size_t j = 0; j < level.size(); j += 2)
            level[j / 2] = j + 1 < level.size() ? level[j] + level[j + 1] : level[j];
        level.resize((level.size() + 1) / 2);
    }
    uint64_t bits = 0;
    memcpy(&bits, level.data(), sizeof level[0]);
    return bits;
}

void test_reproducible(void **) {
    skip_if(is_slow, "sanitized builds take too long for 2^32 elements");
    const instance &of = big(RTUNE_SUM, RTUNE_F16);
    big_input b = make(of, n_big, [](uint64_t i) {
        return (double(rtune_rng_at(12, i) >> 40) - 0x1.1p23) * 0x1p-13;
    });
    skip_if(!b.in, "cannot map 8 GiB of addresses");
    b.last.put(b.last.n - 1, 3.25);
    check(of, b, tree_of(b), 0);
}

void test_A42_more_ones_than_a_float_can_count(void **) {
    for (const uint64_t n : {uint64_t(1) << 25, uint64_t(100000000)}) {
        const instance &of = big(RTUNE_SUM, RTUNE_F32);
        const big_input b = make(of, n, [](uint64_t) { return 1.0; });
        skip_if(!b.in, "cannot map 400 MB of addresses");
        check(of, b, element_round(RTUNE_F32, (long double)n), 0);
    }
}

} // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_A42_more_ones_than_a_float_can_count),
    };
    return cmocka_run_group_tests_name("emulated kernels, big", tests, nullptr, nullptr);
}
