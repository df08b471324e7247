/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/plan.c: a problem bound to a loaded kernel and a workspace of its own. */
#include "runtime/lookup.h"

#include <stdlib.h>

struct rtune_plan {
    rtune *rt;
    struct rtune_problem problem;
    const struct rtune_prepared *kernel; /* the handle's */
    struct rtune_launch launch;
    void *workspace; /* NULL on cpu */
    /* A launch failed: zero the workspace before the next one. Set back by a direct call alone:
     * what a captured one enqueues happens when the graph runs, if it ever does. */
    bool dirty;
};

enum rtune_status rtune_plan_create(rtune_plan **out, rtune *rt,
                                    const struct rtune_problem *problem, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_decision decision;
    struct rtune_error failure = {0};
    rtune_plan *plan = NULL;
    const char *why = NULL;
    if (!out || !rt || !problem) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_plan_create: plan, rt or problem is NULL"));
    }
    plan = calloc(1, sizeof *plan);
    if (!plan) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "rtune_plan_create: out of memory"));
    plan->rt = rt;
    TRY(rtune_problem_read(problem, &plan->problem, err));
    const struct rtune_index *index = rtune_current_index(rt);
    rtune_decide(rt, index, &plan->problem, &decision);
    const enum rtune_status made = rtune_prepared_make(rt, index, &decision, 1, &failure);
    plan->kernel = rtune_prepared_find(rt, index, &decision.problem, &decision.config);
    if (!plan->kernel) {
        plan->kernel = rtune_prepared_builtin(rt, &decision.problem);
        why = "built-in kernel: no room to prepare another";
    }
    if (!plan->kernel) TRY(rtune_err_set(err, made ? made : RTUNE_DEVICE, "%s", failure.message));
    rtune_launch_fill(rt, &decision, plan->kernel, why, &plan->launch);
    if (rt->dev->cuda) {
        TRY(rt->dev->ops->mem_alloc(rt->dev, rtune_workspace_stride(), &plan->workspace, err));
        TRY(rtune_workspace_zero(rt->dev, plan->workspace, rtune_workspace_stride(), err));
    }
    *out = plan;
    plan = NULL;
done:
    rtune_plan_destroy(plan);
    return status;
}

/* Zero the workspace, in the order of the stream. */
static enum rtune_status zero(rtune_plan *plan, void *stream,
                              const struct rtune_stream_state *state, struct rtune_error *err) {
    rtune_device *dev = plan->rt->dev;
    const enum rtune_status status =
        dev->ops->mem_set(dev, plan->workspace, 0, rtune_workspace_stride(), stream, err);
    if (status == RTUNE_OK && !state->capturing) plan->dirty = false;
    return status;
}

enum rtune_status rtune_plan_reduce(rtune_plan *plan, const struct rtune_args *given, void *stream,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_stream_state state = {0};
    struct rtune_args args;
    if (!plan || !given) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_plan_reduce: plan or args is NULL"));
    }
    rtune *rt = plan->rt;
    TRY(rtune_args_read(rt, &plan->problem, given, &args, err));
    const bool own = !args.workspace && rt->dev->cuda;
    TRY(rt->dev->ops->stream_state(rt->dev, stream, &state, err));
    if (own && plan->dirty) TRY(zero(plan, stream, &state, err));
    const struct rtune_enqueue call = {
        .problem = &plan->problem,
        .args = &args,
        .kernel = plan->kernel->kernel,
        .workspace = own ? plan->workspace : args.workspace,
        .stream = stream,
        .grid = plan->launch.grid,
    };
    status = rtune_enqueue(rt, &call, err);
    if (status != RTUNE_OK && own) plan->dirty = true;
    TRY(status);
    if (args.launch) rtune_launch_give(&plan->launch, args.launch);
done:
    return status;
}

const struct rtune_launch *rtune_plan_launch(const rtune_plan *plan) {
    return plan ? &plan->launch : NULL;
}

enum rtune_status rtune_plan_reset(rtune_plan *plan, void *stream, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_stream_state state = {0};
    if (!plan) TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_plan_reset: plan is NULL"));
    if (!plan->workspace) goto done;
    TRY(plan->rt->dev->ops->stream_state(plan->rt->dev, stream, &state, err));
    TRY(zero(plan, stream, &state, err));
done:
    return status;
}

void rtune_plan_destroy(rtune_plan *plan) {
    if (!plan) return;
    if (plan->workspace) plan->rt->dev->ops->mem_free(plan->rt->dev, plan->workspace);
    free(plan);
}
