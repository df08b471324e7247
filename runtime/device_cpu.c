/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_cpu.c: the processors of this machine as a device. Every call is done when it returns. The
 * threads belong to the handle; a child of fork() must not use its parent's handle.
 */
#include "runtime/device_cpu.h"

#include "base/clock.h"
#include "base/num.h"
#include "runtime/cpuinfo.h"
#include "runtime/pool.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    HUGE_PAGE = 2 << 20,
    SPIN_NS =
        50000 /* longer than the pause between two calls of a loop, shorter than anyone minds */
};

struct cpu_device {
    struct rtune_device base;
    rtune_pool *pool;
    enum rtune_isa isa;
};

struct cpu_kernel {
    struct rtune_problem problem;
    struct rtune_cpu_kernel code;
    size_t result; /* bytes */
    uint32_t items;
};

struct cpu_event {
    uint64_t ns;
    bool recorded;
};

static struct cpu_device *cpu_of(rtune_device *dev) { return (struct cpu_device *)dev; }

/* ---- kernels --------------------------------------------------------------------------------- */

static enum rtune_status kernel_open(rtune_device *dev, const struct rtune_problem *problem,
                                     const struct rtune_config *config, const void *image,
                                     size_t size, rtune_kernel **kernel, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cpu_kernel *made = NULL;
    (void)size;
    if (image) TRY(rtune_err_set(err, RTUNE_INVALID, "cpu: takes no kernel image"));
    TRY(rtune_problem_check(problem, err));
    made = calloc(1, sizeof *made);
    if (!made) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "cpu: no memory for a kernel"));
    TRY(rtune_cpu_kernel_find(problem, config, cpu_of(dev)->isa, &made->code, err));
    made->problem = *problem;
    made->result = rtune_result_size(problem);
    made->items = config->items;
    *kernel = (rtune_kernel *)made;
    made = NULL;
done:
    free(made);
    return status;
}

static void kernel_close(rtune_device *dev, rtune_kernel *kernel) {
    (void)dev;
    free(kernel);
}

static uint32_t kernel_resident(const rtune_kernel *kernel) {
    (void)kernel;
    return 1;
}

/* ---- launch ---------------------------------------------------------------------------------- */

/* Subtrees of one launch in mode reproducible at most: enough for parts of nearly one size on any
 * number of threads. */
enum { SUBTREES_MAX = 1024 };

/* One launch: part k is units k * chunk ... (k + 1) * chunk - 1, as far as there are any, of unit
 * elements each. */
struct launch {
    const struct rtune_cpu_kernel *code;
    const struct rtune_kernel_args *args;
    uint64_t unit, units, chunk;
    union rtune_cpu_value total;
    union rtune_cpu_value *subtrees; /* of each unit, in mode reproducible */
};

/* Reduce some units of the input. */
static void launch_units(const struct launch *launch, uint64_t first, uint64_t count,
                         union rtune_cpu_value *value) {
    const struct rtune_kernel_args *args = launch->args;
    const uint64_t start = first * launch->unit;
    const uint64_t offset = start * launch->code->element;
    struct rtune_cpu_input input = {.in = (const unsigned char *)args->in + offset,
                                    .n = rtune_min_u64(count * launch->unit, args->n - start),
                                    .first = start,
                                    .scale = args->scale};
    if (args->in2) input.in2 = (const unsigned char *)args->in2 + offset;
    launch->code->reduce(launch->code, &input, value);
}

static uint64_t part_units(const struct launch *launch, uint32_t k) {
    return rtune_min_u64(launch->chunk, launch->units - k * launch->chunk);
}

static void launch_part(void *context, uint32_t k, union rtune_cpu_value *value) {
    const struct launch *launch = context;
    launch_units(launch, k * launch->chunk, part_units(launch, k), value);
}

static void launch_join(void *context, uint32_t k, const union rtune_cpu_value *value) {
    struct launch *launch = context;
    if (k == 0) {
        launch->total = *value;
    } else {
        launch->code->combine(launch->code, &launch->total, value);
    }
}

static void subtrees_part(void *context, uint32_t k, union rtune_cpu_value *value) {
    const struct launch *launch = context;
    const uint64_t first = k * launch->chunk, count = part_units(launch, k);
    memset(value, 0, sizeof *value);
    for (uint64_t unit = first; unit < first + count; unit++)
        launch_units(launch, unit, 1, &launch->subtrees[unit]);
}

static void subtrees_join(void *context, uint32_t k, const union rtune_cpu_value *value) {
    (void)context, (void)k, (void)value;
}

/* Divide the units among parts and run them. */
static void launch_run(rtune_pool *pool, struct launch *launch, uint64_t parts) {
    const bool tree = launch->subtrees;
    const struct rtune_pool_work run = {tree ? subtrees_part : launch_part,
                                        tree ? subtrees_join : launch_join, launch};
    launch->units = rtune_ceil_div(launch->args->n, launch->unit);
    launch->chunk = rtune_ceil_div(launch->units, parts);
    rtune_pool_run(pool, (uint32_t)rtune_ceil_div(launch->units, launch->chunk), &run);
}

/* Mode reproducible: 2^k leaves make a subtree, with the same k for all, whose shape is that of the
 * whole tree at its place, whoever reduces it. */
static void launch_tree(rtune_pool *pool, struct launch *launch, uint64_t parts) {
    union rtune_cpu_value subtrees[SUBTREES_MAX];
    struct rtune_cpu_tree tree = {.count = 0};
    launch->unit = launch->code->leaf;
    while (rtune_ceil_div(launch->args->n, launch->unit) > SUBTREES_MAX)
        launch->unit *= 2;
    launch->subtrees = subtrees;
    launch_run(pool, launch, parts);
    for (uint64_t k = 0; k < launch->units; k++)
        rtune_cpu_tree_add(launch->code, &tree, &subtrees[k]);
    launch->total = rtune_cpu_tree_root(launch->code, &tree);
    launch->subtrees = NULL;
}

/* Write the result, or combine it with what is there. */
static void launch_store(const struct launch *launch, size_t size) {
    const struct rtune_kernel_args *args = launch->args;
    union rtune_cpu_value value = launch->total;
    if (args->flags & RTUNE_ACCUMULATE) {
        memset(&value, 0, sizeof value);
        memcpy(value.bytes, args->out, size);
        rtune_cpu_accumulate(launch->code, &value, &launch->total);
    }
    memcpy(args->out, value.bytes, size);
}

static enum rtune_status launch_all(rtune_device *dev, const rtune_kernel *kernel,
                                    const struct rtune_launch_request *request,
                                    struct rtune_error *err) {
    const struct cpu_kernel *made = (const struct cpu_kernel *)kernel;
    const struct rtune_kernel_args *args = &request->args;
    struct launch work = {.code = &made->code, .args = args, .unit = made->items};
    const uint64_t parts = rtune_min_u64(rtune_max_u64(request->grid, 1), dev->units);
    memset(&work.total, 0, sizeof work.total);
    if (args->n == 0) {
        enum rtune_status status = rtune_identity(&made->problem, work.total.bytes, err);
        if (status != RTUNE_OK) return status;
    } else {
        if (made->code.leaf)
            launch_tree(cpu_of(dev)->pool, &work, parts);
        else /* whole trips of the kernel, so that the bits depend on n, items and grid alone */
            launch_run(cpu_of(dev)->pool, &work, parts);
        if (args->flags & RTUNE_ROOT)
            rtune_cpu_finish_root(&made->code, &work.total);
        else
            made->code.finish(&made->code, &work.total, args->n);
    }
    launch_store(&work, made->result);
    return RTUNE_OK;
}

/* Whatever rounding the caller has set, or its linker (-ffast-math flushes subnormals): the results
 * are those of the default environment, and the caller's comes back with its flags. */
static enum rtune_status launch(rtune_device *dev, const rtune_kernel *kernel,
                                const struct rtune_launch_request *request,
                                struct rtune_error *err) {
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    const enum rtune_status status = launch_all(dev, kernel, request, err);
    fesetenv(&callers);
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static enum rtune_status mem_alloc(rtune_device *dev, size_t size, void **ptr,
                                   struct rtune_error *err) {
    const size_t align = size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
    size_t whole = size ? size : 1;
    (void)dev;
    void *made = NULL;
    if (whole <= SIZE_MAX - align) {
        whole = (whole + align - 1) / align * align;
        made = aligned_alloc(align, whole);
    }
    if (!made) return rtune_err_set(err, RTUNE_NO_MEMORY, "cpu: no memory for %zu bytes", size);
#ifdef MADV_HUGEPAGE
    /* Advice: no loss where the system does not take it. */
    if (align == HUGE_PAGE) (void)madvise(made, whole, MADV_HUGEPAGE);
#endif
    *ptr = made;
    return RTUNE_OK;
}

static void mem_free(rtune_device *dev, void *ptr) {
    (void)dev;
    free(ptr);
}

static enum rtune_status mem_set(rtune_device *dev, void *ptr, unsigned char byte, size_t size,
                                 void *stream, struct rtune_error *err) {
    (void)dev, (void)stream, (void)err;
    if (size) memset(ptr, byte, size);
    return RTUNE_OK;
}

static enum rtune_status mem_copy(rtune_device *dev, void *dst, const void *src, size_t size,
                                  struct rtune_error *err) {
    (void)dev, (void)err;
    if (size) memmove(dst, src, size);
    return RTUNE_OK;
}

static enum rtune_status mem_free_bytes(rtune_device *dev, uint64_t *bytes,
                                        struct rtune_error *err) {
    uint64_t known = rtune_cpuinfo_memory_free("");
    (void)dev;
    if (known == 0)
        return rtune_err_set(err, RTUNE_DEVICE,
                             "cpu: /proc/meminfo does not tell how much memory is free");
    *bytes = known;
    return RTUNE_OK;
}

/* ---- streams and events ---------------------------------------------------------------------- */

static enum rtune_status stream_state(rtune_device *dev, void *stream,
                                      struct rtune_stream_state *state, struct rtune_error *err) {
    (void)dev, (void)stream, (void)err;
    *state = (struct rtune_stream_state){.key = 0, .capturing = false};
    return RTUNE_OK;
}

static enum rtune_status stream_create(rtune_device *dev, void **stream, struct rtune_error *err) {
    (void)err;
    *stream = dev; /* not NULL, so that it is told from the default stream */
    return RTUNE_OK;
}

static void stream_destroy(rtune_device *dev, void *stream) { (void)dev, (void)stream; }

static enum rtune_status stream_wait(rtune_device *dev, void *stream, struct rtune_error *err) {
    (void)dev, (void)stream, (void)err;
    return RTUNE_OK;
}

static enum rtune_status event_create(rtune_device *dev, bool timing, void **event,
                                      struct rtune_error *err) {
    struct cpu_event *made = calloc(1, sizeof *made);
    (void)dev, (void)timing;
    if (!made) return rtune_err_set(err, RTUNE_NO_MEMORY, "cpu: no memory for an event");
    *event = made;
    return RTUNE_OK;
}

static void event_destroy(rtune_device *dev, void *event) {
    (void)dev;
    free(event);
}

static enum rtune_status event_record(rtune_device *dev, void *event, void *stream,
                                      struct rtune_error *err) {
    struct cpu_event *stamp = event;
    (void)dev, (void)stream, (void)err;
    stamp->recorded = true;
    stamp->ns = rtune_clock_ns();
    return RTUNE_OK;
}

/* As on CUDA, an event that was never recorded is done. */
static enum rtune_status event_done(rtune_device *dev, void *event, bool *done,
                                    struct rtune_error *err) {
    (void)dev, (void)event, (void)err;
    *done = true;
    return RTUNE_OK;
}

static enum rtune_status event_us(rtune_device *dev, void *first, void *last, double *us,
                                  struct rtune_error *err) {
    const struct cpu_event *a = first, *b = last;
    (void)dev;
    if (!a->recorded || !b->recorded)
        return rtune_err_set(err, RTUNE_INVALID, "cpu: the event was not recorded");
    *us = ((double)b->ns - (double)a->ns) / 1000.0;
    return RTUNE_OK;
}

/* ---- device ---------------------------------------------------------------------------------- */

static void device_close(rtune_device *dev) {
    if (!dev) return;
    rtune_pool_free(cpu_of(dev)->pool);
    free(dev);
}

static const struct rtune_device_ops cpu_ops = {
    .close = device_close,
    .kernel_open = kernel_open,
    .kernel_close = kernel_close,
    .kernel_resident = kernel_resident,
    .launch = launch,
    .stream_state = stream_state,
    .mem_alloc = mem_alloc,
    .mem_free = mem_free,
    .mem_set = mem_set,
    .mem_put = mem_copy,
    .mem_get = mem_copy,
    .mem_free_bytes = mem_free_bytes,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_done = event_done,
    .event_us = event_us,
};

static void fill_identity(const struct rtune_cpuinfo *info, uint32_t threads,
                          struct rtune_identity *identity) {
    memset(identity, 0, sizeof *identity);
    memcpy(identity->model, info->model, sizeof identity->model);
    memcpy(identity->name, info->model, sizeof info->model);
    strncpy(identity->isa, rtune_isa_name(rtune_isa_detect()), sizeof identity->isa - 1);
    identity->cores = threads;
    identity->l1_bytes = info->l1_bytes;
    identity->l3_bytes = info->l3_bytes;
    identity->memory_bytes = info->memory_bytes;
}

/* Threads of a request: as many as are usable, or fewer. */
static uint32_t thread_count(const struct rtune_cpuinfo *info, uint32_t wanted) {
    uint64_t most = rtune_min_u64(info->usable, RTUNE_POOL_MAX);
    return (uint32_t)(wanted ? rtune_min_u64(wanted, most) : most);
}

static enum rtune_status open_threads(const struct rtune_cpuinfo *info, uint32_t threads,
                                      const struct rtune_log *log, rtune_device **dev,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct cpu_device *made = calloc(1, sizeof *made);
    if (!made) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "cpu: no memory for a device"));
    /* Where threads outnumber processors, one that spins keeps another from its work. */
    TRY(rtune_pool_create(threads, threads <= info->usable ? SPIN_NS : 0, &made->pool, err));
    made->isa = rtune_isa_detect();
    made->base.ops = &cpu_ops;
    made->base.units = rtune_pool_threads(made->pool);
    made->base.log = log;
    memcpy(made->base.name, "cpu", sizeof "cpu");
    fill_identity(info, made->base.units, &made->base.identity);
    if (made->base.units < threads)
        rtune_log_write(log, RTUNE_LOG_WARN,
                        "cpu: %u threads instead of %u: the system refuses more",
                        (unsigned)made->base.units, (unsigned)threads);
    *dev = &made->base;
    made = NULL;
done:
    free(made);
    return status;
}

enum rtune_status rtune_device_open_cpu(const struct rtune_device_request *request,
                                        rtune_device **dev, struct rtune_error *err) {
    struct rtune_cpuinfo info;
    rtune_cpuinfo_read("", &info);
    return open_threads(&info, thread_count(&info, request->threads), request->log, dev, err);
}

enum rtune_status rtune_device_cpu_open_exact(uint32_t threads, const struct rtune_log *log,
                                              rtune_device **dev, struct rtune_error *err) {
    struct rtune_cpuinfo info;
    rtune_cpuinfo_read("", &info);
    return open_threads(&info, threads, log, dev, err);
}

enum rtune_status rtune_device_cpu_identity(uint32_t threads, struct rtune_identity *identity,
                                            struct rtune_error *err) {
    struct rtune_cpuinfo info;
    (void)err;
    rtune_cpuinfo_read("", &info);
    fill_identity(&info, thread_count(&info, threads), identity);
    return RTUNE_OK;
}
