/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/device_arg.h: the value of --device: its spelling, the devices that are here, and the
 * devices of a store that it selects. Opens no device.
 */
#ifndef RTUNE_TOOLS_DEVICE_ARG_H
#define RTUNE_TOOLS_DEVICE_ARG_H

#include "runtime/device.h"

enum { DEVICE_LIST_MAX = 65 };

struct device_list {
    struct rtune_device_entry entries[DEVICE_LIST_MAX]; /* cuda devices in order, then cpu */
    size_t count;
    struct rtune_error why_no_cuda; /* status OK if there is a cuda device */
};

/* Is it spelled like a device at all? Looks at nothing but the text. NULL is accepted. all, keys:
 * also "all", also the identity of a device as `show` prints it. Errors: SYNTAX. */
enum rtune_status device_arg_check(const char *spec, bool all, bool keys, struct rtune_error *err);

enum rtune_status device_list_read(struct device_list *list, struct rtune_error *err);
/* Does an entry go by this name ("0", "cuda:0", its UUID or PCI id, "cpu")? */
bool device_entry_matches(const struct rtune_device_entry *entry, const char *spec);
/* The entry of that name; NO_DEVICE says what is missing. */
enum rtune_status device_list_find(const struct device_list *list, const char *spec,
                                   const struct rtune_device_entry **entry,
                                   struct rtune_error *err);

/* Set selected[k] for the devices of a table that spec (NULL and "all": all of them) names. Errors:
 * NO_DEVICE (no such device here), NOT_FOUND (the table has nothing for it). */
enum rtune_status device_arg_select(const char *spec, const struct rtune_table *table,
                                    bool *selected, struct rtune_error *err);

#endif /* RTUNE_TOOLS_DEVICE_ARG_H */
