/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling kernel instances by NVRTC, without a GPU. Skipped where there is no NVRTC. */
#include "runtime/nvrtc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { JOBS = 6 };

static rtune_nvrtc *nvrtc;

static void make_jobs(struct rtune_compiled jobs[JOBS]) {
    static const enum rtune_op ops[] = {RTUNE_SUM, RTUNE_PROD, RTUNE_MIN};
    for (size_t k = 0; k < JOBS; k++) {
        memset(&jobs[k], 0, sizeof jobs[k]);
        jobs[k].problem = RTUNE_PROBLEM(ops[k % 3], k < 3 ? RTUNE_F32 : RTUNE_I64, 0);
        jobs[k].config = rtune_config_default(&jobs[k].problem, true);
        jobs[k].config.finish = k % 2 ? RTUNE_FINISH_LAST : RTUNE_FINISH_SLOTS;
    }
}

static void free_jobs(struct rtune_compiled jobs[JOBS]) {
    for (size_t k = 0; k < JOBS; k++)
        free(jobs[k].image);
}

static bool contains(const void *image, size_t size, const char *text) {
    return memmem(image, size, text, strlen(text)) != NULL;
}

static void test_version(void **state) {
    (void)state;
    const char *version = rtune_nvrtc_version(nvrtc);
    assert_true(strtol(version, NULL, 10) >= 12);
    assert_non_null(strchr(version, '.'));
}

/* The same images on one thread and on several: cubins with the instance's entry point. */
static void test_compile(void **state) {
    (void)state;
    struct rtune_compiled one[JOBS], many[JOBS];
    struct rtune_error err;
    make_jobs(one);
    make_jobs(many);
    assert_int_equal(rtune_nvrtc_compile(nvrtc, 9, 0, one, JOBS, 1, NULL, &err), RTUNE_OK);
    assert_int_equal(rtune_nvrtc_compile(nvrtc, 9, 0, many, JOBS, 0, NULL, &err), RTUNE_OK);
    for (size_t k = 0; k < JOBS; k++) {
        char name[RTUNE_INSTANCE_NAME];
        if (!one[k].image) fail_msg("%s", one[k].error.message);
        assert_int_equal(one[k].error.status, RTUNE_OK);
        assert_memory_equal(one[k].image, "\177ELF", 4);
        rtune_instance_name(&one[k].problem, &one[k].config, name);
        assert_true(contains(one[k].image, one[k].size, name));
        assert_int_equal(one[k].size, many[k].size);
        assert_memory_equal(one[k].image, many[k].image, one[k].size);
    }
    free_jobs(one);
    free_jobs(many);
}

/* A job that cannot be compiled fails alone and says why. */
static void test_errors(void **state) {
    (void)state;
    struct rtune_compiled jobs[JOBS];
    struct rtune_error err;
    make_jobs(jobs);
    jobs[1].problem.op = RTUNE_ARGMAX;
    jobs[1].problem.mode = RTUNE_KAHAN; /* is not defined */
    jobs[2].config.block = 33;          /* not a config */
    assert_int_equal(rtune_nvrtc_compile(nvrtc, 8, 0, jobs, 4, 2, NULL, &err), RTUNE_OK);
    assert_non_null(jobs[0].image);
    assert_null(jobs[1].image);
    assert_int_equal(jobs[1].error.status, RTUNE_UNSUPPORTED);
    assert_null(jobs[2].image);
    assert_int_equal(jobs[2].error.status, RTUNE_RANGE);
    assert_non_null(jobs[3].image);
    free_jobs(jobs);
}

/* NVRTC's own word, for an architecture that it does not know. */
static void test_log(void **state) {
    (void)state;
    struct rtune_compiled jobs[JOBS];
    struct rtune_error err;
    char name[RTUNE_INSTANCE_NAME];
    make_jobs(jobs);
    assert_int_equal(rtune_nvrtc_compile(nvrtc, 1, 1, jobs, 1, 1, NULL, &err), RTUNE_OK);
    assert_null(jobs[0].image);
    assert_int_equal(jobs[0].error.status, RTUNE_COMPILE);
    rtune_instance_name(&jobs[0].problem, &jobs[0].config, name);
    if (!strstr(jobs[0].error.message, name) || !strstr(jobs[0].error.message, "NVRTC_ERROR") ||
        !strstr(jobs[0].error.message, "--gpu-architecture"))
        fail_msg("%s", jobs[0].error.message);
}

static void test_stop(void **state) {
    (void)state;
    struct rtune_compiled jobs[JOBS];
    struct rtune_error err;
    const atomic_bool stop = true;
    make_jobs(jobs);
    assert_int_equal(rtune_nvrtc_compile(nvrtc, 9, 0, jobs, JOBS, 2, &stop, &err), RTUNE_OK);
    for (size_t k = 0; k < JOBS; k++) {
        assert_null(jobs[k].image);
        assert_int_equal(jobs[k].error.status, RTUNE_INTERRUPTED);
    }
}

static void test_nothing(void **state) {
    (void)state;
    struct rtune_error err;
    assert_int_equal(rtune_nvrtc_compile(nvrtc, 9, 0, NULL, 0, 0, NULL, &err), RTUNE_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version), cmocka_unit_test(test_compile),
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_log),
        cmocka_unit_test(test_stop),    cmocka_unit_test(test_nothing),
    };
    struct rtune_error err;
    if (rtune_nvrtc_open(&nvrtc, &err) != RTUNE_OK) return err.status == RTUNE_NOT_FOUND ? 77 : 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rtune_nvrtc_close(nvrtc);
    return failed;
}
