/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/nvrtc.c: compiling kernel instances with an NVRTC opened at run time, on several threads.
 *
 * One program per instance: eight to sixteen in one program take a third less time each (82 against
 * 121 ms, f32 sum, NVRTC 13.0), but each cubin would then carry the code of all of them into the
 * store, no two could be compared, and one that does not compile would take the others with it.
 * Threads scale in full.
 */
#include "runtime/nvrtc.h"
#include "base/num.h"
#include "runtime/cpuinfo.h"
#include "runtime/dlib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS_MAX = 32, THREADS_MAX = 64, OLDEST = 12 * 1000 + 4, LOG_MAX = 1 << 20 };

/* NVRTC's ABI; its header need not be installed. */
typedef struct nvrtc_program *nvrtc_program;
enum { NVRTC_SUCCESS = 0 };

struct rtune_nvrtc {
    void *handle;
    char version_text[24];
    const char *header_texts[HEADERS_MAX];
    const char *header_names[HEADERS_MAX];
    int header_count;
    const char *(*error_text)(int result);
    int (*version)(int *major, int *minor);
    int (*create)(nvrtc_program *program, const char *source, const char *name, int header_count,
                  const char *const *headers, const char *const *header_names);
    int (*destroy)(nvrtc_program *program);
    int (*compile)(nvrtc_program program, int option_count, const char *const *options);
    int (*cubin_size)(nvrtc_program program, size_t *size);
    int (*cubin)(nvrtc_program program, char *cubin);
    int (*log_size)(nvrtc_program program, size_t *size);
    int (*log)(nvrtc_program program, char *text);
};

/* ---- opening --------------------------------------------------------------------------------- */

static bool load_table(struct rtune_nvrtc *nvrtc) {
    const struct {
        const char *symbol;
        void *pointer;
    } wanted[] = {
        {"nvrtcGetErrorString", &nvrtc->error_text},
        {"nvrtcVersion", &nvrtc->version},
        {"nvrtcCreateProgram", &nvrtc->create},
        {"nvrtcDestroyProgram", &nvrtc->destroy},
        {"nvrtcCompileProgram", &nvrtc->compile},
        {"nvrtcGetCUBINSize", &nvrtc->cubin_size},
        {"nvrtcGetCUBIN", &nvrtc->cubin},
        {"nvrtcGetProgramLogSize", &nvrtc->log_size},
        {"nvrtcGetProgramLog", &nvrtc->log},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(wanted); i++)
        if (!rtune_dlib_symbol(nvrtc->handle, wanted[i].symbol, wanted[i].pointer)) return false;
    return true;
}

/* Open one file or soname; false if it is not there, not NVRTC or too old (old then says which). */
static bool try_library(struct rtune_nvrtc *nvrtc, const char *path, char old[24]) {
    int major = 0, minor = 0;
    nvrtc->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!nvrtc->handle) return false;
    if (load_table(nvrtc) && nvrtc->version(&major, &minor) == NVRTC_SUCCESS) {
        bool good = major * 1000 + minor >= OLDEST;
        snprintf(good ? nvrtc->version_text : old, 24, "%d.%d", major, minor);
        /* Kept mapped after dlclose: it leaves memory behind each time it is unloaded. */
        void *pin = good ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
        if (pin) dlclose(pin);
        if (good) return true;
    }
    dlclose(nvrtc->handle);
    nvrtc->handle = NULL;
    return false;
}

static bool try_folder(struct rtune_nvrtc *nvrtc, const char *folder, const char *name,
                       char old[24]) {
    static const char *const places[] = {
        "lib64",
        "lib",
#if defined(__aarch64__)
        "targets/sbsa-linux/lib",
#else
        "targets/x86_64-linux/lib",
#endif
    };
    char path[1024];
    if (!folder || folder[0] != '/') return false;
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(places); i++) {
        int length = snprintf(path, sizeof path, "%s/%s/%s", folder, places[i], name);
        if (length > 0 && (size_t)length < sizeof path && try_library(nvrtc, path, old))
            return true;
    }
    return false;
}

static bool search(struct rtune_nvrtc *nvrtc, char old[24]) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const char *folders[] = {secure_getenv("CUDA_HOME"), secure_getenv("CUDA_PATH"),
                             "/usr/local/cuda"};
    for (size_t n = 0; n < RTUNE_ARRAY_SIZE(names); n++)
        if (try_library(nvrtc, names[n], old)) return true;
    for (size_t f = 0; f < RTUNE_ARRAY_SIZE(folders); f++)
        for (size_t n = 0; n < RTUNE_ARRAY_SIZE(names); n++)
            if (try_folder(nvrtc, folders[f], names[n], old)) return true;
    return false;
}

static enum rtune_status read_headers(struct rtune_nvrtc *nvrtc, struct rtune_error *err) {
    size_t count = 0;
    const struct rtune_source_file *files = rtune_device_sources(&count);
    if (count > HEADERS_MAX)
        return rtune_err_set(err, RTUNE_INTERNAL, "%zu device headers, at most %d", count,
                             HEADERS_MAX);
    for (size_t i = 0; i < count; i++) {
        nvrtc->header_texts[i] = files[i].text;
        nvrtc->header_names[i] = files[i].name;
    }
    nvrtc->header_count = (int)count;
    return RTUNE_OK;
}

enum rtune_status rtune_nvrtc_open(rtune_nvrtc **out, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char old[24] = "";
    struct rtune_nvrtc *nvrtc = calloc(1, sizeof *nvrtc);
    if (!nvrtc) return rtune_err_set(err, RTUNE_NO_MEMORY, "nvrtc: out of memory");
    TRY(read_headers(nvrtc, err));
    if (!search(nvrtc, old))
        TRY(rtune_err_set(
            err, RTUNE_NOT_FOUND,
            "NVRTC %s%s%s: looked for libnvrtc.so.13 and libnvrtc.so.12 in the library "
            "path, CUDA_HOME, CUDA_PATH and /usr/local/cuda (install the CUDA toolkit's "
            "NVRTC, 12.4 or newer, or set CUDA_HOME)",
            old[0] ? "is too old (" : "not found", old, old[0] ? ")" : ""));
    *out = nvrtc;
    nvrtc = NULL;
done:
    rtune_nvrtc_close(nvrtc);
    return status;
}

void rtune_nvrtc_close(rtune_nvrtc *nvrtc) {
    if (!nvrtc) return;
    if (nvrtc->handle) dlclose(nvrtc->handle);
    free(nvrtc);
}

const char *rtune_nvrtc_version(const rtune_nvrtc *nvrtc) { return nvrtc->version_text; }

/* ---- compiling ------------------------------------------------------------------------------- */

/* The lines of a log that name errors, else its first ones, as many as fit into a message. */
static void set_log_error(struct rtune_error *err, const char *what, const char *log) {
    const char *from = strstr(log, "error");
    while (from && from > log && from[-1] != '\n')
        from--;
    if (!from) from = log;
    size_t length = strlen(from);
    while (length > 0 && (from[length - 1] == '\n' || from[length - 1] == ' '))
        length--;
    if (length > 360) length = 360;
    (void)rtune_err_set(err, RTUNE_COMPILE, "%s: %.*s", what, (int)length, from);
}

static void explain_failure(const struct rtune_nvrtc *nvrtc, nvrtc_program program, int result,
                            struct rtune_error *err) {
    size_t size = 0;
    char *log = NULL;
    const char *what = nvrtc->error_text(result);
    if (nvrtc->log_size(program, &size) == NVRTC_SUCCESS && size > 1 && size <= LOG_MAX)
        log = calloc(1, size + 1);
    if (log && nvrtc->log(program, log) == NVRTC_SUCCESS && log[0])
        set_log_error(err, what, log);
    else
        (void)rtune_err_set(err, RTUNE_COMPILE, "%s (no log)", what);
    free(log);
}

static enum rtune_status fetch_cubin(const struct rtune_nvrtc *nvrtc, nvrtc_program program,
                                     struct rtune_compiled *job) {
    size_t size = 0;
    int result = nvrtc->cubin_size(program, &size);
    if (result != NVRTC_SUCCESS || size == 0)
        return rtune_err_set(&job->error, RTUNE_COMPILE, "no cubin: %s", nvrtc->error_text(result));
    void *image = malloc(size);
    if (!image)
        return rtune_err_set(&job->error, RTUNE_NO_MEMORY, "cubin of %zu bytes: out of memory",
                             size);
    result = nvrtc->cubin(program, image);
    if (result != NVRTC_SUCCESS) {
        free(image);
        return rtune_err_set(&job->error, RTUNE_COMPILE, "no cubin: %s", nvrtc->error_text(result));
    }
    job->image = image;
    job->size = size;
    return RTUNE_OK;
}

static enum rtune_status compile(const struct rtune_nvrtc *nvrtc, const char *const *options,
                                 struct rtune_compiled *job) {
    enum rtune_status status = RTUNE_OK;
    char *source = NULL;
    nvrtc_program program = NULL;
    int result, count = 0;
    while (options[count])
        count++;
    TRY(rtune_instance_source(&job->problem, &job->config, 1, &source, &job->error));
    result = nvrtc->create(&program, source, "instance.cu", nvrtc->header_count,
                           nvrtc->header_texts, nvrtc->header_names);
    if (result != NVRTC_SUCCESS)
        TRY(rtune_err_set(&job->error, RTUNE_COMPILE, "nvrtcCreateProgram: %s",
                          nvrtc->error_text(result)));
    result = nvrtc->compile(program, count, options);
    if (result != NVRTC_SUCCESS) {
        explain_failure(nvrtc, program, result, &job->error);
        TRY(RTUNE_COMPILE);
    }
    TRY(fetch_cubin(nvrtc, program, job));
done:
    if (status != RTUNE_OK) {
        char name[RTUNE_INSTANCE_NAME];
        rtune_instance_name(&job->problem, &job->config, name);
        rtune_err_prefix(&job->error, "%s", name);
    }
    if (program) nvrtc->destroy(&program);
    free(source);
    return status;
}

void rtune_nvrtc_compile_one(const rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                             struct rtune_compiled *job) {
    char arch[32];
    const char *options[8] = {NULL};
    job->image = NULL;
    job->size = 0;
    rtune_err_clear(&job->error);
    size_t count = 0;
    rtune_compile_options(cc_major, cc_minor, arch, options);
    while (options[count])
        count++;
    /* Without the declarations of textures and of the runtime API, which no kernel uses: the same
     * code in two thirds of the time. NVRTC 12.4 and newer. */
    options[count] = "--minimal";
    (void)compile(nvrtc, options, job);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct work {
    const struct rtune_nvrtc *nvrtc;
    int cc_major, cc_minor;
    struct rtune_compiled *jobs;
    size_t count;
    atomic_size_t next;
    const atomic_bool *stop;
};

static void *run_jobs(void *argument) {
    struct work *work = argument;
    for (;;) {
        size_t k = atomic_fetch_add(&work->next, 1);
        if (k >= work->count) return NULL;
        struct rtune_compiled *job = &work->jobs[k];
        if (work->stop && *work->stop)
            (void)rtune_err_set(&job->error, RTUNE_INTERRUPTED, "not compiled: interrupted");
        else
            rtune_nvrtc_compile_one(work->nvrtc, work->cc_major, work->cc_minor, job);
    }
}

enum rtune_status rtune_nvrtc_compile(rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                                      struct rtune_compiled *jobs, size_t count, uint32_t threads,
                                      const atomic_bool *stop, struct rtune_error *err) {
    pthread_t started[THREADS_MAX];
    size_t helpers = 0;
    struct rtune_cpuinfo info;
    struct work work = {nvrtc, cc_major, cc_minor, jobs, count, 0, stop};
    (void)err;
    for (size_t k = 0; k < count; k++) {
        jobs[k].image = NULL;
        jobs[k].size = 0;
        rtune_err_clear(&jobs[k].error);
    }
    rtune_cpuinfo_read("", &info);
    size_t wanted = threads ? threads : info.usable;
    wanted = rtune_min_u64(rtune_min_u64(wanted, THREADS_MAX), count);
    /* The calling thread works too, so that fewer threads than wanted, or none, still finish the
     * work. */
    while (helpers + 1 < wanted && pthread_create(&started[helpers], NULL, run_jobs, &work) == 0)
        helpers++;
    run_jobs(&work);
    for (size_t i = 0; i < helpers; i++)
        pthread_join(started[i], NULL);
    return RTUNE_OK;
}
