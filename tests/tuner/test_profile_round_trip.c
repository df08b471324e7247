/* SPDX-License-Identifier: Apache-2.0 */
/* Random tables come back whole and print the same bytes; broken profiles are refused without harm.
 * RTUNE_TEST_SEED repeats a run. */
#include "base/clock.h"
#include "base/num.h"
#include "base/parse.h"
#include "base/rng.h"
#include "comma_locale.h"
#include "profile_fixture.h"
#include "tuner/profile.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rtune_rng rng;

static uint64_t below(uint64_t bound) { return rtune_rng_below(&rng, bound); }

static const char *const NAMES[] = {
    "0x10",
    "008",
    "a: b",
    "# c",
    "- d",
    " lead",
    "trail ",
    "new\nline",
    "qu\"ote",
    "NULL",
    "true",
    "~",
    "",
    "tab\t",
    "\x01\x1b[31m",
    "back\\slash",
    "va:l",
    "caf\xc3\xa9",
    "\xf0\x9f\x98\x80",
    "\xe2\x80\xa8",
    "{a: b}",
    "[x]",
    "%YAML 9.9",
    "---",
    "&a *b !c",
    "1,5",
};

static void random_text(char *text, size_t size) {
    if (below(3) > 0) {
        snprintf(text, size, "%s", NAMES[below(RTUNE_ARRAY_SIZE(NAMES))]);
        return;
    }
    size_t length = below(size);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(1 + below(127));
    text[length] = '\0';
}

static void random_device(struct rtune_identity *d, uint32_t k) {
    memset(d, 0, sizeof(*d));
    d->cuda = below(2) != 0;
    d->cc_major = (int)below(13);
    d->cc_minor = (int)below(10);
    d->sm_count = k; /* unique */
    d->cores = k;
    d->l2_bytes = below(UINT64_C(1) << 40);
    d->mig = below(2) != 0;
    snprintf(d->isa, sizeof(d->isa), "avx2");
    snprintf(d->model, sizeof(d->model), "CPU \"%" PRIu32 "\": # \\", k);
    random_text(d->name, sizeof(d->name));
    random_text(d->driver, sizeof(d->driver));
    d->memory_bytes = below(INT64_MAX);
    d->power_mw = (uint32_t)below(UINT32_MAX);
    d->ecc = below(2) != 0;
}

static double random_time(void) {
    uint64_t bits = below(1000000000);
    return (double)bits / (double)(1 + below(1000));
}

static struct rtune_config random_config(const struct rtune_problem *problem, bool cuda) {
    static const char *const grids[] = {"1", "2", "16", "1xsm", "8xsm", "cover", "4096"};
    for (;;) {
        struct rtune_config c = rtune_config_default(problem, cuda);
        c.block = cuda ? 32u << below(6) : 1;
        c.items = (16u << below(5)) / (uint32_t)rtune_dtype_size(problem->dtype);
        assert_int_equal(rtune_grid_parse(grids[below(RTUNE_ARRAY_SIZE(grids))], &c.grid, NULL),
                         RTUNE_OK);
        c.load = (enum rtune_load)below(RTUNE_LOAD_COUNT);
        c.finish = (enum rtune_finish)below(RTUNE_FINISH_COUNT);
        c.map = (enum rtune_map)below(RTUNE_MAP_COUNT);
        c.occupancy = (uint32_t)below(4);
        c.variant = below(4) ? RTUNE_CASCADED : RTUNE_BULK;
        c.extra = c.variant == RTUNE_BULK || c.finish == RTUNE_FINISH_CLUSTER ? 1u << below(4) : 0;
        if (rtune_instance_check(problem, &c, NULL) == RTUNE_OK) return c;
    }
}

static void random_hash(char hash[RTUNE_DIGEST_HEX]) {
    uint64_t word = below(3);
    rtune_digest_hex(&word, sizeof(word), hash);
    if (word == 0) hash[0] = '\0';
}

/* Rows of one problem, with intervals that follow each other. */
static size_t random_rows(struct rtune_winner *w, const struct rtune_problem *kind, uint32_t device,
                          bool cuda) {
    size_t count = 1 + below(4);
    uint64_t from = below(3);
    for (size_t i = 0; i < count; i++, w++) {
        memset(w, 0, sizeof(*w));
        w->problem = *kind;
        w->n_from = from;
        w->problem.n = rtune_max_u64(from, 1) + below(1000);
        w->n_to = w->problem.n + below(1000);
        if (i + 1 == count && below(2) != 0) w->n_to = UINT64_MAX;
        from = w->n_to + 1 + below(2);
        w->config = random_config(kind, cuda);
        w->us = random_time();
        w->us_lo = w->us * (1 - (double)below(100) / 1000);
        w->us_hi = w->us * (1 + (double)below(100) / 1000);
        w->default_us = random_time();
        w->floor_us = random_time();
        w->kernel_abi = RTUNE_KERNEL_ABI;
        random_hash(w->source_hash);
        random_text(w->driver, sizeof(w->driver));
        w->device = device;
    }
    return count;
}

static void random_table(struct rtune_table *table) {
    struct rtune_problem kind;
    table->device_count = below(4);
    table->devices = calloc(4, sizeof(table->devices[0]));
    table->winners = calloc(4 * 4 * 300, sizeof(table->winners[0]));
    table->winner_count = 0;
    assert_true(table->devices != NULL && table->winners != NULL);
    for (uint32_t d = 0; d < table->device_count; d++) {
        random_device(&table->devices[d], d + 1);
        for (size_t k = 0; k < 300 && rtune_problem_at(k, &kind); k++) {
            if (below(4) != 0) continue;
            kind.cache = (enum rtune_cache)below(RTUNE_CACHE_COUNT);
            table->winner_count +=
                random_rows(&table->winners[table->winner_count], &kind, d, table->devices[d].cuda);
        }
    }
}

/* Field by field, since a struct has padding. */
static void check_same(const struct rtune_table *a, const struct rtune_table *b) {
    assert_int_equal(a->device_count, b->device_count);
    assert_int_equal(a->winner_count, b->winner_count);
    for (size_t i = 0; i < a->winner_count; i++) {
        const struct rtune_winner *x = &a->winners[i], *y = NULL;
        const struct rtune_identity *dx = &a->devices[x->device], *dy = NULL;
        for (size_t k = 0; k < b->winner_count && y == NULL; k++) {
            dy = &b->devices[b->winners[k].device];
            if (rtune_identity_equal(dx, dy) &&
                rtune_problem_compare(&x->problem, &b->winners[k].problem) == 0)
                y = &b->winners[k];
        }
        assert_non_null(y);
        assert_string_equal(dx->name, dy->name);
        assert_string_equal(dx->driver, dy->driver);
        assert_true(dx->memory_bytes == dy->memory_bytes && dx->power_mw == dy->power_mw);
        assert_int_equal(dx->ecc, dy->ecc);
        assert_true(x->n_from == y->n_from && x->n_to == y->n_to);
        assert_true(rtune_config_equal(&x->config, &y->config));
        assert_true(x->us == y->us && x->us_lo == y->us_lo && x->us_hi == y->us_hi);
        assert_true(x->default_us == y->default_us && x->floor_us == y->floor_us);
        assert_string_equal(x->source_hash, y->source_hash);
        assert_string_equal(x->driver, y->driver);
    }
}

static void print(const struct rtune_table *table, struct rtune_buf *out) {
    struct rtune_error err = {0};
    rtune_buf_init(out, 1 << 20);
    if (rtune_profile_print(table, NULL, out, &err) != RTUNE_OK) fail_msg("%s", err.message);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int round = 0; round < 40; round++) {
        struct rtune_table table, again;
        struct rtune_buf first, second;
        random_table(&table);
        print(&table, &first);
        assert_int_equal(rtune_profile_parse(first.data, first.size, "p", &again, NULL), RTUNE_OK);
        check_same(&table, &again);
        print(&again, &second);
        assert_string_equal(first.data, second.data);
        rtune_buf_free(&second);
        rtune_buf_free(&first);
        free(again.devices);
        free(again.winners);
        free(table.devices);
        free(table.winners);
    }
}

static void test_names(void **state) {
    (void)state;
    for (size_t i = 0; i <= RTUNE_ARRAY_SIZE(NAMES); i++) {
        struct rtune_identity d = {.cuda = true, .cc_major = 9};
        struct rtune_table table = {&d, 1, NULL, 0}, again;
        struct rtune_buf text;
        memset(d.name, 'x', sizeof(d.name) - 1); /* the longest name */
        if (i < RTUNE_ARRAY_SIZE(NAMES)) snprintf(d.name, sizeof(d.name), "%s", NAMES[i]);
        print(&table, &text);
        assert_int_equal(rtune_profile_parse(text.data, text.size, "p", &again, NULL), RTUNE_OK);
        assert_string_equal(again.devices[0].name, d.name);
        rtune_buf_free(&text);
        free(again.devices);
        free(again.winners);
    }
}

static void test_locale(void **state) {
    (void)state;
    struct rtune_table table, again;
    struct rtune_buf plain, comma;
    random_table(&table);
    print(&table, &plain);
    if (comma_locale_set()) {
        print(&table, &comma);
        assert_string_equal(plain.data, comma.data);
        assert_int_equal(rtune_profile_parse(plain.data, plain.size, "p", &again, NULL), RTUNE_OK);
        check_same(&table, &again);
        free(again.devices);
        free(again.winners);
        rtune_buf_free(&comma);
        comma_locale_reset();
    }
    rtune_buf_free(&plain);
    free(table.devices);
    free(table.winners);
}

/* A damaged text is either refused with a place or still a profile that prints and reads. */
static void check_damaged(const char *text, size_t size) {
    struct rtune_table table = {0};
    struct rtune_error err = {0};
    struct rtune_buf again;
    enum rtune_status status = rtune_profile_parse(text, size, "p", &table, &err);
    if (status != RTUNE_OK) {
        assert_int_equal(err.status, status);
        assert_string_equal(err.file, "p");
        assert_true(err.line > 0 && err.column > 0 && err.message[0] != '\0');
        assert_null(table.devices);
        return;
    }
    print(&table, &again);
    rtune_buf_free(&again);
    free(table.devices);
    free(table.winners);
}

static void test_damaged(void **state) {
    (void)state;
    static const char bytes[] = "\"'{}[]:,&*!#-|>%@\\\n\t 09a~\xff\xc3.";
    size_t size = strlen(PROFILE);
    for (size_t cut = 0; cut < size; cut += 1 + below(3))
        check_damaged(PROFILE, cut);
    char *text = malloc(size + 1);
    assert_non_null(text);
    for (int round = 0; round < 3000; round++) {
        memcpy(text, PROFILE, size + 1);
        for (uint64_t k = 1 + below(3); k > 0; k--)
            text[below(size)] = bytes[below(sizeof(bytes) - 1)];
        check_damaged(text, size);
    }
    free(text);
}

int main(void) {
    const char *text = getenv("RTUNE_TEST_SEED");
    uint64_t seed = rtune_clock_ns();
    if (text != NULL && rtune_parse_u64(text, 0, UINT64_MAX, &seed, NULL) != RTUNE_OK) return 2;
    printf("RTUNE_TEST_SEED=%" PRIu64 "\n", seed);
    rng = (struct rtune_rng){seed, 0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
