/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_settings.c: the settings of the fake driver from the environment. */
#include "tests/fake/fake_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *setting(const char *name, const char *standard) {
    const char *text = getenv(name);
    return text && text[0] ? text : standard;
}

static uint64_t number(const char *name, const char *standard) {
    return strtoull(setting(name, standard), NULL, 10);
}

/* One value for each device; the last one stands for all that follow. */
static void numbers(const char *name, const char *standard, uint64_t values[FAKE_DEVICES_MAX]) {
    const char *at = setting(name, standard);
    uint64_t value = 0;
    for (int i = 0; i < FAKE_DEVICES_MAX; i++) {
        char *end;
        if (*at) {
            value = strtoull(at, &end, 10);
            at = *end == ',' ? end + 1 : "";
        }
        values[i] = value;
    }
}

static void read_capabilities(struct fake_settings *settings) {
    const char *at = setting("RTUNE_FAKE_CC", "9.0");
    int major = 9, minor = 0;
    for (int i = 0; i < FAKE_DEVICES_MAX; i++) {
        char *end;
        if (*at) {
            major = (int)strtol(at, &end, 10);
            minor = *end == '.' ? (int)strtol(end + 1, &end, 10) : 0;
            at = *end == ',' ? end + 1 : "";
        }
        settings->cc_major[i] = major;
        settings->cc_minor[i] = minor;
    }
}

static void read_faults(struct fake_settings *settings) {
    static const struct {
        const char *name;
        enum fake_fault kind;
    } kinds[] = {
        {"wrong=", FAKE_WRONG}, {"skip=", FAKE_SKIP},     {"trap=", FAKE_TRAP},
        {"hang=", FAKE_HANG},   {"absent=", FAKE_ABSENT},
    };
    const char *at = setting("RTUNE_FAKE_FAULTS", "");
    for (int i = 0; *at && i < FAKE_FAULT_MAX; i++) {
        size_t length = strcspn(at, ",");
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            size_t prefix = strlen(kinds[k].name);
            if (strncmp(at, kinds[k].name, prefix) != 0) continue;
            settings->faults[i].kind = kinds[k].kind;
            snprintf(settings->faults[i].text, sizeof settings->faults[i].text, "%.*s",
                     (int)(length - prefix), at + prefix);
        }
        at += length;
        if (*at) at++;
    }
}

void fake_settings_read(struct fake_settings *settings) {
    memset(settings, 0, sizeof *settings);
    uint64_t devices = number("RTUNE_FAKE_DEVICES", "1");
    settings->devices = devices > FAKE_DEVICES_MAX ? FAKE_DEVICES_MAX : (int)devices;
    settings->driver = (int)number("RTUNE_FAKE_DRIVER", "13000");
    settings->init_result = (int)number("RTUNE_FAKE_INIT", "0");
    settings->load_result = (int)number("RTUNE_FAKE_LOAD", "0");
    settings->seed = number("RTUNE_FAKE_SEED", "1");
    settings->noise = number("RTUNE_FAKE_NOISE", "10");
    numbers("RTUNE_FAKE_SMS", "132", settings->sms);
    numbers("RTUNE_FAKE_L2", "4194304", settings->l2);
    numbers("RTUNE_FAKE_MEMORY", "268435456", settings->memory);
    numbers("RTUNE_FAKE_MIG", "0", settings->mig);
    snprintf(settings->log, sizeof settings->log, "%s", setting("RTUNE_FAKE_LOG", ""));
    read_capabilities(settings);
    read_faults(settings);
}

enum fake_fault fake_settings_fault(const struct fake_settings *settings, const char *kernel) {
    for (int i = 0; i < FAKE_FAULT_MAX; i++)
        if (settings->faults[i].kind != FAKE_FINE && strstr(kernel, settings->faults[i].text))
            return settings->faults[i].kind;
    return FAKE_FINE;
}
