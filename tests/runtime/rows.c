/* SPDX-License-Identifier: Apache-2.0 */
/* tests/runtime/rows.c: stores made of a few rows, scratch files, and checks of what is served. */
#include "tests/runtime/toy.h"
#include "tests/scratch_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char scratch[SCRATCH_FOLDER];

int scratch_make(void **state) {
    (void)state;
    if (scratch_folder_make(scratch, "runtime") != 0) return -1;
    clean_environment();
    return 0;
}

int scratch_remove(void **state) {
    (void)state;
    return scratch_folder_remove(scratch);
}

const char *scratch_path(const char *name) {
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static const char *stores[2];

void use_stores(const char *first, const char *second) {
    stores[0] = first;
    stores[1] = second;
}

size_t __wrap_rtune_store_paths(const char *option,
                                struct rtune_store_path paths[RTUNE_STORE_PATHS]);
size_t __wrap_rtune_store_paths(const char *option,
                                struct rtune_store_path paths[RTUNE_STORE_PATHS]) {
    size_t count = 0;
    if (option && strcmp(option, "none") == 0) return 0;
    for (size_t k = 0; k < 2; k++) {
        const char *path = stores[0] ? stores[k] : k == 0 ? option : NULL;
        if (!path) continue;
        paths[count].kind = RTUNE_STORE_OPTION;
        snprintf(paths[count++].path, sizeof paths[0].path, "%s", path);
    }
    return count;
}

void clean_environment(void) {
    use_stores(NULL, NULL);
    unsetenv("RTUNE_DB");
    unsetenv("RTUNE_OVERRIDE");
    setenv("HOME", scratch, 1);
    setenv("XDG_DATA_HOME", scratch_path("data"), 1);
}

uint32_t rows_device(struct rows *rows, const struct rtune_identity *identity) {
    struct rtune_table *t = &rows->table;
    t->devices = realloc(t->devices, (t->device_count + 1) * sizeof *t->devices);
    assert_non_null(t->devices);
    t->devices[t->device_count] = *identity;
    return (uint32_t)t->device_count++;
}

struct rtune_winner *rows_add(struct rows *rows, uint32_t device, enum rtune_op op,
                              enum rtune_dtype dtype, uint64_t n, const char *config) {
    struct rtune_table *t = &rows->table;
    t->winners = realloc(t->winners, (t->winner_count + 1) * sizeof *t->winners);
    assert_non_null(t->winners);
    struct rtune_winner *w = &t->winners[t->winner_count++];
    memset(w, 0, sizeof *w);
    w->problem = RTUNE_PROBLEM(op, dtype, n);
    w->n_from = w->n_to = n;
    w->config = rtune_config_default(&w->problem, t->devices[device].cuda);
    assert_int_equal(rtune_config_parse(config, &w->config, NULL), RTUNE_OK);
    w->us = w->us_lo = w->us_hi = 4.5;
    w->kernel_abi = RTUNE_KERNEL_ABI;
    memcpy(w->source_hash, rtune_device_sources_hash(), sizeof w->source_hash);
    memcpy(w->driver, t->devices[device].driver, sizeof w->driver);
    w->device = device;
    return w;
}

static int compare_winners(const void *pa, const void *pb) {
    const struct rtune_winner *a = pa;
    const struct rtune_winner *b = pb;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    return rtune_problem_compare(&a->problem, &b->problem);
}

void rows_write(struct rows *rows, const char *path) {
    struct rtune_error err = {0};
    if (rows->table.winner_count > 0) {
        qsort(rows->table.winners, rows->table.winner_count, sizeof *rows->table.winners,
              compare_winners);
    }
    if (rtune_store_write_image(path, &rows->table, &err) != RTUNE_OK) fail_msg("%s", err.message);
    rows_free(rows);
}

void rows_free(struct rows *rows) {
    free(rows->table.devices);
    free(rows->table.winners);
    *rows = (struct rows){0};
}

rtune *toy_open(struct toy *toy, const char *store) {
    struct rtune_error err = {0};
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    rtune *rt = NULL;
    opts.store = store;
    opts.log = toy->log.fn;
    opts.log_user = toy->log.user;
    if (rtune_open_on(&rt, &toy->base, &opts, &err) != RTUNE_OK) fail_msg("%s", err.message);
    return rt;
}

struct rtune_launch served(const rtune *rt, const struct rtune_problem *problem) {
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_error err = {0};
    if (rtune_lookup(rt, problem, &launch, &err) != RTUNE_OK) fail_msg("%s", err.message);
    assert_int_equal(launch.struct_size, sizeof launch);
    return launch;
}

void check_served(const rtune *rt, const struct rtune_problem *problem, enum rtune_source source,
                  const char *config, const char *words) {
    const struct rtune_launch launch = served(rt, problem);
    struct rtune_config expected = rtune_config_default(problem, rt->dev->cuda);
    char text[160];
    char got[192];
    rtune_problem_print(problem, text, sizeof text);
    rtune_config_print(&launch.config, got, sizeof got);
    if (launch.source != source) {
        fail_msg("%s: served from %s, not %s: %s", text, rtune_source_name(launch.source),
                 rtune_source_name(source), launch.reason);
    }
    if (*config) assert_int_equal(rtune_config_parse(config, &expected, NULL), RTUNE_OK);
    if (!rtune_config_equal(&expected, &launch.config)) {
        fail_msg("%s: served with %s, not the default with %s", text, got, config);
    }
    if (!strstr(launch.reason, words)) {
        fail_msg("%s: \"%s\" does not say \"%s\"", text, launch.reason, words);
    }
}
