/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPU answers to a name, what it is, and the list of all. */
#include "tests/fake/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void expect_name(const char *spec, const char *name) {
    rtune_device *dev = gpu_open(spec);
    assert_string_equal(dev->name, name);
    assert_true(dev->cuda);
    rtune_device_close(dev);
    gpu_assert_clean();
}

static void expect_refused(const char *spec, const char *text) {
    struct rtune_device_request request = {.spec = spec};
    rtune_device *dev = NULL;
    struct rtune_error err;
    assert_int_equal(rtune_device_open(&request, &dev, &err), RTUNE_NO_DEVICE);
    assert_null(dev);
    if (!strstr(err.message, text)) fail_msg("%s: %s", spec, err.message);
    gpu_assert_clean();
}

static void test_choose(void **state) {
    (void)state;
    gpu_reset("RTUNE_FAKE_DEVICES=3", "RTUNE_FAKE_MIG=0,1,0", NULL);
    expect_name(NULL, "cuda:0");
    expect_name("0", "cuda:0");
    expect_name("2", "cuda:2");
    expect_name("cuda:1", "cuda:1");
    expect_name("GPU-face0000-0000-0000-0000-000000000002", "cuda:2");
    expect_name("GPU-FACE0000-0000-0000-0000-000000000000", "cuda:0");
    expect_name("GPU-face0000-0000-0000-0000-000000000001",
                "cuda:1"); /* the GPU around the slice */
    expect_name("MIG-51ce", "cuda:1");
    expect_name("0000:3c:00.0", "cuda:1");
    expect_name("3D:00.0", "cuda:2");
    expect_refused("3", "there are 3");
    expect_refused("GPU-face", "names both cuda:0 and cuda:1");
    expect_refused("GPU-0", "no such device among 3");
    expect_refused("MIG-face", "no such device");
    expect_refused("0001:3b:00.0", "no such device");
    expect_refused("0000:3b:01.0", "no such device");
    expect_refused("everything", "expected cuda:N");
}

/* A device that cannot be asked does not keep others from being found by name. */
static void test_beside_a_broken_one(void **state) {
    (void)state;
    struct rtune_device_request request = {.spec = "0000:3c:00.0"};
    rtune_device *dev = NULL;
    struct rtune_error err;
    gpu_reset("RTUNE_FAKE_DEVICES=2", NULL);
    fake_cuda_fail("cuDeviceGetName", 1, CUDA_ERROR_UNKNOWN);
    expect_name("0000:3c:00.0", "cuda:1");
    assert_true(fake_cuda_failed());
    fake_cuda_fail("cuDeviceGetName", 2, CUDA_ERROR_UNKNOWN);
    assert_int_equal(rtune_device_open(&request, &dev, &err), RTUNE_DEVICE);
    assert_null(dev);
    assert_non_null(strstr(err.message, "none of 2 answers to that"));
    assert_non_null(strstr(err.message, "cuDeviceGetName"));
}

static void test_list(void **state) {
    (void)state;
    struct rtune_device_entry entries[8];
    struct rtune_error why, err;
    size_t count = 0;
    gpu_reset("RTUNE_FAKE_DEVICES=2", "RTUNE_FAKE_SMS=132,114", NULL);
    gpu_ok(rtune_device_list(entries, 8, &count, &why, &err), &err);
    assert_int_equal(count, 3);
    assert_int_equal(why.status, RTUNE_OK);
    assert_string_equal(entries[0].spec, "cuda:0");
    assert_string_equal(entries[1].spec, "cuda:1");
    assert_string_equal(entries[2].spec, "cpu");
    assert_int_equal(entries[1].identity.sm_count, 114);
    assert_int_equal(entries[0].identity.power_mw, 700000); /* by the fake NVML */
    assert_false(rtune_identity_equal(&entries[0].identity, &entries[1].identity));
    assert_false(entries[2].identity.cuda);
    assert_int_equal(fake_cuda_calls("cuDevicePrimaryCtxRetain"), 0);
    gpu_ok(rtune_device_list(entries, 1, &count, &why, &err), &err);
    assert_int_equal(count, 1);
    assert_true(entries[0].identity.cuda);
    gpu_assert_clean();
}

static void test_no_gpu(void **state) {
    (void)state;
    struct rtune_device_entry entries[8];
    struct rtune_error why, err;
    size_t count = 0;
    gpu_reset("RTUNE_FAKE_DEVICES=0", NULL);
    expect_refused(NULL, "CUDA_ERROR_NO_DEVICE");
    gpu_ok(rtune_device_list(entries, 8, &count, &why, &err), &err);
    assert_int_equal(count, 1);
    assert_int_equal(why.status, RTUNE_NO_DEVICE);
    gpu_reset("RTUNE_FAKE_INIT=34", NULL); /* CUDA_ERROR_STUB_LIBRARY */
    expect_refused("0", "placeholder, not a driver");
}

static void test_identity(void **state) {
    (void)state;
    gpu_reset("RTUNE_FAKE_CC=8.6", "RTUNE_FAKE_SMS=16", "RTUNE_FAKE_MIG=1", "RTUNE_FAKE_L2=1048576",
              NULL);
    rtune_device *dev = gpu_open("0");
    const struct rtune_identity *id = &dev->identity;
    assert_int_equal(id->cc_major, 8);
    assert_int_equal(id->cc_minor, 6);
    assert_int_equal(id->sm_count, 16);
    assert_int_equal(dev->units, 16);
    assert_int_equal(id->l2_bytes, 1 << 20);
    assert_int_equal(id->bus_bits, 6144);
    assert_int_equal(id->sm_mhz, 2000);     /* 1980, rounded to 50 */
    assert_int_equal(id->memory_mhz, 3200); /* 3201 */
    assert_true(id->mig);
    assert_true(id->ecc);
    assert_string_equal(id->uuid, "MIG-51ce0000-0000-0000-0000-000000000000");
    assert_string_equal(id->pci, "0000:3B:00.0");
    assert_true(id->driver[0] != '\0');
    assert_int_equal(id->memory_bytes, 256 << 20);
    rtune_device_close(dev);
    gpu_reset("RTUNE_FAKE_CC=8.6", "RTUNE_FAKE_SMS=16", NULL);
    dev = gpu_open("0");
    assert_false(dev->identity.mig);
    assert_string_equal(dev->identity.uuid, "GPU-face0000-0000-0000-0000-000000000000");
    rtune_device_close(dev);
    gpu_assert_clean();
}

static void test_health(void **state) {
    (void)state;
    struct rtune_device_health health;
    struct rtune_error err;
    gpu_reset(NULL, NULL);
    rtune_device *dev = gpu_open("0");
    assert_int_equal(dev->identity.power_mw, 0); /* NVML is not opened for a device alone */
    gpu_ok(rtune_device_health(dev, &health, &err), &err);
    assert_true(health.known);
    assert_int_equal(health.sm_mhz, 1950);
    assert_int_equal(health.sm_max_mhz, 1980);
    assert_int_equal(health.memory_mhz, 3201);
    assert_int_equal(health.temperature_c, 41);
    assert_int_equal(health.power_limit_mw, 700000);
    assert_int_equal(health.busy_percent, 7);
    assert_int_equal(health.throttle, 1);
    assert_int_equal(dev->identity.power_mw, 700000);
    rtune_device_close(dev);
    gpu_assert_clean();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),   cmocka_unit_test(test_beside_a_broken_one),
        cmocka_unit_test(test_list),     cmocka_unit_test(test_no_gpu),
        cmocka_unit_test(test_identity), cmocka_unit_test(test_health),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
