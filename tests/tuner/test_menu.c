/* SPDX-License-Identifier: Apache-2.0 */
/* What a session is going to tune, in which order and with which candidates. */
#include "base/num.h"
#include "tests/tuner/fake_meter.h"
#include "tuner/agenda.h"
#include "tuner/menu.h"
#include "tuner/search.h"
#include "tuner/session.h"

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

/* Everything there is: sum of f32 first, sizes to 60 % of the memory, two inputs of dot included.
 */
static void test_bare(void **state) {
    (void)state;
    make_agenda();
    assert_int_equal(agenda.count, 13 * 12 + 3 * 8);
    assert_int_equal(agenda.kinds[0].role, RTUNE_ROLE_REFERENCE);
    assert_int_equal(agenda.kinds[0].problem.op, RTUNE_SUM);
    assert_int_equal(agenda.kinds[0].problem.dtype, RTUNE_F32);
    assert_int_equal(agenda.kinds[0].size_count, 34);
    size_t steps = 0;
    for (size_t k = 0; k < agenda.count; k++) {
        const struct rtune_kind *kind = &agenda.kinds[k];
        uint64_t size = (uint64_t)rtune_kind_bytes(kind, 1);
        assert_int_equal(kind->role == RTUNE_ROLE_REFERENCE, k == 0);
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

/* The bare session fits ten minutes on a GPU that reads 4.6 TB/s, with a fifth to spare; its cost
 * is that of the shares and of making inputs. Compiling on 15 threads takes less, and goes on
 * beside it. */
static void test_bare_fits(void **state) {
    (void)state;
    static const size_t counts[RTUNE_ROLE_COUNT] = {700, 30, 6}, instances[] = {200, 40, 10};
    static const double fill_us = 3e-6; /* of an element: 20 ms for 2^33 */
    double seconds[RTUNE_ROLE_COUNT] = {0}, filling = 0, compiling = 0;
    meter.base.info.free_bytes = UINT64_C(139) << 30;
    make_agenda();
    for (size_t k = 0; k < agenda.count; k++) {
        const struct rtune_kind *kind = &agenda.kinds[k];
        for (size_t i = 0; i < kind->size_count; i++) {
            double bytes = rtune_kind_bytes(kind, kind->sizes[i]);
            struct rtune_cost cost = {160, 3 + bytes / 4.6e6, bytes > (256 << 20)};
            bool few = kind->role == RTUNE_ROLE_REFERENCE && cost.launch_us >= 300;
            double cap = rtune_effort_cap(RTUNE_EFFORT_STANDARD, kind->role);
            struct rtune_share s = rtune_effort_share(RTUNE_EFFORT_STANDARD,
                                                      few ? 49 : counts[kind->role], &cost, cap);
            seconds[kind->role] += rtune_effort_seconds(&s, &cost);
        }
        /* An input is filled once as sizes grow, and referred to once. */
        filling += 3 * fill_us * (double)kind->sizes[kind->size_count - 1] / 1e6;
        compiling += 0.3 * (double)instances[kind->role] / 15;
    }
    double total = seconds[0] + seconds[1] + seconds[2] + filling;
    print_message("reference %.0f s, leads %.0f s, followers %.0f s, inputs %.0f s, together %.0f "
                  "s for %zu steps; compiling %.0f s\n",
                  seconds[0], seconds[1], seconds[2], filling, total, agenda.steps, compiling);
    assert_true(total < 480 && compiling < total / 4);
}

/* Who begins with whose configs. */
static void test_classes(void **state) {
    (void)state;
    struct rtune_problem wanted[9] = {
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 0),  RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0),
        RTUNE_PROBLEM(RTUNE_ASUM, RTUNE_U32, 0), RTUNE_PROBLEM(RTUNE_DOT, RTUNE_I32, 0),
        RTUNE_PROBLEM(RTUNE_MIN, RTUNE_I32, 0),  RTUNE_PROBLEM(RTUNE_MINMAX, RTUNE_U32, 0),
        RTUNE_PROBLEM(RTUNE_BOR, RTUNE_I32, 0),  RTUNE_PROBLEM(RTUNE_BOR, RTUNE_U32, 0),
        RTUNE_PROBLEM(RTUNE_PROD, RTUNE_F32, 0)};
    /* Sum of f32, then the leads and then the followers in their order: indices of wanted. */
    static const size_t order[9] = {1, 0, 3, 4, 6, 2, 5, 7, 8};
    static const size_t leads[9] = {0, 1, 2, 3, 4, 1, 3, 4, 0},
                        twins[9] = {0, 1, 2, 3, 4, 5, 6, 4, 8};
    options.problems = wanted;
    options.problem_count = 9;
    make_agenda();
    assert_int_equal(agenda.count, 9);
    for (size_t k = 0; k < 9; k++) {
        const struct rtune_kind *kind = &agenda.kinds[k];
        enum rtune_role role = k == 0          ? RTUNE_ROLE_REFERENCE
                               : leads[k] == k ? RTUNE_ROLE_LEAD
                                               : RTUNE_ROLE_FOLLOWER;
        assert_true(rtune_problem_same_kind(&kind->problem, &wanted[order[k]]));
        assert_int_equal(kind->lead, leads[k]);
        assert_int_equal(kind->twin, twins[k]);
        assert_int_equal(kind->role, role);
        assert_int_equal(kind->reference, 0);
    }
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
    assert_int_equal(agenda.kinds[0].role, RTUNE_ROLE_REFERENCE);
    assert_int_equal(agenda.kinds[1].role, RTUNE_ROLE_REFERENCE);
    for (size_t k = 0; k < agenda.count; k++) {
        const struct rtune_kind *kind = &agenda.kinds[k];
        const struct rtune_kind *reference = &agenda.kinds[kind->reference];
        assert_int_equal(reference->role, RTUNE_ROLE_REFERENCE);
        assert_true(reference->problem.cache == kind->problem.cache);
        assert_int_equal(kind->size_count, 3);
        assert_true(kind->sizes[0] == 16 && kind->sizes[1] == 100 && kind->sizes[2] == 4096);
        if (kind->problem.cache == RTUNE_COLD) assert_int_equal(reference->problem.op, RTUNE_SUM);
        assert_int_equal(kind->problem.n, 0);
    }
    rtune_agenda_free(&agenda);
    options.effort = RTUNE_EFFORT_EXHAUSTIVE;
    make_agenda();
    for (size_t k = 0; k < agenda.count; k++)
        assert_int_equal(agenda.kinds[k].role, RTUNE_ROLE_REFERENCE);
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
    make_menu(1, 0, false, &menu);       /* 1024 of 8 bytes: as 2048 of 4 */
    assert_int_equal(menu.count, 2 + 4); /* and with twice and half of the items and threads */
    assert_true(menu.configs[2].items == 8 && menu.configs[3].block == 128);
    assert_true(menu.configs[4].items == 2 && menu.configs[5].block == 32);
    assert_int_equal(menu.configs[1].block, 64);
    assert_int_equal(menu.configs[1].items, 4); /* as many bytes in flight */
    assert_int_equal(menu.favourite, RTUNE_NO_FAVOURITE);
    free(menu.configs);
    struct rtune_config liked = fake_config(256, 2, 4);
    decide(&agenda.kinds[1], 0, &liked);
    make_menu(1, 2, false, &menu); /* 4096 of 8 bytes: nothing nearer than 4096 of 4 */
    assert_int_equal(menu.count, 3 + 4);
    assert_int_equal(menu.favourite, 1);
    assert_true(rtune_config_equal(&menu.configs[1], &liked));
    assert_int_equal(menu.configs[2].block, 128);
    free(menu.configs);
    assert_int_equal(rtune_kind_ban(&agenda.kinds[1], &liked, NULL), RTUNE_OK);
    make_menu(1, 2, false, &menu);
    assert_int_equal(menu.count, 2 + 4);
    assert_int_equal(menu.favourite, RTUNE_NO_FAVOURITE);
    free(menu.configs);
}

/* One block that was best at the size before is also tried with twice the items and the threads. */
static void test_grown(void **state) {
    (void)state;
    struct rtune_problem wanted[2] = {RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0),
                                      RTUNE_PROBLEM(RTUNE_MAX, RTUNE_F64, 0)};
    static const uint64_t sizes[] = {128, 256};
    struct rtune_config liked = rtune_config_default(&wanted[1], true);
    struct rtune_menu menu;
    options.problems = wanted;
    options.problem_count = 2;
    options.sizes = sizes;
    options.size_count = 2;
    make_agenda();
    liked.block = 32;
    liked.items = 4;
    liked.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, 1};
    decide(&agenda.kinds[1], 0, &liked);
    make_menu(1, 1, false, &menu); /* not alone by its finish, so it may have more blocks */
    assert_int_equal(menu.count, 2);
    free(menu.configs);
    liked.finish = RTUNE_FINISH_ONE;
    agenda.kinds[1].decisions[0].config = liked;
    make_menu(1, 1, false, &menu);
    assert_int_equal(menu.count, 4);
    assert_true(menu.configs[2].items == 8 && menu.configs[2].block == 32);
    assert_true(menu.configs[3].items == 4 && menu.configs[3].block == 64);
    free(menu.configs);
    agenda.kinds[1].decisions[0].config.block = 1024; /* cannot have twice the threads */
    make_menu(1, 1, false, &menu);
    assert_int_equal(menu.count, 3);
    free(menu.configs);
}

/* The mode reproducible is also tried on powers of two of blocks that fill the device, if it has as
 * many tiles. */
static void test_powers(void **state) {
    (void)state;
    struct rtune_problem wanted[2] = {RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0),
                                      RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F64, 0)};
    static const uint64_t sizes[] = {1 << 20, UINT64_C(1) << 30};
    static const uint32_t expected[4][3] = {
        {1024, 8, 128}, {512, 32, 128}, {512, 16, 256}, {512, 8, 512}};
    struct rtune_menu menu;
    wanted[1].mode = RTUNE_REPRODUCIBLE;
    options.problems = wanted;
    options.problem_count = 2;
    options.sizes = sizes;
    options.size_count = 2;
    make_agenda();
    meter.base.info.identity.sm_count = 132;
    make_menu(1, 0, false, &menu); /* all but the first have not a tile for each block */
    assert_int_equal(menu.count, 2);
    assert_int_equal(menu.configs[1].block, 1024);
    assert_int_equal(menu.configs[1].grid.value, 128);
    free(menu.configs);
    make_menu(1, 1, false, &menu);
    assert_int_equal(menu.count, 5);
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(menu.configs[1 + k].block, expected[k][0]);
        assert_int_equal(menu.configs[1 + k].items, expected[k][1]);
        assert_int_equal(menu.configs[1 + k].grid.kind, RTUNE_GRID_BLOCKS);
        assert_int_equal(menu.configs[1 + k].grid.value, expected[k][2]);
    }
    free(menu.configs);
}

/* Integers may do with one atomic what floats do with slots, while the sum of n fits beside the
 * count; a follower begins with its lead's best, and a twin with its twin's winner alone. */
static void test_followers(void **state) {
    (void)state;
    struct rtune_problem wanted[5] = {
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0), RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 0),
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_U32, 0), RTUNE_PROBLEM(RTUNE_BAND, RTUNE_I32, 0),
        RTUNE_PROBLEM(RTUNE_BAND, RTUNE_U32, 0)};
    static const uint64_t sizes[] = {4096, UINT64_C(1) << 33};
    struct rtune_menu menu;
    const char *why = NULL;
    options.problems = wanted;
    options.problem_count = 5;
    options.sizes = sizes;
    options.size_count = 2;
    make_agenda();
    struct rtune_config slots = fake_config(64, 4, 8), packed = slots;
    packed.finish = RTUNE_FINISH_PACKED;
    decide(&agenda.kinds[0], 0, &slots);
    decide(&agenda.kinds[0], 1, &slots);
    make_menu(1, 0, false, &menu);
    assert_int_equal(menu.count, 3 + 2 * 3); /* less than one load of 16 bytes is none */
    assert_true(rtune_config_equal(&menu.configs[1], &packed));
    assert_true(rtune_config_equal(&menu.configs[2], &slots));
    free(menu.configs);
    wanted[1].n = sizes[1];
    assert_false(rtune_finish_admits(&packed, &wanted[1], 8, &why));
    make_menu(1, 1, false, &menu);
    assert_int_equal(menu.count, 2 + 3);
    assert_true(rtune_config_equal(&menu.configs[1], &slots));
    free(menu.configs);
    struct rtune_config good[3] = {fake_config(32, 8, 4), fake_config(128, 8, 4), packed};
    for (size_t k = 0; k < 3; k++)
        decide(&agenda.kinds[1], 0, &good[k]);
    make_menu(3, 0, false, &menu); /* default, two with one atomic, the third as it is */
    assert_int_equal(menu.count, 6);
    assert_true(rtune_config_equal(&menu.configs[2], &good[0]));
    assert_true(rtune_config_equal(&menu.configs[5], &packed));
    free(menu.configs);
    decide(&agenda.kinds[2], 0, &good[1]);
    make_menu(4, 0, false, &menu);
    assert_int_equal(menu.count, 2);
    assert_true(rtune_config_equal(&menu.configs[1], &good[1]));
    free(menu.configs);
}

/* Kinds are queued for compiling as soon as all that they begin with is decided, and not before. */
static void test_ahead(void **state) {
    (void)state;
    struct rtune_problem wanted[5] = {
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 0), RTUNE_PROBLEM(RTUNE_SUM, RTUNE_U32, 0),
        RTUNE_PROBLEM(RTUNE_BAND, RTUNE_I32, 0), RTUNE_PROBLEM(RTUNE_BAND, RTUNE_U32, 0),
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0)};
    static const uint64_t sizes[] = {4096, 8192};
    /* Before which kind is measured (sum f32, sum i32, band i32, sum u32, band u32), which are
     * queued. The two sums of 4 byte integers have kernels of their own, the two ands share. */
    static const bool queued[5][5] = {{true, false, false, false, false},
                                      {true, true, true, false, false},
                                      {true, true, true, true, false},
                                      {true, true, true, true, true},
                                      {true, true, true, true, true}};
    struct rtune_tuning t = {
        .options = &options, .space = space, .forge = forge, .meter = &meter.base};
    options.problems = wanted;
    options.problem_count = 5;
    options.sizes = sizes;
    options.size_count = 2;
    make_agenda();
    t.agenda = agenda;
    for (size_t now = 0; now < 5; now++) {
        assert_int_equal(rtune_step_ahead(&t, now, NULL), RTUNE_OK);
        for (size_t k = 0; k < 5; k++)
            assert_int_equal(t.agenda.kinds[k].queued, queued[now][k]);
    }
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
        cmocka_unit_test_setup_teardown(test_bare_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_followers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_grown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_powers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chosen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_seeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ahead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
