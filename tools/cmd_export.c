/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cmd_export.c: stored winners as a YAML profile. */
#include "tools/cli.h"
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/stores.h"
#include "tuner/profile.h"
#include "tuner/yaml.h"

#include <stdlib.h>
#include <string.h>

static enum rtune_status print_selected(const char *spec, const struct rtune_table *table,
                                        struct rtune_buf *out, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint32_t device = 0;
    bool *selected = calloc(table->device_count + 1, sizeof *selected);
    bool one = spec != NULL && strcmp(spec, "all") != 0;
    if (selected == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory"));
    TRY(device_arg_select(spec, table, selected, err));
    while (one && !selected[device])
        device++;
    TRY(rtune_profile_print(table, one ? &device : NULL, out, err));
done:
    free(selected);
    return status;
}

int cmd_export(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct store_list stores = {.count = 0};
    const struct store_read *store;
    struct rtune_buf text;
    if (device_arg_check(cli->opt.device, true, true, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    rtune_buf_init(&text, RTUNE_YAML_MAX);
    store_list_read(cli->opt.db, &stores);
    TRY(store_list_first(&stores, &store, &err));
    if (store->table.winner_count == 0)
        TRY(rtune_err_set(&err, RTUNE_NOT_FOUND, "%s: nothing is stored (reduce-tune --device 0)",
                          store->path.path));
    TRY(print_selected(cli->opt.device, &store->table, &text, &err));
    if (cli->opt.output != NULL && strcmp(cli->opt.output, "-") != 0)
        TRY(rtune_file_write(cli->opt.output, text.data, text.size, 0644, &err));
    else
        (void)console_write(text.data, text.size);
done:
    rtune_buf_free(&text);
    store_list_free(&stores);
    return status == RTUNE_OK ? CLI_OK : cli_fail(&err);
}
