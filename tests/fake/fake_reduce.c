/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_reduce.c: reductions, one element after the other, sharing no code with the
 * library's kernels. Floats are accumulated in long double and rounded once.
 */
#include "tests/fake/fake_int.h"

#include <math.h>
#include <string.h>

struct number {
    bool is_float, is_signed;
    long double f;
    uint64_t u; /* integers, sign-extended to 64 bits */
};

static struct number load(enum rtune_dtype dtype, const unsigned char *at) {
    struct number x = {.is_signed = true};
    int8_t i8;
    int16_t i16;
    int32_t i32;
    uint16_t u16;
    uint32_t u32;
    float f32;
    double f64;
    switch (dtype) {
    case RTUNE_I8:
        memcpy(&i8, at, 1), x.u = (uint64_t)i8;
        break;
    case RTUNE_U8:
        x.u = *at, x.is_signed = false;
        break;
    case RTUNE_I16:
        memcpy(&i16, at, 2), x.u = (uint64_t)i16;
        break;
    case RTUNE_U16:
        memcpy(&u16, at, 2), x.u = u16, x.is_signed = false;
        break;
    case RTUNE_I32:
        memcpy(&i32, at, 4), x.u = (uint64_t)i32;
        break;
    case RTUNE_U32:
        memcpy(&u32, at, 4), x.u = u32, x.is_signed = false;
        break;
    case RTUNE_I64:
        memcpy(&x.u, at, 8);
        break;
    case RTUNE_U64:
        memcpy(&x.u, at, 8), x.is_signed = false;
        break;
    case RTUNE_F32:
        memcpy(&f32, at, 4), x.f = f32, x.is_float = true;
        break;
    case RTUNE_F64:
        memcpy(&f64, at, 8), x.f = f64, x.is_float = true;
        break;
    default:
        break; /* no name says the others */
    }
    return x;
}

static size_t store(enum rtune_dtype dtype, const struct number *x, unsigned char *at) {
    static const size_t bytes[RTUNE_DTYPE_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    const uint32_t nan32 = UINT32_C(0x7fc00000);
    const uint64_t nan64 = UINT64_C(0x7ff8000000000000);
    float f32 = (float)x->f;
    double f64 = (double)x->f;
    if (dtype == RTUNE_F32)
        memcpy(at, isnan(x->f) ? (const void *)&nan32 : &f32, 4);
    else if (dtype == RTUNE_F64)
        memcpy(at, isnan(x->f) ? (const void *)&nan64 : &f64, 8);
    else
        memcpy(at, &x->u, bytes[dtype]); /* little-endian: the low bytes are the value mod 2^bits */
    return bytes[dtype];
}

static bool below(const struct number *a, const struct number *b) {
    if (a->is_float) return a->f < b->f || (a->f == b->f && signbit(a->f) && !signbit(b->f));
    return a->is_signed ? (int64_t)a->u < (int64_t)b->u : a->u < b->u;
}

static struct number extreme(const struct fake_shape *shape, const struct number *a,
                             const struct number *b) {
    if (a->is_float && (isnan(a->f) || isnan(b->f))) {
        bool first = isnan(a->f) == (shape->nan_rule == RTUNE_NAN_PROPAGATE);
        return first ? *a : *b;
    }
    return below(a, b) == (shape->op == RTUNE_MIN) ? *a : *b;
}

static struct number combine(const struct fake_shape *shape, const struct number *a,
                             const struct number *b) {
    struct number r = *a;
    if (shape->op == RTUNE_MIN || shape->op == RTUNE_MAX) return extreme(shape, a, b);
    if (shape->op == RTUNE_SUM)
        r.f = a->f + b->f, r.u = a->u + b->u;
    else
        r.f = a->f * b->f, r.u = a->u * b->u;
    return r;
}

static enum rtune_dtype result_type(const struct fake_shape *shape) {
    if (shape->op == RTUNE_MIN || shape->op == RTUNE_MAX || shape->acc == RTUNE_NATIVE)
        return shape->dtype;
    switch (shape->dtype) {
    case RTUNE_I8:
    case RTUNE_I16:
    case RTUNE_I32:
    case RTUNE_I64:
        return RTUNE_I64;
    case RTUNE_F32:
    case RTUNE_F64:
        return shape->dtype;
    default:
        return RTUNE_U64;
    }
}

static size_t stride(enum rtune_dtype dtype) {
    unsigned char scratch[8];
    struct number zero = {0};
    return store(dtype, &zero, scratch);
}

/* What the kernels' contract says of a workspace between launches. */
static bool workspace_clean(const struct rtune_kernel_args *args) {
    const unsigned char *at = args->workspace;
    size_t bytes = RTUNE_WORKSPACE_HEADER + (size_t)RTUNE_GRID_MAX * RTUNE_WORKSPACE_SLOT;
    return at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0;
}

static void spoil(unsigned char *out, size_t size, enum rtune_dtype dtype) {
    out[dtype == RTUNE_F32 || dtype == RTUNE_F64 ? size - 2 : 0] ^= 1; /* a visible error */
}

/* Reduce all elements, or remember having done so; false if there are none and the op has no
 * identity. */
static bool reduce(const struct fake_shape *shape, const struct rtune_kernel_args *args,
                   struct number *total) {
    const unsigned char *in = args->in;
    size_t step = stride(shape->dtype), size = (size_t)args->n * step;
    enum rtune_dtype result = result_type(shape);
    unsigned char bytes[8] = {0};
    bool has_value = shape->op == RTUNE_SUM || shape->op == RTUNE_PROD;
    *total = load(shape->dtype, bytes);
    if (shape->op == RTUNE_PROD) total->f = 1, total->u = 1;
    if (fake_memo_find(shape, in, size, bytes)) {
        *total = load(result, bytes);
        return true;
    }
    for (uint64_t i = 0; i < args->n; i++) {
        struct number x = load(shape->dtype, in + i * step);
        *total = has_value ? combine(shape, total, &x) : x;
        has_value = true;
    }
    (void)store(result, total, bytes);
    if (args->n > 0) fake_memo_keep(shape, in, size, bytes);
    *total = load(result, bytes);
    return has_value;
}

void fake_run_reduction(struct fake_context *context, const struct fake_op *op) {
    const struct fake_shape *shape = &op->function->shape;
    struct rtune_kernel_args args;
    struct number total;
    memcpy(&args, op->params, sizeof args);
    enum rtune_dtype result = result_type(shape);
    unsigned char *out = args.out;
    size_t size = stride(result);
    if (shape->finish != RTUNE_FINISH_ONE && !workspace_clean(&args)) {
        fake_problem("%s: the workspace is not zeroed", op->function->name);
        context->broken = CUDA_ERROR_ILLEGAL_ADDRESS;
        return;
    }
    if (op->function->fault == FAKE_SKIP) return;
    bool has_value = reduce(shape, &args, &total);
    if (!has_value || !fake_memory_valid(context, out, size)) {
        fake_problem("%s: %s", op->function->name,
                     has_value ? "the output leaves its allocation" : "launched for no elements");
        context->broken = CUDA_ERROR_ILLEGAL_ADDRESS;
        return;
    }
    if (args.flags & RTUNE_ACCUMULATE) {
        struct number before = load(result, out);
        total = combine(shape, &before, &total);
    }
    (void)store(result, &total, out);
    if (op->function->fault == FAKE_WRONG) spoil(out, size, result);
    fake_written(out, size);
    if (shape->finish == RTUNE_FINISH_LAST) /* partials hold garbage between launches */
        memset((unsigned char *)args.workspace + RTUNE_WORKSPACE_HEADER +
                   (size_t)RTUNE_GRID_MAX * RTUNE_WORKSPACE_SLOT,
               0xcd, (size_t)op->grid * RTUNE_WORKSPACE_PARTIAL);
    fake_touch(context->device, args.in, (size_t)args.n * stride(shape->dtype), false);
}
