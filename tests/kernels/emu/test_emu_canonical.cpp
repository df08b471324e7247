/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modes whose every bit is defined, over every emulated config: 50 arrays of odd sizes on odd
 * bases, dot's two inputs on different ones, give the bits of the reference; golden bits.
 */
#include "tests/kernels/emu/cases.h"
#include "tests/kernels/emu/cmocka_cpp.h"

#include "tests/golden/reproducible.h"

#include <cstdio>

using namespace rtune_emu;

namespace {

enum { ARRAYS = 50, N_MAX = 1 << 16 };

struct inputs {
    rtune_problem problem;
    unsigned char bytes[2][N_MAX * 8];
} data;

/* Odd sizes of every magnitude, some around leaves. */
uint64_t size_of(const rtune_problem &p, unsigned k, rtune_rng *rng) {
    const uint64_t leaf = 8192 / element_size(p.dtype);
    if (k < 8) return 2 * k + 1;
    if (k < 24) return (k / 8) * leaf + k % 8 - 3;
    return (rtune_rng_below(rng, N_MAX) >> rtune_rng_below(rng, 8)) | 1;
}

/* All instances of one problem on array k. */
unsigned check_array(size_t first, size_t last, unsigned k, rtune_rng *rng) {
    const rtune_problem &p = data.problem;
    const size_t size = element_size(p.dtype);
    const uint64_t n = size_of(p, k, rng);
    const double scale = 1000.1;
    const auto set = k % 8 == 7 ? REFERENCE_SPECIAL : REFERENCE_ROUNDING;
    reference r;
    reference_result result;
    for (unsigned input = 0; input < 2; input++)
        reference_fill(&p, set, rtune_rng_u64(rng), data.bytes[input], n);
    reference_begin(&r, &p, scale);
    reference_add(&r, data.bytes[0], data.bytes[1], n);
    reference_end(&r, 0, &result);
    assert_true(result.exact && !result.open);
    for (size_t i = first; i < last; i++) {
        const instance &of = catalog()[i];
        const unsigned offsets = unsigned(16 / size) + 1;
        const unsigned grid = one_block(of) ? 1 : 1 + unsigned(rtune_rng_below(rng, 40));
        const void *in = place(0, data.bytes[0], n, size, {k % 2 == 0, k % offsets});
        const void *in2 = place(1, data.bytes[1], n, size, {k % 3 == 0, k / 2 % offsets});
        expect({&of, grid, in, in2, scale, n, order(i % 3), rtune_rng_u64(rng), nullptr}, result,
               "canonical");
    }
    return unsigned(last - first);
}

void every_config(rtune_mode mode) {
    rtune_rng rng = {test_seed() + unsigned(mode), 0};
    const std::vector<instance> &all = catalog();
    unsigned long launches = 0, kinds = 0;
    for (size_t first = 0, last; first < all.size(); first = last) {
        for (last = first + 1; last < all.size(); last++)
            if (!rtune_problem_same_kind(&all[first].problem, &all[last].problem)) break;
        if (all[first].problem.mode != mode) continue;
        data.problem = all[first].problem;
        for (unsigned k = 0; k < ARRAYS; k++)
            launches += check_array(first, last, k, &rng);
        kinds++;
    }
    printf("%lu problems, %lu launches\n", kinds, launches);
    assert_int_equal(kinds, 16);
}

void test_reproducible(void **) { every_config(RTUNE_REPRODUCIBLE); }
void test_fixed(void **) { every_config(RTUNE_FIXED); }

void test_golden(void **) {
    unsigned launches = 0;
    for (size_t k = 0; k < GOLDEN_ROWS; k++) {
        const golden_row &row = golden_rows[k];
        values in[2] = {repeat(row.dtype, row.n, 0), repeat(row.dtype, row.n, 0)};
        reference_result result = {};
        result.exact = true;
        result.size = element_size(row.dtype) == 8 ? 8 : 4;
        memcpy(result.bytes, &row.bits, result.size);
        for (unsigned input = 0; input < 2; input++)
            for (uint64_t i = 0; i < row.n; i++)
                in[input].put_bits(i, golden_element(row.dtype, row.seed + input, i));
        const size_t size = element_size(row.dtype);
        const void *x = place(0, in[0].bytes.data(), row.n, size, {false, unsigned(k % 4)});
        const void *y = place(1, in[1].bytes.data(), row.n, size, {k % 2 == 0, unsigned(k % 3)});
        for (const instance &of : catalog()) {
            const rtune_problem &p = of.problem;
            if (p.mode != RTUNE_REPRODUCIBLE || p.op != row.op || p.dtype != row.dtype) continue;
            const unsigned grid = one_block(of) ? 1 : 1 + unsigned(k % 13);
            expect({&of, grid, x, y, 1, row.n, order(k % 3), k, nullptr}, result, "golden");
            launches++;
        }
    }
    assert_true(launches >= 2 * GOLDEN_ROWS);
}

} // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_golden),
    };
    test_seed();
    return cmocka_run_group_tests_name("emulated kernels, canonical", tests, nullptr, nullptr);
}
