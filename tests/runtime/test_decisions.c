/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fixed set of stores, a few hundred problems, and what is served for each, in decisions.csv. A
 * change of policy shows as a change of that file: RTUNE_BLESS=1 writes it anew. Rows give every
 * axis, and the built-in default is just called that, so that the file depends on the policy alone.
 */
#include "tests/runtime/toy.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#ifndef RTUNE_DECISIONS
#error "RTUNE_DECISIONS names decisions.csv"
#endif

/* A row with the axes that most rows here have, and those that config says. */
static struct rtune_winner *add(struct rows *rows, uint32_t device, enum rtune_op op,
                                enum rtune_dtype dtype, uint64_t n, const char *config) {
    struct rtune_winner *w = rows_add(
        rows, device, op, dtype, n, "load=noncoherent,finish=slots,map=strip,occupancy=0,items=8");
    assert_int_equal(rtune_config_parse(config, &w->config, NULL), RTUNE_OK);
    return w;
}

static void write_user(const char *path) {
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const struct rtune_identity h100 = toy_identity(9, 0, 114);
    const struct rtune_identity a100 = toy_identity(8, 0, 108);
    struct rtune_winner *w;
    uint32_t d = rows_device(&rows, &h200);
    add(&rows, d, RTUNE_SUM, RTUNE_F32, 256, "block=32,items=8,grid=1,finish=one")->n_to = 700;
    w = add(&rows, d, RTUNE_SUM, RTUNE_F32, 4096, "block=128,items=16,grid=2");
    w->n_from = 701;
    w->n_to = 20000;
    w = add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 20, "block=256,items=16,grid=1xsm");
    w->n_from = 20001;
    w->n_to = 3000000;
    w = add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 28,
            "block=512,items=32,grid=4xsm,load=noallocate,finish=last");
    w->n_from = 3000001;
    add(&rows, d, RTUNE_MIN, RTUNE_I32, 1 << 14, "block=256,items=16,grid=4");
    add(&rows, d, RTUNE_PROD, RTUNE_F64, 1 << 22, "block=256,items=8,grid=528");
    w = add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 20, "block=1024,items=16,grid=1xsm");
    w->problem.cache = RTUNE_WARM;
    d = rows_device(&rows, &h100);
    add(&rows, d, RTUNE_MAX, RTUNE_F64, 1 << 12, "block=128,items=4,grid=2xsm");
    add(&rows, d, RTUNE_MAX, RTUNE_F64, 1 << 20, "block=256,items=4,grid=2xsm");
    d = rows_device(&rows, &a100);
    add(&rows, d, RTUNE_MAX, RTUNE_I64, 1 << 12, "block=128,items=4,grid=2xsm");
    rows_write(&rows, path);
}

static void write_system(const char *path) {
    struct rows rows = {0};
    const struct rtune_identity h200 = toy_identity(9, 0, 132);
    const uint32_t d = rows_device(&rows, &h200);
    add(&rows, d, RTUNE_SUM, RTUNE_F32, 1 << 16, "block=64,items=16,grid=8");
    add(&rows, d, RTUNE_MIN, RTUNE_I32, 1 << 10, "block=64,items=8,grid=1");
    add(&rows, d, RTUNE_MIN, RTUNE_I32, 1 << 24, "block=512,items=16,grid=2xsm");
    memcpy(add(&rows, d, RTUNE_SUM, RTUNE_I64, 1 << 20, "block=512,items=8,grid=2xsm")->driver, "1",
           2);
    rows_write(&rows, path);
}

static void print_decision(const rtune *rt, const struct rtune_problem *p, struct rtune_buf *out) {
    const struct rtune_launch l = served(rt, p);
    char config[192];
    const struct rtune_config builtin = rtune_config_default(p, true);
    const bool is_default = rtune_config_equal(&l.config, &builtin);
    rtune_config_print(&l.config, config, sizeof config);
    for (char *c = config; *c; c++) {
        if (*c == ',') *c = ' ';
    }
    rtune_buf_printf(out, "%s,%s,%s,%s,%llu,%s,%u,%s,%s,%llu\n", rtune_op_name(p->op),
                     rtune_dtype_name(p->dtype), rtune_nan_name(p->nan_rule),
                     rtune_cache_name(p->cache), (unsigned long long)p->n,
                     rtune_source_name(l.source), is_default ? 0 : (unsigned)l.grid,
                     l.stale ? "stale" : "fresh", is_default ? "default" : config,
                     (unsigned long long)l.tuned_n);
}

static void print_all(const rtune *rt, struct rtune_buf *out) {
    static const struct {
        enum rtune_op op;
        enum rtune_dtype dtype;
        enum rtune_cache cache;
    } kinds[] = {
        {RTUNE_SUM, RTUNE_F32, RTUNE_COLD},  {RTUNE_SUM, RTUNE_F32, RTUNE_WARM},
        {RTUNE_SUM, RTUNE_F32, RTUNE_DIRTY}, {RTUNE_SUM, RTUNE_I64, RTUNE_COLD},
        {RTUNE_MIN, RTUNE_I32, RTUNE_COLD},  {RTUNE_PROD, RTUNE_F64, RTUNE_COLD},
        {RTUNE_MAX, RTUNE_F64, RTUNE_COLD},  {RTUNE_MAX, RTUNE_F64, RTUNE_WARM},
        {RTUNE_MAX, RTUNE_I64, RTUNE_COLD},  {RTUNE_PROD, RTUNE_F32, RTUNE_COLD},
    };
    static const uint64_t sizes[] = {
        0,       1,       255,     256,     257,           700,
        701,     1024,    1025,    4096,    16384,         20000,
        20001,   65535,   65536,   65537,   1 << 20,       (1 << 20) + 1,
        3000000, 3000001, 1 << 24, 1 << 28, (1 << 28) + 1, UINT64_C(1) << 33,
    };
    rtune_buf_puts(out, "op,dtype,nan,cache,n,source,blocks,age,config,tuned_n\n");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct rtune_problem p = RTUNE_PROBLEM(kinds[k].op, kinds[k].dtype, sizes[i]);
            p.cache = kinds[k].cache;
            print_decision(rt, &p, out);
        }
    }
}

/* The first line in which two texts differ, for the message. */
static void fail_at_difference(const char *golden, const char *now) {
    unsigned line = 1;
    while (*golden && *now) {
        const size_t a = strcspn(golden, "\n");
        const size_t b = strcspn(now, "\n");
        if (a != b || memcmp(golden, now, a) != 0) break;
        golden += a + (golden[a] == '\n');
        now += b + (now[b] == '\n');
        line++;
    }
    fail_msg("decisions.csv:%u: was %.*s, is %.*s (RTUNE_BLESS=1 accepts it)", line,
             (int)strcspn(golden, "\n"), golden, (int)strcspn(now, "\n"), now);
}

static void test_golden(void **state) {
    (void)state;
    struct rtune_buf now;
    struct rtune_buf golden;
    struct rtune_error err = {0};
    rtune_buf_init(&now, 1 << 20);
    write_user(scratch_path("user.db"));
    write_system(scratch_path("system.db"));
    use_stores(scratch_path("user.db"), scratch_path("system.db"));
    rtune *rt = toy_open(toy_new(NULL), NULL);
    print_all(rt, &now);
    rtune_close(rt);
    assert_int_equal(rtune_buf_status(&now, &err), RTUNE_OK);
    if (getenv("RTUNE_BLESS")) {
        assert_int_equal(rtune_file_write(RTUNE_DECISIONS, now.data, now.size, 0644, &err),
                         RTUNE_OK);
    }
    if (rtune_file_read(RTUNE_DECISIONS, 1 << 20, &golden, &err) != RTUNE_OK) {
        fail_msg("%s", err.message);
    }
    if (strcmp(golden.data, now.data) != 0) fail_at_difference(golden.data, now.data);
    rtune_buf_free(&golden);
    rtune_buf_free(&now);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
