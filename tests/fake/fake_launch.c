/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_launch.c: launches of the fake driver, plain ones and those with an attribute,
 * and what a GPU would refuse of them.
 */
#include "tests/fake/fake_int.h"

#include <string.h>

enum { CLUSTER_PORTABLE = 8, CLUSTER_MAX = 16 };

static bool is_hopper(const struct fake_context *context) {
    return fake.settings.cc_major[context->device] >= 9;
}

/* May the device launch clusters of so many blocks of the function? */
static CUresult check_cluster(const struct fake_context *context,
                              const struct fake_function *function, unsigned cluster) {
    const unsigned most = function->large_clusters ? CLUSTER_MAX : CLUSTER_PORTABLE;
    if (!is_hopper(context)) return CUDA_ERROR_NOT_SUPPORTED;
    return cluster < 1 || cluster > most ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

/* The attributes, into the operation. */
static CUresult read_attributes(const CUlaunchConfig *config, struct fake_op *op) {
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;
        switch (config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
            break;
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            op->cooperative = value->cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            op->dependent = value->programmaticStreamSerializationAllowed != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            if (value->clusterDim.y != 1 || value->clusterDim.z != 1)
                return CUDA_ERROR_INVALID_VALUE;
            op->cluster = value->clusterDim.x;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult check_attributes(const struct fake_context *context, const struct fake_op *op) {
    if (op->cluster && op->grid % op->cluster) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (op->dependent && !is_hopper(context)) return CUDA_ERROR_NOT_SUPPORTED;
    if (op->cooperative) {
        const int resident = fake_function_resident(op->function, (int)op->block);
        const uint64_t wave = (uint64_t)resident * fake.settings.sms[context->device];
        if (op->grid > wave) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return op->cluster ? check_cluster(context, op->function, op->cluster) : CUDA_SUCCESS;
}

/* op has its attributes. */
static CUresult launch(CUfunction handle, CUstream stream_handle, void **params,
                       struct fake_op *op) {
    struct fake_function *function;
    struct fake_stream *stream;
    CUresult result = fake_function_find(handle, &function);
    if (result == CUDA_SUCCESS) result = fake_stream_find(stream_handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (op->grid < 1 || op->block < 1 || op->block > RTUNE_BLOCK_MAX || !params)
        return CUDA_ERROR_INVALID_VALUE;
    if (function->module->context != stream->context) return CUDA_ERROR_INVALID_HANDLE;
    op->kind = FAKE_LAUNCH;
    op->function = function;
    result = check_attributes(stream->context, op);
    if (result != CUDA_SUCCESS) return result;
    memcpy(op->params, params[0], function->shape.param_bytes);
    result = fake_launch_check(stream, op);
    return result == CUDA_SUCCESS ? fake_enqueue(stream, op) : result;
}

static CUresult launch_plain(CUfunction handle, unsigned int grid, unsigned int block,
                             CUstream stream, void **params) {
    struct fake_op op = {.grid = grid, .block = block};
    return launch(handle, stream, params, &op);
}
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared, CUstream stream, void **params,
                        void **extra) {
    bool plain =
        grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 && shared == 0 && !extra;
    return FAKE_CALL(cuLaunchKernel, plain ? launch_plain(function, grid_x, block_x, stream, params)
                                           : CUDA_ERROR_INVALID_VALUE);
}

static CUresult launch_ex(const CUlaunchConfig *config, CUfunction handle, void **params,
                          void **extra) {
    if (!config || config->gridDimY != 1 || config->gridDimZ != 1 || config->blockDimY != 1 ||
        config->blockDimZ != 1 || config->sharedMemBytes != 0 || extra)
        return CUDA_ERROR_INVALID_VALUE;
    struct fake_op op = {.grid = config->gridDimX, .block = config->blockDimX};
    CUresult result = read_attributes(config, &op);
    return result == CUDA_SUCCESS ? launch(handle, config->hStream, params, &op) : result;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra) {
    return FAKE_CALL(cuLaunchKernelEx, launch_ex(config, function, params, extra));
}

static CUresult set_attribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    struct fake_function *function;
    CUresult result = fake_function_find(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (attribute != CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        return CUDA_ERROR_INVALID_VALUE;
    function->large_clusters = value != 0;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    return FAKE_CALL(cuFuncSetAttribute, set_attribute(function, attribute, value));
}

static CUresult active_clusters(int *clusters, CUfunction handle, const CUlaunchConfig *config) {
    struct fake_function *function;
    struct fake_op op = {.grid = config->gridDimX, .block = config->blockDimX};
    CUresult result = fake_function_find(handle, &function);
    if (result == CUDA_SUCCESS) result = read_attributes(config, &op);
    if (result != CUDA_SUCCESS) return result;
    const struct fake_context *context = function->module->context;
    result = check_cluster(context, function, op.cluster);
    if (result != CUDA_SUCCESS) return result;
    *clusters = (int)(fake.settings.sms[context->device] / op.cluster);
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config) {
    return FAKE_CALL(cuOccupancyMaxActiveClusters, active_clusters(clusters, function, config));
}
