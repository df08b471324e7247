/* SPDX-License-Identifier: Apache-2.0 */
/* Loading librtune opens no CUDA library: the driver is first touched by rtune_open (C05). What a
 * child of fork can then do is shown by tests/runtime/test_load.c. */
#include "rtune/rtune.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *library;

static bool loaded(const char *name) {
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) dlclose(handle);
    return handle != NULL;
}

static bool any_loaded(void) {
    return loaded("libcuda.so.1") || loaded("libnvidia-ml.so.1") || loaded("libnvrtc.so.13") ||
           loaded("libnvrtc.so.12");
}

static void find(void *handle, const char *name, void *pointer) {
    void *symbol = dlsym(handle, name);
    assert_non_null(symbol);
    memcpy(pointer, &symbol, sizeof symbol);
}

static void test_load(void **state) {
    (void)state;
    const char *(*version)(void);
    enum rtune_status (*open_rt)(rtune **, const struct rtune_options *, struct rtune_error *);
    void (*close_rt)(rtune *);
    struct rtune_options options = RTUNE_OPTIONS_INIT;
    rtune *rt = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    find(handle, "rtune_version_string", &version);
    find(handle, "rtune_open", &open_rt);
    find(handle, "rtune_close", &close_rt);
    assert_true(version()[0] != '\0');
    assert_false(any_loaded());
    options.store = "none";
    options.device = "cpu";
    assert_int_equal(open_rt(&rt, &options, NULL), RTUNE_OK);
    close_rt(rt);
    assert_false(any_loaded()); /* the cpu needs none either */
    options.device = "0";
    assert_int_equal(open_rt(&rt, &options, NULL), RTUNE_OK);
    close_rt(rt);
    assert_true(loaded("libcuda.so.1"));
    assert_false(loaded("libnvidia-ml.so.1")); /* slow to open, and only for health */
    dlclose(handle);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load)};
    if (argc != 2) return 2;
    library = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
