/* SPDX-License-Identifier: Apache-2.0 */
/* Device identities: key text, its strict reading, equality, similarity, distance. */
#include "tests/db/helper.h"

#include <string.h>

static void key_text(void **state) {
    char key[RTUNE_IDENTITY_KEY];
    struct rtune_identity device = make_device(32);
    (void)state;
    rtune_identity_key(&device, key);
    assert_string_equal(key, "v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0");
    device = make_cpu();
    rtune_identity_key(&device, key);
    assert_string_equal(key,
                        "v1|cpu|model=Some CPU @ 2.0 GHz|isa=avx2|cores=8|l1=32768|l3=33554432");
}

static void key_of_largest_values(void **state) {
    char key[RTUNE_IDENTITY_KEY];
    struct rtune_identity device = {
        .cores = UINT32_MAX, .l1_bytes = INT64_MAX, .l3_bytes = INT64_MAX};
    struct rtune_identity read;
    (void)state;
    memset(device.model, 'm', sizeof device.model - 1);
    memset(device.isa, 'i', sizeof device.isa - 1);
    rtune_identity_key(&device, key);
    assert_int_equal(rtune_identity_parse(key, &read, NULL), RTUNE_OK);
    assert_true(rtune_identity_equal(&device, &read));
}

static void key_has_no_odd_characters(void **state) {
    char key[RTUNE_IDENTITY_KEY];
    struct rtune_identity device = make_cpu(), read;
    (void)state;
    strcpy(device.model, "a|cores=99\n\xc3\xa9=b");
    rtune_identity_key(&device, key);
    assert_string_equal(key, "v1|cpu|model=a_cores=99___=b|isa=avx2|cores=8|l1=32768|l3=33554432");
    assert_int_equal(rtune_identity_parse(key, &read, NULL), RTUNE_OK);
    assert_int_equal(read.cores, 8);
    assert_string_equal(read.model, "a_cores=99___=b");
}

static void parse_reads_back(void **state) {
    struct rtune_identity devices[] = {make_device(32), make_cpu()}, read;
    char key[RTUNE_IDENTITY_KEY];
    (void)state;
    devices[0].mig = true;
    for (size_t i = 0; i < 2; i++) {
        struct rtune_error err = {0};
        rtune_identity_key(&devices[i], key);
        assert_status(RTUNE_OK, &err, rtune_identity_parse(key, &read, &err));
        assert_true(rtune_identity_equal(&devices[i], &read));
        assert_string_equal(read.name, ""); /* attributes are not in the key */
    }
    rtune_identity_key(&devices[0], key);
    assert_int_equal(rtune_identity_parse(key, &read, NULL), RTUNE_OK);
    assert_true(read.mig);
    assert_int_equal(read.l2_bytes, 60u << 20);
    assert_int_equal(read.cc_major, 9);
}

static void parse_refuses(void **state) {
    static const char *const bad[] = {
        "",
        "v1",
        "v2|cuda|cc=9.0|sm=132|l2=1|bus=1|mem=1|clk=1|mig=0",
        "v1|tpu|cc=9.0",
        "v1|cuda",
        "v1|cuda|cc=9|sm=132|l2=1|bus=1|mem=1|clk=1|mig=0",
        "v1|cuda|cc=9.0|sm=132|l2=1|bus=1|mem=1|clk=1",
        "v1|cuda|cc=9.0|sm=132|l2=1|bus=1|mem=1|clk=1|mig=0|more=1",
        "v1|cuda|cc=9.0|sm=132|l2=1|bus=1|mem=1|clk=1|mig=2",
        "v1|cuda|sm=132|cc=9.0|l2=1|bus=1|mem=1|clk=1|mig=0",
        "v1|cuda|cc=9.0|sm=-1|l2=1|bus=1|mem=1|clk=1|mig=0",
        "v1|cuda|cc=9.0|sm=0132|l2=1|bus=1|mem=1|clk=1|mig=0",
        "v1|cuda|cc=9.0|sm=4294967296|l2=1|bus=1|mem=1|clk=1|mig=0",
        "v1|cuda|cc=9.0|sm=132|l2=99999999999999999999|bus=1|mem=1|clk=1|mig=0",
        "v1|cpu|model=m|isa=a-very-long-instruction-set|cores=8|l1=1|l3=1",
        "v1|cpu|model=a\tb|isa=avx2|cores=8|l1=1|l3=1",
    };
    char longest[400];
    struct rtune_identity read = {.sm_count = 7};
    (void)state;
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(bad); i++) {
        struct rtune_error err = {0};
        enum rtune_status status = rtune_identity_parse(bad[i], &read, &err);
        if (status != RTUNE_SYNTAX && status != RTUNE_RANGE) fail_msg("accepted: %s", bad[i]);
        assert_non_null(strstr(err.message, "device identity"));
        assert_int_equal(read.sm_count, 7); /* untouched */
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(rtune_identity_parse(longest, &read, NULL), RTUNE_SYNTAX);
}

static void attributes_are_not_identity(void **state) {
    struct rtune_identity a = make_device(1), b = make_device(1);
    (void)state;
    strcpy(b.name, "another name");
    strcpy(b.driver, "999.1");
    b.ecc = false;
    b.memory_bytes = 1;
    assert_true(rtune_identity_equal(&a, &b));
    assert_true(rtune_identity_distance(&a, &b) == 0);
}

/* Case E07: one name, two form factors. */
static void same_name_different_device(void **state) {
    struct rtune_identity a = make_device(14), b = make_device(32), other = make_device(14);
    struct rtune_identity cpu = make_cpu(), cpu2 = make_cpu();
    (void)state;
    assert_false(rtune_identity_equal(&a, &b));
    assert_true(rtune_identity_similar(&a, &b));
    other.cc_minor = 1;
    assert_false(rtune_identity_similar(&a, &other));
    assert_false(rtune_identity_similar(&a, &cpu));
    cpu2.cores = 4;
    assert_true(rtune_identity_similar(&cpu, &cpu2));
    strcpy(cpu2.isa, "avx512");
    assert_false(rtune_identity_similar(&cpu, &cpu2));
}

static void distance_orders(void **state) {
    struct rtune_identity a = make_device(32), near = a, far = a, mig = a, cpu = make_cpu(),
                          model = cpu;
    (void)state;
    near.sm_count = 114;
    far.sm_count = 60;
    mig.mig = true;
    assert_true(rtune_identity_distance(&a, &near) > 0);
    assert_true(rtune_identity_distance(&a, &far) > rtune_identity_distance(&a, &near));
    assert_true(rtune_identity_distance(&a, &mig) > 0);
    assert_true(rtune_identity_distance(&a, &far) == rtune_identity_distance(&far, &a));
    strcpy(model.model, "Another CPU");
    assert_true(rtune_identity_distance(&cpu, &model) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_text),
        cmocka_unit_test(key_of_largest_values),
        cmocka_unit_test(key_has_no_odd_characters),
        cmocka_unit_test(parse_reads_back),
        cmocka_unit_test(parse_refuses),
        cmocka_unit_test(attributes_are_not_identity),
        cmocka_unit_test(same_name_different_device),
        cmocka_unit_test(distance_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
