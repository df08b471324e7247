/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/cuda.h: the CUDA driver, opened at run time. One table of the functions that are used,
 * from which the struct of pointers, its loading, the fake driver and the tracing driver of the
 * tests come.
 *
 * Nothing is opened when the library is loaded, and nothing here is global: each device has its own
 * copy of the table. Only for builds with a toolkit (RTUNE_HAVE_CUDA).
 */
#ifndef RTUNE_RUNTIME_CUDA_H
#define RTUNE_RUNTIME_CUDA_H

#include "base/err.h"

#include <cuda.h>

/* X(required, name). cuda.h maps names to their newest version (cuMemAlloc to cuMemAlloc_v2), and
 * so does every use of name here: types, members and symbols agree by themselves. What is newer
 * than CUDA 12.0, or only serves finishes that need more than a plain launch, is not required and
 * may be NULL. */
#define RTUNE_CUDA_TABLE(X)                                                                        \
    X(true, cuInit)                                                                                \
    X(true, cuDriverGetVersion)                                                                    \
    X(true, cuGetErrorName)                                                                        \
    X(true, cuGetErrorString)                                                                      \
    X(true, cuDeviceGetCount)                                                                      \
    X(true, cuDeviceGet)                                                                           \
    X(true, cuDeviceGetName)                                                                       \
    X(true, cuDeviceGetUuid_v2)                                                                    \
    X(true, cuDeviceGetPCIBusId)                                                                   \
    X(true, cuDeviceGetAttribute)                                                                  \
    X(true, cuDeviceTotalMem)                                                                      \
    X(true, cuDevicePrimaryCtxRetain)                                                              \
    X(true, cuDevicePrimaryCtxRelease)                                                             \
    X(true, cuDevicePrimaryCtxGetState)                                                            \
    X(true, cuCtxGetCurrent)                                                                       \
    X(true, cuCtxGetDevice)                                                                        \
    X(true, cuCtxPushCurrent)                                                                      \
    X(true, cuCtxPopCurrent)                                                                       \
    X(true, cuMemAlloc)                                                                            \
    X(true, cuMemFree)                                                                             \
    X(true, cuMemGetInfo)                                                                          \
    X(true, cuMemsetD8Async)                                                                       \
    X(true, cuMemcpyHtoDAsync)                                                                     \
    X(true, cuMemcpyDtoHAsync)                                                                     \
    X(true, cuStreamCreate)                                                                        \
    X(true, cuStreamDestroy)                                                                       \
    X(true, cuStreamSynchronize)                                                                   \
    X(true, cuStreamGetCtx)                                                                        \
    X(true, cuStreamGetId)                                                                         \
    X(true, cuStreamIsCapturing)                                                                   \
    X(true, cuThreadExchangeStreamCaptureMode)                                                     \
    X(true, cuEventCreate)                                                                         \
    X(true, cuEventDestroy)                                                                        \
    X(true, cuEventRecord)                                                                         \
    X(true, cuEventQuery)                                                                          \
    X(true, cuModuleLoadDataEx)                                                                    \
    X(true, cuModuleUnload)                                                                        \
    X(true, cuModuleGetFunction)                                                                   \
    X(true, cuFuncGetAttribute)                                                                    \
    X(false, cuFuncLoad)                                                                           \
    X(true, cuOccupancyMaxActiveBlocksPerMultiprocessor)                                           \
    X(true, cuLaunchKernel)                                                                        \
    X(false, cuLaunchKernelEx)                                                                     \
    X(false, cuFuncSetAttribute)                                                                   \
    X(false, cuOccupancyMaxActiveClusters)

/* X(required, member, type, symbol): functions taken in their first version, because cuda.h maps
 * them to one that older drivers lack (cuEventElapsedTime_v2 came with 12.8), or because both
 * versions are of use: the first cuDeviceGetUuid names the whole GPU, the second the MIG device. */
#define RTUNE_CUDA_PINNED(X)                                                                       \
    X(true, elapsed_time, cuEventElapsedTime, "cuEventElapsedTime")                                \
    X(false, whole_uuid, cuDeviceGetUuid_v2, "cuDeviceGetUuid")

struct rtune_cuda {
#define X(required, name) __typeof__(name) *name;
    RTUNE_CUDA_TABLE(X)
#undef X
#define X(required, member, type, symbol) __typeof__(type) *member;
    RTUNE_CUDA_PINNED(X)
#undef X
    int version; /* of the driver: 13000 is CUDA 13.0 */
};

#define RTUNE_CUDA_TEXT_(name) #name
#define RTUNE_CUDA_TEXT(name) RTUNE_CUDA_TEXT_(name)

/* Open libcuda.so.1, fill the table and initialise the driver. The library stays loaded until the
 * process ends. Errors: NO_DEVICE (no driver, a driver older than 12.0, no device), DEVICE. */
enum rtune_status rtune_cuda_open(struct rtune_cuda *cuda, struct rtune_error *err);

/* OK for success, else DEVICE: "call: CUDA_ERROR_NAME (text) at place". */
enum rtune_status rtune_cuda_result(const struct rtune_cuda *cuda, CUresult result,
                                    const char *call, const char *place, struct rtune_error *err);

#if defined(__FILE_NAME__)
#define RTUNE_CUDA_PLACE __FILE_NAME__ ":" RTUNE_CUDA_TEXT(__LINE__)
#else
#define RTUNE_CUDA_PLACE __FILE__ ":" RTUNE_CUDA_TEXT(__LINE__)
#endif

/* Call a function of the table and turn its result into a status. */
#define RTUNE_CU(cuda, err, name, ...)                                                             \
    rtune_cuda_result((cuda), (cuda)->name(__VA_ARGS__),                                           \
                      RTUNE_CUDA_TEXT(name) "(" #__VA_ARGS__ ")", RTUNE_CUDA_PLACE, (err))

#endif /* RTUNE_RUNTIME_CUDA_H */
