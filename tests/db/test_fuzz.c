/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store images with bytes changed at random: reading one ends, within bounds, with a table that
 * obeys all rules or with a status that says what is wrong; never with a crash, and never with a
 * changed image.
 */
#include "base/rng.h"
#include "tests/db/helper.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1500, WINNERS = 60 };

static unsigned char *make_image(void *const *state, size_t *size) {
    static struct rtune_winner winners[WINNERS];
    struct rtune_session session = make_session("quick");
    struct rtune_identity devices[] = {make_device(0), make_device(1)};
    struct rtune_table table = {devices, 2, winners, WINNERS};
    struct rtune_error err = {0};
    for (size_t i = 0; i < WINNERS; i++) {
        winners[i] = make_winner(10 * i + 5, 10 * i, 10 * i + 9, 1);
        winners[i].device = i % 2;
    }
    assert_status(RTUNE_OK, &err, rtune_store_merge(in(state, "tune.db"), &table, &session, &err));
    return file_get(in(state, "tune.db"), size);
}

/* Some bytes, at places where they hurt in half of the rounds: the headers of file and pages. */
static void damage(struct rtune_rng *rng, unsigned char *image, size_t size) {
    size_t changes = 1 + rtune_rng_below(rng, 8);
    for (size_t i = 0; i < changes; i++) {
        size_t at = rtune_rng_below(rng, size);
        if (rtune_rng_below(rng, 2) == 0) at = at / 4096 * 4096 + rtune_rng_below(rng, 128);
        if (at >= 16 && at < size) image[at] = (unsigned char)rtune_rng_u64(rng);
    }
}

static void check_table(const struct rtune_table *table) {
    struct rtune_error err = {0};
    assert_status(RTUNE_OK, &err, rtune_table_check(table, &err));
    for (size_t i = 1; i < table->winner_count; i++) {
        const struct rtune_winner *a = &table->winners[i - 1], *b = &table->winners[i];
        assert_true(a->device < b->device || rtune_problem_compare(&a->problem, &b->problem) < 0);
    }
}

static void random_damage(void **state) {
    const char *given = getenv("RTUNE_TEST_SEED");
    struct rtune_rng rng = {given == NULL ? 5 : strtoull(given, NULL, 10), 0};
    size_t size, tables = 0;
    unsigned char *good = make_image(state, &size), *bad = malloc(size), *before = malloc(size);
    assert_true(bad != NULL && before != NULL);
    print_message("RTUNE_TEST_SEED=%llu\n", (unsigned long long)rng.seed);
    for (int round = 0; round < ROUNDS; round++) {
        struct rtune_table table = {0};
        struct rtune_error err = {0};
        size_t skipped = 0;
        memcpy(bad, good, size);
        damage(&rng, bad, size);
        memcpy(before, bad, size);
        enum rtune_status status = rtune_store_read_image(bad, size, &table, &skipped, &err);
        assert_memory_equal(bad, before, size);
        if (status == RTUNE_OK) {
            check_table(&table);
            tables++;
        } else if (status != RTUNE_STORE_DAMAGED && status != RTUNE_STORE_FOREIGN &&
                   status != RTUNE_STORE_NEWER) {
            fail_msg("round %d: %s: %s", round, rtune_status_name(status), err.message);
        }
        rtune_table_free(&table);
    }
    print_message("%zu of %d could be read\n", tables, ROUNDS);
    assert_in_range(tables, ROUNDS / 100, ROUNDS - ROUNDS / 100);
    free(before);
    free(bad);
    free(good);
}

/* Every length but the right one. */
static void every_length(void **state) {
    size_t size;
    unsigned char *good = make_image(state, &size);
    for (size_t length = 0; length < size; length += length < 600 ? 1 : 509) {
        unsigned char *part = malloc(length + 1); /* of its own, so that reading past it is seen */
        struct rtune_table table = {0};
        assert_non_null(part);
        memcpy(part, good, length);
        assert_int_equal(rtune_store_read_image(part, length, &table, NULL, NULL),
                         RTUNE_STORE_DAMAGED);
        free(part);
    }
    free(good);
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {SCRATCH(random_damage), SCRATCH(every_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
