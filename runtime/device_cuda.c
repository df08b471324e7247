/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/device_cuda.c: a GPU behind the device interface: its context, its memory and its table
 * of operations. Works in the primary context beside the CUDA runtime, or in the one that is
 * current.
 */
#include "runtime/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scope ----------------------------------------------------------------------------------- */

enum rtune_status rtune_cuda_enter(const struct rtune_cuda_device *dev, bool relaxed,
                                   struct rtune_cuda_scope *scope, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    CUcontext current = NULL;
    *scope = (struct rtune_cuda_scope){dev, false, false, CU_STREAM_CAPTURE_MODE_RELAXED};
    TRY(RTUNE_CU(&dev->cuda, err, cuCtxGetCurrent, &current));
    if (current != dev->context) {
        TRY(RTUNE_CU(&dev->cuda, err, cuCtxPushCurrent, dev->context));
        scope->pushed = true;
    }
    if (relaxed) {
        TRY(RTUNE_CU(&dev->cuda, err, cuThreadExchangeStreamCaptureMode, &scope->mode));
        scope->relaxed = true;
    }
done:
    if (status != RTUNE_OK) (void)rtune_cuda_leave(scope, status, NULL);
    return status;
}

enum rtune_status rtune_cuda_leave(struct rtune_cuda_scope *scope, enum rtune_status status,
                                   struct rtune_error *err) {
    const struct rtune_cuda *cuda = &scope->dev->cuda;
    enum rtune_status left = RTUNE_OK;
    struct rtune_error *why = status == RTUNE_OK ? err : NULL;
    CUcontext own = NULL;
    if (scope->relaxed) left = RTUNE_CU(cuda, why, cuThreadExchangeStreamCaptureMode, &scope->mode);
    if (scope->pushed) {
        enum rtune_status popped = RTUNE_CU(cuda, why, cuCtxPopCurrent, &own);
        if (left == RTUNE_OK) left = popped;
    }
    return status != RTUNE_OK ? status : left;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static enum rtune_status mem_alloc(rtune_device *base, size_t size, void **ptr,
                                   struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    CUdeviceptr made = 0;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    status = RTUNE_CU(&dev->cuda, err, cuMemAlloc, &made, size ? size : 1);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%zu bytes on %s", size, base->name);
    status = rtune_cuda_leave(&scope, status, err);
    if (status == RTUNE_OK)
        *ptr = (void *)(uintptr_t)made;
    else if (made)
        dev->cuda.cuMemFree(made);
    return status;
}

static void mem_free(rtune_device *base, void *ptr) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    if (!ptr || rtune_cuda_enter(dev, true, &scope, NULL) != RTUNE_OK) return;
    dev->cuda.cuMemFree((CUdeviceptr)(uintptr_t)ptr);
    (void)rtune_cuda_leave(&scope, RTUNE_OK, NULL);
}

static enum rtune_status mem_set(rtune_device *base, void *ptr, unsigned char byte, size_t size,
                                 void *stream, struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    enum rtune_status status = rtune_cuda_enter(dev, false, &scope, err);
    if (status != RTUNE_OK) return status;
    if (size)
        status = RTUNE_CU(&dev->cuda, err, cuMemsetD8Async, (CUdeviceptr)(uintptr_t)ptr, byte, size,
                          stream);
    return rtune_cuda_leave(&scope, status, err);
}

/* Copies go through a stream of the device's own: a plain cuMemcpy would use the legacy stream,
 * which waits for the caller's work and cannot be used while somebody captures. */
static enum rtune_status mem_put(rtune_device *base, void *dst, const void *src, size_t size,
                                 struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    TRY(RTUNE_CU(&dev->cuda, err, cuMemcpyHtoDAsync, (CUdeviceptr)(uintptr_t)dst, src, size,
                 dev->copies));
    TRY(RTUNE_CU(&dev->cuda, err, cuStreamSynchronize, dev->copies));
done:
    return rtune_cuda_leave(&scope, status, err);
}

static enum rtune_status mem_get(rtune_device *base, void *dst, const void *src, size_t size,
                                 struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    TRY(RTUNE_CU(&dev->cuda, err, cuMemcpyDtoHAsync, dst, (CUdeviceptr)(uintptr_t)src, size,
                 dev->copies));
    TRY(RTUNE_CU(&dev->cuda, err, cuStreamSynchronize, dev->copies));
done:
    return rtune_cuda_leave(&scope, status, err);
}

static enum rtune_status mem_free_bytes(rtune_device *base, uint64_t *bytes,
                                        struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    size_t available = 0, total = 0;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    status = RTUNE_CU(&dev->cuda, err, cuMemGetInfo, &available, &total);
    status = rtune_cuda_leave(&scope, status, err);
    if (status == RTUNE_OK) *bytes = available;
    return status;
}

/* ---- health ---------------------------------------------------------------------------------- */

static enum rtune_status health(rtune_device *base, struct rtune_device_health *state,
                                struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    (void)err; /* what NVML does not tell is unknown, not an error */
    if (!dev->nvml_opened) dev->nvml = rtune_nvml_open();
    dev->nvml_opened = true;
    rtune_nvml_health(dev->nvml, base->identity.pci, state);
    if (state->power_limit_mw) base->identity.power_mw = state->power_limit_mw;
    return RTUNE_OK;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void close_device(rtune_device *base) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    if (dev->context && rtune_cuda_enter(dev, true, &scope, NULL) == RTUNE_OK) {
        if (dev->builtin) dev->cuda.cuModuleUnload(dev->builtin);
        if (dev->copies) dev->cuda.cuStreamDestroy(dev->copies);
        (void)rtune_cuda_leave(&scope, RTUNE_OK, NULL);
    }
    if (dev->retained) dev->cuda.cuDevicePrimaryCtxRelease(dev->device);
    rtune_nvml_close(dev->nvml);
    free(dev);
}

/* Borrow the caller's context, or retain the primary one. A current context that is the primary one
 * is retained too, so that the caller's cudaDeviceReset or release does not take it away. */
static enum rtune_status take_context(struct rtune_cuda_device *dev, CUcontext current,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    unsigned int flags = 0;
    int active = 0;
    if (current)
        TRY(RTUNE_CU(&dev->cuda, err, cuDevicePrimaryCtxGetState, dev->device, &flags, &active));
    if (!current || active) {
        TRY(RTUNE_CU(&dev->cuda, err, cuDevicePrimaryCtxRetain, &dev->context, dev->device));
        dev->retained = true;
    }
    if (current && current != dev->context) {
        if (dev->retained) TRY(RTUNE_CU(&dev->cuda, err, cuDevicePrimaryCtxRelease, dev->device));
        dev->retained = false;
        dev->context = current;
    }
done:
    return status;
}

static enum rtune_status fill_context(struct rtune_cuda_device *dev, struct rtune_error *err) {
    struct rtune_cuda_scope scope;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    TRY(RTUNE_CU(&dev->cuda, err, cuStreamCreate, &dev->copies, CU_STREAM_NON_BLOCKING));
    TRY(rtune_cuda_load_builtin(dev, err));
done:
    return rtune_cuda_leave(&scope, status, err);
}

static const struct rtune_device_ops cuda_ops = {
    .close = close_device,
    .kernel_open = rtune_cuda_kernel_open,
    .kernel_close = rtune_cuda_kernel_close,
    .kernel_resident = rtune_cuda_kernel_resident,
    .launch = rtune_cuda_launch,
    .stream_state = rtune_cuda_stream_state,
    .mem_alloc = mem_alloc,
    .mem_free = mem_free,
    .mem_set = mem_set,
    .mem_put = mem_put,
    .mem_get = mem_get,
    .mem_free_bytes = mem_free_bytes,
    .stream_create = rtune_cuda_stream_create,
    .stream_destroy = rtune_cuda_stream_destroy,
    .stream_wait = rtune_cuda_stream_wait,
    .event_create = rtune_cuda_event_create,
    .event_destroy = rtune_cuda_event_destroy,
    .event_record = rtune_cuda_event_record,
    .event_done = rtune_cuda_event_done,
    .event_us = rtune_cuda_event_us,
    .support_open = rtune_cuda_support_open,
    .support_launch = rtune_cuda_support_launch,
    .health = health,
};

enum rtune_status rtune_device_open_cuda(const struct rtune_device_request *request,
                                         rtune_device **out, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    int index = 0;
    CUcontext current = NULL;
    struct rtune_cuda_device *dev = calloc(1, sizeof *dev);
    if (!dev) return rtune_err_set(err, RTUNE_NO_MEMORY, "cuda device: out of memory");
    dev->base.ops = &cuda_ops;
    dev->base.cuda = true;
    dev->base.log = request->log;
    TRY(rtune_cuda_open(&dev->cuda, err));
    TRY(rtune_cuda_select(&dev->cuda, request->spec, &index, &current, err));
    TRY(RTUNE_CU(&dev->cuda, err, cuDeviceGet, &dev->device, index));
    TRY(rtune_cuda_identity(&dev->cuda, dev->device, &dev->base.identity, NULL, err));
    snprintf(dev->base.name, sizeof dev->base.name, "cuda:%d", index);
    dev->base.units = dev->base.identity.sm_count;
    TRY(take_context(dev, current, err));
    TRY(fill_context(dev, err));
    *out = &dev->base;
    dev = NULL;
done:
    if (dev) close_device(&dev->base);
    return status;
}
