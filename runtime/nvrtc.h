/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/nvrtc.h: kernel instances to cubins, by an NVRTC opened at run time. Needs no GPU.
 *
 * NVRTC 13.0 itself opens the driver, where there is one, and initialises it in its first compile;
 * so a process that has compiled cannot use CUDA in a child that it forks without exec.
 */
#ifndef RTUNE_RUNTIME_NVRTC_H
#define RTUNE_RUNTIME_NVRTC_H

#include "kernels/kernels.h"

#include <stdatomic.h>

typedef struct rtune_nvrtc rtune_nvrtc;

/* Open NVRTC (>= 12.4): the library path, then CUDA_HOME, CUDA_PATH and /usr/local/cuda. NOT_FOUND
 * says what was looked for. */
enum rtune_status rtune_nvrtc_open(rtune_nvrtc **nvrtc, struct rtune_error *err);
void rtune_nvrtc_close(rtune_nvrtc *nvrtc);
/* "13.0" */
const char *rtune_nvrtc_version(const rtune_nvrtc *nvrtc);

struct rtune_compiled {
    struct rtune_problem problem;
    struct rtune_config config;
    void *image; /* cubin; NULL if it failed */
    size_t size;
    struct rtune_error error; /* COMPILE, with the first lines of the log */
};

/* Compile one job on the calling thread: fills image, size and error. The caller frees the image
 * with free(). Several threads may compile at once with the same handle. */
void rtune_nvrtc_compile_one(const rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                             struct rtune_compiled *job);

/* Compile jobs[0 .. count): fills image, size and error of each. Runs on threads host threads (0:
 * as many as the process may use). stop, if not NULL, is polled between jobs; when it becomes true
 * the rest fail with INTERRUPTED. The caller frees every image with free(). Fails itself only for
 * lack of memory. */
enum rtune_status rtune_nvrtc_compile(rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                                      struct rtune_compiled *jobs, size_t count, uint32_t threads,
                                      const atomic_bool *stop, struct rtune_error *err);

#endif /* RTUNE_RUNTIME_NVRTC_H */
