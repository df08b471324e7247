/* SPDX-License-Identifier: Apache-2.0 */
/* cases.cpp: numbers to bytes, and the launches of a case. */
#include "tests/kernels/emu/cases.h"

#include "tests/kernels/emu/cmocka_cpp.h"

#include <algorithm>

namespace rtune_emu {

namespace {

uint64_t bits_of(rtune_dtype dtype, double x) {
    if (element_is_float(dtype)) return element_round(dtype, x);
    return (x < 0 ? uint64_t(int64_t(x)) : uint64_t(x)) & element_mask(dtype);
}

bool is_arg(rtune_op op) { return op == RTUNE_ARGMIN || op == RTUNE_ARGMAX; }

reference_result result_of(const rtune_problem &p, uint64_t bits, int64_t index) {
    reference_result result = {};
    const size_t size = element_size(rtune_result_dtype(&p));
    result.exact = true;
    result.size = reference_size(&p);
    memcpy(result.bytes, &bits, size);
    if (p.op == RTUNE_MINMAX) memcpy(result.bytes + size, &bits, size);
    if (is_arg(p.op)) memcpy(result.bytes + 8, &index, sizeof index);
    return result;
}

/* A case at one place: value, or bits if is_bits. */
struct check {
    const char *name;
    rtune_op op;
    const values *x;
    placement where;
    bool is_bits;
    double value;
    uint64_t bits;
    int64_t index;
    filter which;
    bool root = false;
};

void run_check(const check &c) {
    unsigned count = 0;
    const values &x = *c.x;
    const void *in = place(0, x.bytes.data(), x.n, element_size(x.dtype), c.where);
    const unsigned more = unsigned(x.n < 16 ? x.n + 2 : 7);
    for (const instance &of : catalog()) {
        if (of.problem.op != c.op || of.problem.dtype != x.dtype || !c.which(of.problem)) continue;
        if (c.root && !has_root(of.problem)) continue;
        const uint64_t bits =
            c.is_bits ? c.bits : bits_of(rtune_result_dtype(&of.problem), c.value);
        const reference_result result = result_of(of.problem, bits, c.index);
        for (const unsigned grid : {1u, 3u, more}) {
            if (grid != 1 && one_block(of)) continue;
            expect({&of, grid, in, in, 1, x.n, order((count + grid) % 3), test_seed() + count,
                    nullptr, c.root},
                   result, c.name);
        }
        count++;
    }
    if (count < 2) fail_msg("%s: %u instances are concerned", c.name, count);
}

} // namespace

void values::put(uint64_t i, double x) { put_bits(i, bits_of(dtype, x)); }

values list(rtune_dtype dtype, const std::vector<double> &x) {
    values v = {dtype, x.size(), std::vector<unsigned char>(x.size() * element_size(dtype))};
    for (size_t i = 0; i < x.size(); i++)
        v.put(i, x[i]);
    return v;
}
values repeat(rtune_dtype dtype, uint64_t n, double x) {
    return list(dtype, std::vector<double>(n, x));
}

uint64_t odd_nan(rtune_dtype dtype) {
    return element_nan(dtype) | ((element_mask(dtype) >> 1) + 1) | 0x2a;
}

bool any(const rtune_problem &) { return true; }
bool wide(const rtune_problem &p) { return p.acc == RTUNE_WIDE; }
bool native(const rtune_problem &p) { return p.acc == RTUNE_NATIVE; }
bool propagate(const rtune_problem &p) { return p.nan_rule == RTUNE_NAN_PROPAGATE; }
bool ignore(const rtune_problem &p) { return p.nan_rule == RTUNE_NAN_IGNORE; }
bool plain(const rtune_problem &p) { return p.mode == RTUNE_PLAIN; }
bool kahan(const rtune_problem &p) { return p.mode == RTUNE_KAHAN; }
bool not_fixed(const rtune_problem &p) { return p.mode != RTUNE_FIXED; }

void all_give(const char *name, rtune_op op, const values &x, double value, filter which,
              int64_t index) {
    run_check({name, op, &x, {true, 0}, false, value, 0, index, which});
}
void all_give_bits(const char *name, rtune_op op, const values &x, uint64_t bits, filter which,
                   int64_t index) {
    run_check({name, op, &x, {true, 0}, true, 0, bits, index, which});
}
void all_give_at(const char *name, rtune_op op, const values &x, unsigned offset, double value,
                 filter which) {
    run_check({name, op, &x, {false, offset}, false, value, 0, 0, which});
}
void all_norms_give(const char *name, const values &x, double value, filter which) {
    run_check({name, RTUNE_SUMSQ, &x, {true, 0}, false, value, 0, 0, which, true});
}

} // namespace rtune_emu
