/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_device.c: initialisation, error names and the GPUs of the fake driver. */
#include "tests/fake/fake_int.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct {
    CUresult result;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
};

/* Both work without initialisation and are not counted: they are how other failures are told. */
CUresult cuGetErrorName(CUresult error, const char **name) {
    *name = "CUDA_ERROR_OTHER";
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].result == error) *name = errors[i].name;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = "an error that the fake driver has no text for";
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].result == error) *text = errors[i].text;
    return CUDA_SUCCESS;
}

/* ---- initialisation -------------------------------------------------------------------------- */

static CUresult initialise(unsigned int flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (fake.initialised && fake.process != (long)getpid()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!fake.settings.driver) fake_settings_read(&fake.settings);
    if (fake.settings.init_result) return (CUresult)fake.settings.init_result;
    if (fake.settings.devices == 0) return CUDA_ERROR_NO_DEVICE;
    fake.initialised = true;
    fake.process = (long)getpid();
    return CUDA_SUCCESS;
}
CUresult cuInit(unsigned int flags) { return FAKE_CALL(cuInit, initialise(flags)); }

static CUresult driver_version(int *version) {
    if (!fake.settings.driver) fake_settings_read(&fake.settings);
    *version = fake.settings.driver;
    return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version) {
    return FAKE_CALL(cuDriverGetVersion, driver_version(version));
}

/* NVRTC asks any driver that it finds for its private tables, and does not bear it if it cannot
 * ask. */
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    (void)id;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- devices --------------------------------------------------------------------------------- */

bool fake_device_valid(CUdevice device) { return device >= 0 && device < fake.settings.devices; }

static CUresult device_count(int *count) {
    *count = fake.settings.devices;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) { return FAKE_CALL(cuDeviceGetCount, device_count(count)); }

static CUresult device_get(CUdevice *device, int ordinal) {
    if (!fake_device_valid(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    return FAKE_CALL(cuDeviceGet, device_get(device, ordinal));
}

static CUresult device_name(char *name, int size, CUdevice device) {
    if (!fake_device_valid(device) || size < 1) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "Fake GPU %d%s", device,
             fake.settings.mig[device] ? " MIG 1g.8gb" : "");
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    return FAKE_CALL(cuDeviceGetName, device_name(name, size, device));
}

/* "face0000-0000-0000-0000-0000000000NN"; a MIG slice has "51ce..." beside it. */
static CUresult device_uuid(CUuuid *uuid, CUdevice device, bool whole) {
    if (!fake_device_valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    bool slice = fake.settings.mig[device] && !whole;
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[0] = (char)(slice ? 0x51 : 0xfa);
    uuid->bytes[1] = (char)0xce;
    uuid->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    return FAKE_CALL(cuDeviceGetUuid_v2, device_uuid(uuid, device, false));
}

/* The first version, which newer cuda.h hide behind a macro. */
FAKE_API CUresult fake_whole_uuid(CUuuid *uuid, CUdevice device) __asm__("cuDeviceGetUuid");
CUresult fake_whole_uuid(CUuuid *uuid, CUdevice device) {
    return fake_leave(fake_enter("cuDeviceGetUuid") ? device_uuid(uuid, device, true)
                                                    : fake_injected());
}

static CUresult device_pci(char *text, int size, CUdevice device) {
    if (!fake_device_valid(device) || size < 13) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(text, (size_t)size, "0000:%02X:00.0", (unsigned)(0x3b + device));
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice device) {
    return FAKE_CALL(cuDeviceGetPCIBusId, device_pci(text, size, device));
}

static CUresult device_memory(size_t *bytes, CUdevice device) {
    if (!fake_device_valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = fake.settings.memory[device];
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    return FAKE_CALL(cuDeviceTotalMem, device_memory(bytes, device));
}

static CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    if (!fake_device_valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    const struct fake_settings *s = &fake.settings;
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = s->cc_major[device];
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = s->cc_minor[device];
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = (int)s->sms[device];
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = (int)s->l2[device];
        break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        *value = 6144;
        break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = 1980000;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = 3201000;
        break;
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
        *value = 1;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    return FAKE_CALL(cuDeviceGetAttribute, device_attribute(value, attribute, device));
}
