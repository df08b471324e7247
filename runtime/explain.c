/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/explain.c: the answer of rtune_lookup with everything that led to it. It takes each step
 * by the functions that lookup.c takes it by, so that it cannot tell another story.
 */
#include "runtime/lookup.h"

#include "base/buf.h"
#include "base/parse.h"

#include <stdio.h>
#include <string.h>

enum { EXPLAIN_MAX = 1 << 16, CONFIG_TEXT = 192 };

static const char *const match_names[] = {
    [RTUNE_MATCH_EXACT] = "exact",
    [RTUNE_MATCH_BETWEEN] = "between",
    [RTUNE_MATCH_CLAMPED] = "clamped",
    [RTUNE_MATCH_REFUSED] = "refused (its grid would not fill this device at n)",
};

static void explain_problem(const rtune *rt, const struct rtune_problem *asked,
                            const struct rtune_decision *d, struct rtune_buf *out) {
    char text[160];
    char canonical[160];
    rtune_problem_print(asked, text, sizeof text);
    rtune_problem_print(&d->problem, canonical, sizeof canonical);
    rtune_buf_printf(out, "problem:  %s\n", text);
    if (strcmp(text, canonical) != 0) rtune_buf_printf(out, "          served as %s\n", canonical);
    rtune_buf_printf(out, "device:   %s, %s\n", rt->dev->name, rt->identity);
    if (rt->override.count == 0) {
        rtune_buf_puts(out, "override: none\n");
    } else if (d->source == RTUNE_FROM_OVERRIDE) {
        rtune_buf_printf(out, "override: entry %u of %zu\n", (unsigned)d->override_entry,
                         rt->override.count);
    } else {
        rtune_buf_printf(out, "override: none of %zu entries selects this problem\n",
                         rt->override.count);
    }
}

static void explain_stores(const struct rtune_index *index, struct rtune_buf *out) {
    for (uint32_t k = 0; k < index->store_count; k++) {
        const struct rtune_store_info *store = &index->stores[k];
        rtune_buf_printf(out, "store %u:  %s: ", (unsigned)k + 1, store->path);
        if (store->status == RTUNE_OK) {
            rtune_buf_printf(out, "rows: %u\n", (unsigned)store->rows);
        } else {
            rtune_buf_printf(out, "skipped: %s\n", store->reason);
        }
    }
    if (index->store_count == 0) rtune_buf_puts(out, "stores:   none\n");
}

static void explain_runs(const rtune *rt, const struct rtune_index *index,
                         const struct rtune_problem *like, enum rtune_cache cache,
                         struct rtune_buf *out) {
    struct rtune_problem kind = *like;
    size_t count = 0;
    kind.cache = cache;
    const struct rtune_run *runs = rtune_index_find(index, &kind, &count);
    for (size_t i = 0; i < count; i++) {
        const struct rtune_run *run = &runs[i];
        const struct rtune_hit hit = rtune_run_match(run, kind.n, rt->dev->units);
        char config[CONFIG_TEXT];
        rtune_config_print(&hit.row->config, config, sizeof config);
        rtune_buf_printf(out, "rows:     store %u, %s, ", (unsigned)run->store + 1,
                         rtune_cache_name(cache));
        if (run->same) {
            rtune_buf_puts(out, "this device");
        } else {
            char distance[32];
            char key[RTUNE_IDENTITY_KEY];
            rtune_print_double(run->distance, distance, sizeof distance);
            rtune_identity_key(&index->devices[run->device], key);
            rtune_buf_printf(out, "similar device %s at distance %s", key, distance);
        }
        rtune_buf_printf(out, ": sizes: %u, %llu to %llu: %s, tuned at n=%llu: %s\n",
                         (unsigned)run->count, (unsigned long long)run->rows[0].n,
                         (unsigned long long)run->rows[run->count - 1].n, match_names[hit.match],
                         (unsigned long long)hit.row->n, config);
    }
    if (count == 0) rtune_buf_printf(out, "rows:     %s: none\n", rtune_cache_name(cache));
}

static void explain_rows(const rtune *rt, const struct rtune_index *index,
                         const struct rtune_decision *d, struct rtune_buf *out) {
    explain_runs(rt, index, &d->problem, d->problem.cache, out);
    if (d->problem.cache != RTUNE_COLD) explain_runs(rt, index, &d->problem, RTUNE_COLD, out);
    if (d->source == RTUNE_FROM_SIBLING) {
        char text[160];
        rtune_problem_print(&d->like, text, sizeof text);
        rtune_buf_printf(out, "sibling:  %s\n", text);
        explain_runs(rt, index, &d->like, d->like.cache, out);
    }
    if (d->unserved) rtune_buf_printf(out, "finish:   not served: %s\n", d->unserved);
}

/* What the bits of the result depend on, beside the input's address modulo 128, as one short name.
 */
static void tree_id(const struct rtune_decision *d, const struct rtune_launch *l,
                    char id[RTUNE_DIGEST_HEX]) {
    struct rtune_config config = l->config;
    char instance[RTUNE_INSTANCE_NAME];
    char text[RTUNE_INSTANCE_NAME + 64];
    config.load = RTUNE_LOAD_PLAIN; /* how data is loaded and how many blocks fit change no sum */
    config.occupancy = 0;
    rtune_instance_name(&d->problem, &config, instance);
    snprintf(text, sizeof text, "%s,%u,%llu", instance, (unsigned)l->grid,
             (unsigned long long)d->problem.n);
    rtune_digest_hex(text, strlen(text), id);
    id[12] = '\0';
}

static void explain_launch(const rtune *rt, const struct rtune_decision *d,
                           const struct rtune_launch *l, struct rtune_buf *out) {
    char text[CONFIG_TEXT];
    char id[RTUNE_DIGEST_HEX];
    rtune_config_print(&l->config, text, sizeof text);
    rtune_buf_printf(out, "served:   %s: %s\n", rtune_source_name(l->source), text);
    rtune_buf_printf(out, "reason:   %s\n", l->reason);
    if (rt->dev->cuda) {
        rtune_buf_printf(out, "launch:   %u blocks of %u threads", (unsigned)l->grid,
                         (unsigned)l->block);
    } else {
        rtune_buf_printf(out, "launch:   threads: %u", (unsigned)l->grid);
    }
    rtune_buf_printf(out, ", kernel %s%s\n",
                     l->kernel == RTUNE_KERNEL_NONE ? "not loaded yet"
                                                    : rtune_kernel_source_name(l->kernel),
                     l->fell_back ? " (fell back)" : "");
    if (l->predicted_us > 0) {
        rtune_print_double(l->predicted_us, text, sizeof text);
        rtune_buf_printf(out, "expected: %s us at n=%llu%s\n", text, (unsigned long long)l->tuned_n,
                         l->stale ? " (stale: tune again)" : "");
    }
    tree_id(d, l, id);
    rtune_buf_printf(
        out, "tree:     %s (same id, same bits, for one address of the input modulo 128)\n", id);
}

enum rtune_status rtune_explain(const rtune *rt, const struct rtune_problem *given, char *text,
                                size_t size, size_t *length, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_buf out;
    struct rtune_problem problem;
    struct rtune_decision d;
    struct rtune_launch launch;
    rtune_buf_init(&out, EXPLAIN_MAX);
    if (!rt || !given || (!text && size > 0)) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_explain: rt, problem or text is NULL"));
    }
    TRY(rtune_problem_read(given, &problem, err));
    const struct rtune_index *index = rtune_current_index(rt);
    rtune_decide(rt, index, &problem, &d);
    rtune_launch_fill(rt, &d, rtune_prepared_find(rt, index, &d.problem, &d.config), NULL, &launch);
    explain_problem(rt, &problem, &d, &out);
    explain_stores(index, &out);
    explain_rows(rt, index, &d, &out);
    explain_launch(rt, &d, &launch, &out);
    TRY(rtune_buf_status(&out, err));
    if (size > 0) {
        const size_t used = out.size < size ? out.size : size - 1;
        memcpy(text, out.data, used);
        text[used] = '\0';
    }
    if (length) *length = out.size;
done:
    rtune_buf_free(&out);
    return status;
}
