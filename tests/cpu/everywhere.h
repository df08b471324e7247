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
                                    const struct data *data);

/* Fail the test unless every result matches. */
void check_everywhere(const struct rtune_problem *problem, const struct data *data,
                      const struct expected *expected);

struct rtune_problem problem_of(enum rtune_op op, enum rtune_dtype dtype, uint64_t n);
/* The bits of a value in a dtype; element i of x; n equal elements, to be freed. */
uint64_t bits_of(enum rtune_dtype dtype, double value);
void put(enum rtune_dtype dtype, void *x, uint64_t i, double value);
void *equal_elements(enum rtune_dtype dtype, double value, uint64_t n);

/* check_everywhere for one input (dot takes it twice) against a result bit for bit: the low and
 * high 8 bytes, as far as it goes; a value in the result's type; an integer; an element and its
 * index. */
void check_bits(const struct rtune_problem *problem, const void *in, uint64_t low, uint64_t high);
void check_value(const struct rtune_problem *problem, const void *in, double value);
void check_int(const struct rtune_problem *problem, const void *in, int64_t value);
void check_arg(const struct rtune_problem *problem, const void *in, double value, uint64_t index);

#endif /* RTUNE_TESTS_CPU_EVERYWHERE_H */
