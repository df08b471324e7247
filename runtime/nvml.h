/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/nvml.h: NVML, opened at run time if there is one. Tells what the CUDA driver does not:
 * clocks now, temperature, power limit, throttling. Everything here may be absent; nothing depends
 * on it.
 */
#ifndef RTUNE_RUNTIME_NVML_H
#define RTUNE_RUNTIME_NVML_H

#include "runtime/device.h"

typedef struct rtune_nvml rtune_nvml;

/* Open libnvidia-ml.so.1 and initialise it; NULL if there is none or it does not work. Takes up to
 * a second where no other process holds the driver. */
rtune_nvml *rtune_nvml_open(void);
void rtune_nvml_close(rtune_nvml *nvml);

/* State of the GPU with a PCI id like "0000:3b:00.0". What NVML does not tell stays 0; known is
 * false if it does not know the GPU at all. nvml may be NULL. */
void rtune_nvml_health(const rtune_nvml *nvml, const char *pci, struct rtune_device_health *health);

#endif /* RTUNE_RUNTIME_NVML_H */
