/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cmd_show.c: stored winners as tables, one for each problem of each device. */
#include "base/parse.h"
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/json_out.h"
#include "tools/problem_arg.h"
#include "tools/stores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Neighbouring winners with one config. */
struct run {
    uint64_t n_from, n_to;
    double us_min, us_max;
    double log_gain; /* sum over winners whose default was measured */
    size_t gains;
};

static void add_to_run(struct run *run, const struct rtune_winner *winner) {
    run->n_to = winner->n_to;
    run->us_min = fmin(run->us_min, winner->us);
    run->us_max = fmax(run->us_max, winner->us);
    if (winner->default_us > 0 && winner->us > 0) {
        run->log_gain += log(winner->default_us / winner->us);
        run->gains++;
    }
}

static bool continues(const struct rtune_winner *before, const struct rtune_winner *winner) {
    return before->device == winner->device &&
           rtune_problem_same_kind(&before->problem, &winner->problem) &&
           rtune_config_equal(&before->config, &winner->config) &&
           before->n_to + 1 == winner->n_from;
}

static void print_run(const struct run *run, const struct rtune_config *config) {
    char from[32], to[32], n[80], us[64], gain[32] = "-", text[256];
    (void)rtune_print_size(run->n_from, from, sizeof from);
    (void)rtune_print_size(run->n_to, to, sizeof to);
    /* A profile may leave its last interval open; that end is no number for people. */
    if (run->n_from == run->n_to)
        (void)snprintf(n, sizeof n, "%s", from);
    else
        (void)snprintf(n, sizeof n, "%s..%s", from, run->n_to == UINT64_MAX ? "" : to);
    if (run->us_min == run->us_max)
        (void)snprintf(us, sizeof us, "%.2f", run->us_min);
    else
        (void)snprintf(us, sizeof us, "%.2f..%.2f", run->us_min, run->us_max);
    if (run->gains > 0)
        (void)snprintf(gain, sizeof gain, "%.2fx", exp(run->log_gain / (double)run->gains));
    (void)rtune_config_print(config, text, sizeof text);
    console_printf("  %-22s %18s %8s  %s\n", n, us, gain, text);
}

static void print_kind(const struct rtune_problem *problem) {
    console_printf("\n%s%s %s%s  %s %s %s %s\n", console_bold(), rtune_op_name(problem->op),
                   rtune_dtype_name(problem->dtype), console_plain(), rtune_acc_name(problem->acc),
                   rtune_mode_name(problem->mode), rtune_nan_name(problem->nan_rule),
                   rtune_cache_name(problem->cache));
    console_printf("  %-22s %18s %8s  %s\n", "n", "us", "gain", "config");
}

static void print_winners(const struct cli *cli, const struct rtune_table *table, uint32_t device) {
    const struct rtune_winner *before = NULL;
    struct run run = {0};
    for (size_t k = 0; k < table->winner_count; k++) {
        const struct rtune_winner *winner = &table->winners[k];
        if (winner->device != device || !problem_arg_matches(&cli->opt, &winner->problem)) continue;
        if (before == NULL || !continues(before, winner)) {
            if (before != NULL) print_run(&run, &before->config);
            if (before == NULL || !rtune_problem_same_kind(&before->problem, &winner->problem))
                print_kind(&winner->problem);
            run = (struct run){winner->n_from, winner->n_to, winner->us, winner->us, 0, 0};
        }
        add_to_run(&run, winner);
        before = winner;
    }
    if (before != NULL)
        print_run(&run, &before->config);
    else
        console_printf("  no winners of these problems\n");
}

static void json_winner(struct json *json, const struct rtune_winner *winner) {
    const struct rtune_problem *problem = &winner->problem;
    char text[256];
    json_open(json, NULL, '{');
    json_problem_fields(json, problem);
    json_u64(json, "n_from", winner->n_from);
    json_u64(json, "n_to", winner->n_to);
    (void)rtune_config_print(&winner->config, text, sizeof text);
    json_text(json, "config", text);
    json_double(json, "us", winner->us);
    json_double(json, "us_lo", winner->us_lo);
    json_double(json, "us_hi", winner->us_hi);
    json_known(json, "default_us", winner->default_us);
    json_known(json, "floor_us", winner->floor_us);
    json_text(json, "driver", winner->driver);
    json_close(json, '}');
}

static void json_store(struct json *json, const struct cli *cli, const struct store_read *store,
                       const bool *selected) {
    const struct rtune_table *table = &store->table;
    char key[RTUNE_IDENTITY_KEY];
    json_open(json, NULL, '{');
    json_text(json, "store", store->path.path);
    json_open(json, "devices", '[');
    for (uint32_t d = 0; d < table->device_count; d++) {
        if (!selected[d]) continue;
        rtune_identity_key(&table->devices[d], key);
        json_open(json, NULL, '{');
        json_text(json, "identity", key);
        json_text(json, "name", table->devices[d].name);
        json_open(json, "winners", '[');
        for (size_t k = 0; k < table->winner_count; k++)
            if (table->winners[k].device == d &&
                problem_arg_matches(&cli->opt, &table->winners[k].problem))
                json_winner(json, &table->winners[k]);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void print_store(const struct cli *cli, const struct store_read *store,
                        const bool *selected) {
    const struct rtune_table *table = &store->table;
    char key[RTUNE_IDENTITY_KEY], name[sizeof table->devices[0].name];
    console_printf("store  %s (%s)\n", store->path.path, store_kind_name(store->path.kind));
    if (store->skipped > 0)
        console_printf(
            "       %zu rows of another version or with impossible values are not served\n",
            store->skipped);
    for (uint32_t d = 0; d < table->device_count; d++) {
        if (!selected[d]) continue;
        rtune_identity_key(&table->devices[d], key);
        (void)console_cleaned(table->devices[d].name, name, sizeof name);
        (void)console_clean(key, false);
        console_printf("\ndevice %s%s%s\n", key, name[0] != '\0' ? "  " : "", name);
        print_winners(cli, table, d);
    }
}

static enum rtune_status show_store(struct cli *cli, const struct store_read *store,
                                    struct json *json, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    bool *selected = calloc(store->table.device_count + 1, sizeof *selected);
    if (selected == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory"));
    TRY(device_arg_select(cli->opt.device, &store->table, selected, err));
    if (json != NULL)
        json_store(json, cli, store, selected);
    else
        print_store(cli, store, selected);
done:
    free(selected);
    return status;
}

int cmd_show(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct store_list stores = {.count = 0};
    const struct store_read *first;
    struct json json;
    int code = CLI_OK;
    if (device_arg_check(cli->opt.device, true, true, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    json_begin(&json);
    json_open(&json, "stores", '[');
    store_list_read(cli->opt.db, &stores);
    TRY(store_list_first(&stores, &first, &err));
    for (size_t k = 0; k < stores.count; k++)
        if (stores.stores[k].err.status == RTUNE_OK)
            TRY(show_store(cli, &stores.stores[k], cli->opt.json ? &json : NULL, &err));
    json_close(&json, ']');
    if (cli->opt.json) code = json_print(&json);
    TRY(store_list_check(&stores, &err));
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    json_free(&json);
    store_list_free(&stores);
    return code;
}
