/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/gpu.c: what most tests on the fake GPU share. */
#include "tests/fake/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const settings[] = {
    "RTUNE_FAKE_DEVICES", "RTUNE_FAKE_CC",   "RTUNE_FAKE_SMS",    "RTUNE_FAKE_L2",
    "RTUNE_FAKE_MEMORY",  "RTUNE_FAKE_MIG",  "RTUNE_FAKE_DRIVER", "RTUNE_FAKE_INIT",
    "RTUNE_FAKE_LOAD",    "RTUNE_FAKE_SEED", "RTUNE_FAKE_NOISE",  "RTUNE_FAKE_FAULTS",
};

void gpu_reset(const char *first, ...) {
    va_list args;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        unsetenv(settings[i]);
    va_start(args, first);
    for (const char *pair = first; pair; pair = va_arg(args, const char *)) {
        char name[64];
        size_t length = strcspn(pair, "=");
        snprintf(name, sizeof name, "%.*s", (int)length, pair);
        setenv(name, pair + length + 1, 1);
    }
    va_end(args);
    fake_cuda_reset();
}

void gpu_ok(enum rtune_status status, const struct rtune_error *err) {
    if (status != RTUNE_OK) fail_msg("%s: %s", rtune_status_name(status), err->message);
}

rtune_device *gpu_open(const char *spec) {
    struct rtune_device_request request = {.spec = spec};
    rtune_device *dev = NULL;
    struct rtune_error err;
    gpu_ok(rtune_device_open(&request, &dev, &err), &err);
    return dev;
}

void gpu_assert_clean(void) {
    struct fake_cuda_live live = fake_cuda_live();
    assert_null(fake_cuda_problem());
    assert_int_equal(live.contexts, 0);
    assert_int_equal(live.allocations, 0);
    assert_int_equal(live.streams, 0);
    assert_int_equal(live.events, 0);
    assert_int_equal(live.modules, 0);
    assert_int_equal(live.graphs, 0);
}

static void zero(const struct gpu_sum *sum) {
    void *stream = NULL;
    struct rtune_error err;
    rtune_device *dev = sum->dev;
    gpu_ok(dev->ops->stream_create(dev, &stream, &err), &err);
    gpu_ok(dev->ops->mem_set(dev, sum->workspace, 0, rtune_workspace_bytes(), stream, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, stream, &err), &err);
    dev->ops->stream_destroy(dev, stream);
}

void gpu_sum_open(struct gpu_sum *sum, rtune_device *dev, uint64_t n) {
    static const char image[] = "any image will do";
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, n);
    struct rtune_config config = rtune_config_default(&problem, true);
    struct rtune_error err;
    *sum = (struct gpu_sum){.dev = dev, .n = n};
    gpu_ok(dev->ops->kernel_open(dev, &problem, &config, image, sizeof image, &sum->kernel, &err),
           &err);
    gpu_ok(dev->ops->mem_alloc(dev, (size_t)n * 4, &sum->in, &err), &err);
    gpu_ok(dev->ops->mem_alloc(dev, 8, &sum->out, &err), &err);
    gpu_ok(dev->ops->mem_alloc(dev, rtune_workspace_bytes(), &sum->workspace, &err), &err);
    zero(sum);
    int32_t *host = malloc((size_t)n * sizeof *host);
    assert_non_null(host);
    for (uint64_t i = 0; i < n; i++)
        host[i] = (int32_t)(i + 1);
    gpu_ok(dev->ops->mem_put(dev, sum->in, host, (size_t)n * 4, &err), &err);
    free(host);
    sum->grid = rtune_grid_resolve(&config, RTUNE_I32, n, dev->units,
                                   dev->ops->kernel_resident(sum->kernel));
}

void gpu_sum_close(struct gpu_sum *sum) {
    sum->dev->ops->mem_free(sum->dev, sum->in);
    sum->dev->ops->mem_free(sum->dev, sum->out);
    sum->dev->ops->mem_free(sum->dev, sum->workspace);
    sum->dev->ops->kernel_close(sum->dev, sum->kernel);
}

enum rtune_status gpu_sum_launch(const struct gpu_sum *sum, void *stream, struct rtune_error *err) {
    struct rtune_launch_request request = {.args = {.in = sum->in,
                                                    .out = sum->out,
                                                    .workspace = sum->workspace,
                                                    .n = sum->n,
                                                    .scale = 1},
                                           .grid = sum->grid,
                                           .stream = stream};
    return sum->dev->ops->launch(sum->dev, sum->kernel, &request, err);
}

int64_t gpu_sum_result(const struct gpu_sum *sum) {
    int64_t value = 0;
    struct rtune_error err;
    gpu_ok(sum->dev->ops->mem_get(sum->dev, &value, sum->out, sizeof value, &err), &err);
    return value;
}
