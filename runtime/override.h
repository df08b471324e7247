/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/override.h: RTUNE_OVERRIDE, configs that beat every store.
 *
 *   RTUNE_OVERRIDE = entry { ";" entry }
 *   entry          = selector ":" config       "sum,f32:block=256,items=16,grid=4xsm"
 *   selector       = "*" | word { "," word }
 *
 * The words are ops, dtypes, accs, modes, nan rules and cache states, each kind at most once; what
 * is not named is any. Axes that a config leaves out keep the built-in default's value. The first
 * entry that selects a problem with a config that is possible there wins.
 */
#ifndef RTUNE_RUNTIME_OVERRIDE_H
#define RTUNE_RUNTIME_OVERRIDE_H

#include "kernels/kernels.h"

enum { RTUNE_OVERRIDE_MAX = 64, RTUNE_OVERRIDE_WORDS = RTUNE_NAMES_CACHE + 1 };

struct rtune_override_entry {
    int want[RTUNE_OVERRIDE_WORDS]; /* by enum rtune_name_kind; -1: any */
    struct rtune_config config;
    uint32_t axes; /* which of config's were given */
};

struct rtune_override {
    struct rtune_override_entry *entries;
    size_t count;
};

/* Read text (NULL or empty: no entries). INVALID, naming the entry, for bad text and for an entry
 * that is possible for no problem on this kind of device. */
enum rtune_status rtune_override_parse(const char *text, bool cuda, struct rtune_override *override,
                                       struct rtune_error *err);
void rtune_override_free(struct rtune_override *override);

/* The config for a problem as it was asked and in canonical form; *entry is its 1-based number. */
bool rtune_override_find(const struct rtune_override *override, const struct rtune_problem *asked,
                         const struct rtune_problem *canonical, bool cuda,
                         struct rtune_config *config, uint32_t *entry);

#endif /* RTUNE_RUNTIME_OVERRIDE_H */
