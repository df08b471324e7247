/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/lookup.c: the policy. The order, from the best:
 *
 *   1. RTUNE_OVERRIDE.
 *   2. Rows of this device's identity, by how well they meet n, then by file:
 *        exact    n itself was tuned;
 *        between  sizes below and above n were tuned: the row whose measured interval holds n, or
 *                 where no interval does, the one whose size is the nearer in ratio;
 *        clamped  only sizes above n were tuned: the smallest; or only sizes below n: the largest.
 *      Files: the path given to rtune_open alone, else RTUNE_DB alone, else the user's store and
 * the system's store; then the shipped profiles. A row of the shipped profiles is reported as
 *      `shipped` whichever of the three it is.
 *   3. Rows of this device's identity for a sibling, a problem that is like this one (sibling.c);
 *      before 2. where its own are more than 16 times away in n, and the sibling's are not.
 *   4. Rows of a similar device (same compute capability; cpu: same instruction set): the nearest
 *      by rtune_identity_distance first, then as in 2. Grids that count SMs are resolved for this
 *      device.
 *   5. The built-in config.
 *
 * One block tuned at n = 1000 is a trap at n = 10^6, and a full grid tuned at 10^8 is one at 1000.
 * So where no measured interval speaks for it, a row serves a larger n only if its grid would fill
 * the device (else the row above it does, or the row is refused and the search goes on), and a
 * smaller n with a grid that is cut to it.
 *
 * In 2, 3 and 4, where the cache state asked for has no row to serve, those of the cold state are
 * tried before going on. "none" as the store leaves 1 and 5. Where a finish has a condition that
 * this n or these flags do not meet, the built-in config serves, and the launch record says why.
 */
#include "runtime/lookup.h"

#include "base/num.h"
#include "base/sized.h"
#include "runtime/text.h"

#include <string.h>

/* ---- one run -----------------------------------------------------------------------------------
 */

/* Would these blocks (threads) keep a device of this many units busy, however large n is? */
static bool fills(const struct rtune_config *config, uint32_t units) {
    return config->grid.kind != RTUNE_GRID_BLOCKS || config->grid.value >= units;
}

/* Of the neighbours below and above n, the one whose interval holds n, else the nearer in ratio. */
static const struct rtune_row *between(const struct rtune_row *below, const struct rtune_row *above,
                                       uint64_t n, uint32_t units) {
    if (n <= below->n_to) return below;
    if (n >= above->n_from || !fills(&below->config, units)) return above;
    return (double)n / (double)below->n <= (double)above->n / (double)n ? below : above;
}

struct rtune_hit rtune_run_match(const struct rtune_run *run, uint64_t n, uint32_t units) {
    const struct rtune_row *rows = run->rows;
    uint32_t low = 0;
    uint32_t high = run->count;
    while (low < high) { /* first row above n */
        const uint32_t middle = low + (high - low) / 2;
        if (rows[middle].n <= n)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && rows[low - 1].n == n)
        return (struct rtune_hit){RTUNE_MATCH_EXACT, &rows[low - 1]};
    if (low == 0) return (struct rtune_hit){RTUNE_MATCH_CLAMPED, &rows[0]};
    if (low < run->count) {
        return (struct rtune_hit){RTUNE_MATCH_BETWEEN,
                                  between(&rows[low - 1], &rows[low], n, units)};
    }
    const bool ok = fills(&rows[low - 1].config, units);
    return (struct rtune_hit){ok ? RTUNE_MATCH_CLAMPED : RTUNE_MATCH_REFUSED, &rows[low - 1]};
}

/* ---- the ladder --------------------------------------------------------------------------------
 */

/* A config tuned at a larger n with fewer blocks for this one: as much work for each as it had
 * where it was tuned, unless that is more than one tile. */
static struct rtune_config cut_grid(struct rtune_config config, const struct rtune_row *row,
                                    const struct rtune_problem *problem, uint32_t units) {
    struct rtune_config cover = config;
    if (config.grid.kind == RTUNE_GRID_COVER || config.finish == RTUNE_FINISH_ONE) return config;
    cover.grid = (struct rtune_grid){RTUNE_GRID_COVER, 0};
    const uint64_t tuned = rtune_grid_resolve(&config, problem->dtype, row->n, units, 1);
    const uint64_t tiles =
        rtune_grid_resolve(&cover, problem->dtype, problem->n, RTUNE_GRID_MAX, 1);
    const uint64_t share = (uint64_t)((double)problem->n / (double)row->n * (double)tuned) + 1;
    const uint64_t blocks = rtune_min_u64(rtune_max_u64(share, tiles), tuned);
    if (blocks < tuned) config.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, (uint32_t)blocks};
    return config;
}

static void take(struct rtune_decision *d, const struct rtune_problem *like,
                 const struct rtune_run *run, struct rtune_hit hit, uint32_t units) {
    d->like = *like;
    d->run = run;
    d->row = hit.row;
    d->match = hit.match;
    d->cold_rows = like->cache != d->problem.cache;
    d->config = hit.row->config;
    if (like->n < (hit.match == RTUNE_MATCH_CLAMPED ? hit.row->n : hit.row->n_from)) {
        d->config = cut_grid(hit.row->config, hit.row, like, units);
    }
    if (!run->same) {
        d->source = RTUNE_FROM_SIMILAR;
    } else if (!rtune_problem_same_kernel(like, &d->problem)) {
        d->source = RTUNE_FROM_SIBLING;
    } else if (run->shipped) {
        d->source = RTUNE_FROM_SHIPPED;
    } else {
        d->source = hit.match == RTUNE_MATCH_EXACT     ? RTUNE_FROM_EXACT
                    : hit.match == RTUNE_MATCH_BETWEEN ? RTUNE_FROM_BETWEEN
                                                       : RTUNE_FROM_CLAMPED;
    }
}

/* Take the best hit of the first group of runs (this device, then each distance) that has one. The
 * runs are sorted so. same: consider this device alone, else the others alone. */
static bool take_best(struct rtune_decision *d, const struct rtune_index *index,
                      const struct rtune_problem *like, bool same, uint32_t units) {
    size_t count = 0;
    const struct rtune_run *runs = rtune_index_find(index, like, &count);
    const struct rtune_run *best = NULL;
    struct rtune_hit hit = {RTUNE_MATCH_REFUSED, NULL};
    for (size_t i = 0; i < count; i++) {
        if (runs[i].same != same) continue;
        if (best && runs[i].distance > best->distance) break;
        const struct rtune_hit h = rtune_run_match(&runs[i], like->n, units);
        if (h.match == RTUNE_MATCH_REFUSED && !d->refused) d->refused = h.row;
        if (h.match >= hit.match) continue;
        hit = h;
        best = &runs[i];
    }
    if (!best) return false;
    take(d, like, best, hit, units);
    return true;
}

/* The rows of one kind: of the cache state asked for, else of the cold one. */
static bool take_kind(struct rtune_decision *d, const struct rtune_index *index,
                      const struct rtune_problem *like, bool same, uint32_t units) {
    struct rtune_problem cold = *like;
    cold.cache = RTUNE_COLD;
    return take_best(d, index, like, same, units) ||
           (like->cache != RTUNE_COLD && take_best(d, index, &cold, same, units));
}

/* tuned: only where the sibling was tuned at this size, or at a smaller and a larger one. */
static bool take_sibling(struct rtune_decision *d, const struct rtune_index *index, uint32_t units,
                         bool tuned) {
    struct rtune_problem siblings[RTUNE_SIBLINGS];
    const struct rtune_row *refused = d->refused;
    const size_t count = rtune_siblings(&d->problem, siblings);
    for (size_t k = 0; k < count; k++) {
        const bool taken = take_kind(d, index, &siblings[k], true, units);
        d->refused = refused; /* of the problem's own rows alone */
        if (taken && !(tuned && d->match == RTUNE_MATCH_CLAMPED) &&
            rtune_sibling_config(&d->problem, &siblings[k], &d->config))
            return true;
        d->row = NULL;
        d->run = NULL;
    }
    return false;
}

/* A row so far from n tells less than one of a sibling that was tuned there. */
static bool is_far(const struct rtune_decision *d) {
    enum { FAR = 16 };
    const uint64_t n = d->problem.n;
    return d->match == RTUNE_MATCH_CLAMPED && (n < d->row->n / FAR || n / FAR > d->row->n);
}

/* Rows of this device: the problem's own, unless they are far away and a sibling's are not. */
static bool take_own_device(struct rtune_decision *d, const struct rtune_index *index,
                            uint32_t units) {
    if (!take_kind(d, index, &d->problem, true, units))
        return take_sibling(d, index, units, true) || take_sibling(d, index, units, false);
    const struct rtune_decision own = *d;
    if (is_far(d) && take_sibling(d, index, units, true)) return true;
    *d = own;
    return true;
}

/* A condition of the finish that the caller's n or flags do not meet: flagged slots have none. */
static void admit(const rtune *rt, const struct rtune_problem *asked, struct rtune_decision *d) {
    struct rtune_problem problem = d->problem;
    problem.flags = asked->flags;
    const uint32_t grid =
        rtune_grid_resolve(&d->config, problem.dtype, problem.n, rt->dev->units, 1);
    if (!rtune_finish_admits(&d->config, &problem, grid, &d->unserved))
        d->config = rtune_config_default(&d->problem, rt->dev->cuda);
}

void rtune_decide(const rtune *rt, const struct rtune_index *index,
                  const struct rtune_problem *problem, struct rtune_decision *d) {
    const uint32_t units = rt->dev->units;
    memset(d, 0, sizeof *d);
    d->problem = rtune_problem_canonical(problem);
    d->like = d->problem;
    if (rtune_override_find(&rt->override, problem, &d->problem, rt->dev->cuda, &d->config,
                            &d->override_entry)) {
        d->source = RTUNE_FROM_OVERRIDE;
    } else if (index->run_count == 0 || (!take_own_device(d, index, units) &&
                                         !take_kind(d, index, &d->problem, false, units))) {
        d->source = RTUNE_FROM_BUILTIN;
        d->config = rtune_config_default(&d->problem, rt->dev->cuda);
    }
    admit(rt, problem, d);
}

/* ---- the launch record -------------------------------------------------------------------------
 */

/* "before", n, "after", of 100 bytes at most beside n: whole, or not at all. */
static void add_n(struct rtune_text *text, const char *before, uint64_t n, const char *after) {
    char whole[128];
    struct rtune_text clause = rtune_text_over(whole, sizeof whole);
    rtune_text_add(&clause, before);
    rtune_text_add_u64(&clause, n);
    rtune_text_add(&clause, after);
    rtune_text_add_whole(text, whole);
}

static void add_sibling(struct rtune_text *text, const struct rtune_problem *like) {
    char whole[64];
    struct rtune_text clause = rtune_text_over(whole, sizeof whole);
    rtune_text_add(&clause, "like ");
    rtune_text_add(&clause, rtune_op_name(like->op));
    rtune_text_add(&clause, " of ");
    rtune_text_add(&clause, rtune_dtype_name(like->dtype));
    rtune_text_add(&clause, ", ");
    rtune_text_add_whole(text, whole);
}

static void describe_row(const struct rtune_decision *d, struct rtune_text *text) {
    const struct rtune_grid *tuned = &d->row->config.grid, *grid = &d->config.grid;
    if (d->source == RTUNE_FROM_SIBLING) add_sibling(text, &d->like);
    if (d->source == RTUNE_FROM_SIMILAR) rtune_text_add_whole(text, "a similar device, ");
    if (d->source == RTUNE_FROM_SHIPPED)
        rtune_text_add_whole(text, "this device's shipped profile, ");
    switch (d->match) {
    case RTUNE_MATCH_EXACT:
        add_n(text, "tuned at n=", d->row->n, "");
        break;
    case RTUNE_MATCH_BETWEEN:
        add_n(text, "between tuned sizes, tuned at n=", d->row->n, "");
        break;
    case RTUNE_MATCH_CLAMPED:
    case RTUNE_MATCH_REFUSED:
        if (d->like.n < d->row->n)
            add_n(text, "below all tuned sizes, tuned at n=", d->row->n, "");
        else
            add_n(text, "above all tuned sizes, tuned at n=", d->row->n, "");
        break;
    }
    if (d->cold_rows) rtune_text_add_whole(text, ", cold input (this state was not tuned)");
    if (!d->unserved && (grid->kind != tuned->kind || grid->value != tuned->value))
        rtune_text_add_whole(text, ", grid cut to n");
    if (d->row->stale_driver) rtune_text_add_whole(text, ", by another driver");
    if (d->row->stale_source) rtune_text_add_whole(text, ", with other kernel sources");
}

static void describe(const struct rtune_decision *d, const char *why, struct rtune_launch *launch) {
    struct rtune_text text = rtune_text_over(launch->reason, sizeof launch->reason);
    if (why) {
        rtune_text_add(&text, why);
        rtune_text_add_whole(&text, "; ");
    }
    if (d->row) {
        describe_row(d, &text);
    } else if (d->source == RTUNE_FROM_OVERRIDE) {
        add_n(&text, "RTUNE_OVERRIDE, entry ", d->override_entry, "");
    } else {
        rtune_text_add_whole(&text, "built-in default");
        if (d->refused)
            add_n(&text, ": the largest tuned n=", d->refused->n,
                  " is below, and its grid would not fill this device");
        else
            rtune_text_add_whole(&text, ": nothing tuned for this problem");
    }
    rtune_text_end(&text);
}

struct rtune_config rtune_served_config(const struct rtune_decision *d,
                                        const struct rtune_prepared *prepared) {
    struct rtune_config config = prepared ? prepared->served : d->config;
    config.grid = d->config.grid;
    /* An instance that finishes in one block cannot take another's grid, nor need one. */
    if (config.finish == RTUNE_FINISH_ONE) config.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, 1};
    return config;
}

/* Blocks of a kernel that is not loaded yet which one SM holds: what its threads allow. CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability": threads per SM. */
static uint32_t guess_resident(const struct rtune_identity *identity, uint32_t block) {
    uint32_t threads = 2048;
    if (!identity->cuda) return 1;
    if (identity->cc_major == 7 && identity->cc_minor == 5) threads = 1024;
    if (identity->cc_major == 8 && identity->cc_minor != 0) threads = 1536;
    if (identity->cc_major == 12) threads = 1536;
    return block > 0 && block < threads ? threads / block : 1;
}

uint32_t rtune_served_grid(const rtune *rt, const struct rtune_decision *d,
                           const struct rtune_prepared *prepared) {
    const struct rtune_config config = rtune_served_config(d, prepared);
    const uint32_t resident =
        prepared ? prepared->resident : guess_resident(&rt->dev->identity, config.block);
    return rtune_grid_resolve(&config, d->problem.dtype, d->problem.n, rt->dev->units, resident);
}

void rtune_launch_fill(const rtune *rt, const struct rtune_decision *d,
                       const struct rtune_prepared *prepared, const char *why,
                       struct rtune_launch *launch) {
    if (!why && prepared && prepared->fell_back) why = prepared->reason;
    if (!why) why = d->unserved;
    launch->struct_size = sizeof *launch;
    launch->source = d->source;
    launch->kernel = prepared ? prepared->source : RTUNE_KERNEL_NONE;
    launch->config = rtune_served_config(d, prepared);
    launch->grid = rtune_served_grid(rt, d, prepared);
    launch->block = launch->config.block;
    launch->shared_bytes = 0; /* all kernels have static shared memory alone */
    launch->fell_back = why != NULL;
    launch->stale = d->row && (d->row->stale_driver || d->row->stale_source);
    launch->tuned_n = d->row ? d->row->n : 0;
    const bool timed = d->row && d->source != RTUNE_FROM_SIBLING && !d->unserved;
    launch->predicted_us = timed ? d->row->us : 0;
    describe(d, why, launch);
}

enum rtune_status rtune_launch_check(const struct rtune_launch *given, struct rtune_error *err) {
    if (given->struct_size >= RTUNE_SIZE_TO(struct rtune_launch, reason)) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_INVALID,
                         "rtune_launch: struct_size is %zu, not %zu (start from RTUNE_LAUNCH_INIT)",
                         given->struct_size, sizeof *given);
}

void rtune_launch_give(const struct rtune_launch *launch, struct rtune_launch *given) {
    rtune_sized_write(given, launch, sizeof *launch);
}

enum rtune_status rtune_lookup(const rtune *rt, const struct rtune_problem *given_problem,
                               struct rtune_launch *given_launch, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_problem problem;
    struct rtune_decision decision;
    struct rtune_launch launch;
    if (!rt || !given_problem || !given_launch) {
        TRY(rtune_err_set(err, RTUNE_INVALID, "rtune_lookup: rt, problem or launch is NULL"));
    }
    TRY(rtune_problem_read(given_problem, &problem, err));
    TRY(rtune_launch_check(given_launch, err));
    const struct rtune_index *index = rtune_current_index(rt);
    rtune_decide(rt, index, &problem, &decision);
    rtune_launch_fill(rt, &decision,
                      rtune_prepared_find(rt, index, &decision.problem, &decision.config), NULL,
                      &launch);
    rtune_launch_give(&launch, given_launch);
done:
    return status;
}
