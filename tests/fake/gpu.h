/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/gpu.h: a fake GPU opened for a test, and the few steps that most tests share. All fail
 * the test if something goes wrong. */
#ifndef RTUNE_TESTS_FAKE_GPU_H
#define RTUNE_TESTS_FAKE_GPU_H

#include "runtime/device.h"
#include "tests/fake/driver.h"
#include "tests/fake/fake.h"

/* Reset the fake driver with some settings, "NAME=value" pairs that end in NULL; settings of an
 * earlier call that are not named again are dropped. */
void gpu_reset(const char *first, ...);
rtune_device *gpu_open(const char *spec);
/* Nothing is left alive and there was no problem. */
void gpu_assert_clean(void);

/* A reduction of n i32 elements 1, 2, ... n on its own device memory. */
struct gpu_sum {
    rtune_device *dev;
    rtune_kernel *kernel;
    void *in, *out, *workspace;
    uint64_t n;
    uint32_t grid;
};
void gpu_sum_open(struct gpu_sum *sum, rtune_device *dev, uint64_t n);
void gpu_sum_close(struct gpu_sum *sum);
enum rtune_status gpu_sum_launch(const struct gpu_sum *sum, void *stream, struct rtune_error *err);
int64_t gpu_sum_result(const struct gpu_sum *sum);
static inline int64_t gpu_sum_expected(const struct gpu_sum *sum) {
    return (int64_t)(sum->n * (sum->n + 1) / 2);
}

/* assert_int_equal(status, RTUNE_OK), with the message. */
void gpu_ok(enum rtune_status status, const struct rtune_error *err);

#endif /* RTUNE_TESTS_FAKE_GPU_H */
