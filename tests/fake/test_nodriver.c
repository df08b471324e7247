/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said where there is no driver that works. The argument tells what the library path has:
 * "none", "broken" (a file that is no library) or "old" (a driver of CUDA 11.4); or "nobuild",
 * where the build had no toolkit.
 */
#include "runtime/device.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *mode;

static void expect(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in \"%s\"", part, text);
}

static void check_message(const char *message) {
    if (strcmp(mode, "nobuild") == 0) {
        expect(message, "this build has no CUDA support");
        return;
    }
    expect(message, "libcuda.so.1");
    if (strcmp(mode, "old") == 0) {
        expect(message, "the driver supports CUDA 11.4, and 12.0 or newer is needed");
        return;
    }
    expect(message, "no NVIDIA driver; --device cpu works without one");
    if (strcmp(mode, "none") == 0) expect(message, "cannot open shared object file");
}

static void test_open(void **state) {
    (void)state;
    static const char *const specs[] = {NULL, "0", "cuda:1", "GPU-1", "3b:00.0"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct rtune_device_request request = {.spec = specs[i]};
        rtune_device *dev = NULL;
        struct rtune_error err;
        assert_int_equal(rtune_device_open(&request, &dev, &err), RTUNE_NO_DEVICE);
        assert_null(dev);
        check_message(err.message);
    }
}

static void test_list(void **state) {
    (void)state;
    struct rtune_device_entry entries[4];
    struct rtune_error why, err;
    size_t count = 0;
    assert_int_equal(rtune_device_list(entries, 4, &count, &why, &err), RTUNE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(entries[0].spec, "cpu");
    assert_int_equal(why.status, RTUNE_NO_DEVICE);
    check_message(why.message);
}

static void test_cpu(void **state) {
    (void)state;
    struct rtune_device_request request = {.spec = "cpu"};
    rtune_device *dev = NULL;
    struct rtune_error err;
    struct rtune_device_health health = {.known = true};
    assert_int_equal(rtune_device_open(&request, &dev, &err), RTUNE_OK);
    assert_int_equal(rtune_device_health(dev, &health, &err), RTUNE_OK);
    assert_false(health.known);
    rtune_device_close(dev);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_cpu),
    };
    mode = argc > 1 ? argv[1] : "none";
    if (strcmp(mode, "none") == 0 && dlopen("libcuda.so.1", RTLD_LAZY))
        return 77; /* there is one */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
