/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/lookup.h: which config serves a problem, decided over an index; and the launch record. */
#ifndef RTUNE_RUNTIME_LOOKUP_H
#define RTUNE_RUNTIME_LOOKUP_H

#include "runtime/rtune_int.h"

/* How a run of rows meets n, best first. */
enum rtune_match {
    RTUNE_MATCH_EXACT,
    RTUNE_MATCH_BETWEEN,
    RTUNE_MATCH_CLAMPED,
    RTUNE_MATCH_REFUSED
};

struct rtune_hit {
    enum rtune_match match;
    const struct rtune_row *row;
};

/* The row of a run for n. REFUSED: n is above all tuned sizes and the row's grid would not fill a
 * device of this many units (SMs, threads). */
struct rtune_hit rtune_run_match(const struct rtune_run *run, uint64_t n, uint32_t units);

struct rtune_decision {
    struct rtune_problem problem; /* canonical, with n */
    struct rtune_problem like;    /* the kind whose rows were looked at, with an n of as many bytes:
                                     the problem, or its sibling */
    enum rtune_source source;
    struct rtune_config config;
    enum rtune_match match;
    const struct rtune_run *run; /* NULL: override or built-in */
    const struct rtune_row *row;
    const struct rtune_row *refused; /* best row that was refused on the way, or NULL */
    const char *unserved; /* why the config of the row or the override cannot serve this n or these
                             flags, and config is the built-in default; else NULL */
    bool cold_rows;       /* rows of the cold state stand in for the one asked for */
    uint32_t override_entry; /* 1-based */
};

/* Never fails for a checked problem. Lock-free, allocation-free. */
void rtune_decide(const rtune *rt, const struct rtune_index *index,
                  const struct rtune_problem *problem, struct rtune_decision *decision);

/* Whose rows may stand in for those that a canonical problem has none of: canonical kinds, the
 * nearest first, each with an n of as many bytes. */
enum { RTUNE_SIBLINGS = 32 };
size_t rtune_siblings(const struct rtune_problem *problem,
                      struct rtune_problem siblings[RTUNE_SIBLINGS]);
/* Make a config that was tuned for a sibling one for the problem: as many bytes in flight, slots
 * for another op or where its finish or variant do not serve the problem. false if there is none.
 */
bool rtune_sibling_config(const struct rtune_problem *problem, const struct rtune_problem *sibling,
                          struct rtune_config *config);

/* Fill the launch record. prepared is the kernel that serves (NULL: not loaded yet); why, if not
 * NULL, says why it is not the one decided on. */
void rtune_launch_fill(const rtune *rt, const struct rtune_decision *decision,
                       const struct rtune_prepared *prepared, const char *why,
                       struct rtune_launch *launch);

/* Config as served by a prepared kernel: its instance with the decision's grid; and blocks to
 * launch. */
struct rtune_config rtune_served_config(const struct rtune_decision *decision,
                                        const struct rtune_prepared *prepared);
uint32_t rtune_served_grid(const rtune *rt, const struct rtune_decision *decision,
                           const struct rtune_prepared *prepared);

#endif /* RTUNE_RUNTIME_LOOKUP_H */
