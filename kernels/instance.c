/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance.c: kernel instances as names and as program text. The text names the policies of
 * kernels/device/ops.cuh and kernels/device/cascade.cuh; it is the same for the built-in kernels
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
_Static_assert(offsetof(struct rtune_kernel_args, reserved) == 44, "args layout");
_Static_assert(offsetof(struct rtune_kernel_args, scale) == 48, "args layout");

enum { SOURCE_MAX = 4 << 20 }; /* bytes of one program */

/* Policy template of an op, by NaN rule; NULL where no kernel exists. */
static const char *const policies[RTUNE_OP_COUNT][RTUNE_NAN_COUNT] = {
    [RTUNE_SUM] = {"op_sum", NULL},
    [RTUNE_PROD] = {"op_prod", NULL},
    [RTUNE_MIN] = {"op_min", "op_min_ignore"},
    [RTUNE_MAX] = {"op_max", "op_max_ignore"},
};

static uint32_t vectors_of(const struct rtune_problem *problem, const struct rtune_config *config) {
    return config->items * (uint32_t)rtune_dtype_size(problem->dtype) / RTUNE_VECTOR_BYTES;
}

void rtune_instance_name(const struct rtune_problem *problem, const struct rtune_config *config,
                         char name[RTUNE_INSTANCE_NAME]) {
    const struct rtune_problem p = rtune_problem_canonical(problem);
    snprintf(name, RTUNE_INSTANCE_NAME, "rtune_%s_%s_%s_%s_%s_b%u_v%u_%s_%s_%s_o%u",
             rtune_op_name(p.op), rtune_dtype_name(p.dtype), rtune_acc_name(p.acc),
             rtune_mode_name(p.mode), rtune_nan_name(p.nan_rule), (unsigned)config->block,
             (unsigned)vectors_of(&p, config), rtune_load_name(config->load),
             rtune_finish_name(config->finish), rtune_map_name(config->map),
             (unsigned)config->occupancy);
}

static enum rtune_status add_entry(struct rtune_buf *buf, const struct rtune_problem *problem,
                                   const struct rtune_config *config, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char name[RTUNE_INSTANCE_NAME], bounds[32];
    TRY(rtune_problem_check(problem, err));
    TRY(rtune_config_check(config, problem->dtype, err));
    if (config->block == 1)
        TRY(rtune_err_set(err, RTUNE_INVALID,
                          "instance: block=1 is a cpu config, which has no program"));

    const struct rtune_problem p = rtune_problem_canonical(problem);
    rtune_instance_name(&p, config, name);
    if (config->occupancy)
        snprintf(bounds, sizeof bounds, "%u, %u", (unsigned)config->block,
                 (unsigned)config->occupancy);
    else
        snprintf(bounds, sizeof bounds, "%u", (unsigned)config->block);
    rtune_buf_printf(
        buf,
        "extern \"C\" __global__ void __launch_bounds__(%s)\n%s(const rtune::args a) {\n"
        "    rtune::cascade<rtune::%s<rtune::%s, rtune::%s>,\n"
        "        rtune::policy<%u, %u, rtune::load_kind::%s, rtune::finish_kind::%s, "
        "rtune::map_kind::%s>>(a);\n}\n",
        bounds, name, policies[p.op][p.nan_rule], rtune_dtype_name(p.dtype),
        rtune_dtype_name(rtune_result_dtype(&p)), (unsigned)config->block,
        (unsigned)vectors_of(&p, config), rtune_load_name(config->load),
        rtune_finish_name(config->finish), rtune_map_name(config->map));
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
    rtune_buf_puts(&buf, "#include \"kernels/device/cascade.cuh\"\n");
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
