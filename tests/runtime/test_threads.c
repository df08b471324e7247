/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sixteen threads on one handle, each doing everything that the header allows to be shared: looking
 * up, explaining, preparing, reducing, planning; while one reloads. On the device that
 * RTUNE_TEST_DEVICE names
 * ("cpu", or the toy if it is unset).
 */
#include "tests/runtime/toy.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 16, ROUNDS = 300, N = 5000 };

struct shared {
    rtune *rt;
    bool computes; /* results mean something */
    uint64_t seed;
    _Atomic uint64_t failures;
    _Atomic uint64_t reductions;
};

struct thread {
    struct shared *shared;
    unsigned number;
};

static int32_t input[N];
static int64_t prefix[N + 1];

static void expect(struct shared *s, bool right) {
    if (!right) atomic_fetch_add(&s->failures, 1);
}

static void reduce(struct shared *s, uint64_t n, void *stream, bool planned) {
    int64_t out = -1;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, n);
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_args a = RTUNE_ARGS(input, &out);
    a.launch = &launch;
    if (planned) {
        rtune_plan *plan = NULL;
        expect(s, rtune_plan_create(&plan, s->rt, &p, NULL) == RTUNE_OK &&
                      rtune_plan_reduce(plan, &a, stream, NULL) == RTUNE_OK);
        rtune_plan_destroy(plan);
    } else {
        expect(s, rtune_reduce(s->rt, &p, &a, stream, NULL) == RTUNE_OK);
    }
    expect(s, !s->computes || out == prefix[n]);
    atomic_fetch_add(&s->reductions, 1);
}

static void *thread_main(void *user) {
    struct thread *t = user;
    struct shared *s = t->shared;
    struct rtune_rng rng = {s->seed + t->number * 1000, 0};
    for (int i = 0; i < ROUNDS; i++) {
        struct rtune_launch launch = RTUNE_LAUNCH_INIT;
        char text[2048];
        const uint64_t n = 1 + rtune_rng_below(&rng, N);
        void *stream = (void *)(uintptr_t)(1 + rtune_rng_below(&rng, 24));
        struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, n);
        switch (rtune_rng_below(&rng, 8)) {
        case 0:
            expect(s, rtune_lookup(s->rt, &p, &launch, NULL) == RTUNE_OK);
            break;
        case 1:
            expect(s, rtune_explain(s->rt, &p, text, sizeof text, NULL, NULL) == RTUNE_OK);
            break;
        case 2:
            p.op = RTUNE_MAX;
            expect(s, rtune_prepare(s->rt, &p, 1, NULL) == RTUNE_OK);
            break;
        case 3:
            if (t->number == 0) expect(s, rtune_reload(s->rt, NULL) == RTUNE_OK);
            break;
        case 4:
            reduce(s, n, stream, true);
            break;
        default:
            reduce(s, n, stream, false);
            break;
        }
    }
    return NULL;
}

static rtune *open_handle(struct shared *s) {
    const char *device = getenv("RTUNE_TEST_DEVICE");
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_error err = {0};
    rtune *rt = NULL;
    if (device) {
        opts.device = device;
        opts.store = scratch_path("threads.db");
        if (rtune_open(&rt, &opts, &err) != RTUNE_OK) fail_msg("%s", err.message);
        s->computes = true;
        return rt;
    }
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    for (uint64_t n = 16; n < N; n *= 2) {
        char config[32];
        snprintf(config, sizeof config, "block=%u", 32u * (1 + (unsigned)(n % 31)));
        rows_add(&rows, d, RTUNE_SUM, RTUNE_I32, n, config);
    }
    rows_write(&rows, scratch_path("threads.db"));
    struct toy *toy = toy_new(NULL);
    toy->events_done = true;
    return toy_open(toy, scratch_path("threads.db"));
}

static void test_sixteen(void **state) {
    (void)state;
    static struct shared shared;
    struct thread threads[THREADS];
    pthread_t ids[THREADS];
    const char *seed = getenv("RTUNE_TEST_SEED");
    shared.seed = seed ? strtoull(seed, NULL, 10) : 20261129;
    printf("seed %llu\n", (unsigned long long)shared.seed);
    for (size_t i = 0; i < N; i++) {
        input[i] = (int32_t)(rtune_rng_at(shared.seed, i) % 2001) - 1000;
        prefix[i + 1] = prefix[i] + input[i];
    }
    shared.rt = open_handle(&shared);
    for (unsigned t = 0; t < THREADS; t++) {
        threads[t] = (struct thread){&shared, t};
        assert_int_equal(pthread_create(&ids[t], NULL, thread_main, &threads[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(ids[t], NULL);
    assert_int_equal(shared.failures, 0);
    assert_true(shared.reductions > THREADS * ROUNDS / 4);
    rtune_close(shared.rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sixteen)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
