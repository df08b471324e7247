/* SPDX-License-Identifier: Apache-2.0 */
/* everywhere.c: one reduction on every cpu kernel, and on every number of threads. */
#include "tests/cpu/everywhere.h"

#include "runtime/device_cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
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
                                    const struct data *data) {
    struct rtune_error err;
    union rtune_cpu_value out;
    rtune_kernel *kernel = NULL;
    memset(&out, 0xab, sizeof out);
    const struct rtune_launch_request request = {.args = {.in = data->in,
                                                          .in2 = data->in2,
                                                          .scale = data->scale,
                                                          .out = &out,
                                                          .n = problem->n},
                                                 .grid = grid};
    if (dev->ops->kernel_open(dev, problem, config, NULL, 0, &kernel, &err) != RTUNE_OK ||
        dev->ops->launch(dev, kernel, &request, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    dev->ops->kernel_close(dev, kernel);
    return out;
}

static void check_one(const struct rtune_problem *problem, const struct expected *expected,
                      const union rtune_cpu_value *got, const char *where, uint32_t grid,
                      uint32_t items) {
    char text[128];
    if (result_matches(problem, expected, got)) return;
    rtune_problem_print(problem, text, sizeof text);
    fail_msg("%s, %s, grid %u, items %u: %016llx %016llx instead of %016llx %016llx", text, where,
             (unsigned)grid, (unsigned)items, (unsigned long long)got->bits,
             (unsigned long long)got->key[1], (unsigned long long)expected->value.bits,
             (unsigned long long)expected->value.key[1]);
}

void check_everywhere(const struct rtune_problem *problem, const struct data *data,
                      const struct expected *expected) {
    struct rtune_config config = rtune_config_default(problem, false);
    const struct rtune_cpu_input input = {
        .in = data->in, .in2 = data->in2, .n = problem->n, .scale = data->scale};
    for (int isa = 0; isa <= (int)rtune_isa_detect(); isa++)
        for (size_t k = 0;
             (config.items = rtune_cpu_items_at(problem->dtype, (enum rtune_isa)isa, k)); k++) {
            struct rtune_cpu_kernel kernel;
            union rtune_cpu_value value;
            assert_int_equal(
                rtune_cpu_kernel_find(problem, &config, (enum rtune_isa)isa, &kernel, NULL),
                RTUNE_OK);
            kernel.reduce(&kernel, &input, &value);
            kernel.finish(&kernel, &value, problem->n);
            check_one(problem, expected, &value, rtune_isa_name((enum rtune_isa)isa), 1,
                      config.items);
        }
    for (uint32_t threads = 1; threads <= EVERYWHERE_THREADS; threads++)
        for (uint32_t grid = 1; grid <= threads + 1; grid++)
            for (size_t k = 0;
                 (config.items = rtune_cpu_items_at(problem->dtype, rtune_isa_detect(), k)); k++) {
                const union rtune_cpu_value value =
                    device_reduce(everywhere_device(threads), problem, &config, grid, data);
                check_one(problem, expected, &value, "device", grid, config.items);
            }
}

struct rtune_problem problem_of(enum rtune_op op, enum rtune_dtype dtype, uint64_t n) {
    return RTUNE_PROBLEM(op, dtype, n);
}

uint64_t bits_of(enum rtune_dtype dtype, double value) {
    if (rtune_dtype_info(dtype)->is_float) return encode_float(dtype, (quad)value);
    return (uint64_t)(int64_t)value & UINT64_MAX >> (64 - 8 * rtune_dtype_size(dtype));
}

void put(enum rtune_dtype dtype, void *x, uint64_t i, double value) {
    const size_t size = rtune_dtype_size(dtype);
    const uint64_t bits = bits_of(dtype, value);
    memcpy((unsigned char *)x + i * size, &bits, size);
}

void *equal_elements(enum rtune_dtype dtype, double value, uint64_t n) {
    void *x = malloc(n * rtune_dtype_size(dtype));
    assert_non_null(x);
    for (uint64_t i = 0; i < n; i++)
        put(dtype, x, i, value);
    return x;
}

void check_bits(const struct rtune_problem *problem, const void *in, uint64_t low, uint64_t high) {
    const struct data data = {.in = in, .in2 = in, .scale = 1.0};
    struct expected wanted = {.tolerance = 0};
    wanted.value.key[0] = (int64_t)low;
    wanted.value.key[1] = (int64_t)high;
    check_everywhere(problem, &data, &wanted);
}

void check_value(const struct rtune_problem *problem, const void *in, double value) {
    check_bits(problem, in, bits_of(rtune_result_dtype(problem), value), 0);
}

void check_int(const struct rtune_problem *problem, const void *in, int64_t value) {
    check_bits(problem, in, (uint64_t)value, 0);
}

void check_arg(const struct rtune_problem *problem, const void *in, double value, uint64_t index) {
    check_bits(problem, in, bits_of(problem->dtype, value), index);
}
