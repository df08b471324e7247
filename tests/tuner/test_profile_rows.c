/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a problem or a row of a profile is refused, with its line, and nothing is
 * taken. */
#include "base/num.h"
#include "profile_fixture.h"
#include "tuner/profile.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_refused(const char *text, int line, const char *words) {
    struct rtune_table table = {0};
    struct rtune_error err = {0};
    if (rtune_profile_parse(text, strlen(text), "p.yaml", &table, &err) == RTUNE_OK)
        fail_msg("passed, instead of: %s", words);
    if (strstr(err.message, words) == NULL || err.line != line || err.column < 1)
        fail_msg("wanted %d: %s; got %d:%d: %s", line, words, err.line, err.column, err.message);
    assert_null(table.devices);
    assert_null(table.winners);
}

struct change {
    const char *from, *to;
    const char *words;
};

/* The message is on the line of the change. */
static void check_changes(const struct change *changes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *text = profile_with(changes[i].from, changes[i].to);
        check_refused(text, line_of(PROFILE, changes[i].from, 0), changes[i].words);
        free(text);
    }
}

static void test_problem(void **state) {
    (void)state;
    static const struct change changes[] = {
        {"op: max", "op: mux", "op: \"mux\" is not known (use one of"},
        {"op: max", "op: [max]", "op: expected a name, not a list"},
        {"dtype: f64", "dtype: f99", "dtype: \"f99\" is not known"},
        {"acc: wide", "acc: wider", "\"wider\" is not known"},
        {"mode: plain", "mode: plane", "\"plane\" is not known"},
        {"nan: ignore", "nan: maybe", "\"maybe\" is not known"},
        {"cache: warm", "cache: hot", "\"hot\" is not known"},
        {"flags: []", "flags: [fast]", "flags: \"fast\" is not known"},
        {"flags: []", "flags: [accumulate, accumulate]", "given twice"},
        {"flags: []", "flags: accumulate", "flags: expected a list, not \"accumulate\""},
        {"kernel_abi: 1", "kernel_abi: 2", "written for kernel abi 2, and this program has 1"},
        {"kernel_abi: 1", "kernel_abi: 4294967297", "out of range"},
        {"source_hash: \"0123", "source_hash: \"X123", "expected 64 lower-case hexadecimal digits"},
        {"source_hash: \"0123", "source_hash: \"123", "expected 64 lower-case hexadecimal digits"},
        {"source_hash: \"0123", "source_hash: \"00123", "text of 65 bytes is too long"},
        {"        driver: \"\"\n        rows", "        drive: \"\"\n        rows",
         "unknown key \"drive\" (expected one of op, dtype, acc,"},
    };
    check_changes(changes, RTUNE_ARRAY_SIZE(changes));
    char *text = profile_with("        cache: warm\n", "");
    check_refused(text, line_of(PROFILE, "op: max", 0), "key \"cache\" is missing");
    free(text);
    text = profile_with("        cache: warm\n", "        cache: warm\n        cache: cold\n");
    check_refused(text, 18, "key \"cache\" is given twice: on line 17 and on line 18");
    free(text);
    text = profile_with("mode: plain", "mode: kahan"); /* no kernel has it for max */
    check_refused(text, line_of(PROFILE, "op: max", 0), "kahan");
    free(text);
}

static void test_row(void **state) {
    (void)state;
    static const struct change changes[] = {
        {"n: 1000,", "n: 0,", "n: \"0\" is out of range"},
        {"n: 1000,", "n: -1,", "expected decimal digits alone"},
        {"n: 1000,", "n: 1e3,", "expected decimal digits alone"},
        {"n: 1000,", "n: \"1000\",", "expected a whole number, not the quoted text"},
        {"n: 1000,", "n: 18446744073709551616,", "out of range"},
        {"n: 1000,", "n: 1000, n: 1000,", "key \"n\" is given twice: on line 23 and on line 23"},
        {"n: 1000,", "size: 1000,", "unknown key \"size\" (expected one of n, from, to, config,"},
        {"n: 1000, ", "", "key \"n\" is missing"},
        {"from: 1, to: 4095", "from: 1025, to: 4095", "n: 1024 is not in its interval from 1025"},
        {"from: 1, to: 4095", "from: 1, to: 1023", "n: 1024 is not in its interval"},
        {"us: 12.5", "us: 12.125", "us: the time is not between us_lo and us_hi"},
        {"us: 12.5", "us: nan", "us: \"nan\" is not a number"},
        {"us: 12.5", "us: -1", "us: \"-1\" is out of range"},
        {"us_hi: 13", "us_hi: 1e13", "us_hi: \"1e13\" is out of range"},
        {"us: 12.5", "us: 12,5", "expected"},
        {"block=256", "block=257", "config: block: 257 is not allowed"},
        {"block=256", "block=4294967552", "config: block: \"4294967552\" is out of range"},
        {"block=256", "block=0x100", "config: block: \"0x100\" is not a whole number"},
        {"block=256,", "", "config: every axis must be given, in order: expected \"block="},
        {"block=256,items=4", "items=4,block=256", "config: every axis must be given, in order"},
        {"block=256,", "block=256,block=256,", "given twice"},
        {"block=256,", "block=256,speed=9,", "\"speed\" is not known"},
        {"items=4,", "items=5,", "config: items: 5 is not allowed for f32"},
        {"grid=1,", "grid=2,", "not allowed with finish=one"},
        {"block=1,", "block=64,", "block=64 is not for cpu devices"},
        {"block=256,items=4,grid=1,", "block=1,items=16,grid=1,",
         "block=1 is not for cuda devices"},
        {"driver: \"other\"", "driver: [other]", "driver: expected text, not a list"},
        {"source_hash: \"fedc", "source_hash: \"FEDC", "expected 64 lower-case hexadecimal"},
        {"config: \"block=256", "config: &x \"block=256", "anchors (&name) are not allowed"},
        {"config: \"block=256", "config: !!str \"block=256", "tags (!name) are not allowed"},
        {"us_lo: 3.25", "us_lo:\t3.25", "a tab (use spaces"},
    };
    check_changes(changes, RTUNE_ARRAY_SIZE(changes));
}

static void test_rows_clash(void **state) {
    (void)state;
    char *text = profile_with("n: 1048576, from: 4096, to: 9000000", "n: 1024, from: 4096, to: 5");
    check_refused(text, line_of(text, "to: 5,", 0), "n: 1024 is not in its interval");
    free(text);
    int first = line_of(PROFILE, "n: 1024,", 0), second = line_of(PROFILE, "n: 1048576,", 0);
    char words[128];
    text = profile_with("n: 1048576, from: 4096", "n: 1024, from: 1");
    snprintf(words, sizeof(words), "n: 1024 is given twice: on line %d and on line %d", first,
             second);
    check_refused(text, second, words);
    free(text);
    text = profile_with("n: 1048576, from: 4096", "n: 1048576, from: 4095");
    snprintf(words, sizeof(words), "the intervals of line %d and line %d overlap", first, second);
    check_refused(text, second, words);
    free(text);
    text = profile_with("n: 1024, from: 1, to: 4095", "n: 20000000, from: 9000000, to: 20000000");
    check_refused(text, second, words); /* rows out of order are still compared */
    free(text);
    text = profile_with("n: 1024, from: 1, to: 4095", "n: 20000000, from: 9000001, to: 20000000");
    struct rtune_table table;
    assert_int_equal(rtune_profile_parse(text, strlen(text), "p", &table, NULL), RTUNE_OK);
    assert_int_equal(table.winners[2].problem.n, 1048576); /* and come out sorted */
    assert_int_equal(table.winners[3].problem.n, 20000000);
    free(table.devices);
    free(table.winners);
    free(text);
}

static void test_problems_clash(void **state) {
    (void)state;
    char *text = profile_with("dtype: i32\n        acc: native\n        mode: plain\n        nan: "
                              "propagate\n        cache: dirty",
                              "dtype: f32\n        acc: wide\n        mode: plain\n        nan: "
                              "propagate\n        cache: cold");
    char words[128];
    int first = line_of(text, "op: sum", 0), second = line_of(text, "op: sum", 1);
    snprintf(words, sizeof(words), "a problem is given twice: on line %d and on line %d", first,
             second);
    check_refused(text, second, words);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problem),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_rows_clash),
        cmocka_unit_test(test_problems_clash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
