/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c: a word per direction and thread. A signaller adds 2 to a word; a waiter that gives up spinning
 * sets its bit 0 and sleeps on it, so that only then the signaller pays for a system call.
 */
#include "runtime/pool.h"

#include "base/clock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LINE = 128,       /* two cache lines: processors fetch them in pairs */
    SPINS_A_LOOK = 32 /* pauses between two looks at the clock */
};

/* One thread of the pool but the caller's. The caller (or the parent in the tree) writes order, the thread
 * writes done and value. */
struct slot {
    _Alignas(LINE) _Atomic uint32_t order;
    rtune_pool *pool;
    pthread_t thread;
    uint32_t index;
    _Alignas(LINE) _Atomic uint32_t done;
    union rtune_cpu_value value;
    _Alignas(LINE) uint32_t joined; /* done as of the last run: the callers' own */
};

struct rtune_pool {
    /* Written by the caller of a run before any order, read by the threads after it. */
    struct rtune_pool_work work;
    uint32_t parts;
    bool stop;

    uint64_t spin_ns;
    uint32_t threads;
    pthread_mutex_t busy;
    struct slot *slots; /* threads of them; [0] stands for the caller and is not used */
};

/* ---- words ----------------------------------------------------------------------------------- */

static const uint32_t ASLEEP = 1, STEP = 2;

static void word_sleep(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void word_signal(_Atomic uint32_t *word) {
    uint32_t now = atomic_load_explicit(word, memory_order_relaxed) & ~ASLEEP;
    uint32_t was = atomic_exchange_explicit(word, now + STEP, memory_order_acq_rel);
    if (was & ASLEEP) syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool word_is(_Atomic uint32_t *word, uint32_t value) {
    return (atomic_load_explicit(word, memory_order_acquire) & ~ASLEEP) == value;
}

/* Wait until the word is no longer value. */
static void word_wait(_Atomic uint32_t *word, uint32_t value, uint64_t spin_ns) {
    if (!word_is(word, value)) return;
    for (uint64_t start = rtune_clock_ns(); rtune_clock_ns() - start < spin_ns;)
        for (int k = 0; k < SPINS_A_LOOK; k++) {
            if (!word_is(word, value)) return;
            pause_cpu();
        }
    for (;;) {
        uint32_t now = value;
        if (!atomic_compare_exchange_strong_explicit(word, &now, value | ASLEEP, memory_order_acq_rel,
                                                     memory_order_acquire) &&
            now != (value | ASLEEP))
            return;
        word_sleep(word, value | ASLEEP);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Order the children of thread k in the tree: 2k + 1 and 2k + 2. */
static void order_children(rtune_pool *pool, uint32_t k, uint32_t parts) {
    for (uint32_t child = 2 * k + 1; child <= 2 * k + 2 && child < parts; child++)
        word_signal(&pool->slots[child].order);
}

static void *thread_main(void *argument) {
    struct slot *slot = argument;
    rtune_pool *pool = slot->pool;
    for (uint32_t seen = 0;; seen += STEP) {
        word_wait(&slot->order, seen, pool->spin_ns);
        if (pool->stop) return NULL;
        order_children(pool, slot->index, pool->parts);
        pool->work.part(pool->work.context, slot->index, &slot->value);
        word_signal(&slot->done);
    }
}

uint32_t rtune_pool_threads(const rtune_pool *pool) { return pool->threads; }

/* Threads take no signals: those are for the program's own. */
static void start_threads(rtune_pool *pool, uint32_t threads) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pool->threads = 1; pool->threads < threads; pool->threads++) {
        struct slot *slot = &pool->slots[pool->threads];
        slot->pool = pool;
        slot->index = pool->threads;
        if (pthread_create(&slot->thread, NULL, thread_main, slot) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

enum rtune_status rtune_pool_create(uint32_t threads, uint64_t spin_ns, rtune_pool **pool,
                                    struct rtune_error *err) {
    if (threads < 1 || threads > RTUNE_POOL_MAX)
        return rtune_err_set(err, RTUNE_INVALID, "cpu: %u threads (1 to %d are allowed)",
                             (unsigned)threads, RTUNE_POOL_MAX);
    rtune_pool *made = calloc(1, sizeof *made);
    struct slot *slots = made ? aligned_alloc(LINE, threads * sizeof *slots) : NULL;
    if (!slots) {
        free(made);
        return rtune_err_set(err, RTUNE_NO_MEMORY, "cpu: no memory for %u threads", (unsigned)threads);
    }
    memset(slots, 0, threads * sizeof *slots);
    made->slots = slots;
    made->spin_ns = spin_ns;
    pthread_mutex_init(&made->busy, NULL);
    start_threads(made, threads);
    *pool = made;
    return RTUNE_OK;
}

void rtune_pool_free(rtune_pool *pool) {
    if (!pool) return;
    pool->stop = true;
    for (uint32_t k = 1; k < pool->threads; k++) word_signal(&pool->slots[k].order);
    for (uint32_t k = 1; k < pool->threads; k++) pthread_join(pool->slots[k].thread, NULL);
    pthread_mutex_destroy(&pool->busy);
    free(pool->slots);
    free(pool);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void run_alone(uint32_t parts, const struct rtune_pool_work *work) {
    for (uint32_t k = 0; k < parts; k++) {
        union rtune_cpu_value value;
        work->part(work->context, k, &value);
        work->join(work->context, k, &value);
    }
}

static void run_together(rtune_pool *pool, uint32_t parts, const struct rtune_pool_work *work) {
    union rtune_cpu_value own;
    pool->work = *work;
    pool->parts = parts;
    order_children(pool, 0, parts);
    work->part(work->context, 0, &own);
    work->join(work->context, 0, &own);
    for (uint32_t k = 1; k < parts; k++) {
        struct slot *slot = &pool->slots[k];
        word_wait(&slot->done, slot->joined, pool->spin_ns);
        slot->joined += STEP;
        work->join(work->context, k, &slot->value);
    }
}

void rtune_pool_run(rtune_pool *pool, uint32_t parts, const struct rtune_pool_work *work) {
    if (parts <= 1 || parts > pool->threads || pthread_mutex_trylock(&pool->busy) != 0) {
        run_alone(parts, work);
        return;
    }
    run_together(pool, parts, work);
    pthread_mutex_unlock(&pool->busy);
}
