/* SPDX-License-Identifier: Apache-2.0 */
/* everywhere.c: one reduction on every cpu kernel, and on every number of threads. */
#include "tests/cpu/everywhere.h"

#include "runtime/device_cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static rtune_device *devices[EVERYWHERE_THREADS];

int everywhere_setup(void **state) {
    (void)state;
    for (uint32_t k = 0; k < EVERYWHERE_THREADS; k++)
        if (rtune_device_cpu_open_exact(k + 1, NULL, &devices[k], NULL) != RTUNE_OK) return -1;
    return 0;
}

int everywhere_teardown(void **state) {
    (void)state;
    for (uint32_t k = 0; k < EVERYWHERE_THREADS; k++)
        devices[k]->ops->close(devices[k]);
    return 0;
}

rtune_device *everywhere_device(uint32_t threads) { return devices[threads - 1]; }

union rtune_cpu_value device_reduce(rtune_device *dev, const struct rtune_problem *problem,
                                    const struct rtune_config *config, uint32_t grid,
                                    const void *in) {
    struct rtune_error err;
    union rtune_cpu_value out;
    rtune_kernel *kernel = NULL;
    memset(&out, 0xab, sizeof out);
    const struct rtune_launch_request request = {.args = {.in = in, .out = &out, .n = problem->n},
                                                 .grid = grid};
    if (dev->ops->kernel_open(dev, problem, config, NULL, 0, &kernel, &err) != RTUNE_OK ||
        dev->ops->launch(dev, kernel, &request, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    dev->ops->kernel_close(dev, kernel);
    return out;
}

static void check_one(const struct rtune_problem *problem, const struct expected *expected,
                      const union rtune_cpu_value *got, const char *where, uint32_t threads,
                      uint32_t grid, uint32_t items) {
    char text[128];
    if (result_matches(problem, expected, got)) return;
    rtune_problem_print(problem, text, sizeof text);
    fail_msg("%s, %s, %u threads, grid %u, items %u: %016llx instead of %016llx", text, where,
             (unsigned)threads, (unsigned)grid, (unsigned)items, (unsigned long long)got->bits,
             (unsigned long long)expected->value.bits);
}

void check_everywhere(const struct rtune_problem *problem, const void *in,
                      const struct expected *expected) {
    struct rtune_config config = rtune_config_default(problem, false);
    for (int isa = 0; isa <= (int)rtune_isa_detect(); isa++)
        for (size_t k = 0;
             (config.items = rtune_cpu_items_at(problem->dtype, (enum rtune_isa)isa, k)); k++) {
            struct rtune_cpu_kernel kernel;
            union rtune_cpu_value value;
            assert_int_equal(
                rtune_cpu_kernel_find(problem, &config, (enum rtune_isa)isa, &kernel, NULL),
                RTUNE_OK);
            kernel.reduce(in, problem->n, &value);
            check_one(problem, expected, &value, rtune_isa_name((enum rtune_isa)isa), 1, 1,
                      config.items);
        }
    for (uint32_t threads = 1; threads <= EVERYWHERE_THREADS; threads++)
        for (uint32_t grid = 1; grid <= threads + 1; grid++)
            for (size_t k = 0;
                 (config.items = rtune_cpu_items_at(problem->dtype, rtune_isa_detect(), k)); k++) {
                const union rtune_cpu_value value =
                    device_reduce(everywhere_device(threads), problem, &config, grid, in);
                check_one(problem, expected, &value, "device", threads, grid, config.items);
            }
}

void check_f32(const struct rtune_problem *problem, const void *in, float expected) {
    struct expected wanted = {.tolerance = 0};
    wanted.value.bits = 0;
    memcpy(wanted.value.bytes, &expected, sizeof expected);
    check_everywhere(problem, in, &wanted);
}

void check_f64(const struct rtune_problem *problem, const void *in, double expected) {
    struct expected wanted = {.tolerance = 0};
    memcpy(wanted.value.bytes, &expected, sizeof expected);
    check_everywhere(problem, in, &wanted);
}

void check_int(const struct rtune_problem *problem, const void *in, int64_t expected) {
    struct expected wanted = {.value = {.bits = (uint64_t)expected}, .tolerance = 0};
    check_everywhere(problem, in, &wanted);
}
