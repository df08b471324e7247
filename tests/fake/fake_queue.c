/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_queue.c: the queues of the fake driver. Operations have one global order of being
 * enqueued; each runs only when something waits for it, after all that the rules of streams put
 * before it.
 */
#include "tests/fake/fake_int.h"

#include <stdlib.h>
#include <string.h>

static const double record_us = 0.6, copy_us = 1.5, bytes_per_us = 20000;

/* ---- enqueueing ------------------------------------------------------------------------------ */

/* Does the stream wait, by an event, for what the other one was given up to seq? */
static bool waits_for(const struct fake_stream *stream, const struct fake_stream *other,
                      uint64_t seq) {
    bool implicit = stream->context == other->context &&
                    ((stream->legacy && other->blocking) || (other->legacy && stream->blocking));
    for (const struct fake_op *op = stream->head; op && !implicit; op = op->next)
        implicit = op->kind == FAKE_WAIT && op->awaited == other && op->awaited_seq > seq;
    return implicit;
}

static const void *workspace_of(const struct fake_op *op) {
    struct rtune_kernel_args args;
    if (op->kind != FAKE_LAUNCH || !op->function->shape.reduction ||
        op->function->shape.finish == RTUNE_FINISH_ONE)
        return NULL;
    memcpy(&args, op->params, sizeof args);
    return args.workspace;
}

/* Is the workspace of a launch used by a pending operation (or one of its nodes)? */
static bool uses(const struct fake_op *op, const void *workspace) {
    if (op->kind != FAKE_GRAPH) return workspace_of(op) == workspace;
    for (const struct fake_op *node = op->graph->nodes; node; node = node->next)
        if (workspace_of(node) == workspace) return true;
    return false;
}

static void check_workspace(const struct fake_stream *stream, const void *workspace) {
    if (!workspace) return;
    for (const struct fake_stream *s = fake.streams; s; s = s->next) {
        if (s == stream) continue;
        for (const struct fake_op *op = s->head; op; op = op->next)
            if (uses(op, workspace) && !waits_for(stream, s, op->seq)) {
                fake_problem("a workspace is in flight on two streams (%llu and %llu)",
                             (unsigned long long)s->id, (unsigned long long)stream->id);
                stream->context->broken = CUDA_ERROR_ILLEGAL_ADDRESS;
                return;
            }
    }
}

static void check_workspaces(const struct fake_stream *stream, const struct fake_op *op) {
    if (op->kind != FAKE_GRAPH) {
        check_workspace(stream, workspace_of(op));
        return;
    }
    for (const struct fake_op *node = op->graph->nodes; node; node = node->next)
        check_workspace(stream, workspace_of(node));
}

CUresult fake_enqueue(struct fake_stream *stream, const struct fake_op *op) {
    if (stream->capture) return fake_capture_add(stream, op);
    CUresult result = fake_capture_implicit(stream, true);
    if (result != CUDA_SUCCESS) return result;
    check_workspaces(stream, op);
    if (stream->context->broken) return stream->context->broken;
    struct fake_op *own = malloc(sizeof *own);
    if (!own) return CUDA_ERROR_OUT_OF_MEMORY;
    *own = *op;
    own->next = NULL;
    own->seq = ++fake.seq;
    own->origin = stream->id;
    if (op->kind == FAKE_RECORD) {
        own->event->seq = own->seq;
        own->event->stream = stream;
    }
    if (own->event) own->event->pending++;
    if (op->kind == FAKE_GRAPH) own->graph->pending++;
    *stream->tail = own;
    stream->tail = &own->next;
    return CUDA_SUCCESS;
}

void fake_op_free(struct fake_op *op) {
    free(op->staged);
    free(op);
}

/* ---- running --------------------------------------------------------------------------------- */

static void run_graph(struct fake_stream *stream, struct fake_op *op);

/* Do one operation; advances the stream's time. Nothing happens in a broken context. */
static void run(struct fake_stream *stream, struct fake_op *op) {
    double us = 0;
    bool broken = stream->context->broken != CUDA_SUCCESS;
    switch (op->kind) {
    case FAKE_LAUNCH:
        if (!broken) fake_run_launch(stream->context, op, &us);
        break;
    case FAKE_SET:
        if (!broken) memset(op->dst, op->byte, op->size);
        fake_written(op->dst, op->size);
        fake_touch(stream->context->device, op->dst, op->size, true);
        us = copy_us + (double)op->size / bytes_per_us;
        break;
    case FAKE_COPY:
        if (!broken) memcpy(op->dst, op->src, op->size);
        fake_written(op->dst, op->size);
        us = copy_us + (double)op->size / bytes_per_us;
        break;
    case FAKE_RECORD:
        us = record_us;
        break;
    case FAKE_CALL_HOST:
        op->call(op->call_data);
        break;
    case FAKE_GRAPH:
        run_graph(stream, op);
        break;
    case FAKE_WAIT:
        break;
    }
    stream->us += us;
}

static void run_graph(struct fake_stream *stream, struct fake_op *op) {
    for (struct fake_op *node = op->graph->nodes; node; node = node->next)
        run(stream, node);
}

static void finish(struct fake_stream *stream, struct fake_op *op) {
    if (op->kind == FAKE_RECORD) {
        struct fake_event *event = op->event;
        if (event->seq == op->seq) {
            event->done = true;
            event->us = stream->us;
        }
    }
    if (op->event) fake_event_used(op->event);
    if (op->kind == FAKE_GRAPH) {
        op->graph->pending--;
        fake_graph_release(op->graph);
    }
}

static bool known(const struct fake_stream *stream) {
    for (const struct fake_stream *s = fake.streams; s; s = s->next)
        if (s == stream) return true;
    return false;
}

/* Do what must be done before an operation of this stream; false if it hangs. */
static bool run_before(struct fake_stream *stream, const struct fake_op *op) {
    double us = stream->us;
    for (struct fake_stream *s = fake.streams; s; s = s->next) {
        bool ordered = s->context == stream->context && s != stream &&
                       ((stream->legacy && s->blocking) || (stream->blocking && s->legacy));
        if (!ordered) continue;
        if (!fake_drain(s, op->seq - 1)) return false;
        if (s->us > us) us = s->us;
    }
    if (op->kind == FAKE_WAIT && known(op->awaited)) {
        if (!fake_drain(op->awaited, op->awaited_seq)) return false;
        if (op->event->us > us) us = op->event->us;
    }
    stream->us = us;
    return true;
}

static bool hangs(const struct fake_op *op) {
    return op->kind == FAKE_LAUNCH && op->function->fault == FAKE_HANG;
}

bool fake_drain(struct fake_stream *stream, uint64_t seq) {
    while (stream->head && stream->head->seq <= seq) {
        struct fake_op *op = stream->head;
        if (hangs(op) || !run_before(stream, op)) return false;
        stream->head = op->next;
        if (!stream->head) stream->tail = &stream->head;
        run(stream, op);
        finish(stream, op);
        fake_op_free(op);
    }
    return true;
}

bool fake_drain_context(struct fake_context *context) {
    bool done = true;
    for (struct fake_stream *s = fake.streams; s; s = s->next)
        if (s->context == context) done = fake_drain(s, UINT64_MAX) && done;
    return done;
}
