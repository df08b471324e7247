/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/nvml.c: the few NVML calls that are used. The toolkit's nvml.h is often not installed, so
 * the types are declared here; they are part of NVML's stable ABI. */
#include "runtime/nvml.h"
#include "runtime/dlib.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvml_device *nvml_device;
struct nvml_utilization {
    unsigned int gpu, memory; /* percent */
};
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };

struct rtune_nvml {
    void *handle;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_pci)(const char *pci, nvml_device *device);
    int (*clock)(nvml_device device, int type, unsigned int *mhz);
    int (*max_clock)(nvml_device device, int type, unsigned int *mhz);
    int (*temperature)(nvml_device device, int sensor, unsigned int *celsius);
    int (*power_limit)(nvml_device device, unsigned int *milliwatts);
    int (*utilization)(nvml_device device, struct nvml_utilization *percent);
    int (*throttle)(nvml_device device, unsigned long long *reasons);
};

rtune_nvml *rtune_nvml_open(void) {
    struct rtune_nvml *nvml = calloc(1, sizeof *nvml);
    if (!nvml) return NULL;
    nvml->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->handle || !rtune_dlib_symbol(nvml->handle, "nvmlInit_v2", &nvml->init) ||
        !rtune_dlib_symbol(nvml->handle, "nvmlShutdown", &nvml->shutdown) ||
        !rtune_dlib_symbol(nvml->handle, "nvmlDeviceGetHandleByPciBusId_v2", &nvml->by_pci) ||
        nvml->init() != NVML_SUCCESS) {
        if (nvml->handle) dlclose(nvml->handle);
        free(nvml);
        return NULL;
    }
    rtune_dlib_symbol(nvml->handle, "nvmlDeviceGetClockInfo", &nvml->clock);
    rtune_dlib_symbol(nvml->handle, "nvmlDeviceGetMaxClockInfo", &nvml->max_clock);
    rtune_dlib_symbol(nvml->handle, "nvmlDeviceGetTemperature", &nvml->temperature);
    rtune_dlib_symbol(nvml->handle, "nvmlDeviceGetEnforcedPowerLimit", &nvml->power_limit);
    rtune_dlib_symbol(nvml->handle, "nvmlDeviceGetUtilizationRates", &nvml->utilization);
    rtune_dlib_symbol(nvml->handle, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml->throttle);
    return nvml;
}

void rtune_nvml_close(rtune_nvml *nvml) {
    if (!nvml) return;
    nvml->shutdown();
    dlclose(nvml->handle);
    free(nvml);
}

static uint32_t read_value(int (*call)(nvml_device, int, unsigned int *), nvml_device device,
                           int type) {
    unsigned int value = 0;
    return call && call(device, type, &value) == NVML_SUCCESS ? value : 0;
}

void rtune_nvml_health(const rtune_nvml *nvml, const char *pci,
                       struct rtune_device_health *health) {
    memset(health, 0, sizeof *health);
    nvml_device device = NULL;
    if (!nvml || nvml->by_pci(pci, &device) != NVML_SUCCESS) return;
    health->known = true;
    health->sm_mhz = read_value(nvml->clock, device, NVML_CLOCK_SM);
    health->memory_mhz = read_value(nvml->clock, device, NVML_CLOCK_MEM);
    health->sm_max_mhz = read_value(nvml->max_clock, device, NVML_CLOCK_SM);
    health->memory_max_mhz = read_value(nvml->max_clock, device, NVML_CLOCK_MEM);
    health->temperature_c = read_value(nvml->temperature, device, NVML_TEMPERATURE_GPU);
    unsigned int milliwatts = 0;
    if (nvml->power_limit && nvml->power_limit(device, &milliwatts) == NVML_SUCCESS)
        health->power_limit_mw = milliwatts;
    struct nvml_utilization percent = {0, 0};
    if (nvml->utilization && nvml->utilization(device, &percent) == NVML_SUCCESS)
        health->busy_percent = percent.gpu;
    unsigned long long reasons = 0;
    if (nvml->throttle && nvml->throttle(device, &reasons) == NVML_SUCCESS)
        health->throttle = reasons;
}
