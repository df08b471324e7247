/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cmd_import.c: a YAML profile into the store, all or nothing. */
#include "tools/cli.h"
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/json_out.h"
#include "tuner/profile.h"
#include "tuner/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum rtune_status read_stdin(struct rtune_buf *text, struct rtune_error *err) {
    char block[4096];
    size_t got;
    rtune_buf_init(text, RTUNE_YAML_MAX);
    while ((got = fread(block, 1, sizeof block, stdin)) > 0)
        rtune_buf_add(text, block, got);
    enum rtune_status status = rtune_buf_status(text, err);
    if (ferror(stdin) != 0) status = rtune_err_set_errno(err, RTUNE_IO, errno, "cannot read");
    if (status != RTUNE_OK) rtune_err_prefix(err, "standard input");
    if (status == RTUNE_OK) rtune_buf_add(text, "", 0);
    return status;
}

/* Drop the winners of the devices that --device does not name. Their order stays. */
static enum rtune_status keep_selected(const char *file, const char *spec,
                                       struct rtune_table *table, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t kept = 0;
    bool *selected = calloc(table->device_count + 1, sizeof *selected);
    if (selected == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory"));
    status = device_arg_select(spec, table, selected, err);
    if (status == RTUNE_NOT_FOUND)
        (void)rtune_err_set(err, status, "%s: has nothing for %s", file, spec);
    TRY(status);
    for (size_t k = 0; k < table->winner_count; k++)
        if (selected[table->winners[k].device]) table->winners[kept++] = table->winners[k];
    table->winner_count = kept;
done:
    free(selected);
    return status;
}

static bool is_here(const struct device_list *list, const struct rtune_identity *identity) {
    for (size_t k = 0; k < list->count; k++)
        if (rtune_identity_equal(&list->entries[k].identity, identity)) return true;
    return false;
}

/* What was stored, and for which devices. */
static int report(const struct cli *cli, const struct rtune_table *table, const char *path,
                  const struct device_list *list) {
    struct json json;
    char key[RTUNE_IDENTITY_KEY];
    json_begin(&json);
    json_u64(&json, "imported", table->winner_count);
    json_text(&json, "store", path);
    json_open(&json, "devices", '[');
    if (!cli->opt.json) console_printf("%zu imported into %s\n", table->winner_count, path);
    for (uint32_t d = 0; d < table->device_count; d++) {
        size_t count = 0;
        for (size_t k = 0; k < table->winner_count; k++)
            count += table->winners[k].device == d;
        if (count == 0) continue;
        bool here = is_here(list, &table->devices[d]);
        rtune_identity_key(&table->devices[d], key);
        json_open(&json, NULL, '{');
        json_text(&json, "identity", key);
        json_u64(&json, "imported", count);
        json_bool(&json, "here", here);
        json_close(&json, '}');
        if (!cli->opt.json)
            console_printf("  %zu for %s%s\n", count, console_clean(key, false),
                           here ? ""
                                : " (not a device of this machine: kept under its own identity)");
    }
    json_close(&json, ']');
    if (cli->opt.json) return json_print(&json);
    json_free(&json);
    return CLI_OK;
}

int cmd_import(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct rtune_buf text = {.data = NULL};
    struct rtune_table table = {.devices = NULL};
    struct rtune_store_path path;
    struct device_list *list = NULL;
    const char *file = cli->opt.args[0];
    bool from_stdin = strcmp(file, "-") == 0;
    int code = CLI_OK;
    if (device_arg_check(cli->opt.device, true, true, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    list = calloc(1, sizeof *list);
    if (list == NULL) TRY(rtune_err_set(&err, RTUNE_NO_MEMORY, "out of memory"));
    TRY(from_stdin ? read_stdin(&text, &err) : rtune_file_read(file, RTUNE_YAML_MAX, &text, &err));
    TRY(rtune_profile_parse(text.data, text.size, from_stdin ? "standard input" : file, &table,
                            &err));
    TRY(keep_selected(file, cli->opt.device, &table, &err));
    TRY(rtune_store_target(cli->opt.db, &path, &err));
    TRY(rtune_store_merge(path.path, &table, NULL, &err));
    TRY(device_list_read(list, &err));
    code = report(cli, &table, path.path, list);
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    rtune_table_free(&table);
    rtune_buf_free(&text);
    free(list);
    return code;
}
