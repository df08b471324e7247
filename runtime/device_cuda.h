/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device_cuda.h: private to the device_cuda*.c files. */
#ifndef RTUNE_RUNTIME_DEVICE_CUDA_H
#define RTUNE_RUNTIME_DEVICE_CUDA_H

#include "runtime/cuda.h"
#include "runtime/device.h"
#include "runtime/nvml.h"

struct rtune_cuda_device {
    struct rtune_device base;
    struct rtune_cuda cuda;
    CUdevice device;
    CUcontext context;
    bool retained;    /* context is the primary one and is released at close; else the caller's */
    CUstream copies;  /* non-blocking, for mem_put and mem_get */
    CUmodule builtin; /* built-in instances; NULL if they could not be loaded ... */
    struct rtune_error builtin_error; /* ... for this reason */
    rtune_nvml *nvml;                 /* opened by the first health call */
    bool nvml_opened;
};

/* What struct rtune_kernel is on this device. */
struct rtune_cuda_kernel {
    CUmodule module; /* NULL: the function is one of the device's built-in module */
    CUfunction function;
    CUfunction second; /* reads the partials; NULL where the first one does */
    uint32_t block;
    uint32_t resident;
    uint32_t cluster; /* blocks in one; 0: no clusters */
    enum rtune_finish finish;
};

/* While a scope is open, the device's context is current on this thread. relaxed: calls that could
 * invalidate another thread's stream capture (allocation, loading, queries) are allowed, since none
 * of them touches a stream that captures. leave puts back what enter changed and returns status, or
 * its own failure if status is OK. A scope that enter failed to open must not be left. */
struct rtune_cuda_scope {
    const struct rtune_cuda_device *dev;
    bool pushed, relaxed;
    CUstreamCaptureMode mode;
};
enum rtune_status rtune_cuda_enter(const struct rtune_cuda_device *dev, bool relaxed,
                                   struct rtune_cuda_scope *scope, struct rtune_error *err);
enum rtune_status rtune_cuda_leave(struct rtune_cuda_scope *scope, enum rtune_status status,
                                   struct rtune_error *err);

static inline struct rtune_cuda_device *rtune_cuda_device(rtune_device *dev) {
    return (struct rtune_cuda_device *)dev;
}

/* device_cuda_id.c. The uuid is that of the MIG device where there is one; whole (may be NULL) gets
 * the uuid of the GPU around it. */
enum rtune_status rtune_cuda_identity(const struct rtune_cuda *cuda, CUdevice device,
                                      struct rtune_identity *identity, char whole[64],
                                      struct rtune_error *err);
/* Device number and, for a spec of kind CURRENT, the caller's current context (NULL if there is
 * none). */
enum rtune_status rtune_cuda_select(const struct rtune_cuda *cuda, const char *text, int *index,
                                    CUcontext *context, struct rtune_error *err);

/* device_cuda_kernel.c */
enum rtune_status rtune_cuda_load_builtin(struct rtune_cuda_device *dev, struct rtune_error *err);
enum rtune_status rtune_cuda_kernel_open(rtune_device *base, const struct rtune_problem *problem,
                                         const struct rtune_config *config, const void *image,
                                         size_t size, rtune_kernel **kernel,
                                         struct rtune_error *err);
void rtune_cuda_kernel_close(rtune_device *base, rtune_kernel *kernel);
uint32_t rtune_cuda_kernel_resident(const rtune_kernel *kernel);
enum rtune_status rtune_cuda_support_open(rtune_device *base, const char *name,
                                          rtune_kernel **kernel, struct rtune_error *err);

/* device_cuda_launch.c. Do so many blocks in a cluster fit on this device at all? Needs an open
 * scope. */
enum rtune_status rtune_cuda_cluster_check(const struct rtune_cuda_device *dev,
                                           const struct rtune_cuda_kernel *kernel,
                                           struct rtune_error *err);
enum rtune_status rtune_cuda_launch(rtune_device *base, const rtune_kernel *kernel,
                                    const struct rtune_launch_request *request,
                                    struct rtune_error *err);
enum rtune_status rtune_cuda_support_launch(rtune_device *base, const rtune_kernel *kernel,
                                            uint32_t grid, uint32_t block, void **params,
                                            void *stream, struct rtune_error *err);

/* device_cuda_stream.c */
enum rtune_status rtune_cuda_stream_state(rtune_device *base, void *stream,
                                          struct rtune_stream_state *state,
                                          struct rtune_error *err);
enum rtune_status rtune_cuda_stream_create(rtune_device *base, void **stream,
                                           struct rtune_error *err);
void rtune_cuda_stream_destroy(rtune_device *base, void *stream);
enum rtune_status rtune_cuda_stream_wait(rtune_device *base, void *stream, struct rtune_error *err);
enum rtune_status rtune_cuda_event_create(rtune_device *base, bool timing, void **event,
                                          struct rtune_error *err);
void rtune_cuda_event_destroy(rtune_device *base, void *event);
enum rtune_status rtune_cuda_event_record(rtune_device *base, void *event, void *stream,
                                          struct rtune_error *err);
enum rtune_status rtune_cuda_event_done(rtune_device *base, void *event, bool *done,
                                        struct rtune_error *err);
enum rtune_status rtune_cuda_event_us(rtune_device *base, void *first, void *last, double *us,
                                      struct rtune_error *err);

#endif /* RTUNE_RUNTIME_DEVICE_CUDA_H */
