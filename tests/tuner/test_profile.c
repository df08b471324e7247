/* SPDX-License-Identifier: Apache-2.0 */
/* A profile becomes a table and the same bytes again; whatever is wrong with one is refused whole.
 */
#include "base/num.h"
#include "profile_fixture.h"
#include "tuner/profile.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_table(void **state) {
    (void)state;
    struct rtune_table table;
    struct rtune_error err = {0};
    if (rtune_profile_parse(PROFILE, strlen(PROFILE), "p.yaml", &table, &err) != RTUNE_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.message);
    assert_int_equal(table.device_count, 2);
    assert_int_equal(table.winner_count, 4);
    assert_false(table.devices[0].cuda);
    assert_int_equal(table.devices[0].cores, 8);
    assert_true(table.devices[1].cuda);
    assert_int_equal(table.devices[1].sm_count, 132);
    assert_string_equal(table.devices[1].name, "NVIDIA H200");
    assert_string_equal(table.devices[1].uuid, "");
    assert_int_equal(table.devices[1].memory_bytes, 150000000000);
    assert_int_equal(table.devices[1].power_mw, 700000);
    assert_true(table.devices[1].ecc);
    const struct rtune_winner *w = &table.winners[3];
    assert_int_equal(w->device, 1);
    assert_int_equal(w->problem.struct_size, sizeof(w->problem));
    assert_int_equal(w->problem.op, RTUNE_SUM);
    assert_int_equal(w->problem.dtype, RTUNE_F32);
    assert_int_equal(w->problem.n, 1048576);
    assert_int_equal(w->n_from, 4096);
    assert_int_equal(w->n_to, 9000000);
    assert_int_equal(w->config.block, 512);
    assert_int_equal(w->config.grid.kind, RTUNE_GRID_SM);
    assert_int_equal(w->config.grid.value, 2);
    assert_int_equal(w->config.load, RTUNE_LOAD_NOALLOCATE);
    assert_true(w->us == 0.1 + 0.2 && w->us_lo == 0.3 && w->us_hi == 6);
    assert_true(w->default_us == 6.25 && w->floor_us == 3.5);
    assert_int_equal(w->kernel_abi, RTUNE_KERNEL_ABI);
    assert_string_equal(w->driver, "other");
    assert_int_equal(strncmp(w->source_hash, "fedc", 4), 0);
    assert_string_equal(w->cubin, "");
    assert_int_equal(w->session, 0);
    assert_int_equal(table.winners[0].n_to, UINT64_MAX);
    assert_string_equal(table.winners[2].driver, "580.65.06");
    assert_int_equal(table.winners[1].problem.acc, RTUNE_NATIVE);
    free(table.devices);
    free(table.winners);
}

static void check_print(const struct rtune_table *table, const uint32_t *device,
                        const char *expected) {
    struct rtune_buf out;
    struct rtune_error err = {0};
    rtune_buf_init(&out, 1 << 20);
    if (rtune_profile_print(table, device, &out, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_string_equal(out.data, expected);
    rtune_buf_free(&out);
}

static void test_print(void **state) {
    (void)state;
    struct rtune_table table;
    assert_int_equal(rtune_profile_parse(PROFILE, strlen(PROFILE), "p", &table, NULL), RTUNE_OK);
    check_print(&table, NULL, PROFILE);
    /* Devices in another order in the table: the same bytes. */
    struct rtune_identity first = table.devices[0];
    table.devices[0] = table.devices[1];
    table.devices[1] = first;
    for (size_t i = 0; i < table.winner_count; i++)
        table.winners[i].device ^= 1;
    check_print(&table, NULL, PROFILE);
    /* One device: its entry alone. */
    const uint32_t cpu = 1;
    size_t end = (size_t)(strstr(PROFILE, "  - identity: \"v1|cuda") - PROFILE);
    char *alone = malloc(end + 1);
    assert_non_null(alone);
    memcpy(alone, PROFILE, end);
    alone[end] = '\0';
    check_print(&table, &cpu, alone);
    free(alone);
    free(table.devices);
    free(table.winners);
}

static void test_empty_tables(void **state) {
    (void)state;
    struct rtune_table empty = {0}, again;
    struct rtune_buf out;
    rtune_buf_init(&out, 1 << 20);
    assert_int_equal(rtune_profile_print(&empty, NULL, &out, NULL), RTUNE_OK);
    assert_int_equal(rtune_profile_parse(out.data, out.size, "p", &again, NULL), RTUNE_OK);
    assert_int_equal(again.device_count, 0);
    assert_int_equal(again.winner_count, 0);
    free(again.devices);
    free(again.winners);
    rtune_buf_free(&out);

    struct rtune_identity identity = {.cuda = true, .cc_major = 9, .name = "no rows"};
    struct rtune_table bare = {&identity, 1, NULL, 0};
    rtune_buf_init(&out, 1 << 20);
    assert_int_equal(rtune_profile_print(&bare, NULL, &out, NULL), RTUNE_OK);
    assert_int_equal(rtune_profile_parse(out.data, out.size, "p", &again, NULL), RTUNE_OK);
    assert_int_equal(again.device_count, 1);
    assert_string_equal(again.devices[0].name, "no rows");
    assert_int_equal(again.winner_count, 0);
    free(again.devices);
    free(again.winners);
    rtune_buf_free(&out);
}

/* Rows that no reader would take are not written. */
static void test_print_refused(void **state) {
    (void)state;
    struct rtune_table table;
    struct rtune_error err = {0};
    struct rtune_buf out;
    rtune_buf_init(&out, 1 << 20);
    assert_int_equal(rtune_profile_parse(PROFILE, strlen(PROFILE), "p", &table, NULL), RTUNE_OK);
    double us = table.winners[1].us;
    table.winners[1].us = -1;
    assert_int_equal(rtune_profile_print(&table, NULL, &out, &err), RTUNE_RANGE);
    assert_non_null(strstr(err.message, "these rows do not make a profile: us: \"-1\" is out of"));
    table.winners[1].us = us;
    table.winners[1].kernel_abi = RTUNE_KERNEL_ABI + 1;
    assert_int_equal(rtune_profile_print(&table, NULL, &out, &err), RTUNE_RANGE);
    assert_non_null(strstr(err.message, "kernel_abi"));
    table.winners[1].kernel_abi = RTUNE_KERNEL_ABI;
    table.winners[3].n_from = 4095;
    assert_int_equal(rtune_profile_print(&table, NULL, &out, &err), RTUNE_SYNTAX);
    assert_non_null(strstr(err.message, "overlap"));
    assert_int_equal(out.size, 0);
    table.winners[3].n_from = 4096;
    struct rtune_buf small;
    rtune_buf_init(&small, 100);
    assert_int_equal(rtune_profile_print(&table, NULL, &small, &err), RTUNE_RANGE);
    rtune_buf_free(&small);
    rtune_buf_free(&out);
    free(table.devices);
    free(table.winners);
}

static void check_refused(const char *text, int line, const char *words) {
    struct rtune_table table = {NULL, 77, NULL, 88};
    struct rtune_error err = {0};
    enum rtune_status status = rtune_profile_parse(text, strlen(text), "p.yaml", &table, &err);
    if (status == RTUNE_OK) fail_msg("passed, instead of: %s", words);
    assert_int_equal(err.status, status);
    if (strstr(err.message, words) == NULL || err.line != line || err.column < 1)
        fail_msg("wanted %d: %s; got %d:%d: %s", line, words, err.line, err.column, err.message);
    assert_string_equal(err.file, "p.yaml");
    assert_null(table.devices); /* nothing is handed out */
    assert_int_equal(table.device_count, 77);
    assert_null(table.winners);
    assert_int_equal(table.winner_count, 88);
    assert_int_equal(rtune_profile_parse(text, strlen(text), "p.yaml", &table, NULL), status);
}

struct change {
    const char *from, *to;
    const char *words;
    int shift; /* lines from that of the change to that of the message */
};

static void check_changes(const struct change *changes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *text = profile_with(changes[i].from, changes[i].to);
        check_refused(text, line_of(PROFILE, changes[i].from, 0) + changes[i].shift,
                      changes[i].words);
        free(text);
    }
}

static void test_document_refused(void **state) {
    (void)state;
    static const char *const empty[] = {"", "\n", "# x", "# a\n# b\n"};
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(empty); i++)
        check_refused(empty[i], 1, "no profile found");
    check_refused("---\n...\n", 2, "no profile found");
    check_refused("null", 1, "no profile found");
    check_refused("text", 1, "no profile found");
    check_refused("- a\n", 1, "no profile found");
    check_refused("devices: []\n", 1, "key \"rtune_profile\" is missing");
    check_refused("rtune_profile: 1\n", 1, "key \"devices\" is missing");
    check_refused("rtune_profile: 1\ndevices: []\n---\na: b\n", 3, "one document expected");
    check_refused("rtune_profile: 1\ndevices: []\ndevices: []\n", 3,
                  "key \"devices\" is given twice: on line 2 and on line 3");
    check_refused("rtune_profile: 1\ndevices: {}\n", 2, "devices: expected a list, not a mapping");
    check_refused("rtune_space: 1\ncuda: {}\n", 1,
                  "unknown key \"rtune_space\" (expected one of rtune_profile, devices)");
    static const struct change changes[] = {
        {"rtune_profile: 1", "rtune_profile: 2", "format 2 is not known (this program reads 1)", 0},
        {"rtune_profile: 1", "rtune_profile: \"1\"", "expected a whole number", 0},
        {"rtune_profile: 1", "rtune_profile: 01", "without leading zeros", 0},
        {"rtune_profile: 1", "rtune_profile: 4294967297", "out of range", 0},
    };
    check_changes(changes, RTUNE_ARRAY_SIZE(changes));
}

static void test_device_refused(void **state) {
    (void)state;
    char *name = malloc(400);
    assert_non_null(name);
    strcpy(name, "name: \"");
    memset(name + 7, 'x', 300);
    strcpy(name + 307, "\"");
    const struct change changes[] = {
        {"identity: \"v1|cpu", "identity: \"v2|cpu", "device identity", 0},
        {"identity: \"v1|cpu", "identity: 7 # \"v1|cpu", "device identity", 0},
        {"cores=8", "cores=08", "device identity", 0},
        {"cores=8", "cores=4294967552", "device identity", 0},
        {"    name: \"NVIDIA H200\"", "    label: \"x\"", "unknown key \"label\"", 0},
        {"name: \"NVIDIA H200\"", name, "name: text of 300 bytes is too long (at most 255)", 0},
        {"name: \"NVIDIA H200\"", "name: NULL", "name: expected text, not null", 0},
        {"ecc: true", "ecc: yes", "expected true or false", 0},
        {"ecc: true", "ecc: \"true\"", "expected true or false", 0},
        {"power_mw: 700000", "power_mw: 4294967296", "out of range", 0},
        {"memory_bytes: 150000000000", "memory_bytes: -1", "expected decimal digits", 0},
        {"memory_bytes: 150000000000", "memory_bytes: 1.5e11", "expected decimal digits", 0},
    };
    check_changes(changes, RTUNE_ARRAY_SIZE(changes));
    /* The same identity twice, with rows that fit it: the twin's entry is of the cpu. */
    char *half = profile_with("\n  - identity: \"v1|cuda", "\n#CUT");
    char *end = strstr(half, "\n#CUT");
    *end = '\0';
    size_t size = strlen(half);
    const char *entry = strstr(half, "  - identity");
    char *twice = malloc(2 * size + 2);
    assert_non_null(twice);
    strcpy(twice, half);
    strcat(twice, "\n");
    strcat(twice, entry);
    check_refused(twice, line_of(twice, "identity", 1),
                  "a device is given twice: on line 5 and on line 24");
    free(twice);
    free(half);
    free(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_empty_tables),
        cmocka_unit_test(test_print_refused),
        cmocka_unit_test(test_document_refused),
        cmocka_unit_test(test_device_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
