/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/rtune.c: opening, reloading and closing a handle, and what it tells about itself. */
#include "runtime/rtune_int.h"

#include "base/sized.h"

#include <stdlib.h>
#include <string.h>

/* The caller's options, of this or an earlier version of the interface, or what NULL stands for. */
static enum rtune_status read_options(const struct rtune_options *given, struct rtune_options *opts,
                                      struct rtune_error *err) {
    static const struct rtune_options none = RTUNE_OPTIONS_INIT;
    if (!given) given = &none;
    if (rtune_sized_read(opts, sizeof *opts, given, RTUNE_SIZE_TO(struct rtune_options, threads)))
        return RTUNE_OK;
    return rtune_err_set(
        err, RTUNE_INVALID,
        "rtune_options: struct_size is %zu, not %zu (start from RTUNE_OPTIONS_INIT)",
        given->struct_size, sizeof *opts);
}

/* A handle with its log and option texts, and nothing behind it. */
static enum rtune_status new_handle(const struct rtune_options *opts, rtune **out,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    rtune *rt = NULL;
    rt = calloc(1, sizeof *rt);
    if (!rt) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "rtune_open: out of memory"));
    pthread_mutex_init(&rt->reload_lock, NULL);
    pthread_mutex_init(&rt->kernels.lock, NULL);
    rt->log.level = RTUNE_LOG_DEBUG; /* the application's function chooses what to show */
    rt->log.fn = opts->log;
    rt->log.user = opts->log_user;
    if (opts->store) {
        rt->store = strdup(opts->store);
        if (!rt->store) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "rtune_open: out of memory"));
    }
    *out = rt;
    rt = NULL;
done:
    rtune_close(rt);
    return status;
}

static enum rtune_status read_index(rtune *rt, uint64_t generation, struct rtune_index **index,
                                    struct rtune_error *err) {
    struct rtune_index_request request = {
        .identity = &rt->dev->identity,
        .option = rt->store,
        .generation = generation,
        .log = &rt->log,
    };
    request.shipped = rtune_shipped_image(&request.shipped_size);
    return rtune_index_read(&request, index, err);
}

/* Everything that needs the device. The handle owns dev from the start. */
static enum rtune_status fill_handle(rtune *rt, rtune_device *dev, const struct rtune_options *opts,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_index *index = NULL;
    rt->dev = dev;
    rtune_identity_key(&dev->identity, rt->identity);
    TRY(rtune_override_parse(secure_getenv("RTUNE_OVERRIDE"), dev->cuda, &rt->override, err));
    TRY(read_index(rt, 1, &index, err));
    atomic_store_explicit(&rt->index, index, memory_order_release);
    TRY(rtune_kernels_open(rt, err));
    if (dev->cuda) {
        TRY(rtune_workspaces_open(&rt->workspaces, dev, opts->workspaces, &rt->log, err));
    }
done:
    return status;
}

enum rtune_status rtune_open_on(rtune **out, rtune_device *dev, const struct rtune_options *given,
                                struct rtune_error *err) {
    rtune *rt = NULL;
    struct rtune_options opts;
    enum rtune_status status = read_options(given, &opts, err);
    if (status == RTUNE_OK) status = new_handle(&opts, &rt, err);
    if (status != RTUNE_OK) {
        rtune_device_close(dev);
        return status;
    }
    TRY(fill_handle(rt, dev, &opts, err));
    *out = rt;
    rt = NULL;
done:
    rtune_close(rt);
    return status;
}

enum rtune_status rtune_open(rtune **out, const struct rtune_options *given,
                             struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_options opts;
    rtune *rt = NULL;
    rtune_device *dev = NULL;
    if (!out) TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_open: rt is NULL"));
    TRY(read_options(given, &opts, err));
    TRY(new_handle(&opts, &rt, err));
    const struct rtune_device_request request = {
        .spec = opts.device,
        .threads = opts.threads,
        .log = &rt->log,
    };
    TRY(rtune_device_open(&request, &dev, err));
    TRY(fill_handle(rt, dev, &opts, err));
    *out = rt;
    rt = NULL;
done:
    rtune_close(rt);
    return status;
}

void rtune_close(rtune *rt) {
    if (!rt) return;
    if (rt->dev) {
        rtune_kernels_close(rt);
        rtune_workspaces_close(&rt->workspaces);
        rtune_device_close(rt->dev);
    }
    struct rtune_index *index = atomic_load_explicit(&rt->index, memory_order_acquire);
    while (index) {
        struct rtune_index *retired = index->retired;
        rtune_index_free(index);
        index = retired;
    }
    rtune_override_free(&rt->override);
    pthread_mutex_destroy(&rt->kernels.lock);
    pthread_mutex_destroy(&rt->reload_lock);
    free(rt->store);
    free(rt);
}

/* A store that was readable and is not any more keeps the old rows in force; one that is gone does
 * not. */
static enum rtune_status check_loss(const struct rtune_index *old, const struct rtune_index *fresh,
                                    struct rtune_error *err) {
    for (uint32_t k = 0; k < fresh->store_count; k++) {
        const struct rtune_store_info *now = &fresh->stores[k];
        if (now->status == RTUNE_OK || now->status == RTUNE_NOT_FOUND) continue;
        for (uint32_t i = 0; i < old->store_count; i++) {
            const struct rtune_store_info *was = &old->stores[i];
            if (was->status == RTUNE_OK && strcmp(was->path, now->path) == 0) {
                return rtune_err_set(err, now->status, "%s: %s (what was read before stays)",
                                     now->path, now->reason);
            }
        }
    }
    return RTUNE_OK;
}

enum rtune_status rtune_reload(rtune *rt, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_index *fresh = NULL;
    if (!rt) return rtune_err_set(err, RTUNE_INVALID, "rtune_reload: rt is NULL");
    pthread_mutex_lock(&rt->reload_lock);
    struct rtune_index *old = atomic_load_explicit(&rt->index, memory_order_relaxed);
    TRY(read_index(rt, old->generation + 1, &fresh, err));
    TRY(check_loss(old, fresh, err));
    /* Readers hold no reference, so what is replaced stays until close: replace nothing by its
     * like. */
    if (rtune_index_equal(old, fresh)) goto done;
    fresh->retired = old;
    atomic_store_explicit(&rt->index, fresh, memory_order_release);
    fresh = NULL;
done:
    pthread_mutex_unlock(&rt->reload_lock);
    rtune_index_free(fresh);
    return status;
}

const char *rtune_device_name(const rtune *rt) { return rt ? rt->dev->name : NULL; }

const char *rtune_device_identity(const rtune *rt) { return rt ? rt->identity : NULL; }

bool rtune_store_at(const rtune *rt, uint32_t k, struct rtune_store_info *info) {
    if (!rt || !info) return false;
    const struct rtune_index *index = rtune_current_index(rt);
    if (k >= index->store_count) return false;
    *info = index->stores[k];
    return true;
}

size_t rtune_workspace_size(const rtune *rt) {
    return rt && rt->dev->cuda ? rtune_workspace_stride() : 0;
}
