/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/reduce.c: one reduction, from the caller's arguments to a launch. From the second call
 * for a problem on, this is a lookup, a kernel found by its key, a workspace found by its stream,
 * and one launch.
 */
#include "runtime/lookup.h"

#include "base/num.h"
#include "base/sized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---------------------------------------------------------------------------------
 */

static enum rtune_status check_input(const char *what, const void *in,
                                     const struct rtune_problem *problem, struct rtune_error *err) {
    const size_t size = rtune_dtype_size(problem->dtype);
    uint64_t bytes = 0;
    uint64_t end = 0;
    if (problem->n == 0) return RTUNE_OK;
    if (!in) return rtune_err_set(err, RTUNE_INVALID, "%s is NULL, and n is not 0", what);
    if ((uintptr_t)in % size != 0) {
        return rtune_err_set(err, RTUNE_INVALID, "%s: %p is not aligned to an element of %zu bytes",
                             what, in, size);
    }
    if (!rtune_mul_u64(problem->n, size, &bytes) || !rtune_add_u64((uintptr_t)in, bytes, &end) ||
        bytes > PTRDIFF_MAX) {
        return rtune_err_set(err, RTUNE_INVALID,
                             "%s: %llu elements of %zu bytes are more than there is of memory",
                             what, (unsigned long long)problem->n, size);
    }
    return RTUNE_OK;
}

static enum rtune_status check_workspace(const rtune *rt, const struct rtune_args *args,
                                         struct rtune_error *err) {
    const size_t need = rtune_workspace_size(rt);
    if (!args->workspace || need == 0) return RTUNE_OK;
    if (args->workspace_bytes < need) {
        return rtune_err_set(err, RTUNE_INVALID, "workspace: %zu bytes, but %zu are needed",
                             args->workspace_bytes, need);
    }
    if ((uintptr_t)args->workspace % RTUNE_WORKSPACE_ALIGN != 0) {
        return rtune_err_set(err, RTUNE_INVALID, "workspace: %p is not aligned to %d bytes",
                             args->workspace, RTUNE_WORKSPACE_ALIGN);
    }
    return RTUNE_OK;
}

enum rtune_status rtune_args_read(const rtune *rt, const struct rtune_problem *problem,
                                  const struct rtune_args *given, struct rtune_args *args,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (!rtune_sized_read(args, sizeof *args, given, RTUNE_SIZE_TO(struct rtune_args, launch))) {
        TRY(rtune_err_set(err, RTUNE_INVALID,
                          "rtune_args: struct_size is %zu, not %zu (start from RTUNE_ARGS)",
                          given->struct_size, sizeof *args));
    }
    if (args->launch) TRY(rtune_launch_check(args->launch, err));
    TRY(check_input("in", args->in, problem, err));
    if (problem->op == RTUNE_DOT) {
        TRY(check_input("in2", args->in2, problem, err));
    } else if (args->in2) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "in2: %s has one input (set it to NULL)",
                          rtune_op_name(problem->op)));
    }
    if (problem->mode == RTUNE_FIXED &&
        (!isfinite(args->scale) || fpclassify(args->scale) == FP_ZERO))
        TRY(rtune_err_set(err, RTUNE_INVALID, "scale: must be a finite number that is not 0"));
    if (!args->out) TRY(rtune_err_set(err, RTUNE_INVALID, "out is NULL"));
    const size_t align = rtune_min_u64(rtune_result_size(problem), 8);
    if ((uintptr_t)args->out % align != 0) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "out: %p is not aligned to %zu bytes", args->out,
                          align));
    }
    TRY(check_workspace(rt, args, err));
    if (problem->n == 0) {
        unsigned char identity[16];
        TRY(rtune_identity(problem, identity, err));
    }
done:
    return status;
}

/* ---- launch ------------------------------------------------------------------------------------
 */

enum rtune_status rtune_enqueue(rtune *rt, const struct rtune_enqueue *call,
                                struct rtune_error *err) {
    const struct rtune_launch_request request = {
        .args =
            {
                .in = call->args->in,
                .in2 = call->args->in2,
                .out = call->args->out,
                .workspace = call->workspace,
                .n = call->problem->n,
                .scale = call->args->scale,
                .flags = call->problem->flags & RTUNE_ARGUMENT_FLAGS,
            },
        .grid = call->grid,
        .stream = call->stream,
    };
    /* Nothing is added to out, not even a zero: -0.0 + 0.0 is another number. */
    if (call->problem->n == 0 && call->problem->flags & RTUNE_ACCUMULATE) return RTUNE_OK;
    return rt->dev->ops->launch(rt->dev, call->kernel, &request, err);
}

/* The kernel for a decision: a prepared one, or one prepared now, or in a capture the built-in one.
 * *why says why another than the one decided on serves, and stays NULL otherwise. */
static enum rtune_status find_kernel(rtune *rt, const struct rtune_index *index,
                                     const struct rtune_decision *d, bool capturing,
                                     const struct rtune_prepared **kernel, const char **why,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error failure = {0};
    const struct rtune_prepared *p = rtune_prepared_find(rt, index, &d->problem, &d->config);
    if (!p && !capturing && !rtune_prepared_full(rt)) {
        status = rtune_prepared_make(rt, index, d, 1, &failure);
        p = rtune_prepared_find(rt, index, &d->problem, &d->config);
    }
    if (!p) {
        p = rtune_prepared_builtin(rt, &d->problem);
        *why = capturing ? "built-in kernel: captured before it was prepared"
                         : "built-in kernel: no room to prepare another";
    }
    if (p) {
        *kernel = p;
        return RTUNE_OK;
    }
    if (status != RTUNE_OK) return rtune_err_set(err, status, "%s", failure.message);
    return rtune_err_set(
        err, RTUNE_DEVICE,
        "no kernel is ready while the stream captures (call rtune_prepare before)");
}

/* Launch with a workspace of the caller's or the library's; on cpu with none. */
static enum rtune_status launch(rtune *rt, struct rtune_enqueue *call,
                                const struct rtune_stream_state *state, struct rtune_error *err) {
    struct rtune_lease lease = {0};
    call->workspace = call->args->workspace;
    if (call->workspace || !rt->dev->cuda) return rtune_enqueue(rt, call, err);
    enum rtune_status status =
        rtune_workspaces_acquire(&rt->workspaces, call->stream, state, &lease, err);
    if (status != RTUNE_OK) return status;
    call->workspace = lease.workspace;
    status = rtune_enqueue(rt, call, err);
    rtune_workspaces_release(&rt->workspaces, &lease, call->stream, status == RTUNE_OK);
    return status;
}

enum rtune_status rtune_reduce(rtune *rt, const struct rtune_problem *given_problem,
                               const struct rtune_args *given_args, void *stream,
                               struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_stream_state state = {0};
    struct rtune_problem problem;
    struct rtune_args args;
    struct rtune_decision decision;
    const struct rtune_prepared *kernel = NULL;
    const char *why = NULL;
    if (!rt || !given_problem || !given_args) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_reduce: rt, problem or args is NULL"));
    }
    TRY(rtune_problem_read(given_problem, &problem, err));
    TRY(rtune_args_read(rt, &problem, given_args, &args, err));
    TRY(rt->dev->ops->stream_state(rt->dev, stream, &state, err));
    const struct rtune_index *index = rtune_current_index(rt);
    rtune_decide(rt, index, &problem, &decision);
    TRY(find_kernel(rt, index, &decision, state.capturing, &kernel, &why, err));
    struct rtune_enqueue call = {
        .problem = &problem,
        .args = &args,
        .kernel = kernel->kernel,
        .stream = stream,
        .grid = rtune_served_grid(rt, &decision, kernel),
    };
    TRY(launch(rt, &call, &state, err));
    if (args.launch) {
        struct rtune_launch record;
        rtune_launch_fill(rt, &decision, kernel, why, &record);
        rtune_launch_give(&record, args.launch);
    }
done:
    return status;
}

/* ---- prepare -----------------------------------------------------------------------------------
 */

enum rtune_status rtune_prepare(rtune *rt, const struct rtune_problem *problems, size_t count,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_decision *decisions = NULL;
    if (!rt || (!problems && count > 0)) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_prepare: rt or problems is NULL"));
    }
    decisions = calloc(count ? count : 1, sizeof *decisions);
    if (!decisions) {
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "rtune_prepare: %zu problems: out of memory",
                          count));
    }
    const struct rtune_index *index = rtune_current_index(rt);
    const char *given = (const char *)problems; /* each as large as it says */
    for (size_t i = 0; i < count; i++) {
        struct rtune_problem problem;
        size_t size;
        memcpy(&size, given, sizeof size);
        status =
            rtune_problem_read((const struct rtune_problem *)(const void *)given, &problem, err);
        if (status != RTUNE_OK) rtune_err_prefix(err, "problem %zu", i);
        TRY(status);
        rtune_decide(rt, index, &problem, &decisions[i]);
        given += size;
    }
    TRY(rtune_prepared_make(rt, index, decisions, count, err));
    for (size_t i = 0; i < count; i++) {
        const struct rtune_decision *d = &decisions[i];
        if (rtune_prepared_find(rt, index, &d->problem, &d->config)) continue;
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "problem %zu: no room to prepare another kernel",
                          i));
    }
done:
    free(decisions);
    return status;
}
