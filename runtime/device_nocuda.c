/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device_nocuda.c: stands in for device_cuda*.c in builds without a CUDA toolkit. */
#include "runtime/device.h"
#include "runtime/device_spec.h"

static enum rtune_status answer(struct rtune_error *err) {
    return rtune_err_set(
        err, RTUNE_NO_DEVICE,
        "this build has no CUDA support (build where nvcc >= 12.4 is installed, or "
        "with CUDAToolkit_ROOT, and not with RTUNE_CUDA=OFF; --device cpu works without it)");
}

enum rtune_status rtune_device_open_cuda(const struct rtune_device_request *request,
                                         rtune_device **dev, struct rtune_error *err) {
    struct rtune_device_spec spec;
    enum rtune_status status = rtune_device_spec_parse(request->spec, &spec, err);
    (void)dev;
    return status != RTUNE_OK ? status : answer(err);
}

enum rtune_status rtune_device_list_cuda(struct rtune_device_entry *entries, size_t max,
                                         size_t *count, struct rtune_error *err) {
    (void)entries;
    (void)max;
    (void)count;
    return answer(err);
}
