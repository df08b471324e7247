/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/profile_print.c: writing a profile. What is written is read back before it is handed out.
 */
#include "base/num.h"
#include "base/parse.h"
#include "tuner/profile_int.h"

#include <inttypes.h>
#include <stdio.h>
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

/* A profile that would be too large has the configs of a device in one list, each with a label that
 * does not change when others come or go, and a row is a sequence. */
struct label {
    char text[24];
    struct rtune_config config;
};

/* How the rows of a device are written; labels NULL: one by one, by name. */
struct style {
    struct label *labels;
    size_t count;
};

static int compare_labels(const void *a, const void *b) {
    const struct label *x = a, *y = b;
    return rtune_config_compare(&x->config, &y->config, true);
}

static const struct label *label_of(const struct style *style, const struct rtune_config *config) {
    struct label key = {.config = *config};
    return bsearch(&key, style->labels, style->count, sizeof(key), compare_labels);
}

/* Labels are as short as they may be and still differ. */
static void name_labels(struct style *style) {
    bool differ = false;
    for (int digits = 3; digits <= 16 && !differ; digits++) {
        differ = true;
        for (size_t i = 0; i < style->count; i++) {
            struct label *l = &style->labels[i];
            unsigned long long hash = rtune_config_hash(&l->config, true);
            snprintf(l->text, sizeof(l->text), "c%0*llx", digits, hash >> (64 - 4 * digits));
            for (size_t k = 0; k < i && differ; k++)
                differ = strcmp(style->labels[k].text, l->text) != 0;
        }
    }
}

/* Every config of the winners, once, sorted. labels has room for all of them. */
static void make_style(struct style *style, const struct rtune_winner *const *order, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        style->labels[i].config = order[i]->config;
    if (count > 1) qsort(style->labels, count, sizeof(style->labels[0]), compare_labels);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_labels(&style->labels[kept - 1], &style->labels[i]) != 0)
            style->labels[kept++] = style->labels[i];
    style->count = kept;
    name_labels(style);
}

static void put_labels(struct rtune_buf *out, const struct style *style) {
    char config[256];
    rtune_buf_puts(out, "    configs:\n");
    for (size_t i = 0; i < style->count; i++) {
        rtune_config_print(&style->labels[i].config, config, sizeof(config));
        rtune_buf_printf(out, "      - [%s, ", style->labels[i].text);
        rtune_yaml_quote(out, config);
        rtune_buf_puts(out, "]\n");
    }
}

static void put_times(struct rtune_buf *out, const double *us, size_t count) {
    for (size_t k = 0; k < count; k++) {
        char text[40];
        rtune_print_double(us[k], text, sizeof(text));
        rtune_buf_printf(out, ", %s", text);
    }
}

/* [n, from, to, label, us, us_lo, us_hi, default_us, floor_us], and source hash and driver where
 * they are not those of the first row. */
static void put_short_row(struct rtune_buf *out, const struct rtune_winner *w,
                          const struct rtune_winner *first, const struct style *style) {
    const double us[] = {w->us, w->us_lo, w->us_hi, w->default_us, w->floor_us};
    const struct label *label = label_of(style, &w->config);
    rtune_buf_printf(out, "        - [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %s", w->problem.n,
                     w->n_from, w->n_to, label != NULL ? label->text : "?");
    put_times(out, us, RTUNE_ARRAY_SIZE(us));
    if (strcmp(w->source_hash, first->source_hash) != 0 || strcmp(w->driver, first->driver) != 0) {
        put_text(out, ", ", w->source_hash);
        put_text(out, ", ", w->driver);
    }
    rtune_buf_puts(out, "]\n");
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
    char flags[64];
    rtune_buf_printf(out, "      - op: %s\n        dtype: %s\n        acc: %s\n        mode: %s\n",
                     shown(rtune_op_name(p->op)), shown(rtune_dtype_name(p->dtype)),
                     shown(rtune_acc_name(p->acc)), shown(rtune_mode_name(p->mode)));
    rtune_buf_printf(out, "        nan: %s\n        cache: %s\n",
                     shown(rtune_nan_name(p->nan_rule)), shown(rtune_cache_name(p->cache)));
    rtune_names_list(RTUNE_NAMES_FLAG, p->flags, flags, sizeof flags);
    rtune_buf_printf(out, "        flags: [%s]\n        kernel_abi: %" PRIu32 "\n", flags,
                     w->kernel_abi);
    put_text(out, "        source_hash: ", w->source_hash);
    put_text(out, "\n        driver: ", w->driver);
    rtune_buf_puts(out, "\n        rows:\n");
}

/* UUID and PCI address say whose device it was, not what it is, and stay at home. */
static void put_device(struct rtune_buf *out, const struct rtune_identity *d, const char *key,
                       const struct style *style, size_t winners) {
    put_text(out, "  - identity: ", key);
    put_text(out, "\n    name: ", d->name);
    put_text(out, "\n    driver: ", d->driver);
    rtune_buf_printf(out, "\n    memory_bytes: %" PRIu64 "\n    power_mw: %" PRIu32,
                     d->memory_bytes, d->power_mw);
    rtune_buf_printf(out, "\n    ecc: %s\n", d->ecc ? "true" : "false");
    if (style->count > 0) put_labels(out, style);
    rtune_buf_printf(out, "    problems:%s\n", winners == 0 ? " []" : "");
}

/* order, and labels if they are wanted, have room for every winner of the table. */
static void put_winners(struct rtune_buf *out, const struct rtune_table *table,
                        const struct device_ref *ref, const struct rtune_winner **order,
                        struct label *labels) {
    struct style style = {labels, 0};
    const struct rtune_winner *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < table->winner_count; i++)
        if (table->winners[i].device == ref->index) order[count++] = &table->winners[i];
    if (count > 1) qsort(order, count, sizeof(order[0]), compare_winners);
    if (labels != NULL) make_style(&style, order, count);
    put_device(out, &table->devices[ref->index], ref->key, &style, count);
    for (size_t i = 0; i < count; i++) {
        if (first == NULL || !rtune_problem_same_kind(&first->problem, &order[i]->problem)) {
            first = order[i];
            put_problem(out, first);
        }
        if (labels != NULL)
            put_short_row(out, order[i], first, &style);
        else
            put_row(out, order[i], first);
    }
}

/* The devices of a table that are wanted, in order. */
struct wanted {
    const struct rtune_table *table;
    const struct device_ref *refs;
    size_t count;
};

static void put_all(struct rtune_buf *out, const struct wanted *w,
                    const struct rtune_winner **order, struct label *labels) {
    rtune_buf_printf(out, "%srtune_profile: %d\ndevices:%s\n", HEADER, RTUNE_PROFILE_VERSION,
                     w->count == 0 ? " []" : "");
    for (size_t i = 0; i < w->count; i++)
        put_winners(out, w->table, &w->refs[i], order, labels);
}

/* A profile that nobody can import is worse than an error now. */
static enum rtune_status check_readable(const struct rtune_buf *text, struct rtune_error *err) {
    struct rtune_table again = {0};
    enum rtune_status status = rtune_buf_status(text, err);
    if (status == RTUNE_RANGE)
        return rtune_err_set(err, status,
                             "these rows make a profile of over %d bytes, which cannot be "
                             "imported (export one device at a time)",
                             RTUNE_YAML_MAX);
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
    struct label *labels = NULL;
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
    const struct wanted wanted = {table, refs, count};
    put_all(&text, &wanted, order, NULL);
    if (rtune_buf_status(&text, NULL) != RTUNE_OK) {
        labels = calloc(table->winner_count + 1, sizeof(labels[0]));
        if (labels == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a profile"));
        rtune_buf_free(&text);
        rtune_buf_init(&text, RTUNE_YAML_MAX);
        put_all(&text, &wanted, order, labels);
    }
    TRY(check_readable(&text, err));
    rtune_buf_add(out, text.data, text.size);
    TRY(rtune_buf_status(out, err));
done:
    rtune_buf_free(&text);
    free(labels);
    free(order);
    free(refs);
    return status;
}
