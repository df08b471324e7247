/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/workspace.h: the handle's workspaces, one device allocation made and zeroed at open, and
 * the rules by which streams get them. One workspace is never in flight on two streams.
 *
 * The first half is bound for good to the first streams seen, which costs nothing per call. The
 * second half is recycled: an event is recorded after each launch, and a stream that has none takes
 * the least recently used workspace whose event is done. A captured call takes one until close.
 * Thread-safe; a known stream is found without a lock.
 */
#ifndef RTUNE_RUNTIME_WORKSPACE_H
#define RTUNE_RUNTIME_WORKSPACE_H

#include "runtime/device.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RTUNE_WORKSPACES_DEFAULT = 64, RTUNE_WORKSPACES_MAX = 4096, RTUNE_WORKSPACE_ALIGN = 256 };

struct rtune_slot {
    void *workspace;
    void *event;            /* recycled half only */
    _Atomic uint64_t tag;   /* stream it is bound to; 0: none */
    _Atomic uint32_t users; /* calls between acquire and release; top bit: being rebound */
    _Atomic uint64_t used;  /* time of the last use, for the least recently used */
    _Atomic bool dirty;     /* a launch failed: zero it before the next one */
    _Atomic bool unfenced;  /* a launch may be in flight that no event covers: never rebind it */
    bool taken;             /* bound or captured; guarded by the lock */
};

struct rtune_slot_entry {
    _Atomic uint64_t tag; /* 0: never used, 1: removed */
    _Atomic uint32_t slot;
};

struct rtune_workspaces {
    rtune_device *dev; /* NULL: not open */
    const struct rtune_log *log;
    void *base;
    size_t stride;
    uint32_t count, fixed; /* slots; the first of them that are bound for good */
    struct rtune_slot *slots;
    struct rtune_slot_entry *entries; /* open addressing, mask + 1 of them */
    uint32_t mask;
    uint32_t removed; /* entries that are, at most; guarded by the lock */
    _Atomic uint64_t time;
    pthread_mutex_t lock;
};

/* Bytes of one workspace, aligned. */
size_t rtune_workspace_stride(void);
/* Zero memory and wait, touching no stream but one of its own. */
enum rtune_status rtune_workspace_zero(rtune_device *dev, void *ptr, size_t size,
                                       struct rtune_error *err);

/* count 0: the default. Errors: INVALID (count), DEVICE, NO_MEMORY. */
enum rtune_status rtune_workspaces_open(struct rtune_workspaces *ws, rtune_device *dev,
                                        uint32_t count, const struct rtune_log *log,
                                        struct rtune_error *err);
void rtune_workspaces_close(struct rtune_workspaces *ws);

/* A workspace for one launch, ready to use on this stream. */
struct rtune_lease {
    void *workspace;
    struct rtune_slot *slot;
    bool captured;
};
/* Errors: NO_WORKSPACE, DEVICE (the memset of a dirty one failed); nothing is held then. */
enum rtune_status rtune_workspaces_acquire(struct rtune_workspaces *ws, void *stream,
                                           const struct rtune_stream_state *state,
                                           struct rtune_lease *lease, struct rtune_error *err);
/* After the launch was enqueued, or failed. */
void rtune_workspaces_release(struct rtune_workspaces *ws, const struct rtune_lease *lease,
                              void *stream, bool launched);

#endif /* RTUNE_RUNTIME_WORKSPACE_H */
