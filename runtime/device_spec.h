/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device_spec.h: how a user names a device. Knows no driver. */
#ifndef RTUNE_RUNTIME_DEVICE_SPEC_H
#define RTUNE_RUNTIME_DEVICE_SPEC_H

#include "db/db.h"

enum rtune_spec_kind {
    RTUNE_SPEC_CURRENT, /* NULL: the current context's device, else device 0 */
    RTUNE_SPEC_CPU,     /* "cpu" */
    RTUNE_SPEC_INDEX,   /* "0", "cuda:0" */
    RTUNE_SPEC_UUID,    /* "GPU-..." or "MIG-...", whole or the beginning */
    RTUNE_SPEC_PCI      /* "0000:3b:00.0", "3b:00.0" */
};

struct rtune_device_spec {
    enum rtune_spec_kind kind;
    uint32_t index;
    char uuid[64]; /* as given, hexadecimal digits in lower case */
    uint32_t pci_domain, pci_bus, pci_slot;
};

/* NO_DEVICE, naming what was expected, for anything else. */
enum rtune_status rtune_device_spec_parse(const char *text, struct rtune_device_spec *spec,
                                          struct rtune_error *err);

/* Does the spec's UUID (or beginning of one) or PCI id name the device of this identity? */
bool rtune_device_spec_names(const struct rtune_device_spec *spec,
                             const struct rtune_identity *identity);

#endif /* RTUNE_RUNTIME_DEVICE_SPEC_H */
