/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures that people reported against other reduction libraries, by their case numbers, over
 * every emulated config of the problems they are about: extremes, indices, logic, shapes. Sums are
 * in test_emu_sums.cpp.
 */
#include "tests/kernels/emu/cases.h"
#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/test_emu_sums.h"

using namespace rtune_emu;

namespace {

void test_A01_extremes_of_infinities(void **) {
    for (const rtune_dtype dtype : floats) {
        for (const uint64_t n : {1u, 10u, 1000u, 8193u}) {
            const values high = repeat(dtype, n, inf), low = repeat(dtype, n, -inf);
            for (const rtune_op op : {RTUNE_MIN, RTUNE_ARGMIN, RTUNE_MINMAX})
                all_give("A01", op, high, inf);
            for (const rtune_op op : {RTUNE_MAX, RTUNE_ARGMAX, RTUNE_MINMAX})
                all_give("A01", op, low, -inf);
        }
    }
}

void test_A03_max_of_negatives(void **) {
    for (const rtune_dtype dtype : all_dtypes) {
        if (!element_is_signed(dtype)) continue;
        const uint64_t n = dtype == RTUNE_I8 ? 100 : dtype == RTUNE_BF16 ? 200 : 777;
        values down = repeat(dtype, n, 0), up = down;
        for (uint64_t i = 0; i < n; i++) {
            down.put(i, -double(i) - 1);
            up.put(i, double(i) + 1);
        }
        all_give("A03", RTUNE_MAX, down, -1);
        all_give("A03", RTUNE_ARGMAX, down, -1);
        all_give("A03", RTUNE_MIN, up, 1);
        all_give("A03", RTUNE_ARGMIN, up, 1);
    }
}

void one_nan(rtune_dtype dtype) {
    values x = list(dtype, {1, 5, 0, 2, 3});
    x.put_bits(2, odd_nan(dtype));
    for (const rtune_op op : {RTUNE_MAX, RTUNE_MIN, RTUNE_ARGMAX, RTUNE_ARGMIN, RTUNE_MINMAX})
        all_give("A05", op, x, no_number, propagate, 2);
    for (const rtune_op op : {RTUNE_MAX, RTUNE_ARGMAX})
        all_give("A05", op, x, 5, ignore, 1);
    for (const rtune_op op : {RTUNE_MIN, RTUNE_ARGMIN})
        all_give("A05", op, x, 1, ignore, 0);
}
/* 4096 values in [0, 1), of which bf16 has all bits. */
double scattered(uint64_t i) { return double((i * 2654435761u + 12345) % 251) / 256; }
void moving_nan(rtune_dtype dtype, uint64_t at) {
    values x = repeat(dtype, 4096, 0);
    uint64_t least = 0, most = 0;
    for (uint64_t i = 0; i < x.n; i++) {
        x.put(i, scattered(i));
        if (i == at) continue;
        if (least == at || scattered(i) < scattered(least)) least = i;
        if (most == at || scattered(i) > scattered(most)) most = i;
    }
    x.put_bits(at, odd_nan(dtype));
    for (const rtune_op op : {RTUNE_MAX, RTUNE_MIN, RTUNE_ARGMAX, RTUNE_ARGMIN, RTUNE_MINMAX})
        all_give("A05", op, x, no_number, propagate, int64_t(at));
    for (const rtune_op op : {RTUNE_MAX, RTUNE_ARGMAX})
        all_give("A05", op, x, scattered(most), ignore, int64_t(most));
    for (const rtune_op op : {RTUNE_MIN, RTUNE_ARGMIN})
        all_give("A05", op, x, scattered(least), ignore, int64_t(least));
}
void test_A05_one_nan(void **) {
    for (const rtune_dtype dtype : floats) {
        one_nan(dtype);
        for (const uint64_t at : {0u, 1u, 31u, 32u, 255u, 2048u, 4095u})
            moving_nan(dtype, at);
    }
}

void test_A07_all_nan(void **) {
    for (const rtune_dtype dtype : floats) {
        for (const uint64_t n : {1u, 33u, 5000u}) {
            values x = repeat(dtype, n, 0);
            for (uint64_t i = 0; i < n; i++)
                x.put_bits(i, odd_nan(dtype));
            for (const rtune_op op :
                 {RTUNE_MIN, RTUNE_MAX, RTUNE_MINMAX, RTUNE_ARGMIN, RTUNE_ARGMAX})
                all_give("A07", op, x, no_number);
        }
    }
}

void test_A09_the_first_of_equals(void **) {
    const values sevens = repeat(RTUNE_I32, 1000003, 7);
    all_give("A09", RTUNE_ARGMIN, sevens, 7);
    all_give("A09", RTUNE_ARGMAX, sevens, 7);
    for (const rtune_dtype dtype : all_dtypes) {
        all_give("A09", RTUNE_ARGMAX, list(dtype, {2, 3, 0, 3, 3}), 3, any, 1);
        all_give("A09", RTUNE_ARGMIN, list(dtype, {1, 3, 1, 3, 1}), 1, any, 0);
        values x = repeat(dtype, 8193, 1);
        x.put(4000, 2), x.put(4096, 2), x.put(8192, 2);
        all_give("A09", RTUNE_ARGMAX, x, 2, any, 4000);
        x.put(77, 0), x.put(5000, 0);
        all_give("A09", RTUNE_ARGMIN, x, 0, any, 77);
    }
    for (const rtune_dtype dtype : floats) { /* zeros are equal, and stay as they are */
        all_give("A09", RTUNE_ARGMAX, list(dtype, {-1, -0.0, 0.0}), -0.0, any, 1);
        all_give("A09", RTUNE_ARGMAX, list(dtype, {-1, 0.0, -0.0}), 0.0, any, 1);
        all_give("A09", RTUNE_ARGMIN, list(dtype, {1, 0.0, -0.0}), 0.0, any, 1);
        all_give("A09", RTUNE_ARGMIN, list(dtype, {1, -0.0, 0.0}), -0.0, any, 1);
    }
}

void test_A12_arg_ops_see_the_sign(void **) {
    for (const rtune_dtype dtype : {RTUNE_I8, RTUNE_I32, RTUNE_F16, RTUNE_F32, RTUNE_F64}) {
        const values x = list(dtype, {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10});
        all_give("A12", RTUNE_ARGMAX, x, -1, any, 0);
        all_give("A12", RTUNE_ARGMIN, x, -10, any, 9);
    }
}

void test_A13_zeros_and_their_signs(void **) {
    for (const rtune_dtype dtype : floats) {
        for (const uint64_t n : {1024u, 8192u, 8193u, 16385u}) {
            values negative = repeat(dtype, n, -0.0), positive = repeat(dtype, n, 0.0);
            all_give("A13", RTUNE_MAX, negative, -0.0);
            all_give("A13", RTUNE_MIN, positive, 0.0);
            all_give("A13", RTUNE_MINMAX, negative, -0.0);
            negative.put(n / 3, 0.0);
            positive.put(n / 3, -0.0);
            all_give("A13", RTUNE_MAX, negative, 0.0);
            all_give("A13", RTUNE_MIN, positive, -0.0);
        }
    }
}

void test_A23_integers_beyond_2_53(void **) {
    for (const rtune_dtype dtype : {RTUNE_I64, RTUNE_U64}) {
        values x = repeat(dtype, 2, 0x1p53);
        x.put_bits(1, (uint64_t(1) << 53) + 1);
        all_give_bits("A23", RTUNE_MAX, x, (uint64_t(1) << 53) + 1);
        all_give_bits("A23", RTUNE_ARGMAX, x, (uint64_t(1) << 53) + 1, any, 1);
        all_give("A23", RTUNE_MIN, x, 0x1p53);
        x.put(1, 1);
        all_give_bits("A23", RTUNE_SUM, x, (uint64_t(1) << 53) + 1);
    }
}

void test_A25_one_element(void **) {
    static const double three[RTUNE_OP_COUNT] = {3, 9, 3, 9, 3, 3, 3, 3, 3, 3, 1, 1, 1, 3, 3, 3};
    for (const rtune_dtype dtype : all_dtypes) {
        const int ops = element_is_float(dtype) ? RTUNE_BAND : RTUNE_OP_COUNT;
        for (int op = 0; op < ops; op++)
            all_give("A25", rtune_op(op), repeat(dtype, 1, 3), three[op]);
    }
}

/* Every base that an element may have, once in front of what else would be read and once at a guard
 * page. */
void test_A27_element_aligned_bases(void **) {
    for (const rtune_dtype dtype : all_dtypes) {
        values x = repeat(dtype, 4097, 0);
        for (uint64_t i = 0; i < x.n; i++)
            x.put(i, double(i % 100));
        for (unsigned offset = 1; offset * element_size(dtype) <= 16; offset++)
            all_give_at("A27", RTUNE_SUM, x, offset, 202656);
        all_give("A27", RTUNE_SUM, x, 202656);
    }
}

void test_A35_truth_is_of_whole_elements(void **) {
    all_give("A35", RTUNE_ALL, list(RTUNE_U8, {2, 4, 6}), 1);
    for (const rtune_dtype dtype : floats) {
        all_give("A35", RTUNE_ANY, list(dtype, {0.5}), 1);
        all_give("A35", RTUNE_ALL, list(dtype, {1, 0}), 0);
        all_give("A35", RTUNE_ANY, list(dtype, {0.0, -0.0}), 0);
        all_give("A35", RTUNE_ALL, list(dtype, {1, -0.0, 1}), 0);
        values x = list(dtype, {0.0, -0.0, no_number, 0});
        all_give("A35", RTUNE_ANY, x, 1);
        all_give("A35", RTUNE_COUNT_NONZERO, x, 1);
        x.put_bits(0, 1); /* the least subnormal number */
        all_give("A35", RTUNE_COUNT_NONZERO, x, 2);
    }
    all_give("A35", RTUNE_ANY, list(RTUNE_I32, {256, 0}), 1);
    all_give("A35", RTUNE_ANY, list(RTUNE_I64, {4294967296.0}), 1);
    all_give("A35", RTUNE_COUNT_NONZERO, list(RTUNE_I64, {4294967296.0, 0, -1}), 2);
    for (const rtune_dtype dtype : integers) {
        for (const uint64_t n : {5u, 4099u}) { /* the only one of its kind, at either end */
            for (const uint64_t at : {uint64_t(0), n / 2, n - 1}) {
                values x = repeat(dtype, n, 0), y = repeat(dtype, n, 4);
                x.put(at, 64), y.put(at, 0);
                all_give("A35", RTUNE_ANY, x, 1);
                all_give("A35", RTUNE_ALL, y, 0);
                all_give("A35", RTUNE_COUNT_NONZERO, y, double(n) - 1);
            }
        }
    }
}

/* Two reductions one after the other, max then min, on one workspace (all launches of these tests
 * share it): neither sees what the other left, and it is clean in between. */
void test_B05_two_on_one_workspace(void **) {
    values x = repeat(RTUNE_I32, 65536, 0);
    for (uint64_t i = 0; i < x.n; i++)
        x.put_bits(i, i * 2654435761u);
    x.put(40000, 2147483647.0), x.put(3, -2147483648.0);
    for (int turn = 0; turn < 3; turn++) {
        all_give("B05", RTUNE_MAX, x, 2147483647.0);
        all_give("B05", RTUNE_MIN, x, -2147483648.0);
        all_give("B05", RTUNE_ARGMAX, x, 2147483647.0, any, 40000);
        all_give("B05", RTUNE_ARGMIN, x, -2147483648.0, any, 3);
    }
}

void test_bits(void **) {
    for (const rtune_dtype dtype : integers) {
        values x = repeat(dtype, 4099, -1);
        if (!element_is_signed(dtype)) x.bytes.assign(x.bytes.size(), 0xff);
        x.put_bits(17, element_mask(dtype) & ~uint64_t(6));
        all_give_bits("band", RTUNE_BAND, x, element_mask(dtype) & ~uint64_t(6));
        all_give_bits("bxor", RTUNE_BXOR, x, element_mask(dtype) & ~uint64_t(6));
        values y = repeat(dtype, 4099, 0);
        y.put(4098, 64), y.put(0, 2);
        all_give_bits("bor", RTUNE_BOR, y, 66);
        all_give_bits("bxor", RTUNE_BXOR, y, 66);
    }
}

} // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_A01_extremes_of_infinities),
        cmocka_unit_test(test_A03_max_of_negatives),
        cmocka_unit_test(test_A05_one_nan),
        cmocka_unit_test(test_A07_all_nan),
        cmocka_unit_test(test_A09_the_first_of_equals),
        cmocka_unit_test(test_A12_arg_ops_see_the_sign),
        cmocka_unit_test(test_A13_zeros_and_their_signs),
        cmocka_unit_test(test_A15_halves_accumulate_in_f32),
        cmocka_unit_test(test_A17_halves_round_once),
        cmocka_unit_test(test_A19_sums_outgrow_their_elements),
        cmocka_unit_test(test_A21_product_of_ones),
        cmocka_unit_test(test_A23_integers_beyond_2_53),
        cmocka_unit_test(test_A25_one_element),
        cmocka_unit_test(test_A27_element_aligned_bases),
        cmocka_unit_test(test_A35_truth_is_of_whole_elements),
        cmocka_unit_test(test_A37_one_block_and_more_blocks_than_elements),
        cmocka_unit_test(test_A39_compensation_past_infinity),
        cmocka_unit_test(test_A44_sums_of_zeros),
        cmocka_unit_test(test_B05_two_on_one_workspace),
        cmocka_unit_test(test_special_values_of_sums),
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_integers_wrap),
        cmocka_unit_test(test_packed_totals_at_their_limit),
        cmocka_unit_test(test_fixed_edges),
        cmocka_unit_test(test_bits),
    };
    test_seed();
    return cmocka_run_group_tests_name("emulated kernels, cases", tests, nullptr, nullptr);
}
