/* SPDX-License-Identifier: Apache-2.0 */
/* The tracing driver, here over the fake one: it passes calls on and writes down each by name. */
#include "runtime/device.h"
#include "tests/fake/driver.h"
#include "tests/scratch_folder.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char trace_file[SCRATCH_FOLDER + sizeof "/calls"];

/* Lines of the trace from one on; how many, and whether the line-th is this name. */
static size_t read_trace(size_t line, const char *name, bool *same) {
    char text[128];
    size_t count = 0;
    FILE *file = fopen(trace_file, "r");
    assert_non_null(file);
    *same = false;
    while (fgets(text, sizeof text, file)) {
        text[strcspn(text, "\n")] = '\0';
        if (count++ == line) *same = strcmp(text, name) == 0;
    }
    fclose(file);
    return count;
}

static void test_pass_on(void **state) {
    (void)state;
    struct rtune_device_request request = {.spec = "0"};
    struct rtune_stream_state stream_state;
    rtune_device *dev = NULL;
    struct rtune_error err;
    void *ptr = NULL;
    char back[6] = "";
    bool same;
    if (rtune_device_open(&request, &dev, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_non_null(strstr(dev->identity.name, "Fake GPU 0"));
    assert_int_equal(dev->ops->mem_alloc(dev, 100, &ptr, &err), RTUNE_OK);
    assert_int_equal(dev->ops->mem_put(dev, ptr, "trace", 6, &err), RTUNE_OK);
    assert_int_equal(dev->ops->mem_get(dev, back, ptr, 6, &err), RTUNE_OK);
    assert_string_equal(back, "trace");
    size_t before = read_trace(0, "cuDriverGetVersion", &same);
    assert_true(same);
    assert_int_equal(dev->ops->stream_state(dev, NULL, &stream_state, &err), RTUNE_OK);
    static const char *const calls[] = {"cuCtxGetCurrent", "cuCtxPushCurrent_v2",
                                        "cuStreamIsCapturing", "cuStreamGetId",
                                        "cuCtxPopCurrent_v2"};
    size_t after = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        after = read_trace(before + i, calls[i], &same);
        if (!same) fail_msg("call %zu is not %s", i, calls[i]);
    }
    assert_int_equal(after, before + sizeof calls / sizeof calls[0]);
    dev->ops->mem_free(dev, ptr);
    rtune_device_close(dev);
}

/* Every function of both tables has a trampoline. */
static void test_complete(void **state) {
    (void)state;
    struct test_driver driver;
    struct rtune_error err;
    if (!test_driver_open(&driver, &err)) fail_msg("%s", err.message);
    assert_non_null(driver.base.cuFuncLoad);
    assert_non_null(driver.base.whole_uuid);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pass_on),
                                       cmocka_unit_test(test_complete)};
    if (argc != 2) return 2;
    char folder[SCRATCH_FOLDER];
    if (scratch_folder_make(folder, "trace") != 0) return 2;
    snprintf(trace_file, sizeof trace_file, "%s/calls", folder);
    setenv("RTUNE_TRACE_REAL", argv[1], 1);
    setenv("RTUNE_TRACE_FILE", trace_file, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_folder_remove(folder);
    return failed;
}
