/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c: the device headers as they were at build time, for programs compiled at run time. */
#include "kernels/kernels.h"

#include "base/num.h"

/* Made by rtune_embed in CMakeLists.txt; each ends in a NUL. */
extern const char rtune_source_abi[];
extern const char rtune_source_ptx[];
extern const char rtune_source_ptx_math[];
extern const char rtune_source_types[];
extern const char rtune_source_op_sum[];
extern const char rtune_source_op_order[];
extern const char rtune_source_op_modes[];
extern const char rtune_source_cascade[];
extern const char rtune_source_arg[];
extern const char rtune_source_leaves[];
extern const char rtune_source_finish[];
extern const char rtune_source_hopper[];
extern const char rtune_source_kernel[];

static const struct rtune_source_file files[] = {
    {"kernels/device/abi.cuh", rtune_source_abi},
    {"kernels/device/ptx.cuh", rtune_source_ptx},
    {"kernels/device/ptx_math.cuh", rtune_source_ptx_math},
    {"kernels/device/types.cuh", rtune_source_types},
    {"kernels/device/op_sum.cuh", rtune_source_op_sum},
    {"kernels/device/op_order.cuh", rtune_source_op_order},
    {"kernels/device/op_modes.cuh", rtune_source_op_modes},
    {"kernels/device/cascade.cuh", rtune_source_cascade},
    {"kernels/device/arg.cuh", rtune_source_arg},
    {"kernels/device/leaves.cuh", rtune_source_leaves},
    {"kernels/device/finish.cuh", rtune_source_finish},
    {"kernels/device/hopper.cuh", rtune_source_hopper},
    {"kernels/device/kernel.cuh", rtune_source_kernel},
};

const struct rtune_source_file *rtune_device_sources(size_t *count) {
    *count = RTUNE_ARRAY_SIZE(files);
    return files;
}
