/* SPDX-License-Identifier: Apache-2.0 */
/* forge.c: a list of instances over one growing anonymous file. */
#include "tuner/forge.h"

#include "base/clock.h"
#include "base/num.h"
#include "runtime/cpuinfo.h"
#include "runtime/nvrtc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct instance {
    struct rtune_problem problem;
    struct rtune_config config;
    uint64_t at;
    uint32_t size; /* 0: failed */
    char *why;     /* of a failure */
};

struct rtune_forge {
    struct rtune_forge_options options;
    bool cuda;
    int cc_major, cc_minor;
    rtune_nvrtc *nvrtc;
    bool builtin; /* there are built-in images */
    char missing[512], version[32];
    int images;
    uint64_t bytes; /* of the images */
    struct instance *list;
    size_t count, capacity;
};

enum { ROUND_MIN = 16 /* instances compiled between two progress reports, at least */ };

enum rtune_status rtune_forge_open(const struct rtune_forge_options *options, rtune_forge **out,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t size = 0;
    rtune_forge *forge = calloc(1, sizeof(*forge));
    if (forge == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
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
    for (size_t k = 0; k < forge->count; k++)
        free(forge->list[k].why);
    free(forge->list);
    rtune_nvrtc_close(forge->nvrtc);
    if (forge->images >= 0) close(forge->images);
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

static const struct instance *known(const rtune_forge *forge, const struct rtune_problem *problem,
                                    const struct rtune_config *config) {
    for (size_t k = 0; k < forge->count; k++) {
        const struct instance *i = &forge->list[k];
        if (rtune_config_same_instance(&i->config, config) &&
            rtune_problem_same_kernel(&i->problem, problem))
            return i;
    }
    return NULL;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static enum rtune_status grow(rtune_forge *forge, size_t more, struct rtune_error *err) {
    if (forge->count + more <= forge->capacity) return RTUNE_OK;
    size_t capacity = forge->capacity == 0 ? 256 : forge->capacity;
    while (capacity < forge->count + more)
        capacity *= 2;
    struct instance *list = realloc(forge->list, capacity * sizeof(*list));
    if (list == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
    forge->list = list;
    forge->capacity = capacity;
    return RTUNE_OK;
}

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

/* One result into the list, which has room. */
static enum rtune_status add(rtune_forge *forge, const struct rtune_compiled *job,
                             struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct instance made = {.problem = job->problem, .config = job->config};
    if (job->image != NULL && job->size <= UINT32_MAX) {
        TRY(write_image(forge, job->image, job->size, err));
        made.at = forge->bytes;
        made.size = (uint32_t)job->size;
        forge->bytes += job->size;
    } else {
        made.why = strdup(job->error.message);
    }
    forge->list[forge->count++] = made;
done:
    return status;
}

static enum rtune_status compile(rtune_forge *forge, struct rtune_compiled *jobs, size_t count,
                                 struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(grow(forge, count, err));
    TRY(rtune_nvrtc_compile(forge->nvrtc, forge->cc_major, forge->cc_minor, jobs, count, 0,
                            forge->options.stop, err));
    for (size_t k = 0; k < count; k++) {
        if (jobs[k].image == NULL && jobs[k].error.status == RTUNE_INTERRUPTED)
            TRY(rtune_err_set(err, RTUNE_INTERRUPTED, "interrupted"));
        TRY(add(forge, &jobs[k], err));
    }
done:
    for (size_t k = 0; k < count; k++) {
        free(jobs[k].image);
        jobs[k].image = NULL;
    }
    return status;
}

/* The distinct instances among the configs that must be compiled; jobs has room for all. */
static size_t list_jobs(const rtune_forge *forge, const struct rtune_problem *problem,
                        const struct rtune_config *configs, size_t count,
                        struct rtune_compiled *jobs) {
    size_t found = 0;
    for (size_t k = 0; k < count; k++) {
        bool listed = forge->nvrtc == NULL || is_builtin(forge, problem, &configs[k]) ||
                      known(forge, problem, &configs[k]) != NULL;
        for (size_t j = 0; j < found && !listed; j++)
            listed = rtune_config_same_instance(&jobs[j].config, &configs[k]);
        if (listed) continue;
        memset(&jobs[found], 0, sizeof(jobs[found]));
        jobs[found].problem = *problem;
        jobs[found++].config = configs[k];
    }
    return found;
}

size_t rtune_forge_count(const rtune_forge *forge, const struct rtune_problem *problem,
                         const struct rtune_config *configs, size_t count) {
    struct rtune_compiled *jobs = calloc(count + 1, sizeof(*jobs));
    if (jobs == NULL) return 0;
    size_t found = list_jobs(forge, problem, configs, count, jobs);
    free(jobs);
    return found;
}

enum rtune_status rtune_forge_need(rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *configs, size_t count,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_compiled *jobs = NULL;
    struct rtune_cpuinfo info;
    if (forge->nvrtc == NULL) return RTUNE_OK;
    jobs = calloc(count + 1, sizeof(*jobs));
    if (jobs == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
    size_t total = list_jobs(forge, problem, configs, count, jobs);
    rtune_cpuinfo_read("", &info);
    size_t step = rtune_max_u64(4 * (uint64_t)info.usable, ROUND_MIN);
    for (size_t first = 0; first < total; first += step) {
        size_t part = rtune_min_u64(step, total - first);
        if (forge->options.deadline_ns != 0 && rtune_clock_ns() >= forge->options.deadline_ns)
            TRY(rtune_err_set(err, RTUNE_TIMEOUT, "the time budget is used up"));
        TRY(compile(forge, jobs + first, part, err));
        if (forge->options.progress != NULL)
            forge->options.progress(forge->options.user, first + part, total);
    }
done:
    free(jobs);
    return status;
}

/* ---- answers --------------------------------------------------------------------------------- */

enum rtune_status rtune_forge_find(const rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *config, uint64_t *at, uint32_t *size,
                                   struct rtune_error *err) {
    *at = 0;
    *size = 0;
    if (is_builtin(forge, problem, config)) return RTUNE_OK;
    const struct instance *i = known(forge, problem, config);
    if (i == NULL || i->size == 0)
        return rtune_err_set(err, RTUNE_COMPILE, "%s",
                             i == NULL || i->why == NULL ? "the kernel was not compiled" : i->why);
    *at = i->at;
    *size = i->size;
    return RTUNE_OK;
}

enum rtune_status rtune_forge_keep(const rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *config, const char *store,
                                   char digest[RTUNE_DIGEST_HEX], struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t at = 0;
    uint32_t size = 0;
    char *image = NULL;
    TRY(rtune_forge_find(forge, problem, config, &at, &size, err));
    digest[0] = '\0';
    if (size == 0) goto done;
    image = malloc(size);
    if (image == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory"));
    if (pread(forge->images, image, size, (off_t)at) != (ssize_t)size)
        TRY(rtune_err_set(err, RTUNE_IO, "kernels: cannot read back"));
    TRY(rtune_cubin_write(store, image, size, digest, err));
done:
    free(image);
    return status;
}
