/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_event.c: events of the fake driver, with simulated times. */
#include "tests/fake/fake_int.h"

#include <stdlib.h>

static const double resolution_us = 0.032;

static CUresult find(CUevent handle, struct fake_event **event) {
    for (struct fake_event *e = fake.events; e; e = e->next)
        if (e == (struct fake_event *)handle && e->alive) {
            *event = e;
            return CUDA_SUCCESS;
        }
    fake_problem("an event was used that does not exist (any more)");
    return CUDA_ERROR_INVALID_HANDLE;
}

static void release(struct fake_event *event) {
    struct fake_event **link = &fake.events;
    while (*link != event)
        link = &(*link)->next;
    *link = event->next;
    free(event);
}

void fake_events_forget(struct fake_context *context) {
    struct fake_event *next;
    for (struct fake_event *e = fake.events; e; e = next) {
        next = e->next;
        if (e->context == context) release(e);
    }
}

static CUresult create(CUevent *handle, unsigned int flags) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result != CUDA_SUCCESS) return result;
    struct fake_event *event = calloc(1, sizeof *event);
    if (!event) return CUDA_ERROR_OUT_OF_MEMORY;
    event->context = context;
    event->timing = !(flags & CU_EVENT_DISABLE_TIMING);
    event->alive = true;
    event->next = fake.events;
    fake.events = event;
    *handle = (CUevent)event;
    return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    return FAKE_CALL(cuEventCreate, create(event, flags));
}

void fake_event_used(struct fake_event *event) {
    event->pending--;
    if (!event->alive && event->pending == 0 && !event->capture) release(event);
}

/* The memory of an event that queued operations name goes with the last of them. */
static CUresult destroy(CUevent handle) {
    struct fake_event *event;
    CUresult result = find(handle, &event);
    if (result != CUDA_SUCCESS) return result;
    event->alive = false;
    if (event->pending == 0 && !event->capture) release(event);
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) { return FAKE_CALL(cuEventDestroy, destroy(event)); }

static CUresult record(CUevent handle, CUstream stream_handle) {
    struct fake_event *event;
    struct fake_stream *stream;
    CUresult result = find(handle, &event);
    if (result == CUDA_SUCCESS) result = fake_stream_find(stream_handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (stream->context != event->context) return CUDA_ERROR_INVALID_HANDLE;
    struct fake_op op = {.kind = FAKE_RECORD, .event = event};
    result = fake_enqueue(stream, &op);
    if (result == CUDA_SUCCESS && !stream->capture) {
        event->done = event->asked = false;
        event->capture = NULL;
    }
    return result;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    return FAKE_CALL(cuEventRecord, record(event, stream));
}

static bool pending(const struct fake_event *event) { return event->seq != 0 && !event->done; }

/* Not ready at least once after each record; then the work before it is done. */
static CUresult query(CUevent handle) {
    struct fake_event *event;
    CUresult result = find(handle, &event);
    if (result == CUDA_SUCCESS && event->capture) result = CUDA_ERROR_CAPTURED_EVENT;
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (!pending(event)) return event->context->broken;
    if (event->stream) (void)fake_drain(event->stream, event->seq);
    return event->context->broken ? event->context->broken : CUDA_ERROR_NOT_READY;
}
CUresult cuEventQuery(CUevent event) { return FAKE_CALL(cuEventQuery, query(event)); }

static CUresult synchronize(CUevent handle) {
    struct fake_event *event;
    CUresult result = find(handle, &event);
    if (result == CUDA_SUCCESS && event->capture) result = CUDA_ERROR_CAPTURED_EVENT;
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (pending(event) && event->stream && !fake_drain(event->stream, event->seq)) fake_hang();
    return event->context->broken;
}
CUresult cuEventSynchronize(CUevent event) {
    return FAKE_CALL(cuEventSynchronize, synchronize(event));
}

static CUresult elapsed(float *ms, CUevent first_handle, CUevent last_handle) {
    struct fake_event *first, *last;
    CUresult result = find(first_handle, &first);
    if (result == CUDA_SUCCESS) result = find(last_handle, &last);
    if (result != CUDA_SUCCESS) return result;
    if (!first->timing || !last->timing || first->seq == 0 || last->seq == 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (first->context->broken) return first->context->broken;
    if (!first->done || !last->done) return CUDA_ERROR_NOT_READY;
    double ticks =
        (double)(int64_t)(last->us / resolution_us) - (double)(int64_t)(first->us / resolution_us);
    *ms = (float)(ticks * resolution_us / 1000);
    return CUDA_SUCCESS;
}
/* The first version, which newer cuda.h hide behind a macro. */
FAKE_API CUresult fake_elapsed(float *ms, CUevent first,
                               CUevent last) __asm__("cuEventElapsedTime");
CUresult fake_elapsed(float *ms, CUevent first, CUevent last) {
    return fake_leave(fake_enter("cuEventElapsedTime") ? elapsed(ms, first, last)
                                                       : fake_injected());
}

static CUresult wait_event(CUstream handle, CUevent event_handle) {
    struct fake_event *event;
    struct fake_stream *stream;
    CUresult result = find(event_handle, &event);
    if (result == CUDA_SUCCESS) result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    struct fake_op op = {
        .kind = FAKE_WAIT, .event = event, .awaited = event->stream, .awaited_seq = event->seq};
    if (stream->capture || event->capture) return fake_capture_add(stream, &op);
    if (!pending(event) || !event->stream) return CUDA_SUCCESS;
    return fake_enqueue(stream, &op);
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    (void)flags;
    return FAKE_CALL(cuStreamWaitEvent, wait_event(stream, event));
}
