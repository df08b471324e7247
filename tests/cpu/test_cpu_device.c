/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_device.c: the cpu device through the device interface: launches from several threads of
 * the program at once, accumulation, empty inputs, refusals, memory, streams and events.
 */
#include "tests/cpu/everywhere.h"

#include "base/rng.h"
#include "runtime/device_cpu.h"

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static rtune_device *open_cpu(uint32_t threads) {
    const struct rtune_device_request request = {.spec = "cpu", .threads = threads};
    struct rtune_error err;
    rtune_device *dev = NULL;
    if (rtune_device_open_cpu(&request, &dev, &err) != RTUNE_OK) fail_msg("%s", err.message);
    return dev;
}

/* Every problem, every number of threads and grid, on sizes that split unevenly. */
static void test_every_problem(void **state) {
    static const uint64_t sizes[] = {5, 1000, 4099, 40009};
    static double memory[2][40009];
    const uint64_t seed = test_seed();
    struct rtune_problem problem;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++)
        for (size_t s = 0; s < 4; s++) {
            const struct data data = {memory[0], memory[1], 1.25};
            problem.n = sizes[s];
            data_fill(&problem, DATA_EXACT, seed + k, memory[0], problem.n);
            data_fill(&problem, DATA_EXACT, seed - k, memory[1], problem.n);
            const struct expected expected = reference(&problem, DATA_EXACT, &data);
            check_everywhere(&problem, &data, &expected);
        }
}

/* The bits of rounded sums depend on the config, not on who does which part, nor when. */
static void test_deterministic(void **state) {
    enum { N = 100003 };
    static float memory[N];
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, N);
    const struct rtune_config config = rtune_config_default(&problem, false);
    const struct data data = {.in = memory};
    (void)state;
    data_fill(&problem, DATA_RANDOM, test_seed(), memory, N);
    for (uint32_t grid = 1; grid <= EVERYWHERE_THREADS; grid++) {
        rtune_device *dev = everywhere_device(EVERYWHERE_THREADS);
        const union rtune_cpu_value first = device_reduce(dev, &problem, &config, grid, &data);
        for (int turn = 0; turn < 20; turn++) {
            const union rtune_cpu_value again = device_reduce(dev, &problem, &config, grid, &data);
            assert_memory_equal(first.bytes, again.bytes, 4);
        }
        if (grid < EVERYWHERE_THREADS) {
            const union rtune_cpu_value other =
                device_reduce(everywhere_device(grid), &problem, &config, grid, &data);
            assert_memory_equal(first.bytes, other.bytes, 4);
        }
    }
}

/* Nor on how the caller rounds, whose environment comes back as it was. */
static void test_environment(void **state) {
    enum { N = 100003 };
    static float memory[N];
    static const enum rtune_mode modes[] = {RTUNE_PLAIN, RTUNE_KAHAN, RTUNE_REPRODUCIBLE};
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, N);
    const struct rtune_config config = rtune_config_default(&problem, false);
    const struct data data = {.in = memory};
    (void)state;
    data_fill(&problem, DATA_RANDOM, test_seed(), memory, N);
    for (size_t k = 0; k < 3; k++) {
        problem.mode = modes[k];
        fesetround(FE_UPWARD);
        rtune_device *made = open_cpu(EVERYWHERE_THREADS); /* its threads begin with that */
        const union rtune_cpu_value upward =
            device_reduce(made, &problem, &config, made->units, &data);
        const int after = fegetround();
        fesetround(FE_TONEAREST);
        const union rtune_cpu_value nearest =
            device_reduce(made, &problem, &config, made->units, &data);
        rtune_device_close(made);
        assert_int_equal(after, FE_UPWARD);
        assert_memory_equal(nearest.bytes, upward.bytes, 4);
    }
}

struct host {
    pthread_t thread;
    rtune_device *dev;
    const int64_t *data;
    uint64_t n, wrong;
};

static void *host_main(void *argument) {
    struct host *host = argument;
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I64, host->n);
    const struct rtune_config config = rtune_config_default(&problem, false);
    for (uint32_t turn = 0; turn < 200; turn++) {
        union rtune_cpu_value out = {.bits = 0};
        rtune_kernel *kernel = NULL;
        const struct rtune_launch_request request = {
            .args = {.in = host->data, .out = &out, .n = host->n}, .grid = 1 + turn % 5};
        if (host->dev->ops->kernel_open(host->dev, &problem, &config, NULL, 0, &kernel, NULL) ||
            host->dev->ops->launch(host->dev, kernel, &request, NULL) ||
            out.bits != host->n * (host->n - 1) / 2)
            host->wrong++;
        host->dev->ops->kernel_close(host->dev, kernel);
    }
    return NULL;
}

static void test_two_hosts(void **state) {
    enum { HOSTS = 3, N = 20011 };
    static int64_t data[N];
    struct host hosts[HOSTS];
    (void)state;
    for (int i = 0; i < N; i++)
        data[i] = i;
    for (uint32_t threads = 1; threads <= EVERYWHERE_THREADS; threads++) {
        for (int h = 0; h < HOSTS; h++) {
            hosts[h] = (struct host){.dev = everywhere_device(threads), .data = data, .n = N};
            assert_int_equal(pthread_create(&hosts[h].thread, NULL, host_main, &hosts[h]), 0);
        }
        for (int h = 0; h < HOSTS; h++) {
            pthread_join(hosts[h].thread, NULL);
            assert_int_equal(hosts[h].wrong, 0);
        }
    }
}

/* One launch with flags on out. */
static enum rtune_status launch_onto(const struct rtune_problem *problem, uint32_t flags,
                                     const struct data *data, void *out, struct rtune_error *err) {
    rtune_device *dev = everywhere_device(2);
    const struct rtune_config config = rtune_config_default(problem, false);
    const struct rtune_launch_request request = {.args = {.in = data->in,
                                                          .in2 = data->in2,
                                                          .scale = data->scale,
                                                          .out = out,
                                                          .n = problem->n,
                                                          .flags = flags},
                                                 .grid = 2};
    rtune_kernel *kernel = NULL;
    enum rtune_status status = dev->ops->kernel_open(dev, problem, &config, NULL, 0, &kernel, err);
    if (status == RTUNE_OK) status = dev->ops->launch(dev, kernel, &request, err);
    dev->ops->kernel_close(dev, kernel);
    return status;
}

static bool is_arg(enum rtune_op op) { return op == RTUNE_ARGMIN || op == RTUNE_ARGMAX; }

/* The second half accumulated onto the first, and then nothing onto that. */
static void check_accumulate(struct rtune_problem problem, enum data_set set, uint64_t seed) {
    enum { N = 5001, HALF = 2000 };
    static double memory[2][N];
    const size_t skip = HALF * rtune_dtype_size(problem.dtype);
    const struct data first = {memory[0], memory[1], 3.0};
    const struct data second = {(const char *)memory[0] + skip, (const char *)memory[1] + skip,
                                3.0};
    const bool none = problem.op >= RTUNE_MIN && problem.op <= RTUNE_MINMAX;
    union rtune_cpu_value out;
    char text[128];
    memset(&out, 0xab, sizeof out);
    data_fill(&problem, set, seed, memory[0], N);
    data_fill(&problem, set, seed + 1, memory[1], N);
    problem.n = HALF;
    const struct expected before = reference(&problem, set, &first);
    assert_int_equal(launch_onto(&problem, 0, &first, out.bytes, NULL), RTUNE_OK);
    problem.n = N - HALF;
    const struct expected after = reference(&problem, set, &second);
    const struct expected both = {.value =
                                      reference_accumulate(&problem, &before.value, &after.value)};
    assert_int_equal(launch_onto(&problem, RTUNE_ACCUMULATE, &second, out.bytes, NULL), RTUNE_OK);
    rtune_problem_print(&problem, text, sizeof text);
    if (!result_matches(&problem, &both, &out)) fail_msg("%s: onto the first half", text);
    problem.n = 0;
    assert_int_equal(launch_onto(&problem, RTUNE_ACCUMULATE, &second, out.bytes, NULL),
                     none ? RTUNE_EMPTY : RTUNE_OK);
    if (!result_matches(&problem, &both, &out)) fail_msg("%s: nothing onto all", text);
    for (size_t b = rtune_result_size(&problem); b < sizeof out; b++)
        assert_int_equal(out.bytes[b], 0xab);
}

static void test_accumulate(void **state) {
    const uint64_t seed = test_seed();
    struct rtune_problem problem;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++)
        for (int set = 0; set < data_sets(problem.dtype) && !is_arg(problem.op); set++)
            if (set != DATA_RANDOM) check_accumulate(problem, (enum data_set)set, seed + k);
}

/* The bits of what RTUNE_ROOT makes of a wide sum. */
static uint64_t root_bits(const struct rtune_problem *problem, uint64_t sum) {
    const enum rtune_dtype wide = problem->dtype == RTUNE_F64 ? RTUNE_F64 : RTUNE_F32;
    const double root = sqrt((double)decode_float(wide, sum));
    const uint64_t bits = encode_float(wide, (quad)root); /* f32: rounded once (Figueroa 1995) */
    return encode_float(rtune_result_dtype(problem), decode_float(wide, bits));
}

/* The root of the same sum, to the bit. */
static void check_root(struct rtune_problem problem, const struct data *data, uint64_t n) {
    union rtune_cpu_value sum = {.bits = 0}, norm = {.bits = 0};
    struct rtune_problem wide = problem;
    char text[128];
    wide.acc = RTUNE_WIDE;
    wide.n = problem.n = n;
    assert_int_equal(launch_onto(&wide, 0, data, sum.bytes, NULL), RTUNE_OK);
    assert_int_equal(launch_onto(&problem, RTUNE_ROOT, data, norm.bytes, NULL), RTUNE_OK);
    rtune_problem_print(&problem, text, sizeof text);
    if (norm.bits != root_bits(&problem, sum.bits))
        fail_msg("%s: root of %llx: %llx instead of %llx", text, (unsigned long long)sum.bits,
                 (unsigned long long)norm.bits, (unsigned long long)root_bits(&problem, sum.bits));
}

static void test_root(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 5, 1000, 4099, 40009};
    static double memory[40009];
    const struct data data = {.in = memory, .scale = 1.0};
    const uint64_t seed = test_seed();
    struct rtune_problem problem;
    size_t count = 0;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        problem.flags = RTUNE_ROOT;
        if (rtune_problem_check(&problem, NULL) != RTUNE_OK) continue;
        problem.flags = 0;
        for (int set = 0; set < data_sets(problem.dtype); set++) {
            data_fill(&problem, (enum data_set)set, seed + k, memory, 40009);
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
                check_root(problem, &data, sizes[s]);
        }
        put(problem.dtype, memory, 3, (double)-INFINITY);
        check_root(problem, &data, 5);
        for (int small = 0; small < 2; small++) { /* in f32 the sum overflows; squares underflow */
            for (uint64_t i = 0; i < 1000; i++)
                put(problem.dtype, memory, i, small ? 1e-30 : 1e19);
            check_root(problem, &data, 1000);
        }
        count++;
    }
    assert_int_equal(count, 14);
}

/* A33: nothing to reduce: the identity, or EMPTY and not a byte written. */
static void test_empty(void **state) {
    struct rtune_problem problem;
    struct rtune_error err;
    (void)state;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        const bool none = problem.op >= RTUNE_MIN && problem.op <= RTUNE_ARGMAX;
        const struct data data = {.scale = 1.0};
        union rtune_cpu_value out, before, identity = {.bits = 0};
        memset(&out, 0xab, sizeof out);
        before = out;
        enum rtune_status status = launch_onto(&problem, 0, &data, out.bytes, &err);
        assert_int_equal(status, none ? RTUNE_EMPTY : RTUNE_OK);
        if (none) {
            assert_memory_equal(out.bytes, before.bytes, sizeof out);
        } else {
            assert_int_equal(rtune_identity(&problem, identity.bytes, NULL), RTUNE_OK);
            assert_memory_equal(out.bytes, identity.bytes, rtune_result_size(&problem));
        }
    }
}

static void test_refuses(void **state) {
    rtune_device *dev = everywhere_device(1);
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 1);
    struct rtune_config config = rtune_config_default(&problem, false);
    rtune_kernel *kernel = NULL;
    struct rtune_error err;
    (void)state;
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, "image", 5, &kernel, &err),
                     RTUNE_INVALID);
    config.items = 7;
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, NULL, 0, &kernel, &err),
                     RTUNE_UNSUPPORTED);
    config = rtune_config_default(&problem, false);
    problem.op = RTUNE_BXOR;
    assert_int_equal(dev->ops->kernel_open(dev, &problem, &config, NULL, 0, &kernel, &err),
                     RTUNE_UNSUPPORTED);
    assert_null(kernel);
}

static void test_memory(void **state) {
    rtune_device *dev = open_cpu(1);
    static const size_t sizes[] = {0, 1, 4096, 4097, (4 << 20) + 3};
    uint64_t available = 0;
    void *ptr = NULL;
    struct rtune_error err;
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        char put[64] = "some bytes", got[64] = "";
        const size_t part = sizes[k] < sizeof put ? sizes[k] : sizeof put;
        assert_int_equal(dev->ops->mem_alloc(dev, sizes[k], &ptr, NULL), RTUNE_OK);
        assert_non_null(ptr);
        assert_int_equal((uintptr_t)ptr % 4096, 0);
        assert_int_equal(dev->ops->mem_set(dev, ptr, 0x5a, sizes[k], NULL, NULL), RTUNE_OK);
        if (sizes[k]) assert_int_equal(((unsigned char *)ptr)[sizes[k] - 1], 0x5a);
        assert_int_equal(dev->ops->mem_put(dev, ptr, put, part, NULL), RTUNE_OK);
        assert_int_equal(dev->ops->mem_get(dev, got, ptr, part, NULL), RTUNE_OK);
        assert_memory_equal(got, put, part);
        dev->ops->mem_free(dev, ptr);
    }
    dev->ops->mem_free(dev, NULL);
    ptr = NULL;
    assert_int_equal(dev->ops->mem_alloc(dev, SIZE_MAX - 1, &ptr, &err), RTUNE_NO_MEMORY);
    assert_null(ptr);
    assert_int_equal(dev->ops->mem_free_bytes(dev, &available, NULL), RTUNE_OK);
    assert_true(available > 1 << 20);
    dev->ops->close(dev);
}

static void test_streams_and_events(void **state) {
    rtune_device *dev = open_cpu(1);
    struct rtune_stream_state stream_state = {.key = 7, .capturing = true};
    void *stream = NULL, *first = NULL, *last = NULL;
    bool done = false;
    double us = -1;
    (void)state;
    assert_int_equal(dev->ops->stream_create(dev, &stream, NULL), RTUNE_OK);
    assert_int_equal(dev->ops->stream_state(dev, stream, &stream_state, NULL), RTUNE_OK);
    assert_int_equal(stream_state.key, 0);
    assert_false(stream_state.capturing);
    assert_int_equal(dev->ops->event_create(dev, true, &first, NULL), RTUNE_OK);
    assert_int_equal(dev->ops->event_create(dev, true, &last, NULL), RTUNE_OK);
    assert_int_equal(dev->ops->event_us(dev, first, last, &us, NULL), RTUNE_INVALID);
    assert_int_equal(dev->ops->event_record(dev, first, stream, NULL), RTUNE_OK);
    for (uint64_t k = 0, salt = 1; k < 1000; k++)
        assert_true((salt = rtune_rng_at(salt, k)) != k);
    assert_int_equal(dev->ops->event_record(dev, last, stream, NULL), RTUNE_OK);
    assert_int_equal(dev->ops->event_done(dev, last, &done, NULL), RTUNE_OK);
    assert_true(done);
    assert_int_equal(dev->ops->event_us(dev, first, last, &us, NULL), RTUNE_OK);
    assert_true(us > 0 && us < 1e7);
    dev->ops->event_destroy(dev, first);
    dev->ops->event_destroy(dev, last);
    dev->ops->event_destroy(dev, NULL);
    assert_int_equal(dev->ops->stream_wait(dev, stream, NULL), RTUNE_OK);
    dev->ops->stream_destroy(dev, stream);
    dev->ops->close(dev);
}

/* The pool has no more threads than the process may use, and no more than asked for. */
static void test_identity(void **state) {
    struct rtune_identity all, one;
    rtune_device *dev = open_cpu(0), *single = open_cpu(1);
    (void)state;
    assert_int_equal(rtune_device_cpu_identity(0, &all, NULL), RTUNE_OK);
    assert_int_equal(rtune_device_cpu_identity(1, &one, NULL), RTUNE_OK);
    assert_int_equal(one.cores, 1);
    assert_int_equal(single->units, 1);
    assert_int_equal(dev->units, all.cores);
    assert_true(all.cores >= 1);
    assert_false(all.cuda || dev->cuda);
    assert_string_equal(dev->name, "cpu");
    assert_string_equal(all.isa, rtune_isa_name(rtune_isa_detect()));
    assert_true(all.model[0] != '\0');
    assert_memory_equal(&all, &dev->identity, sizeof all);
    dev->ops->close(dev);
    single->ops->close(single);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_problem), cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_two_hosts),     cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_empty),         cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_streams_and_events),
        cmocka_unit_test(test_identity),      cmocka_unit_test(test_environment),
        cmocka_unit_test(test_root),
    };
    return cmocka_run_group_tests(tests, everywhere_setup, everywhere_teardown);
}
