/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/device_cuda_launch.c: launches on a CUDA device. Most finishes are one plain launch; what
 * the others need beside the grid is an attribute of the launch, or a second kernel.
 */
#include "runtime/device_cuda.h"

#include <string.h>

enum { CLUSTER_PORTABLE = 8 }; /* blocks of a cluster that every sm_90 device can have */

struct shape {
    CUfunction function;
    uint32_t grid, block;
    CUlaunchAttribute attribute; /* IGNORE: a plain launch */
};

/* Needs an open scope. */
static enum rtune_status enqueue(const struct rtune_cuda_device *dev, const struct shape *shape,
                                 void **params, CUstream stream, struct rtune_error *err) {
    CUlaunchAttribute attribute = shape->attribute;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_IGNORE)
        return RTUNE_CU(&dev->cuda, err, cuLaunchKernel, shape->function, shape->grid, 1, 1,
                        shape->block, 1, 1, 0, stream, params, NULL);
    const CUlaunchConfig config = {
        .gridDimX = shape->grid,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = shape->block,
        .blockDimY = 1,
        .blockDimZ = 1,
        .hStream = stream,
        .attrs = &attribute,
        .numAttrs = 1,
    };
    return RTUNE_CU(&dev->cuda, err, cuLaunchKernelEx, &config, shape->function, params, NULL);
}

/* The launch that reads the input, and the one that reads its partials. */
static struct shape first_shape(const struct rtune_cuda_kernel *kernel, uint32_t grid) {
    struct shape shape = {.function = kernel->function, .grid = grid, .block = kernel->block};
    shape.attribute.id = CU_LAUNCH_ATTRIBUTE_IGNORE;
    if (kernel->cluster) {
        shape.attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        shape.attribute.value.clusterDim.x = kernel->cluster;
        shape.attribute.value.clusterDim.y = 1;
        shape.attribute.value.clusterDim.z = 1;
    } else if (kernel->finish == RTUNE_FINISH_GRID_SYNC) {
        shape.attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        shape.attribute.value.cooperative = 1;
    }
    return shape;
}

static struct shape second_shape(const struct rtune_cuda_kernel *kernel) {
    struct shape shape = {.function = kernel->second, .grid = 1, .block = kernel->block};
    shape.attribute.id = CU_LAUNCH_ATTRIBUTE_IGNORE;
    if (kernel->finish == RTUNE_FINISH_DEPENDENT) {
        shape.attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        shape.attribute.value.programmaticStreamSerializationAllowed = 1;
    }
    return shape;
}

enum rtune_status rtune_cuda_cluster_check(const struct rtune_cuda_device *dev,
                                           const struct rtune_cuda_kernel *kernel,
                                           struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct shape shape = first_shape(kernel, kernel->cluster);
    CUlaunchAttribute attribute = shape.attribute;
    const CUlaunchConfig config = {
        .gridDimX = shape.grid,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = shape.block,
        .blockDimY = 1,
        .blockDimZ = 1,
        .attrs = &attribute,
        .numAttrs = 1,
    };
    int clusters = 0;
    if (!dev->cuda.cuFuncSetAttribute || !dev->cuda.cuOccupancyMaxActiveClusters)
        TRY(rtune_err_set(err, RTUNE_UNSUPPORTED, "this driver has no clusters"));
    if (kernel->cluster > CLUSTER_PORTABLE)
        TRY(RTUNE_CU(&dev->cuda, err, cuFuncSetAttribute, kernel->function,
                     CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    TRY(RTUNE_CU(&dev->cuda, err, cuOccupancyMaxActiveClusters, &clusters, kernel->function,
                 &config));
    if (clusters < 1)
        TRY(rtune_err_set(err, RTUNE_DEVICE, "a cluster of %u blocks does not fit on %s",
                          (unsigned)kernel->cluster, dev->base.name));
done:
    return status;
}

/* Where the second launch fails after the first, the partials are left behind, and nobody reads
 * them: every launch writes those that it counts on. */
enum rtune_status rtune_cuda_launch(rtune_device *base, const rtune_kernel *kernel,
                                    const struct rtune_launch_request *request,
                                    struct rtune_error *err) {
    const struct rtune_cuda_device *dev = rtune_cuda_device(base);
    const struct rtune_cuda_kernel *own = (const struct rtune_cuda_kernel *)kernel;
    struct rtune_kernel_args args = request->args;
    void *params[1] = {&args};
    struct rtune_cuda_scope scope;
    args.partials = request->grid;
    enum rtune_status status = rtune_cuda_enter(dev, false, &scope, err);
    if (status != RTUNE_OK) return status;
    const struct shape first = first_shape(own, request->grid);
    status = enqueue(dev, &first, params, request->stream, err);
    if (status == RTUNE_OK && own->second) {
        const struct shape second = second_shape(own);
        status = enqueue(dev, &second, params, request->stream, err);
    }
    return rtune_cuda_leave(&scope, status, err);
}

enum rtune_status rtune_cuda_support_launch(rtune_device *base, const rtune_kernel *kernel,
                                            uint32_t grid, uint32_t block, void **params,
                                            void *stream, struct rtune_error *err) {
    const struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct shape shape = {.grid = grid, .block = block};
    struct rtune_cuda_scope scope;
    shape.function = ((const struct rtune_cuda_kernel *)kernel)->function;
    shape.attribute.id = CU_LAUNCH_ATTRIBUTE_IGNORE;
    enum rtune_status status = rtune_cuda_enter(dev, false, &scope, err);
    if (status != RTUNE_OK) return status;
    status = enqueue(dev, &shape, params, stream, err);
    return rtune_cuda_leave(&scope, status, err);
}
