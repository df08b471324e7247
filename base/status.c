/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/status.c: names and texts of the statuses, and the version that was built. These are
 * functions of the public interface; they live here so that every layer can call them.
 */
#include "rtune/rtune.h"

const char *rtune_status_name(enum rtune_status status) {
    switch (status) {
#define X(name, value, text)                                                                       \
    case RTUNE_##name:                                                                             \
        return #name;
        RTUNE_STATUS_TABLE(X)
#undef X
    }
    return "UNKNOWN";
}

const char *rtune_status_text(enum rtune_status status) {
    switch (status) {
#define X(name, value, text)                                                                       \
    case RTUNE_##name:                                                                             \
        return text;
        RTUNE_STATUS_TABLE(X)
#undef X
    }
    return "unknown status";
}

int rtune_version_number(void) { return RTUNE_VERSION_NUMBER; }

const char *rtune_version_string(void) { return RTUNE_VERSION_STRING; }
