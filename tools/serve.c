/* SPDX-License-Identifier: Apache-2.0 */
/* tools/serve.c: opening the library and printing launches. */
#include "tools/serve.h"

#include "base/parse.h"
#include "tools/console.h"
#include "tools/device_arg.h"

#include <inttypes.h>
#include <string.h>

static enum rtune_status check_stores(const struct cli *cli, const rtune *rt,
                                      struct rtune_error *err) {
    struct rtune_store_info info;
    for (uint32_t k = 0; rtune_store_at(rt, k, &info); k++) {
        if (info.status == RTUNE_OK) continue;
        if (info.status != RTUNE_NOT_FOUND) {
            size_t length = strlen(info.reason);
            bool advised = length > 0 && info.reason[length - 1] == ')';
            bool named = strncmp(info.reason, info.path, strlen(info.path)) == 0;
            return rtune_err_set(err, info.status, "%s%s%s%s", named ? "" : info.path,
                                 named ? "" : ": ", info.reason,
                                 advised ? "" : " (move it away, or give --db FILE or --db none)");
        }
        if (cli->opt.db != NULL)
            console_warn("%s: no such store; shipped profiles and the built-in configs serve",
                         info.path);
    }
    return RTUNE_OK;
}

enum rtune_status serve_open(struct cli *cli, rtune **rt, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_options options = RTUNE_OPTIONS_INIT;
    rtune *opened = NULL;
    options.device = cli->opt.device;
    options.store = cli->opt.db;
    options.threads = (uint32_t)cli->opt.threads;
    TRY(rtune_open(&opened, &options, err));
    TRY(check_stores(cli, opened, err));
    *rt = opened;
    opened = NULL;
done:
    rtune_close(opened);
    return status;
}

void serve_launch_json(struct json *json, const rtune *rt, const struct rtune_problem *problem,
                       const struct rtune_launch *launch) {
    const struct rtune_config *config = &launch->config;
    char text[256];
    json_text(json, "source", rtune_source_name(launch->source));
    json_problem_fields(json, problem);
    json_text(json, "variant", rtune_variant_name(config->variant));
    json_u64(json, "block", launch->block);
    json_u64(json, "items", config->items);
    json_u64(json, "grid", launch->grid);
    json_text(json, "load", rtune_load_name(config->load));
    json_text(json, "finish", rtune_finish_name(config->finish));
    json_text(json, "map", rtune_map_name(config->map));
    json_u64(json, "occupancy", config->occupancy);
    /* What only one variant or finish has. */
    json_open(json, "extra", '{');
    if (config->variant == RTUNE_BULK) json_u64(json, "stages", config->extra);
    if (config->finish == RTUNE_FINISH_CLUSTER) json_u64(json, "cluster", config->extra);
    json_close(json, '}');
    json_known(json, "predicted_us", launch->predicted_us);
    (void)rtune_grid_print(&config->grid, text, sizeof text);
    json_text(json, "grid_rule", text);
    (void)rtune_config_print(config, text, sizeof text);
    json_text(json, "config", text);
    json_u64(json, "shared_bytes", launch->shared_bytes);
    json_text(json, "kernel", rtune_kernel_source_name(launch->kernel));
    json_known(json, "tuned_n", (double)launch->tuned_n);
    json_bool(json, "fell_back", launch->fell_back);
    json_bool(json, "stale", launch->stale);
    json_text(json, "reason", launch->reason);
    json_text(json, "device", rtune_device_name(rt));
    json_text(json, "identity", rtune_device_identity(rt));
}

void serve_launch_print(const rtune *rt, const struct rtune_problem *problem,
                        const struct rtune_launch *launch) {
    char text[256], reason[sizeof launch->reason];
    console_printf("device     %s  %s\n", rtune_device_name(rt), rtune_device_identity(rt));
    (void)rtune_problem_print(problem, text, sizeof text);
    console_printf("problem    %s\n", text);
    console_printf("source     %s%s%s\n", rtune_source_name(launch->source),
                   launch->reason[0] != '\0' ? ": " : "",
                   console_cleaned(launch->reason, reason, sizeof reason));
    (void)rtune_config_print(&launch->config, text, sizeof text);
    console_printf("config     %s\n", text);
    if (launch->config.block == 1) /* on a cpu device */
        console_printf("launch     threads: %" PRIu32, launch->grid);
    else
        console_printf("launch     %" PRIu32 " x %" PRIu32 ", %" PRIu32 " bytes of shared memory",
                       launch->grid, launch->block, launch->shared_bytes);
    console_printf("%s%s\n", launch->fell_back ? ", fell back" : "",
                   launch->stale ? ", stale" : "");
    if (launch->predicted_us > 0) {
        (void)rtune_print_size(launch->tuned_n, text, sizeof text);
        console_printf("predicted  %.2f us at n = %s\n", launch->predicted_us, text);
    } else {
        console_printf("predicted  unknown: not measured\n");
    }
}
