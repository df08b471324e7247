/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c: the device headers as they were at build time, for programs compiled at run time. */
#include "kernels/kernels.h"

#include "base/num.h"

/* Made by rtune_embed in CMakeLists.txt; each ends in a NUL. */
extern const char rtune_source_abi[], rtune_source_ptx[], rtune_source_ops[],
    rtune_source_cascade[];

static const struct rtune_source_file files[] = {
    {"kernels/device/abi.cuh", rtune_source_abi},
    {"kernels/device/ptx.cuh", rtune_source_ptx},
    {"kernels/device/ops.cuh", rtune_source_ops},
    {"kernels/device/cascade.cuh", rtune_source_cascade},
};

const struct rtune_source_file *rtune_device_sources(size_t *count) {
    *count = RTUNE_ARRAY_SIZE(files);
    return files;
}
