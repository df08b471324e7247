/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_context.c: primary and created contexts, and each thread's stack of current ones.
 */
#include "tests/fake/fake_int.h"

#include <stdlib.h>

enum { STACK_MAX = 16 };

static _Thread_local struct {
    struct fake_context *entries[STACK_MAX];
    size_t depth;
} stack;

static struct fake_context *top(void) {
    return stack.depth ? stack.entries[stack.depth - 1] : NULL;
}

void fake_thread_forget(void) { stack.depth = 0; }

/* A context that was made since the last reset, dead or alive. */
static bool known(const struct fake_context *context) {
    for (const struct fake_context *c = fake.contexts; c; c = c->next)
        if (c == context) return true;
    return false;
}

CUresult fake_current(struct fake_context **context) {
    struct fake_context *current = top();
    if (!current || !known(current) || !current->alive) return CUDA_ERROR_INVALID_CONTEXT;
    *context = current;
    return current->broken;
}

static struct fake_context *make(int device, bool primary) {
    struct fake_context *context = calloc(1, sizeof *context);
    if (!context) return NULL;
    context->device = device;
    context->primary = primary;
    context->alive = true;
    context->legacy = fake_stream_make(context, true, true);
    context->next = fake.contexts;
    fake.contexts = context;
    return context;
}

static struct fake_context *primary(int device) {
    for (struct fake_context *c = fake.contexts; c; c = c->next)
        if (c->primary && c->device == device) return c;
    return NULL;
}

void fake_context_clear(struct fake_context *context) {
    (void)fake_drain_context(context);
    struct fake_stream *next;
    for (struct fake_stream *s = fake.streams; s; s = next) {
        next = s->next;
        if (s->context == context) fake_stream_free(s);
    }
    fake_events_forget(context);
    fake_modules_clear(context);
    fake_memory_clear(context);
    context->legacy = NULL;
}

/* ---- primary contexts ------------------------------------------------------------------------ */

static CUresult primary_retain(CUcontext *handle, CUdevice device) {
    if (!fake_device_valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    struct fake_context *context = primary(device);
    if (!context) context = make(device, true);
    if (!context) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!context->legacy) {
        context->legacy = fake_stream_make(context, true, true);
        context->broken = CUDA_SUCCESS;
        context->alive = true;
    }
    context->retained++;
    *handle = (CUcontext)context;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    return FAKE_CALL(cuDevicePrimaryCtxRetain, primary_retain(context, device));
}

static CUresult primary_release(CUdevice device) {
    struct fake_context *context = fake_device_valid(device) ? primary(device) : NULL;
    if (!context || context->retained == 0) {
        fake_problem("the primary context of device %d was released once too often", device);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (--context->retained > 0) return CUDA_SUCCESS;
    fake_context_clear(context);
    context->alive = false;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    return FAKE_CALL(cuDevicePrimaryCtxRelease, primary_release(device));
}

static CUresult primary_state(CUdevice device, unsigned int *flags, int *active) {
    if (!fake_device_valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    const struct fake_context *context = primary(device);
    *flags = 0;
    *active = context && context->retained > 0;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    return FAKE_CALL(cuDevicePrimaryCtxGetState, primary_state(device, flags, active));
}

/* ---- the current context --------------------------------------------------------------------- */

static CUresult get_current(CUcontext *context) {
    *context = (CUcontext)top();
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
    return FAKE_CALL(cuCtxGetCurrent, get_current(context));
}

static CUresult get_device(CUdevice *device) {
    struct fake_context *context = NULL;
    CUresult result = fake_current(&context);
    if (context) *device = context->device;
    return context ? CUDA_SUCCESS : result;
}
CUresult cuCtxGetDevice(CUdevice *device) { return FAKE_CALL(cuCtxGetDevice, get_device(device)); }

static CUresult push(struct fake_context *context) {
    if (!known(context) || !context->alive) return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth == STACK_MAX) return CUDA_ERROR_INVALID_VALUE;
    stack.entries[stack.depth++] = context;
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
    return FAKE_CALL(cuCtxPushCurrent, push((struct fake_context *)context));
}

static CUresult pop(CUcontext *context) {
    if (stack.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
    struct fake_context *popped = stack.entries[--stack.depth];
    if (context) *context = (CUcontext)popped;
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext *context) { return FAKE_CALL(cuCtxPopCurrent, pop(context)); }

static CUresult set_current(struct fake_context *context) {
    if (stack.depth) stack.depth--;
    return context ? push(context) : CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
    return FAKE_CALL(cuCtxSetCurrent, set_current((struct fake_context *)context));
}

/* ---- created contexts ------------------------------------------------------------------------ */

static CUresult create(CUcontext *handle, CUdevice device) {
    if (!fake_device_valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    struct fake_context *context = make(device, false);
    if (!context) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (CUcontext)context;
    return push(context);
}
/* The second version, which newer cuda.h hide behind a macro. */
FAKE_API CUresult fake_context_create(CUcontext *context, unsigned int flags,
                                      CUdevice device) __asm__("cuCtxCreate_v2");
CUresult fake_context_create(CUcontext *context, unsigned int flags, CUdevice device) {
    (void)flags;
    return fake_leave(fake_enter("cuCtxCreate_v2") ? create(context, device) : fake_injected());
}

static CUresult destroy(struct fake_context *context) {
    if (!known(context) || !context->alive || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    if (top() == context) stack.depth--;
    fake_context_clear(context);
    context->alive = false;
    return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext context) {
    return FAKE_CALL(cuCtxDestroy, destroy((struct fake_context *)context));
}

static CUresult synchronize(void) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (!fake_drain_context(context)) fake_hang();
    return context->broken;
}
CUresult cuCtxSynchronize(void) { return FAKE_CALL(cuCtxSynchronize, synchronize()); }
