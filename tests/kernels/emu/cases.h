/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.h: inputs written as numbers, and one expected result for every emulated config of an op
 * and a dtype. The numbers of a case are written down in its test, not computed by the reference.
 */
#ifndef RTUNE_TESTS_EMU_CASES_H
#define RTUNE_TESTS_EMU_CASES_H

#include "tests/kernels/emu/harness.h"

#include <cmath>
#include <vector>

namespace rtune_emu {

/* n elements of a dtype. */
struct values {
    rtune_dtype dtype;
    uint64_t n;
    std::vector<unsigned char> bytes;
    void put(uint64_t i, double x);
    void put_bits(uint64_t i, uint64_t bits) { element_put(dtype, bytes.data(), i, bits); }
};
/* Floats are rounded to the dtype; integers must be whole. */
values list(rtune_dtype dtype, const std::vector<double> &x);
values repeat(rtune_dtype dtype, uint64_t n, double x);

/* A NaN that is not the canonical one: negative, with a payload. */
uint64_t odd_nan(rtune_dtype dtype);
constexpr double inf = HUGE_VAL, no_number = __builtin_nan("");

using filter = bool (*)(const rtune_problem &);
bool any(const rtune_problem &p);
bool wide(const rtune_problem &p);
bool native(const rtune_problem &p);
bool propagate(const rtune_problem &p);
bool ignore(const rtune_problem &p);
bool plain(const rtune_problem &p);
bool kahan(const rtune_problem &p);
/* Sums whose result is a float. */
bool not_fixed(const rtune_problem &p);

/* Every instance of op on x.dtype that `which` lets pass must give this value in its result type
 * (NaN: the canonical one), and the index for arg ops, on 1, 3 and more blocks than elements (up to
 * a bound), the input ending at a guard page. There must be two such instances or more. */
void all_give(const char *name, rtune_op op, const values &x, double value, filter which = any,
              int64_t index = 0);
/* The same of whole bits: up to 64 of an integer result, or of a value. */
void all_give_bits(const char *name, rtune_op op, const values &x, uint64_t bits,
                   filter which = any, int64_t index = 0);
/* The same where the input begins `offset` elements behind the guard page in front. */
void all_give_at(const char *name, rtune_op op, const values &x, unsigned offset, double value,
                 filter which = any);

/* Every instance of sumsq on x.dtype that `which` lets pass and that has a root: all_give, of it.
 */
void all_norms_give(const char *name, const values &x, double value, filter which = any);

const rtune_dtype floats[] = {RTUNE_F16, RTUNE_BF16, RTUNE_F32, RTUNE_F64};
const rtune_dtype integers[] = {RTUNE_I8,  RTUNE_U8,  RTUNE_I16, RTUNE_U16,
                                RTUNE_I32, RTUNE_U32, RTUNE_I64, RTUNE_U64};
const rtune_dtype all_dtypes[] = {RTUNE_I8,  RTUNE_U8,   RTUNE_I16, RTUNE_U16,
                                  RTUNE_I32, RTUNE_U32,  RTUNE_I64, RTUNE_U64,
                                  RTUNE_F16, RTUNE_BF16, RTUNE_F32, RTUNE_F64};

} // namespace rtune_emu

#endif
