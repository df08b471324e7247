/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared library, opened as a plugin would be: loading it and asking its version touches no
 * driver, and a child that is forked after that can reduce, as can its parent (case C05).
 */
#include "rtune/rtune.h"

#include "tests/fake/fake.h"

#include <cuda.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef RTUNE_LIBRARY
#error "RTUNE_LIBRARY is the path of librtune.so"
#endif

static struct {
    const char *(*version)(void);
    enum rtune_status (*open)(rtune **rt, const struct rtune_options *opts,
                              struct rtune_error *err);
    enum rtune_status (*reduce)(rtune *rt, const struct rtune_problem *problem,
                                const struct rtune_args *args, void *stream,
                                struct rtune_error *err);
    void (*close)(rtune *rt);
} lib;

static void find(void *handle, const char *name, void *to) {
    void *symbol = dlsym(handle, name);
    assert_non_null(symbol);
    memcpy(to, &symbol, sizeof symbol);
}

/* Reduce on the fake GPU; 0, or the number of the step that failed. */
static int reduce_on(const char *device) {
    static const int32_t in[3] = {20, 21, 1};
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 3);
    rtune *rt = NULL;
    CUcontext context = NULL;
    CUdeviceptr memory = 0;
    int64_t out = 0;
    opts.device = device;
    opts.store = "none";
    if (lib.open(&rt, &opts, NULL) != RTUNE_OK) return 1;
    if (cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) return 2;
    if (cuCtxSetCurrent(context) != CUDA_SUCCESS) return 3;
    if (cuMemAlloc(&memory, 64) != CUDA_SUCCESS) return 4;
    if (cuMemcpyHtoD(memory, in, sizeof in) != CUDA_SUCCESS) return 5;
    struct rtune_args a =
        RTUNE_ARGS((const void *)(uintptr_t)memory, (void *)(uintptr_t)(memory + 32));
    if (lib.reduce(rt, &p, &a, NULL, NULL) != RTUNE_OK) return 6;
    if (cuMemcpyDtoH(&out, memory + 32, sizeof out) != CUDA_SUCCESS) return 7;
    lib.close(rt);
    return out == 42 ? 0 : 8;
}

static void test_fork(void **state) {
    (void)state;
    int status = -1;
    unsetenv("RTUNE_OVERRIDE");
    fake_cuda_reset();
    void *handle = dlopen(RTUNE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    find(handle, "rtune_version_string", &lib.version);
    find(handle, "rtune_open", &lib.open);
    find(handle, "rtune_reduce", &lib.reduce);
    find(handle, "rtune_close", &lib.close);
    assert_string_equal(lib.version(), RTUNE_VERSION_STRING);
    assert_int_equal(fake_cuda_calls(NULL), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(reduce_on("cuda:0"));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(fake_cuda_calls(NULL), 0);
    assert_int_equal(reduce_on("cuda:0"), 0);
    assert_true(fake_cuda_calls(NULL) > 0);
    if (fake_cuda_problem()) fail_msg("%s", fake_cuda_problem());
    dlclose(handle);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fork)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
