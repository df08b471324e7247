/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_support.c: launches of the tuner's support kernels (kernels/device/support.cuh).
 */
#include "tests/fake/fake_int.h"

static bool reachable(struct fake_context *context, const struct fake_op *op, const void *from,
                      size_t size) {
    if (size == 0 || fake_memory_valid(context, from, size)) return true;
    fake_problem("%s: an argument leaves its allocation", op->function->name);
    context->broken = CUDA_ERROR_ILLEGAL_ADDRESS;
    return false;
}

void fake_run_support(struct fake_context *context, const struct fake_op *op) {
    const struct fake_shape *shape = &op->function->shape;
    struct fake_support_call call;
    fake_support_describe(shape->support, op->params, &call);
    if (shape->support == FAKE_SUPPORT_READ && ((uintptr_t)call.in % 16 || call.in_bytes % 16))
        fake_problem("%s: not aligned to 16", op->function->name);
    if (!reachable(context, op, call.in, call.in_bytes) ||
        !reachable(context, op, call.out, call.out_bytes) || op->function->fault == FAKE_SKIP)
        return;
    fake_support_do(shape->support, op->params);
    if (call.out_bytes) {
        fake_written(call.out, call.out_bytes);
        fake_touch(context->device, call.out, call.out_bytes, true);
    }
    if (call.in_bytes) fake_touch(context->device, call.in, call.in_bytes, false);
}
