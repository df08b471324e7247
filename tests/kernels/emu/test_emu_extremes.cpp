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
#include <limits>

namespace {

using limits = std::numeric_limits<double>;
const double values[] = {0.0,
                         -0.0,
                         1.0,
                         -1.0,
                         4e-320,
                         -4e-320,
                         limits::max(),
                         -limits::max(),
                         limits::infinity(),
                         -limits::infinity(),
                         limits::quiet_NaN(),
                         -limits::quiet_NaN()};

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
/* By definition: NaN wins, -0 is below +0. */
template <bool MAX> double extreme_of(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return limits::quiet_NaN();
    if (a == b) return std::signbit(a) == MAX ? b : a;
    return (a > b) == MAX ? a : b;
}

template <bool MAX> void check_all() {
    using early = rtune::f64_parts<MAX, false, false>;
    using late = rtune::f64_parts<MAX, false, true>;
    static_assert(sizeof(typename early::part) != sizeof(typename late::part), "two ways");
    const double pad = MAX ? -limits::infinity() : limits::infinity();
    for (double a : values) {
        for (double b : values) {
            for (double c : values) {
                const double expected = extreme_of<MAX>(extreme_of<MAX>(a, b), c);
                for (bool tree : {false, true}) {
                    const rtune::i64 k = key_of<early>(pad, a, b, c, tree);
                    const rtune::i64 l = key_of<late>(pad, a, b, c, tree);
                    assert_int_equal(bits_of(early::result(k)), bits_of(late::result(l)));
                    assert_int_equal(early::one(k), late::one(l)); /* what arg ops compare */
                    if (std::isnan(expected))
                        assert_true(std::isnan(late::result(l)));
                    else
                        assert_int_equal(bits_of(late::result(l)), bits_of(expected));
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
