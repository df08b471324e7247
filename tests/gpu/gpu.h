/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/gpu.h: what the programs that need a GPU share: a failing check ends the program with
 * its place; no GPU means exit status 77, which CTest reports as skipped. */
#ifndef RTUNE_TESTS_GPU_GPU_H
#define RTUNE_TESTS_GPU_GPU_H

#include "base/err.h"
#include "runtime/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(expr, err) CHECK((expr) == RTUNE_OK, "%s: %s", #expr, (err)->message)

/* Driver functions that only the tests use, beside runtime/cuda.h's table. */
#define GPU_CUDA_TABLE(X)                                                                          \
    X(cuStreamBeginCapture)                                                                        \
    X(cuStreamEndCapture)                                                                          \
    X(cuStreamWaitEvent)                                                                           \
    X(cuGraphInstantiateWithFlags)                                                                 \
    X(cuGraphLaunch)                                                                               \
    X(cuGraphExecDestroy)                                                                          \
    X(cuGraphDestroy)                                                                              \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy)                                                                             \
    X(cuStreamSynchronize)                                                                         \
    X(cuEventCreate)                                                                               \
    X(cuEventDestroy)                                                                              \
    X(cuEventRecord)                                                                               \
    X(cuEventQuery)                                                                                \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemGetInfo)                                                                                \
    X(cuMemsetD32Async)                                                                            \
    X(cuMemcpyHtoD)                                                                                \
    X(cuMemcpyDtoH)                                                                                \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuMemcpyDtoD)                                                                                \
    X(cuMemsetD32)                                                                                 \
    X(cuCtxSynchronize)                                                                            \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleGetFunction)                                                                         \
    X(cuLaunchKernel)                                                                              \
    X(cuInit)                                                                                      \
    X(cuDeviceGet)                                                                                 \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxSetCurrent)

struct gpu_cuda {
#define X(name) __typeof__(name) *name;
    GPU_CUDA_TABLE(X)
#undef X
};

#define GPU_TEXT_(name) #name
#define GPU_TEXT(name) GPU_TEXT_(name)

/* Open the driver and make device 0's primary context current. Exits with 77 if there is none. */
static inline void gpu_open(struct gpu_cuda *cu) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (lib == NULL) {
        printf("skipped: %s\n", dlerror());
        exit(77);
    }
#define X(name)                                                                                    \
    {                                                                                              \
        void *symbol = dlsym(lib, GPU_TEXT(name));                                                 \
        CHECK(symbol != NULL, "libcuda.so.1 has no %s", GPU_TEXT(name));                           \
        memcpy(&cu->name, &symbol, sizeof symbol);                                                 \
    }
    GPU_CUDA_TABLE(X)
#undef X
    CUdevice device;
    CUcontext context;
    if (cu->cuInit(0) != CUDA_SUCCESS || cu->cuDeviceGet(&device, 0) != CUDA_SUCCESS) {
        printf("skipped: no CUDA device\n");
        exit(77);
    }
    CHECK(cu->cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS, "no primary context");
    CHECK(cu->cuCtxSetCurrent(context) == CUDA_SUCCESS, "context cannot be made current");
}
#define CU(expr)                                                                                   \
    do {                                                                                           \
        const CUresult result_ = (expr);                                                           \
        CHECK(result_ == CUDA_SUCCESS, "%s: CUDA error %d", #expr, (int)result_);                  \
    } while (0)

/* Device memory as the driver's and as the library's type. */
static inline void *gpu_ptr(CUdeviceptr p) { return (void *)(uintptr_t)p; }

#endif /* RTUNE_TESTS_GPU_GPU_H */
