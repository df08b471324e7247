/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device_cuda_stream.c: streams and events of a CUDA device. */
#include "runtime/device_cuda.h"

static enum rtune_status check_context(const struct rtune_cuda_device *dev, CUstream stream,
                                       struct rtune_error *err) {
    CUcontext owner = NULL;
    enum rtune_status status = RTUNE_CU(&dev->cuda, err, cuStreamGetCtx, stream, &owner);
    if (status != RTUNE_OK || owner == dev->context) return status;
    return rtune_err_set(
        err, RTUNE_WRONG_CONTEXT,
        "the stream belongs to another context than %s's (open one handle for each "
        "device, and use it with that device's streams)",
        dev->base.name);
}

static enum rtune_status read_capture(const struct rtune_cuda_device *dev, CUstream stream,
                                      bool *capturing, struct rtune_error *err) {
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = dev->cuda.cuStreamIsCapturing(stream, &capture);
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        return rtune_err_set(err, RTUNE_DEVICE,
                             "the legacy default stream cannot be used while a blocking stream of "
                             "this context captures: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (pass a "
                             "stream, or capture on a non-blocking one)");
    if (result == CUDA_SUCCESS && capture == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        return rtune_err_set(err, RTUNE_DEVICE,
                             "the stream's capture is already invalid: "
                             "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (end it and capture again)");
    *capturing = capture == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return rtune_cuda_result(&dev->cuda, result, "cuStreamIsCapturing(stream, &capture)",
                             RTUNE_CUDA_PLACE, err);
}

enum rtune_status rtune_cuda_stream_state(rtune_device *base, void *stream,
                                          struct rtune_stream_state *state,
                                          struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    CUstream handle = stream;
    struct rtune_cuda_scope scope;
    unsigned long long key = 0;
    bool capturing = false;
    enum rtune_status status = rtune_cuda_enter(dev, false, &scope, err);
    if (status != RTUNE_OK) return status;
    if (handle) TRY(check_context(dev, handle, err)); /* NULL is of the current context, now ours */
    TRY(read_capture(dev, handle, &capturing, err));
    /* The driver refuses this for a stream that captures, whose key nobody needs. */
    if (!capturing) TRY(RTUNE_CU(&dev->cuda, err, cuStreamGetId, handle, &key));
done:
    status = rtune_cuda_leave(&scope, status, err);
    if (status == RTUNE_OK) *state = (struct rtune_stream_state){key, capturing};
    return status;
}

enum rtune_status rtune_cuda_stream_create(rtune_device *base, void **stream,
                                           struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    CUstream made = NULL;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    status = RTUNE_CU(&dev->cuda, err, cuStreamCreate, &made, CU_STREAM_NON_BLOCKING);
    status = rtune_cuda_leave(&scope, status, err);
    if (status == RTUNE_OK)
        *stream = made;
    else if (made)
        dev->cuda.cuStreamDestroy(made);
    return status;
}

void rtune_cuda_stream_destroy(rtune_device *base, void *stream) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    if (!stream || rtune_cuda_enter(dev, true, &scope, NULL) != RTUNE_OK) return;
    dev->cuda.cuStreamDestroy(stream);
    (void)rtune_cuda_leave(&scope, RTUNE_OK, NULL);
}

enum rtune_status rtune_cuda_stream_wait(rtune_device *base, void *stream,
                                         struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    status = RTUNE_CU(&dev->cuda, err, cuStreamSynchronize, stream);
    return rtune_cuda_leave(&scope, status, err);
}

enum rtune_status rtune_cuda_event_create(rtune_device *base, bool timing, void **event,
                                          struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    CUevent made = NULL;
    unsigned int flags = timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    status = RTUNE_CU(&dev->cuda, err, cuEventCreate, &made, flags);
    status = rtune_cuda_leave(&scope, status, err);
    if (status == RTUNE_OK)
        *event = made;
    else if (made)
        dev->cuda.cuEventDestroy(made);
    return status;
}

void rtune_cuda_event_destroy(rtune_device *base, void *event) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    if (!event || rtune_cuda_enter(dev, true, &scope, NULL) != RTUNE_OK) return;
    dev->cuda.cuEventDestroy(event);
    (void)rtune_cuda_leave(&scope, RTUNE_OK, NULL);
}

enum rtune_status rtune_cuda_event_record(rtune_device *base, void *event, void *stream,
                                          struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    enum rtune_status status = rtune_cuda_enter(dev, false, &scope, err);
    if (status != RTUNE_OK) return status;
    status = RTUNE_CU(&dev->cuda, err, cuEventRecord, event, stream);
    return rtune_cuda_leave(&scope, status, err);
}

enum rtune_status rtune_cuda_event_done(rtune_device *base, void *event, bool *done,
                                        struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    CUresult result = dev->cuda.cuEventQuery(event);
    bool pending = result == CUDA_ERROR_NOT_READY;
    if (!pending)
        status =
            rtune_cuda_result(&dev->cuda, result, "cuEventQuery(event)", RTUNE_CUDA_PLACE, err);
    status = rtune_cuda_leave(&scope, status, err);
    if (status == RTUNE_OK) *done = !pending;
    return status;
}

enum rtune_status rtune_cuda_event_us(rtune_device *base, void *first, void *last, double *us,
                                      struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_scope scope;
    float ms = 0;
    enum rtune_status status = rtune_cuda_enter(dev, true, &scope, err);
    if (status != RTUNE_OK) return status;
    status = rtune_cuda_result(&dev->cuda, dev->cuda.elapsed_time(&ms, first, last),
                               "cuEventElapsedTime(&ms, first, last)", RTUNE_CUDA_PLACE, err);
    status = rtune_cuda_leave(&scope, status, err);
    if (status == RTUNE_OK) *us = (double)ms * 1000;
    return status;
}
