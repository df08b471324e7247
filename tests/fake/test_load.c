/* SPDX-License-Identifier: Apache-2.0 */
/* Loading librtune touches no CUDA library, so that a child of fork can use the GPU as well (C05).
 */
#include "rtune/rtune.h"
#include "tests/fake/driver.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *library;

static bool loaded(const char *name) {
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) dlclose(handle);
    return handle != NULL;
}

/* Call a function of the library by its name. */
#define FUNCTION(handle, name, call)                                                               \
    __typeof__(name) *call;                                                                        \
    do {                                                                                           \
        void *address = dlsym((handle), #name);                                                    \
        memcpy(&call, &address, sizeof address);                                                   \
    } while (0)

/* Open, reduce {1, 2, 3}, close; 0 if the sum is 6. Runs in the parent and in the child. */
static int reduce(void *handle) {
    const int32_t in[] = {1, 2, 3};
    int64_t out = 0;
    struct rtune_options options = RTUNE_OPTIONS_INIT;
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 3);
    struct test_driver driver;
    struct rtune_error err;
    CUcontext context;
    CUdeviceptr memory = 0;
    rtune *rt = NULL;
    FUNCTION(handle, rtune_open, open_rt);
    FUNCTION(handle, rtune_reduce, reduce_rt);
    FUNCTION(handle, rtune_close, close_rt);
    options.device = "0";
    options.store = "none";
    if (!test_driver_open(&driver, &err)) return 1;
    if (driver.base.cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) return 2;
    if (driver.cuCtxSetCurrent(context) != CUDA_SUCCESS) return 3;
    if (driver.base.cuMemAlloc(&memory, 256) != CUDA_SUCCESS) return 4;
    if (driver.cuMemcpyHtoD(memory, in, sizeof in) != CUDA_SUCCESS) return 5;
    if (open_rt(&rt, &options, &err) != RTUNE_OK) return 6;
    struct rtune_args args =
        RTUNE_ARGS((void *)(uintptr_t)memory, (void *)(uintptr_t)(memory + 128));
    enum rtune_status status = reduce_rt(rt, &problem, &args, NULL, &err);
    if (status != RTUNE_OK) return 7;
    if (driver.cuMemcpyDtoH(&out, memory + 128, sizeof out) != CUDA_SUCCESS) return 8;
    close_rt(rt);
    driver.base.cuMemFree(memory);
    driver.base.cuDevicePrimaryCtxRelease(0);
    return out == 6 ? 0 : 9;
}

static void test_load_and_fork(void **state) {
    (void)state;
    int result = 0;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    FUNCTION(handle, rtune_version_number, version_number);
    assert_true(version_number() > 0);
    assert_false(loaded("libcuda.so.1"));
    assert_false(loaded("libnvidia-ml.so.1"));
    assert_false(loaded("libnvrtc.so.13"));
    assert_false(loaded("libnvrtc.so.12"));
    pid_t child = fork();
    if (child == 0) _exit(reduce(handle));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_int_equal(reduce(handle), 0);
    dlclose(handle);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load_and_fork)};
    if (argc != 2) return 2;
    library = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
