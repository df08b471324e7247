/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cmd_devices.c: what can be tuned, and what the stores know of it. */
#include "tools/cli.h"
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/json_out.h"
#include "tools/stores.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Tuned sizes of a device in one store. */
static size_t known_sizes(const struct store_read *store, const struct rtune_identity *identity) {
    size_t known = 0;
    for (size_t k = 0; k < store->table.winner_count; k++)
        known +=
            rtune_identity_equal(&store->table.devices[store->table.winners[k].device], identity);
    return known;
}

static void print_device(const struct rtune_device_entry *entry, const struct store_list *stores) {
    const struct rtune_identity *id = &entry->identity;
    char key[RTUNE_IDENTITY_KEY];
    rtune_identity_key(id, key);
    console_printf("%s%-8s%s %s\n", console_bold(), entry->spec, console_plain(),
                   id->name[0] != '\0' ? id->name : id->model);
    console_printf("  identity  %s\n", key);
    if (id->cuda) console_printf("  driver    %s, %s, PCI %s\n", id->driver, id->uuid, id->pci);
    console_printf("  memory    %.1f GiB\n", (double)id->memory_bytes / (double)(1 << 30));
    size_t total = 0;
    for (size_t k = 0; k < stores->count; k++) {
        size_t known = known_sizes(&stores->stores[k], id);
        total += known;
        if (known > 0)
            console_printf("  tuned     %zu sizes in %s\n", known, stores->stores[k].path.path);
    }
    if (total == 0)
        console_printf("  tuned     nothing yet (reduce-tune --device %s)\n", entry->spec);
}

static void json_device(struct json *json, const struct rtune_device_entry *entry,
                        const struct store_list *stores) {
    const struct rtune_identity *id = &entry->identity;
    char key[RTUNE_IDENTITY_KEY];
    rtune_identity_key(id, key);
    json_open(json, NULL, '{');
    json_text(json, "device", entry->spec);
    json_text(json, "name", id->name[0] != '\0' ? id->name : id->model);
    json_text(json, "identity", key);
    json_text(json, "driver", id->cuda ? id->driver : NULL);
    json_text(json, "uuid", id->cuda ? id->uuid : NULL);
    json_text(json, "pci", id->cuda ? id->pci : NULL);
    json_u64(json, "memory_bytes", id->memory_bytes);
    json_open(json, "tuned", '[');
    for (size_t k = 0; k < stores->count; k++) {
        size_t known = known_sizes(&stores->stores[k], id);
        if (known == 0) continue;
        json_open(json, NULL, '{');
        json_text(json, "store", stores->stores[k].path.path);
        json_u64(json, "sizes", known);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static bool wanted(const struct cli *cli, const struct rtune_device_entry *entry) {
    const char *spec = cli->opt.device;
    return spec == NULL || strcmp(spec, "all") == 0 || device_entry_matches(entry, spec);
}

static int print_list(const struct cli *cli, const struct device_list *list,
                      const struct store_list *stores) {
    struct json json;
    if (!cli->opt.json) {
        for (size_t k = 0; k < list->count; k++)
            if (wanted(cli, &list->entries[k])) print_device(&list->entries[k], stores);
        bool cpu_alone = cli->opt.device != NULL && strcmp(cli->opt.device, "cpu") == 0;
        if (list->why_no_cuda.status != RTUNE_OK && !cpu_alone)
            console_printf("no GPU: %s\n", list->why_no_cuda.message);
        return CLI_OK;
    }
    json_begin(&json);
    json_open(&json, "devices", '[');
    for (size_t k = 0; k < list->count; k++)
        if (wanted(cli, &list->entries[k])) json_device(&json, &list->entries[k], stores);
    json_close(&json, ']');
    json_text(&json, "no_gpu",
              list->why_no_cuda.status != RTUNE_OK ? list->why_no_cuda.message : NULL);
    return json_print(&json);
}

int cmd_devices(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    const struct rtune_device_entry *entry;
    struct store_list stores = {.count = 0};
    struct device_list *list = NULL;
    int code = CLI_OK;
    if (device_arg_check(cli->opt.device, true, false, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    list = calloc(1, sizeof *list);
    if (list == NULL) TRY(rtune_err_set(&err, RTUNE_NO_MEMORY, "out of memory"));
    TRY(device_list_read(list, &err));
    if (cli->opt.device != NULL && strcmp(cli->opt.device, "all") != 0)
        TRY(device_list_find(list, cli->opt.device, &entry, &err));
    store_list_read(cli->opt.db, &stores);
    code = print_list(cli, list, &stores);
    TRY(store_list_check(&stores, &err));
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    store_list_free(&stores);
    free(list);
    return code;
}
