/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/bed.c: many launches, one synchronisation. */
#include "tests/gpu/bed.h"

#define POISON 0xab

void bed_open(struct bed *bed) {
    struct rtune_error err;
    const struct rtune_device_request request = {.spec = "cuda:0"};
    memset(bed, 0, sizeof *bed);
    gpu_open(&bed->cu);
    OK(rtune_nvrtc_open(&bed->nvrtc, &err), &err);
    OK(rtune_device_open(&request, &bed->dev, &err), &err);
    const struct rtune_device_ops *ops = bed->dev->ops;
    bed->host = malloc((size_t)BED_LAUNCHES * BED_SLOT);
    bed->launches = malloc(BED_LAUNCHES * sizeof *bed->launches);
    CHECK(bed->host != NULL && bed->launches != NULL, "out of memory");
    OK(ops->stream_create(bed->dev, &bed->stream, &err), &err);
    OK(ops->mem_alloc(bed->dev, (size_t)BED_LAUNCHES * BED_SLOT, &bed->out, &err), &err);
    OK(ops->mem_alloc(bed->dev, rtune_workspace_bytes(), &bed->workspace, &err), &err);
    OK(ops->mem_set(bed->dev, bed->workspace, 0, rtune_workspace_bytes(), bed->stream, &err), &err);
    OK(ops->stream_wait(bed->dev, bed->stream, &err), &err);
}

void bed_close(struct bed *bed) {
    bed->dev->ops->mem_free(bed->dev, bed->out);
    bed->dev->ops->mem_free(bed->dev, bed->workspace);
    bed->dev->ops->stream_destroy(bed->dev, bed->stream);
    rtune_device_close(bed->dev);
    rtune_nvrtc_close(bed->nvrtc);
    free(bed->host);
    free(bed->launches);
}

void bed_compile(struct bed *bed, struct bed_instance *instances, size_t count) {
    struct rtune_error err;
    struct rtune_compiled *jobs = calloc(count, sizeof *jobs);
    CHECK(jobs != NULL, "out of memory");
    for (size_t i = 0; i < count; i++) {
        jobs[i].problem = instances[i].problem;
        jobs[i].config = instances[i].config;
    }
    OK(rtune_nvrtc_compile(bed->nvrtc, bed->dev->identity.cc_major, bed->dev->identity.cc_minor,
                           jobs, count, 0, NULL, &err),
       &err);
    for (size_t i = 0; i < count; i++) {
        OK(jobs[i].error.status, &jobs[i].error);
        OK(bed->dev->ops->kernel_open(bed->dev, &jobs[i].problem, &jobs[i].config, jobs[i].image,
                                      jobs[i].size, &instances[i].kernel, &err),
           &err);
        free(jobs[i].image);
    }
    free(jobs);
}

void bed_begin(struct bed *bed) {
    struct rtune_error err;
    bed->count = 0;
    OK(bed->dev->ops->mem_set(bed->dev, bed->out, POISON, (size_t)BED_LAUNCHES * BED_SLOT,
                              bed->stream, &err),
       &err);
    OK(bed->dev->ops->stream_wait(bed->dev, bed->stream, &err), &err);
}

void bed_before(struct bed *bed, size_t slot, const void *before, size_t size) {
    struct rtune_error err;
    OK(bed->dev->ops->mem_put(bed->dev, (char *)bed->out + slot * BED_SLOT, before, size, &err),
       &err);
}

void bed_launch(struct bed *bed, const rtune_kernel *kernel, const struct bed_launch *launch,
                const struct rtune_args *args) {
    struct rtune_error err;
    CHECK(bed->count < BED_LAUNCHES, "too many launches without a check");
    const struct rtune_launch_request request = {
        .args = {.in = args->in,
                 .in2 = args->in2,
                 .out = (char *)bed->out + bed->count * BED_SLOT,
                 .workspace = bed->workspace,
                 .n = launch->problem.n,
                 .flags = launch->problem.flags & RTUNE_ARGUMENT_FLAGS,
                 .scale = args->scale},
        .grid = launch->grid,
        .stream = bed->stream};
    bed->launches[bed->count] = *launch;
    bed->launches[bed->count].base = (unsigned)((uintptr_t)args->in % 128);
    bed->launches[bed->count++].base2 = (unsigned)((uintptr_t)args->in2 % 128);
    OK(bed->dev->ops->launch(bed->dev, kernel, &request, &err), &err);
}

static void check_workspace(struct bed *bed, const char *how) {
    enum { ZEROED = RTUNE_WORKSPACE_HEADER + RTUNE_GRID_MAX * RTUNE_WORKSPACE_SLOT };
    static unsigned char bytes[ZEROED];
    struct rtune_error err;
    OK(bed->dev->ops->mem_get(bed->dev, bytes, bed->workspace, ZEROED, &err), &err);
    for (size_t k = 0; k < ZEROED; k++)
        CHECK(bytes[k] == 0, "%s: byte %zu of the workspace is %u after a launch", how, k,
              bytes[k]);
}

void bed_check(struct bed *bed, const struct rtune_config *config, const char *what) {
    struct rtune_error err;
    char how[160], text[160], message[256];
    rtune_config_print(config, how, sizeof how);
    OK(bed->dev->ops->stream_wait(bed->dev, bed->stream, &err), &err);
    if (bed->count == 0) return;
    OK(bed->dev->ops->mem_get(bed->dev, bed->host, bed->out, bed->count * BED_SLOT, &err), &err);
    for (size_t k = 0; k < bed->count; k++) {
        const struct bed_launch *l = &bed->launches[k];
        const unsigned char *got = bed->host + k * BED_SLOT;
        bool right = reference_check(&l->problem, &l->result, got, message, sizeof message);
        for (size_t i = l->result.size; right && i < BED_SLOT; i++)
            if (got[i] != POISON) {
                right = false;
                snprintf(message, sizeof message, "byte %zu behind the result was written", i);
            }
        rtune_problem_print(&l->problem, text, sizeof text);
        CHECK(right, "%s: %s, base %% 128 = %u, %u, %s on %u blocks: %s", what, text, l->base,
              l->base2, how, l->grid, message);
    }
    check_workspace(bed, how);
    bed->total += bed->count;
}
