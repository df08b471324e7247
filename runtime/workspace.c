/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/workspace.c: slots and the streams they are bound to.
 *
 * A stream's tag is its key + 2, so that 0 and 1 can mark table entries that are empty and removed.
 * A slot of the recycled half counts its users, so that it is never rebound between a call's
 * acquire and release; what runs on the device after that is covered by the slot's event.
 */
#include "runtime/workspace.h"

#include "base/num.h"

#include <stdlib.h>

enum { TAG_EMPTY = 0, TAG_REMOVED = 1, TAG_BIAS = 2 };
#define REBINDING UINT32_C(0x80000000)

size_t rtune_workspace_stride(void) {
    return (size_t)rtune_ceil_div(rtune_workspace_bytes(), RTUNE_WORKSPACE_ALIGN) *
           RTUNE_WORKSPACE_ALIGN;
}

enum rtune_status rtune_workspace_zero(rtune_device *dev, void *ptr, size_t size,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    void *stream = NULL;
    TRY(dev->ops->stream_create(dev, &stream, err));
    status = dev->ops->mem_set(dev, ptr, 0, size, stream, err);
    if (status == RTUNE_OK) status = dev->ops->stream_wait(dev, stream, err);
    dev->ops->stream_destroy(dev, stream);
done:
    return status;
}

/* ---- open and close ----------------------------------------------------------------------------
 */

static enum rtune_status make_slots(struct rtune_workspaces *ws, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    for (uint32_t i = 0; i < ws->count; i++) {
        ws->slots[i].workspace = (unsigned char *)ws->base + i * ws->stride;
        if (i >= ws->fixed) {
            TRY(ws->dev->ops->event_create(ws->dev, false, &ws->slots[i].event, err));
        }
    }
done:
    return status;
}

enum rtune_status rtune_workspaces_open(struct rtune_workspaces *ws, rtune_device *dev,
                                        uint32_t count, const struct rtune_log *log,
                                        struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (count == 0) count = RTUNE_WORKSPACES_DEFAULT;
    if (count > RTUNE_WORKSPACES_MAX) {
        return rtune_err_set(err, RTUNE_INVALID, "workspaces: %u is too many (1 to %d)",
                             (unsigned)count, RTUNE_WORKSPACES_MAX);
    }
    pthread_mutex_init(&ws->lock, NULL);
    ws->dev = dev;
    ws->log = log;
    ws->count = count;
    ws->fixed = count - count / 2;
    ws->stride = rtune_workspace_stride();
    ws->mask = 3;
    while (ws->mask < 4 * count)
        ws->mask = 2 * ws->mask + 1;
    ws->slots = calloc(count, sizeof *ws->slots);
    ws->entries = calloc((size_t)ws->mask + 1, sizeof *ws->entries);
    if (!ws->slots || !ws->entries) {
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "workspaces: out of memory"));
    }
    TRY(dev->ops->mem_alloc(dev, count * ws->stride, &ws->base, err));
    TRY(rtune_workspace_zero(dev, ws->base, count * ws->stride, err));
    TRY(make_slots(ws, err));
done:
    if (status != RTUNE_OK) rtune_workspaces_close(ws);
    return status;
}

void rtune_workspaces_close(struct rtune_workspaces *ws) {
    if (!ws->dev) return;
    for (uint32_t i = 0; ws->slots && i < ws->count; i++) {
        if (ws->slots[i].event) ws->dev->ops->event_destroy(ws->dev, ws->slots[i].event);
    }
    if (ws->base) ws->dev->ops->mem_free(ws->dev, ws->base);
    free(ws->slots);
    free(ws->entries);
    pthread_mutex_destroy(&ws->lock);
    ws->dev = NULL;
}

/* ---- from stream to slot -----------------------------------------------------------------------
 */

static uint32_t hash_tag(uint64_t tag) {
    return (uint32_t)((tag * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* The slot bound to a stream, or NULL. Without the lock this may miss one that is being moved in
 * the table; the caller looks again under the lock. */
static struct rtune_slot *find(const struct rtune_workspaces *ws, uint64_t tag) {
    uint32_t k = hash_tag(tag) & ws->mask;
    for (uint32_t probes = 0; probes <= ws->mask; probes++, k = (k + 1) & ws->mask) {
        const uint64_t seen = atomic_load_explicit(&ws->entries[k].tag, memory_order_acquire);
        if (seen == TAG_EMPTY) return NULL;
        if (seen != tag) continue;
        struct rtune_slot *slot =
            &ws->slots[atomic_load_explicit(&ws->entries[k].slot, memory_order_relaxed)];
        /* The entry may have changed hands between the two loads. */
        if (atomic_load_explicit(&slot->tag, memory_order_acquire) == tag) return slot;
    }
    return NULL;
}

/* Under the lock; the tag is not in the table. At most a quarter of the entries are in use. */
static void insert(struct rtune_workspaces *ws, uint64_t tag, uint32_t slot) {
    uint32_t k = hash_tag(tag) & ws->mask;
    while (atomic_load_explicit(&ws->entries[k].tag, memory_order_relaxed) > TAG_REMOVED) {
        k = (k + 1) & ws->mask;
    }
    atomic_store_explicit(&ws->entries[k].slot, slot, memory_order_relaxed);
    atomic_store_explicit(&ws->entries[k].tag, tag, memory_order_release);
}

/* Under the lock. Now and then all removed entries are cleared away, so that the table never fills
 * with them however many streams come and go. A stream that looks for its entry meanwhile may miss
 * it, and then waits for the lock to look again. */
static void drop(struct rtune_workspaces *ws, uint64_t tag) {
    uint32_t k = hash_tag(tag) & ws->mask;
    while (atomic_load_explicit(&ws->entries[k].tag, memory_order_relaxed) != tag) {
        k = (k + 1) & ws->mask;
    }
    atomic_store_explicit(&ws->entries[k].tag, TAG_REMOVED, memory_order_release);
    if (++ws->removed <= ws->mask / 4) return;
    ws->removed = 0;
    for (k = 0; k <= ws->mask; k++) {
        atomic_store_explicit(&ws->entries[k].tag, TAG_EMPTY, memory_order_release);
    }
    for (uint32_t i = 0; i < ws->count; i++) {
        const uint64_t live = atomic_load_explicit(&ws->slots[i].tag, memory_order_relaxed);
        if (live != TAG_EMPTY && live != tag) insert(ws, live, i);
    }
}

static bool is_fixed(const struct rtune_workspaces *ws, const struct rtune_slot *slot) {
    return slot < ws->slots + ws->fixed;
}

/* Count this call as a user, unless the slot is being rebound or is another stream's by now. */
static bool enter(struct rtune_slot *slot, uint64_t tag) {
    uint32_t users = atomic_load_explicit(&slot->users, memory_order_relaxed);
    do {
        if (users & REBINDING) return false;
    } while (!atomic_compare_exchange_weak_explicit(&slot->users, &users, users + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    if (atomic_load_explicit(&slot->tag, memory_order_acquire) == tag) return true;
    atomic_fetch_sub_explicit(&slot->users, 1, memory_order_release);
    return false;
}

/* ---- binding, under the lock -------------------------------------------------------------------
 */

/* Give a slot that was closed to others to a stream, with this call as its first user; tag EMPTY:
 * to a captured call, which is found by nobody. */
static void bind(struct rtune_workspaces *ws, struct rtune_slot *slot, uint64_t tag) {
    const uint64_t old = atomic_load_explicit(&slot->tag, memory_order_relaxed);
    const bool counted = tag != TAG_EMPTY && !is_fixed(ws, slot);
    if (old != TAG_EMPTY) drop(ws, old);
    slot->taken = true;
    atomic_store_explicit(&slot->tag, tag, memory_order_release);
    if (tag != TAG_EMPTY) insert(ws, tag, (uint32_t)(slot - ws->slots));
    atomic_store_explicit(&slot->users, counted ? 1 : 0, memory_order_release);
}

/* Keep all other calls out of a slot; false if one is in. */
static bool shut(struct rtune_slot *slot) {
    uint32_t none = 0;
    return atomic_compare_exchange_strong_explicit(&slot->users, &none, REBINDING,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Shut a recycled slot; false if a call is in, or if its last launch may be running. */
static bool seize(struct rtune_workspaces *ws, struct rtune_slot *slot) {
    bool done = false;
    if (!shut(slot)) return false;
    if (!atomic_load_explicit(&slot->unfenced, memory_order_acquire) &&
        ws->dev->ops->event_done(ws->dev, slot->event, &done, NULL) == RTUNE_OK && done) {
        return true;
    }
    atomic_store_explicit(&slot->users, 0, memory_order_release);
    return false;
}

/* The least recently used slot of the recycled half that is idle, seized; NULL if all are busy. */
static struct rtune_slot *seize_idle(struct rtune_workspaces *ws) {
    uint64_t after = 0; /* slots used up to then were tried: each use has its own time */
    for (uint32_t tries = ws->fixed; tries < ws->count; tries++) {
        struct rtune_slot *best = NULL;
        uint64_t best_time = UINT64_MAX;
        for (uint32_t i = ws->fixed; i < ws->count; i++) {
            struct rtune_slot *slot = &ws->slots[i];
            const uint64_t time = atomic_load_explicit(&slot->used, memory_order_relaxed);
            if (atomic_load_explicit(&slot->tag, memory_order_relaxed) == TAG_EMPTY) continue;
            if (time > after && time < best_time) {
                best = slot;
                best_time = time;
            }
        }
        if (!best) return NULL;
        if (seize(ws, best)) return best;
        after = best_time;
    }
    return NULL;
}

static struct rtune_slot *find_slot(struct rtune_workspaces *ws) {
    for (uint32_t i = 0; i < ws->count; i++) {
        struct rtune_slot *slot = &ws->slots[i];
        if (slot->taken) continue;
        /* Nobody is bound to it: who is in found an outdated entry and is about to leave. */
        while (!shut(slot))
            continue;
        return slot;
    }
    return seize_idle(ws);
}

/* ---- acquire and release -----------------------------------------------------------------------
 */

static void touch(struct rtune_workspaces *ws, struct rtune_slot *slot) {
    const uint64_t now = atomic_fetch_add_explicit(&ws->time, 1, memory_order_relaxed) + 1;
    atomic_store_explicit(&slot->used, now, memory_order_relaxed);
}

/* Zero a slot that a failed launch left unknown. The flag falls only when the memset is enqueued,
 * so that a second thread on the same stream waits for it here and does not overtake. */
static enum rtune_status clean(struct rtune_workspaces *ws, struct rtune_slot *slot, void *stream,
                               struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (!atomic_load_explicit(&slot->dirty, memory_order_acquire)) return RTUNE_OK;
    pthread_mutex_lock(&ws->lock);
    if (atomic_load_explicit(&slot->dirty, memory_order_relaxed)) {
        status = ws->dev->ops->mem_set(ws->dev, slot->workspace, 0, ws->stride, stream, err);
        if (status == RTUNE_OK) atomic_store_explicit(&slot->dirty, false, memory_order_release);
    }
    pthread_mutex_unlock(&ws->lock);
    return status;
}

/* The slow path: a stream not seen yet, or one whose slot is being taken from it. */
static struct rtune_slot *bind_new(struct rtune_workspaces *ws, uint64_t tag, bool captured) {
    pthread_mutex_lock(&ws->lock);
    struct rtune_slot *slot = captured ? NULL : find(ws, tag);
    if (slot && !is_fixed(ws, slot) && !enter(slot, tag)) slot = NULL;
    if (!slot) {
        slot = find_slot(ws);
        if (slot) bind(ws, slot, captured ? TAG_EMPTY : tag);
    }
    if (slot) touch(ws, slot);
    pthread_mutex_unlock(&ws->lock);
    return slot;
}

enum rtune_status rtune_workspaces_acquire(struct rtune_workspaces *ws, void *stream,
                                           const struct rtune_stream_state *state,
                                           struct rtune_lease *lease, struct rtune_error *err) {
    const uint64_t tag = state->key + TAG_BIAS;
    struct rtune_slot *slot = state->capturing ? NULL : find(ws, tag);
    if (slot && !is_fixed(ws, slot)) {
        if (enter(slot, tag))
            touch(ws, slot);
        else
            slot = NULL;
    }
    if (!slot) slot = bind_new(ws, tag, state->capturing);
    if (!slot) {
        return rtune_err_set(err, RTUNE_NO_WORKSPACE,
                             "all %u workspaces are bound to other streams, captured or in flight "
                             "(pass a workspace, make a plan, or set rtune_options.workspaces)",
                             (unsigned)ws->count);
    }
    *lease = (struct rtune_lease){slot->workspace, slot, state->capturing};
    const enum rtune_status status = clean(ws, slot, stream, err);
    if (status != RTUNE_OK) rtune_workspaces_release(ws, lease, stream, false);
    return status;
}

void rtune_workspaces_release(struct rtune_workspaces *ws, const struct rtune_lease *lease,
                              void *stream, bool launched) {
    struct rtune_slot *slot = lease->slot;
    struct rtune_error why = {0};
    if (!launched) atomic_store_explicit(&slot->dirty, true, memory_order_release);
    if (lease->captured || is_fixed(ws, slot)) return;
    /* Also after a failure: a memset may be enqueued, and a launch may have failed late. */
    if (ws->dev->ops->event_record(ws->dev, slot->event, stream, &why) != RTUNE_OK) {
        atomic_store_explicit(&slot->unfenced, true, memory_order_release);
        rtune_log_write(ws->log, RTUNE_LOG_WARN, "a workspace stays with its stream: %s",
                        why.message);
    }
    atomic_fetch_sub_explicit(&slot->users, 1, memory_order_release);
}
