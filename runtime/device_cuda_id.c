/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device_cuda_id.c: which GPU it is, what it is, and which GPUs there are. */
#include "base/buf.h"
#include "base/num.h"
#include "runtime/device_cuda.h"
#include "runtime/device_spec.h"

#include <stdio.h>
#include <string.h>

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as nvidia-smi prints it. */
static void print_uuid(const CUuuid *uuid, const char *prefix, char text[64]) {
    static const char dash_before[16] = {0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1};
    size_t at = (size_t)snprintf(text, 64, "%s", prefix);
    for (size_t i = 0; i < sizeof uuid->bytes; i++)
        at += (size_t)snprintf(text + at, 64 - at, "%s%02x", dash_before[i] ? "-" : "",
                               (unsigned)(unsigned char)uuid->bytes[i]);
}

/* A MIG device has an identifier of its own; the first version of the call still names the GPU. */
static enum rtune_status read_uuid(const struct rtune_cuda *cuda, CUdevice device,
                                   struct rtune_identity *identity, char whole[64],
                                   struct rtune_error *err) {
    CUuuid own, gpu;
    enum rtune_status status = RTUNE_CU(cuda, err, cuDeviceGetUuid_v2, &own, device);
    if (status != RTUNE_OK) return status;
    gpu = own;
    if (cuda->whole_uuid && cuda->whole_uuid(&gpu, device) != CUDA_SUCCESS) gpu = own;
    identity->mig = memcmp(&own, &gpu, sizeof own) != 0 || strstr(identity->name, " MIG ");
    print_uuid(&own, identity->mig ? "MIG-" : "GPU-", identity->uuid);
    if (whole) print_uuid(&gpu, "GPU-", whole);
    return RTUNE_OK;
}

/* Version of the kernel driver; that of CUDA alone does not change with every driver. */
static void read_driver(const struct rtune_cuda *cuda, char text[32]) {
    struct rtune_buf buf;
    rtune_buf_init(&buf, 4096);
    size_t length = 0;
    if (rtune_file_read("/sys/module/nvidia/version", 4096, &buf, NULL) == RTUNE_OK && buf.data)
        length = strspn(buf.data, "0123456789.");
    if (length > 0 && length < 32)
        snprintf(text, 32, "%.*s", (int)length, buf.data);
    else
        snprintf(text, 32, "cuda-%d.%d", cuda->version / 1000, cuda->version % 1000 / 10);
    rtune_buf_free(&buf);
}

static uint32_t round_mhz(int khz) { return khz > 0 ? ((uint32_t)khz / 1000 + 25) / 50 * 50 : 0; }

enum rtune_status rtune_cuda_identity(const struct rtune_cuda *cuda, CUdevice device,
                                      struct rtune_identity *identity, char whole[64],
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_identity id;
    memset(&id, 0, sizeof id);
    int sms = 0, l2 = 0, bus = 0, sm_khz = 0, memory_khz = 0, ecc = 0;
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &id.cc_major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &id.cc_minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &bus},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &sm_khz},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz},
        {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, &ecc},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(wanted); i++)
        TRY(RTUNE_CU(cuda, err, cuDeviceGetAttribute, wanted[i].value, wanted[i].attribute,
                     device));
    size_t memory = 0;
    TRY(RTUNE_CU(cuda, err, cuDeviceTotalMem, &memory, device));
    TRY(RTUNE_CU(cuda, err, cuDeviceGetName, id.name, (int)sizeof id.name, device));
    TRY(RTUNE_CU(cuda, err, cuDeviceGetPCIBusId, id.pci, (int)sizeof id.pci, device));
    TRY(read_uuid(cuda, device, &id, whole, err));
    read_driver(cuda, id.driver);
    id.cuda = true;
    id.sm_count = sms > 0 ? (uint32_t)sms : 0;
    id.l2_bytes = l2 > 0 ? (uint64_t)l2 : 0;
    id.bus_bits = bus > 0 ? (uint32_t)bus : 0;
    id.sm_mhz = round_mhz(sm_khz);
    id.memory_mhz = round_mhz(memory_khz);
    id.ecc = ecc != 0;
    id.memory_bytes = memory;
    *identity = id;
done:
    return status;
}

/* Does the device with this number answer to the spec? */
static enum rtune_status matches(const struct rtune_cuda *cuda, int index,
                                 const struct rtune_device_spec *spec, bool *match,
                                 struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    CUdevice device;
    struct rtune_identity identity;
    char whole[64];
    TRY(RTUNE_CU(cuda, err, cuDeviceGet, &device, index));
    TRY(rtune_cuda_identity(cuda, device, &identity, whole, err));
    *match = rtune_device_spec_names(spec, &identity);
    memcpy(identity.uuid, whole, sizeof whole); /* that of the GPU, where this is a part of one */
    *match = *match || rtune_device_spec_names(spec, &identity);
done:
    return status;
}

/* The one device that answers to a UUID or PCI id. One that cannot be asked is none of them, unless
 * no other is: then it may be the one. */
static enum rtune_status search(const struct rtune_cuda *cuda, int count, const char *text,
                                const struct rtune_device_spec *spec, int *index,
                                struct rtune_error *err) {
    struct rtune_error broken = {.status = RTUNE_OK}, why;
    int found = -1;
    for (int i = 0; i < count; i++) {
        bool match = false;
        if (matches(cuda, i, spec, &match, &why) != RTUNE_OK && broken.status == RTUNE_OK)
            broken = why;
        if (match && found >= 0)
            return rtune_err_set(
                err, RTUNE_NO_DEVICE,
                "device \"%.80s\": names both cuda:%d and cuda:%d (give more of it)", text, found,
                i);
        if (match) found = i;
    }
    if (found < 0 && broken.status != RTUNE_OK)
        return rtune_err_set(err, broken.status,
                             "device \"%.80s\": none of %d answers to that, and of one it is not "
                             "known: %s",
                             text, count, broken.message);
    if (found < 0)
        return rtune_err_set(err, RTUNE_NO_DEVICE,
                             "device \"%.80s\": no such device among %d (reduce-tune devices lists "
                             "them)",
                             text, count);
    *index = found;
    return RTUNE_OK;
}

/* Device and context that are current on this thread; the number of a device is its handle's order.
 */
static enum rtune_status current(const struct rtune_cuda *cuda, int count, int *index,
                                 CUcontext *context, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    CUdevice device, other;
    *index = 0;
    TRY(RTUNE_CU(cuda, err, cuCtxGetCurrent, context));
    if (!*context) goto done;
    TRY(RTUNE_CU(cuda, err, cuCtxGetDevice, &device));
    for (int i = 0; i < count; i++) {
        TRY(RTUNE_CU(cuda, err, cuDeviceGet, &other, i));
        if (other == device) *index = i;
    }
done:
    return status;
}

enum rtune_status rtune_cuda_select(const struct rtune_cuda *cuda, const char *text, int *index,
                                    CUcontext *context, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_device_spec spec;
    int count = 0;
    *context = NULL;
    TRY(rtune_device_spec_parse(text, &spec, err));
    TRY(RTUNE_CU(cuda, err, cuDeviceGetCount, &count));
    if (count <= 0)
        TRY(rtune_err_set(err, RTUNE_NO_DEVICE,
                          "the driver sees no GPU (check nvidia-smi and CUDA_VISIBLE_DEVICES; "
                          "--device cpu works without one)"));
    if (spec.kind == RTUNE_SPEC_CURRENT)
        TRY(current(cuda, count, index, context, err));
    else if (spec.kind == RTUNE_SPEC_INDEX && spec.index < (uint32_t)count)
        *index = (int)spec.index;
    else if (spec.kind == RTUNE_SPEC_INDEX)
        TRY(rtune_err_set(err, RTUNE_NO_DEVICE,
                          "device cuda:%u: no such device (there %s %d, numbered from 0)",
                          (unsigned)spec.index, count == 1 ? "is" : "are", count));
    else
        TRY(search(cuda, count, text, &spec, index, err));
done:
    return status;
}

enum rtune_status rtune_device_list_cuda(struct rtune_device_entry *entries, size_t max,
                                         size_t *count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_cuda cuda;
    rtune_nvml *nvml = NULL;
    int found = 0;
    size_t listed = 0;
    TRY(rtune_cuda_open(&cuda, err));
    TRY(RTUNE_CU(&cuda, err, cuDeviceGetCount, &found));
    nvml = rtune_nvml_open();
    for (int i = 0; i < found && listed < max; i++) {
        struct rtune_device_entry *entry = &entries[listed];
        struct rtune_device_health health;
        CUdevice device;
        memset(entry, 0, sizeof *entry);
        TRY(RTUNE_CU(&cuda, err, cuDeviceGet, &device, i));
        TRY(rtune_cuda_identity(&cuda, device, &entry->identity, NULL, err));
        rtune_nvml_health(nvml, entry->identity.pci, &health);
        entry->identity.power_mw = health.power_limit_mw;
        snprintf(entry->spec, sizeof entry->spec, "cuda:%d", i);
        listed++;
    }
    *count = listed;
done:
    rtune_nvml_close(nvml);
    return status;
}
