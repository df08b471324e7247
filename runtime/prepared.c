/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/prepared.c: the ladder by which a kernel gets ready. The built-in instance where it is
 * what was asked for, else one that is loaded already under the same name, else the cubin that the
 * tuner stored, else one compiled now, else the built-in instance with a reason. A rung that fails
 * is logged and the next one tried.
 */
#include "runtime/lookup.h"

#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---------------------------------------------------------------------------------
 */

/* By all that rtune_problem_same_kernel compares. */
static uint32_t slot_of(const struct rtune_problem *kind, const struct rtune_config *config) {
    const uint32_t words[] = {kind->op,   kind->dtype,    kind->acc,
                              kind->mode, kind->nan_rule, kind->flags};
    uint64_t hash = rtune_config_hash(config, false);
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(words); k++)
        hash = (hash ^ words[k]) * UINT64_C(0x100000001b3); /* FNV-1a over words, as there */
    return (uint32_t)(hash ^ (hash >> 32)) % RTUNE_PREPARED_SLOTS;
}

/* The entry of a key, and the slot where it is or would go. At most RTUNE_PREPARED_MAX of the slots
 * are ever used, so the search ends. */
static struct rtune_prepared *find(const struct rtune_kernels *kernels,
                                   const struct rtune_problem *kind,
                                   const struct rtune_config *config, uint32_t *slot) {
    uint32_t k = slot_of(kind, config);
    struct rtune_prepared *p;
    while ((p = atomic_load_explicit(&kernels->slots[k], memory_order_acquire)) != NULL) {
        if (rtune_config_same_instance(&p->wanted, config) &&
            rtune_problem_same_kernel(&p->kind, kind)) {
            break;
        }
        k = (k + 1) % RTUNE_PREPARED_SLOTS;
    }
    *slot = k;
    return p;
}

/* Under the lock. The entry is owned by the table from now on; one it replaces stays in the list,
 * since another thread may be using it. */
static void publish(struct rtune_kernels *kernels, struct rtune_prepared *entry) {
    uint32_t slot;
    if (!find(kernels, &entry->kind, &entry->wanted, &slot)) kernels->count++;
    entry->next = kernels->all;
    kernels->all = entry;
    atomic_store_explicit(&kernels->slots[slot], entry, memory_order_release);
}

const struct rtune_prepared *rtune_prepared_find(const rtune *rt, const struct rtune_index *index,
                                                 const struct rtune_problem *problem,
                                                 const struct rtune_config *config) {
    uint32_t slot;
    const struct rtune_prepared *p = find(&rt->kernels, problem, config, &slot);
    return p && p->fell_back && p->generation != index->generation ? NULL : p;
}

const struct rtune_prepared *rtune_prepared_builtin(const rtune *rt,
                                                    const struct rtune_problem *problem) {
    uint32_t slot;
    const struct rtune_config config = rtune_config_default(problem, rt->dev->cuda);
    return find(&rt->kernels, problem, &config, &slot);
}

bool rtune_prepared_full(const rtune *rt) {
    return atomic_load_explicit(&rt->kernels.count, memory_order_relaxed) >= RTUNE_PREPARED_MAX;
}

/* ---- open and close ----------------------------------------------------------------------------
 */

static struct rtune_prepared *new_entry(const struct rtune_problem *kind,
                                        const struct rtune_config *config) {
    struct rtune_prepared *entry = calloc(1, sizeof *entry);
    if (!entry) return NULL;
    entry->kind = *kind;
    entry->wanted = *config;
    entry->served = *config;
    rtune_instance_name(kind, config, entry->name);
    entry->name_hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *c = entry->name; *c; c++)
        entry->name_hash = (entry->name_hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return entry;
}

static bool same_name(const struct rtune_prepared *a, const struct rtune_prepared *b) {
    return a->name_hash == b->name_hash && strcmp(a->name, b->name) == 0;
}

static void take_kernel(const rtune *rt, struct rtune_prepared *entry, rtune_kernel *kernel,
                        enum rtune_kernel_source source) {
    entry->kernel = kernel;
    entry->source = source;
    entry->owned = true;
    entry->resident = rt->dev->ops->kernel_resident(kernel);
}

/* The kernel of another entry whose instance has the same name. Under the lock. */
static bool share_kernel(const rtune *rt, struct rtune_prepared *entry) {
    const struct rtune_prepared *p = rt->kernels.all;
    if (!rt->dev->cuda) return false; /* names say nothing of the items of cpu kernels */
    while (p && !(p->owned && same_name(p, entry)))
        p = p->next;
    if (!p) return false;
    entry->kernel = p->kernel;
    entry->source = p->source;
    entry->resident = p->resident;
    return true;
}

/* The built-in instance for one kind, into the table. */
static enum rtune_status open_builtin(rtune *rt, const struct rtune_problem *kind,
                                      struct rtune_error *err) {
    const struct rtune_config config = rtune_config_default(kind, rt->dev->cuda);
    rtune_kernel *kernel = NULL;
    struct rtune_prepared *entry = new_entry(kind, &config);
    if (!entry) return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory");
    if (!share_kernel(rt, entry)) {
        const enum rtune_status status =
            rt->dev->ops->kernel_open(rt->dev, kind, &config, NULL, 0, &kernel, err);
        if (status != RTUNE_OK) {
            free(entry);
            return status;
        }
        take_kernel(rt, entry, kernel, RTUNE_KERNEL_BUILTIN);
    }
    publish(&rt->kernels, entry);
    return RTUNE_OK;
}

enum rtune_status rtune_kernels_open(rtune *rt, struct rtune_error *err) {
    struct rtune_problem kind;
    struct rtune_error why = {0};
    size_t missing = 0;
    for (size_t k = 0; rtune_problem_at(k, &kind); k++) {
        missing += open_builtin(rt, &kind, missing ? NULL : &why) != RTUNE_OK;
    }
    if (missing == 0) return RTUNE_OK;
    /* A build without them has none, and NVRTC may still serve. A part of them missing is a fault.
     */
    if (rt->kernels.all || why.status == RTUNE_NO_MEMORY) {
        return rtune_err_set(err, why.status, "built-in kernels: %s", why.message);
    }
    rtune_log_write(&rt->log, RTUNE_LOG_WARN, "no built-in kernels: %s", why.message);
    return RTUNE_OK;
}

void rtune_kernels_close(rtune *rt) {
    struct rtune_prepared *entry = rt->kernels.all;
    while (entry) {
        struct rtune_prepared *next = entry->next;
        if (entry->owned) rt->dev->ops->kernel_close(rt->dev, entry->kernel);
        free(entry);
        entry = next;
    }
    rt->kernels.all = NULL;
    rtune_nvrtc_close(rt->kernels.nvrtc);
    rt->kernels.nvrtc = NULL;
}

/* ---- the ladder --------------------------------------------------------------------------------
 */

/* One instance on its way. why is the last rung's failure. */
struct job {
    const struct rtune_decision *decision;
    struct rtune_prepared *entry;
    struct rtune_error why;
    bool waits; /* an earlier job makes its kernel, or this device can have none */
};

/* What this device cannot run is neither loaded nor compiled for it. */
static void check_capability(const rtune *rt, struct job *job) {
    const struct rtune_identity *id = &rt->dev->identity;
    const struct rtune_config *config = &job->entry->wanted;
    const uint32_t needs = rtune_config_needs_cc(config);
    if (!rt->dev->cuda || rtune_config_runs_on(config, id->cc_major, id->cc_minor)) return;
    job->waits = true;
    (void)rtune_err_set(
        &job->why, RTUNE_UNSUPPORTED, "its config needs compute capability %u.%u, and %s has %d.%d",
        (unsigned)needs / 10, (unsigned)needs % 10, rt->dev->name, id->cc_major, id->cc_minor);
}

static enum rtune_status open_image(rtune *rt, struct job *job, const void *image, size_t size,
                                    enum rtune_kernel_source source) {
    rtune_kernel *kernel = NULL;
    const enum rtune_status status = rt->dev->ops->kernel_open(
        rt->dev, &job->entry->kind, &job->entry->wanted, image, size, &kernel, &job->why);
    if (status == RTUNE_OK) take_kernel(rt, job->entry, kernel, source);
    return status;
}

static void log_rung(rtune *rt, const struct job *job, const char *rung) {
    rtune_log_write(&rt->log, RTUNE_LOG_WARN, "%s: %s kernel not used: %s", job->entry->name, rung,
                    job->why.message);
}

static void try_stored(rtune *rt, const struct rtune_index *index, struct job *job) {
    const struct rtune_decision *d = job->decision;
    void *image = NULL;
    size_t size = 0;
    if (!d->row || d->row->cubin[0] == '\0' || d->run->shipped) return;
    if (d->source == RTUNE_FROM_SIBLING || d->unserved) return; /* it is of another instance */
    enum rtune_status status = rtune_cubin_read(index->stores[d->run->store].path, d->row->cubin,
                                                &image, &size, &job->why);
    if (status == RTUNE_OK) status = open_image(rt, job, image, size, RTUNE_KERNEL_STORED);
    if (status != RTUNE_OK) log_rung(rt, job, "stored");
    free(image);
}

/* Opened once, when first needed; a failure is remembered until the handle closes. */
static rtune_nvrtc *compiler(rtune *rt) {
    struct rtune_kernels *kernels = &rt->kernels;
    if (!kernels->nvrtc_tried) {
        kernels->nvrtc_tried = true;
        if (rtune_nvrtc_open(&kernels->nvrtc, &kernels->nvrtc_error) != RTUNE_OK) {
            rtune_log_write(&rt->log, RTUNE_LOG_WARN, "%s", kernels->nvrtc_error.message);
        }
    }
    return kernels->nvrtc;
}

static bool is_to_compile(const struct job *job) { return !job->entry->kernel && !job->waits; }

/* Compile all that have no kernel yet, side by side. */
static void try_compiled(rtune *rt, struct job *jobs, size_t count) {
    struct rtune_compiled *compiled = NULL;
    struct rtune_error why = {0};
    size_t todo = 0;
    size_t k = 0;
    for (size_t i = 0; i < count; i++)
        todo += is_to_compile(&jobs[i]);
    if (todo == 0 || !rt->dev->cuda) return;
    rtune_nvrtc *nvrtc = compiler(rt);
    if (nvrtc) compiled = calloc(todo, sizeof *compiled);
    for (size_t i = 0; compiled && i < count; i++) {
        if (!is_to_compile(&jobs[i])) continue;
        compiled[k].problem = jobs[i].entry->kind;
        compiled[k++].config = jobs[i].entry->wanted;
    }
    if (compiled) {
        const struct rtune_identity *id = &rt->dev->identity;
        (void)rtune_nvrtc_compile(nvrtc, id->cc_major, id->cc_minor, compiled, todo, 0, NULL, &why);
    }
    k = 0;
    for (size_t i = 0; i < count; i++) {
        struct job *job = &jobs[i];
        if (!is_to_compile(job)) continue;
        if (!compiled) {
            job->why = nvrtc ? why : rt->kernels.nvrtc_error;
            continue;
        }
        struct rtune_compiled *c = &compiled[k++];
        enum rtune_status status = RTUNE_COMPILE;
        if (c->image)
            status = open_image(rt, job, c->image, c->size, RTUNE_KERNEL_COMPILED);
        else
            job->why = c->error;
        if (status != RTUNE_OK) log_rung(rt, job, "compiled");
        free(c->image);
    }
    free(compiled);
}

/* The last rung: another instance, right for every n and grid, only slower. */
static bool fall_back(rtune *rt, struct job *job, uint64_t generation) {
    struct rtune_prepared *entry = job->entry;
    const struct rtune_prepared *builtin = rtune_prepared_builtin(rt, &entry->kind);
    if (!builtin || !builtin->kernel) return false;
    entry->kernel = builtin->kernel;
    entry->served = builtin->served;
    entry->source = builtin->source;
    entry->resident = builtin->resident;
    entry->fell_back = true;
    entry->generation = generation;
    snprintf(entry->reason, sizeof entry->reason, "built-in kernel: %s", job->why.message);
    return true;
}

/* Jobs for those decisions that have no entry yet, each kind and instance once. */
static enum rtune_status list_jobs(rtune *rt, const struct rtune_index *index,
                                   const struct rtune_decision *decisions, size_t count,
                                   struct job *jobs, size_t *job_count) {
    for (size_t i = 0; i < count; i++) {
        const struct rtune_decision *d = &decisions[i];
        bool known = rtune_prepared_find(rt, index, &d->problem, &d->config) != NULL ||
                     rt->kernels.count + *job_count >= RTUNE_PREPARED_MAX;
        for (size_t k = 0; k < *job_count && !known; k++) {
            known = rtune_config_same_instance(&jobs[k].entry->wanted, &d->config) &&
                    rtune_problem_same_kernel(&jobs[k].entry->kind, &d->problem);
        }
        if (known) continue;
        struct job *job = &jobs[*job_count];
        *job = (struct job){.decision = d, .entry = new_entry(&d->problem, &d->config)};
        if (!job->entry) return RTUNE_NO_MEMORY;
        job->waits = share_kernel(rt, job->entry);
        for (size_t k = 0; k < *job_count && rt->dev->cuda && !job->waits; k++) {
            job->waits = same_name(jobs[k].entry, job->entry);
            if (job->waits)
                (void)rtune_err_set(&job->why, RTUNE_COMPILE, "%s could not be made",
                                    job->entry->name);
        }
        check_capability(rt, job);
        (*job_count)++;
    }
    return RTUNE_OK;
}

static enum rtune_status finish_jobs(rtune *rt, const struct rtune_index *index, struct job *jobs,
                                     size_t count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    for (size_t i = 0; i < count; i++) {
        struct job *job = &jobs[i];
        if (!job->entry->kernel && job->waits) (void)share_kernel(rt, job->entry);
        if (!job->entry->kernel && !fall_back(rt, job, index->generation)) {
            status = rtune_err_set(err, RTUNE_DEVICE, "no kernel can serve this problem: %s",
                                   job->why.message);
            continue;
        }
        publish(&rt->kernels, job->entry);
        job->entry = NULL;
    }
    return status;
}

enum rtune_status rtune_prepared_make(rtune *rt, const struct rtune_index *index,
                                      const struct rtune_decision *decisions, size_t count,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct job *jobs = calloc(count ? count : 1, sizeof *jobs);
    size_t job_count = 0;
    pthread_mutex_lock(&rt->kernels.lock);
    if (!jobs || list_jobs(rt, index, decisions, count, jobs, &job_count) != RTUNE_OK) {
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "preparing %zu problems: out of memory", count));
    }
    for (size_t i = 0; i < job_count; i++) {
        if (jobs[i].waits) continue;
        if (rt->dev->cuda)
            try_stored(rt, index, &jobs[i]);
        else if (open_image(rt, &jobs[i], NULL, 0, RTUNE_KERNEL_BUILTIN) != RTUNE_OK) {
            log_rung(rt, &jobs[i], "tuned");
        }
    }
    try_compiled(rt, jobs, job_count);
    TRY(finish_jobs(rt, index, jobs, job_count, err));
done:
    pthread_mutex_unlock(&rt->kernels.lock);
    for (size_t i = 0; jobs && i < job_count; i++)
        free(jobs[i].entry);
    free(jobs);
    return status;
}
