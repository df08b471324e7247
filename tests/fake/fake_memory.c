/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_memory.c: device memory of the fake driver, which is host memory full of garbage.
 */
#include "tests/fake/fake_int.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 512, GARBAGE = 0xa5, GARBAGE_MAX = 64 << 20 };

bool fake_memory_valid(const struct fake_context *context, const void *from, size_t size) {
    const unsigned char *at = from;
    for (const struct fake_allocation *a = fake.allocations; a; a = a->next)
        if (a->context->device == context->device && at >= a->base && at <= a->base + a->size &&
            size <= (size_t)(a->base + a->size - at))
            return true;
    return false;
}

static void release(struct fake_allocation **link) {
    struct fake_allocation *allocation = *link;
    *link = allocation->next;
    fake_written(allocation->base, allocation->size);
    fake.used[allocation->context->device] -= allocation->size;
    free(allocation->base);
    free(allocation);
}

void fake_memory_clear(struct fake_context *context) {
    struct fake_allocation **link = &fake.allocations;
    while (*link) {
        if ((*link)->context == context)
            release(link);
        else
            link = &(*link)->next;
    }
}

static CUresult allocate(CUdeviceptr *ptr, size_t size) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (size > fake.settings.memory[context->device] - fake.used[context->device])
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct fake_allocation *allocation = calloc(1, sizeof *allocation);
    void *base = NULL;
    if (!allocation || posix_memalign(&base, ALIGNMENT, size) != 0) {
        free(allocation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memset(base, GARBAGE, size < GARBAGE_MAX ? size : GARBAGE_MAX);
    *allocation = (struct fake_allocation){fake.allocations, context, base, size};
    fake.allocations = allocation;
    fake.used[context->device] += size;
    *ptr = (CUdeviceptr)(uintptr_t)base;
    return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr *ptr, size_t size) {
    return FAKE_CALL(cuMemAlloc, allocate(ptr, size));
}

/* Waits for the context's work, as the real one does. */
static CUresult release_memory(CUdeviceptr ptr) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    for (struct fake_allocation **link = &fake.allocations; *link; link = &(*link)->next) {
        if ((CUdeviceptr)(uintptr_t)(*link)->base != ptr) continue;
        if (!fake_drain_context((*link)->context)) fake_hang();
        release(link);
        return CUDA_SUCCESS;
    }
    fake_problem("memory was freed that is not allocated");
    return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemFree(CUdeviceptr ptr) { return FAKE_CALL(cuMemFree, release_memory(ptr)); }

static CUresult memory_info(size_t *available, size_t *total) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result != CUDA_SUCCESS) return result;
    *total = fake.settings.memory[context->device];
    *available = *total - fake.used[context->device];
    return CUDA_SUCCESS;
}
CUresult cuMemGetInfo(size_t *available, size_t *total) {
    return FAKE_CALL(cuMemGetInfo, memory_info(available, total));
}

/* ---- copies and sets ------------------------------------------------------------------------- */

static void *pointer(CUdeviceptr ptr) { return (void *)(uintptr_t)ptr; }

static CUresult enqueue_set(CUdeviceptr dst, unsigned char byte, size_t size, CUstream handle) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (!fake_memory_valid(stream->context, pointer(dst), size)) return CUDA_ERROR_INVALID_VALUE;
    struct fake_op op = {.kind = FAKE_SET, .dst = pointer(dst), .byte = byte, .size = size};
    return fake_enqueue(stream, &op);
}
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char byte, size_t size, CUstream stream) {
    return FAKE_CALL(cuMemsetD8Async, enqueue_set(dst, byte, size, stream));
}

/* Pageable memory is staged: the caller may change it as soon as the call returns. */
static CUresult enqueue_put(CUdeviceptr dst, const void *src, size_t size, CUstream handle) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (!fake_memory_valid(stream->context, pointer(dst), size)) return CUDA_ERROR_INVALID_VALUE;
    struct fake_op op = {.kind = FAKE_COPY, .dst = pointer(dst), .size = size};
    op.staged = malloc(size ? size : 1);
    if (!op.staged) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(op.staged, src, size);
    op.src = op.staged;
    result = fake_enqueue(stream, &op);
    if (result != CUDA_SUCCESS) free(op.staged);
    return result;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t size, CUstream stream) {
    return FAKE_CALL(cuMemcpyHtoDAsync, enqueue_put(dst, src, size, stream));
}

static CUresult enqueue_copy(unsigned char *dst, CUdeviceptr src, size_t size, CUstream handle) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (!fake_memory_valid(stream->context, pointer(src), size)) return CUDA_ERROR_INVALID_VALUE;
    struct fake_op op = {.kind = FAKE_COPY, .dst = dst, .src = pointer(src), .size = size};
    return fake_enqueue(stream, &op);
}
CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t size, CUstream stream) {
    return FAKE_CALL(cuMemcpyDtoHAsync, enqueue_copy(dst, src, size, stream));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream) {
    return FAKE_CALL(cuMemcpyDtoDAsync, enqueue_copy(pointer(dst), src, size, stream));
}

/* The synchronous ones go through the legacy stream. */
static CUresult wait_legacy(void) {
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (!fake_drain(context->legacy, UINT64_MAX)) fake_hang();
    return context->broken;
}

static CUresult put(CUdeviceptr dst, const void *src, size_t size) {
    CUresult result = enqueue_put(dst, src, size, NULL);
    return result == CUDA_SUCCESS ? wait_legacy() : result;
}
CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t size) {
    return FAKE_CALL(cuMemcpyHtoD, put(dst, src, size));
}

static CUresult get(void *dst, CUdeviceptr src, size_t size) {
    CUresult result = enqueue_copy(dst, src, size, NULL);
    return result == CUDA_SUCCESS ? wait_legacy() : result;
}
CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t size) {
    return FAKE_CALL(cuMemcpyDtoH, get(dst, src, size));
}
