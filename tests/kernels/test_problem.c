/* SPDX-License-Identifier: Apache-2.0 */
/* Problems: what is accepted, what is refused and how, result types, identities, canonical forms.
 */
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void expect_refused(const struct rtune_problem *p, enum rtune_status status,
                           const char *says) {
    struct rtune_error err = {.status = RTUNE_OK};
    assert_int_equal(rtune_problem_check(p, &err), status);
    assert_int_equal(err.status, status);
    if (!strstr(err.message, says)) fail_msg("\"%s\" does not say \"%s\"", err.message, says);
}

static void test_broken_problems_are_invalid(void **state) {
    (void)state;
    const struct rtune_problem good = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 10);
    struct rtune_problem p = good;
    assert_int_equal(rtune_problem_check(&p, NULL), RTUNE_OK);
    expect_refused(NULL, RTUNE_INVALID, "NULL");
    p.struct_size = 0, expect_refused(&p, RTUNE_INVALID, "struct_size"), p = good;
    p.op = RTUNE_OP_COUNT, expect_refused(&p, RTUNE_INVALID, "op 16"), p = good;
    p.op = (enum rtune_op) - 1, expect_refused(&p, RTUNE_INVALID, "op -1"), p = good;
    p.dtype = RTUNE_DTYPE_COUNT, expect_refused(&p, RTUNE_INVALID, "dtype"), p = good;
    p.acc = RTUNE_ACC_COUNT, expect_refused(&p, RTUNE_INVALID, "acc"), p = good;
    p.mode = RTUNE_MODE_COUNT, expect_refused(&p, RTUNE_INVALID, "mode"), p = good;
    p.nan_rule = RTUNE_NAN_COUNT, expect_refused(&p, RTUNE_INVALID, "nan rule"), p = good;
    p.cache = RTUNE_CACHE_COUNT, expect_refused(&p, RTUNE_INVALID, "cache"), p = good;
    p.flags = 8, expect_refused(&p, RTUNE_INVALID, "flags 0x8"), p = good;
    p.n = (uint64_t)1 << 61, expect_refused(&p, RTUNE_INVALID, "address space"), p = good;
    p.n = ((uint64_t)1 << 61) - 1; /* 2^63 - 4 bytes */
    assert_int_equal(rtune_problem_check(&p, NULL), RTUNE_OK);
}

static void test_unsupported_problems_say_what_is(void **state) {
    (void)state;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_BAND, RTUNE_F32, 10);
    expect_refused(&p, RTUNE_UNSUPPORTED, "band of f32: not defined (use one of i8, u8,");
    p = RTUNE_PROBLEM(RTUNE_ARGMAX, RTUNE_F32, 10);
    assert_int_equal(rtune_problem_check(&p, NULL), RTUNE_OK);
    p.mode = RTUNE_KAHAN;
    expect_refused(&p, RTUNE_UNSUPPORTED, "argmax in mode kahan: not defined (use plain)");
    p.mode = RTUNE_PLAIN;
    p.flags = RTUNE_ACCUMULATE;
    expect_refused(&p, RTUNE_UNSUPPORTED, "argmax: an index cannot be accumulated");
    p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 10);
    p.mode = RTUNE_FIXED;
    expect_refused(&p, RTUNE_UNSUPPORTED, "(use plain, or one of f16, bf16, f32, f64)");
    p.dtype = RTUNE_F16;
    p.acc = RTUNE_NATIVE;
    assert_int_equal(rtune_problem_check(&p, NULL), RTUNE_OK); /* its result is what it is */
    p.mode = RTUNE_REPRODUCIBLE;
    expect_refused(&p, RTUNE_UNSUPPORTED,
                   "sum of f16 in mode reproducible: its result is f32 (use acc wide)");
    p.dtype = RTUNE_F32; /* where both are one */
    assert_int_equal(rtune_problem_check(&p, NULL), RTUNE_OK);
}

/* A root is of a sum of squares that is a float. */
static void test_roots(void **state) {
    (void)state;
    struct rtune_problem p;
    size_t roots = 0;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        const bool has_root =
            p.op == RTUNE_SUMSQ && rtune_dtype_info(p.dtype)->is_float && p.mode != RTUNE_FIXED;
        const size_t size = rtune_result_size(&p);
        p.flags = RTUNE_ROOT | RTUNE_ALLOW_NONDETERMINISTIC;
        assert_int_equal(rtune_result_size(&p), has_root ? size : 0);
        if (!has_root) {
            expect_refused(&p, RTUNE_UNSUPPORTED, "has no root (clear RTUNE_ROOT, or");
            continue;
        }
        assert_int_equal(rtune_problem_check(&p, NULL), RTUNE_OK);
        assert_int_equal(rtune_problem_canonical(&p).flags, 0);
        p.flags |= RTUNE_ACCUMULATE;
        expect_refused(&p, RTUNE_UNSUPPORTED, "sumsq: a root cannot be accumulated");
        roots++;
    }
    assert_int_equal(roots, 4 + 2 + 4 + 4); /* plain, of which two native; kahan; reproducible */
    p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 10);
    p.flags = RTUNE_ROOT;
    expect_refused(&p, RTUNE_UNSUPPORTED,
                   "sum of f32 in mode plain: has no root (clear RTUNE_ROOT, or use sumsq of one "
                   "of f16, bf16, f32, f64 in mode plain, kahan, reproducible)");
}

/* How many kinds of problems each op has: dtypes x results that differ x NaN rules that matter, and
 * for sums of floats the modes. One more or less is a visible change here. */
static void test_problems_with_kernels(void **state) {
    (void)state;
    static const size_t known[RTUNE_OP_COUNT] = {
        [RTUNE_SUM] = 32,    [RTUNE_SUMSQ] = 33,  [RTUNE_ASUM] = 33, [RTUNE_DOT] = 32,
        [RTUNE_PROD] = 20,   [RTUNE_MIN] = 16,    [RTUNE_MAX] = 16,  [RTUNE_MINMAX] = 16,
        [RTUNE_ARGMIN] = 16, [RTUNE_ARGMAX] = 16, [RTUNE_ANY] = 12,  [RTUNE_ALL] = 12,
        [RTUNE_BAND] = 8,    [RTUNE_BOR] = 8,     [RTUNE_BXOR] = 8,  [RTUNE_COUNT_NONZERO] = 12,
    };
    size_t found[RTUNE_OP_COUNT] = {0}, count = 0;
    struct rtune_problem p, before;
    for (; rtune_problem_at(count, &p); count++) {
        const struct rtune_problem canonical = rtune_problem_canonical(&p);
        assert_int_equal(rtune_problem_check(&p, NULL), RTUNE_OK);
        assert_true(rtune_problem_same_kind(&p, &canonical));
        assert_int_equal(p.n, 0);
        assert_int_equal(p.cache, RTUNE_COLD);
        if (count > 0) assert_true(rtune_problem_compare(&before, &p) < 0);
        found[p.op]++;
        before = p;
    }
    for (int op = 0; op < RTUNE_OP_COUNT; op++)
        if (found[op] != known[op])
            fail_msg("%s: %zu kinds, not %zu", rtune_op_name((enum rtune_op)op), found[op],
                     known[op]);
    assert_false(rtune_problem_at(count, &p));
    assert_false(rtune_problem_at(SIZE_MAX, &p));
}

static void test_names_of_problems(void **state) {
    (void)state;
    static const struct {
        size_t k;
        const char *text;
    } known[] = {
        {0, "sum,i8,wide,plain,propagate,cold,n=0"},
        {1, "sum,i8,native,plain,propagate,cold,n=0"},
        {289, "bxor,u64,wide,plain,propagate,cold,n=0"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct rtune_problem p;
        char text[128];
        assert_true(rtune_problem_at(known[i].k, &p));
        assert_int_equal(rtune_problem_print(&p, text, sizeof text), strlen(known[i].text));
        assert_string_equal(text, known[i].text);
    }
}

static void test_printing_is_bounded(void **state) {
    (void)state;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1048576);
    char text[12] = "untouched!!";
    assert_int_equal(rtune_problem_print(&p, NULL, 0), 43);
    assert_int_equal(rtune_problem_print(&p, text, 8), 43);
    assert_string_equal(text, "sum,f32");
    assert_int_equal(text[8], 'd');
    char whole[96];
    p.flags = RTUNE_ACCUMULATE | RTUNE_ALLOW_NONDETERMINISTIC;
    rtune_problem_print(&p, whole, sizeof whole);
    assert_string_equal(whole,
                        "sum,f32,wide,plain,propagate,cold,n=1048576,accumulate,nondeterministic");
    p.op = RTUNE_SUMSQ;
    p.flags = RTUNE_FLAG_ALL;
    rtune_problem_print(&p, whole, sizeof whole);
    assert_non_null(strstr(whole, ",n=1048576,accumulate,nondeterministic,root"));
    p.op = (enum rtune_op)77;
    rtune_problem_print(&p, whole, sizeof whole);
    assert_int_equal(whole[0], '?');
}

static size_t size_of(enum rtune_op op, enum rtune_dtype dtype, enum rtune_acc acc) {
    struct rtune_problem p = RTUNE_PROBLEM(op, dtype, 1);
    p.acc = acc;
    return rtune_result_size(&p);
}
static enum rtune_dtype dtype_of(enum rtune_op op, enum rtune_dtype dtype, enum rtune_acc acc) {
    struct rtune_problem p = RTUNE_PROBLEM(op, dtype, 1);
    p.acc = acc;
    return rtune_result_dtype(&p);
}

static void test_result_types(void **state) {
    (void)state;
    assert_int_equal(dtype_of(RTUNE_SUM, RTUNE_I8, RTUNE_WIDE), RTUNE_I64);
    assert_int_equal(dtype_of(RTUNE_SUM, RTUNE_U32, RTUNE_WIDE), RTUNE_U64);
    assert_int_equal(dtype_of(RTUNE_SUMSQ, RTUNE_I32, RTUNE_WIDE), RTUNE_U64);
    assert_int_equal(dtype_of(RTUNE_ASUM, RTUNE_I64, RTUNE_WIDE), RTUNE_U64);
    assert_int_equal(dtype_of(RTUNE_DOT, RTUNE_I16, RTUNE_WIDE), RTUNE_I64);
    assert_int_equal(dtype_of(RTUNE_SUM, RTUNE_BF16, RTUNE_WIDE), RTUNE_F32);
    assert_int_equal(dtype_of(RTUNE_PROD, RTUNE_F64, RTUNE_WIDE), RTUNE_F64);
    assert_int_equal(dtype_of(RTUNE_SUM, RTUNE_F16, RTUNE_NATIVE), RTUNE_F16);
    assert_int_equal(dtype_of(RTUNE_SUM, RTUNE_I32, RTUNE_NATIVE), RTUNE_I32);
    assert_int_equal(dtype_of(RTUNE_MIN, RTUNE_U8, RTUNE_WIDE), RTUNE_U8);
    assert_int_equal(dtype_of(RTUNE_ANY, RTUNE_F64, RTUNE_WIDE), RTUNE_I32);
    assert_int_equal(dtype_of(RTUNE_COUNT_NONZERO, RTUNE_I8, RTUNE_NATIVE), RTUNE_U64);
    assert_int_equal(size_of(RTUNE_SUM, RTUNE_I8, RTUNE_WIDE), 8);
    assert_int_equal(size_of(RTUNE_SUM, RTUNE_I8, RTUNE_NATIVE), 1);
    assert_int_equal(size_of(RTUNE_MINMAX, RTUNE_I16, RTUNE_WIDE), 4);
    assert_int_equal(size_of(RTUNE_ARGMAX, RTUNE_I8, RTUNE_WIDE), 16);
    assert_int_equal(size_of(RTUNE_MINMAX, RTUNE_F64, RTUNE_WIDE), 16);
    struct rtune_problem fixed = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F16, 1);
    fixed.mode = RTUNE_FIXED;
    assert_int_equal(rtune_result_size(&fixed), sizeof(struct rtune_fixed));
    assert_int_equal(rtune_result_dtype(&fixed), RTUNE_I64);
    assert_int_equal(size_of(RTUNE_ALL, RTUNE_F16, RTUNE_WIDE), 4);
    assert_int_equal(size_of(RTUNE_BXOR, RTUNE_F32, RTUNE_WIDE), 0);
    assert_int_equal(size_of(RTUNE_OP_COUNT, RTUNE_F32, RTUNE_WIDE), 0);
    assert_int_equal(rtune_result_size(NULL), 0);
    struct rtune_problem odd = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1);
    odd.flags = RTUNE_ACCUMULATE | RTUNE_ALLOW_NONDETERMINISTIC;
    assert_int_equal(rtune_result_size(&odd), 4);
    odd.flags = RTUNE_FLAG_ALL + 1;
    assert_int_equal(rtune_result_size(&odd), 0);
    odd.flags = 0;
    odd.n = (uint64_t)PTRDIFF_MAX / 4;
    assert_int_equal(rtune_result_size(&odd), 4);
    odd.n++;
    assert_int_equal(rtune_result_size(&odd), 0);
}

/* A33: the result of no elements, in the result type and not one byte more; EMPTY leaves out alone.
 */
static void test_A33_empty_input(void **state) {
    (void)state;
    static const struct {
        enum rtune_op op;
        enum rtune_dtype dtype;
        enum rtune_acc acc;
        size_t size; /* 0: EMPTY */
        uint64_t bits;
    } known[] = {
        {RTUNE_SUM, RTUNE_F32, RTUNE_WIDE, 4, 0},
        {RTUNE_SUM, RTUNE_I32, RTUNE_WIDE, 8, 0},
        {RTUNE_SUM, RTUNE_I32, RTUNE_NATIVE, 4, 0},
        {RTUNE_SUMSQ, RTUNE_F64, RTUNE_WIDE, 8, 0},
        {RTUNE_ASUM, RTUNE_U8, RTUNE_WIDE, 8, 0},
        {RTUNE_DOT, RTUNE_F16, RTUNE_NATIVE, 2, 0},
        {RTUNE_PROD, RTUNE_F32, RTUNE_WIDE, 4, 0x3f800000},
        {RTUNE_PROD, RTUNE_F64, RTUNE_WIDE, 8, 0x3ff0000000000000},
        {RTUNE_PROD, RTUNE_F16, RTUNE_NATIVE, 2, 0x3c00},
        {RTUNE_PROD, RTUNE_BF16, RTUNE_NATIVE, 2, 0x3f80},
        {RTUNE_PROD, RTUNE_BF16, RTUNE_WIDE, 4, 0x3f800000},
        {RTUNE_PROD, RTUNE_I8, RTUNE_WIDE, 8, 1},
        {RTUNE_PROD, RTUNE_I32, RTUNE_NATIVE, 4, 1},
        {RTUNE_ANY, RTUNE_F32, RTUNE_WIDE, 4, 0},
        {RTUNE_ALL, RTUNE_F32, RTUNE_WIDE, 4, 1},
        {RTUNE_COUNT_NONZERO, RTUNE_F32, RTUNE_WIDE, 8, 0},
        {RTUNE_BAND, RTUNE_I16, RTUNE_WIDE, 2, 0xffff},
        {RTUNE_BAND, RTUNE_U64, RTUNE_WIDE, 8, UINT64_MAX},
        {RTUNE_BOR, RTUNE_U32, RTUNE_WIDE, 4, 0},
        {RTUNE_BXOR, RTUNE_I64, RTUNE_WIDE, 8, 0},
        {RTUNE_MIN, RTUNE_F32, RTUNE_WIDE, 0, 0},
        {RTUNE_MAX, RTUNE_I64, RTUNE_WIDE, 0, 0},
        {RTUNE_MINMAX, RTUNE_F64, RTUNE_WIDE, 0, 0},
        {RTUNE_ARGMIN, RTUNE_I8, RTUNE_WIDE, 0, 0},
        {RTUNE_ARGMAX, RTUNE_BF16, RTUNE_WIDE, 0, 0},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        unsigned char out[16], want[16];
        struct rtune_error err = {.status = RTUNE_OK};
        struct rtune_problem p = RTUNE_PROBLEM(known[k].op, known[k].dtype, 0);
        p.acc = known[k].acc;
        memset(out, 0xab, sizeof out);
        memset(want, 0xab, sizeof want);
        memcpy(want, &known[k].bits, known[k].size);
        assert_int_equal(rtune_identity(&p, out, &err), known[k].size ? RTUNE_OK : RTUNE_EMPTY);
        assert_int_equal(err.status, known[k].size ? RTUNE_OK : RTUNE_EMPTY);
        assert_memory_equal(out, want, sizeof out);
    }
}

static void test_canonical_forms(void **state) {
    (void)state;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 5), c;
    p.acc = RTUNE_NATIVE; /* f32 either way */
    p.nan_rule = RTUNE_NAN_IGNORE;
    p.flags = RTUNE_ACCUMULATE;
    p.cache = RTUNE_WARM;
    c = rtune_problem_canonical(&p);
    assert_int_equal(c.acc, RTUNE_WIDE);
    assert_int_equal(c.nan_rule, RTUNE_NAN_PROPAGATE);
    assert_int_equal(c.flags, 0);
    assert_int_equal(c.cache, RTUNE_WARM);
    assert_int_equal(c.n, 5);

    p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 5);
    p.acc = RTUNE_NATIVE;
    assert_int_equal(rtune_problem_canonical(&p).acc, RTUNE_NATIVE);
    p = RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F32, 5);
    p.acc = RTUNE_NATIVE;
    p.nan_rule = RTUNE_NAN_IGNORE;
    assert_int_equal(rtune_problem_canonical(&p).acc, RTUNE_WIDE);
    assert_int_equal(rtune_problem_canonical(&p).nan_rule, RTUNE_NAN_IGNORE);
    p.dtype = RTUNE_I32;
    assert_int_equal(rtune_problem_canonical(&p).nan_rule, RTUNE_NAN_PROPAGATE);
}

static void test_order(void **state) {
    (void)state;
    struct rtune_problem a = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 5), b = a;
    assert_int_equal(rtune_problem_compare(&a, &b), 0);
    b.n = UINT64_MAX;
    assert_true(rtune_problem_compare(&a, &b) < 0);
    assert_true(rtune_problem_same_kind(&a, &b));
    b.cache = RTUNE_WARM, b.n = 0;
    assert_true(rtune_problem_compare(&a, &b) < 0);
    assert_true(rtune_problem_compare(&b, &a) > 0);
    assert_false(rtune_problem_same_kind(&a, &b));
    a.op = RTUNE_MAX; /* the op comes first */
    assert_true(rtune_problem_compare(&a, &b) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_problems_are_invalid),
        cmocka_unit_test(test_unsupported_problems_say_what_is),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_problems_with_kernels),
        cmocka_unit_test(test_names_of_problems),
        cmocka_unit_test(test_printing_is_bounded),
        cmocka_unit_test(test_result_types),
        cmocka_unit_test(test_A33_empty_input),
        cmocka_unit_test(test_canonical_forms),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests_name("problems", tests, NULL, NULL);
}
