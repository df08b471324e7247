/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device.c: choosing among the implementations of a device. */
#include "runtime/device.h"
#include "runtime/device_spec.h"

#include <stdio.h>
#include <string.h>

enum rtune_status rtune_device_open(const struct rtune_device_request *request, rtune_device **dev,
                                    struct rtune_error *err) {
    struct rtune_device_spec spec;
    enum rtune_status status = rtune_device_spec_parse(request->spec, &spec, err);
    if (status != RTUNE_OK) return status;
    return spec.kind == RTUNE_SPEC_CPU ? rtune_device_open_cpu(request, dev, err)
                                       : rtune_device_open_cuda(request, dev, err);
}

void rtune_device_close(rtune_device *dev) {
    if (dev) dev->ops->close(dev);
}

enum rtune_status rtune_device_health(rtune_device *dev, struct rtune_device_health *health,
                                      struct rtune_error *err) {
    struct rtune_device_health state;
    memset(&state, 0, sizeof state);
    enum rtune_status status = dev->ops->health ? dev->ops->health(dev, &state, err) : RTUNE_OK;
    if (status == RTUNE_OK) *health = state;
    return status;
}

enum rtune_status rtune_device_list(struct rtune_device_entry *entries, size_t max, size_t *count,
                                    struct rtune_error *why_no_cuda, struct rtune_error *err) {
    size_t found = 0;
    if (why_no_cuda) rtune_err_clear(why_no_cuda);
    if (rtune_device_list_cuda(entries, max, &found, why_no_cuda) != RTUNE_OK) found = 0;
    if (found < max) {
        struct rtune_device_entry *entry = &entries[found];
        memset(entry, 0, sizeof *entry);
        snprintf(entry->spec, sizeof entry->spec, "cpu");
        enum rtune_status status = rtune_device_cpu_identity(0, &entry->identity, err);
        if (status != RTUNE_OK) return status;
        found++;
    }
    *count = found;
    return RTUNE_OK;
}
