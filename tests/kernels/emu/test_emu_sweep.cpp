/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every selected instance against exact references: sizes around every boundary of its shape, one
 * to more blocks than tiles, every base, each end at a guard page, all three orders, with and
 * without ACCUMULATE.
 */
#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/harness.h"

#include "base/rng.h"

#include <cstdio>
#include <set>

using namespace rtune_emu;

namespace {

constexpr size_t n_max = (1 << 16) + 1;
constexpr uint64_t n_small = 4097;

struct data_set {
    rtune_problem problem;
    alignas(16) char bytes[n_max * 8];
    uint64_t results[n_max + 1];
} data;

std::set<uint64_t> sizes_of(const rtune_config &config) {
    const uint64_t block = config.block, items = config.items, tile = block * items;
    std::set<uint64_t> sizes = {1,         2,     31,        32,        33,    1000,
                                block - 1, block, block + 1, items - 1, items, items + 1,
                                tile - 1,  tile,  tile + 1,  n_small,   n_max};
    sizes.erase(0);
    while (*sizes.rbegin() > n_max)
        sizes.erase(*sizes.rbegin());
    return sizes;
}

std::set<unsigned> grids_of(const rtune_config &config, uint64_t n) {
    if (config.finish == RTUNE_FINISH_ONE) return {1};
    const uint64_t tiles = n / (uint64_t(config.block) * config.items) + 1;
    std::set<unsigned> grids = {1, 3, unsigned(tiles + 2)};
    if (n == n_max) grids.insert(200); /* more slots than one warp reads at once */
    if (n == n_max && config.block == 32) grids.insert(RTUNE_GRID_MAX);
    return grids;
}

/* For min and max, a spike at a random place: a running extreme would hide most elements. */
uint64_t put_spike(const rtune_problem &p, void *in, uint64_t n, rtune_rng *rng) {
    const bool max = p.op == RTUNE_MAX;
    const size_t size = rtune_dtype_size(p.dtype);
    uint64_t bits = max ? UINT64_MAX >> (65 - 8 * size) : uint64_t(1) << (8 * size - 1);
    if (p.dtype == RTUNE_F32) bits = max ? 0x7f800000u : 0xff800000u;
    if (p.dtype == RTUNE_F64) bits = max ? 0x7ff0000000000000u : 0xfff0000000000000u;
    memcpy(static_cast<char *>(in) + rtune_rng_below(rng, n) * size, &bits, size);
    return bits;
}

/* What an ACCUMULATE finds in out: exact with all the data. */
uint64_t before_of(const rtune_problem &p, rtune_rng *rng) {
    const rtune_dtype dtype = rtune_result_dtype(&p);
    if (dtype == RTUNE_F32) return bits_of(p.op == RTUNE_PROD ? -2.0f : 77.0f);
    if (dtype == RTUNE_F64) return bits_of(p.op == RTUNE_PROD ? -2.0 : 77.0);
    return rtune_rng_u64(rng) >> (64 - 8 * rtune_dtype_size(dtype));
}

void check_one(const instance &of, unsigned grid, uint64_t n, placement where, rtune_rng *rng) {
    const rtune_problem &p = of.problem;
    const uint64_t seed = rtune_rng_u64(rng);
    void *in = place(data.bytes, n, rtune_dtype_size(p.dtype), where);
    uint64_t want = data.results[n];
    if ((p.op == RTUNE_MIN || p.op == RTUNE_MAX) && seed % 4 != 0) want = put_spike(p, in, n, rng);
    shot s = {&of, grid, in, n, order(seed / 4 % 3), seed, seed / 16 % 4 == 0, 0};
    s.before = before_of(p, rng); /* without ACCUMULATE it is garbage */
    if (s.accumulate) want = reference_combine(p, s.before, want);
    expect(s, want, "sweep");
}

/* All placements of the sizes up to n_every, a random one of the larger. */
unsigned long check_instance(const instance &of, uint64_t n_every, rtune_rng *rng) {
    static const placement places[] = {{true, 0}, {false, 0}, {false, 1}, {false, 2}, {false, 3}};
    constexpr size_t place_count = sizeof places / sizeof places[0];
    unsigned long launches = 0;
    for (const uint64_t n : sizes_of(of.config)) {
        for (const unsigned grid : grids_of(of.config, n)) {
            const size_t count = n <= n_every ? place_count : 1;
            const size_t first = size_t(rtune_rng_below(rng, place_count));
            for (size_t k = first; k < first + count; k++, launches++)
                check_one(of, grid, n, places[k % place_count], rng);
        }
    }
    return launches;
}

/* The problems with every config, or all the others. */
void sweep(bool whole) {
    rtune_rng rng = {test_seed() + whole, 0};
    unsigned long launches = 0, instances = 0;
    data.problem.struct_size = 0;
    for (const instance &of : catalog()) {
        const rtune_problem &p = of.problem;
        const bool is_whole = p.op == RTUNE_SUM && p.acc == RTUNE_WIDE &&
                              (p.dtype == RTUNE_F32 || p.dtype == RTUNE_I64);
        if (is_whole != whole) continue;
        if (!data.problem.struct_size || !rtune_problem_same_kind(&p, &data.problem)) {
            data.problem = p;
            fill_exact(p, data.bytes, n_max, test_seed());
            reference_prefixes(p, data.bytes, n_max, data.results);
        }
        launches += check_instance(of, whole ? n_small : 2, &rng);
        instances++;
    }
    printf("%lu instances, %lu launches\n", instances, launches);
    assert_true(instances >= 200);
}

void test_every_config_of_f32_and_i64_sum(void **) { sweep(true); }
void test_some_configs_of_every_other_problem(void **) { sweep(false); }

/* A kernel that gets n = 0 touches no input and writes the identity. */
void test_empty_input_is_the_identity(void **) {
    for (const instance &of : catalog()) {
        uint64_t identity = 0;
        if (rtune_identity(&of.problem, &identity, nullptr) != RTUNE_OK) continue;
        const void *in = place(nullptr, 0, 1, {true, 0});
        const unsigned grid = of.config.finish == RTUNE_FINISH_ONE ? 1 : 3;
        expect({&of, grid, in, 0, order::forward, 0, false, UINT64_MAX}, identity, "n=0");
    }
}

} // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_every_config_of_f32_and_i64_sum),
        cmocka_unit_test(test_some_configs_of_every_other_problem),
        cmocka_unit_test(test_empty_input_is_the_identity),
    };
    test_seed();
    return cmocka_run_group_tests_name("emulated kernels, swept", tests, nullptr, nullptr);
}
