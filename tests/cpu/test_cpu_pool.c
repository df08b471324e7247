/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_pool.c: every part once, joins in order, values intact; from sleep and from spinning,
 * with more threads than processors, from several threads of the program at once. Meant to run
 * under TSan as well.
 */
#include "runtime/pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS_MAX = 8, THREADS_MAX = 4 };
static const uint64_t spins[] = {0, 50000};

/* Plain counters: a part that ran twice, or at the same time as another of its number, is a race.
 */
struct tally {
    uint32_t parts[PARTS_MAX];
    uint32_t joined;
    uint64_t salt;
    bool wrong;
};

static uint64_t part_value(const struct tally *tally, uint32_t k) { return tally->salt * 31 + k; }

static void count_part(void *context, uint32_t k, union rtune_cpu_value *value) {
    struct tally *tally = context;
    tally->parts[k]++;
    memset(value, 0, sizeof *value);
    value->bits = part_value(tally, k);
}

static void check_join(void *context, uint32_t k, const union rtune_cpu_value *value) {
    struct tally *tally = context;
    if (k != tally->joined || value->bits != part_value(tally, k)) tally->wrong = true;
    tally->joined++;
}

/* One run; true if it did what it should. */
static bool run_once(rtune_pool *pool, uint32_t parts, uint64_t salt) {
    struct tally tally = {.salt = salt};
    const struct rtune_pool_work work = {count_part, check_join, &tally};
    rtune_pool_run(pool, parts, &work);
    for (uint32_t k = 0; k < PARTS_MAX; k++)
        if (tally.parts[k] != (k < parts ? 1u : 0u)) return false;
    return tally.joined == parts && !tally.wrong;
}

static rtune_pool *make(uint32_t threads, uint64_t spin_ns) {
    rtune_pool *pool = NULL;
    assert_int_equal(rtune_pool_create(threads, spin_ns, &pool, NULL), RTUNE_OK);
    assert_int_equal(rtune_pool_threads(pool), threads);
    return pool;
}

static void test_runs(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= THREADS_MAX; threads++)
        for (size_t s = 0; s < 2; s++) {
            rtune_pool *pool = make(threads, spins[s]);
            for (uint64_t turn = 0; turn < 400; turn++)
                assert_true(run_once(pool, 1 + (uint32_t)(turn % PARTS_MAX), turn));
            rtune_pool_free(pool);
        }
}

/* Threads that never had work, that have just had it, and that sleep must all end. */
static void test_ends(void **state) {
    (void)state;
    rtune_pool_free(NULL);
    for (uint64_t turn = 0; turn < 60; turn++) {
        rtune_pool *pool = make(THREADS_MAX, spins[turn % 2]);
        if (turn % 3) assert_true(run_once(pool, THREADS_MAX, turn));
        rtune_pool_free(pool);
    }
}

struct host {
    pthread_t thread;
    rtune_pool *pool;
    uint64_t seed;
    bool right;
};

static void *host_main(void *argument) {
    struct host *host = argument;
    host->right = true;
    for (uint64_t turn = 0; turn < 300; turn++)
        if (!run_once(host->pool, 1 + (uint32_t)((turn + host->seed) % PARTS_MAX), turn))
            host->right = false;
    return NULL;
}

static void test_two_hosts(void **state) {
    (void)state;
    for (uint32_t threads = 2; threads <= THREADS_MAX; threads++)
        for (size_t s = 0; s < 2; s++) {
            struct host hosts[3];
            rtune_pool *pool = make(threads, spins[s]);
            for (uint64_t h = 0; h < 3; h++) {
                hosts[h] = (struct host){.pool = pool, .seed = h};
                assert_int_equal(pthread_create(&hosts[h].thread, NULL, host_main, &hosts[h]), 0);
            }
            for (int h = 0; h < 3; h++) {
                pthread_join(hosts[h].thread, NULL);
                assert_true(hosts[h].right);
            }
            rtune_pool_free(pool);
        }
}

static void test_refuses(void **state) {
    rtune_pool *pool = NULL;
    struct rtune_error err;
    (void)state;
    assert_int_equal(rtune_pool_create(0, 0, &pool, &err), RTUNE_INVALID);
    assert_int_equal(rtune_pool_create(RTUNE_POOL_MAX + 1, 0, &pool, &err), RTUNE_INVALID);
    assert_non_null(strstr(err.message, "4097 threads"));
    assert_null(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_two_hosts),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
