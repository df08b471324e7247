/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_nvml.c: the NVML of the fake GPUs, on PCI ids from 0000:3b:00.0 on; the state it
 * tells never changes. RTUNE_FAKE_NVML=0 makes it fail to initialise. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FAKE_API __attribute__((visibility("default")))

enum { SUCCESS = 0, UNKNOWN = 999, NOT_FOUND = 6, INVALID = 2 };
struct utilization {
    unsigned int gpu, memory;
};

FAKE_API int nvmlInit_v2(void);
FAKE_API int nvmlShutdown(void);
FAKE_API int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
FAKE_API int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz);
FAKE_API int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned int *mhz);
FAKE_API int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius);
FAKE_API int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned int *milliwatts);
FAKE_API int nvmlDeviceGetUtilizationRates(void *device, struct utilization *percent);
FAKE_API int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

static int gpu;

int nvmlInit_v2(void) {
    const char *setting = getenv("RTUNE_FAKE_NVML");
    return setting && strcmp(setting, "0") == 0 ? UNKNOWN : SUCCESS;
}

int nvmlShutdown(void) { return SUCCESS; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device) {
    if (strncasecmp(pci, "0000:3", 6) != 0 && strncasecmp(pci, "0000:4", 6) != 0) return NOT_FOUND;
    *device = &gpu;
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz) {
    *mhz = type == 1 ? 1950 : 3201;
    return device ? SUCCESS : INVALID;
}

int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned int *mhz) {
    *mhz = type == 1 ? 1980 : 3201;
    return device ? SUCCESS : INVALID;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius) {
    *celsius = 41;
    return device && sensor == 0 ? SUCCESS : INVALID;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned int *milliwatts) {
    *milliwatts = 700000;
    return device ? SUCCESS : INVALID;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *percent) {
    *percent = (struct utilization){7, 3};
    return device ? SUCCESS : INVALID;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
    *reasons = 1;
    return device ? SUCCESS : INVALID;
}
