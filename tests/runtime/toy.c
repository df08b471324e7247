/* SPDX-License-Identifier: Apache-2.0 */
/* tests/runtime/toy.c: the toy device. */
#include "tests/runtime/toy.h"

#include <stdlib.h>
#include <string.h>

static struct toy *of(rtune_device *dev) { return (struct toy *)dev; }

struct toy_kernel {
    uint32_t resident, block;
};

/* Counts a call; DEVICE if it is the one to fail. */
static enum rtune_status step(rtune_device *dev, const char *name, struct rtune_error *err) {
    const uint64_t k = atomic_fetch_add(&of(dev)->calls, 1) + 1;
    if (k == atomic_load(&of(dev)->fail_at)) {
        return rtune_err_set(err, RTUNE_DEVICE, "%s: told to fail", name);
    }
    return RTUNE_OK;
}

static void toy_close(rtune_device *dev) {
    struct toy *toy = of(dev);
    assert_int_equal(toy->kernels, 0);
    assert_int_equal(toy->allocations, 0);
    assert_int_equal(toy->streams, 0);
    for (size_t i = 0; i < TOY_EVENTS; i++)
        assert_false(toy->events[i].made);
    pthread_mutex_destroy(&toy->last_lock);
    free(toy);
}

static enum rtune_status kernel_open(rtune_device *dev, const struct rtune_problem *problem,
                                     const struct rtune_config *config, const void *image,
                                     size_t size, rtune_kernel **kernel, struct rtune_error *err) {
    const struct rtune_config builtin = rtune_config_default(problem, dev->cuda);
    enum rtune_status status = step(dev, "kernel_open", err);
    if (status != RTUNE_OK) return status;
    if (image ? of(dev)->no_image || size == 0 : of(dev)->no_builtin) {
        return rtune_err_set(err, RTUNE_DEVICE, "no such kernel here");
    }
    assert_true(image || rtune_config_same_instance(config, &builtin));
    struct toy_kernel *made = calloc(1, sizeof *made);
    if (!made) return rtune_err_set(err, RTUNE_NO_MEMORY, "toy");
    made->resident = of(dev)->resident;
    made->block = config->block;
    of(dev)->kernels++;
    *kernel = (rtune_kernel *)made;
    return RTUNE_OK;
}

static void kernel_close(rtune_device *dev, rtune_kernel *kernel) {
    of(dev)->kernels--;
    free(kernel);
}

static uint32_t kernel_resident(const rtune_kernel *kernel) {
    return ((const struct toy_kernel *)kernel)->resident;
}

static enum rtune_status launch(rtune_device *dev, const rtune_kernel *kernel,
                                const struct rtune_launch_request *request,
                                struct rtune_error *err) {
    enum rtune_status status = step(dev, "launch", err);
    if (status != RTUNE_OK) return status;
    pthread_mutex_lock(&of(dev)->last_lock);
    of(dev)->last = *request;
    of(dev)->last_block = ((const struct toy_kernel *)kernel)->block;
    pthread_mutex_unlock(&of(dev)->last_lock);
    of(dev)->launches++;
    return RTUNE_OK;
}

static enum rtune_status stream_state(rtune_device *dev, void *stream,
                                      struct rtune_stream_state *state, struct rtune_error *err) {
    enum rtune_status status = step(dev, "stream_state", err);
    if (status == RTUNE_OK) {
        *state = (struct rtune_stream_state){(uintptr_t)stream, of(dev)->capturing};
    }
    return status;
}

static enum rtune_status mem_alloc(rtune_device *dev, size_t size, void **ptr,
                                   struct rtune_error *err) {
    enum rtune_status status = step(dev, "mem_alloc", err);
    if (status != RTUNE_OK) return status;
    *ptr = aligned_alloc(RTUNE_WORKSPACE_ALIGN, size);
    assert_non_null(*ptr);
    of(dev)->allocations++;
    return RTUNE_OK;
}

static void mem_free(rtune_device *dev, void *ptr) {
    of(dev)->allocations--;
    free(ptr);
}

static enum rtune_status mem_set(rtune_device *dev, void *ptr, unsigned char byte, size_t size,
                                 void *stream, struct rtune_error *err) {
    (void)stream;
    enum rtune_status status = step(dev, "mem_set", err);
    if (status != RTUNE_OK) return status;
    memset(ptr, byte, size);
    of(dev)->sets++;
    return RTUNE_OK;
}

static enum rtune_status stream_create(rtune_device *dev, void **stream, struct rtune_error *err) {
    enum rtune_status status = step(dev, "stream_create", err);
    if (status != RTUNE_OK) return status;
    *stream = malloc(1);
    assert_non_null(*stream);
    of(dev)->streams++;
    return RTUNE_OK;
}

static void stream_destroy(rtune_device *dev, void *stream) {
    of(dev)->streams--;
    free(stream);
}

static enum rtune_status stream_wait(rtune_device *dev, void *stream, struct rtune_error *err) {
    (void)stream;
    return step(dev, "stream_wait", err);
}

static enum rtune_status event_create(rtune_device *dev, bool timing, void **event,
                                      struct rtune_error *err) {
    enum rtune_status status = step(dev, "event_create", err);
    if (status != RTUNE_OK) return status;
    assert_false(timing);
    for (size_t i = 0; i < TOY_EVENTS; i++) {
        if (of(dev)->events[i].made) continue;
        of(dev)->events[i].made = true;
        of(dev)->events[i].pending = false;
        *event = &of(dev)->events[i];
        return RTUNE_OK;
    }
    fail_msg("more than %d events", TOY_EVENTS);
    return RTUNE_INTERNAL;
}

static void event_destroy(rtune_device *dev, void *event) {
    (void)dev;
    ((struct toy_event *)event)->made = false;
}

static enum rtune_status event_record(rtune_device *dev, void *event, void *stream,
                                      struct rtune_error *err) {
    enum rtune_status status = step(dev, "event_record", err);
    if (status != RTUNE_OK) return status;
    ((struct toy_event *)event)->stream = stream;
    ((struct toy_event *)event)->pending = true;
    return status;
}

static enum rtune_status event_done(rtune_device *dev, void *event, bool *done,
                                    struct rtune_error *err) {
    enum rtune_status status = step(dev, "event_done", err);
    if (status == RTUNE_OK) *done = of(dev)->events_done || !((struct toy_event *)event)->pending;
    return status;
}

static const struct rtune_device_ops toy_ops = {
    .close = toy_close,
    .kernel_open = kernel_open,
    .kernel_close = kernel_close,
    .kernel_resident = kernel_resident,
    .launch = launch,
    .stream_state = stream_state,
    .mem_alloc = mem_alloc,
    .mem_free = mem_free,
    .mem_set = mem_set,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_done = event_done,
};

struct rtune_identity toy_identity(int cc_major, int cc_minor, uint32_t sm_count) {
    return (struct rtune_identity){
        .cuda = true,
        .cc_major = cc_major,
        .cc_minor = cc_minor,
        .sm_count = sm_count,
        .l2_bytes = 62914560,
        .bus_bits = 6144,
        .memory_mhz = 3200,
        .sm_mhz = 2000,
        .name = "NVIDIA H200",
        .driver = "580.1",
    };
}

struct toy *toy_new(const struct rtune_identity *identity) {
    struct toy *toy = calloc(1, sizeof *toy);
    assert_non_null(toy);
    toy->base.ops = &toy_ops;
    toy->base.identity = identity ? *identity : toy_identity(9, 0, 132);
    memcpy(toy->base.name, "toy:0", sizeof "toy:0");
    toy->base.cuda = true;
    toy->base.units = toy->base.identity.sm_count;
    toy->resident = 4;
    pthread_mutex_init(&toy->last_lock, NULL);
    return toy;
}
