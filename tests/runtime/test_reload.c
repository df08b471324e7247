/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the stores again: what changes, what stays, and what others see meanwhile. */
#include "tests/runtime/toy.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct rtune_problem problem = RTUNE_PROBLEM_INIT(RTUNE_SUM, RTUNE_F32, 1000);

static void write_store(const char *config) {
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    rows_add(&rows, rows_device(&rows, &h200), RTUNE_SUM, RTUNE_F32, 1000, config);
    rows_write(&rows, scratch_path("fresh.db"));
    assert_int_equal(rename(scratch_path("fresh.db"), scratch_path("tune.db")), 0);
}

static void reload(rtune *rt) {
    struct rtune_error err = {0};
    if (rtune_reload(rt, &err) != RTUNE_OK) fail_msg("%s", err.message);
}

static void test_reload(void **state) {
    (void)state;
    struct rtune_store_info info;
    unlink(scratch_path("tune.db"));
    rtune *rt = toy_open(toy_new(NULL), scratch_path("tune.db"));
    check_served(rt, &problem, RTUNE_FROM_BUILTIN, "", "");
    assert_true(rtune_store_at(rt, 0, &info));
    assert_int_equal(info.status, RTUNE_NOT_FOUND);
    write_store("block=64");
    check_served(rt, &problem, RTUNE_FROM_BUILTIN, "", "");
    reload(rt);
    check_served(rt, &problem, RTUNE_FROM_EXACT, "block=64", "");
    const struct rtune_index *index = rtune_current_index(rt);
    reload(rt); /* nothing new: nothing to keep until close */
    assert_ptr_equal(rtune_current_index(rt), index);
    write_store("block=96");
    reload(rt);
    check_served(rt, &problem, RTUNE_FROM_EXACT, "block=96", "");
    unlink(scratch_path("tune.db")); /* taken away on purpose */
    reload(rt);
    check_served(rt, &problem, RTUNE_FROM_BUILTIN, "", "");
    rtune_close(rt);
}

/* What was readable and is not any more keeps the old rows, and says so. */
static void test_damaged_later(void **state) {
    (void)state;
    struct rtune_error err = {0};
    write_store("block=64");
    rtune *rt = toy_open(toy_new(NULL), scratch_path("tune.db"));
    assert_int_equal(rtune_file_write(scratch_path("tune.db"), "rubbish", 7, 0644, NULL), RTUNE_OK);
    assert_int_not_equal(rtune_reload(rt, &err), RTUNE_OK);
    assert_non_null(strstr(err.message, "tune.db"));
    check_served(rt, &problem, RTUNE_FROM_EXACT, "block=64", "");
    write_store("block=96");
    reload(rt);
    check_served(rt, &problem, RTUNE_FROM_EXACT, "block=96", "");
    rtune_close(rt);
    assert_int_equal(rtune_reload(NULL, &err), RTUNE_INVALID);
}

/* ---- threads -----------------------------------------------------------------------------------
 */

enum { READERS = 4, LEAST = 2000 };

struct readers {
    rtune *rt;
    atomic_bool stop;
    _Atomic uint64_t wrong, first, second;
    _Atomic uint32_t warm; /* readers that are running */
};

static void *read_main(void *user) {
    struct readers *r = user;
    for (int i = 0; i < LEAST || !atomic_load(&r->stop); i++) {
        struct rtune_launch l = RTUNE_LAUNCH_INIT;
        char text[2048];
        if (rtune_lookup(r->rt, &problem, &l, NULL) != RTUNE_OK || l.source != RTUNE_FROM_EXACT) {
            atomic_fetch_add(&r->wrong, 1);
        } else if (l.config.block == 64 && l.config.items == 8) {
            atomic_fetch_add(&r->first, 1);
        } else if (l.config.block == 96 && l.config.items == 16) {
            atomic_fetch_add(&r->second, 1);
        } else {
            atomic_fetch_add(&r->wrong, 1); /* half of one table, half of another */
        }
        if (i == 0) atomic_fetch_add(&r->warm, 1);
        if (i % 64 == 0 &&
            rtune_explain(r->rt, &problem, text, sizeof text, NULL, NULL) != RTUNE_OK) {
            atomic_fetch_add(&r->wrong, 1);
        }
    }
    return NULL;
}

static void test_readers(void **state) {
    (void)state;
    static struct readers readers;
    pthread_t threads[READERS];
    write_store("block=64,items=8");
    readers.rt = toy_open(toy_new(NULL), scratch_path("tune.db"));
    for (size_t t = 0; t < READERS; t++) {
        assert_int_equal(pthread_create(&threads[t], NULL, read_main, &readers), 0);
    }
    while (atomic_load(&readers.warm) < READERS)
        sched_yield();
    for (int round = 0; round < 20; round++) {
        write_store(round % 2 ? "block=64,items=8" : "block=96,items=16");
        reload(readers.rt);
    }
    atomic_store(&readers.stop, true);
    for (size_t t = 0; t < READERS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(readers.wrong, 0);
    assert_true(readers.first > 0);
    rtune_close(readers.rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_damaged_later),
        cmocka_unit_test(test_readers),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
