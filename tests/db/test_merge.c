/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging winners: what a new row replaces, what stays, and that intervals never overlap. The rule
 * is the one of docs/STORE.md; a seeded property test compares it with a model of its own.
 */
#include "base/rng.h"
#include "tests/db/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct span {
    uint64_t n, from, to;
    double tag;
};

static void expect_rows(const char *path, const struct span *expected, size_t count) {
    struct rtune_table table = get(path);
    assert_int_equal(table.winner_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(table.winners[i].problem.n, expected[i].n);
        assert_int_equal(table.winners[i].n_from, expected[i].from);
        assert_int_equal(table.winners[i].n_to, expected[i].to);
        assert_true(table.winners[i].us == expected[i].tag);
    }
    rtune_table_free(&table);
}

static void put_spans(const char *path, const struct span *spans, size_t count) {
    struct rtune_winner winners[8];
    assert_in_range(count, 0, 8);
    for (size_t i = 0; i < count; i++)
        winners[i] = make_winner(spans[i].n, spans[i].from, spans[i].to, spans[i].tag);
    put(path, 0, winners, count);
}

static void rule(void **state) {
    enum { MOST = 4 };
    static const struct {
        const char *what;
        struct span old[MOST], new[MOST], result[MOST];
    } cases[] = {
        {"a new problem is added", {{0}}, {{5, 1, 9, 2}}, {{5, 1, 9, 2}}},
        {"a row that is covered goes", {{5, 2, 8, 1}}, {{5, 1, 9, 2}}, {{5, 1, 9, 2}}},
        {"the same interval is replaced", {{5, 1, 9, 1}}, {{6, 1, 9, 2}}, {{6, 1, 9, 2}}},
        {"rows outside stay",
         {{5, 1, 9, 1}, {50, 40, 60, 1}},
         {{20, 10, 39, 2}},
         {{5, 1, 9, 1}, {20, 10, 39, 2}, {50, 40, 60, 1}}},
        {"a row that reaches in from below is cut",
         {{5, 1, 20, 1}},
         {{30, 10, 40, 2}},
         {{5, 1, 9, 1}, {30, 10, 40, 2}}},
        {"a row that reaches in from above is cut",
         {{50, 20, 60, 1}},
         {{30, 10, 40, 2}},
         {{30, 10, 40, 2}, {50, 41, 60, 1}}},
        {"a row around it keeps the side where it was tuned",
         {{5, 1, 100, 1}},
         {{30, 10, 40, 2}},
         {{5, 1, 9, 1}, {30, 10, 40, 2}}},
        {"a row tuned inside goes, however far it reaches",
         {{15, 1, 100, 1}},
         {{30, 10, 40, 2}},
         {{30, 10, 40, 2}}},
        {"one size alone", {{5, 1, 100, 1}}, {{50, 50, 50, 2}}, {{5, 1, 49, 1}, {50, 50, 50, 2}}},
        {"no upper end",
         {{5, 1, 9, 1}, {50, 10, UINT64_MAX, 1}},
         {{500, 100, UINT64_MAX, 2}},
         {{5, 1, 9, 1}, {50, 10, 99, 1}, {500, 100, UINT64_MAX, 2}}},
        {"from zero", {{5, 0, 9, 1}}, {{0, 0, 3, 2}}, {{0, 0, 3, 2}, {5, 4, 9, 1}}},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++) {
        char name[16];
        size_t counts[3];
        const struct span *rows[3] = {cases[i].old, cases[i].new, cases[i].result};
        print_message("%s\n", cases[i].what);
        snprintf(name, sizeof name, "%zu.db", i);
        const char *path = in(state, name);
        for (size_t k = 0; k < 3; k++)
            for (counts[k] = 0; counts[k] < MOST && rows[k][counts[k]].tag != 0;)
                counts[k]++;
        if (counts[0] > 0) put_spans(path, rows[0], counts[0]);
        put_spans(path, rows[1], counts[1]);
        expect_rows(path, rows[2], counts[2]);
    }
}

static void other_kinds_and_devices_stay(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    put(path, 0, &winner, 1);
    put(path, 1, &winner, 1);
    winner.problem.op = RTUNE_MAX;
    put(path, 0, &winner, 1);
    winner.problem.nan_rule = RTUNE_NAN_IGNORE;
    put(path, 0, &winner, 1);
    winner.problem.cache = RTUNE_WARM;
    put(path, 0, &winner, 1);
    winner.problem.dtype = RTUNE_F64;
    winner.config = rtune_config_default(&winner.problem, true);
    put(path, 0, &winner, 1);
    struct rtune_table table = get(path);
    assert_int_equal(table.device_count, 2);
    assert_int_equal(table.winner_count, 6);
    /* Sorted by device, then problem. */
    for (size_t i = 1; i < table.winner_count; i++) {
        const struct rtune_winner *a = &table.winners[i - 1], *b = &table.winners[i];
        assert_true(a->device < b->device || rtune_problem_compare(&a->problem, &b->problem) < 0);
    }
    rtune_table_free(&table);
}

static void problems_are_stored_canonical(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_winner winner = make_winner(5, 1, 9, 1);
    put(path, 0, &winner, 1);
    winner.problem.nan_rule = RTUNE_NAN_IGNORE; /* means nothing to a sum */
    winner.problem.flags = RTUNE_ACCUMULATE;    /* selects no kernel */
    winner.us = 2;
    put(path, 0, &winner, 1);
    struct rtune_table table = get(path);
    assert_int_equal(table.winner_count, 1);
    assert_true(table.winners[0].us == 2);
    assert_int_equal(table.winners[0].problem.nan_rule, RTUNE_NAN_PROPAGATE);
    assert_int_equal(table.winners[0].problem.flags, 0);
    rtune_table_free(&table);
}

/* ---- property -------------------------------------------------------------------------------- */

enum { DOMAIN = 64, ROUNDS = 120 };

/* The model keeps a span per tag, and knows nothing of SQL. */
static size_t model_merge(struct span *rows, size_t count, struct span new) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct span row = rows[i];
        bool tuned_inside = row.n >= new.from &&row.n <= new.to;
        bool apart = row.to < new.from || row.from > new.to;
        if (tuned_inside) continue;
        if (!apart && row.n < new.from) row.to = new.from - 1;
        if (!apart && row.n > new.to) row.from = new.to + 1;
        rows[kept++] = row;
    }
    rows[kept++] = new;
    return kept;
}

static int compare_spans(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    return x->n < y->n ? -1 : x->n > y->n;
}

static void random_merges(void **state) {
    const char *given = getenv("RTUNE_TEST_SEED");
    struct rtune_rng rng = {given == NULL ? 20261129 : strtoull(given, NULL, 10), 0};
    struct span model[DOMAIN + 1];
    size_t count = 0;
    const char *path = in(state, "tune.db");
    print_message("RTUNE_TEST_SEED=%llu\n", (unsigned long long)rng.seed);
    for (int round = 1; round <= ROUNDS; round++) {
        struct span new = {.tag = round};
        new.from = rtune_rng_below(&rng, DOMAIN);
        new.to = new.from + rtune_rng_below(&rng, round % 3 == 0 ? 30 : 6);
        new.n = new.from + rtune_rng_below(&rng, new.to - new.from + 1);
        put_spans(path, &new, 1);
        count = model_merge(model, count, new);
        qsort(model, count, sizeof *model, compare_spans);
        expect_rows(path, model, count);
        for (size_t i = 1; i < count; i++)
            assert_true(model[i - 1].to < model[i].from);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect_refused(const char *path, struct rtune_winner *winners, size_t count,
                           enum rtune_status expected, const char *words) {
    struct rtune_identity device = make_device(0);
    struct rtune_table table = {&device, 1, winners, count};
    struct rtune_error err = {0};
    size_t size;
    unsigned char *before = file_get(path, &size);
    assert_status(expected, &err, rtune_store_merge(path, &table, NULL, &err));
    if (strstr(err.message, words) == NULL) fail_msg("\"%s\" not in \"%s\"", words, err.message);
    assert_true(file_same(path, before, size));
    free(before);
}

static void bad_rows_are_refused(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_winner two[2] = {make_winner(5, 1, 9, 1), make_winner(20, 9, 30, 1)}, bad;
    put(path, 0, two, 1);
    expect_refused(path, two, 2, RTUNE_INVALID, "overlaps");
    bad = make_winner(5, 6, 9, 1);
    expect_refused(path, &bad, 1, RTUNE_INVALID, "interval");
    bad = make_winner(5, 1, 9, -1);
    expect_refused(path, &bad, 1, RTUNE_RANGE, "time");
    bad = make_winner(5, 1, 9, 1);
    bad.floor_us = 0.0 / 0.0;
    expect_refused(path, &bad, 1, RTUNE_RANGE, "time");
    bad = make_winner(5, 1, 9, 1);
    bad.default_us = 2e12;
    expect_refused(path, &bad, 1, RTUNE_RANGE, "time");
    bad = make_winner(5, 1, 9, 1);
    bad.us_lo = 1.5;
    expect_refused(path, &bad, 1, RTUNE_RANGE, "us_lo");
    bad = make_winner(5, 1, 9, 1);
    bad.us_hi = 0.5;
    expect_refused(path, &bad, 1, RTUNE_RANGE, "us_hi");
    bad = make_winner(5, 1, 9, 1);
    bad.kernel_abi++;
    expect_refused(path, &bad, 1, RTUNE_RANGE, "kernel_abi");
    bad = make_winner(5, 1, 9, 1);
    bad.device = 1;
    expect_refused(path, &bad, 1, RTUNE_INVALID, "device");
    bad = make_winner(5, 1, 9, 1);
    bad.config.block = 33;
    expect_refused(path, &bad, 1, RTUNE_RANGE, "block");
    bad = make_winner(5, 1, 9, 1);
    bad.config = rtune_config_default(&bad.problem, false);
    expect_refused(path, &bad, 1, RTUNE_RANGE, "another kind of device");
    bad = make_winner(5, 1, 9, 1);
    bad.problem.op = RTUNE_OP_COUNT;
    expect_refused(path, &bad, 1, RTUNE_INVALID, "op");
    bad = make_winner(5, 1, 9, 1);
    memset(bad.driver, 'x', sizeof bad.driver); /* no NUL */
    expect_refused(path, &bad, 1, RTUNE_RANGE, "driver");
}

/* Devices and sessions that somebody deleted by hand: their rows' numbers are free, and taken. */
static void nothing_is_inherited(void **state) {
    const char *path = in(state, "tune.db");
    struct rtune_identity device = make_device(0);
    struct rtune_winner old = make_winner(5, 1, 9, 1), new = make_winner(500, 400, 900, 2);
    struct rtune_session session = make_session("quick");
    struct rtune_table table = {&device, 1, &old, 1};
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, &session, &err));
    shell(path, "DELETE FROM device");
    put(path, 1, &new, 1);
    struct rtune_table read = get(path);
    assert_int_equal(read.winner_count, 1);
    assert_int_equal(read.winners[0].problem.n, 500);
    rtune_table_free(&read);
    assert_int_equal(unlink(path), 0);
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, &session, &err));
    shell(path, "DELETE FROM session");
    new.problem.op = RTUNE_MAX;
    table.winners = &new;
    assert_status(RTUNE_OK, &err, rtune_store_merge(path, &table, &session, &err));
    read = get(path);
    assert_int_equal(read.winner_count, 2);
    assert_int_equal(read.winners[0].problem.op, RTUNE_SUM);
    assert_int_equal(read.winners[0].session, 0);
    assert_int_not_equal(read.winners[1].session, 0);
    rtune_table_free(&read);
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(rule),
        SCRATCH(other_kinds_and_devices_stay),
        SCRATCH(problems_are_stored_canonical),
        SCRATCH(random_merges),
        SCRATCH(bad_rows_are_refused),
        SCRATCH(nothing_is_inherited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
