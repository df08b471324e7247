/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/driver.c: opening the driver for a test. */
#include "tests/fake/driver.h"
#include "runtime/dlib.h"

#include <dlfcn.h>
#include <string.h>

bool test_driver_open(struct test_driver *driver, struct rtune_error *err) {
    memset(driver, 0, sizeof *driver);
    if (rtune_cuda_open(&driver->base, err) != RTUNE_OK) return false;
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool found = handle != NULL;
#define X(name) found = found && rtune_dlib_symbol(handle, RTUNE_CUDA_TEXT(name), &driver->name);
    TEST_DRIVER_TABLE(X)
#undef X
#define X(member, type, symbol) found = found && rtune_dlib_symbol(handle, symbol, &driver->member);
    TEST_DRIVER_PINNED(X)
#undef X
    if (handle) dlclose(handle); /* rtune_cuda_open keeps it mapped */
    if (!found) (void)rtune_err_set(err, RTUNE_NO_DEVICE, "libcuda.so.1: a function is missing");
    return found;
}
