/* SPDX-License-Identifier: Apache-2.0 */
/* rig.c: what rigs of all devices have in common: their memory and plain launches. */
#include "tuner/rig.h"

#include "base/num.h"

#include <stdlib.h>

enum { ALIGNED = 256 };

static enum rtune_status allocate(rtune_rig *rig, uint64_t input_bytes, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_device_ops *ops = rig->dev->ops;
    void *input = NULL, *output = NULL;
    if (input_bytes > SIZE_MAX / 2)
        return rtune_err_set(err, RTUNE_RANGE, "input: too large for this machine");
    uint64_t half = rtune_ceil_div(input_bytes, 2 * ALIGNED) * ALIGNED + RTUNE_RIG_SLACK;
    TRY(ops->mem_alloc(rig->dev, (size_t)(2 * half), &input, err));
    rig->input = input;
    rig->second = rig->input + half;
    rig->input_bytes = 2 * half;
    TRY(ops->mem_alloc(rig->dev, RTUNE_RIG_OUTPUTS * RTUNE_RIG_OUTPUT_STRIDE, &output, err));
    rig->output = output;
    TRY(ops->mem_alloc(rig->dev, rtune_workspace_bytes(), &rig->workspace, err));
    TRY(ops->mem_set(rig->dev, rig->workspace, 0, rtune_workspace_bytes(), rig->stream, err));
    TRY(rtune_rig_wait(rig, err));
done:
    return status;
}

enum rtune_status rtune_rig_open(rtune_device *dev, uint64_t input_bytes, uint64_t seed,
                                 rtune_rig **rig, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune_rig *made = NULL;
    TRY(dev->cuda ? rtune_rig_make_cuda(dev, &made, err) : rtune_rig_make_cpu(dev, &made, err));
    made->seed = seed;
    TRY(allocate(made, input_bytes, err));
    *rig = made;
    made = NULL;
done:
    rtune_rig_close(made);
    return status;
}

void rtune_rig_close(rtune_rig *rig) {
    if (rig == NULL) return;
    const struct rtune_device_ops *ops = rig->dev->ops;
    if (rig->input != NULL) ops->mem_free(rig->dev, rig->input);
    if (rig->output != NULL) ops->mem_free(rig->dev, rig->output);
    if (rig->workspace != NULL) ops->mem_free(rig->dev, rig->workspace);
    rig->ops->close(rig);
}

uint64_t rtune_rig_pair_room(const rtune_rig *rig) {
    return (uint64_t)(rig->second - rig->input) - RTUNE_RIG_SLACK;
}

void *rtune_rig_output(const rtune_rig *rig, uint32_t output) {
    return rig->output + (size_t)output * RTUNE_RIG_OUTPUT_STRIDE;
}

enum rtune_status rtune_rig_launch(rtune_rig *rig, const struct rtune_shot *shot,
                                   struct rtune_error *err) {
    uint64_t size = rtune_dtype_size(shot->dtype);
    struct rtune_launch_request request = {
        .args = {.in = rig->input + shot->first * size,
                 .in2 = shot->pair ? rig->second + shot->first2 * size : NULL,
                 .out = rtune_rig_output(rig, shot->output),
                 .workspace = rig->workspace,
                 .n = shot->n,
                 .scale = rtune_data_scale()},
        .grid = shot->grid,
        .stream = rig->stream,
    };
    return rig->dev->ops->launch(rig->dev, shot->kernel, &request, err);
}

enum rtune_status rtune_rig_wait(rtune_rig *rig, struct rtune_error *err) {
    return rig->dev->ops->stream_wait(rig->dev, rig->stream, err);
}
