/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_stream.c: streams of the fake driver. Their ids are never used twice. */
#include "tests/fake/fake_int.h"

#include <stdlib.h>

struct fake_stream *fake_stream_make(struct fake_context *context, bool blocking, bool legacy) {
    struct fake_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->context = context;
    stream->id = ++fake.ids;
    stream->blocking = blocking;
    stream->legacy = legacy;
    stream->alive = true;
    stream->tail = &stream->head;
    stream->next = fake.streams;
    fake.streams = stream;
    return stream;
}

void fake_stream_free(struct fake_stream *stream) {
    struct fake_stream **link = &fake.streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    if (*link) *link = stream->next;
    while (stream->head) {
        struct fake_op *op = stream->head;
        stream->head = op->next;
        if (op->event) fake_event_used(op->event);
        if (op->kind == FAKE_GRAPH) op->graph->pending--;
        fake_op_free(op);
    }
    for (struct fake_event *e = fake.events; e; e = e->next)
        if (e->stream == stream) e->stream = NULL;
    free(stream);
}

static struct fake_stream *per_thread(struct fake_context *context) {
    uint64_t thread = fake_thread();
    for (struct fake_stream *s = fake.streams; s; s = s->next)
        if (s->context == context && s->thread == thread) return s;
    struct fake_stream *stream = fake_stream_make(context, true, false);
    if (stream) stream->thread = thread;
    return stream;
}

CUresult fake_stream_find(CUstream handle, struct fake_stream **stream) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result != CUDA_SUCCESS) return result;
    if (handle == NULL || handle == CU_STREAM_LEGACY) {
        *stream = context->legacy;
        return CUDA_SUCCESS;
    }
    if (handle == CU_STREAM_PER_THREAD) {
        *stream = per_thread(context);
        return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (struct fake_stream *s = fake.streams; s; s = s->next)
        if (s == (struct fake_stream *)handle && s->alive) {
            *stream = s;
            return s->context->broken;
        }
    fake_problem("a stream was used that does not exist (any more)");
    return CUDA_ERROR_INVALID_HANDLE;
}

/* ---- create, destroy, wait ------------------------------------------------------------------- */

static CUresult create(CUstream *handle, unsigned int flags) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result != CUDA_SUCCESS) return result;
    struct fake_stream *stream = fake_stream_make(context, flags != CU_STREAM_NON_BLOCKING, false);
    if (!stream) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (CUstream)stream;
    return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
    return FAKE_CALL(cuStreamCreate, create(stream, flags));
}

/* The real one lets the work finish by itself. */
static CUresult destroy(CUstream handle) {
    struct fake_stream *stream = NULL;
    CUresult result = fake_stream_find(handle, &stream);
    if (!stream) return result;
    if (stream->legacy || stream->thread) return CUDA_ERROR_INVALID_HANDLE;
    if (!fake_drain(stream, UINT64_MAX)) {
        stream->alive = false; /* stays, with what hangs on it */
        return CUDA_SUCCESS;
    }
    fake_stream_free(stream);
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) { return FAKE_CALL(cuStreamDestroy, destroy(stream)); }

static CUresult synchronize(CUstream handle) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (stream->capture) {
        stream->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    result = fake_capture_unsafe();
    if (result == CUDA_SUCCESS) result = fake_capture_implicit(stream, true);
    if (result != CUDA_SUCCESS) return result;
    if (!fake_drain(stream, UINT64_MAX)) fake_hang();
    return stream->context->broken;
}
CUresult cuStreamSynchronize(CUstream stream) {
    return FAKE_CALL(cuStreamSynchronize, synchronize(stream));
}

/* Never waits; the work that was found pending is done afterwards, so that polling ends. */
static CUresult query(CUstream handle) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result == CUDA_SUCCESS && stream->capture) result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (!stream->head) return stream->context->broken;
    (void)fake_drain(stream, UINT64_MAX);
    return CUDA_ERROR_NOT_READY;
}
CUresult cuStreamQuery(CUstream stream) { return FAKE_CALL(cuStreamQuery, query(stream)); }

/* ---- what a stream is ------------------------------------------------------------------------ */

static CUresult get_context(CUstream handle, CUcontext *context) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result == CUDA_SUCCESS) *context = (CUcontext)stream->context;
    return result;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    return FAKE_CALL(cuStreamGetCtx, get_context(stream, context));
}

static CUresult get_id(CUstream handle, unsigned long long *id) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    /* As driver 580 answers. */
    if (result == CUDA_SUCCESS && stream->capture) result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (result == CUDA_SUCCESS) *id = stream->id;
    return result;
}
CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
    return FAKE_CALL(cuStreamGetId, get_id(stream, id));
}

static CUresult is_capturing(CUstream handle, CUstreamCaptureStatus *status) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result == CUDA_SUCCESS) result = fake_capture_implicit(stream, false);
    if (result != CUDA_SUCCESS) return result;
    *status = !stream->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                         : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return FAKE_CALL(cuStreamIsCapturing, is_capturing(stream, status));
}

static CUresult launch_host(CUstream handle, CUhostFn call, void *data) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    struct fake_op op = {.kind = FAKE_CALL_HOST, .call = call, .call_data = data};
    return fake_enqueue(stream, &op);
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn call, void *data) {
    return FAKE_CALL(cuLaunchHostFunc, launch_host(stream, call, data));
}
