/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_reduce.c: reductions by their definitions (tests/reference), which share no code
 * with the library's kernels.
 */
#include "tests/fake/fake_int.h"
#include "tests/reference/element.h"
#include "tests/reference/reference.h"

#include <string.h>

/* What the kernels' contract says of a workspace between launches. */
static bool workspace_clean(const struct rtune_kernel_args *args) {
    const unsigned char *at = args->workspace;
    size_t bytes = RTUNE_WORKSPACE_HEADER + (size_t)RTUNE_GRID_MAX * RTUNE_WORKSPACE_SLOT;
    return at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0;
}

static void spoil(unsigned char *out, size_t size, enum rtune_dtype dtype) {
    out[element_is_float(dtype) && size >= 4 ? size - 2 : 0] ^= 1; /* a visible error */
}

static struct rtune_problem problem_of(const struct fake_shape *shape, uint64_t n, uint32_t flags) {
    struct rtune_problem p = RTUNE_PROBLEM(shape->op, shape->dtype, n);
    p.flags = flags & RTUNE_ROOT;
    p.acc = shape->acc;
    p.mode = shape->mode;
    p.nan_rule = shape->nan_rule;
    return p;
}

size_t fake_result_bytes(const struct fake_shape *shape) {
    const struct rtune_problem p = problem_of(shape, 1, 0);
    return reference_size(&p);
}

/* A sum that rounds: the middle of what it may be. */
static void choose_value(const struct fake_shape *shape, struct reference_result *result) {
    if (result->exact || result->open) return;
    uint64_t bits = element_round(shape->result, result->low / 2 + result->high / 2);
    memcpy(result->bytes, &bits, result->size);
    result->exact = true;
}

/* Reduce all elements, or remember having done so. */
static void reduce(const struct fake_shape *shape, const struct rtune_kernel_args *args,
                   struct reference_result *result) {
    struct rtune_problem p = problem_of(shape, args->n, args->flags);
    size_t size = (size_t)args->n * element_size(shape->dtype);
    struct rtune_args inputs = RTUNE_ARGS(args->in, NULL);
    inputs.in2 = args->in2;
    inputs.scale = args->scale;
    memset(result, 0, sizeof *result);
    result->size = reference_size(&p);
    result->exact = true;
    if (fake_memo_find(shape, args, size, result->bytes)) return;
    reference_compute(&p, &inputs, result);
    choose_value(shape, result);
    if (args->n > 0) fake_memo_keep(shape, args, size, result->bytes);
}

static void give_up(struct fake_context *context, const struct fake_op *op, const char *why) {
    fake_problem("%s: %s", op->function->name, why);
    context->broken = CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* All that the launch read. */
static void touch(struct fake_context *context, const struct fake_shape *shape,
                  const struct rtune_kernel_args *args) {
    size_t size = (size_t)args->n * element_size(shape->dtype);
    fake_touch(context->device, args->in, size, false);
    if (shape->op == RTUNE_DOT) fake_touch(context->device, args->in2, size, false);
}

void fake_run_reduction(struct fake_context *context, const struct fake_op *op) {
    const struct fake_shape *shape = &op->function->shape;
    struct rtune_kernel_args args;
    struct reference_result result;
    memcpy(&args, op->params, sizeof args);
    struct rtune_problem p = problem_of(shape, args.n, args.flags);
    unsigned char *out = args.out;
    if (shape->finish != RTUNE_FINISH_ONE && !workspace_clean(&args)) {
        give_up(context, op, "the workspace is not zeroed");
        return;
    }
    if (shape->op == RTUNE_DOT && args.n > 0 &&
        !fake_memory_valid(context, args.in2, (size_t)args.n * element_size(shape->dtype))) {
        give_up(context, op, "the second input leaves its allocation");
        return;
    }
    if (op->function->fault == FAKE_SKIP) return;
    reduce(shape, &args, &result);
    if (result.empty || !fake_memory_valid(context, out, result.size)) {
        give_up(context, op,
                result.empty ? "launched for no elements" : "the output leaves its allocation");
        return;
    }
    if (args.flags & RTUNE_ACCUMULATE) {
        reference_accumulate(&p, out, &result);
        choose_value(shape, &result);
    }
    memcpy(out, result.bytes, result.size);
    if (op->function->fault == FAKE_WRONG) spoil(out, result.size, shape->dtype);
    fake_written(out, result.size);
    if (shape->finish == RTUNE_FINISH_LAST) /* partials hold garbage between launches */
        memset((unsigned char *)args.workspace + RTUNE_WORKSPACE_HEADER +
                   (size_t)RTUNE_GRID_MAX * RTUNE_WORKSPACE_SLOT,
               0xcd, (size_t)op->grid * RTUNE_WORKSPACE_PARTIAL);
    touch(context, shape, &args);
}
