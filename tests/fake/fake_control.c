/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_control.c: the lock, the log of calls and the failures of the fake driver. */
#include "tests/fake/fake_int.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_MAX = 65536, SYMBOLS_MAX = 128 };

struct fake fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t threads;

static struct {
    struct {
        const char *symbol;
        uint64_t calls;
    } symbols[SYMBOLS_MAX];
    const char *log[CALLS_MAX];
    size_t logged;
    const char *fail_symbol;
    uint64_t fail_in;
    CUresult fail_result, injected;
    bool failed;
} control;

/* ---- entering and leaving -------------------------------------------------------------------- */

static void count(const char *symbol) {
    for (size_t i = 0; i < SYMBOLS_MAX; i++) {
        if (!control.symbols[i].symbol) control.symbols[i].symbol = symbol;
        if (strcmp(control.symbols[i].symbol, symbol) != 0) continue;
        control.symbols[i].calls++;
        break;
    }
    if (control.logged < CALLS_MAX) control.log[control.logged++] = symbol;
    if (!fake.settings.log[0]) return;
    int fd = open(fake.settings.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    char line[128];
    int length = snprintf(line, sizeof line, "%s\n", symbol);
    if (fd >= 0 && write(fd, line, (size_t)length) != length) abort();
    if (fd >= 0) close(fd);
}

static bool must_fail(const char *symbol) {
    if (control.fail_in == 0 || (control.fail_symbol && strcmp(control.fail_symbol, symbol) != 0))
        return false;
    if (--control.fail_in > 0) return false;
    control.failed = true;
    control.injected = control.fail_result;
    return true;
}

bool fake_enter(const char *symbol) {
    pthread_mutex_lock(&lock);
    count(symbol);
    if (must_fail(symbol)) return false;
    bool early = strcmp(symbol, "cuInit") == 0 || strcmp(symbol, "cuDriverGetVersion") == 0;
    /* As with the real one, a child of a process that initialised the driver cannot use it. */
    if (early || (fake.initialised && fake.process == (long)getpid())) return true;
    control.injected = CUDA_ERROR_NOT_INITIALIZED;
    return false;
}

CUresult fake_injected(void) { return control.injected; }

CUresult fake_leave(CUresult result) {
    pthread_mutex_unlock(&lock);
    return result;
}

void fake_hang(void) {
    pthread_mutex_unlock(&lock);
    for (;;)
        pause();
}

uint64_t fake_thread(void) {
    static _Thread_local uint64_t mine;
    if (mine == 0) mine = ++threads;
    return mine;
}

void fake_problem(const char *fmt, ...) {
    char text[sizeof fake.problem];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "fake driver: %s\n", text);
    if (!fake.problem[0]) memcpy(fake.problem, text, sizeof text);
}

/* ---- what tests ask -------------------------------------------------------------------------- */

static void free_all(void) {
    struct fake_context *context;
    while ((context = fake.contexts)) {
        fake_context_clear(context);
        fake.contexts = context->next;
        free(context);
    }
    while (fake.graphs) {
        struct fake_graph *graph = fake.graphs;
        graph->alive = false;
        graph->pending = 0;
        fake_graph_release(graph);
    }
    while (fake.captures) {
        struct fake_capture *capture = fake.captures;
        fake.captures = capture->next;
        free(capture);
    }
}

void fake_cuda_reset(void) {
    pthread_mutex_lock(&lock);
    free_all();
    fake_thread_forget();
    fake_mode_forget();
    memset(&fake, 0, sizeof fake);
    memset(&control, 0, sizeof control);
    fake_settings_read(&fake.settings);
    pthread_mutex_unlock(&lock);
}

uint64_t fake_cuda_calls(const char *symbol) {
    uint64_t calls = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SYMBOLS_MAX && control.symbols[i].symbol; i++)
        if (!symbol || strcmp(control.symbols[i].symbol, symbol) == 0)
            calls += control.symbols[i].calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

const char *fake_cuda_call_at(size_t k) {
    pthread_mutex_lock(&lock);
    const char *symbol = k < control.logged ? control.log[k] : NULL;
    pthread_mutex_unlock(&lock);
    return symbol;
}

void fake_cuda_mark(void) {
    pthread_mutex_lock(&lock);
    control.logged = 0;
    pthread_mutex_unlock(&lock);
}

void fake_cuda_fail(const char *symbol, uint64_t k, int result) {
    pthread_mutex_lock(&lock);
    control.fail_symbol = symbol;
    control.fail_in = k;
    control.fail_result = (CUresult)result;
    control.failed = false;
    pthread_mutex_unlock(&lock);
}

bool fake_cuda_failed(void) {
    pthread_mutex_lock(&lock);
    bool failed = control.failed;
    pthread_mutex_unlock(&lock);
    return failed;
}

const char *fake_cuda_problem(void) { return fake.problem[0] ? fake.problem : NULL; }

struct fake_cuda_live fake_cuda_live(void) {
    struct fake_cuda_live live = {0};
    pthread_mutex_lock(&lock);
    for (struct fake_context *c = fake.contexts; c; c = c->next)
        live.contexts += c->primary ? (size_t)c->retained : c->alive;
    for (struct fake_allocation *a = fake.allocations; a; a = a->next)
        live.allocations++;
    for (struct fake_stream *s = fake.streams; s; s = s->next)
        live.streams += s->alive && !s->legacy && !s->thread;
    for (struct fake_event *e = fake.events; e; e = e->next)
        live.events += e->alive;
    for (struct fake_module *m = fake.modules; m; m = m->next)
        live.modules++;
    for (struct fake_graph *g = fake.graphs; g; g = g->next)
        live.graphs += g->alive;
    pthread_mutex_unlock(&lock);
    return live;
}

size_t fake_cuda_pending(void) {
    size_t pending = 0;
    pthread_mutex_lock(&lock);
    for (struct fake_stream *s = fake.streams; s; s = s->next)
        for (struct fake_op *op = s->head; op; op = op->next)
            pending++;
    pthread_mutex_unlock(&lock);
    return pending;
}
