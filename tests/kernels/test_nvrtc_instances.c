/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC compiles the instances from the embedded headers alone, and none of them spills registers
 * in its loop: all of the default search space for f32 and i64 sums, a seeded subset of every
 * config for the other problems. Needs no GPU; skipped, aloud, without NVRTC.
 */
#include "base/num.h"
#include "base/rng.h"
#include "runtime/nvrtc.h"
#include "tests/kernels/cubin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    JOBS_MAX = 1024,
    SUBSET = 1,
    /* ptxas keeps one more block resident rather than a few values, outside the loop, in
     * registers. What spills in the loop, or a packet of vectors in local memory, is larger. */
    FRAME_MAX = 48,
    FRAME_SHARE = 16 /* one in so many instances at most */
};

static struct rtune_compiled jobs[JOBS_MAX];
static size_t job_count;
static rtune_nvrtc *nvrtc;

static const uint32_t blocks[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t vectors[] = {1, 2, 4, 8};

/* What there is no instance of is left out: packed for floats, atomic for integers. */
static void add_job(const struct rtune_problem *problem, const struct rtune_config *config) {
    assert_true(job_count < JOBS_MAX);
    assert_int_equal(rtune_config_check(config, problem->dtype, NULL), RTUNE_OK);
    if (rtune_instance_check(problem, config, NULL) != RTUNE_OK) return;
    jobs[job_count++] = (struct rtune_compiled){.problem = *problem, .config = *config};
}

static struct rtune_config make(const struct rtune_problem *p, uint32_t block,
                                uint32_t vector_count, enum rtune_load load,
                                enum rtune_finish finish) {
    struct rtune_config c = rtune_config_default(p, true);
    c.block = block;
    c.items = vector_count * RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(p->dtype);
    c.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, 1};
    c.load = load;
    c.finish = finish;
    c.extra = finish == RTUNE_FINISH_CLUSTER ? 8 : 0;
    return c;
}

/* configs/default.yaml: block x vectors x load x finish. */
static void add_space(const struct rtune_problem *p) {
    static const enum rtune_load loads[] = {RTUNE_LOAD_PLAIN, RTUNE_LOAD_NOALLOCATE};
    static const enum rtune_finish finishes[] = {RTUNE_FINISH_ONE, RTUNE_FINISH_SLOTS,
                                                 RTUNE_FINISH_PACKED};
    for (size_t b = 0; b < RTUNE_ARRAY_SIZE(blocks); b++)
        for (size_t v = 0; v < RTUNE_ARRAY_SIZE(vectors); v++)
            for (size_t l = 0; l < RTUNE_ARRAY_SIZE(loads); l++)
                for (size_t f = 0; f < RTUNE_ARRAY_SIZE(finishes); f++) {
                    struct rtune_config c = make(p, blocks[b], vectors[v], loads[l], finishes[f]);
                    add_job(p, &c);
                }
}

/* Can what is in flight, and as much again as the space's register_base, be in registers? */
static bool fits(const struct rtune_problem *p, const struct rtune_config *c) {
    const uint32_t inputs = p->op == RTUNE_DOT ? 2 : 1;
    const uint32_t size = (uint32_t)rtune_dtype_size(p->dtype);
    return 24 + inputs * c->items * size / 4 <= 65536 / c->block;
}

static void add_subset(const struct rtune_problem *p, struct rtune_rng *rng) {
    for (int k = 0; k < SUBSET; k++) {
        struct rtune_config c = make(p, blocks[rtune_rng_below(rng, RTUNE_ARRAY_SIZE(blocks))],
                                     vectors[rtune_rng_below(rng, RTUNE_ARRAY_SIZE(vectors))],
                                     (enum rtune_load)rtune_rng_below(rng, RTUNE_LOAD_COUNT),
                                     (enum rtune_finish)rtune_rng_below(rng, RTUNE_FINISH_COUNT));
        c.map = (enum rtune_map)rtune_rng_below(rng, RTUNE_MAP_COUNT);
        if (fits(p, &c)) add_job(p, &c);
    }
}

static int drop_jobs(void **state) {
    (void)state;
    for (size_t k = 0; k < job_count; k++)
        free(jobs[k].image);
    job_count = 0;
    return 0;
}

static void compile_and_check(int cc_major, int cc_minor) {
    size_t frames = 0;
    assert_int_equal(rtune_nvrtc_compile(nvrtc, cc_major, cc_minor, jobs, job_count, 0, NULL, NULL),
                     RTUNE_OK);
    for (size_t k = 0; k < job_count; k++) {
        struct cubin_kernel kernel;
        char name[RTUNE_INSTANCE_NAME];
        if (!jobs[k].image) fail_msg("%s", jobs[k].error.message);
        rtune_instance_name(&jobs[k].problem, &jobs[k].config, name);
        if (!cubin_find(jobs[k].image, jobs[k].size, name, &kernel))
            fail_msg("no %s in its cubin", name);
        if (kernel.frame > FRAME_MAX)
            fail_msg("%s has %u bytes of local memory", name, (unsigned)kernel.frame);
        frames += kernel.frame != 0;
        assert_true(kernel.code > 0);
    }
    print_message("%zu instances for sm_%d%d by NVRTC %s, %zu with a frame\n", job_count, cc_major,
                  cc_minor, rtune_nvrtc_version(nvrtc), frames);
    assert_true(frames * FRAME_SHARE <= job_count);
}

/* What needs most registers where there are fewest, 64: both extremes of f64. */
static void add_tight(void) {
    static const enum rtune_finish finishes[] = {RTUNE_FINISH_ONE, RTUNE_FINISH_SLOTS,
                                                 RTUNE_FINISH_TWO_KERNELS};
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_MINMAX, RTUNE_F64, 0);
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(finishes); k++) {
        struct rtune_config c = make(&p, 1024, 8, RTUNE_LOAD_PLAIN, finishes[k]);
        add_job(&p, &c);
        c.map = RTUNE_MAP_CHUNK;
        add_job(&p, &c);
    }
}

static int open_nvrtc(void **state) {
    struct rtune_error err = {.status = RTUNE_OK};
    (void)state;
    if (rtune_nvrtc_open(&nvrtc, &err) != RTUNE_OK) print_message("skipped: %s\n", err.message);
    return 0;
}
static int close_nvrtc(void **state) {
    (void)state;
    rtune_nvrtc_close(nvrtc);
    return 0;
}

static void test_default_space_of_f32_and_i64_sum(void **state) {
    (void)state;
    const struct rtune_problem f32 = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
    const struct rtune_problem i64 = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I64, 0);
    if (!nvrtc) skip();
    add_space(&f32);
    add_space(&i64);
    compile_and_check(9, 0);
}

static void test_every_problem(void **state) {
    (void)state;
    const char *env = getenv("RTUNE_TEST_SEED");
    struct rtune_rng rng = {env ? strtoull(env, NULL, 10) : 1, 0};
    struct rtune_problem p;
    if (!nvrtc) skip();
    print_message("RTUNE_TEST_SEED=%llu\n", (unsigned long long)rng.seed);
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        const struct rtune_config c = rtune_config_default(&p, true);
        add_job(&p, &c);
        add_subset(&p, &rng);
    }
    add_tight();
    compile_and_check(9, 0);
}

/* The oldest architecture takes the other branches of the headers. */
static void test_oldest_architecture(void **state) {
    (void)state;
    struct rtune_problem p;
    if (!nvrtc) skip();
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        const struct rtune_config c = rtune_config_default(&p, true);
        add_job(&p, &c);
    }
    for (int load = 0; load < RTUNE_LOAD_COUNT; load++) {
        struct rtune_config c;
        assert_true(rtune_problem_at(0, &p));
        c = make(&p, 256, 4, (enum rtune_load)load, RTUNE_FINISH_LAST);
        add_job(&p, &c);
    }
    compile_and_check(7, 5);
}

/* The check for spills sees one where there must be one. */
static void test_a_spill_shows(void **state) {
    (void)state;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I64, 0);
    struct rtune_config c = make(&p, 1024, 16, RTUNE_LOAD_NONCOHERENT, RTUNE_FINISH_SLOTS);
    struct cubin_kernel kernel = {0, 0};
    char name[RTUNE_INSTANCE_NAME];
    if (!nvrtc) skip();
    c.occupancy = 2; /* 32 registers, of which 64 would be needed for what is in flight */
    add_job(&p, &c);
    assert_int_equal(rtune_nvrtc_compile(nvrtc, 9, 0, jobs, job_count, 0, NULL, NULL), RTUNE_OK);
    assert_non_null(jobs[0].image);
    rtune_instance_name(&p, &c, name);
    assert_true(cubin_find(jobs[0].image, jobs[0].size, name, &kernel));
    assert_true(kernel.frame > FRAME_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_default_space_of_f32_and_i64_sum, drop_jobs),
        cmocka_unit_test_teardown(test_every_problem, drop_jobs),
        cmocka_unit_test_teardown(test_oldest_architecture, drop_jobs),
        cmocka_unit_test_teardown(test_a_spill_shows, drop_jobs),
    };
    return cmocka_run_group_tests_name("NVRTC instances", tests, open_nvrtc, close_nvrtc);
}
