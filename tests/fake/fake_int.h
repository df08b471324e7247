/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_int.h: the state of the fake driver, private to fake_*.c. One lock guards all of
 * it: fake_enter takes it, fake_leave gives it back, and everything else runs inside.
 */
#ifndef RTUNE_TESTS_FAKE_FAKE_INT_H
#define RTUNE_TESTS_FAKE_FAKE_INT_H

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include "kernels/kernels.h"
#include "tests/fake/fake.h"
#include "tests/fake/fake_generator.h"

enum { FAKE_DEVICES_MAX = 8, FAKE_PARAM_MAX = 64, FAKE_FAULT_MAX = 16, FAKE_RANGES = 32 };

/* ---- settings (fake_settings.c) -------------------------------------------------------------- */

enum fake_fault { FAKE_FINE, FAKE_WRONG, FAKE_SKIP, FAKE_TRAP, FAKE_HANG, FAKE_ABSENT };

struct fake_settings {
    int devices, driver, init_result, load_result;
    int cc_major[FAKE_DEVICES_MAX], cc_minor[FAKE_DEVICES_MAX];
    uint64_t sms[FAKE_DEVICES_MAX], l2[FAKE_DEVICES_MAX], memory[FAKE_DEVICES_MAX];
    uint64_t mig[FAKE_DEVICES_MAX];
    uint64_t seed, noise;
    struct {
        enum fake_fault kind;
        char text[RTUNE_INSTANCE_NAME];
    } faults[FAKE_FAULT_MAX];
    char log[512];
};
void fake_settings_read(struct fake_settings *settings);
enum fake_fault fake_settings_fault(const struct fake_settings *settings, const char *kernel);

/* ---- objects --------------------------------------------------------------------------------- */

struct fake_context {
    struct fake_context *next;
    int device;
    bool primary, alive;
    int retained;
    CUresult broken; /* sticky error */
    struct fake_stream *legacy;
};

struct fake_allocation {
    struct fake_allocation *next;
    struct fake_context *context;
    unsigned char *base;
    size_t size;
};

struct fake_module {
    struct fake_module *next;
    struct fake_context *context;
    struct fake_function *functions;
};

/* What a kernel's name says. */
struct fake_shape {
    bool reduction; /* else a support kernel */
    enum fake_support_kind support;
    enum rtune_op op;
    enum rtune_dtype dtype, result; /* kernels that are equal to the bit share a name: of one of
                                       their types each */
    enum rtune_acc acc;
    enum rtune_mode mode;
    enum rtune_nan nan_rule;
    unsigned block, vectors, occupancy;
    enum rtune_load load;
    enum rtune_finish finish;
    enum rtune_map map;
    enum rtune_variant variant;
    unsigned extra;
    bool second; /* of two kernels */
    size_t param_bytes;
};

struct fake_function {
    struct fake_function *next;
    struct fake_module *module;
    struct fake_shape shape;
    enum fake_fault fault;
    bool large_clusters; /* more than 8 blocks are allowed */
    char name[RTUNE_INSTANCE_NAME + 2];
};

enum fake_op_kind {
    FAKE_LAUNCH,
    FAKE_SET,
    FAKE_COPY,
    FAKE_RECORD,
    FAKE_WAIT,
    FAKE_CALL_HOST,
    FAKE_GRAPH
};

/* One piece of work on a stream, or one node of a graph. */
struct fake_op {
    struct fake_op *next;
    uint64_t seq;
    enum fake_op_kind kind;
    uint64_t origin; /* stream it was given to; of a node: while capturing */
    /* launch */
    const struct fake_function *function;
    unsigned grid, block;
    unsigned cluster;            /* blocks in one; 0: none */
    bool cooperative, dependent; /* attributes of the launch */
    unsigned char params[FAKE_PARAM_MAX];
    /* set, copy */
    unsigned char *dst;
    const unsigned char *src;
    unsigned char *staged; /* owned copy of pageable memory, NULL if none */
    unsigned char byte;
    size_t size;
    /* record, wait; graph */
    struct fake_event *event;
    struct fake_stream *awaited;
    uint64_t awaited_seq;
    struct fake_graph *graph;
    /* host call */
    CUhostFn call;
    void *call_data;
};

struct fake_stream {
    struct fake_stream *next;
    struct fake_context *context;
    uint64_t id;
    bool legacy, blocking, alive;
    uint64_t thread; /* per-thread default stream of this thread; 0: not one */
    struct fake_op *head, **tail;
    double us; /* simulated time of the last operation's end */
    struct fake_capture *capture;
    bool unjoined; /* has nodes that the origin has not waited for */
    size_t nodes;  /* given to the capture */
};

struct fake_event {
    struct fake_event *next;
    struct fake_context *context;
    bool timing, done, asked, alive;
    uint64_t seq;   /* of the last record; 0: never recorded */
    size_t pending; /* queued operations that name it */
    struct fake_stream *stream;
    double us;
    struct fake_capture *capture; /* recorded inside a capture */
    size_t capture_nodes;
};

struct fake_graph {
    struct fake_graph *next;
    bool executable, alive;
    size_t pending; /* launches that are not done */
    struct fake_op *nodes, **tail;
};

struct fake_capture {
    struct fake_capture *next;
    struct fake_stream *origin;
    CUstreamCaptureMode mode;
    uint64_t thread;
    bool invalid;
    struct fake_graph *graph;
};

/* Bytes that L2 holds, newest last. */
struct fake_range {
    const unsigned char *from;
    size_t size;
    bool dirty;
};

struct fake {
    struct fake_settings settings;
    bool initialised;
    long process; /* that initialised it */
    uint64_t seq, ids, launches;
    struct fake_context *contexts;
    struct fake_allocation *allocations;
    struct fake_module *modules;
    struct fake_stream *streams;
    struct fake_event *events;
    struct fake_graph *graphs;
    struct fake_capture *captures;
    size_t used[FAKE_DEVICES_MAX];
    struct fake_range ranges[FAKE_DEVICES_MAX][FAKE_RANGES];
    char problem[256];
};
extern struct fake fake;

/* ---- calls (fake_control.c) ------------------------------------------------------------------ */

/* Count and log a call and take the lock. False if it must fail now, with fake_injected(). */
bool fake_enter(const char *symbol);
CUresult fake_injected(void);
/* Give the lock back and pass the result on. */
CUresult fake_leave(CUresult result);
/* Wait for ever, without the lock: what a caller sees of a kernel that never ends. */
void fake_hang(void);
/* A number for the calling thread, from 1. */
uint64_t fake_thread(void);
/* Remember and print what no correct caller does. */
void fake_problem(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define FAKE_TEXT_(name) #name
#define FAKE_TEXT(name) FAKE_TEXT_(name)
/* Body of every driver function: FAKE_CALL(symbol, expression). */
#define FAKE_CALL(name, expr) fake_leave(fake_enter(FAKE_TEXT(name)) ? (expr) : fake_injected())

/* ---- contexts (fake_device.c, fake_context.c) ------------------------------------------------ */

bool fake_device_valid(CUdevice device);
/* The context that is current on this thread, alive and not broken, or the error. */
CUresult fake_current(struct fake_context **context);
/* The calling thread has no current context. */
void fake_thread_forget(void);
/* Drain and release all that a context owns. */
void fake_context_clear(struct fake_context *context);

/* ---- memory (fake_memory.c) ------------------------------------------------------------------ */

/* Are all these bytes in one allocation of this device? */
bool fake_memory_valid(const struct fake_context *context, const void *from, size_t size);
void fake_memory_clear(struct fake_context *context);

/* ---- streams (fake_stream.c, fake_queue.c) --------------------------------------------------- */

/* The stream of a handle, default ones included, or the error. */
CUresult fake_stream_find(CUstream handle, struct fake_stream **stream);
struct fake_stream *fake_stream_make(struct fake_context *context, bool blocking, bool legacy);
void fake_stream_free(struct fake_stream *stream);
/* Give an operation (copied; staged memory is taken over) to a stream or to the graph it captures.
 */
CUresult fake_enqueue(struct fake_stream *stream, const struct fake_op *op);
/* Do all work up to seq; false if it hangs. */
bool fake_drain(struct fake_stream *stream, uint64_t seq);
bool fake_drain_context(struct fake_context *context);
void fake_op_free(struct fake_op *op);
/* An operation that names the event is done or dropped. */
void fake_event_used(struct fake_event *event);
/* Release all events of a context. */
void fake_events_forget(struct fake_context *context);

/* ---- captures and graphs (fake_graph.c) ------------------------------------------------------ */

/* The calling thread's capture mode is the global one again. */
void fake_mode_forget(void);
/* May a call that a capture of another thread forbids be made now? Invalidates such captures if
 * not. */
CUresult fake_capture_unsafe(void);
/* May this stream be used: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT for the legacy one while another
 * captures. invalidate: the capture is lost. */
CUresult fake_capture_implicit(struct fake_stream *stream, bool invalidate);
/* Append a node, record or wait inside a capture. */
CUresult fake_capture_add(struct fake_stream *stream, const struct fake_op *op);
void fake_graph_release(struct fake_graph *graph);

/* ---- kernels (fake_kernel.c, fake_reduce.c, fake_support.c, fake_time.c) ----------------------
 */

bool fake_shape_parse(const char *name, struct fake_shape *shape);
/* Is a launch one that the kernels' contract allows, as far as its arguments tell? */
CUresult fake_launch_check(const struct fake_stream *stream, const struct fake_op *op);
/* Do a launch: result and simulated duration in us. */
void fake_run_launch(struct fake_context *context, const struct fake_op *op, double *us);
size_t fake_result_bytes(const struct fake_shape *shape);
void fake_run_reduction(struct fake_context *context, const struct fake_op *op);
void fake_run_support(struct fake_context *context, const struct fake_op *op);
double fake_launch_us(int device, const struct fake_op *op);
/* The function of a handle, or the error; and how many of its blocks a multiprocessor holds. */
CUresult fake_function_find(CUfunction handle, struct fake_function **function);
int fake_function_resident(const struct fake_function *function, int block);
/* L2 now holds these bytes. */
void fake_touch(int device, const void *from, size_t size, bool write);
void fake_modules_clear(struct fake_context *context);
/* Result of the same reduction over the same bytes, if it is known; and what makes it unknown. */
bool fake_memo_find(const struct fake_shape *shape, const struct rtune_kernel_args *args,
                    size_t size, unsigned char result[16]);
void fake_memo_keep(const struct fake_shape *shape, const struct rtune_kernel_args *args,
                    size_t size, const unsigned char result[16]);
void fake_written(const void *from, size_t size);

#endif /* RTUNE_TESTS_FAKE_FAKE_INT_H */
