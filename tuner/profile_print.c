/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/profile_print.c: writing a profile. What is written is read back before it is handed out.
 */
#include "base/parse.h"
#include "tuner/profile_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char HEADER[] =
    "# Launch parameters that reduce-tune measured; `reduce-tune import` reads them. Times are in\n"
    "# microseconds; each config is served for n from `from` to `to`.\n";

/* Devices in the order of their keys, so that equal tables give equal bytes. */
struct device_ref {
    char key[RTUNE_IDENTITY_KEY];
    uint32_t index;
};

static int compare_devices(const void *a, const void *b) {
    const struct device_ref *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static int compare_winners(const void *a, const void *b) {
    const struct rtune_winner *x = *(const struct rtune_winner *const *)a;
    const struct rtune_winner *y = *(const struct rtune_winner *const *)b;
    return rtune_problem_compare(&x->problem, &y->problem);
}

static void put_time(struct rtune_buf *out, const char *key, double us) {
    char text[40];
    rtune_print_double(us, text, sizeof(text));
    rtune_buf_printf(out, ", %s: %s", key, text);
}

static void put_text(struct rtune_buf *out, const char *lead, const char *text) {
    rtune_buf_puts(out, lead);
    rtune_yaml_quote(out, text);
}

/* One line. What the first row of the problem says once for all is repeated only where it differs.
 */
static void put_row(struct rtune_buf *out, const struct rtune_winner *w,
                    const struct rtune_winner *first) {
    char config[256];
    rtune_config_print(&w->config, config, sizeof(config));
    rtune_buf_printf(out, "          - {n: %" PRIu64 ", from: %" PRIu64 ", to: %" PRIu64,
                     w->problem.n, w->n_from, w->n_to);
    put_text(out, ", config: ", config);
    put_time(out, "us", w->us);
    put_time(out, "us_lo", w->us_lo);
    put_time(out, "us_hi", w->us_hi);
    put_time(out, "default_us", w->default_us);
    put_time(out, "floor_us", w->floor_us);
    if (strcmp(w->source_hash, first->source_hash) != 0)
        put_text(out, ", source_hash: ", w->source_hash);
    if (strcmp(w->driver, first->driver) != 0) put_text(out, ", driver: ", w->driver);
    rtune_buf_puts(out, "}\n");
}

static const char *shown(const char *name) { return name == NULL ? "?" : name; }

static void put_problem(struct rtune_buf *out, const struct rtune_winner *w) {
    const struct rtune_problem *p = &w->problem;
    bool accumulate = (p->flags & RTUNE_ACCUMULATE) != 0;
    bool loose = (p->flags & RTUNE_ALLOW_NONDETERMINISTIC) != 0;
    rtune_buf_printf(out, "      - op: %s\n        dtype: %s\n        acc: %s\n        mode: %s\n",
                     shown(rtune_op_name(p->op)), shown(rtune_dtype_name(p->dtype)),
                     shown(rtune_acc_name(p->acc)), shown(rtune_mode_name(p->mode)));
    rtune_buf_printf(out, "        nan: %s\n        cache: %s\n",
                     shown(rtune_nan_name(p->nan_rule)), shown(rtune_cache_name(p->cache)));
    rtune_buf_printf(out, "        flags: [%s%s%s]\n", accumulate ? "accumulate" : "",
                     accumulate && loose ? ", " : "", loose ? "nondeterministic" : "");
    rtune_buf_printf(out, "        kernel_abi: %" PRIu32 "\n", w->kernel_abi);
    put_text(out, "        source_hash: ", w->source_hash);
    put_text(out, "\n        driver: ", w->driver);
    rtune_buf_puts(out, "\n        rows:\n");
}

/* UUID and PCI address say whose device it was, not what it is, and stay at home. */
static void put_device(struct rtune_buf *out, const struct rtune_identity *d, const char *key,
                       size_t winners) {
    put_text(out, "  - identity: ", key);
    put_text(out, "\n    name: ", d->name);
    put_text(out, "\n    driver: ", d->driver);
    rtune_buf_printf(out, "\n    memory_bytes: %" PRIu64 "\n    power_mw: %" PRIu32,
                     d->memory_bytes, d->power_mw);
    rtune_buf_printf(out, "\n    ecc: %s\n    problems:%s\n", d->ecc ? "true" : "false",
                     winners == 0 ? " []" : "");
}

/* order has room for every winner of the table. */
static void put_winners(struct rtune_buf *out, const struct rtune_table *table,
                        const struct device_ref *ref, const struct rtune_winner **order) {
    const struct rtune_winner *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < table->winner_count; i++)
        if (table->winners[i].device == ref->index) order[count++] = &table->winners[i];
    if (count > 1) qsort(order, count, sizeof(order[0]), compare_winners);
    put_device(out, &table->devices[ref->index], ref->key, count);
    for (size_t i = 0; i < count; i++) {
        if (first == NULL || !rtune_problem_same_kind(&first->problem, &order[i]->problem)) {
            first = order[i];
            put_problem(out, first);
        }
        put_row(out, order[i], first);
    }
}

/* A profile that nobody can import is worse than an error now. */
static enum rtune_status check_readable(const struct rtune_buf *text, struct rtune_error *err) {
    struct rtune_table again = {0};
    enum rtune_status status = rtune_buf_status(text, err);
    if (status != RTUNE_OK) return status;
    status = rtune_profile_parse(text->data, text->size, "profile", &again, err);
    if (status != RTUNE_OK) {
        rtune_err_prefix(err, "these rows do not make a profile");
        return status;
    }
    free(again.devices);
    free(again.winners);
    return RTUNE_OK;
}

enum rtune_status rtune_profile_print(const struct rtune_table *table, const uint32_t *device,
                                      struct rtune_buf *out, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_buf text;
    size_t count = 0;
    rtune_buf_init(&text, RTUNE_YAML_MAX);
    struct device_ref *refs = calloc(table->device_count + 1, sizeof(refs[0]));
    const struct rtune_winner **order = calloc(table->winner_count + 1, sizeof(order[0]));
    if (refs == NULL || order == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a profile"));
    for (uint32_t i = 0; i < table->device_count; i++) {
        if (device != NULL && *device != i) continue;
        rtune_identity_key(&table->devices[i], refs[count].key);
        refs[count++].index = i;
    }
    qsort(refs, count, sizeof(refs[0]), compare_devices);
    rtune_buf_printf(&text, "%srtune_profile: %d\ndevices:%s\n", HEADER, RTUNE_PROFILE_VERSION,
                     count == 0 ? " []" : "");
    for (size_t i = 0; i < count; i++)
        put_winners(&text, table, &refs[i], order);
    TRY(check_readable(&text, err));
    rtune_buf_add(out, text.data, text.size);
    TRY(rtune_buf_status(out, err));
done:
    rtune_buf_free(&text);
    free(order);
    free(refs);
    return status;
}
