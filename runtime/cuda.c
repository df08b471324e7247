/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/cuda.c: opening the CUDA driver and naming its errors. */
#include "runtime/cuda.h"
#include "runtime/dlib.h"

#include <dlfcn.h>
#include <string.h>

static const char library[] = "libcuda.so.1";

/* Fill the table; the first required function that is missing, or NULL. */
static const char *load_table(void *handle, struct rtune_cuda *cuda) {
    const char *missing = NULL;
#define X(required, name)                                                                          \
    if (!rtune_dlib_symbol(handle, RTUNE_CUDA_TEXT(name), &cuda->name) && (required) && !missing)  \
        missing = RTUNE_CUDA_TEXT(name);
    RTUNE_CUDA_TABLE(X)
#undef X
#define X(required, member, type, symbol)                                                          \
    if (!rtune_dlib_symbol(handle, symbol, &cuda->member) && (required) && !missing)               \
        missing = symbol;
    RTUNE_CUDA_PINNED(X)
#undef X
    return missing;
}

static enum rtune_status initialise(struct rtune_cuda *cuda, struct rtune_error *err) {
    CUresult result = cuda->cuInit(0);
    switch ((int)result) {
    case CUDA_SUCCESS:
        return RTUNE_OK;
    case CUDA_ERROR_NO_DEVICE:
        return rtune_err_set(
            err, RTUNE_NO_DEVICE,
            "cuInit(0): CUDA_ERROR_NO_DEVICE (the driver sees no GPU; check "
            "nvidia-smi and CUDA_VISIBLE_DEVICES; --device cpu works without one)");
    case CUDA_ERROR_STUB_LIBRARY:
        return rtune_err_set(
            err, RTUNE_NO_DEVICE,
            "%s: this is the toolkit's placeholder, not a driver (take its folder out "
            "of LD_LIBRARY_PATH; --device cpu works without a driver)",
            library);
    default:
        return rtune_cuda_result(cuda, result, "cuInit(0)", RTUNE_CUDA_PLACE, err);
    }
}

enum rtune_status rtune_cuda_open(struct rtune_cuda *cuda, struct rtune_error *err) {
    struct rtune_cuda table;
    memset(&table, 0, sizeof table);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *why = dlerror();
        return rtune_err_set(err, RTUNE_NO_DEVICE,
                             "%s (no NVIDIA driver; --device cpu works without one)",
                             why ? why : library);
    }
    const char *missing = load_table(handle, &table);
    dlclose(handle); /* RTLD_NODELETE keeps it mapped */
    CUresult asked = CUDA_ERROR_NOT_FOUND;
    if (table.cuDriverGetVersion) asked = table.cuDriverGetVersion(&table.version);
    if (missing)
        return rtune_err_set(
            err, RTUNE_NO_DEVICE,
            "%s: no function %s: the driver supports CUDA %d.%d, and 12.0 or newer "
            "is needed (update the NVIDIA driver)",
            library, missing, table.version / 1000, table.version % 1000 / 10);
    enum rtune_status status =
        rtune_cuda_result(&table, asked, "cuDriverGetVersion(&version)", RTUNE_CUDA_PLACE, err);
    if (status == RTUNE_OK) status = initialise(&table, err);
    if (status == RTUNE_OK) *cuda = table;
    return status;
}

enum rtune_status rtune_cuda_result(const struct rtune_cuda *cuda, CUresult result,
                                    const char *call, const char *place, struct rtune_error *err) {
    if (result == CUDA_SUCCESS) return RTUNE_OK;
    const char *name = NULL, *text = NULL;
    if (cuda->cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) name = "unknown CUDA error";
    if (cuda->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text) text = "no description";
    return rtune_err_set(err, RTUNE_DEVICE, "%s: %s (%d: %s) at %s", call, name, (int)result, text,
                         place);
}
