/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_kernel.c: what a kernel's name says, what its arguments must be, and how it
 * misbehaves when told to.
 */
#include "tests/fake/fake_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

struct word {
    const char *text;
    int value;
};

static const struct word op_words[] = {{"sum", RTUNE_SUM},
                                       {"sumsq", RTUNE_SUMSQ},
                                       {"asum", RTUNE_ASUM},
                                       {"dot", RTUNE_DOT},
                                       {"prod", RTUNE_PROD},
                                       {"min", RTUNE_MIN},
                                       {"max", RTUNE_MAX},
                                       {"minmax", RTUNE_MINMAX},
                                       {"argmin", RTUNE_ARGMIN},
                                       {"argmax", RTUNE_ARGMAX},
                                       {"any", RTUNE_ANY},
                                       {"all", RTUNE_ALL},
                                       {"band", RTUNE_BAND},
                                       {"bor", RTUNE_BOR},
                                       {"bxor", RTUNE_BXOR},
                                       {"count_nonzero", RTUNE_COUNT_NONZERO},
                                       {NULL, 0}};
static const struct word dtype_words[] = {
    {"i8", RTUNE_I8},   {"u8", RTUNE_U8},     {"i16", RTUNE_I16}, {"u16", RTUNE_U16},
    {"i32", RTUNE_I32}, {"u32", RTUNE_U32},   {"i64", RTUNE_I64}, {"u64", RTUNE_U64},
    {"f16", RTUNE_F16}, {"bf16", RTUNE_BF16}, {"f32", RTUNE_F32}, {"f64", RTUNE_F64},
    {NULL, 0}};
static const struct word mode_words[] = {{"kahan", RTUNE_KAHAN},
                                         {"reproducible", RTUNE_REPRODUCIBLE},
                                         {"fixed", RTUNE_FIXED},
                                         {NULL, 0}};
static const struct word nan_words[] = {{"ignore", RTUNE_NAN_IGNORE}, {NULL, 0}};
static const struct word variant_words[] = {
    {"cascaded", RTUNE_CASCADED}, {"bulk", RTUNE_BULK}, {NULL, 0}};
static const struct word load_words[] = {{"plain", RTUNE_LOAD_PLAIN},
                                         {"noncoherent", RTUNE_LOAD_NONCOHERENT},
                                         {"noallocate", RTUNE_LOAD_NOALLOCATE},
                                         {"evictfirst", RTUNE_LOAD_EVICTFIRST},
                                         {NULL, 0}};
static const struct word finish_words[] = {{"one", RTUNE_FINISH_ONE},
                                           {"slots", RTUNE_FINISH_SLOTS},
                                           {"last", RTUNE_FINISH_LAST},
                                           {"packed", RTUNE_FINISH_PACKED},
                                           {"two_kernels", RTUNE_FINISH_TWO_KERNELS},
                                           {"dependent", RTUNE_FINISH_DEPENDENT},
                                           {"cluster", RTUNE_FINISH_CLUSTER},
                                           {"grid_sync", RTUNE_FINISH_GRID_SYNC},
                                           {"atomic", RTUNE_FINISH_ATOMIC},
                                           {NULL, 0}};
static const struct word map_words[] = {
    {"strip", RTUNE_MAP_STRIP}, {"chunk", RTUNE_MAP_CHUNK}, {NULL, 0}};

/* The word that *text begins with, up to a '_' or the end (some have one inside); -1 if none. */
static int take_word(const char **text, const struct word *words) {
    for (; words->text; words++) {
        const size_t length = strlen(words->text);
        if (strncmp(words->text, *text, length) != 0) continue;
        if ((*text)[length] != '_' && (*text)[length] != '\0') continue;
        *text += length + ((*text)[length] == '_');
        return words->value;
    }
    return -1;
}

/* "b256": a letter and a number; -1 if it is not there. */
static long take_number(const char **text, char letter) {
    char *end;
    if ((*text)[0] != letter || (*text)[1] < '0' || (*text)[1] > '9') return -1;
    long value = strtol(*text + 1, &end, 10);
    if (*end != '_' && *end != '\0') return -1;
    *text = *end ? end + 1 : end;
    return value;
}

/* "_cascaded4" or "_bulk3" at the end of a name: a variant and what is extra; neither for most. */
static bool take_extra(const char *text, struct fake_shape *shape) {
    for (const struct word *w = variant_words; *text && w->text; w++) {
        const size_t length = strlen(w->text);
        if (strncmp(w->text, text, length) != 0) continue;
        shape->variant = (enum rtune_variant)w->value;
        shape->extra = (unsigned)strtoul(text + length, NULL, 10);
        return strspn(text + length, "0123456789") == strlen(text + length);
    }
    return *text == '\0';
}

static size_t element_bytes(enum rtune_dtype dtype) {
    static const size_t bytes[RTUNE_DTYPE_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return bytes[dtype];
}

/* A signed type's kernel may say that its result is unsigned, since the bits are the same. */
static bool is_native(enum rtune_dtype dtype, enum rtune_dtype result) {
    return element_bytes(dtype) == element_bytes(result) &&
           (dtype >= RTUNE_F16) == (result >= RTUNE_F16);
}

/* rtune_<op>[_<mode>|_ignore]_<type of elements>_<type of the result>_b<block>_v<vectors>_<load>_
 * <finish>_<map>_o<occupancy>[_<variant><extra>] */
static bool parse_reduction(const char *text, struct fake_shape *shape) {
    int op = take_word(&text, op_words);
    int mode = take_word(&text, mode_words), nan_rule = take_word(&text, nan_words);
    int dtype = take_word(&text, dtype_words), result = take_word(&text, dtype_words);
    long block = take_number(&text, 'b'), vectors = take_number(&text, 'v');
    int load = take_word(&text, load_words), finish = take_word(&text, finish_words);
    int map = take_word(&text, map_words);
    long resident = take_number(&text, 'o');
    if (op < 0 || dtype < 0 || result < 0 || block < 1 || vectors < 1 || load < 0 || finish < 0 ||
        map < 0 || resident < 0 || !take_extra(text, shape))
        return false;
    shape->reduction = true;
    shape->op = (enum rtune_op)op;
    shape->dtype = (enum rtune_dtype)dtype;
    shape->result = (enum rtune_dtype)result;
    shape->acc = is_native(shape->dtype, shape->result) ? RTUNE_NATIVE : RTUNE_WIDE;
    shape->mode = mode < 0 ? RTUNE_PLAIN : (enum rtune_mode)mode;
    shape->nan_rule = nan_rule < 0 ? RTUNE_NAN_PROPAGATE : (enum rtune_nan)nan_rule;
    shape->block = (unsigned)block;
    shape->vectors = (unsigned)vectors;
    shape->load = (enum rtune_load)load;
    shape->finish = (enum rtune_finish)finish;
    shape->map = (enum rtune_map)map;
    shape->occupancy = (unsigned)resident;
    shape->param_bytes = sizeof(struct rtune_kernel_args);
    return true;
}

static bool parse_support(const char *text, struct fake_shape *shape) {
    static const struct word kinds[] = {
        {"fill", FAKE_SUPPORT_FILL},   {"reference", FAKE_SUPPORT_REFERENCE},
        {"read", FAKE_SUPPORT_READ},   {"spin", FAKE_SUPPORT_SPIN},
        {"empty", FAKE_SUPPORT_EMPTY}, {NULL, 0}};
    int kind = take_word(&text, kinds);
    if (kind < 0 || *text) return false;
    shape->support = (enum fake_support_kind)kind;
    shape->param_bytes = fake_support_param_bytes(shape->support);
    return shape->param_bytes <= FAKE_PARAM_MAX;
}

bool fake_shape_parse(const char *name, struct fake_shape *shape) {
    memset(shape, 0, sizeof *shape);
    if (strncmp(name, "rtune_support_", 14) == 0) return parse_support(name + 14, shape);
    return strncmp(name, "rtune_", 6) == 0 && parse_reduction(name + 6, shape);
}

/* ---- launches -------------------------------------------------------------------------------- */

static const char *argument_problem(const struct fake_context *context,
                                    const struct fake_shape *shape,
                                    const struct rtune_kernel_args *args) {
    size_t element = element_bytes(shape->dtype), result = fake_result_bytes(shape);
    size_t workspace = RTUNE_WORKSPACE_HEADER +
                       (size_t)RTUNE_GRID_MAX * (RTUNE_WORKSPACE_SLOT + RTUNE_WORKSPACE_PARTIAL);
    if ((uintptr_t)args->in % element != 0) return "the input is not aligned to its element";
    if (args->n > SIZE_MAX / element ||
        (args->n > 0 && !fake_memory_valid(context, args->in, (size_t)args->n * element)))
        return "the input leaves its allocation";
    if ((uintptr_t)args->out % (result < 8 ? result : 8) != 0 ||
        !fake_memory_valid(context, args->out, result))
        return "the output is not device memory, or not aligned";
    if (shape->finish == RTUNE_FINISH_ONE) return NULL;
    if (!args->workspace || (uintptr_t)args->workspace % 256 != 0)
        return "the workspace is NULL or not aligned to 256";
    if (!fake_memory_valid(context, args->workspace, workspace))
        return "the workspace leaves its allocation";
    return NULL;
}

CUresult fake_launch_check(const struct fake_stream *stream, const struct fake_op *op) {
    const struct fake_shape *shape = &op->function->shape;
    struct rtune_kernel_args args;
    if (!shape->reduction) return CUDA_SUCCESS;
    if (op->block != shape->block) {
        fake_problem("%s: launched with %u threads a block", op->function->name, op->block);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (op->grid > RTUNE_GRID_MAX ||
        ((shape->finish == RTUNE_FINISH_ONE || shape->second) && op->grid != 1)) {
        fake_problem("%s: launched with %u blocks", op->function->name, op->grid);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((op->cluster > 0) != (shape->finish == RTUNE_FINISH_CLUSTER) ||
        op->cooperative != (shape->finish == RTUNE_FINISH_GRID_SYNC) ||
        op->dependent != (shape->finish == RTUNE_FINISH_DEPENDENT && shape->second)) {
        fake_problem("%s: launched without what its finish needs, or with more",
                     op->function->name);
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(&args, op->params, sizeof args);
    if (args.partials < 1 || args.partials > RTUNE_GRID_MAX ||
        (!shape->second && args.partials != op->grid)) {
        fake_problem("%s: told of %u blocks", op->function->name, (unsigned)args.partials);
        return CUDA_ERROR_INVALID_VALUE;
    }
    const char *problem = argument_problem(stream->context, shape, &args);
    if (!problem) return CUDA_SUCCESS;
    fake_problem("%s: %s", op->function->name, problem);
    stream->context->broken = CUDA_ERROR_ILLEGAL_ADDRESS; /* seen by the next call, as on a GPU */
    return CUDA_SUCCESS;
}

/* Of two kernels the first leaves word of how many partials it wrote, the second looks for it,
 * takes it away and reduces. */
static bool is_first_of_two(struct fake_context *context, const struct fake_op *op) {
    const struct fake_shape *shape = &op->function->shape;
    const uint64_t magic = UINT64_C(0x5a5a7061727469a1);
    struct rtune_kernel_args args;
    uint64_t word[2] = {0, 0};
    if (!shape->reduction ||
        (shape->finish != RTUNE_FINISH_TWO_KERNELS && shape->finish != RTUNE_FINISH_DEPENDENT))
        return false;
    memcpy(&args, op->params, sizeof args);
    unsigned char *partials = (unsigned char *)args.workspace + RTUNE_WORKSPACE_HEADER +
                              (size_t)RTUNE_GRID_MAX * RTUNE_WORKSPACE_SLOT;
    if (shape->second) memcpy(word, partials, sizeof word);
    if (shape->second && (word[0] != magic || word[1] != args.partials)) {
        fake_problem("%s: there are no %u partials", op->function->name, (unsigned)args.partials);
        context->broken = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    memset(partials, 0xcd, (size_t)op->grid * RTUNE_WORKSPACE_PARTIAL);
    if (shape->second) return false;
    word[0] = magic, word[1] = op->grid;
    memcpy(partials, word, sizeof word);
    return true;
}

void fake_run_launch(struct fake_context *context, const struct fake_op *op, double *us) {
    enum fake_fault fault = op->function->fault;
    fake.launches++;
    if (fault == FAKE_TRAP) {
        context->broken = CUDA_ERROR_ILLEGAL_INSTRUCTION;
        return;
    }
    *us = fake_launch_us(context->device, op); /* first: by what L2 holds before it */
    if (is_first_of_two(context, op)) return;
    if (op->function->shape.reduction)
        fake_run_reduction(context, op);
    else
        fake_run_support(context, op);
}
