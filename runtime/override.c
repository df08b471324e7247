/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/override.c: reads RTUNE_OVERRIDE once, at open, into a list that lookups match without
 * allocating.
 */
#include "runtime/override.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, ENTRY_MAX = 256 };

/* ---- selector ----------------------------------------------------------------------------------
 */

static enum rtune_status parse_word(const char *word, struct rtune_override_entry *entry,
                                    struct rtune_error *err) {
    for (int kind = 0; kind < RTUNE_OVERRIDE_WORDS; kind++) {
        const struct rtune_name_table *names = rtune_names((enum rtune_name_kind)kind);
        for (int value = 0; value < names->count; value++) {
            if (strcmp(names->name(value), word) != 0) continue;
            if (entry->want[kind] >= 0) {
                return rtune_err_set(err, RTUNE_INVALID, "\"%s\": a second %s", word, names->what);
            }
            entry->want[kind] = value;
            return RTUNE_OK;
        }
    }
    return rtune_err_set(err, RTUNE_INVALID,
                         "\"%s\" is no op, dtype, acc, mode, nan rule or cache state", word);
}

static enum rtune_status parse_selector(const char *text, struct rtune_override_entry *entry,
                                        struct rtune_error *err) {
    for (int kind = 0; kind < RTUNE_OVERRIDE_WORDS; kind++)
        entry->want[kind] = -1;
    if (strcmp(text, "*") == 0) return RTUNE_OK;
    for (;;) {
        char word[32] = "";
        const size_t length = strcspn(text, ",");
        memcpy(word, text, rtune_min_u64(length, sizeof word - 1));
        const enum rtune_status status = parse_word(word, entry, err);
        if (status != RTUNE_OK || text[length] == '\0') return status;
        text += length + 1;
    }
}

/* ---- matching ----------------------------------------------------------------------------------
 */

/* Does the entry select the problem? A field that cannot matter matches as it was asked and as it
 * is in canonical form: "min,i32,native" selects min of i32 although its result is the same in
 * wide. */
static bool selects(const struct rtune_override_entry *entry, const struct rtune_problem *asked,
                    const struct rtune_problem *canonical) {
    const int a[RTUNE_OVERRIDE_WORDS] = {
        [RTUNE_NAMES_OP] = (int)asked->op,        [RTUNE_NAMES_DTYPE] = (int)asked->dtype,
        [RTUNE_NAMES_ACC] = (int)asked->acc,      [RTUNE_NAMES_MODE] = (int)asked->mode,
        [RTUNE_NAMES_NAN] = (int)asked->nan_rule, [RTUNE_NAMES_CACHE] = (int)asked->cache,
    };
    const int c[RTUNE_OVERRIDE_WORDS] = {
        [RTUNE_NAMES_OP] = (int)canonical->op,        [RTUNE_NAMES_DTYPE] = (int)canonical->dtype,
        [RTUNE_NAMES_ACC] = (int)canonical->acc,      [RTUNE_NAMES_MODE] = (int)canonical->mode,
        [RTUNE_NAMES_NAN] = (int)canonical->nan_rule, [RTUNE_NAMES_CACHE] = (int)canonical->cache,
    };
    for (int kind = 0; kind < RTUNE_OVERRIDE_WORDS; kind++) {
        const int want = entry->want[kind];
        if (want >= 0 && want != a[kind] && want != c[kind]) return false;
    }
    return true;
}

/* The config of an entry for a problem; RANGE or UNSUPPORTED if no kernel has it there. */
static enum rtune_status apply(const struct rtune_override_entry *entry,
                               const struct rtune_problem *canonical, bool cuda,
                               struct rtune_config *config, struct rtune_error *err) {
    struct rtune_config merged = rtune_config_default(canonical, cuda);
    rtune_config_put_axes(&merged, &entry->config, entry->axes);
    if (!cuda && merged.block != 1) {
        return rtune_err_set(err, RTUNE_RANGE, "block: %u is not allowed on cpu devices (use 1)",
                             (unsigned)merged.block);
    }
    if (cuda && merged.block == 1) {
        return rtune_err_set(err, RTUNE_RANGE, "block: 1 is only allowed on cpu devices");
    }
    const enum rtune_status status = rtune_instance_check(canonical, &merged, err);
    if (status == RTUNE_OK) *config = merged;
    return status;
}

bool rtune_override_find(const struct rtune_override *override, const struct rtune_problem *asked,
                         const struct rtune_problem *canonical, bool cuda,
                         struct rtune_config *config, uint32_t *entry) {
    for (size_t i = 0; i < override->count; i++) {
        if (!selects(&override->entries[i], asked, canonical)) continue;
        if (apply(&override->entries[i], canonical, cuda, config, NULL) != RTUNE_OK) continue;
        *entry = (uint32_t)i + 1;
        return true;
    }
    return false;
}

/* ---- parsing -----------------------------------------------------------------------------------
 */

/* The k-th way to ask for a problem: fields that may not matter to it, in every value. */
static bool spelling_at(unsigned k, struct rtune_problem *problem) {
    problem->acc = (enum rtune_acc)(k % RTUNE_ACC_COUNT), k /= RTUNE_ACC_COUNT;
    problem->nan_rule = (enum rtune_nan)(k % RTUNE_NAN_COUNT), k /= RTUNE_NAN_COUNT;
    problem->cache = (enum rtune_cache)(k % RTUNE_CACHE_COUNT), k /= RTUNE_CACHE_COUNT;
    return k == 0;
}

/* INVALID unless some problem with kernels is selected and can have the config. */
static enum rtune_status check_useful(const struct rtune_override_entry *entry, bool cuda,
                                      struct rtune_error *err) {
    struct rtune_error why = {0};
    struct rtune_problem asked;
    for (size_t i = 0; rtune_problem_at(i, &asked); i++) {
        for (unsigned k = 0; spelling_at(k, &asked); k++) {
            const struct rtune_problem canonical = rtune_problem_canonical(&asked);
            struct rtune_config config;
            if (!selects(entry, &asked, &canonical)) continue;
            if (apply(entry, &canonical, cuda, &config, &why) == RTUNE_OK) return RTUNE_OK;
        }
    }
    if (why.status != RTUNE_OK) return rtune_err_set(err, RTUNE_INVALID, "%s", why.message);
    return rtune_err_set(err, RTUNE_INVALID, "no kernel reduces what the selector says");
}

static enum rtune_status parse_entry(char *text, bool cuda, struct rtune_override_entry *entry,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char *colon = strchr(text, ':');
    if (!colon) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "no \":\" between selector and config"));
    }
    *colon = '\0';
    TRY(parse_selector(text, entry, err));
    TRY(rtune_config_parse_axes(colon + 1, &entry->config, &entry->axes, err));
    TRY(check_useful(entry, cuda, err));
done:
    return status;
}

enum rtune_status rtune_override_parse(const char *text, bool cuda, struct rtune_override *override,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_override read = {0};
    if (!text || !*text) goto done;
    if (strnlen(text, TEXT_MAX) == TEXT_MAX) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "longer than %d bytes", TEXT_MAX));
    }
    read.entries = calloc(RTUNE_OVERRIDE_MAX, sizeof *read.entries);
    if (!read.entries) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory"));
    while (*text) {
        char entry[ENTRY_MAX] = "";
        const size_t length = strcspn(text, ";");
        if (read.count == RTUNE_OVERRIDE_MAX || length >= sizeof entry) {
            TRY(rtune_err_set(err, RTUNE_INVALID,
                              "more than %d entries, or one longer than %d bytes",
                              RTUNE_OVERRIDE_MAX, ENTRY_MAX - 1));
        }
        memcpy(entry, text, length);
        text += length + (text[length] == ';');
        if (length == 0) continue;
        TRY(parse_entry(entry, cuda, &read.entries[read.count], err));
        read.count++;
    }
done:
    if (status != RTUNE_OK) {
        rtune_err_prefix(err, "RTUNE_OVERRIDE, entry %zu", read.count + 1);
        if (err && status != RTUNE_NO_MEMORY) status = err->status = RTUNE_INVALID;
        if (!err && status != RTUNE_NO_MEMORY) status = RTUNE_INVALID;
        free(read.entries);
    } else {
        *override = read;
    }
    return status;
}

void rtune_override_free(struct rtune_override *override) {
    free(override->entries);
    *override = (struct rtune_override){0};
}
