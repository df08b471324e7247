/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/cmd_doctor.c: one line for each finding about the environment. "note" is something that may
 * well be absent (a GPU, NVRTC, a store that nothing has made yet); "broken" is something that is
 * there and does not work, and makes the exit code 1.
 */
#include "tools/cli.h"
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/environment.h"
#include "tools/json_out.h"
#include "tools/stores.h"

#include "runtime/nvrtc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum finding { FINDING_OK, FINDING_NOTE, FINDING_BROKEN };
static const char *const finding_names[] = {"ok", "note", "broken"};

struct doctor {
    bool as_json;
    struct json json;
    bool broken;
};

static void report(struct doctor *doctor, enum finding finding, const char *about, const char *fmt,
                   ...) RTUNE_PRINTF(4, 5);

static void report(struct doctor *doctor, enum finding finding, const char *about, const char *fmt,
                   ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    doctor->broken = doctor->broken || finding == FINDING_BROKEN;
    if (!doctor->as_json) {
        console_printf("%-7s %-12s %s\n", finding_names[finding], about,
                       console_clean(text, false));
        return;
    }
    json_open(&doctor->json, NULL, '{');
    json_text(&doctor->json, "finding", finding_names[finding]);
    json_text(&doctor->json, "about", about);
    json_text(&doctor->json, "text", text);
    json_close(&doctor->json, '}');
}

static void check_versions(struct doctor *doctor) {
    report(doctor, FINDING_OK, "version", "reduce-tune %s, kernel abi %d, kernel sources %.12s",
           rtune_version_string(), RTUNE_KERNEL_ABI, rtune_device_sources_hash());
}

static void check_kernels(struct doctor *doctor) {
    size_t size = 0;
    (void)rtune_builtin_image(&size);
    if (size > 0)
        report(doctor, FINDING_OK, "kernels", "built-in GPU kernels: %zu bytes", size);
    else
        report(doctor, FINDING_NOTE, "kernels",
               "no GPU can be used: this build is of the cpu device alone (no nvcc >= 12.4, or "
               "RTUNE_CUDA=OFF)");
}

static void check_nvrtc(struct doctor *doctor) {
    struct rtune_error err;
    rtune_nvrtc *nvrtc = NULL;
    if (rtune_nvrtc_open(&nvrtc, &err) == RTUNE_OK)
        report(doctor, FINDING_OK, "nvrtc", "NVRTC %s", rtune_nvrtc_version(nvrtc));
    else
        report(doctor, FINDING_NOTE, "nvrtc",
               "%s; a GPU is then tuned over the built-in kernels' grids alone", err.message);
    rtune_nvrtc_close(nvrtc);
}

/* Clocks, temperature and power of a GPU, from NVML. */
static void check_health(struct doctor *doctor, const struct rtune_device_entry *entry,
                         rtune_device *dev) {
    struct rtune_error err;
    struct rtune_device_health health;
    rtune_err_clear(&err);
    memset(&health, 0, sizeof health);
    if (rtune_device_health(dev, &health, &err) != RTUNE_OK || !health.known)
        report(doctor, FINDING_NOTE, "nvml",
               "%s: NVML tells nothing%s%s; clock drops and foreign load go unnoticed", entry->spec,
               err.message[0] != '\0' ? ": " : "", err.message);
    else
        report(doctor, FINDING_OK, "nvml",
               "%s: SM clock %u of %u MHz, %u C, limit %u W, %u %% busy", entry->spec,
               health.sm_mhz, health.sm_max_mhz, health.temperature_c, health.power_limit_mw / 1000,
               health.busy_percent);
}

/* Sum 1000 ones on the device by the library, as a program would. */
static enum rtune_status try_sum(rtune *rt, rtune_device *dev, struct rtune_error *err) {
    enum { N = 1000 };
    enum rtune_status status = RTUNE_OK;
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, N);
    int32_t ones[N];
    int64_t sum = 0;
    void *in = NULL;
    void *out = NULL;
    for (int k = 0; k < N; k++)
        ones[k] = 1;
    if (!dev->cuda) {
        struct rtune_args host = RTUNE_ARGS(ones, &sum);
        TRY(rtune_reduce(rt, &problem, &host, NULL, err));
    } else {
        TRY(dev->ops->mem_alloc(dev, sizeof ones, &in, err));
        TRY(dev->ops->mem_alloc(dev, sizeof sum, &out, err));
        struct rtune_args args = RTUNE_ARGS(in, out);
        TRY(dev->ops->mem_put(dev, in, ones, sizeof ones, err));
        TRY(rtune_reduce(rt, &problem, &args, NULL, err));
        TRY(dev->ops->stream_wait(dev, NULL, err));
        TRY(dev->ops->mem_get(dev, &sum, out, sizeof sum, err));
    }
    if (sum != N)
        TRY(rtune_err_set(err, RTUNE_INCORRECT, "the sum of %d ones came out as %lld", N,
                          (long long)sum));
done:
    if (in != NULL) dev->ops->mem_free(dev, in);
    if (out != NULL) dev->ops->mem_free(dev, out);
    return status;
}

static void check_device(struct doctor *doctor, const struct rtune_device_entry *entry) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    const struct rtune_identity *id = &entry->identity;
    struct rtune_options options = RTUNE_OPTIONS_INIT;
    struct rtune_device_request request = {.spec = entry->spec};
    rtune_device *dev = NULL;
    rtune *rt = NULL;
    options.device = entry->spec;
    options.store = "none";
    TRY(rtune_device_open(&request, &dev, &err));
    TRY(rtune_open(&rt, &options, &err));
    TRY(try_sum(rt, dev, &err));
    if (id->cuda)
        report(doctor, FINDING_OK, "device", "%s: %s, driver %s, sums correctly", entry->spec,
               id->name, id->driver);
    else
        report(doctor, FINDING_OK, "device", "%s: %s, %s, %u cores, sums correctly", entry->spec,
               id->model, id->isa, id->cores);
    report(doctor, FINDING_OK, "workspace", "%s: %zu bytes for each reduction in flight",
           entry->spec, rtune_workspace_size(rt));
    if (id->cuda) check_health(doctor, entry, dev);
done:
    if (status != RTUNE_OK)
        report(doctor, FINDING_BROKEN, "device", "%s: %s", entry->spec, err.message);
    rtune_close(rt);
    rtune_device_close(dev);
}

static void check_devices(struct doctor *doctor, const char *spec, const struct device_list *list) {
    const struct rtune_error *why = &list->why_no_cuda;
    if (why->status != RTUNE_OK)
        report(doctor, why->status == RTUNE_NO_DEVICE ? FINDING_NOTE : FINDING_BROKEN, "driver",
               "no GPU: %s", why->message);
    for (size_t k = 0; k < list->count; k++)
        if (spec == NULL || strcmp(spec, "all") == 0 ||
            device_entry_matches(&list->entries[k], spec))
            check_device(doctor, &list->entries[k]);
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Can the folder of a path, or the first one above it that exists, be written? */
static bool writable_place(const char *path) {
    char folder[sizeof((struct rtune_store_path *)NULL)->path];
    (void)snprintf(folder, sizeof folder, "%s", path);
    for (;;) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL) return access(".", W_OK | X_OK) == 0;
        slash[slash == folder ? 1 : 0] = '\0';
        if (access(folder, F_OK) == 0) return is_folder(folder) && access(folder, W_OK | X_OK) == 0;
        if (slash == folder) return false;
    }
}

/* The store that tune and import would write. */
static void check_target(struct doctor *doctor, const char *option) {
    struct rtune_store_path target;
    struct rtune_error err;
    if (rtune_store_choose(option, geteuid() == 0, &target, &err) != RTUNE_OK)
        report(doctor, FINDING_BROKEN, "writes to", "%s", err.message);
    else if (writable_place(target.path))
        report(doctor, FINDING_OK, "writes to", "%s", target.path);
    else
        report(doctor, FINDING_BROKEN, "writes to",
               "%s: the folder cannot be written (set RTUNE_DB)", target.path);
}

static void check_stores(struct doctor *doctor, const char *option) {
    struct store_list stores;
    store_list_read(option, &stores);
    if (stores.count == 0)
        report(doctor, FINDING_NOTE, "store", "none: switched off by %s",
               option != NULL ? "--db" : "RTUNE_DB");
    for (size_t k = 0; k < stores.count; k++) {
        const struct store_read *store = &stores.stores[k];
        const char *kind = store_kind_name(store->path.kind);
        if (store->err.status == RTUNE_OK)
            report(doctor, store->skipped > 0 ? FINDING_NOTE : FINDING_OK, "store",
                   "%s (%s): %zu tuned sizes, %zu devices, %zu rows skipped%s", store->path.path,
                   kind, store->table.winner_count, store->table.device_count, store->skipped,
                   store->skipped > 0 ? " (of another version or with impossible values)" : "");
        else
            report(doctor, store->err.status == RTUNE_NOT_FOUND ? FINDING_NOTE : FINDING_BROKEN,
                   "store", "%s (%s): %s", store->path.path, kind,
                   store->err.status == RTUNE_NOT_FOUND ? "not there yet" : store->err.message);
    }
    if (stores.count > 0) check_target(doctor, option);
    store_list_free(&stores);
}

static void check_environment(struct doctor *doctor) {
    const struct environment_variable *variable;
    for (size_t k = 0; (variable = environment_at(k)) != NULL; k++) {
        const char *value = getenv(variable->name);
        if (value != NULL)
            report(doctor, FINDING_OK, "environment", "%s=%.200s", variable->name, value);
    }
}

int cmd_doctor(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    const struct rtune_device_entry *entry;
    struct doctor doctor = {.as_json = cli->opt.json};
    struct device_list *list = NULL;
    const char *spec = cli->opt.device;
    int code = CLI_OK;
    if (device_arg_check(spec, true, false, &err) != RTUNE_OK) return cli_usage(cli, &err);
    json_begin(&doctor.json);
    json_open(&doctor.json, "findings", '[');
    list = calloc(1, sizeof *list);
    if (list == NULL) TRY(rtune_err_set(&err, RTUNE_NO_MEMORY, "out of memory"));
    TRY(device_list_read(list, &err));
    if (spec != NULL && strcmp(spec, "all") != 0) TRY(device_list_find(list, spec, &entry, &err));
    check_versions(&doctor);
    check_kernels(&doctor);
    check_nvrtc(&doctor);
    check_devices(&doctor, spec, list);
    check_stores(&doctor, cli->opt.db);
    check_environment(&doctor);
    json_close(&doctor.json, ']');
    if (doctor.as_json) code = json_print(&doctor.json);
    if (doctor.broken) code = CLI_FAILED;
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    json_free(&doctor.json);
    free(list);
    return code;
}
