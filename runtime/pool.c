/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c: one word per thread says where its part stands:
 *
 *   FREE -> OPEN (the caller offers it) -> TAKEN (the thread claims it) -> FREE (the thread is
 * done)
 *                                       -> FREE (the caller claims it)
 *
 * Whoever gives up spinning for a change adds a flag, ASLEEP (the thread, while FREE) or WATCHED
 * (the caller, while TAKEN), and sleeps on the word, so that only then the other side pays for a
 * system call. A thread looks at the run only once it has claimed its part, since only then the run
 * cannot end without it.
 */
#include "runtime/pool.h"

#include "base/clock.h"

#include <fenv.h>
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

enum { FREE = 0, OPEN = 1, TAKEN = 2, PHASES = 3, ASLEEP = 4, WATCHED = 8, STOP = 16 };

/* One thread of the pool but the caller's, and its part of a run. */
struct slot {
    _Alignas(LINE) _Atomic uint32_t word;
    union rtune_cpu_value value;
    _Alignas(LINE) rtune_pool *pool;
    pthread_t thread;
    uint32_t index;
};

struct rtune_pool {
    /* The run: written by its caller before any offer, read by the threads that claim. */
    struct rtune_pool_work work;
    uint32_t parts;

    uint64_t spin_ns;
    uint32_t threads;
    pthread_mutex_t busy;
    struct slot *slots; /* threads of them; [0] stands for the caller and is not used */
};

/* ---- words ----------------------------------------------------------------------------------- */

static uint32_t word_read(_Atomic uint32_t *word) {
    return atomic_load_explicit(word, memory_order_acquire);
}

static bool word_change(_Atomic uint32_t *word, uint32_t *from, uint32_t to) {
    return atomic_compare_exchange_strong_explicit(word, from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

static void word_sleep(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void word_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spin until word & mask is value, or spin_ns have passed; its last value. */
static uint32_t word_spin(_Atomic uint32_t *word, uint32_t mask, uint32_t value, uint64_t spin_ns) {
    uint32_t now = word_read(word);
    if ((now & mask) == value || spin_ns == 0) return now;
    for (uint64_t start = rtune_clock_ns(); rtune_clock_ns() - start < spin_ns;)
        for (int k = 0; k < SPINS_A_LOOK; k++) {
            pause_cpu();
            now = word_read(word);
            if ((now & mask) == value) return now;
        }
    return now;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Wake the children of part k in the tree, 2k + 1 and 2k + 2, where they sleep. */
static void wake_children(rtune_pool *pool, uint32_t k, uint32_t parts) {
    for (uint32_t child = 2 * k + 1; child <= 2 * k + 2 && child < parts; child++) {
        _Atomic uint32_t *word = &pool->slots[child].word;
        if (!(word_read(word) & ASLEEP)) continue;
        if (atomic_fetch_and_explicit(word, ~(uint32_t)ASLEEP, memory_order_acq_rel) & ASLEEP)
            word_wake(word);
    }
}

/* Claim the part as soon as it is offered; false to stop. Without work lately, sleep at once. */
static bool claim(struct slot *slot, uint64_t spin_ns) {
    uint32_t now = word_spin(&slot->word, OPEN, OPEN, spin_ns);
    for (;;) {
        if (now & STOP) return false;
        if (now & OPEN) {
            if (word_change(&slot->word, &now, TAKEN)) return true;
        } else if ((now & ASLEEP) || word_change(&slot->word, &now, now | ASLEEP)) {
            word_sleep(&slot->word, FREE | ASLEEP);
            now = word_read(&slot->word);
        }
    }
}

static void *thread_main(void *argument) {
    struct slot *slot = argument;
    rtune_pool *pool = slot->pool;
    fesetenv(FE_DFL_ENV); /* not that of the thread that made it */
    for (uint64_t spin_ns = 0; claim(slot, spin_ns); spin_ns = pool->spin_ns) {
        wake_children(pool, slot->index, pool->parts);
        pool->work.part(pool->work.context, slot->index, &slot->value);
        if (atomic_exchange_explicit(&slot->word, FREE, memory_order_acq_rel) & WATCHED)
            word_wake(&slot->word);
    }
    return NULL;
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
        return rtune_err_set(err, RTUNE_NO_MEMORY, "cpu: no memory for %u threads",
                             (unsigned)threads);
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
    for (uint32_t k = 1; k < pool->threads; k++) {
        atomic_fetch_or_explicit(&pool->slots[k].word, STOP, memory_order_acq_rel);
        word_wake(&pool->slots[k].word);
    }
    for (uint32_t k = 1; k < pool->threads; k++)
        pthread_join(pool->slots[k].thread, NULL);
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

/* Do part k here if its thread has not begun; the thread's duty to wake its children comes with it.
 */
static void take_over(rtune_pool *pool, uint32_t k, const struct rtune_pool_work *work) {
    struct slot *slot = &pool->slots[k];
    uint32_t now = word_read(&slot->word);
    while (now & OPEN)
        if (word_change(&slot->word, &now, now & ~(uint32_t)OPEN)) {
            wake_children(pool, k, pool->parts);
            work->part(work->context, k, &slot->value);
            return;
        }
}

/* Wait until the thread is done with its part. */
static void await(struct slot *slot, uint64_t spin_ns) {
    uint32_t now = word_spin(&slot->word, PHASES, FREE, spin_ns);
    while (now & PHASES) {
        if (!(now & WATCHED) && !word_change(&slot->word, &now, now | WATCHED)) continue;
        word_sleep(&slot->word, TAKEN | WATCHED);
        now = word_read(&slot->word);
    }
}

static void run_together(rtune_pool *pool, uint32_t parts, const struct rtune_pool_work *work) {
    union rtune_cpu_value own;
    pool->work = *work;
    pool->parts = parts;
    for (uint32_t k = 1; k < parts; k++)
        atomic_fetch_or_explicit(&pool->slots[k].word, OPEN, memory_order_acq_rel);
    wake_children(pool, 0, parts);
    work->part(work->context, 0, &own);
    for (uint32_t k = 1; k < parts; k++)
        take_over(pool, k, work);
    work->join(work->context, 0, &own);
    for (uint32_t k = 1; k < parts; k++) {
        await(&pool->slots[k], pool->spin_ns);
        work->join(work->context, k, &pool->slots[k].value);
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
