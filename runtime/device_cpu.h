/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/device_cpu.h: private to the cpu device and its tests.
 */
#ifndef RTUNE_RUNTIME_DEVICE_CPU_H
#define RTUNE_RUNTIME_DEVICE_CPU_H

#include "runtime/device.h"

/* As rtune_device_open_cpu, but with exactly that many threads, also more than there are
 * processors. */
enum rtune_status rtune_device_cpu_open_exact(uint32_t threads, const struct rtune_log *log,
                                              rtune_device **dev, struct rtune_error *err);

#endif /* RTUNE_RUNTIME_DEVICE_CPU_H */
