/* SPDX-License-Identifier: Apache-2.0 */
/* Instances: names, program text, embedded sources, compile options and built-in images. */
#include "kernels/kernels.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rtune_config config = {
    RTUNE_CASCADED,  256, 16, {RTUNE_GRID_SM, 4}, RTUNE_LOAD_NOALLOCATE, RTUNE_FINISH_LAST,
    RTUNE_MAP_CHUNK, 2,   0,
};

static void test_name(void **state) {
    (void)state;
    char name[RTUNE_INSTANCE_NAME], other[RTUNE_INSTANCE_NAME];
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F32, 99);
    struct rtune_config c = config;
    p.nan_rule = RTUNE_NAN_IGNORE;
    rtune_instance_name(&p, &config, name);
    assert_string_equal(name, "rtune_min_ignore_f32_f32_b256_v4_noallocate_last_chunk_o2");
    /* What does not select a kernel is not in it. */
    p.n = 1, p.cache = RTUNE_WARM, p.flags = RTUNE_ACCUMULATE, p.acc = RTUNE_NATIVE;
    c.grid = (struct rtune_grid){RTUNE_GRID_COVER, 0};
    rtune_instance_name(&p, &c, other);
    assert_string_equal(other, name);
    c.occupancy = 1;
    rtune_instance_name(&p, &c, other);
    assert_string_not_equal(other, name);
    c = config, c.finish = RTUNE_FINISH_CLUSTER, c.extra = 4;
    rtune_instance_name(&p, &c, name);
    c.extra = 8;
    rtune_instance_name(&p, &c, other);
    assert_string_not_equal(other, name);
    c.finish = RTUNE_FINISH_SLOTS, c.variant = RTUNE_BULK;
    rtune_instance_name(&p, &c, name);
    assert_string_not_equal(other, name);
}

/* Problems whose arithmetic is the same to the bit share a kernel; no others do. */
static void test_shared_names(void **state) {
    (void)state;
    static const struct {
        enum rtune_op op, other_op;
        enum rtune_dtype dtype, other_dtype;
        enum rtune_acc acc;
        bool same;
    } known[] = {
        {RTUNE_ANY, RTUNE_ANY, RTUNE_I8, RTUNE_U8, RTUNE_WIDE, true},
        {RTUNE_ANY, RTUNE_ANY, RTUNE_I8, RTUNE_I16, RTUNE_WIDE, false},
        {RTUNE_ANY, RTUNE_ANY, RTUNE_F16, RTUNE_U16, RTUNE_WIDE, false}, /* -0.0 is zero */
        {RTUNE_BXOR, RTUNE_BXOR, RTUNE_I64, RTUNE_U64, RTUNE_WIDE, true},
        {RTUNE_SUM, RTUNE_SUM, RTUNE_I32, RTUNE_U32, RTUNE_NATIVE, true},
        {RTUNE_SUM, RTUNE_SUM, RTUNE_I32, RTUNE_U32, RTUNE_WIDE, false}, /* signs are extended */
        {RTUNE_ASUM, RTUNE_SUM, RTUNE_U8, RTUNE_U8, RTUNE_WIDE, true},
        {RTUNE_ASUM, RTUNE_SUM, RTUNE_I8, RTUNE_I8, RTUNE_WIDE, false},
        {RTUNE_MIN, RTUNE_MIN, RTUNE_I32, RTUNE_U32, RTUNE_WIDE, false},
        {RTUNE_SUM, RTUNE_PROD, RTUNE_I32, RTUNE_I32, RTUNE_WIDE, false},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        struct rtune_problem p = RTUNE_PROBLEM(known[k].op, known[k].dtype, 0);
        struct rtune_problem q = RTUNE_PROBLEM(known[k].other_op, known[k].other_dtype, 0);
        const struct rtune_config a = rtune_config_default(&p, true);
        const struct rtune_config b = rtune_config_default(&q, true);
        char name[RTUNE_INSTANCE_NAME], other[RTUNE_INSTANCE_NAME];
        p.acc = q.acc = known[k].acc;
        rtune_instance_name(&p, &a, name);
        rtune_instance_name(&q, &b, other);
        if ((strcmp(name, other) == 0) != known[k].same) fail_msg("%s and %s", name, other);
    }
}

static void test_every_name_is_an_identifier(void **state) {
    (void)state;
    struct rtune_problem p;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        char name[RTUNE_INSTANCE_NAME];
        const struct rtune_config c = rtune_config_default(&p, true);
        rtune_instance_name(&p, &c, name);
        assert_true(isalpha((unsigned char)name[0]));
        for (const char *s = name; *s; s++)
            assert_true(isalnum((unsigned char)*s) || *s == '_');
        assert_true(strlen(name) < RTUNE_INSTANCE_NAME - 24); /* room for the longest spellings */
    }
}

static void test_program_text(void **state) {
    (void)state;
    struct rtune_problem problems[3] = {RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 0),
                                        RTUNE_PROBLEM(RTUNE_MAX, RTUNE_F64, 0),
                                        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 77)};
    struct rtune_config configs[3] = {config, config, config}; /* the third is the first again */
    char *source = NULL;
    problems[1].nan_rule = RTUNE_NAN_IGNORE;
    configs[1].occupancy = 0;
    configs[1].items = 2;
    configs[1].load = RTUNE_LOAD_PLAIN;
    configs[1].finish = RTUNE_FINISH_TWO_KERNELS;
    configs[1].map = RTUNE_MAP_STRIP;
    assert_int_equal(rtune_instance_source(problems, configs, 3, &source, NULL), RTUNE_OK);
    assert_string_equal(
        source,
        "#include \"kernels/device/kernel.cuh\"\n"
        "extern \"C\" __global__ void __launch_bounds__(256, 2)\n"
        "rtune_sum_i32_u64_b256_v4_noallocate_last_chunk_o2(const rtune::args a) {\n"
        "    rtune::first_kernel<rtune::op_sum<rtune::i32, rtune::u64>,\n"
        "        rtune::policy<rtune::variant_kind::cascaded, 256, 4, "
        "rtune::load_kind::noallocate, "
        "rtune::finish_kind::last, rtune::map_kind::chunk, 0>>(a);\n}\n"
        "extern \"C\" __global__ void __launch_bounds__(256)\n"
        "rtune_max_ignore_f64_f64_b256_v1_plain_two_kernels_strip_o0(const rtune::args a) {\n"
        "    rtune::first_kernel<rtune::op_max_ignore<rtune::f64, rtune::f64>,\n"
        "        rtune::policy<rtune::variant_kind::cascaded, 256, 1, rtune::load_kind::plain, "
        "rtune::finish_kind::two_kernels, rtune::map_kind::strip, 0>>(a);\n}\n"
        "extern \"C\" __global__ void __launch_bounds__(256)\n"
        "rtune_max_ignore_f64_f64_b256_v1_plain_two_kernels_strip_o0_2(const rtune::args a) {\n"
        "    rtune::second_kernel<rtune::op_max_ignore<rtune::f64, rtune::f64>,\n"
        "        rtune::policy<rtune::variant_kind::cascaded, 256, 1, rtune::load_kind::plain, "
        "rtune::finish_kind::two_kernels, rtune::map_kind::strip, 0>>(a);\n}\n");
    free(source);
}

static void expect_refused(struct rtune_problem p, struct rtune_config c,
                           enum rtune_status status) {
    struct rtune_error err = {.status = RTUNE_OK};
    char *source = NULL;
    assert_int_equal(rtune_instance_source(&p, &c, 1, &source, &err), status);
    assert_int_equal(err.status, status);
    assert_null(source);
}

static void test_what_has_no_program(void **state) {
    (void)state;
    struct rtune_config c = config;
    expect_refused(RTUNE_PROBLEM(RTUNE_BAND, RTUNE_F16, 0), c, RTUNE_UNSUPPORTED);
    expect_refused(RTUNE_PROBLEM(RTUNE_OP_COUNT, RTUNE_F32, 0), c, RTUNE_INVALID);
    c.block = 33;
    expect_refused(RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0), c, RTUNE_RANGE);
    c = rtune_config_default(&RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0), false);
    expect_refused(RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0), c, RTUNE_INVALID);
}

/* Every file that a header includes is there under the name it is included by. */
static void test_embedded_sources_are_complete(void **state) {
    (void)state;
    size_t count = 0;
    const struct rtune_source_file *files = rtune_device_sources(&count);
    unsigned includes = 0;
    assert_true(count >= 4);
    for (size_t k = 0; k < count; k++) {
        assert_non_null(strstr(files[k].text, "SPDX-License-Identifier"));
        for (const char *at = files[k].text; (at = strstr(at, "#include ")) != NULL;
             at++, includes++) {
            bool found = false;
            assert_int_equal(at[9], '"'); /* no system header */
            for (size_t i = 0; i < count; i++)
                found |= strncmp(at + 10, files[i].name, strlen(files[i].name)) == 0 &&
                         at[10 + strlen(files[i].name)] == '"';
            assert_true(found);
        }
    }
    assert_true(includes >= 3);
}

static void test_hash(void **state) {
    (void)state;
    const char *hash = rtune_device_sources_hash();
    assert_int_equal(strlen(hash), 64);
    assert_int_equal(strspn(hash, "0123456789abcdef"), 64);
}

static void test_compile_options(void **state) {
    (void)state;
    char arch[32];
    const char *options[8];
    size_t count = 0;
    bool no_contraction = false;
    rtune_compile_options(9, 0, arch, options);
    assert_string_equal(options[0], "--gpu-architecture=sm_90");
    for (; options[count]; count++) {
        no_contraction |= strcmp(options[count], "--fmad=false") == 0;
        assert_null(strstr(options[count], "fast"));
    }
    assert_true(count < 8);
    assert_true(no_contraction);
    rtune_compile_options(12, 1, arch, options);
    assert_string_equal(options[0], "--gpu-architecture=sm_121");
}

/* A fatbin where there was an nvcc, nothing where there was none. */
static void test_images(void **state) {
    (void)state;
    const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};
    size_t size = 77;
    const void *image = rtune_builtin_image(&size);
#if RTUNE_TEST_HAVE_CUDA
    assert_true(size > 1024);
    assert_memory_equal(image, magic, sizeof magic);
    image = rtune_support_image(&size);
    assert_true(size > 1024);
    assert_memory_equal(image, magic, sizeof magic);
#else
    (void)magic;
    assert_int_equal(size, 0);
    assert_null(image);
    size = 77;
    assert_null(rtune_support_image(&size));
    assert_int_equal(size, 0);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_shared_names),
        cmocka_unit_test(test_every_name_is_an_identifier),
        cmocka_unit_test(test_program_text),
        cmocka_unit_test(test_what_has_no_program),
        cmocka_unit_test(test_embedded_sources_are_complete),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_compile_options),
        cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests_name("instances", tests, NULL, NULL);
}
