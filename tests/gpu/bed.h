/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/bed.h: a device, a stream, a workspace, and launches whose results are looked at
 * together. */
#ifndef RTUNE_TESTS_GPU_BED_H
#define RTUNE_TESTS_GPU_BED_H

#include "runtime/nvrtc.h"
#include "tests/gpu/gpu.h"
#include "tests/reference/reference.h"

enum { BED_LAUNCHES = 4096, BED_SLOT = 32 };

/* What a launch was, to say so if it is wrong. */
struct bed_launch {
    struct rtune_problem problem; /* with RTUNE_ARGUMENT_FLAGS of its launch */
    uint32_t grid;
    unsigned base, base2; /* modulo a line of 128 bytes */
    struct reference_result result;
};

struct bed {
    struct gpu_cuda cu;
    rtune_device *dev;
    rtune_nvrtc *nvrtc;
    void *stream, *out, *workspace; /* out: BED_LAUNCHES slots of BED_SLOT bytes */
    unsigned char *host;            /* the same on the host */
    struct bed_launch *launches;
    size_t count;   /* launches since the last bed_check */
    uint64_t total; /* launches */
};

/* Exits with 77 if there is no GPU. */
void bed_open(struct bed *bed);
void bed_close(struct bed *bed);

/* One instance; the caller closes the kernel. */
struct bed_instance {
    struct rtune_problem problem;
    struct rtune_config config;
    rtune_kernel *kernel;
};
/* Compile and load all of them, in parallel. */
void bed_compile(struct bed *bed, struct bed_instance *instances, size_t count);

/* Poison the slots; before what bed_launch fills. */
void bed_begin(struct bed *bed);
/* Enqueue. before: NULL, or what out holds for RTUNE_ACCUMULATE; then it must have been put into
 * the slot by bed_before. args: in, in2, scale. */
void bed_before(struct bed *bed, size_t slot, const void *before, size_t size);
void bed_launch(struct bed *bed, const rtune_kernel *kernel, const struct bed_launch *launch,
                const struct rtune_args *args);
/* Wait and compare everything; the workspace must be as it was found. */
void bed_check(struct bed *bed, const struct rtune_config *config, const char *what);

#endif
