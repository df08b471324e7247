/* SPDX-License-Identifier: Apache-2.0 */
/* The fake driver itself: what it computes, when it does, and what it catches. */
#include "tests/fake/gpu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct test_driver driver;
static rtune_device *dev;

/* A device whose context is current on this thread, after a reset with one setting (or NULL). */
static void begin(const char *setting) {
    struct rtune_error err;
    CUcontext context = NULL;
    gpu_reset(setting, NULL);
    if (!test_driver_open(&driver, &err)) fail_msg("%s", err.message);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
    dev = gpu_open("0");
}

static void end(void) {
    rtune_device_close(dev);
    assert_int_equal(driver.base.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    gpu_assert_clean();
}

/* After a problem the context is broken and nothing in it can be released one by one. */
static void end_broken(const char *problem) {
    assert_non_null(fake_cuda_problem());
    if (!strstr(fake_cuda_problem(), problem)) fail_msg("%s", fake_cuda_problem());
    rtune_device_close(dev);
    fake_cuda_reset();
}

static void *make_stream(unsigned int flags) {
    CUstream stream = NULL;
    assert_int_equal(driver.base.cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    return stream;
}

/* ---- when ------------------------------------------------------------------------------------ */

static void test_lazy(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    begin(NULL);
    void *stream = make_stream(CU_STREAM_NON_BLOCKING);
    gpu_sum_open(&sum, dev, 10);
    int64_t before = gpu_sum_result(&sum);
    gpu_ok(gpu_sum_launch(&sum, stream, &err), &err);
    assert_int_equal(fake_cuda_pending(), 1);
    assert_int_equal(gpu_sum_result(&sum), before); /* another stream: not ordered */
    assert_int_equal(driver.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    assert_int_equal(driver.cuStreamQuery(stream), CUDA_SUCCESS);
    assert_int_equal(gpu_sum_result(&sum), 55);
    assert_int_equal(driver.base.cuStreamDestroy(stream), CUDA_SUCCESS);
    gpu_sum_close(&sum);
    end();
}

/* Blocking streams are ordered with the legacy one, non-blocking ones are not. */
static void test_legacy_order(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    begin(NULL);
    for (int blocking = 0; blocking < 2; blocking++) {
        int64_t value = 0;
        void *stream = make_stream(blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
        gpu_sum_open(&sum, dev, 10);
        int64_t before = gpu_sum_result(&sum);
        gpu_ok(gpu_sum_launch(&sum, stream, &err), &err);
        CUdeviceptr out = (CUdeviceptr)(uintptr_t)sum.out;
        assert_int_equal(driver.cuMemcpyDtoH(&value, out, sizeof value), CUDA_SUCCESS);
        assert_int_equal(value, blocking ? 55 : before);
        assert_int_equal(driver.base.cuStreamDestroy(stream), CUDA_SUCCESS);
        gpu_sum_close(&sum);
    }
    end();
}

static void test_memory(void **state) {
    (void)state;
    struct rtune_error err;
    void *ptr = NULL;
    unsigned char bytes[16];
    uint64_t available = 0;
    begin("RTUNE_FAKE_MEMORY=1048576");
    assert_int_equal(dev->ops->mem_alloc(dev, 2 << 20, &ptr, &err), RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "CUDA_ERROR_OUT_OF_MEMORY"));
    gpu_ok(dev->ops->mem_alloc(dev, 1 << 19, &ptr, &err), &err);
    gpu_ok(dev->ops->mem_free_bytes(dev, &available, &err), &err);
    assert_int_equal(available, 1 << 19);
    gpu_ok(dev->ops->mem_get(dev, bytes, ptr, sizeof bytes, &err), &err);
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0xa5); /* never zeroed */
    dev->ops->mem_free(dev, ptr);
    end();
}

/* ---- what ------------------------------------------------------------------------------------ */

struct value_case {
    enum rtune_op op;
    enum rtune_dtype dtype;
    enum rtune_acc acc;
    enum rtune_nan nan_rule;
    uint32_t flags;
    union {
        int32_t i32[4];
        int64_t i64[4];
        float f32[4];
        double f64[4];
    } in;
    uint64_t n;
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
        uint32_t u32;
    } before, after;
};

static void check_value(const struct value_case *c, const void *in, size_t out_size) {
    struct rtune_error err;
    struct rtune_problem problem = RTUNE_PROBLEM(c->op, c->dtype, c->n);
    problem.acc = c->acc;
    problem.nan_rule = c->nan_rule;
    struct rtune_config config = rtune_config_default(&problem, true);
    config.finish = RTUNE_FINISH_ONE;
    rtune_kernel *kernel = NULL;
    void *memory = NULL;
    unsigned char out[8];
    gpu_ok(dev->ops->kernel_open(dev, &problem, &config, "image", 6, &kernel, &err), &err);
    gpu_ok(dev->ops->mem_alloc(dev, 64, &memory, &err), &err);
    gpu_ok(dev->ops->mem_put(dev, memory, in, 32, &err), &err);
    gpu_ok(dev->ops->mem_put(dev, (char *)memory + 32, &c->before, 8, &err), &err);
    struct rtune_launch_request request = {
        .args = {.in = memory, .out = (char *)memory + 32, .n = c->n, .flags = c->flags},
        .grid = 1};
    gpu_ok(dev->ops->launch(dev, kernel, &request, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, NULL, &err), &err);
    gpu_ok(dev->ops->mem_get(dev, out, (char *)memory + 32, sizeof out, &err), &err);
    assert_memory_equal(out, &c->after, out_size);
    request.args.out = (char *)memory + 40; /* of the same input, without the flags */
    request.args.flags = 0;
    gpu_ok(dev->ops->launch(dev, kernel, &request, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, NULL, &err), &err);
    gpu_ok(dev->ops->mem_get(dev, out, (char *)memory + 40, sizeof out, &err), &err);
    if (c->flags)
        assert_memory_not_equal(out, &c->after, out_size);
    else
        assert_memory_equal(out, &c->after, out_size);
    dev->ops->mem_free(dev, memory);
    dev->ops->kernel_close(dev, kernel);
}

static void test_integers(void **state) {
    (void)state;
    static const struct value_case cases[] = {
        {RTUNE_SUM,
         RTUNE_I32,
         RTUNE_WIDE,
         0,
         0,
         {.i32 = {INT32_MAX, 2, -1}},
         3,
         {0},
         {.i64 = INT64_C(2147483648)}},
        {RTUNE_SUM,
         RTUNE_I32,
         RTUNE_NATIVE,
         0,
         0,
         {.i32 = {INT32_MAX, 2}},
         2,
         {0},
         {.i32 = INT32_MIN + 1}},
        {RTUNE_SUM,
         RTUNE_I32,
         RTUNE_WIDE,
         0,
         RTUNE_ACCUMULATE,
         {.i32 = {4, 5}},
         2,
         {.i64 = -100},
         {.i64 = -91}},
        {RTUNE_PROD,
         RTUNE_I64,
         RTUNE_WIDE,
         0,
         0,
         {.i64 = {INT64_C(1) << 62, 3, -1}},
         3,
         {0},
         {.i64 = INT64_C(1) << 62}},
        {RTUNE_MAX, RTUNE_I64, RTUNE_WIDE, 0, 0, {.i64 = {-5, -2, -9}}, 3, {0}, {.i64 = -2}},
        {RTUNE_MIN,
         RTUNE_I32,
         RTUNE_WIDE,
         0,
         RTUNE_ACCUMULATE,
         {.i32 = {7, 8}},
         2,
         {.i32 = 3},
         {.i32 = 3}},
        {RTUNE_SUM, RTUNE_I64, RTUNE_WIDE, 0, 0, {.i64 = {1}}, 0, {.i64 = 9}, {.i64 = 0}},
    };
    begin(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool small = cases[i].dtype == RTUNE_I32 &&
                     (cases[i].op == RTUNE_MIN || cases[i].acc == RTUNE_NATIVE);
        check_value(&cases[i], &cases[i].in, small ? 4 : 8);
    }
    end();
}

static void test_floats(void **state) {
    (void)state;
    const struct value_case cases[] = {
        {RTUNE_SUM, RTUNE_F32, 0, 0, 0, {.f32 = {-0.0f, -0.0f}}, 2, {0}, {.u32 = 0}},
        {RTUNE_SUM,
         RTUNE_F32,
         0,
         0,
         0,
         {.f32 = {INFINITY, -INFINITY}},
         2,
         {0},
         {.u32 = 0x7fc00000}},
        {RTUNE_MIN,
         RTUNE_F32,
         0,
         RTUNE_NAN_PROPAGATE,
         0,
         {.f32 = {1, -NAN, 3}},
         3,
         {0},
         {.u32 = 0x7fc00000}},
        {RTUNE_MIN, RTUNE_F32, 0, RTUNE_NAN_IGNORE, 0, {.f32 = {NAN, 2, 3}}, 3, {0}, {.f32 = 2}},
        {RTUNE_MAX,
         RTUNE_F32,
         0,
         RTUNE_NAN_IGNORE,
         0,
         {.f32 = {NAN, NAN}},
         2,
         {0},
         {.u32 = 0x7fc00000}},
        {RTUNE_MIN, RTUNE_F32, 0, 0, 0, {.f32 = {0.0f, -0.0f}}, 2, {0}, {.u32 = 0x80000000}},
        {RTUNE_MAX, RTUNE_F32, 0, 0, 0, {.f32 = {-0.0f, 0.0f}}, 2, {0}, {.u32 = 0}},
        {RTUNE_PROD,
         RTUNE_F64,
         0,
         0,
         RTUNE_ACCUMULATE,
         {.f64 = {2, 3, 0.5}},
         3,
         {.f64 = 4},
         {.f64 = 12}},
        {RTUNE_SUMSQ, RTUNE_F32, 0, 0, RTUNE_ROOT, {.f32 = {-3, 4}}, 2, {0}, {.f32 = 5}},
    };
    begin(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_value(&cases[i], &cases[i].in, cases[i].dtype == RTUNE_F32 ? 4 : 8);
    end();
}

/* ---- what is caught -------------------------------------------------------------------------- */

static void test_shared_workspace(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    CUevent event = NULL;
    begin(NULL);
    void *a = make_stream(CU_STREAM_NON_BLOCKING), *b = make_stream(CU_STREAM_NON_BLOCKING);
    gpu_sum_open(&sum, dev, 10);
    /* ordered by an event: fine */
    assert_int_equal(driver.base.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    gpu_ok(gpu_sum_launch(&sum, a, &err), &err);
    assert_int_equal(driver.base.cuEventRecord(event, a), CUDA_SUCCESS);
    assert_int_equal(driver.cuStreamWaitEvent(b, event, 0), CUDA_SUCCESS);
    gpu_ok(gpu_sum_launch(&sum, b, &err), &err);
    assert_null(fake_cuda_problem());
    assert_int_equal(driver.base.cuStreamSynchronize(b), CUDA_SUCCESS);
    assert_int_equal(fake_cuda_pending(), 0);
    /* not ordered: a race */
    gpu_ok(gpu_sum_launch(&sum, a, &err), &err);
    assert_int_equal(gpu_sum_launch(&sum, b, &err), RTUNE_DEVICE);
    assert_int_equal(driver.base.cuStreamSynchronize(a), CUDA_ERROR_ILLEGAL_ADDRESS);
    free(sum.kernel);
    end_broken("in flight on two streams");
}

static void expect_problem(const char *problem, void (*spoil)(struct gpu_sum *sum)) {
    struct rtune_error err;
    struct gpu_sum sum;
    begin(NULL);
    gpu_sum_open(&sum, dev, 10);
    spoil(&sum);
    (void)gpu_sum_launch(&sum, NULL, &err);
    (void)dev->ops->stream_wait(dev, NULL, &err);
    free(sum.kernel);
    end_broken(problem);
}
static void spoil_workspace(struct gpu_sum *sum) {
    struct rtune_error err;
    gpu_ok(dev->ops->mem_put(dev, (char *)sum->workspace + 300, "x", 1, &err), &err);
}
static void spoil_alignment(struct gpu_sum *sum) { sum->workspace = (char *)sum->workspace + 8; }
static void spoil_size(struct gpu_sum *sum) { sum->n = 1000000; }
static void spoil_out(struct gpu_sum *sum) {
    static int64_t host;
    sum->out = &host;
}

static void test_bad_launches(void **state) {
    (void)state;
    expect_problem("is not zeroed", spoil_workspace);
    expect_problem("not aligned to 256", spoil_alignment);
    expect_problem("the input leaves its allocation", spoil_size);
    expect_problem("the output is not device memory", spoil_out);
}

/* A result has its own size and alignment, which may be one byte. */
static void launch_narrow(size_t at, enum rtune_acc acc, const char *problem) {
    struct rtune_error err;
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I8, 3);
    rtune_kernel *kernel = NULL;
    char *memory = NULL, sum = 0;
    begin(NULL);
    p.acc = acc;
    struct rtune_config config = rtune_config_default(&p, true);
    config.finish = RTUNE_FINISH_ONE;
    gpu_ok(dev->ops->kernel_open(dev, &p, &config, "image", 6, &kernel, &err), &err);
    gpu_ok(dev->ops->mem_alloc(dev, 64, (void **)&memory, &err), &err);
    gpu_ok(dev->ops->mem_put(dev, memory, "\1\2\3", 3, &err), &err);
    struct rtune_launch_request request = {.args = {.in = memory, .out = memory + at, .n = 3},
                                           .grid = 1};
    (void)dev->ops->launch(dev, kernel, &request, &err);
    (void)dev->ops->stream_wait(dev, NULL, &err);
    if (problem) {
        free(kernel);
        end_broken(problem);
        return;
    }
    gpu_ok(dev->ops->mem_get(dev, &sum, memory + at, 1, &err), &err);
    assert_int_equal(sum, 6);
    dev->ops->mem_free(dev, memory);
    dev->ops->kernel_close(dev, kernel);
    end();
}

static void test_narrow_results(void **state) {
    (void)state;
    launch_narrow(33, RTUNE_NATIVE, NULL);
    launch_narrow(63, RTUNE_NATIVE, NULL);
    launch_narrow(64, RTUNE_NATIVE, "the output is not device memory");
    launch_narrow(36, RTUNE_WIDE, "or not aligned");
}

static void test_dead_handles(void **state) {
    (void)state;
    unsigned long long id;
    begin(NULL);
    void *stream = make_stream(CU_STREAM_NON_BLOCKING);
    assert_int_equal(driver.base.cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_int_equal(driver.base.cuStreamGetId(stream, &id), CUDA_ERROR_INVALID_HANDLE);
    end_broken("a stream was used that does not exist");
    begin(NULL);
    assert_int_equal(driver.base.cuMemFree(1234), CUDA_ERROR_INVALID_VALUE);
    end_broken("memory was freed that is not allocated");
}

/* A child of a process that initialised the driver cannot use it. */
static void test_fork(void **state) {
    (void)state;
    int result = 0;
    begin(NULL);
    pid_t child = fork();
    if (child == 0) {
        int count;
        _exit(driver.base.cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                      driver.base.cuInit(0) == CUDA_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    end();
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void test_faults(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    begin("RTUNE_FAKE_FAULTS=wrong=_i32_");
    gpu_sum_open(&sum, dev, 10);
    gpu_ok(gpu_sum_launch(&sum, NULL, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, NULL, &err), &err);
    assert_int_not_equal(gpu_sum_result(&sum), 55);
    gpu_sum_close(&sum);
    end();

    begin("RTUNE_FAKE_FAULTS=absent=_f64_,skip=_sum_i32_");
    gpu_sum_open(&sum, dev, 10);
    gpu_ok(dev->ops->mem_put(dev, sum.out, "poisoned", 8, &err), &err);
    gpu_ok(gpu_sum_launch(&sum, NULL, &err), &err);
    gpu_ok(dev->ops->stream_wait(dev, NULL, &err), &err);
    int64_t value = gpu_sum_result(&sum);
    assert_memory_equal(&value, "poisoned", 8);
    gpu_sum_close(&sum);
    end();

    begin("RTUNE_FAKE_FAULTS=trap=_sum_i32_");
    gpu_sum_open(&sum, dev, 10);
    gpu_ok(gpu_sum_launch(&sum, NULL, &err), &err);
    assert_int_equal(dev->ops->stream_wait(dev, NULL, &err), RTUNE_DEVICE);
    assert_non_null(strstr(err.message, "CUDA_ERROR_ILLEGAL_INSTRUCTION"));
    assert_int_equal(gpu_sum_launch(&sum, NULL, &err), RTUNE_DEVICE); /* for good */
    assert_null(fake_cuda_problem());
    free(sum.kernel);
    rtune_device_close(dev);
    fake_cuda_reset();
}

static void test_hang(void **state) {
    (void)state;
    struct rtune_error err;
    struct gpu_sum sum;
    CUevent event = NULL;
    begin("RTUNE_FAKE_FAULTS=hang=_sum_i32_");
    gpu_sum_open(&sum, dev, 10);
    void *stream = make_stream(CU_STREAM_NON_BLOCKING);
    assert_int_equal(driver.base.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    gpu_ok(gpu_sum_launch(&sum, stream, &err), &err);
    assert_int_equal(driver.base.cuEventRecord(event, stream), CUDA_SUCCESS);
    for (int i = 0; i < 10; i++)
        assert_int_equal(driver.base.cuEventQuery(event), CUDA_ERROR_NOT_READY);
    assert_int_equal(fake_cuda_pending(), 2);
    free(sum.kernel);
    fake_cuda_reset(); /* the device's context went with it */
    free(dev);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lazy),         cmocka_unit_test(test_legacy_order),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),       cmocka_unit_test(test_shared_workspace),
        cmocka_unit_test(test_bad_launches), cmocka_unit_test(test_dead_handles),
        cmocka_unit_test(test_fork),         cmocka_unit_test(test_faults),
        cmocka_unit_test(test_hang),         cmocka_unit_test(test_narrow_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
