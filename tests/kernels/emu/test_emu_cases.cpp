/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures that people reported against other reduction libraries, by their case numbers, over
 * every emulated config of the problems they are about.
 */
#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/harness.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace rtune_emu;

namespace {

template <class T> struct dtype_of;
template <> struct dtype_of<float> { static constexpr rtune_dtype value = RTUNE_F32; };
template <> struct dtype_of<double> { static constexpr rtune_dtype value = RTUNE_F64; };
template <> struct dtype_of<int32_t> { static constexpr rtune_dtype value = RTUNE_I32; };
template <> struct dtype_of<int64_t> { static constexpr rtune_dtype value = RTUNE_I64; };

template <class T> constexpr T inf = std::numeric_limits<T>::infinity();
/* Not the canonical one: negative, with a payload. */
template <class T> T odd_nan() {
    T x = -std::numeric_limits<T>::quiet_NaN();
    char bytes[sizeof x];
    memcpy(bytes, &x, sizeof x);
    bytes[0] = 0x2a;
    memcpy(&x, bytes, sizeof x);
    return x;
}
template <class T> uint64_t canonical_nan() {
    return sizeof(T) == 4 ? 0x7fc00000u : uint64_t(0x7ff8000000000000u);
}

using filter = bool (*)(const rtune_problem &);
bool any(const rtune_problem &) { return true; }
bool wide(const rtune_problem &p) { return p.acc == RTUNE_WIDE; }
bool native(const rtune_problem &p) { return p.acc == RTUNE_NATIVE; }
bool propagate(const rtune_problem &p) { return p.nan_rule == RTUNE_NAN_PROPAGATE; }
bool ignore(const rtune_problem &p) { return p.nan_rule == RTUNE_NAN_IGNORE; }

/* Every instance of op on T must give these bits: the input ends at a guard page, the grid is 1, 3
 * and more than there are elements (up to a bound). Returns how many instances there were. */
template <class T>
void all_give(const char *name, rtune_op op, const std::vector<T> &x, uint64_t bits,
              filter which = any) {
    unsigned count = 0;
    for (const instance &of : catalog()) {
        if (of.problem.op != op || of.problem.dtype != dtype_of<T>::value || !which(of.problem))
            continue;
        const void *in = place(x.data(), x.size(), sizeof(T), {true, 0});
        const unsigned more = unsigned(x.size() < 16 ? x.size() + 2 : 7);
        for (const unsigned grid : {1u, 3u, more}) {
            if (grid != 1 && of.config.finish == RTUNE_FINISH_ONE) continue;
            expect({&of, grid, in, x.size(), order(count % 3), test_seed() + count, false,
                    ~uint64_t(0)},
                   bits, name);
        }
        count++;
    }
    assert_true(count >= 16);
}
template <class T, class R>
void all_equal(const char *name, rtune_op op, const std::vector<T> &x, R result,
               filter which = any) {
    all_give(name, op, x, bits_of(result), which);
}

template <class T> void infinities() {
    for (const size_t n : {1u, 10u, 1000u, 8193u}) {
        all_equal("A01", RTUNE_MIN, std::vector<T>(n, inf<T>), inf<T>);
        all_equal("A01", RTUNE_MAX, std::vector<T>(n, -inf<T>), -inf<T>);
    }
}
void test_A01_extremes_of_infinities(void **) {
    infinities<float>();
    infinities<double>();
}

template <class T> void ramp() {
    std::vector<T> down(777), up(777);
    for (size_t i = 0; i < down.size(); i++) {
        down[i] = T(-T(i) - 1);
        up[i] = T(i + 1);
    }
    all_equal("A03", RTUNE_MAX, down, T(-1));
    all_equal("A03", RTUNE_MIN, up, T(1));
}
void test_A03_max_of_negatives(void **) {
    ramp<float>();
    ramp<double>();
    ramp<int32_t>();
    ramp<int64_t>();
}

template <class T> void moving_nan() {
    const std::vector<T> small = {1, 5, odd_nan<T>(), 2, 3};
    all_give("A05", RTUNE_MAX, small, canonical_nan<T>(), propagate);
    all_give("A05", RTUNE_MIN, small, canonical_nan<T>(), propagate);
    all_equal("A05", RTUNE_MAX, small, T(5), ignore);
    all_equal("A05", RTUNE_MIN, small, T(1), ignore);
    std::vector<T> x(4096);
    for (size_t i = 0; i < x.size(); i++)
        x[i] = T((i * 2654435761u + 12345) % 4093) / T(4093);
    for (const size_t at : {0u, 1u, 31u, 32u, 255u, 2048u, 4095u}) {
        std::vector<T> y = x;
        y[at] = odd_nan<T>();
        T least = 2, most = -1;
        for (size_t i = 0; i < y.size(); i++) {
            if (i == at) continue;
            least = y[i] < least ? y[i] : least;
            most = y[i] > most ? y[i] : most;
        }
        all_give("A05", RTUNE_MAX, y, canonical_nan<T>(), propagate);
        all_give("A05", RTUNE_MIN, y, canonical_nan<T>(), propagate);
        all_equal("A05", RTUNE_MAX, y, most, ignore);
        all_equal("A05", RTUNE_MIN, y, least, ignore);
    }
}
void test_A05_one_nan(void **) {
    moving_nan<float>();
    moving_nan<double>();
}

template <class T> void all_nan() {
    for (const size_t n : {1u, 33u, 5000u}) {
        all_give("A07", RTUNE_MIN, std::vector<T>(n, odd_nan<T>()), canonical_nan<T>());
        all_give("A07", RTUNE_MAX, std::vector<T>(n, odd_nan<T>()), canonical_nan<T>());
    }
}
void test_A07_all_nan(void **) {
    all_nan<float>();
    all_nan<double>();
}

template <class T> void zeros() {
    for (const size_t n : {1024u, 8192u, 8193u, 16385u}) {
        std::vector<T> negative(n, T(-0.0)), positive(n, T(0.0));
        all_equal("A13", RTUNE_MAX, negative, T(-0.0));
        all_equal("A13", RTUNE_MIN, positive, T(0.0));
        negative[n / 3] = T(0.0);
        positive[n / 3] = T(-0.0);
        all_equal("A13", RTUNE_MAX, negative, T(0.0));
        all_equal("A13", RTUNE_MIN, positive, T(-0.0));
    }
}
void test_A13_zeros_and_their_signs(void **) {
    zeros<float>();
    zeros<double>();
}

void test_A19_sums_outgrow_32_bits(void **) {
    const std::vector<int32_t> x(6, 1 << 30);
    all_equal("A19", RTUNE_SUM, x, int64_t(6442450944), wide);
    all_equal("A19", RTUNE_SUM, x, int32_t(INT32_MIN), native);
    const std::vector<int32_t> low(4097, INT32_MIN);
    all_equal("A19", RTUNE_SUM, low, 4097 * int64_t(INT32_MIN), wide);
}

void test_A21_product_of_ones(void **) {
    all_equal("A21", RTUNE_PROD, std::vector<float>(1000003, 1.0f), 1.0f);
    all_equal("A21", RTUNE_PROD, std::vector<double>(24000, 1.0), 1.0);
    all_equal("A21", RTUNE_PROD, std::vector<int64_t>(65, 1), int64_t(1));
    all_equal("A21", RTUNE_PROD, std::vector<int32_t>(4097, 1), int64_t(1), wide);
    all_equal("A21", RTUNE_PROD, std::vector<int32_t>(4097, 1), int32_t(1), native);
}

void test_A23_integers_beyond_2_53(void **) {
    const int64_t big = int64_t(1) << 53;
    all_equal("A23", RTUNE_MAX, std::vector<int64_t>{big, big + 1}, big + 1);
    all_equal("A23", RTUNE_MIN, std::vector<int64_t>{big, big + 1}, big);
    all_equal("A23", RTUNE_SUM, std::vector<int64_t>{big, 1}, big + 1);
}

void test_A25_one_element(void **) {
    for (const rtune_op op : {RTUNE_SUM, RTUNE_PROD, RTUNE_MIN, RTUNE_MAX}) {
        all_equal("A25", op, std::vector<float>{-1.5f}, -1.5f);
        all_equal("A25", op, std::vector<double>{-1.5}, -1.5);
        all_equal("A25", op, std::vector<int64_t>{-5}, int64_t(-5));
        if (op == RTUNE_SUM || op == RTUNE_PROD) {
            all_equal("A25", op, std::vector<int32_t>{-5}, int64_t(-5), wide);
            all_equal("A25", op, std::vector<int32_t>{-5}, int32_t(-5), native);
        } else {
            all_equal("A25", op, std::vector<int32_t>{-5}, int32_t(-5));
        }
    }
}

/* base + 1, 2, 3 elements, once in front of what else would be read and once at a guard page. */
template <class T, class R> void shifted(R want, filter which) {
    std::vector<T> x(4097);
    for (size_t i = 0; i < x.size(); i++)
        x[i] = T(i % 100);
    unsigned count = 0;
    for (const instance &of : catalog()) {
        if (of.problem.op != RTUNE_SUM || of.problem.dtype != dtype_of<T>::value ||
            !which(of.problem))
            continue;
        for (unsigned offset = 1; offset <= 3; offset++) {
            const void *in = place(x.data(), x.size(), sizeof(T), {false, offset});
            expect({&of, 1, in, x.size(), order(offset % 3), offset, false, 0}, bits_of(want),
                   "A27");
        }
        count++;
    }
    assert_true(count >= 16);
    all_equal("A27", RTUNE_SUM, x, want, which);
}
void test_A27_element_aligned_bases(void **) {
    shifted<float>(202656.0f, any);
    shifted<double>(202656.0, any);
    shifted<int64_t>(int64_t(202656), any);
    shifted<int32_t>(int64_t(202656), wide);
    shifted<int32_t>(int32_t(202656), native);
}

void test_A37_one_block_and_more_blocks_than_elements(void **) {
    all_equal("A37", RTUNE_SUM, std::vector<float>{1.25f, 2.5f}, 3.75f);
    all_equal("A37", RTUNE_SUM, std::vector<int32_t>{7}, int64_t(7), wide);
    all_equal("A37", RTUNE_PROD, std::vector<float>{1.25f, 2.5f}, 3.125f);
}

/* What the semantics promise about floating-point sums besides. */
template <class T> void special_sums() {
    all_equal("-0", RTUNE_SUM, std::vector<T>(9, T(-0.0)), T(0.0));
    all_give("inf - inf", RTUNE_SUM, std::vector<T>{inf<T>, 1, -inf<T>}, canonical_nan<T>());
    all_give("nan", RTUNE_SUM, std::vector<T>{1, odd_nan<T>(), 1}, canonical_nan<T>());
    all_equal("inf", RTUNE_SUM, std::vector<T>{1, inf<T>, 1}, inf<T>);
    all_give("0 * inf", RTUNE_PROD, std::vector<T>{0, 1, inf<T>}, canonical_nan<T>());
    const T tiny = std::numeric_limits<T>::denorm_min();
    all_equal("subnormal", RTUNE_SUM, std::vector<T>(5, tiny), T(5) * tiny);
    all_equal("subnormal", RTUNE_MIN, std::vector<T>{tiny, 1}, tiny);
    all_equal("subnormal", RTUNE_PROD, std::vector<T>{1, tiny, 3}, T(3) * tiny);
}
void test_special_values_of_sums(void **) {
    special_sums<float>();
    special_sums<double>();
}

/* Two reductions one after the other, max then min, on one workspace (all launches of these tests
 * share it): neither sees what the other left, and it is clean in between. */
void test_B05_two_on_one_workspace(void **) {
    std::vector<int32_t> x(65536);
    for (size_t i = 0; i < x.size(); i++)
        x[i] = int32_t(i * 2654435761u);
    x[40000] = INT32_MAX;
    x[3] = INT32_MIN;
    std::vector<const instance *> first, then;
    for (const instance &of : catalog()) {
        if (of.problem.dtype != RTUNE_I32) continue;
        if (of.problem.op == RTUNE_MAX) first.push_back(&of);
        if (of.problem.op == RTUNE_MIN) then.push_back(&of);
    }
    assert_true(first.size() >= 4 && then.size() >= 4);
    const void *in = place(x.data(), x.size(), sizeof x[0], {true, 0});
    for (size_t k = 0; k < first.size(); k++) {
        const instance *max = first[k], *min = then[k % then.size()];
        const order turn = order(k % 3);
        const uint64_t seed = test_seed() + k;
        expect({max, max->config.finish == RTUNE_FINISH_ONE ? 1u : 7u, in, x.size(), turn, seed,
                false, 0},
               bits_of(INT32_MAX), "B05");
        expect({min, min->config.finish == RTUNE_FINISH_ONE ? 1u : 7u, in, x.size(), turn, seed,
                false, 0},
               bits_of(INT32_MIN), "B05");
    }
}

} // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_A01_extremes_of_infinities),
        cmocka_unit_test(test_A03_max_of_negatives),
        cmocka_unit_test(test_A05_one_nan),
        cmocka_unit_test(test_A07_all_nan),
        cmocka_unit_test(test_A13_zeros_and_their_signs),
        cmocka_unit_test(test_A19_sums_outgrow_32_bits),
        cmocka_unit_test(test_A21_product_of_ones),
        cmocka_unit_test(test_A23_integers_beyond_2_53),
        cmocka_unit_test(test_A25_one_element),
        cmocka_unit_test(test_A27_element_aligned_bases),
        cmocka_unit_test(test_A37_one_block_and_more_blocks_than_elements),
        cmocka_unit_test(test_B05_two_on_one_workspace),
        cmocka_unit_test(test_special_values_of_sums),
    };
    test_seed();
    return cmocka_run_group_tests_name("emulated kernels, cases", tests, nullptr, nullptr);
}
