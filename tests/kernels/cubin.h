/* SPDX-License-Identifier: Apache-2.0 */
/* cubin.h: what a cubin says about a kernel, enough of it to see register spills. */
#ifndef RTUNE_TESTS_CUBIN_H
#define RTUNE_TESTS_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cubin_kernel {
    uint32_t frame; /* bytes of local memory per thread: spilled registers, or arrays in memory */
    uint64_t code;  /* bytes of machine code */
};

/* Look a kernel up by its entry point; false if the image is no cubin or has no such kernel. */
bool cubin_find(const void *image, size_t size, const char *name, struct cubin_kernel *kernel);

#endif
