/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiling ahead: what comes when, what is dropped, what is said. NVRTC compiles, behind a gate
 * that the tests close to hold compilations up. Skipped where there is no NVRTC.
 */
#include "base/clock.h"
#include "base/num.h"
#include "runtime/cpuinfo.h"
#include "runtime/nvrtc.h"
#include "tests/tuner/scratch.h"
#include "tuner/forge.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    MANY = 80, /* of each problem; all of them are more than a forge has threads */
    PROBLEMS = 4,
    FEW = 5,
    FREE_BLOCK = 1024 /* configs of this block pass a closed gate */
};

/* ---- the gate -------------------------------------------------------------------------------- */

static struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool closed;
    size_t begun, ended;
    char names[MANY * PROBLEMS][RTUNE_INSTANCE_NAME]; /* in the order of beginning */
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void __real_rtune_nvrtc_compile_one(const rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                                    struct rtune_compiled *job);
void __wrap_rtune_nvrtc_compile_one(const rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                                    struct rtune_compiled *job);

void __wrap_rtune_nvrtc_compile_one(const rtune_nvrtc *nvrtc, int cc_major, int cc_minor,
                                    struct rtune_compiled *job) {
    pthread_mutex_lock(&gate.mutex);
    rtune_instance_name(&job->problem, &job->config, gate.names[gate.begun++]);
    pthread_cond_broadcast(&gate.changed);
    while (gate.closed && job->config.block != FREE_BLOCK)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
    __real_rtune_nvrtc_compile_one(nvrtc, cc_major, cc_minor, job);
    pthread_mutex_lock(&gate.mutex);
    gate.ended++;
    pthread_mutex_unlock(&gate.mutex);
}

static void set_gate(bool closed) {
    pthread_mutex_lock(&gate.mutex);
    gate.closed = closed;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static size_t begun(void) {
    pthread_mutex_lock(&gate.mutex);
    size_t count = gate.begun;
    pthread_mutex_unlock(&gate.mutex);
    return count;
}

static size_t ended(void) {
    pthread_mutex_lock(&gate.mutex);
    size_t count = gate.ended;
    pthread_mutex_unlock(&gate.mutex);
    return count;
}

static size_t place_of(const char *name) {
    size_t k = 0;
    while (k < gate.begun && strcmp(gate.names[k], name) != 0)
        k++;
    return k;
}

/* Until a compilation (NULL: any) has begun, or for so many seconds; its place in the order. */
static size_t await_begun(const char *name, time_t seconds) {
    struct timespec until;
    int late = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&gate.mutex);
    while (late == 0 && (name != NULL ? place_of(name) : 0) == gate.begun)
        late = pthread_cond_timedwait(&gate.changed, &gate.mutex, &until);
    size_t place = name != NULL ? place_of(name) : 0;
    pthread_mutex_unlock(&gate.mutex);
    return place;
}

/* ---- forges ---------------------------------------------------------------------------------- */

static struct rtune_problem problems[PROBLEMS];
static struct rtune_config configs[MANY]; /* none of them is built in */
static atomic_bool stop;
static size_t told_done, told_total;

static void on_progress(void *user, size_t done, size_t total) {
    (void)user;
    told_done = done;
    told_total = total;
}

static rtune_forge *open_forge(int cc_major, uint64_t deadline_ns) {
    struct rtune_forge_options options = {
        .stop = &stop, .deadline_ns = deadline_ns, .progress = on_progress};
    struct rtune_identity identity = {.cuda = true, .cc_major = cc_major};
    rtune_forge *forge = NULL;
    assert_int_equal(rtune_forge_open(&options, &forge, NULL), RTUNE_OK);
    rtune_forge_target(forge, &identity);
    assert_null(rtune_forge_missing(forge));
    return forge;
}

static int set_up(void **state) {
    (void)state;
    static const enum rtune_op ops[PROBLEMS] = {RTUNE_SUM, RTUNE_PROD, RTUNE_MIN, RTUNE_MAX};
    static const uint32_t blocks[5] = {64, 128, 512, 768, FREE_BLOCK};
    for (size_t p = 0; p < PROBLEMS; p++)
        problems[p] = RTUNE_PROBLEM(ops[p], RTUNE_F32, 0);
    for (size_t k = 0; k < MANY; k++) {
        struct rtune_config *c = &configs[k];
        *c = rtune_config_default(&problems[0], true);
        c->block = blocks[k * 5 / MANY];
        c->items = 4U << (k % 4);
        c->finish = k / 4 % 2 ? RTUNE_FINISH_LAST : RTUNE_FINISH_SLOTS;
        c->map = k / 8 % 2 ? RTUNE_MAP_CHUNK : RTUNE_MAP_STRIP;
        if (rtune_config_check(c, RTUNE_F32, NULL) != RTUNE_OK) return 1;
    }
    stop = false;
    set_gate(false);
    gate.begun = gate.ended = told_done = told_total = 0;
    return 0;
}

/* Also after a failed assertion: no thread may wait for ever. */
static int tear_down(void **state) {
    (void)state;
    set_gate(false);
    return 0;
}

static void ahead(rtune_forge *forge, size_t count) {
    for (size_t p = 0; p < (count == MANY ? PROBLEMS : 1); p++)
        assert_int_equal(rtune_forge_ahead(forge, &problems[p], configs, count, false, NULL),
                         RTUNE_OK);
}

static enum rtune_status need(rtune_forge *forge, size_t first, size_t count) {
    return rtune_forge_need(forge, &problems[0], configs + first, count, NULL);
}

static enum rtune_status find(rtune_forge *forge, size_t k, uint64_t *at, uint32_t *size,
                              struct rtune_error *err) {
    return rtune_forge_find(forge, &problems[0], &configs[k], at, size, err);
}

static char *image_of(rtune_forge *forge, size_t k, uint32_t *size) {
    uint64_t at = 0;
    struct rtune_error err;
    if (find(forge, k, &at, size, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_true(*size > 0);
    char *image = malloc(*size);
    assert_non_null(image);
    assert_true(pread(rtune_forge_images(forge), image, *size, (off_t)at) == (ssize_t)*size);
    return image;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* What was queued ahead is compiled once, to the same images. */
static void test_same_images(void **state) {
    (void)state;
    rtune_forge *alone = open_forge(9, 0), *queued = open_forge(9, 0);
    assert_int_equal(rtune_forge_count(alone, &problems[0], configs, FEW), FEW);
    assert_int_equal(need(alone, 0, FEW), RTUNE_OK);
    assert_int_equal(begun(), FEW);
    assert_true(told_done == FEW && told_total == FEW);
    assert_int_equal(rtune_forge_count(alone, &problems[0], configs, FEW), 0);
    ahead(queued, FEW);
    ahead(queued, FEW);
    assert_int_equal(need(queued, 0, FEW), RTUNE_OK);
    assert_int_equal(begun(), 2 * FEW);
    assert_int_equal(rtune_forge_queued(queued), 0);
    for (size_t k = 0; k < FEW; k++) {
        uint32_t sizes[2] = {0, 0};
        char *images[2] = {image_of(alone, k, &sizes[0]), image_of(queued, k, &sizes[1])};
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(images[0], "\177ELF", 4);
        assert_memory_equal(images[0], images[1], sizes[0]);
        free(images[0]);
        free(images[1]);
    }
    struct rtune_forge_account account = rtune_forge_account(alone);
    assert_true(account.compiles && account.waited_s > 0);
    assert_int_equal(account.compiled, FEW);
    assert_int_equal(need(alone, 0, FEW), RTUNE_OK); /* there is nothing to wait for */
    assert_true(rtune_forge_account(alone).waited_s == account.waited_s);
    rtune_forge_close(alone);
    rtune_forge_close(queued);
}

/* Kinds whose kernels have the same names share them. */
static void test_twins(void **state) {
    (void)state;
    struct rtune_problem twins[2] = {RTUNE_PROBLEM(RTUNE_BOR, RTUNE_I32, 0),
                                     RTUNE_PROBLEM(RTUNE_BOR, RTUNE_U32, 0)};
    rtune_forge *forge = open_forge(9, 0);
    uint64_t at[2] = {0, 0};
    uint32_t size[2] = {0, 0};
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(rtune_forge_need(forge, &twins[k], configs, 1, NULL), RTUNE_OK);
        assert_int_equal(rtune_forge_find(forge, &twins[k], configs, &at[k], &size[k], NULL),
                         RTUNE_OK);
    }
    assert_int_equal(begun(), 1);
    assert_true(at[0] == at[1] && size[0] == size[1] && size[0] > 0);
    rtune_forge_close(forge);
}

/* An image is written beside the store once, whatever becomes of the file. */
static void test_keep(void **state) {
    (void)state;
    struct scratch scratch;
    char store[256], folder[300], file[400], digests[2][RTUNE_DIGEST_HEX];
    rtune_forge *forge = open_forge(9, 0);
    scratch_make(&scratch);
    scratch_path(&scratch, "tune.db", store, sizeof(store));
    assert_int_equal(rtune_forge_keep(forge, &problems[0], configs, store, digests[0], NULL),
                     RTUNE_COMPILE);
    assert_int_equal(need(forge, 0, 1), RTUNE_OK);
    assert_int_equal(rtune_forge_keep(forge, &problems[0], configs, store, digests[0], NULL),
                     RTUNE_OK);
    snprintf(folder, sizeof(folder), "%s.kernels", store);
    snprintf(file, sizeof(file), "%s/%s.cubin", folder, digests[0]);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rtune_forge_keep(forge, &problems[0], configs, store, digests[1], NULL),
                     RTUNE_OK);
    assert_string_equal(digests[0], digests[1]);
    assert_int_equal(access(file, F_OK), -1);
    rtune_forge_close(forge);
    scratch_remove(&scratch);
}

/* What is needed now does not wait for what was queued before it. */
/* Threads are as many as processors: fewer than configs that a closed gate stops. */
static void use_few_processors(void) {
    cpu_set_t set;
    int kept = 0;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) return; /* more processors than a set has */
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set)) continue;
        if (kept < 8)
            kept++;
        else
            CPU_CLR(cpu, &set);
    }
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static void test_not_behind(void **state) {
    (void)state;
    rtune_forge *forge = open_forge(9, 0);
    struct rtune_cpuinfo info;
    char soon[RTUNE_INSTANCE_NAME];
    uint64_t at = 0;
    uint32_t size = 0;
    rtune_cpuinfo_read("", &info);
    set_gate(true);
    ahead(forge, MANY);
    await_begun(NULL, 60);
    assert_int_equal(need(forge, MANY - 2, 2), RTUNE_OK);
    assert_int_equal(ended(), 2);
    assert_int_equal(find(forge, MANY - 1, &at, &size, NULL), RTUNE_OK);
    assert_true(size > 0);
    assert_int_equal(find(forge, 0, &at, &size, NULL), RTUNE_COMPILE);
    assert_true(rtune_forge_queued(forge) > 0);
    /* What is to come soon is the next that any thread begins. */
    rtune_instance_name(&problems[PROBLEMS - 1], &configs[MANY - 1], soon);
    assert_int_equal(
        rtune_forge_ahead(forge, &problems[PROBLEMS - 1], configs + MANY - 1, 1, true, NULL),
        RTUNE_OK);
    size_t before = begun();
    set_gate(false);
    assert_true(await_begun(soon, 60) <= before + info.usable);
    assert_int_equal(need(forge, 0, 1), RTUNE_OK);
    assert_int_equal(find(forge, 0, &at, &size, NULL), RTUNE_OK);
    rtune_forge_close(forge);
    assert_int_equal(begun(), ended());
    assert_true(ended() < MANY * PROBLEMS);
}

/* Closing drops what is queued, after an interrupt and without one. */
static void test_close(void **state) {
    (void)state;
    for (int interrupt = 0; interrupt < 2; interrupt++) {
        gate.begun = gate.ended = 0;
        rtune_forge *forge = open_forge(9, 0);
        set_gate(true);
        ahead(forge, MANY);
        await_begun(NULL, 60);
        if (interrupt) {
            stop = true;
            assert_int_equal(need(forge, MANY - 1, 1), RTUNE_INTERRUPTED);
            assert_int_equal(ended(), 0);
        }
        set_gate(false);
        rtune_forge_close(forge);
        assert_true(begun() > 0 && begun() < MANY * PROBLEMS);
        assert_int_equal(begun(), ended());
    }
}

/* The compiler's own words, for an architecture that it does not know. */
static void test_words(void **state) {
    (void)state;
    rtune_forge *forge = open_forge(1, 0);
    struct rtune_error err;
    char name[RTUNE_INSTANCE_NAME];
    uint64_t at = 1;
    uint32_t size = 1;
    ahead(forge, 1);
    assert_int_equal(need(forge, 0, 2), RTUNE_OK);
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(find(forge, k, &at, &size, &err), RTUNE_COMPILE);
        rtune_instance_name(&problems[0], &configs[k], name);
        if (!strstr(err.message, name) || !strstr(err.message, "--gpu-architecture"))
            fail_msg("%s", err.message);
        assert_int_equal(size, 0);
    }
    assert_int_equal(begun(), 2);
    rtune_forge_close(forge);
}

/* After the deadline nothing is begun, and nothing that was begun is waited for. */
static void test_deadline(void **state) {
    (void)state;
    rtune_forge *late = open_forge(9, 1);
    struct rtune_config standard = rtune_config_default(&problems[0], true);
    ahead(late, FEW);
    assert_int_equal(need(late, 0, 1), RTUNE_TIMEOUT);
    assert_int_equal(rtune_forge_queued(late), FEW);
    if (rtune_forge_count(late, &problems[0], &standard, 1) == 0)
        assert_int_equal(rtune_forge_need(late, &problems[0], &standard, 1, NULL), RTUNE_OK);
    rtune_forge_close(late);
    assert_int_equal(begun(), 0);

    uint64_t deadline = rtune_clock_ns() + 1000000000;
    rtune_forge *forge = open_forge(9, deadline);
    set_gate(true);
    ahead(forge, 1);
    await_begun(NULL, 1);
    assert_int_equal(need(forge, 0, 1), RTUNE_TIMEOUT);
    assert_true(rtune_clock_ns() >= deadline);
    assert_int_equal(ended(), 0);
    set_gate(false);
    rtune_forge_close(forge);
    assert_int_equal(begun(), ended());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_images, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_twins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deadline, set_up, tear_down),
    };
    rtune_nvrtc *nvrtc = NULL;
    struct rtune_error err;
    use_few_processors();
    if (rtune_nvrtc_open(&nvrtc, &err) != RTUNE_OK) return err.status == RTUNE_NOT_FOUND ? 77 : 1;
    rtune_nvrtc_close(nvrtc);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
