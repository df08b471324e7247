/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace rules: who gets which, when one may change hands, and what a failure leaves behind.
 */
#include "tests/runtime/toy.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct toy *toy;
    struct rtune_workspaces ws;
};

static void open_fixture(struct fixture *f, uint32_t count) {
    struct rtune_error err = {0};
    memset(f, 0, sizeof *f);
    f->toy = toy_new(NULL);
    if (rtune_workspaces_open(&f->ws, &f->toy->base, count, NULL, &err) != RTUNE_OK) {
        fail_msg("%s", err.message);
    }
}

static void close_fixture(struct fixture *f) {
    rtune_workspaces_close(&f->ws);
    rtune_device_close(&f->toy->base);
}

static void *stream_of(uint64_t key) { return (void *)(uintptr_t)key; }

static enum rtune_status acquire(struct fixture *f, uint64_t key, struct rtune_lease *lease) {
    const struct rtune_stream_state state = {key, f->toy->capturing};
    return rtune_workspaces_acquire(&f->ws, stream_of(key), &state, lease, NULL);
}

/* One launch on a stream; the workspace it got, NULL if none. */
static void *use(struct fixture *f, uint64_t key) {
    struct rtune_lease lease;
    const enum rtune_status status = acquire(f, key, &lease);
    if (status == RTUNE_NO_WORKSPACE) return NULL;
    assert_int_equal(status, RTUNE_OK);
    assert_int_equal((uintptr_t)lease.workspace % RTUNE_WORKSPACE_ALIGN, 0);
    rtune_workspaces_release(&f->ws, &lease, stream_of(key), true);
    return lease.workspace;
}

/* Everything that was enqueued on a stream is done. */
static void finish(struct fixture *f, uint64_t key) {
    for (size_t i = 0; i < TOY_EVENTS; i++) {
        if (f->toy->events[i].stream == stream_of(key)) f->toy->events[i].pending = false;
    }
}

static void test_first_half_is_for_good(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, 4);
    void *one = use(&f, 1);
    void *two = use(&f, 2);
    assert_ptr_not_equal(one, two);
    const uint64_t calls = f.toy->calls;
    for (uint64_t k = 0; k < 100; k++) {
        assert_ptr_equal(use(&f, 1), one);
        assert_ptr_equal(use(&f, 2), two);
    }
    assert_int_equal(f.toy->calls, calls); /* no event, no query */
    f.toy->events_done = true;
    for (uint64_t key = 10; key < 20; key++) {
        void *other = use(&f, key);
        assert_non_null(other);
        assert_ptr_not_equal(other, one);
        assert_ptr_not_equal(other, two);
    }
    close_fixture(&f);
}

static void test_second_half_is_recycled(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, 4);
    use(&f, 1);
    use(&f, 2);
    void *three = use(&f, 3);
    void *four = use(&f, 4);
    assert_non_null(three);
    assert_non_null(four);
    assert_ptr_not_equal(three, four);
    assert_null(use(&f, 5)); /* all in flight, as far as anybody knows */
    finish(&f, 4);
    assert_ptr_equal(use(&f, 5), four); /* 3 is older, but not done */
    assert_ptr_equal(use(&f, 3), three);
    finish(&f, 3);
    finish(&f, 5);
    assert_ptr_equal(use(&f, 5), four);
    finish(&f, 5);
    assert_ptr_equal(use(&f, 4), three); /* least recently used of two that are done */
    assert_ptr_equal(use(&f, 4), three);
    assert_int_equal(f.toy->sets, 1); /* the zeroing at open: none changes hands dirty */
    close_fixture(&f);
}

/* Between acquire and release the event is not recorded yet: nobody may take the slot then. */
static void test_not_taken_while_in_a_call(void **state) {
    (void)state;
    struct fixture f;
    struct rtune_lease lease;
    open_fixture(&f, 2);
    use(&f, 1);
    use(&f, 2);
    f.toy->events_done = true;
    assert_int_equal(acquire(&f, 2, &lease), RTUNE_OK);
    assert_null(use(&f, 3));
    assert_ptr_equal(use(&f, 2), lease.workspace); /* another thread on the same stream */
    assert_null(use(&f, 3));
    rtune_workspaces_release(&f.ws, &lease, stream_of(2), true);
    assert_ptr_equal(use(&f, 3), lease.workspace);
    close_fixture(&f);
}

static void test_captured(void **state) {
    (void)state;
    struct fixture f;
    void *taken[4];
    open_fixture(&f, 6);
    void *one = use(&f, 1);
    f.toy->capturing = true;
    const uint64_t calls = f.toy->calls;
    for (size_t i = 0; i < 4; i++) {
        taken[i] = use(&f, 1); /* the same stream, each time another */
        assert_non_null(taken[i]);
        assert_ptr_not_equal(taken[i], one);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(taken[i], taken[k]);
    }
    assert_int_equal(f.toy->calls, calls); /* no event goes into the graph */
    f.toy->capturing = false;
    assert_ptr_equal(use(&f, 1), one);
    f.toy->events_done = true;
    void *last = use(&f, 2);
    assert_non_null(last);
    for (uint64_t key = 3; key < 50; key++)
        assert_ptr_equal(use(&f, key), last);
    f.toy->capturing = true;
    assert_ptr_equal(use(&f, 1), last); /* idle, so a capture may have it ... */
    f.toy->capturing = false;
    assert_null(use(&f, 60)); /* ... for good */
    assert_null(use(&f, 49));
    assert_ptr_equal(use(&f, 1), one);
    close_fixture(&f);
}

static void fail_launch(struct fixture *f, uint64_t key) {
    struct rtune_lease lease;
    assert_int_equal(acquire(f, key, &lease), RTUNE_OK);
    memset(lease.workspace, 0xee, 100);
    rtune_workspaces_release(&f->ws, &lease, stream_of(key), false);
}

static void test_failed_launch(void **state) {
    (void)state;
    static const unsigned char zero[100];
    struct fixture f;
    open_fixture(&f, 2);
    for (uint64_t key = 1; key <= 2; key++) { /* of either half */
        void *workspace = use(&f, key);
        const uint64_t sets = f.toy->sets;
        fail_launch(&f, key);
        assert_int_equal(f.toy->sets, sets);
        assert_ptr_equal(use(&f, key), workspace);
        assert_int_equal(f.toy->sets, sets + 1);
        assert_memory_equal(workspace, zero, sizeof zero);
        assert_ptr_equal(use(&f, key), workspace);
        assert_int_equal(f.toy->sets, sets + 1);
    }
    fail_launch(&f, 2); /* and if another stream gets it, that one zeroes it */
    finish(&f, 2);
    const uint64_t sets = f.toy->sets;
    void *workspace = use(&f, 3);
    assert_non_null(workspace);
    assert_int_equal(f.toy->sets, sets + 1);
    assert_memory_equal(workspace, zero, sizeof zero);
    close_fixture(&f);
}

/* A memset that fails is tried again; nothing is launched on a dirty workspace meanwhile. */
static void test_failed_memset(void **state) {
    (void)state;
    struct fixture f;
    struct rtune_lease lease;
    open_fixture(&f, 2);
    for (uint64_t key = 1; key <= 2; key++) {
        use(&f, key);
        fail_launch(&f, key);
        f.toy->fail_at = f.toy->calls + 1;
        assert_int_equal(acquire(&f, key, &lease), RTUNE_DEVICE);
        const uint64_t sets = f.toy->sets;
        assert_non_null(use(&f, key));
        assert_int_equal(f.toy->sets, sets + 1);
    }
    close_fixture(&f);
}

/* Without its event nobody knows when the launch is over: the slot stays with its stream. */
static void test_failed_record(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, 2);
    use(&f, 1);
    f.toy->fail_at = f.toy->calls + 1;
    void *two = use(&f, 2);
    assert_non_null(two);
    f.toy->events_done = true;
    assert_null(use(&f, 3));
    assert_ptr_equal(use(&f, 2), two);
    assert_null(use(&f, 3));
    close_fixture(&f);
}

/* A query that fails is no leave to take the slot. */
static void test_failed_query(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, 2);
    use(&f, 1);
    void *two = use(&f, 2);
    f.toy->events_done = true;
    f.toy->fail_at = f.toy->calls + 1;
    assert_null(use(&f, 3));
    assert_ptr_equal(use(&f, 2), two);
    assert_ptr_equal(use(&f, 3), two);
    close_fixture(&f);
}

static void test_counts(void **state) {
    (void)state;
    struct rtune_workspaces ws = {0};
    struct fixture f;
    open_fixture(&f, 0);
    assert_int_equal(f.ws.count, RTUNE_WORKSPACES_DEFAULT);
    assert_true(f.ws.stride >= rtune_workspace_bytes());
    assert_int_equal(rtune_workspaces_open(&ws, &f.toy->base, RTUNE_WORKSPACES_MAX + 1, NULL, NULL),
                     RTUNE_INVALID);
    rtune_workspaces_close(&ws);
    close_fixture(&f);
    open_fixture(&f, 1);
    void *one = use(&f, 1);
    assert_non_null(one);
    assert_null(use(&f, 2));
    assert_ptr_equal(use(&f, 1), one);
    close_fixture(&f);
}

/* Opening fails at every call that can fail, and leaves nothing. */
static void test_open_fails(void **state) {
    (void)state;
    struct toy *toy = toy_new(NULL);
    bool opened = false;
    for (uint64_t k = 1; !opened; k++) {
        struct rtune_workspaces ws = {0};
        toy->fail_at = toy->calls + k;
        opened = rtune_workspaces_open(&ws, &toy->base, 4, NULL, NULL) == RTUNE_OK;
        assert_true(k > 4 || !opened);
        rtune_workspaces_close(&ws);
        assert_int_equal(toy->allocations, 0);
        assert_int_equal(toy->streams, 0);
    }
    rtune_device_close(&toy->base);
}

/* 10,000 streams, each used once and gone: the table of streams neither fills nor slows to a crawl.
 */
static void test_many_streams(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, 64);
    f.toy->events_done = true;
    for (uint64_t key = 1; key <= 10000; key++)
        assert_non_null(use(&f, key * 7919));
    uint32_t removed = 0;
    for (uint32_t k = 0; k <= f.ws.mask; k++)
        removed += f.ws.entries[k].tag == 1;
    assert_true(removed < f.ws.mask / 2);
    for (uint64_t key = 1; key <= 32; key++) { /* the first ones still have theirs */
        const uint64_t calls = f.toy->calls;
        assert_non_null(use(&f, key * 7919));
        assert_int_equal(f.toy->calls, calls);
    }
    close_fixture(&f);
}

/* ---- threads -----------------------------------------------------------------------------------
 */

enum { THREADS = 8, ROUNDS = 4000, STREAMS = 24, SLOTS = 10 };

struct crowd {
    struct fixture f;
    _Atomic uint64_t holder[SLOTS]; /* stream in the upper half, calls in it in the lower */
    _Atomic uint64_t clashes, served;
    uint64_t seed;
};

struct member {
    struct crowd *crowd;
    uint64_t number;
};

static void *crowd_main(void *user) {
    struct member *m = user;
    struct crowd *c = m->crowd;
    struct rtune_rng rng = {c->seed + m->number, 0};
    for (int i = 0; i < ROUNDS; i++) {
        struct rtune_lease lease;
        const uint64_t key = 1 + rtune_rng_below(&rng, STREAMS);
        if (acquire(&c->f, key, &lease) != RTUNE_OK) continue;
        const size_t slot = ((uintptr_t)lease.workspace - (uintptr_t)c->f.ws.base) / c->f.ws.stride;
        const uint64_t before = atomic_fetch_add(&c->holder[slot], (key << 32) + 1);
        /* everybody in it adds the same key, so the upper half is key x users */
        if ((before >> 32) != key * (before & UINT32_MAX)) atomic_fetch_add(&c->clashes, 1);
        atomic_fetch_sub(&c->holder[slot], (key << 32) + 1);
        rtune_workspaces_release(&c->f.ws, &lease, stream_of(key), rtune_rng_below(&rng, 50) != 0);
        atomic_fetch_add(&c->served, 1);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    static struct crowd crowd;
    struct member members[THREADS];
    pthread_t threads[THREADS];
    const char *seed = getenv("RTUNE_TEST_SEED");
    crowd.seed = seed ? strtoull(seed, NULL, 10) : 20261129;
    printf("seed %llu\n", (unsigned long long)crowd.seed);
    open_fixture(&crowd.f, SLOTS);
    crowd.f.toy->events_done = true;
    for (size_t t = 0; t < THREADS; t++) {
        members[t] = (struct member){&crowd, t};
        assert_int_equal(pthread_create(&threads[t], NULL, crowd_main, &members[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(crowd.clashes, 0);
    assert_true(crowd.served > THREADS * ROUNDS / 4);
    for (uint32_t i = crowd.f.ws.fixed; i < crowd.f.ws.count; i++) {
        assert_int_equal(crowd.f.ws.slots[i].users, 0);
    }
    close_fixture(&crowd.f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_half_is_for_good),
        cmocka_unit_test(test_second_half_is_recycled),
        cmocka_unit_test(test_not_taken_while_in_a_call),
        cmocka_unit_test(test_captured),
        cmocka_unit_test(test_failed_launch),
        cmocka_unit_test(test_failed_memset),
        cmocka_unit_test(test_failed_record),
        cmocka_unit_test(test_failed_query),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_open_fails),
        cmocka_unit_test(test_many_streams),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
