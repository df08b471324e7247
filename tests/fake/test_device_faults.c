/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every driver call of every device operation fails once: the operation fails cleanly or does
 * without, the caller's context and capture mode come back, and nothing leaks. And images that do
 * not suit the GPU.
 */
#include "tests/fake/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct test_driver driver;

/* What undoes something: if it does not work, what it should undo stays. */
static bool undoes(const char *symbol) {
    static const char *const symbols[] = {
        "cuCtxPopCurrent_v2",
        "cuThreadExchangeStreamCaptureMode",
        "cuDevicePrimaryCtxRelease_v2",
        "cuModuleUnload",
        "cuStreamDestroy_v2",
        "cuEventDestroy_v2",
        "cuMemFree_v2",
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(symbol, symbols[i]) == 0) return true;
    return false;
}

static void assert_restored(CUcontext expected) {
    CUcontext context = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    assert_int_equal(driver.base.cuCtxGetCurrent(&context), CUDA_SUCCESS);
    assert_ptr_equal(context, expected);
    assert_int_equal(driver.base.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void check_error(enum rtune_status status, const struct rtune_error *err,
                        const char *symbol) {
    if (status == RTUNE_OK) return;
    if (status != RTUNE_DEVICE) fail_msg("%s: %s", symbol, rtune_status_name(status));
    if (!strstr(err->message, "CUDA_ERROR_INVALID_VALUE") || !strstr(err->message, symbol) ||
        !strstr(err->message, " at "))
        fail_msg("%s failed, and the message says: %s", symbol, err->message);
}

/* ---- open ------------------------------------------------------------------------------------ */

static void test_open(void **state) {
    (void)state;
    uint64_t failures = 0, tolerated = 0;
    for (uint64_t k = 1;; k++) {
        struct rtune_device_request request = {.spec = "1"};
        rtune_device *dev = NULL;
        struct rtune_error err;
        gpu_reset("RTUNE_FAKE_DEVICES=2", NULL);
        fake_cuda_fail(NULL, k, CUDA_ERROR_INVALID_VALUE);
        enum rtune_status status = rtune_device_open(&request, &dev, &err);
        const char *symbol = fake_cuda_call_at(k - 1);
        if (!fake_cuda_failed()) {
            gpu_ok(status, &err);
            rtune_device_close(dev);
            break;
        }
        check_error(status, &err, symbol);
        assert_int_equal(status == RTUNE_OK, dev != NULL);
        tolerated += status == RTUNE_OK;
        failures++;
        rtune_device_close(dev);
        assert_null(fake_cuda_problem());
        if (undoes(symbol)) continue;
        gpu_assert_clean();
        if (!test_driver_open(&driver, &err)) fail_msg("%s", err.message);
        assert_restored(NULL);
    }
    assert_true(failures > 20);
    assert_true(tolerated <= 1); /* the GPU around a MIG slice need not be known */
}

/* ---- everything else ------------------------------------------------------------------------- */

struct fixture {
    rtune_device *dev;
    struct gpu_sum sum;
    void *stream, *first, *last;
};

/* One operation; what it makes, it releases. */
typedef enum rtune_status operation(struct fixture *f, struct rtune_error *err);

static enum rtune_status do_kernel(struct fixture *f, struct rtune_error *err) {
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
    struct rtune_config config = rtune_config_default(&problem, true);
    rtune_kernel *kernel = NULL;
    enum rtune_status status =
        f->dev->ops->kernel_open(f->dev, &problem, &config, "image", 6, &kernel, err);
    assert_int_equal(status == RTUNE_OK, kernel != NULL);
    f->dev->ops->kernel_close(f->dev, kernel);
    return status;
}
static enum rtune_status do_launch(struct fixture *f, struct rtune_error *err) {
    return gpu_sum_launch(&f->sum, f->stream, err);
}
static enum rtune_status do_state(struct fixture *f, struct rtune_error *err) {
    struct rtune_stream_state stream_state = {77, false};
    enum rtune_status status = f->dev->ops->stream_state(f->dev, f->stream, &stream_state, err);
    assert_int_equal(status == RTUNE_OK, stream_state.key != 77);
    return status;
}
static enum rtune_status do_memory(struct fixture *f, struct rtune_error *err) {
    void *ptr = NULL;
    enum rtune_status status = f->dev->ops->mem_alloc(f->dev, 100, &ptr, err);
    assert_int_equal(status == RTUNE_OK, ptr != NULL);
    f->dev->ops->mem_free(f->dev, ptr);
    return status;
}
static enum rtune_status do_set(struct fixture *f, struct rtune_error *err) {
    return f->dev->ops->mem_set(f->dev, f->sum.out, 0, 8, f->stream, err);
}
static enum rtune_status do_put(struct fixture *f, struct rtune_error *err) {
    return f->dev->ops->mem_put(f->dev, f->sum.out, "12345678", 8, err);
}
static enum rtune_status do_get(struct fixture *f, struct rtune_error *err) {
    static char bytes[8]; /* outlives a copy that nobody waited for */
    return f->dev->ops->mem_get(f->dev, bytes, f->sum.out, sizeof bytes, err);
}
static enum rtune_status do_free_bytes(struct fixture *f, struct rtune_error *err) {
    uint64_t bytes;
    return f->dev->ops->mem_free_bytes(f->dev, &bytes, err);
}
static enum rtune_status do_stream(struct fixture *f, struct rtune_error *err) {
    void *stream = NULL;
    enum rtune_status status = f->dev->ops->stream_create(f->dev, &stream, err);
    assert_int_equal(status == RTUNE_OK, stream != NULL);
    f->dev->ops->stream_destroy(f->dev, stream);
    return status;
}
static enum rtune_status do_wait(struct fixture *f, struct rtune_error *err) {
    return f->dev->ops->stream_wait(f->dev, f->stream, err);
}
static enum rtune_status do_event(struct fixture *f, struct rtune_error *err) {
    void *event = NULL;
    enum rtune_status status = f->dev->ops->event_create(f->dev, false, &event, err);
    assert_int_equal(status == RTUNE_OK, event != NULL);
    f->dev->ops->event_destroy(f->dev, event);
    return status;
}
static enum rtune_status do_record(struct fixture *f, struct rtune_error *err) {
    return f->dev->ops->event_record(f->dev, f->first, f->stream, err);
}
static enum rtune_status do_done(struct fixture *f, struct rtune_error *err) {
    bool done;
    return f->dev->ops->event_done(f->dev, f->last, &done, err);
}
static enum rtune_status do_us(struct fixture *f, struct rtune_error *err) {
    double us;
    return f->dev->ops->event_us(f->dev, f->last, f->last, &us, err);
}

static void open_fixture(struct fixture *f) {
    struct rtune_error err;
    f->dev = gpu_open("0");
    gpu_sum_open(&f->sum, f->dev, 100);
    rtune_device *dev = f->dev;
    gpu_ok(dev->ops->stream_create(dev, &f->stream, &err), &err);
    gpu_ok(dev->ops->event_create(dev, true, &f->first, &err), &err);
    gpu_ok(dev->ops->event_create(dev, true, &f->last, &err), &err);
    gpu_ok(dev->ops->event_record(dev, f->last, f->stream, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, f->stream, &err), &err);
}

static void close_fixture(struct fixture *f) {
    f->dev->ops->event_destroy(f->dev, f->first);
    f->dev->ops->event_destroy(f->dev, f->last);
    f->dev->ops->stream_destroy(f->dev, f->stream);
    gpu_sum_close(&f->sum);
    rtune_device_close(f->dev);
}

/* Fail the k-th call of one operation; false once it makes fewer calls. */
static bool fail_operation(operation *op, uint64_t k, bool foreign) {
    struct fixture f;
    struct rtune_error err;
    CUcontext other = NULL;
    gpu_reset("RTUNE_FAKE_DEVICES=2", NULL);
    if (!test_driver_open(&driver, &err)) fail_msg("%s", err.message);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&other, foreign), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(other), CUDA_SUCCESS);
    open_fixture(&f);
    fake_cuda_mark();
    fake_cuda_fail(NULL, k, CUDA_ERROR_INVALID_VALUE);
    enum rtune_status status = op(&f, &err);
    bool failed = fake_cuda_failed();
    const char *symbol = fake_cuda_call_at(k - 1);
    fake_cuda_fail(NULL, 0, 0);
    if (!failed) gpu_ok(status, &err);
    if (failed) check_error(status, &err, symbol);
    if (failed && status == RTUNE_OK && !undoes(symbol) && strcmp(symbol, "cuCtxGetCurrent") != 0 &&
        strcmp(symbol, "cuCtxPushCurrent_v2") != 0)
        fail_msg("%s failed, and nobody noticed", symbol);
    bool undone = !failed || !undoes(symbol);
    if (undone) assert_restored(other);
    close_fixture(&f);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(foreign), CUDA_SUCCESS);
    if (undone && (!failed || status != RTUNE_OK)) gpu_assert_clean();
    return failed;
}

static void test_operations(void **state) {
    (void)state;
    static operation *const operations[] = {
        do_kernel,     do_launch, do_state, do_memory, do_set,    do_put,  do_get,
        do_free_bytes, do_stream, do_wait,  do_event,  do_record, do_done, do_us,
    };
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        for (int foreign = 0; foreign < 2; foreign++) {
            uint64_t k = 1;
            while (fail_operation(operations[i], k, foreign != 0))
                k++;
            assert_true(k > 2); /* at least two calls each */
        }
}

/* ---- images (G05) ---------------------------------------------------------------------------- */

static char logged[512];

static void keep_log(void *user, enum rtune_log_level level, const char *message) {
    (void)user;
    (void)level;
    snprintf(logged, sizeof logged, "%s", message);
}

/* Open a device whose driver refuses the built-in image; the text of its kernels' failure. */
static void refuse_builtin(const char *load, char text[512]) {
    const struct rtune_log log = {keep_log, NULL, RTUNE_LOG_DEBUG};
    struct rtune_device_request request = {.spec = "0", .log = &log};
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
    struct rtune_config config = rtune_config_default(&problem, true);
    rtune_device *dev = NULL;
    rtune_kernel *kernel = NULL;
    struct rtune_error err;
    gpu_reset("RTUNE_FAKE_DRIVER=12020", "RTUNE_FAKE_CC=7.0", load, NULL);
    gpu_ok(rtune_device_open(&request, &dev, &err), &err);
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, NULL, 0, &kernel, &err),
                     RTUNE_DEVICE);
    assert_string_equal(err.message, logged);
    snprintf(text, 512, "%s", err.message);
    rtune_device_close(dev);
    gpu_assert_clean();
}

static void expect_text(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in \"%s\"", part, text);
}

static void test_images(void **state) {
    (void)state;
    char text[512];
    size_t builtin = 0;
    (void)rtune_builtin_image(&builtin);
    if (builtin == 0) skip();
    refuse_builtin("RTUNE_FAKE_LOAD=222", text);
    expect_text(text, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
    expect_text(text, "CUDA " TEST_TOOLKIT " toolkit");
    expect_text(text, "CUDA 12.2");
    expect_text(text, "update the NVIDIA driver");
    refuse_builtin("RTUNE_FAKE_LOAD=209", text);
    expect_text(text, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    expect_text(text, "compute capability 7.0");
    expect_text(text, "RTUNE_CUDA_ARCHS=70");
    refuse_builtin("RTUNE_FAKE_LOAD=200", text);
    expect_text(text, "CUDA_ERROR_INVALID_IMAGE");
    expect_text(text, "fake log: first line");
}

/* A device that is out of memory is not a device without built-in kernels. */
static void test_image_memory(void **state) {
    (void)state;
    struct rtune_device_request request = {.spec = "0"};
    rtune_device *dev = NULL;
    struct rtune_error err;
    size_t builtin = 0;
    (void)rtune_builtin_image(&builtin);
    if (builtin == 0) skip();
    gpu_reset("RTUNE_FAKE_LOAD=2", NULL);
    assert_int_equal(rtune_device_open(&request, &dev, &err), RTUNE_DEVICE);
    expect_text(err.message, "CUDA_ERROR_OUT_OF_MEMORY");
    gpu_assert_clean();
}

/* A cubin of another architecture: the remedy is to tune, not to build. */
static void test_cubin_of_other(void **state) {
    (void)state;
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
    struct rtune_config config = rtune_config_default(&problem, true);
    rtune_kernel *kernel = NULL;
    struct rtune_error err;
    gpu_reset(NULL, NULL);
    rtune_device *dev = gpu_open("0");
    fake_cuda_fail("cuModuleLoadDataEx", 1, CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, "image", 6, &kernel, &err),
                     RTUNE_DEVICE);
    expect_text(err.message, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    expect_text(err.message, "another GPU than compute capability 9.0");
    rtune_device_close(dev);
    gpu_assert_clean();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),           cmocka_unit_test(test_operations),
        cmocka_unit_test(test_images),         cmocka_unit_test(test_image_memory),
        cmocka_unit_test(test_cubin_of_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
