/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_buffer.h: memory on the device that the examples reduce on. It stands for what your
 * program has anyway: cudaMalloc and cudaMemcpy, a tensor, an array. It opens the CUDA driver by
 * itself, so that the examples build where there is no CUDA toolkit, and uses plain memory on
 * "cpu".
 */
#ifndef RTUNE_EXAMPLES_DEVICE_BUFFER_H
#define RTUNE_EXAMPLES_DEVICE_BUFFER_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct device_buffer {
    void *data;
    bool cuda;
};

/* The driver's entry points that are used here; 0 is success everywhere. */
struct device_driver {
    int (*init)(unsigned flags);
    int (*device)(int *device, int index);
    int (*retain)(void **context, int device);
    int (*use)(void *context);
    int (*alloc)(unsigned long long *ptr, size_t size);
    int (*release)(unsigned long long ptr);
    int (*put)(unsigned long long to, const void *from, size_t size);
    int (*get)(void *to, unsigned long long from, size_t size);
};

static bool device_driver_open(struct device_driver *d) {
    static const char *const names[] = {
        "cuInit",        "cuDeviceGet",  "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
        "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2",          "cuMemcpyDtoH_v2"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = library ? dlsym(library, names[i]) : NULL;
        if (!symbol) return false;
        memcpy((char *)d + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return d->init(0) == 0;
}

/* Memory on the device of this name ("cuda:N", "cpu"), filled with size bytes from a host buffer.
 */
static bool device_buffer_open(struct device_buffer *buffer, const char *device, size_t size,
                               const void *from) {
    struct device_driver d;
    void *context = NULL;
    unsigned long long ptr = 0;
    int number = 0;
    int index = 0;
    buffer->cuda = strncmp(device, "cuda:", 5) == 0;
    if (!buffer->cuda) {
        buffer->data = malloc(size);
        if (buffer->data) memcpy(buffer->data, from, size);
        return buffer->data != NULL;
    }
    for (const char *c = device + 5; *c; c++)
        index = index * 10 + (*c - '0');
    if (!device_driver_open(&d) || d.device(&number, index) != 0 ||
        d.retain(&context, number) != 0 || d.use(context) != 0 || d.alloc(&ptr, size) != 0) {
        return false;
    }
    memcpy(&buffer->data, &ptr, sizeof buffer->data);
    return d.put(ptr, from, size) == 0;
}

/* Wait for the default stream and copy size bytes to the host. */
static bool device_buffer_get(const struct device_buffer *buffer, void *to, size_t size) {
    struct device_driver d;
    unsigned long long ptr = 0;
    if (!buffer->cuda) {
        memcpy(to, buffer->data, size);
        return true;
    }
    memcpy(&ptr, &buffer->data, sizeof buffer->data);
    return device_driver_open(&d) && d.get(to, ptr, size) == 0;
}

static void device_buffer_close(struct device_buffer *buffer) {
    struct device_driver d;
    unsigned long long ptr = 0;
    memcpy(&ptr, &buffer->data, sizeof buffer->data);
    if (!buffer->cuda)
        free(buffer->data);
    else if (device_driver_open(&d))
        d.release(ptr);
}

#endif /* RTUNE_EXAMPLES_DEVICE_BUFFER_H */
