/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/driver.h: the driver functions that tests call themselves, beside those of
 * runtime/cuda.h: contexts, captures, graphs. Served by the fake driver, by the tracing one and by
 * the real one.
 */
#ifndef RTUNE_TESTS_FAKE_DRIVER_H
#define RTUNE_TESTS_FAKE_DRIVER_H

#include "runtime/cuda.h"

/* X(name), as in RTUNE_CUDA_TABLE. */
#define TEST_DRIVER_TABLE(X)                                                                       \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxDestroy)                                                                                \
    X(cuCtxSynchronize)                                                                            \
    X(cuStreamQuery)                                                                               \
    X(cuStreamWaitEvent)                                                                           \
    X(cuStreamBeginCapture)                                                                        \
    X(cuStreamEndCapture)                                                                          \
    X(cuGraphInstantiate)                                                                          \
    X(cuGraphLaunch)                                                                               \
    X(cuGraphDestroy)                                                                              \
    X(cuGraphExecDestroy)                                                                          \
    X(cuEventSynchronize)                                                                          \
    X(cuLaunchHostFunc)                                                                            \
    X(cuMemcpyHtoD)                                                                                \
    X(cuMemcpyDtoH)                                                                                \
    X(cuMemcpyDtoDAsync)

/* cuCtxCreate without the parameters that newer versions of it have. */
typedef CUresult test_context_create(CUcontext *context, unsigned int flags, CUdevice device);

/* X(member, type, symbol), as in RTUNE_CUDA_PINNED. */
#define TEST_DRIVER_PINNED(X) X(context_create, test_context_create, "cuCtxCreate_v2")

struct test_driver {
    struct rtune_cuda base;
#define X(name) __typeof__(name) *name;
    TEST_DRIVER_TABLE(X)
#undef X
#define X(member, type, symbol) __typeof__(type) *member;
    TEST_DRIVER_PINNED(X)
#undef X
};

/* Open whatever libcuda.so.1 the process finds; false, with the reason in err, if there is none. */
bool test_driver_open(struct test_driver *driver, struct rtune_error *err);

#endif /* RTUNE_TESTS_FAKE_DRIVER_H */
