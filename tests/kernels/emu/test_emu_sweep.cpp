/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every selected instance against the reference: sizes around every boundary of its shape, one to
 * more blocks than tiles, every base modulo 16 bytes and random ones modulo a line of 128, each end
 * at a guard page, all three orders, with and without RTUNE_ACCUMULATE and RTUNE_ROOT; data of
 * which every order is exact, data that rounds, and special values.
 *
 *     test_emu_sweep [SHARD SHARDS]
 *     test_emu_sweep_slow    those that are written otherwise for machines that are slow at f64
 */
#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/harness.h"

#include "base/rng.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

using namespace rtune_emu;

namespace {

constexpr size_t n_max = (1 << 16) + 1, n_small = 4097;
/* Not a power of two, so that fixed rounds; 2^17 terms of the data stay in range. */
constexpr double fixed_scale = 1234567.8901;

/* Inputs and results of the problem at hand, of one kind of data. */
struct data_set {
    rtune_problem problem;
    char in[2][n_max * 8];
    std::map<uint64_t, reference_result> results[2]; /* [1]: roots */
};
data_set sets[REFERENCE_DATA_COUNT];
unsigned shard = 0, shards = 1;
#ifdef RTUNE_EMU_SLOW_F64
constexpr unsigned instances_min = 30;
#else
constexpr unsigned instances_min = 400;
#endif

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

std::set<unsigned> grids_of(const instance &of, uint64_t n) {
    const rtune_config &config = of.config;
    if (one_block(of)) return {1};
    const uint64_t tiles = n / (uint64_t(config.block) * config.items) + 1;
    std::set<unsigned> grids = {1, 3, unsigned(tiles + 2)};
    if (n == n_max) grids.insert(200); /* more slots than one warp reads at once */
    if (n == n_max && config.block <= 64) grids.insert(RTUNE_GRID_MAX);
    return grids;
}

/* The reference, once for each n. */
const reference_result &result_of(data_set &set, uint64_t n, bool root) {
    std::map<uint64_t, reference_result> &results = set.results[root];
    const auto found = results.find(n);
    if (found != results.end()) return found->second;
    reference r;
    reference_begin(&r, &set.problem, fixed_scale);
    if (root) r.problem.flags = RTUNE_ROOT;
    reference_add(&r, set.in[0], set.in[1], n);
    reference_end(&r, 0, &results[n]);
    return results[n];
}

/* For extremes, one that beats all others, at a random place: a running extreme would hide most
 * elements. */
reference_result with_spike(const rtune_problem &p, void *in, uint64_t n, rtune_rng *rng) {
    reference_result result;
    rtune_problem whole = p;
    const rtune_args args = RTUNE_ARGS(in, nullptr);
    element_put(p.dtype, in, rtune_rng_below(rng, n), reference_spike(&p, rtune_rng_u64(rng)));
    whole.n = n;
    reference_compute(&whole, &args, &result);
    return result;
}

/* Something that a result may be added to, exactly where the data is. */
void before_of(const rtune_problem &p, rtune_rng *rng, unsigned char before[16]) {
    const size_t size = reference_size(&p);
    for (size_t k = 0; k < 16; k++)
        before[k] = static_cast<unsigned char>(rtune_rng_u64(rng));
    if (p.op == RTUNE_ANY || p.op == RTUNE_ALL) memset(before, 0, 4), before[0] = rng->next & 1;
    if (p.mode == RTUNE_FIXED) memset(before + 12, 0, 4);
    if (!element_is_float(p.dtype) || p.op >= RTUNE_ANY || p.mode == RTUNE_FIXED) return;
    const rtune_dtype type = rtune_result_dtype(&p);
    for (size_t k = 0; k < size / element_size(type); k++)
        element_put(type, before, k,
                    element_round(type, p.op == RTUNE_PROD ? -2.0L : 0.5L * k + 8));
}

/* Anywhere in a line; half the time in its last vector, behind which no whole one is left. */
placement place_of(const rtune_problem &p, uint64_t random) {
    const unsigned offsets = unsigned(16 / element_size(p.dtype)), line = 8 * offsets;
    const unsigned at = unsigned(random / 6 % (random % 2 ? line : offsets));
    return {random % 3 == 0, random % 2 ? at : line - 1 - at};
}

void check_one(const instance &of, unsigned grid, uint64_t n, placement where, rtune_rng *rng) {
    const rtune_problem &p = of.problem;
    const uint64_t seed = rtune_rng_u64(rng);
    const bool extreme = p.op >= RTUNE_MIN && p.op <= RTUNE_ARGMAX;
    data_set &set = sets[p.mode == RTUNE_PLAIN && seed % 4 ? 0 : seed / 4 % REFERENCE_DATA_COUNT];
    unsigned char before[16];
    shot s = {&of, grid, nullptr, nullptr, fixed_scale, n, order(seed / 16 % 3), seed, nullptr};
    s.root = has_root(p) && seed / 4096 % 2;
    void *in = place(0, set.in[0], n, element_size(p.dtype), where);
    s.in = in;
    if (p.op == RTUNE_DOT)
        s.in2 = place(1, set.in[1], n, element_size(p.dtype), place_of(p, seed / 64));
    const reference_result result =
        extreme && seed / 4 % 4 ? with_spike(p, in, n, rng) : result_of(set, n, s.root);
    assert_true(!result.open || &set == &sets[REFERENCE_SPECIAL]);
    if (seed / 1024 % 4 == 0 && !s.root && p.op != RTUNE_ARGMIN && p.op != RTUNE_ARGMAX) {
        before_of(p, rng, before);
        s.before = before;
    }
    expect(s, result, "sweep");
}

/* All placements of the sizes up to n_every, a random one of the larger. */
unsigned long check_instance(const instance &of, uint64_t n_every, rtune_rng *rng) {
    const unsigned offsets = unsigned(16 / element_size(of.problem.dtype));
    unsigned long launches = 0;
    for (const uint64_t n : sizes_of(of.config)) {
        for (const unsigned grid : grids_of(of, n)) {
            check_one(of, grid, n, place_of(of.problem, rtune_rng_u64(rng)), rng), launches++;
            if (n > n_every) continue;
            for (unsigned k = 0; k <= offsets; k++, launches++)
                check_one(of, grid, n, {k == 0, k}, rng);
        }
    }
    return launches;
}

void fill(const rtune_problem &p) {
    for (int set = 0; set < REFERENCE_DATA_COUNT; set++) {
        sets[set].problem = p;
        for (auto &results : sets[set].results)
            results.clear();
        for (unsigned k = 0; k < 2; k++)
            reference_fill(&p, reference_data(set), test_seed() + 2 * unsigned(set) + k,
                           sets[set].in[k], n_max);
    }
}

void test_every_instance(void **) {
    rtune_rng rng = {test_seed() + shard, 0};
    unsigned long launches = 0, instances = 0;
    unsigned kind = 0;
    const rtune_problem *last = nullptr;
    for (const instance &of : catalog()) {
        const bool first = !last || !rtune_problem_same_kind(&of.problem, last);
        kind += first && last;
        last = &of.problem;
        if (kind % shards != shard) continue;
        if (first) fill(of.problem);
        launches += check_instance(of, rtune_emu_is_rich(&of.problem) ? 1000 : 33, &rng);
        instances++;
    }
    printf("%lu instances, %lu launches\n", instances, launches);
    assert_true(instances >= instances_min / shards);
}

} // namespace

int main(int argc, char **argv) {
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_every_instance),
    };
    if (argc == 3) {
        shard = unsigned(strtoul(argv[1], nullptr, 10));
        shards = unsigned(strtoul(argv[2], nullptr, 10));
    }
    test_seed();
    return cmocka_run_group_tests_name("emulated kernels, swept", tests, nullptr, nullptr);
}
