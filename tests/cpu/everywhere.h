/* SPDX-License-Identifier: Apache-2.0 */
/*
 * everywhere.h: one reduction on every cpu kernel (items, instruction set) and, through the device
 * interface, on 1 ... 4 threads with every grid up to more than there are.
 */
#ifndef RTUNE_TESTS_CPU_EVERYWHERE_H
#define RTUNE_TESTS_CPU_EVERYWHERE_H

#include "runtime/device.h"
#include "tests/cpu/reference.h"

enum { EVERYWHERE_THREADS = 4 };

/* Devices with 1 ... EVERYWHERE_THREADS threads, kept for the life of the test program. */
int everywhere_setup(void **state);
int everywhere_teardown(void **state);
rtune_device *everywhere_device(uint32_t threads);

/* Reduce on a device with one config; the test fails where that fails. */
union rtune_cpu_value device_reduce(rtune_device *dev, const struct rtune_problem *problem,
                                    const struct rtune_config *config, uint32_t grid,
                                    const void *in);

/* Fail the test unless every result matches. */
void check_everywhere(const struct rtune_problem *problem, const void *in,
                      const struct expected *expected);

/* The same against one value of the result's type, bit for bit. */
void check_f32(const struct rtune_problem *problem, const void *in, float expected);
void check_f64(const struct rtune_problem *problem, const void *in, double expected);
void check_int(const struct rtune_problem *problem, const void *in, int64_t expected);

#endif /* RTUNE_TESTS_CPU_EVERYWHERE_H */
