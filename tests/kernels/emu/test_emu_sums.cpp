/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_sums.cpp: the cases that are about sums and products. */
#include "tests/kernels/emu/test_emu_sums.h"

#include "tests/kernels/emu/cases.h"
#include "tests/kernels/emu/cmocka_cpp.h"

using namespace rtune_emu;

void test_A15_halves_accumulate_in_f32(void **) {
    for (const rtune_dtype dtype : {RTUNE_F16, RTUNE_BF16}) {
        all_give("A15", RTUNE_SUM, repeat(dtype, 5000, 1), 5000); /* native bf16 has 4992 */
        all_give("A15", RTUNE_ASUM, repeat(dtype, 5000, -1), 5000);
        all_give("A15", RTUNE_SUMSQ, repeat(dtype, 5000, -1), 5000);
        all_give("A15", RTUNE_DOT, repeat(dtype, 5000, -1), 5000);
    }
    all_give("A15", RTUNE_SUM, repeat(RTUNE_BF16, 5000, 1), 4992,
             [](const rtune_problem &p) { return native(p); });
}

void test_A17_halves_round_once(void **) {
    const values below = list(RTUNE_F16, {65504, 15}), tie = list(RTUNE_F16, {65504, 16});
    all_give("A17", RTUNE_SUM, list(RTUNE_F16, {65472, 32}), 65504);
    all_give("A17", RTUNE_SUM, below, 65519, wide);
    all_give("A17", RTUNE_SUM, below, 65504, native);
    all_give("A17", RTUNE_SUM, tie, 65520, wide);
    all_give("A17", RTUNE_SUM, tie, inf, native);
    all_give("A17", RTUNE_SUM, repeat(RTUNE_F16, 70000, 1), 70000, wide);
    all_give("A17", RTUNE_SUM, repeat(RTUNE_F16, 70000, 1), inf, native);
}

void test_A19_sums_outgrow_their_elements(void **) {
    all_give("A19", RTUNE_SUM, repeat(RTUNE_I32, 6, 0x1p30), 6442450944.0, wide);
    all_give("A19", RTUNE_SUM, repeat(RTUNE_I32, 6, 0x1p30), -2147483648.0, native);
    all_give("A19", RTUNE_SUM, repeat(RTUNE_I8, 1000, 100), 100000, wide);
    all_give("A19", RTUNE_SUM, repeat(RTUNE_I8, 1000, 100), -96, native);
    for (const rtune_dtype dtype : {RTUNE_I8, RTUNE_I16, RTUNE_I32}) {
        const double least = -double((element_mask(dtype) >> 1) + 1), n = 70001;
        const values x = repeat(dtype, 70001, least);
        all_give("A19", RTUNE_SUM, x, n * least, wide);
        all_give("A19", RTUNE_ASUM, x, -n * least, wide);
        if (dtype != RTUNE_I32) all_give("A19", RTUNE_DOT, x, n * least * least, wide);
        if (dtype != RTUNE_I32) all_give("A19", RTUNE_SUMSQ, x, n * least * least, wide);
    }
    for (const rtune_dtype dtype : {RTUNE_U8, RTUNE_U16, RTUNE_U32}) {
        const double most = double(element_mask(dtype));
        all_give("A19", RTUNE_SUM, repeat(dtype, 70001, most), 70001 * most, wide);
        all_give("A19", RTUNE_ASUM, repeat(dtype, 70001, most), 70001 * most, wide);
    }
}

void test_A21_product_of_ones(void **) {
    all_give("A21", RTUNE_PROD, repeat(RTUNE_F32, 1000003, 1), 1);
    for (const rtune_dtype dtype : all_dtypes) {
        for (const uint64_t n : {65u, 4097u, 24000u})
            all_give("A21", RTUNE_PROD, repeat(dtype, n, 1), 1);
        values x = repeat(dtype, 4097, 1);
        x.put(4000, 3), x.put(0, 5);
        all_give("A21", RTUNE_PROD, x, 15);
    }
}

void test_A37_one_block_and_more_blocks_than_elements(void **) {
    for (const rtune_dtype dtype : floats) {
        all_give("A37", RTUNE_SUM, list(dtype, {1.25, 2.5}), 3.75, not_fixed);
        all_give("A37", RTUNE_PROD, list(dtype, {1.25, 2.5}), 3.125);
    }
    for (const rtune_dtype dtype : integers)
        all_give("A37", RTUNE_SUM, repeat(dtype, 1, 7), 7);
}

void test_A39_compensation_past_infinity(void **) {
    for (const rtune_dtype dtype : floats) {
        all_give("A39", RTUNE_SUM, list(dtype, {inf, 0, 1}), inf, kahan);
        all_give("A39", RTUNE_SUM, list(dtype, {1, inf, -1}), inf, kahan);
        all_give("A39", RTUNE_SUM, list(dtype, {-inf, 2}), -inf, kahan);
        all_give("A39", RTUNE_SUM, list(dtype, {inf, 4, -inf}), no_number, kahan);
        all_give("A39", RTUNE_DOT, list(dtype, {-inf, 4, -inf}), inf, kahan);
        values x = repeat(dtype, 5000, 1);
        x.put(2500, inf);
        for (const rtune_op op : {RTUNE_SUM, RTUNE_ASUM, RTUNE_SUMSQ, RTUNE_DOT})
            all_give("A39", op, x, inf, kahan);
    }
    all_give("A39", RTUNE_SUM, list(RTUNE_F32, {3e38, 3e38}), inf, kahan);
    all_give("A39", RTUNE_SUM, list(RTUNE_F64, {1.5e308, 1.5e308}), inf, kahan);
    all_give("A39", RTUNE_SUMSQ, list(RTUNE_F32, {1e30, 1}), inf, kahan);
    /* What plain loses: 1 beside 2^60, both of them twice. */
    all_give("kahan", RTUNE_SUM, list(RTUNE_F64, {0x1p60, 1, -0x1p60, 1}), 2, kahan);
    all_give("kahan", RTUNE_SUM, list(RTUNE_F32, {0x1p30, 1, -0x1p30, 1}), 2, kahan);
}

void test_A44_sums_of_zeros(void **) {
    for (const rtune_dtype dtype : floats) {
        values mixed = repeat(dtype, 1025, 0.0);
        for (uint64_t i = 1; i < mixed.n; i += 2)
            mixed.put(i, -0.0);
        all_give("A44", RTUNE_SUM, list(dtype, {0.0, -0.0}), 0.0);
        all_give("A44", RTUNE_SUM, list(dtype, {-0.0, -0.0}), 0.0);
        all_give("A44", RTUNE_SUM, mixed, 0.0);
        all_give("A44", RTUNE_SUM, repeat(dtype, 1025, -0.0), 0.0);
    }
}

/* What the semantics promise about floats besides. */
void test_special_values_of_sums(void **) {
    for (const rtune_dtype dtype : floats) {
        values x = list(dtype, {1, 0, 1});
        x.put_bits(1, odd_nan(dtype));
        for (const rtune_op op : {RTUNE_SUM, RTUNE_ASUM, RTUNE_SUMSQ, RTUNE_DOT, RTUNE_PROD})
            all_give("nan", op, x, no_number, not_fixed);
        all_give("inf - inf", RTUNE_SUM, list(dtype, {inf, 1, -inf}), no_number, not_fixed);
        all_give("inf", RTUNE_SUM, list(dtype, {1, inf, 1}), inf, not_fixed);
        all_give("|-inf|", RTUNE_ASUM, list(dtype, {1, -inf, inf}), inf, not_fixed);
        all_give("0 * inf", RTUNE_PROD, list(dtype, {0, 1, inf}), no_number);
        const double least = element_value(dtype, 1);
        all_give("subnormal", RTUNE_SUM, repeat(dtype, 5, least), 5 * least, not_fixed);
        all_give("subnormal", RTUNE_MIN, list(dtype, {least, 1}), least);
        all_give("subnormal", RTUNE_MAX, list(dtype, {least, -1}), least);
        all_give("subnormal", RTUNE_PROD, list(dtype, {1, least, 3}), 3 * least);
    }
}

/* RTUNE_ROOT: the root of the wide sum, rounded before the result is. */
void test_norms(void **) {
    for (const rtune_dtype dtype : floats) {
        all_norms_give("norm", list(dtype, {-3, 4}), 5);
        all_norms_give("norm", repeat(dtype, 2, -1), 1.4142135623730951);
        all_norms_give("norm", repeat(dtype, 4097, 2), 128.01562404644206); /* of 16388 */
        all_norms_give("norm", list(dtype, {0.0, -0.0}), 0.0);
        all_norms_give("norm", list(dtype, {1, -inf}), inf);
        values x = list(dtype, {1, inf, 1});
        x.put_bits(2, odd_nan(dtype));
        all_norms_give("norm", x, no_number);
    }
    all_norms_give("norm", list(RTUNE_F16, {30000, -40000}), 50000); /* its square is 2.5e9 */
    all_norms_give("norm", list(RTUNE_BF16, {0x1p63, 0x1p62}), sqrt(0x1.4p126));
    all_norms_give("norm", list(RTUNE_F32, {1.5e19, 1.5e19}), inf);
    all_norms_give("norm", list(RTUNE_F32, {1e-30}), 0);
    all_norms_give("norm", list(RTUNE_F64, {1.2e154, 1.2e154}), inf);
}

void test_integers_wrap(void **) {
    values x = repeat(RTUNE_I64, 2, 0), y = repeat(RTUNE_U8, 3, 100);
    x.put_bits(0, uint64_t(INT64_MAX)), x.put_bits(1, 2);
    all_give_bits("wrap", RTUNE_SUM, x, uint64_t(INT64_MAX) + 2);
    all_give_bits("wrap", RTUNE_PROD, x, uint64_t(INT64_MAX) * 2);
    x.put_bits(0, uint64_t(INT64_MIN)), x.put_bits(1, uint64_t(INT64_MIN));
    all_give_bits("wrap", RTUNE_ASUM, x, 0);
    all_give_bits("wrap", RTUNE_SUMSQ, x, 0);
    all_give("wrap", RTUNE_SUM, y, 300, wide);
    all_give("wrap", RTUNE_SUM, y, 300 - 256, native);
    all_give("wrap", RTUNE_PROD, y, 1000000, wide);
    all_give("wrap", RTUNE_PROD, y, 1000000 % 256, native);
    all_give("wrap", RTUNE_SUMSQ, repeat(RTUNE_I8, 3, -128), 3 * 16384, wide);
    all_give("wrap", RTUNE_ASUM, repeat(RTUNE_I8, 1, -128), 128, native);
    all_give_bits("wrap", RTUNE_SUMSQ, repeat(RTUNE_U32, 2, 4294967295.0),
                  2 * uint64_t(4294967295u) * 4294967295u, wide);
}

/* The most elements that a packed finish admits, all of the largest magnitude. */
void test_packed_totals_at_their_limit(void **) {
    constexpr uint64_t room = 1 << 21;
    unsigned count = 0;
    for (const instance &of : catalog()) {
        const rtune_dtype dtype = of.problem.dtype;
        rtune_problem p = of.problem;
        const char *why;
        p.n = room;
        if (of.config.finish != RTUNE_FINISH_PACKED || rtune_finish_admits(&of.config, &p, 7, &why))
            continue;
        for (uint64_t step = room / 2; step > 0; step /= 2) {
            p.n -= step;
            if (rtune_finish_admits(&of.config, &p, 7, &why)) p.n += step;
        }
        p.n -= rtune_finish_admits(&of.config, &p, 7, &why) ? 0 : 1;
        assert_true(rtune_finish_admits(&of.config, &p, 7, &why));
        const bool is_signed = element_is_signed(dtype);
        const uint64_t least = is_signed ? (element_mask(dtype) >> 1) + 1 : element_mask(dtype);
        for (const uint64_t bits : {least, is_signed ? least - 1 : least}) {
            values x = repeat(dtype, p.n, 0);
            for (uint64_t i = 0; i < x.n; i++)
                x.put_bits(i, bits);
            const void *in = place(0, x.bytes.data(), x.n, element_size(dtype), {true, 0});
            reference_result result;
            rtune_args args = RTUNE_ARGS(in, nullptr);
            args.in2 = in;
            reference_compute(&p, &args, &result);
            expect({&of, 7, in, in, 1, p.n, order::random, bits, nullptr}, result, "packed limit");
        }
        p.n++;
        assert_false(rtune_finish_admits(&of.config, &p, 7, &why));
        count++;
    }
    assert_true(count >= 2);
}

void test_fixed_edges(void **) {
    const filter fixed = [](const rtune_problem &p) { return p.mode == RTUNE_FIXED; };
    for (const rtune_dtype dtype : floats) { /* at scale 1 */
        all_give("fixed", RTUNE_SUM, list(dtype, {0.5, 1.5, 2.5, -0.5, -1.5, -2.5}), 0, fixed);
        all_give("fixed", RTUNE_SUM, list(dtype, {0.5, 1.5, 2.5, 3.5}), 0 + 2 + 2 + 4, fixed);
        all_give("fixed", RTUNE_ASUM, list(dtype, {-0.5, -1.5, -2.5, 0.25}), 0 + 2 + 2, fixed);
        all_give("fixed", RTUNE_SUMSQ, list(dtype, {-1.5, 0.5, 2.5}), 2 + 0 + 6, fixed);
        all_give("fixed", RTUNE_SUM, repeat(dtype, 4097, 3), 3 * 4097, fixed);
    }
    const int64_t large = (int64_t(1) << 51) + (int64_t(1) << 52) - (int64_t(1) << 50) + 1;
    for (const rtune_dtype dtype : {RTUNE_BF16, RTUNE_F32, RTUNE_F64}) {
        const values x = list(dtype, {0x1p51, 0x1p52, -0x1p50, 1, 0x1p62});
        all_give_bits("fixed", RTUNE_SUM, x, uint64_t(large + (int64_t(1) << 62)), fixed);
        const values y = list(dtype, {0x1p62, 0x1p62, 0x1p62, 0x1p62, -3}); /* wraps */
        all_give_bits("fixed", RTUNE_SUM, y, uint64_t(-3), fixed);
        all_give_bits("fixed", RTUNE_SUM, list(dtype, {-0x1p63}), uint64_t(1) << 63, fixed);
    }
}
