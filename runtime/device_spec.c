/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device_spec.c: reading the name of a device. */
#include "runtime/device_spec.h"

#include "base/parse.h"

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

/* Value of a hexadecimal digit of either case, or -1. */
static int hex_value(char c) {
    if (c >= 'A' && c <= 'F') c = (char)(c - 'A' + 'a');
    const char *at = c ? strchr(hex_digits, c) : NULL;
    return at ? (int)(at - hex_digits) : -1;
}

static bool parse_index(const char *text, struct rtune_device_spec *spec) {
    uint64_t index;
    if (strncmp(text, "cuda:", 5) == 0) text += 5;
    if (rtune_parse_u64(text, 0, INT32_MAX, &index, NULL) != RTUNE_OK) return false;
    spec->kind = RTUNE_SPEC_INDEX;
    spec->index = (uint32_t)index;
    return true;
}

static bool parse_uuid(const char *text, struct rtune_device_spec *spec) {
    size_t length = strlen(text), digits = 0;
    if (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0) return false;
    if (length >= sizeof spec->uuid) return false;
    memcpy(spec->uuid, text, length + 1);
    for (size_t i = 4; i < length; i++) {
        int value = hex_value(text[i]);
        if (value < 0 && text[i] != '-') return false;
        if (value < 0) continue;
        spec->uuid[i] = hex_digits[value];
        digits++;
    }
    spec->kind = RTUNE_SPEC_UUID;
    return digits > 0;
}

/* One hexadecimal field of 1 to max digits that ends in end; *text moves past it. */
static bool parse_hex(const char **text, size_t max, char end, uint32_t *value) {
    const char *at = *text;
    size_t digits = 0;
    *value = 0;
    for (; hex_value(*at) >= 0; at++, digits++) {
        if (digits == max) return false;
        *value = *value * 16 + (uint32_t)hex_value(*at);
    }
    if (digits == 0 || *at != end) return false;
    *text = end ? at + 1 : at;
    return true;
}

/* [domain:]bus:slot.function, as lspci and nvidia-smi print it (4 or 8 digits of domain). */
static bool parse_pci(const char *text, struct rtune_device_spec *spec) {
    const char *first = strchr(text, ':');
    uint32_t function;
    if (!first) return false;
    spec->pci_domain = 0;
    if (strchr(first + 1, ':') && !parse_hex(&text, 8, ':', &spec->pci_domain)) return false;
    if (!parse_hex(&text, 2, ':', &spec->pci_bus)) return false;
    if (!parse_hex(&text, 2, '.', &spec->pci_slot)) return false;
    if (!parse_hex(&text, 1, '\0', &function)) return false;
    spec->kind = RTUNE_SPEC_PCI;
    return true;
}

enum rtune_status rtune_device_spec_parse(const char *text, struct rtune_device_spec *spec,
                                          struct rtune_error *err) {
    struct rtune_device_spec read;
    memset(&read, 0, sizeof read);
    if (!text)
        read.kind = RTUNE_SPEC_CURRENT;
    else if (strcmp(text, "cpu") == 0)
        read.kind = RTUNE_SPEC_CPU;
    else if (!parse_index(text, &read) && !parse_uuid(text, &read) && !parse_pci(text, &read))
        return rtune_err_set(err, RTUNE_NO_DEVICE,
                             "device \"%.80s\": not the name of a device (expected cuda:N or N, "
                             "GPU-UUID, MIG-UUID or the beginning of one, a PCI id such as "
                             "0000:3b:00.0, or cpu)",
                             text);
    *spec = read;
    return RTUNE_OK;
}

bool rtune_device_spec_names(const struct rtune_device_spec *spec,
                             const struct rtune_identity *identity) {
    struct rtune_device_spec own = {.kind = RTUNE_SPEC_CURRENT};
    switch (spec->kind) {
    case RTUNE_SPEC_UUID:
        return strncmp(identity->uuid, spec->uuid, strlen(spec->uuid)) == 0;
    case RTUNE_SPEC_PCI:
        return parse_pci(identity->pci, &own) && own.pci_domain == spec->pci_domain &&
               own.pci_bus == spec->pci_bus && own.pci_slot == spec->pci_slot;
    case RTUNE_SPEC_CURRENT:
    case RTUNE_SPEC_CPU:
    case RTUNE_SPEC_INDEX:
        break;
    }
    return false;
}
