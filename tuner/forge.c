/* SPDX-License-Identifier: Apache-2.0 */
/* forge.c: threads that work on one queue, and images in one growing anonymous file. */
#include "tuner/forge.h"
#include "tuner/forge_int.h"

#include "base/clock.h"
#include "base/num.h"
#include "runtime/cpuinfo.h"
#include "runtime/nvrtc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256, GIVE_WAY = 10 };
#define TELL_NS UINT64_C(250000000) /* between two reports of progress */
#define POLL_NS UINT64_C(50000000)  /* of the stop flag, while others compile */

struct rtune_forge {
    struct rtune_forge_options options;
    bool cuda;
    int cc_major, cc_minor;
    rtune_nvrtc *nvrtc;
    bool builtin; /* there are built-in images */
    char missing[512], version[32];
    int images;
    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t queued, made;
    pthread_t threads[THREADS_MAX];
    size_t thread_count;
    bool started, closing;
    struct rtune_forge_list list;
    uint64_t bytes;             /* of the images */
    uint64_t calls;             /* of rtune_forge_need */
    struct rtune_error failure; /* the first that is not of one kernel alone */
    size_t compiled;
    uint64_t waited_ns, told_ns;
};

enum rtune_status rtune_forge_open(const struct rtune_forge_options *options, rtune_forge **out,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t size = 0;
    rtune_forge *forge = calloc(1, sizeof(*forge));
    if (forge == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&forge->mutex, NULL);
    pthread_cond_init(&forge->queued, NULL);
    pthread_cond_init(&forge->made, &monotonic);
    pthread_condattr_destroy(&monotonic);
    forge->options = *options;
    forge->images = -1;
    forge->builtin = rtune_builtin_image(&size) != NULL && size > 0;
    forge->images = memfd_create("rtune-kernels", MFD_CLOEXEC);
    if (forge->images < 0)
        TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "kernels: no anonymous file"));
done:
    if (status == RTUNE_OK)
        *out = forge;
    else
        rtune_forge_close(forge);
    return status;
}

void rtune_forge_target(rtune_forge *forge, const struct rtune_identity *identity) {
    struct rtune_error why = {.status = RTUNE_OK};
    forge->cuda = identity->cuda;
    forge->cc_major = identity->cc_major;
    forge->cc_minor = identity->cc_minor;
    if (!forge->cuda || forge->nvrtc != NULL) return;
    if (rtune_nvrtc_open(&forge->nvrtc, &why) != RTUNE_OK)
        snprintf(forge->missing, sizeof(forge->missing), "%s", why.message);
    else
        snprintf(forge->version, sizeof(forge->version), "%s", rtune_nvrtc_version(forge->nvrtc));
}

void rtune_forge_close(rtune_forge *forge) {
    if (forge == NULL) return;
    pthread_mutex_lock(&forge->mutex);
    forge->closing = true;
    pthread_cond_broadcast(&forge->queued);
    pthread_mutex_unlock(&forge->mutex);
    for (size_t k = 0; k < forge->thread_count; k++)
        pthread_join(forge->threads[k], NULL);
    rtune_forge_list_free(&forge->list);
    rtune_nvrtc_close(forge->nvrtc);
    if (forge->images >= 0) close(forge->images);
    pthread_cond_destroy(&forge->made);
    pthread_cond_destroy(&forge->queued);
    pthread_mutex_destroy(&forge->mutex);
    free(forge);
}

const char *rtune_forge_missing(const rtune_forge *forge) {
    return forge->cuda && forge->nvrtc == NULL ? forge->missing : NULL;
}

const char *rtune_forge_version(const rtune_forge *forge) { return forge->version; }

int rtune_forge_images(const rtune_forge *forge) { return forge->images; }

static bool is_builtin(const rtune_forge *forge, const struct rtune_problem *problem,
                       const struct rtune_config *config) {
    struct rtune_config standard = rtune_config_default(problem, true);
    return !forge->cuda || (forge->builtin && rtune_config_same_instance(config, &standard));
}

bool rtune_forge_can(const rtune_forge *forge, const struct rtune_problem *problem,
                     const struct rtune_config *config) {
    return forge->nvrtc != NULL || is_builtin(forge, problem, config);
}

/* ---- compiling: the mutex is held ------------------------------------------------------------ */

static enum rtune_status write_image(rtune_forge *forge, const char *image, size_t size,
                                     struct rtune_error *err) {
    for (size_t done = 0; done < size;) {
        ssize_t put =
            pwrite(forge->images, image + done, size - done, (off_t)(forge->bytes + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            return rtune_err_set_errno(err, RTUNE_IO, put < 0 ? errno : EIO,
                                       "kernels: cannot write");
        done += (size_t)put;
    }
    return RTUNE_OK;
}

static void keep_result(rtune_forge *forge, size_t id, const struct rtune_compiled *job) {
    struct rtune_forge_instance *i = rtune_forge_list_at(&forge->list, id);
    i->state = RTUNE_FORGE_MADE;
    forge->compiled++;
    if (job->image == NULL || job->size > UINT32_MAX) {
        i->why = strdup(job->error.message);
    } else if (forge->failure.status == RTUNE_OK &&
               write_image(forge, job->image, job->size, &forge->failure) == RTUNE_OK) {
        i->at = forge->bytes;
        i->size = (uint32_t)job->size;
        forge->bytes += job->size;
    }
}

/* Compile one that is queued; the mutex is free in the meantime. */
static void compile(rtune_forge *forge, size_t id) {
    struct rtune_forge_instance *i = rtune_forge_list_at(&forge->list, id);
    struct rtune_compiled job = {.problem = i->problem, .config = i->config};
    rtune_forge_list_take(&forge->list, id);
    i->state = RTUNE_FORGE_COMPILING;
    pthread_mutex_unlock(&forge->mutex);
    rtune_nvrtc_compile_one(forge->nvrtc, forge->cc_major, forge->cc_minor, &job);
    pthread_mutex_lock(&forge->mutex);
    keep_result(forge, id, &job);
    pthread_cond_broadcast(&forge->made);
    free(job.image);
}

/* Why nothing more may be compiled; OK if it may. */
static enum rtune_status may_compile(const rtune_forge *forge, struct rtune_error *err) {
    uint64_t deadline = forge->options.deadline_ns;
    if (forge->failure.status != RTUNE_OK)
        return rtune_err_set(err, forge->failure.status, "%s", forge->failure.message);
    if (forge->options.stop != NULL && *forge->options.stop)
        return rtune_err_set(err, RTUNE_INTERRUPTED, "interrupted");
    if (deadline != 0 && rtune_clock_ns() >= deadline)
        return rtune_err_set(err, RTUNE_TIMEOUT, "the time budget is used up");
    return RTUNE_OK;
}

static void *thread_main(void *argument) {
    rtune_forge *forge = argument;
    struct rtune_error ignored;
    (void)!nice(GIVE_WAY); /* of this thread, on Linux: the worker that measures comes first */
    pthread_mutex_lock(&forge->mutex);
    while (!forge->closing && may_compile(forge, &ignored) == RTUNE_OK) {
        if (forge->list.first != 0)
            compile(forge, forge->list.first);
        else
            pthread_cond_wait(&forge->queued, &forge->mutex);
    }
    pthread_mutex_unlock(&forge->mutex);
    return NULL;
}

/* One processor is left to the worker. Fewer threads than wanted, or none, do it later: whoever
 * needs something compiles too. They take no signals: those are for the session's thread. */
static void start_threads(rtune_forge *forge) {
    struct rtune_cpuinfo info;
    sigset_t all, before;
    rtune_cpuinfo_read("", &info);
    size_t wanted = rtune_min_u64(rtune_max_u64(info.usable, 2) - 1, THREADS_MAX);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (forge->thread_count < wanted &&
           pthread_create(&forge->threads[forge->thread_count], NULL, thread_main, forge) == 0)
        forge->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    forge->started = true;
}

/* ---- queueing -------------------------------------------------------------------------------- */

/* The instance of a config, queued unless it is begun; 0 if it is built in. */
static enum rtune_status enlist(rtune_forge *forge, const struct rtune_problem *problem,
                                const struct rtune_config *config, bool front, size_t *id,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_forge_list *list = &forge->list;
    char name[RTUNE_INSTANCE_NAME];
    *id = 0;
    if (is_builtin(forge, problem, config)) return RTUNE_OK;
    rtune_instance_name(problem, config, name);
    *id = rtune_forge_list_find(list, name);
    bool known = *id != 0;
    if (!known) TRY(rtune_forge_list_add(list, problem, config, id, err));
    if (known && (!front || rtune_forge_list_at(list, *id)->state != RTUNE_FORGE_QUEUED)) goto done;
    if (known) rtune_forge_list_take(list, *id);
    rtune_forge_list_push(list, *id, front);
done:
    return status;
}

static void wake_threads(rtune_forge *forge) {
    if (forge->list.first == 0) return;
    if (!forge->started) start_threads(forge);
    pthread_cond_broadcast(&forge->queued);
}

/* The k-th to be queued, so that the first of the configs is the first in the queue. */
static const struct rtune_config *kth(const struct rtune_config *configs, size_t count, size_t k,
                                      bool front) {
    return &configs[front ? count - 1 - k : k];
}

enum rtune_status rtune_forge_ahead(rtune_forge *forge, const struct rtune_problem *problem,
                                    const struct rtune_config *configs, size_t count, bool soon,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t id = 0;
    if (forge->nvrtc == NULL) return RTUNE_OK;
    pthread_mutex_lock(&forge->mutex);
    for (size_t k = 0; k < count; k++)
        TRY(enlist(forge, problem, kth(configs, count, k, soon), soon, &id, err));
done:
    wake_threads(forge);
    pthread_mutex_unlock(&forge->mutex);
    return status;
}

size_t rtune_forge_queued(rtune_forge *forge) {
    pthread_mutex_lock(&forge->mutex);
    size_t queued = forge->list.queued;
    pthread_mutex_unlock(&forge->mutex);
    return queued;
}

size_t rtune_forge_count(rtune_forge *forge, const struct rtune_problem *problem,
                         const struct rtune_config *configs, size_t count) {
    struct rtune_forge_list fresh = {.all = NULL};
    char name[RTUNE_INSTANCE_NAME];
    bool room = true;
    size_t id = 0;
    if (forge->nvrtc == NULL) return 0;
    pthread_mutex_lock(&forge->mutex);
    for (size_t k = 0; k < count && room; k++) {
        rtune_instance_name(problem, &configs[k], name);
        if (!is_builtin(forge, problem, &configs[k]) &&
            rtune_forge_list_find(&forge->list, name) == 0 &&
            rtune_forge_list_find(&fresh, name) == 0)
            room = rtune_forge_list_add(&fresh, problem, &configs[k], &id, NULL) == RTUNE_OK;
    }
    pthread_mutex_unlock(&forge->mutex);
    id = room ? fresh.count : 0;
    rtune_forge_list_free(&fresh);
    return id;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Put what is missing in front of the queue, and its ids into wanted. */
static enum rtune_status want(rtune_forge *forge, const struct rtune_problem *problem,
                              const struct rtune_config *configs, size_t count, size_t *wanted,
                              size_t *total, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t id = 0;
    forge->calls++;
    for (size_t k = 0; k < count; k++) {
        TRY(enlist(forge, problem, kth(configs, count, k, true), true, &id, err));
        if (id == 0) continue;
        struct rtune_forge_instance *i = rtune_forge_list_at(&forge->list, id);
        if (i->state == RTUNE_FORGE_MADE || i->call == forge->calls) continue;
        i->call = forge->calls;
        wanted[(*total)++] = id;
    }
done:
    wake_threads(forge);
    return status;
}

static size_t drop_made(const rtune_forge *forge, size_t *wanted, size_t count) {
    size_t left = 0;
    for (size_t k = 0; k < count; k++)
        if (rtune_forge_list_at(&forge->list, wanted[k])->state != RTUNE_FORGE_MADE)
            wanted[left++] = wanted[k];
    return left;
}

static void tell(rtune_forge *forge, size_t done, size_t total) {
    uint64_t now = rtune_clock_ns();
    if (forge->options.progress == NULL || (done < total && now - forge->told_ns < TELL_NS)) return;
    forge->told_ns = now;
    pthread_mutex_unlock(&forge->mutex);
    forge->options.progress(forge->options.user, done, total);
    pthread_mutex_lock(&forge->mutex);
}

static void wait_a_little(rtune_forge *forge) {
    uint64_t until = rtune_clock_ns() + POLL_NS;
    const struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    (void)pthread_cond_timedwait(&forge->made, &forge->mutex, &at);
}

/* What is wanted and not begun stands at the front of the queue. */
static enum rtune_status wait_for(rtune_forge *forge, size_t *wanted, size_t total,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t left = total;
    while ((left = drop_made(forge, wanted, left)) > 0) {
        size_t first = forge->list.first;
        TRY(may_compile(forge, err));
        if (first != 0 && rtune_forge_list_at(&forge->list, first)->call == forge->calls)
            compile(forge, first);
        else
            wait_a_little(forge);
        tell(forge, total - drop_made(forge, wanted, left), total);
    }
    if (forge->failure.status != RTUNE_OK) TRY(may_compile(forge, err));
done:
    return status;
}

enum rtune_status rtune_forge_need(rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *configs, size_t count,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t total = 0;
    if (forge->nvrtc == NULL) return RTUNE_OK;
    size_t *wanted = calloc(count + 1, sizeof(*wanted));
    if (wanted == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
    pthread_mutex_lock(&forge->mutex);
    uint64_t start = rtune_clock_ns();
    TRY(want(forge, problem, configs, count, wanted, &total, err));
    TRY(wait_for(forge, wanted, total, err));
done:
    if (total > 0) forge->waited_ns += rtune_clock_ns() - start;
    pthread_mutex_unlock(&forge->mutex);
    free(wanted);
    return status;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* NULL if nobody has asked for it. The mutex is held. */
static struct rtune_forge_instance *known(const rtune_forge *forge,
                                          const struct rtune_problem *problem,
                                          const struct rtune_config *config) {
    char name[RTUNE_INSTANCE_NAME];
    rtune_instance_name(problem, config, name);
    size_t id = rtune_forge_list_find(&forge->list, name);
    return id != 0 ? rtune_forge_list_at(&forge->list, id) : NULL;
}

enum rtune_status rtune_forge_find(rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *config, uint64_t *at, uint32_t *size,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    *at = 0;
    *size = 0;
    if (is_builtin(forge, problem, config)) return RTUNE_OK;
    pthread_mutex_lock(&forge->mutex);
    const struct rtune_forge_instance *i = known(forge, problem, config);
    if (i == NULL || i->size == 0)
        TRY(rtune_err_set(err, RTUNE_COMPILE, "%s",
                          i == NULL || i->why == NULL ? "the kernel was not compiled" : i->why));
    *at = i->at;
    *size = i->size;
done:
    pthread_mutex_unlock(&forge->mutex);
    return status;
}

static enum rtune_status write_cubin(const rtune_forge *forge, uint64_t at, uint32_t size,
                                     const char *store, char digest[RTUNE_DIGEST_HEX],
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char *image = malloc(size);
    if (image == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory"));
    if (pread(forge->images, image, size, (off_t)at) != (ssize_t)size)
        TRY(rtune_err_set(err, RTUNE_IO, "kernels: cannot read back"));
    TRY(rtune_cubin_write(store, image, size, digest, err));
done:
    free(image);
    return status;
}

enum rtune_status rtune_forge_keep(rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *config, const char *store,
                                   char digest[RTUNE_DIGEST_HEX], struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t at = 0;
    uint32_t size = 0;
    TRY(rtune_forge_find(forge, problem, config, &at, &size, err));
    digest[0] = '\0';
    if (size == 0) goto done;
    pthread_mutex_lock(&forge->mutex);
    memcpy(digest, known(forge, problem, config)->digest, RTUNE_DIGEST_HEX);
    pthread_mutex_unlock(&forge->mutex);
    if (digest[0] != '\0') goto done;
    TRY(write_cubin(forge, at, size, store, digest, err));
    pthread_mutex_lock(&forge->mutex);
    memcpy(known(forge, problem, config)->digest, digest, RTUNE_DIGEST_HEX);
    pthread_mutex_unlock(&forge->mutex);
done:
    return status;
}

struct rtune_forge_account rtune_forge_account(rtune_forge *forge) {
    pthread_mutex_lock(&forge->mutex);
    struct rtune_forge_account account = {forge->nvrtc != NULL, forge->compiled,
                                          (double)forge->waited_ns / 1e9};
    pthread_mutex_unlock(&forge->mutex);
    return account;
}
