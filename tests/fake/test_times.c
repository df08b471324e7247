/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated times: the same for the same seed, shaped so that tuning has something to find. */
#include "tests/fake/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { N = 1 << 20 };

static rtune_device *dev;
static void *in, *out, *workspace, *other, *stream, *first, *last;

static void begin(const char *setting) {
    struct rtune_error err;
    gpu_reset("RTUNE_FAKE_L2=8388608", setting, NULL);
    dev = gpu_open("0");
    gpu_ok(dev->ops->mem_alloc(dev, N * 4, &in, &err), &err);
    gpu_ok(dev->ops->mem_alloc(dev, N * 8, &other, &err), &err);
    gpu_ok(dev->ops->mem_alloc(dev, 8, &out, &err), &err);
    gpu_ok(dev->ops->mem_alloc(dev, rtune_workspace_bytes(), &workspace, &err), &err);
    gpu_ok(dev->ops->stream_create(dev, &stream, &err), &err);
    gpu_ok(dev->ops->event_create(dev, true, &first, &err), &err);
    gpu_ok(dev->ops->event_create(dev, true, &last, &err), &err);
    gpu_ok(dev->ops->mem_set(dev, workspace, 0, rtune_workspace_bytes(), stream, &err), &err);
    gpu_ok(dev->ops->mem_set(dev, in, 0, N * 4, stream, &err), &err);
}

static void end(void) {
    dev->ops->event_destroy(dev, first);
    dev->ops->event_destroy(dev, last);
    dev->ops->stream_destroy(dev, stream);
    dev->ops->mem_free(dev, in);
    dev->ops->mem_free(dev, out);
    dev->ops->mem_free(dev, other);
    dev->ops->mem_free(dev, workspace);
    rtune_device_close(dev);
    gpu_assert_clean();
}

static void displace(bool write) {
    struct rtune_error err;
    if (write) {
        gpu_ok(dev->ops->mem_set(dev, other, 0, N * 8, stream, &err), &err);
        return;
    }
    struct {
        const void *in;
        uint64_t bytes;
        void *sink;
    } params = {other, N * 8, out};
    void *pointers[1] = {&params};
    rtune_kernel *kernel = NULL;
    gpu_ok(dev->ops->support_open(dev, "rtune_support_read", &kernel, &err), &err);
    gpu_ok(dev->ops->support_launch(dev, kernel, 132, 256, pointers, stream, &err), &err);
    dev->ops->kernel_close(dev, kernel); /* waits for it */
}

/* One reduction of the first n elements. */
static double measure(struct rtune_config config, uint32_t grid, uint64_t n) {
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, n);
    struct rtune_error err;
    rtune_kernel *kernel = NULL;
    double us = 0;
    gpu_ok(dev->ops->kernel_open(dev, &problem, &config, "image", 6, &kernel, &err), &err);
    struct rtune_launch_request request = {
        .args = {.in = in, .out = out, .workspace = workspace, .n = n},
        .grid = grid,
        .stream = stream};
    gpu_ok(dev->ops->event_record(dev, first, stream, &err), &err);
    gpu_ok(dev->ops->launch(dev, kernel, &request, &err), &err);
    gpu_ok(dev->ops->event_record(dev, last, stream, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, stream, &err), &err);
    gpu_ok(dev->ops->event_us(dev, first, last, &us, &err), &err);
    dev->ops->kernel_close(dev, kernel);
    return us;
}

static struct rtune_config config_of(uint32_t block, uint32_t items, enum rtune_finish finish) {
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, N);
    struct rtune_config config = rtune_config_default(&problem, true);
    config.block = block;
    config.items = items;
    config.finish = finish;
    return config;
}

static void test_seed(void **state) {
    (void)state;
    double us[3][8];
    static const char *const seeds[] = {"RTUNE_FAKE_SEED=5", "RTUNE_FAKE_SEED=5",
                                        "RTUNE_FAKE_SEED=6"};
    for (int i = 0; i < 3; i++) {
        begin(seeds[i]);
        for (int k = 0; k < 8; k++)
            us[i][k] = measure(config_of(256, 16, RTUNE_FINISH_LAST), 132, N);
        end();
    }
    assert_memory_equal(us[0], us[1], sizeof us[0]);
    assert_memory_not_equal(us[0], us[2], sizeof us[0]);
    bool noisy = false;
    for (int k = 1; k < 8; k++)
        noisy = noisy || us[0][k] != us[0][1];
    assert_true(noisy);
}

/* The best of a sweep is inside it, and better than its ends by more than the noise. */
static void test_sweet_spot(void **state) {
    (void)state;
    static const uint32_t blocks[] = {32, 64, 128, 256, 512, 1024};
    static const uint32_t grids[] = {1, 33, 132, 264, 528, 1056, 4096};
    double best = 1e9, smallest = 0, largest = 0;
    size_t best_block = 0, best_grid = 0;
    begin("RTUNE_FAKE_NOISE=0");
    for (size_t b = 0; b < 6; b++)
        for (size_t g = 0; g < 7; g++) {
            displace(false);
            double us = measure(config_of(blocks[b], 16, RTUNE_FINISH_SLOTS), grids[g], N);
            if (us < best) best = us, best_block = b, best_grid = g;
            if (b == 0 && g == 0) smallest = us;
            if (b == 5 && g == 6) largest = us;
        }
    assert_in_range(best_block, 1, 4);
    assert_in_range(best_grid, 1, 5);
    assert_true(smallest > best * 2 && largest > best * 1.1);
    end();
}

static void test_states(void **state) {
    (void)state;
    struct rtune_config config = config_of(256, 16, RTUNE_FINISH_LAST);
    struct rtune_config sparing = config;
    size_t size = 0;
    (void)rtune_support_image(&size);
    if (size == 0) skip();
    sparing.load = RTUNE_LOAD_NOALLOCATE;
    begin("RTUNE_FAKE_NOISE=0");
    (void)measure(config, 264, N);
    double warm = measure(config, 264, N);
    displace(false);
    double cold = measure(config, 264, N);
    displace(true);
    double dirty = measure(config, 264, N);
    displace(true);
    double dirty_sparing = measure(sparing, 264, N);
    assert_true(warm < cold * 0.98);
    assert_true(cold < dirty * 0.98);
    assert_true(dirty_sparing < dirty);
    end();
}

static void test_sizes_and_finishes(void **state) {
    (void)state;
    begin("RTUNE_FAKE_NOISE=0");
    double small = measure(config_of(256, 16, RTUNE_FINISH_ONE), 1, 256);
    assert_true(small > 2.5 && small < 4);
    double slots = measure(config_of(256, 16, RTUNE_FINISH_SLOTS), 132, N / 4);
    double done = measure(config_of(256, 16, RTUNE_FINISH_LAST), 132, N / 4);
    assert_true(small < slots && slots < done);
    assert_true(done < measure(config_of(256, 16, RTUNE_FINISH_LAST), 132, N));
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_sweet_spot),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_sizes_and_finishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
