/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_graph.c: stream captures and graphs of the fake driver. A graph is the list of
 * what was captured, run in that order; which branch a node came from is kept to tell shared
 * workspaces.
 */
#include "tests/fake/fake_int.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void fake_mode_forget(void) { thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL; }

/* ---- what captures forbid -------------------------------------------------------------------- */

static CUresult exchange_mode(CUstreamCaptureMode *mode) {
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    return FAKE_CALL(cuThreadExchangeStreamCaptureMode, exchange_mode(mode));
}

CUresult fake_capture_unsafe(void) {
    CUresult result = CUDA_SUCCESS;
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    for (struct fake_capture *c = fake.captures; c; c = c->next) {
        bool mine = c->thread == fake_thread();
        bool forbidden = (c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                          thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL) ||
                         (mine && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED);
        if (!forbidden) continue;
        c->invalid = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

CUresult fake_capture_implicit(struct fake_stream *stream, bool invalidate) {
    CUresult result = CUDA_SUCCESS;
    if (!stream->legacy) return CUDA_SUCCESS;
    for (struct fake_stream *s = fake.streams; s; s = s->next) {
        if (s->context != stream->context || !s->blocking || !s->capture) continue;
        if (invalidate) s->capture->invalid = true;
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return result;
}

/* ---- capturing ------------------------------------------------------------------------------- */

static CUresult add_node(struct fake_stream *stream, const struct fake_op *op) {
    struct fake_op *node = malloc(sizeof *node);
    if (!node) return CUDA_ERROR_OUT_OF_MEMORY;
    *node = *op;
    node->next = NULL;
    node->origin = stream->id;
    *stream->capture->graph->tail = node;
    stream->capture->graph->tail = &node->next;
    stream->nodes++;
    stream->unjoined = stream != stream->capture->origin;
    return CUDA_SUCCESS;
}

/* A wait inside a capture joins two streams: a new one into the capture, or a branch back. */
static CUresult add_wait(struct fake_stream *stream, const struct fake_op *op) {
    struct fake_event *event = op->event;
    if (!event->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!stream->capture) {
        stream->capture = event->capture;
        stream->nodes = 0;
        stream->unjoined = true;
    }
    if (stream->capture != event->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    struct fake_stream *branch = event->stream;
    if (branch && branch != stream && branch->nodes == event->capture_nodes)
        branch->unjoined = false;
    return CUDA_SUCCESS;
}

CUresult fake_capture_add(struct fake_stream *stream, const struct fake_op *op) {
    if (stream->capture && stream->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (op->kind == FAKE_WAIT) return add_wait(stream, op);
    if (op->kind == FAKE_GRAPH) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (op->kind != FAKE_RECORD) return add_node(stream, op);
    op->event->capture = stream->capture;
    op->event->capture_nodes = stream->nodes;
    op->event->stream = stream;
    return CUDA_SUCCESS;
}

static struct fake_graph *make_graph(bool executable) {
    struct fake_graph *graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    graph->executable = executable;
    graph->alive = true;
    graph->tail = &graph->nodes;
    graph->next = fake.graphs;
    fake.graphs = graph;
    return graph;
}

static CUresult begin(CUstream handle, CUstreamCaptureMode mode) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (stream->legacy || stream->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    struct fake_capture *capture = calloc(1, sizeof *capture);
    struct fake_graph *graph = capture ? make_graph(false) : NULL;
    if (!graph) {
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *capture = (struct fake_capture){fake.captures, stream, mode, fake_thread(), false, graph};
    fake.captures = capture;
    stream->capture = capture;
    stream->nodes = 0;
    return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
    return FAKE_CALL(cuStreamBeginCapture, begin(stream, mode));
}

/* Two branches that share a workspace could run at the same time. */
static void check_branches(const struct fake_graph *graph) {
    struct rtune_kernel_args a, b;
    for (const struct fake_op *x = graph->nodes; x; x = x->next)
        for (const struct fake_op *y = x->next; y; y = y->next) {
            if (x->kind != FAKE_LAUNCH || y->kind != FAKE_LAUNCH || x->origin == y->origin)
                continue;
            if (!x->function->shape.reduction || !y->function->shape.reduction) continue;
            memcpy(&a, x->params, sizeof a);
            memcpy(&b, y->params, sizeof b);
            if (a.workspace && a.workspace == b.workspace)
                fake_problem("two branches of a captured graph share a workspace");
        }
}

static CUresult end(CUstream handle, CUgraph *graph) {
    struct fake_stream *stream;
    CUresult result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    struct fake_capture *capture = stream->capture;
    if (!capture || capture->origin != stream) return CUDA_ERROR_INVALID_VALUE;
    if (capture->invalid) result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (struct fake_stream *s = fake.streams; s; s = s->next) {
        if (s->capture != capture) continue;
        if (s != stream && s->unjoined && result == CUDA_SUCCESS)
            result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        s->capture = NULL;
        s->unjoined = false;
    }
    for (struct fake_event *e = fake.events; e; e = e->next)
        if (e->capture == capture) e->capture = NULL;
    struct fake_capture **link = &fake.captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    if (result == CUDA_SUCCESS) {
        check_branches(capture->graph);
        *graph = (CUgraph)capture->graph;
    } else {
        capture->graph->alive = false;
        fake_graph_release(capture->graph);
        *graph = NULL;
    }
    free(capture);
    return result;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    return FAKE_CALL(cuStreamEndCapture, end(stream, graph));
}

/* ---- graphs ---------------------------------------------------------------------------------- */

void fake_graph_release(struct fake_graph *graph) {
    if (graph->alive || graph->pending > 0) return;
    struct fake_graph **link = &fake.graphs;
    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    while (graph->nodes) {
        struct fake_op *node = graph->nodes;
        graph->nodes = node->next;
        fake_op_free(node);
    }
    free(graph);
}

static CUresult find(const void *handle, bool executable, struct fake_graph **graph) {
    for (struct fake_graph *g = fake.graphs; g; g = g->next)
        if (g == handle && g->alive && g->executable == executable) {
            *graph = g;
            return CUDA_SUCCESS;
        }
    fake_problem("a graph was used that does not exist (any more)");
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult copy_node(struct fake_graph *graph, const struct fake_op *node) {
    struct fake_op *copy = malloc(sizeof *copy);
    if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
    *copy = *node;
    copy->next = NULL;
    if (node->staged) {
        copy->staged = malloc(node->size ? node->size : 1);
        if (!copy->staged) {
            free(copy);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        memcpy(copy->staged, node->staged, node->size);
        copy->src = copy->staged;
    }
    *graph->tail = copy;
    graph->tail = &copy->next;
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph handle) {
    struct fake_graph *graph;
    CUresult result = find(handle, false, &graph);
    if (result != CUDA_SUCCESS) return result;
    struct fake_graph *made = make_graph(true);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    for (struct fake_op *node = graph->nodes; node && result == CUDA_SUCCESS; node = node->next)
        result = copy_node(made, node);
    if (result == CUDA_SUCCESS) {
        *exec = (CUgraphExec)made;
    } else {
        made->alive = false;
        fake_graph_release(made);
    }
    return result;
}
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    (void)flags;
    return FAKE_CALL(cuGraphInstantiate, instantiate(exec, graph));
}

static CUresult launch(CUgraphExec exec, CUstream handle) {
    struct fake_graph *graph;
    struct fake_stream *stream;
    CUresult result = find(exec, true, &graph);
    if (result == CUDA_SUCCESS) result = fake_stream_find(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    struct fake_op op = {.kind = FAKE_GRAPH, .graph = graph};
    return fake_enqueue(stream, &op);
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    return FAKE_CALL(cuGraphLaunch, launch(exec, stream));
}

static CUresult destroy(const void *handle, bool executable) {
    struct fake_graph *graph;
    CUresult result = find(handle, executable, &graph);
    if (result != CUDA_SUCCESS) return result;
    graph->alive = false;
    fake_graph_release(graph);
    return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) { return FAKE_CALL(cuGraphDestroy, destroy(graph, false)); }
CUresult cuGraphExecDestroy(CUgraphExec exec) {
    return FAKE_CALL(cuGraphExecDestroy, destroy(exec, true));
}
