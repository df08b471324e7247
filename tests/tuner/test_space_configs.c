/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for the configs of the default space, for every problem there is, many sizes and
 * several devices. The rules are restated here, apart from the code that applies them.
 * RTUNE_TEST_SEED repeats. */
#include "base/clock.h"
#include "base/num.h"
#include "base/parse.h"
#include "base/rng.h"
#include "tuner/space.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static const struct rtune_identity DEVICES[] = {
    {.cuda = true, .cc_major = 9, .sm_count = 132},
    {.cuda = true, .cc_major = 7, .cc_minor = 5, .sm_count = 1},
    {.cuda = true, .cc_major = 9, .sm_count = 16, .mig = true},
    {.cores = 1, .isa = "avx2"},
    {.cores = 2, .isa = "avx512"},
    {.cores = 96, .isa = "no such set"},
};

static uint32_t units_of(const struct rtune_identity *device) {
    return device->cuda ? device->sm_count : device->cores;
}

static void check_config(const struct rtune_identity *device, const struct rtune_problem *p,
                         const struct rtune_config *c) {
    uint64_t tile = (uint64_t)c->block * c->items, size = rtune_dtype_size(p->dtype);
    uint64_t tiles = rtune_max_u64(rtune_ceil_div(p->n, tile), 1);
    /* One resident block is the least that can be; grids but cover do not depend on it. */
    uint64_t blocks = rtune_grid_resolve(c, p->dtype, p->n, units_of(device), 1);
    struct rtune_error err = {0};
    const char *why = NULL;
    if (rtune_instance_check(p, c, &err) != RTUNE_OK) fail_msg("%s", err.message);
    if (!rtune_finish_admits(c, p, (uint32_t)blocks, &why)) fail_msg("%s", why);
    if (c->grid.kind != RTUNE_GRID_COVER || tiles <= units_of(device))
        assert_int_equal(c->finish == RTUNE_FINISH_ONE, blocks == 1);
    if (!device->cuda) {
        assert_int_equal(c->block, 1);
        assert_true(blocks <= device->cores);
        assert_true(blocks == 1 || p->n * size / blocks >= 4096);
        return;
    }
    assert_true(c->block >= 32);
    assert_true(blocks <= tiles);
    assert_int_equal(c->occupancy, 0);
    /* From 64 MiB of input, 32 KiB in flight per multiprocessor; residency is at most 32 blocks. */
    uint64_t running = c->grid.kind == RTUNE_GRID_COVER
                           ? rtune_min_u64(tiles, 32 * (uint64_t)device->sm_count)
                           : blocks;
    if (p->n >= (UINT64_C(64) << 20) / size)
        assert_true(running * tile * size >= device->sm_count * UINT64_C(32768));
}

static int compare(const struct rtune_config *a, const struct rtune_config *b) {
    const uint32_t x[] = {a->variant, a->block,  a->items, a->grid.kind, a->grid.value,
                          a->load,    a->finish, a->map,   a->occupancy, a->extra};
    const uint32_t y[] = {b->variant, b->block,  b->items, b->grid.kind, b->grid.value,
                          b->load,    b->finish, b->map,   b->occupancy, b->extra};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(x); i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

static void check_problem(const rtune_space *space, const struct rtune_identity *device,
                          const struct rtune_problem *problem) {
    struct rtune_config *configs = NULL, builtin = rtune_config_default(problem, device->cuda);
    struct rtune_error err = {0};
    size_t count = 0;
    if (rtune_space_configs(space, device, problem, &configs, &count, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    assert_true(count >= 2); /* the default, and something to beat it */
    assert_true(rtune_config_equal(&configs[0], &builtin));
    for (size_t i = 1; i < count; i++) {
        check_config(device, problem, &configs[i]);
        assert_false(rtune_config_equal(&configs[i], &builtin));
        if (i > 1) assert_true(compare(&configs[i - 1], &configs[i]) < 0); /* sorted and unique */
    }
    free(configs);
}

static void test_every_problem(void **state) {
    (void)state;
    struct rtune_rng rng = {seed, 0};
    struct rtune_problem problem;
    rtune_space *space = NULL;
    assert_int_equal(rtune_space_parse(NULL, 0, NULL, &space, NULL), RTUNE_OK);
    for (size_t d = 0; d < RTUNE_ARRAY_SIZE(DEVICES); d++) {
        for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
            for (int round = 0; round < 8; round++) {
                problem.n = rtune_rng_u64(&rng) >> (24 + rtune_rng_below(&rng, 40));
                check_problem(space, &DEVICES[d], &problem);
            }
        }
        problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
        for (problem.n = 1; problem.n <= UINT64_C(1) << 33; problem.n *= 2)
            check_problem(space, &DEVICES[d], &problem);
        for (problem.n = 0; problem.n <= 3; problem.n++)
            check_problem(space, &DEVICES[d], &problem);
    }
    rtune_space_free(space);
}

static bool has(const struct rtune_config *configs, size_t count, const char *text) {
    struct rtune_config wanted = {0};
    assert_int_equal(rtune_config_parse(text, &wanted, NULL), RTUNE_OK);
    for (size_t i = 0; i < count; i++)
        if (rtune_config_equal(&configs[i], &wanted)) return true;
    return false;
}

/* Configs that were good when the kernel was a prototype must not be pruned away, and the number of
 * those that stay is what makes a session long or short: a change should be seen. */
static void test_known_configs(void **state) {
    (void)state;
    static const struct {
        enum rtune_dtype dtype;
        uint64_t n;
        size_t count;
        const char *config;
    } cases[] = {
        {RTUNE_F32, 1 << 8, 51,
         "block=32,items=32,grid=1,load=plain,finish=one,map=strip,occupancy=0"},
        {RTUNE_F32, 1 << 16, 304,
         "block=256,items=4,grid=64,load=plain,finish=slots,map=strip,occupancy=0"},
        {RTUNE_F32, 1 << 20, 276,
         "block=512,items=8,grid=1xsm,load=plain,finish=slots,map=strip,occupancy=0"},
        {RTUNE_F32, 1 << 24, 238,
         "block=512,items=16,grid=2xsm,load=noallocate,finish=slots,map=strip,occupancy=0"},
        {RTUNE_F32, 1 << 28, 242,
         "block=1024,items=32,grid=2xsm,load=noallocate,finish=slots,map=strip,occupancy=0"},
        {RTUNE_I32, 1 << 16, 560,
         "block=256,items=4,grid=64,load=plain,finish=packed,map=strip,occupancy=0"},
    };
    rtune_space *space = NULL;
    assert_int_equal(rtune_space_parse(NULL, 0, NULL, &space, NULL), RTUNE_OK);
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, cases[i].dtype, cases[i].n);
        struct rtune_config *configs = NULL;
        size_t count = 0;
        assert_int_equal(rtune_space_configs(space, &DEVICES[0], &problem, &configs, &count, NULL),
                         RTUNE_OK);
        if (!has(configs, count, cases[i].config))
            fail_msg("%" PRIu64 ": not in the space: %s", cases[i].n, cases[i].config);
        if (count != cases[i].count)
            fail_msg("%" PRIu64 ": %zu configs, not %zu", cases[i].n, count, cases[i].count);
        free(configs);
    }
    rtune_space_free(space);
}

int main(void) {
    const char *text = getenv("RTUNE_TEST_SEED");
    seed = rtune_clock_ns();
    if (text != NULL && rtune_parse_u64(text, 0, UINT64_MAX, &seed, NULL) != RTUNE_OK) return 2;
    printf("RTUNE_TEST_SEED=%" PRIu64 "\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_problem),
        cmocka_unit_test(test_known_configs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
