/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/rtune_int.h: the handle, and what the files of runtime/ share. Private to runtime/ and
 * its tests.
 *
 * The handle owns everything below it. Three things change after open, each in its own way: the
 * index is swapped whole by an atomic pointer, prepared kernels are only ever added, workspaces
 * have a lock of their own. Readers of the index and of prepared kernels take no lock.
 */
#ifndef RTUNE_RUNTIME_RTUNE_INT_H
#define RTUNE_RUNTIME_RTUNE_INT_H

#include "runtime/device.h"
#include "runtime/index.h"
#include "runtime/override.h"
#include "runtime/prepared.h"
#include "runtime/workspace.h"

#include <pthread.h>
#include <stdatomic.h>

struct rtune {
    rtune_device *dev;
    struct rtune_log log;
    char identity[RTUNE_IDENTITY_KEY];
    char *store; /* struct rtune_options.store; NULL: none was given */
    struct rtune_override override;
    _Atomic(struct rtune_index *) index;
    pthread_mutex_t reload_lock; /* guards the swap of index and its chain of retired ones */
    struct rtune_kernels kernels;
    struct rtune_workspaces workspaces; /* cuda only */
};

/* rtune_open on a device that is open already. The handle owns the device, also when this fails.
 * opts may be NULL; its device and threads are ignored. */
enum rtune_status rtune_open_on(rtune **rt, rtune_device *dev, const struct rtune_options *opts,
                                struct rtune_error *err);

static inline const struct rtune_index *rtune_current_index(const rtune *rt) {
    return atomic_load_explicit(&rt->index, memory_order_acquire);
}

/* The caller's arguments, of this or an earlier version of the interface, as those of this version.
 * INVALID if they do not fit the checked problem (NULLs, alignment, sizes, in2) or their launch
 * record has no size. */
enum rtune_status rtune_args_read(const rtune *rt, const struct rtune_problem *problem,
                                  const struct rtune_args *given, struct rtune_args *args,
                                  struct rtune_error *err);
/* INVALID unless a record is as large as that of 0.1.0; and a record into the caller's. */
enum rtune_status rtune_launch_check(const struct rtune_launch *given, struct rtune_error *err);
void rtune_launch_give(const struct rtune_launch *launch, struct rtune_launch *given);

/* Enqueue one reduction. problem is the caller's (its n and flags count). */
struct rtune_enqueue {
    const struct rtune_problem *problem;
    const struct rtune_args *args;
    const rtune_kernel *kernel;
    void *workspace;
    void *stream;
    uint32_t grid;
};
enum rtune_status rtune_enqueue(rtune *rt, const struct rtune_enqueue *call,
                                struct rtune_error *err);

/* The profiles that come with the library, as a store image; size 0 if the build had none. */
const void *rtune_shipped_image(size_t *size);

#endif /* RTUNE_RUNTIME_RTUNE_INT_H */
