/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ways in which a thread keeps an extreme of f64: as order keys all the way, for machines
 * that compare f64 slowly, and with the exceptions apart. They must be one function, NaNs and zeros
 * included.
 */
#include "kernels/device/op_order.cuh"
#include "tests/kernels/emu/cmocka_cpp.h"

#include <cmath>
#include <cstring>
#include <initializer_list>

namespace {

/* By their bits: zeros, ones, subnormals, the largest, infinities, and NaNs: quiet, signaling and
 * those at both ends of the range. */
const rtune::u64 values[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x0000000000000001, 0x8000000000000001, 0x7fefffffffffffff, 0xffefffffffffffff,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
    0x7ff0000000000001, 0xfff0000000000001, 0x7fffffffffffffff, 0xffffffffffffffff};
const rtune::u64 canonical_nan = 0x7ff8000000000000;

/* a, b and c, in this order or as a tree, behind what a thread begins with: the key of the extreme.
 */
template <class Parts> rtune::i64 key_of(double pad, double a, double b, double c, bool tree) {
    const auto x = Parts::lift(a), y = Parts::lift(b), z = Parts::lift(c);
    const auto start = Parts::lift(pad);
    if (tree) return Parts::close(Parts::merge(Parts::merge(start, x), Parts::merge(y, z)));
    return Parts::close(Parts::merge(Parts::merge(Parts::merge(start, x), y), z));
}
rtune::u64 bits_of(double x) {
    rtune::u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
double double_of(rtune::u64 bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* By definition: any NaN wins and becomes the canonical one, -0 is below +0. */
template <bool MAX> rtune::u64 extreme_of(rtune::u64 p, rtune::u64 q) {
    const double a = double_of(p), b = double_of(q);
    if (std::isnan(a) || std::isnan(b)) return canonical_nan;
    if (a == b) return std::signbit(a) == MAX ? q : p;
    return (a > b) == MAX ? p : q;
}

template <bool MAX> void check_all() {
    using early = rtune::f64_parts<MAX, false, false>;
    using late = rtune::f64_parts<MAX, false, true>;
    static_assert(sizeof(typename early::part) != sizeof(typename late::part), "two ways");
    const double pad = rtune::extreme_pad<double, MAX, false>();
    for (rtune::u64 a : values) {
        for (rtune::u64 b : values) {
            for (rtune::u64 c : values) {
                const rtune::u64 expected = extreme_of<MAX>(extreme_of<MAX>(a, b), c);
                const double x = double_of(a), y = double_of(b), z = double_of(c);
                for (bool tree : {false, true}) {
                    const rtune::i64 k = key_of<early>(pad, x, y, z, tree);
                    const rtune::i64 l = key_of<late>(pad, x, y, z, tree);
                    assert_int_equal(bits_of(early::result(k)), expected);
                    assert_int_equal(bits_of(late::result(l)), expected);
                    assert_int_equal(early::one(k), late::one(l)); /* what arg ops compare */
                }
            }
        }
    }
}
void test_max(void **) { check_all<true>(); }
void test_min(void **) { check_all<false>(); }

} // namespace

int main() {
    const CMUnitTest tests[] = {cmocka_unit_test(test_max), cmocka_unit_test(test_min)};
    return cmocka_run_group_tests_name("extremes of f64", tests, nullptr, nullptr);
}
