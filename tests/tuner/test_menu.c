/* SPDX-License-Identifier: Apache-2.0 */
/* What a session is going to tune, in which order and with which candidates. */
#include "base/num.h"
#include "tests/tuner/fake_meter.h"
#include "tuner/agenda.h"
#include "tuner/menu.h"
#include "tuner/search.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fake_meter meter;
static struct rtune_agenda agenda;
static rtune_space *space;
static rtune_forge *forge;
static struct rtune_tune_options options;

static double any(const struct rtune_problem *problem, const struct rtune_config *config) {
    (void)problem;
    (void)config;
    return 1;
}

static int set_up(void **state) {
    (void)state;
    struct rtune_forge_options none = {.stop = NULL};
    struct rtune_identity identity = {.cuda = false, .cores = 8, .isa = "base"};
    memset(&options, 0, sizeof(options));
    memset(&agenda, 0, sizeof(agenda));
    options.effort = RTUNE_EFFORT_STANDARD;
    fake_meter_init(&meter, any, 0, 1);
    meter.base.info.cuda = true;
    meter.base.info.free_bytes = UINT64_C(100) << 30;
    meter.base.info.identity =
        (struct rtune_identity){.cuda = true, .cc_major = 9, .sm_count = 132, .l2_bytes = 60 << 20};
    if (rtune_space_parse(NULL, 0, "default", &space, NULL) != RTUNE_OK) return 1;
    if (rtune_forge_open(&none, &forge, NULL) != RTUNE_OK) return 1;
    rtune_forge_target(forge, &identity); /* every config counts as built in */
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rtune_agenda_free(&agenda);
    rtune_space_free(space);
    rtune_forge_close(forge);
    return 0;
}

static void make_agenda(void) {
    struct rtune_error err;
    if (rtune_agenda_make(&options, &meter.base, &agenda, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
}

/* Everything there is: sum of f32 first, sizes to 60 % of the memory. */
static void test_bare(void **state) {
    (void)state;
    make_agenda();
    assert_int_equal(agenda.count, 22);
    assert_true(agenda.kinds[0].full);
    assert_int_equal(agenda.kinds[0].problem.op, RTUNE_SUM);
    assert_int_equal(agenda.kinds[0].problem.dtype, RTUNE_F32);
    assert_int_equal(agenda.kinds[0].size_count, 34);
    size_t steps = 0;
    for (size_t k = 0; k < agenda.count; k++) {
        const struct rtune_kind *kind = &agenda.kinds[k];
        uint64_t size = rtune_dtype_size(kind->problem.dtype);
        assert_int_equal(kind->full, k == 0);
        assert_int_equal(kind->reference, 0);
        assert_int_equal(kind->sizes[0], 1);
        uint64_t last = kind->sizes[kind->size_count - 1];
        assert_true(last * size <= UINT64_C(60) << 30);
        assert_true(last == UINT64_C(1) << 33 || 2 * last * size > UINT64_C(60) << 30);
        steps += kind->size_count;
    }
    assert_int_equal(agenda.steps, steps);
    assert_int_equal(agenda.input_bytes, UINT64_C(32) << 30);
}

/* Equal problems once; one reference per cache state; sizes sorted and unique. */
static void test_chosen(void **state) {
    (void)state;
    struct rtune_problem wanted[6] = {
        RTUNE_PROBLEM(RTUNE_MAX, RTUNE_I64, 7), RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0),
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 9), RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F32, 0),
        RTUNE_PROBLEM(RTUNE_MIN, RTUNE_F64, 0), RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0)};
    static const uint64_t sizes[] = {4096, 16, 4096, 100};
    wanted[3].cache = wanted[4].cache = RTUNE_WARM;
    wanted[5].acc = RTUNE_NATIVE; /* the same as wide */
    options.problems = wanted;
    options.problem_count = 6;
    options.sizes = sizes;
    options.size_count = 4;
    make_agenda();
    assert_int_equal(agenda.count, 4);
    assert_true(agenda.kinds[0].full && agenda.kinds[1].full);
    for (size_t k = 0; k < agenda.count; k++) {
        const struct rtune_kind *kind = &agenda.kinds[k];
        const struct rtune_kind *reference = &agenda.kinds[kind->reference];
        assert_true(reference->full && reference->problem.cache == kind->problem.cache);
        assert_int_equal(kind->size_count, 3);
        assert_true(kind->sizes[0] == 16 && kind->sizes[1] == 100 && kind->sizes[2] == 4096);
        if (kind->problem.cache == RTUNE_COLD) assert_int_equal(reference->problem.op, RTUNE_SUM);
        assert_int_equal(kind->problem.n, 0);
    }
    rtune_agenda_free(&agenda);
    options.effort = RTUNE_EFFORT_EXHAUSTIVE;
    make_agenda();
    for (size_t k = 0; k < agenda.count; k++)
        assert_true(agenda.kinds[k].full);
}

static void make_menu(size_t kind, size_t index, bool big, struct rtune_menu *menu) {
    struct rtune_menu_source source = {space, &meter.base, forge, &agenda, options.effort};
    struct rtune_error err;
    if (rtune_menu_make(&source, &agenda.kinds[kind], index, big, menu, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
    struct rtune_config standard = rtune_config_default(&agenda.kinds[kind].problem, true);
    assert_true(menu->count > 0 && rtune_config_equal(&menu->configs[0], &standard));
    for (size_t a = 0; a < menu->count && menu->count < 100; a++)
        for (size_t b = 0; b < a; b++)
            assert_false(rtune_config_equal(&menu->configs[a], &menu->configs[b]));
}

static void decide(struct rtune_kind *kind, size_t index, const struct rtune_config *config) {
    struct rtune_decided *d = &kind->decisions[index];
    d->done = true;
    d->config = *config;
    d->seeds[d->seed_count++] = *config;
}

/* A kind of 8 bytes begins with what was good for as many bytes of 4. */
static void test_seeds(void **state) {
    (void)state;
    struct rtune_problem wanted[2] = {RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0),
                                      RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F64, 0)};
    static const uint64_t sizes[] = {1024, 2048, 4096};
    options.problems = wanted;
    options.problem_count = 2;
    options.sizes = sizes;
    options.size_count = 3;
    make_agenda();
    struct rtune_config c[3] = {fake_config(32, 4, 2), fake_config(64, 8, 2),
                                fake_config(128, 16, 2)};
    for (size_t k = 0; k < 3; k++)
        decide(&agenda.kinds[0], k, &c[k]);
    struct rtune_menu menu;
    make_menu(1, 0, false, &menu); /* 1024 of 8 bytes: as 2048 of 4 */
    assert_int_equal(menu.count, 2);
    assert_int_equal(menu.configs[1].block, 64);
    assert_int_equal(menu.configs[1].items, 4); /* as many bytes in flight */
    assert_int_equal(menu.favourite, RTUNE_NO_FAVOURITE);
    free(menu.configs);
    struct rtune_config liked = fake_config(256, 2, 4);
    decide(&agenda.kinds[1], 0, &liked);
    make_menu(1, 2, false, &menu); /* 4096 of 8 bytes: nothing nearer than 4096 of 4 */
    assert_int_equal(menu.count, 3);
    assert_int_equal(menu.favourite, 1);
    assert_true(rtune_config_equal(&menu.configs[1], &liked));
    assert_int_equal(menu.configs[2].block, 128);
    free(menu.configs);
    assert_int_equal(rtune_kind_ban(&agenda.kinds[1], &liked, NULL), RTUNE_OK);
    make_menu(1, 2, false, &menu);
    assert_int_equal(menu.count, 2);
    assert_int_equal(menu.favourite, RTUNE_NO_FAVOURITE);
    free(menu.configs);
}

static uint32_t largest_grid(const struct rtune_menu *menu) {
    uint32_t largest = 0;
    for (size_t k = 0; k < menu->count; k++) {
        const struct rtune_grid *grid = &menu->configs[k].grid;
        if (grid->kind == RTUNE_GRID_BLOCKS && grid->value > largest) largest = grid->value;
    }
    return largest;
}

/* A reference tries all, then not what was hopeless, and of large inputs only what was good. */
static void test_full(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1 << 16, 1 << 20};
    struct rtune_problem wanted = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
    options.problems = &wanted;
    options.problem_count = 1;
    options.sizes = sizes;
    options.size_count = 2;
    make_agenda();
    struct rtune_kind *kind = &agenda.kinds[0];
    struct rtune_menu all, rest, few, quick;
    make_menu(0, 1, false, &all);
    assert_true(all.count > 200);
    kind->remembered = calloc(all.count, sizeof(*kind->remembered));
    kind->remembered_capacity = kind->remembered_count = all.count;
    for (size_t k = 0; k < all.count; k++)
        kind->remembered[k] =
            (struct rtune_remembered){all.configs[k], 5 + (double)k * 20 / (double)all.count};
    decide(kind, 0, &all.configs[10]);
    make_menu(0, 1, false, &rest);
    assert_true(rest.count > all.count / 3 && rest.count < 2 * all.count / 3);
    assert_int_equal(rest.favourite, 10);
    make_menu(0, 1, true, &few);
    assert_true(few.count >= 48 && few.count <= 49);
    rtune_menu_limit(&few, kind, 12);
    assert_int_equal(few.count, 12);
    assert_int_equal(few.favourite, 1);
    assert_true(rtune_config_equal(&few.configs[1], &all.configs[10]));
    for (size_t k = 2; k < 12; k++) { /* then the best of the size before */
        size_t rank = k - 1;
        assert_true(rtune_config_equal(&few.configs[k], &all.configs[rank < 10 ? rank : rank + 1]));
    }
    options.effort = RTUNE_EFFORT_QUICK;
    kind->remembered_count = 0;
    make_menu(0, 1, false, &quick);
    assert_true(quick.count < all.count * 2 / 3);
    assert_int_equal(largest_grid(&quick), largest_grid(&all)); /* no part of an axis is left out */
    rtune_menu_limit(&quick, kind, 20);
    assert_int_equal(quick.count, 20);
    for (size_t a = 0; a < quick.count; a++)
        for (size_t b = 0; b < a; b++)
            assert_false(rtune_config_equal(&quick.configs[a], &quick.configs[b]));
    free(all.configs);
    free(rest.configs);
    free(few.configs);
    free(quick.configs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bare, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chosen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_seeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
