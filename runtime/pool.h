/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/pool.h: the threads of one cpu device. A run splits work into numbered parts, one per
 * thread, the caller's included, and joins their values in order.
 *
 * A thread that had work spins for a bounded time and then sleeps in the kernel. Threads wake each
 * other as a binary tree, so that the caller pays for two wake-ups at most; and it does the parts
 * that no thread has begun when it is done with its own, so that a run is never much slower than
 * one thread alone.
 *
 * Threads: any number may call rtune_pool_run on one pool at the same time; the first gets the
 * threads, the others do all of their parts themselves, with the same result. rtune_pool_free needs
 * exclusive use. After fork() the child has none of the threads: it must not use, nor free, a pool
 * of its parent.
 */
#ifndef RTUNE_RUNTIME_POOL_H
#define RTUNE_RUNTIME_POOL_H

#include "base/err.h"
#include "kernels/cpu/cpu.h"

typedef struct rtune_pool rtune_pool;

/* What a run does. part makes the value of part k, on any thread; join takes it, on the caller's
 * thread, for k = 0, 1, ... in order. */
struct rtune_pool_work {
    void (*part)(void *context, uint32_t k, union rtune_cpu_value *value);
    void (*join)(void *context, uint32_t k, const union rtune_cpu_value *value);
    void *context;
};

enum { RTUNE_POOL_MAX = 4096 }; /* threads of one pool */

/* Start threads - 1 threads, each spinning for spin_ns nanoseconds before it sleeps. Where the
 * system refuses some, the pool has fewer. Errors: INVALID (threads not 1 ... RTUNE_POOL_MAX),
 * NO_MEMORY. */
enum rtune_status rtune_pool_create(uint32_t threads, uint64_t spin_ns, rtune_pool **pool,
                                    struct rtune_error *err);
/* Stop and join the threads. NULL is accepted. */
void rtune_pool_free(rtune_pool *pool);
/* How many there are, the caller's included. */
uint32_t rtune_pool_threads(const rtune_pool *pool);

/* Do parts parts, done on return. Where there are more than rtune_pool_threads, or the pool is
 * busy, the caller does all of them. Neither allocates nor fails. */
void rtune_pool_run(rtune_pool *pool, uint32_t parts, const struct rtune_pool_work *work);

#endif /* RTUNE_RUNTIME_POOL_H */
