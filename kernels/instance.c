/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance.c: kernel instances as names and as program text. The text names the policies of
 * kernels/device/op_*.cuh and kernels/device/cascade.cuh; it is the same for the built-in kernels
 * (nvcc) and the tuned ones (NVRTC).
 */
#include "kernels/kernels.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two layouts of one parameter. kernels/device/abi.cuh checks its side. */
_Static_assert(sizeof(struct rtune_kernel_args) == 56, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, in) == 0, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, in2) == 8, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, out) == 16, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, workspace) == 24, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, n) == 32, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, flags) == 40, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, partials) == 44, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, scale) == 48, "args layout");

enum { SOURCE_MAX = 4 << 20 }; /* bytes of one program */

/* ---- policies ----------------------------------------------------------------------------------
 */

/* The device's policy for a problem: a template of kernels/device/op_*.cuh, and its two types. */
struct policy {
    const char *op;
    const char *suffix;
    enum rtune_dtype in, result;
};

static const char *const mode_suffix[RTUNE_MODE_COUNT] = {
    [RTUNE_PLAIN] = "",
    [RTUNE_KAHAN] = "_kahan",
    [RTUNE_REPRODUCIBLE] = "_reproducible",
    [RTUNE_FIXED] = "_fixed",
};

static enum rtune_dtype unsigned_of(enum rtune_dtype dtype) {
    switch (rtune_dtype_info(dtype)->is_float ? 0 : rtune_dtype_size(dtype)) {
    case 1:
        return RTUNE_U8;
    case 2:
        return RTUNE_U16;
    case 4:
        return RTUNE_U32;
    case 8:
        return RTUNE_U64;
    default:
        return dtype;
    }
}

/* Modulo 2^bits, signs matter only where a narrow value becomes a wide one, and to magnitudes. */
static void share_sums(const struct rtune_problem *p, struct policy *policy) {
    const struct rtune_dtype_info *info = rtune_dtype_info(p->dtype);
    if (info->is_float) return;
    policy->result = unsigned_of(policy->result);
    if (p->op == RTUNE_ASUM && !info->is_signed) policy->op = rtune_op_name(RTUNE_SUM);
    if (p->op == RTUNE_ASUM && info->is_signed) return;
    if (rtune_dtype_size(policy->result) == info->size) policy->in = unsigned_of(p->dtype);
}

/* Problems whose arithmetic is the same to the bit get the same policy. */
static struct policy policy_of(const struct rtune_problem *p) {
    struct policy policy = {rtune_op_name(p->op), mode_suffix[p->mode], p->dtype,
                            rtune_result_dtype(p)};
    switch (p->op) {
    case RTUNE_SUM:
    case RTUNE_SUMSQ:
    case RTUNE_ASUM:
    case RTUNE_DOT:
    case RTUNE_PROD:
        share_sums(p, &policy);
        break;
    case RTUNE_ANY:
    case RTUNE_ALL:
    case RTUNE_COUNT_NONZERO:
    case RTUNE_BAND:
    case RTUNE_BOR:
    case RTUNE_BXOR:
        policy.in = unsigned_of(p->dtype);
        policy.result = unsigned_of(policy.result);
        break;
    default:
        if (p->nan_rule == RTUNE_NAN_IGNORE) policy.suffix = "_ignore";
        break;
    }
    return policy;
}

static uint32_t vectors_of(const struct rtune_problem *problem, const struct rtune_config *config) {
    return config->items * (uint32_t)rtune_dtype_size(problem->dtype) / RTUNE_VECTOR_BYTES;
}

void rtune_instance_name(const struct rtune_problem *problem, const struct rtune_config *config,
                         char name[RTUNE_INSTANCE_NAME]) {
    const struct rtune_problem p = rtune_problem_canonical(problem);
    const struct policy policy = policy_of(&p);
    char extra[32] = "";
    if (config->extra || config->variant != RTUNE_CASCADED)
        snprintf(extra, sizeof extra, "_%s%u", rtune_variant_name(config->variant),
                 (unsigned)config->extra);
    snprintf(name, RTUNE_INSTANCE_NAME, "rtune_%s%s_%s_%s_b%u_v%u_%s_%s_%s_o%u%s", policy.op,
             policy.suffix, rtune_dtype_name(policy.in), rtune_dtype_name(policy.result),
             (unsigned)config->block, (unsigned)vectors_of(&p, config),
             rtune_load_name(config->load), rtune_finish_name(config->finish),
             rtune_map_name(config->map), (unsigned)config->occupancy, extra);
}

static bool has_second(const struct rtune_config *config) {
    return config->finish == RTUNE_FINISH_TWO_KERNELS || config->finish == RTUNE_FINISH_DEPENDENT;
}

/* One entry point: attributes, name, body. */
static void print_entry(struct rtune_buf *buf, const char *bounds, const char *name,
                        const char *body, const char *types) {
    rtune_buf_printf(
        buf,
        "extern \"C\" __global__ void __launch_bounds__(%s)\n%s(const rtune::args a) {\n"
        "    rtune::%s<%s>(a);\n}\n",
        bounds, name, body, types);
}

static enum rtune_status add_entry(struct rtune_buf *buf, const struct rtune_problem *problem,
                                   const struct rtune_config *config, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char name[RTUNE_INSTANCE_NAME], second[RTUNE_INSTANCE_NAME + 2], bounds[32], types[320];
    TRY(rtune_problem_check(problem, err));
    TRY(rtune_instance_check(problem, config, err));
    if (config->block == 1)
        TRY(rtune_err_set(err, RTUNE_INVALID,
                          "instance: block=1 is a cpu config, which has no program"));

    const struct rtune_problem p = rtune_problem_canonical(problem);
    const struct policy policy = policy_of(&p);
    rtune_instance_name(&p, config, name);
    snprintf(second, sizeof second, "%s_2", name);
    snprintf(bounds, sizeof bounds, config->occupancy ? "%u, %u" : "%u", (unsigned)config->block,
             (unsigned)config->occupancy);
    snprintf(types, sizeof types,
             "rtune::op_%s%s<rtune::%s, rtune::%s>,\n"
             "        rtune::policy<rtune::variant_kind::%s, %u, %u, rtune::load_kind::%s, "
             "rtune::finish_kind::%s, rtune::map_kind::%s, %u>",
             policy.op, policy.suffix, rtune_dtype_name(policy.in), rtune_dtype_name(policy.result),
             rtune_variant_name(config->variant), (unsigned)config->block,
             (unsigned)vectors_of(&p, config), rtune_load_name(config->load),
             rtune_finish_name(config->finish), rtune_map_name(config->map),
             (unsigned)config->extra);
    print_entry(buf, bounds, name, "first_kernel", types);
    if (has_second(config)) print_entry(buf, bounds, second, "second_kernel", types);
done:
    return status;
}

/* Has an earlier instance the same entry point? A program may define it once. */
static bool is_repeated(const struct rtune_problem *problems, const struct rtune_config *configs,
                        size_t k) {
    char name[RTUNE_INSTANCE_NAME], other[RTUNE_INSTANCE_NAME];
    rtune_instance_name(&problems[k], &configs[k], name);
    for (size_t i = 0; i < k; i++) {
        rtune_instance_name(&problems[i], &configs[i], other);
        if (strcmp(name, other) == 0) return true;
    }
    return false;
}

enum rtune_status rtune_instance_source(const struct rtune_problem *problems,
                                        const struct rtune_config *configs, size_t count,
                                        char **source, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_buf buf;
    rtune_buf_init(&buf, SOURCE_MAX);
    rtune_buf_puts(&buf, "#include \"kernels/device/kernel.cuh\"\n");
    for (size_t k = 0; k < count; k++) {
        if (k > 0 && is_repeated(problems, configs, k)) continue;
        TRY(add_entry(&buf, &problems[k], &configs[k], err));
    }
    TRY(rtune_buf_status(&buf, err));
    *source = buf.data;
    rtune_buf_init(&buf, 0);
done:
    rtune_buf_free(&buf);
    return status;
}

void rtune_compile_options(int cc_major, int cc_minor, char arch[32], const char *options[8]) {
    static const char *const fixed[] = {
        "--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true",
    };
    size_t k = 0;
    snprintf(arch, 32, "--gpu-architecture=sm_%d%d", cc_major, cc_minor);
    options[k++] = arch;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        options[k++] = fixed[i];
    options[k] = NULL;
}
