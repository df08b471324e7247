/* SPDX-License-Identifier: Apache-2.0 */
/* Spellings: every value has one, it reads back, and nothing else does. */
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_every_value_reads_back(void **state) {
    (void)state;
    for (int kind = 0; kind < RTUNE_NAMES_COUNT; kind++) {
        const struct rtune_name_table *table = rtune_names((enum rtune_name_kind)kind);
        assert_true(table->count > 0);
        for (int v = 0; v < table->count; v++) {
            int read = -1;
            const char *name = table->name(v);
            assert_non_null(name);
            assert_int_equal(rtune_name_parse((enum rtune_name_kind)kind, name, &read, NULL),
                             RTUNE_OK);
            assert_int_equal(read, v);
            for (int other = 0; other < v; other++)
                assert_string_not_equal(name, table->name(other));
        }
        assert_null(table->name(table->count));
        assert_null(table->name(-1));
    }
    assert_null(rtune_names(RTUNE_NAMES_COUNT));
}

static void test_spellings_of_the_contract(void **state) {
    (void)state;
    assert_string_equal(rtune_op_name(RTUNE_COUNT_NONZERO), "count_nonzero");
    assert_string_equal(rtune_op_name(RTUNE_BXOR), "bxor");
    assert_string_equal(rtune_dtype_name(RTUNE_BF16), "bf16");
    assert_string_equal(rtune_acc_name(RTUNE_NATIVE), "native");
    assert_string_equal(rtune_mode_name(RTUNE_REPRODUCIBLE), "reproducible");
    assert_string_equal(rtune_nan_name(RTUNE_NAN_IGNORE), "ignore");
    assert_string_equal(rtune_cache_name(RTUNE_DIRTY), "dirty");
    assert_string_equal(rtune_variant_name(RTUNE_CASCADED), "cascaded");
    assert_string_equal(rtune_load_name(RTUNE_LOAD_EVICTFIRST), "evictfirst");
    assert_string_equal(rtune_finish_name(RTUNE_FINISH_SLOTS), "slots");
    assert_string_equal(rtune_finish_name(RTUNE_FINISH_TWO_KERNELS), "two_kernels");
    assert_string_equal(rtune_variant_name(RTUNE_BULK), "bulk");
    assert_string_equal(rtune_map_name(RTUNE_MAP_CHUNK), "chunk");
    assert_string_equal(rtune_source_name(RTUNE_FROM_SIBLING), "sibling");
    assert_string_equal(rtune_source_name(RTUNE_FROM_BETWEEN), "between");
    assert_string_equal(rtune_kernel_source_name(RTUNE_KERNEL_STORED), "stored");
    assert_null(rtune_op_name(RTUNE_OP_COUNT));
    assert_null(rtune_source_name(RTUNE_SOURCE_COUNT));
    assert_null(rtune_kernel_source_name((enum rtune_kernel_source)99));
}

static void test_unknown_names_list_the_known(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "Sum", "sum ", "su", "summ", "0"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        struct rtune_error err = {.status = RTUNE_OK};
        int value = -7;
        assert_int_equal(rtune_name_parse(RTUNE_NAMES_OP, wrong[k], &value, &err), RTUNE_SYNTAX);
        assert_int_equal(value, -7);
        assert_int_equal(err.status, RTUNE_SYNTAX);
        assert_non_null(strstr(err.message, "op: "));
        assert_non_null(strstr(err.message, "count_nonzero"));
        assert_non_null(strstr(err.message, "bxor)"));
    }
}

static void test_dtypes(void **state) {
    (void)state;
    static const struct {
        enum rtune_dtype dtype;
        size_t size;
        bool is_float, is_signed;
    } known[] = {
        {RTUNE_I8, 1, false, true},   {RTUNE_U8, 1, false, false},  {RTUNE_I16, 2, false, true},
        {RTUNE_U16, 2, false, false}, {RTUNE_I32, 4, false, true},  {RTUNE_U32, 4, false, false},
        {RTUNE_I64, 8, false, true},  {RTUNE_U64, 8, false, false}, {RTUNE_F16, 2, true, true},
        {RTUNE_BF16, 2, true, true},  {RTUNE_F32, 4, true, true},   {RTUNE_F64, 8, true, true},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const struct rtune_dtype_info *info = rtune_dtype_info(known[k].dtype);
        assert_int_equal(rtune_dtype_size(known[k].dtype), known[k].size);
        assert_int_equal(info->size, known[k].size);
        assert_int_equal(info->is_float, known[k].is_float);
        assert_int_equal(info->is_signed, known[k].is_signed);
        assert_string_equal(info->name, rtune_dtype_name(known[k].dtype));
    }
    assert_int_equal(rtune_dtype_size(RTUNE_DTYPE_COUNT), 0);
    assert_null(rtune_dtype_info((enum rtune_dtype) - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_reads_back),
        cmocka_unit_test(test_spellings_of_the_contract),
        cmocka_unit_test(test_unknown_names_list_the_known),
        cmocka_unit_test(test_dtypes),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
