/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/runtime/gpu.h: librtune on the fake CUDA driver: a fresh driver, some input on the device,
 * an NVRTC that the test controls.
 */
#ifndef RTUNE_TESTS_RUNTIME_GPU_H
#define RTUNE_TESTS_RUNTIME_GPU_H

#include "tests/runtime/toy.h"

#include "tests/fake/driver.h"
#include "tests/fake/fake.h"

enum { GPU_N = 1000, GPU_OUTS = 64 };

struct gpu {
    struct test_driver cu;
    CUcontext context; /* the primary one of device 0 */
    CUdeviceptr in;    /* GPU_N values of i32: 1, 2, 3 ... */
    CUdeviceptr out;   /* GPU_OUTS results of i64 */
    rtune *rt;
    struct fake_cuda_live before; /* what was alive before rtune_open */
};

/* How the stand-in for NVRTC behaves, and how often it compiled. */
struct gpu_nvrtc {
    bool present, works;
    unsigned compiled, calls;
};
extern struct gpu_nvrtc gpu_nvrtc;

/* A fresh driver with the context current, input in place, and no handle. */
void gpu_start(struct gpu *gpu);
/* Open a handle on the current context's device. store may be NULL: none. workspaces 0: the
 * default. */
void gpu_open(struct gpu *gpu, const char *store, uint32_t workspaces);
/* Close everything; fails if the driver saw something that no correct caller does, or if librtune
 * left anything behind. */
void gpu_finish(struct gpu *gpu);

CUstream gpu_stream(struct gpu *gpu);
/* The sum of the input into out[k], enqueued. */
#define GPU_SUM RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, GPU_N)
enum rtune_status gpu_reduce(struct gpu *gpu, size_t k, CUstream stream,
                             struct rtune_launch *launch, struct rtune_error *err);
/* Waits for the stream and checks that out[k] is the sum; then spoils it. */
void gpu_check(struct gpu *gpu, size_t k, CUstream stream);
/* out[k] holds what gpu_check left there. */
bool gpu_untouched(struct gpu *gpu, size_t k);
/* The device's identity. */
struct rtune_identity gpu_identity(const struct gpu *gpu);

/* A store at path with one row for GPU_SUM with this config, its cubin stored if cubin. */
void gpu_write_store(const struct gpu *gpu, const char *path, const char *config, bool cubin);

#define CU(call) assert_int_equal((call), CUDA_SUCCESS)

#endif /* RTUNE_TESTS_RUNTIME_GPU_H */
