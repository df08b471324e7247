/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.c: kinds and sizes, from the options and the device's memory. */
#include "tuner/agenda.h"
#include "tuner/data.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 4096, SIZE_BITS = 33 /* the largest size of the default list is 2^33 */ };
/* Part of the free memory that one input may take. */
static const double memory_part = 0.6;

void rtune_agenda_free(struct rtune_agenda *agenda) {
    for (size_t k = 0; k < agenda->count; k++) {
        free(agenda->kinds[k].sizes);
        free(agenda->kinds[k].decisions);
        free(agenda->kinds[k].remembered);
        free(agenda->kinds[k].banned);
        free(agenda->kinds[k].rows);
    }
    free(agenda->kinds);
    memset(agenda, 0, sizeof(*agenda));
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static enum rtune_status add_kind(struct rtune_agenda *agenda, const struct rtune_problem *problem,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    TRY(rtune_problem_check(problem, err));
    struct rtune_problem kind = rtune_problem_canonical(problem);
    kind.n = 0;
    for (size_t k = 0; k < agenda->count; k++)
        if (rtune_problem_same_kind(&agenda->kinds[k].problem, &kind)) return RTUNE_OK;
    if (agenda->count == KINDS_MAX)
        TRY(rtune_err_set(err, RTUNE_RANGE, "problems: at most %d kinds", KINDS_MAX));
    struct rtune_kind *grown = realloc(agenda->kinds, (agenda->count + 1) * sizeof(*grown));
    if (grown == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "problems: out of memory"));
    agenda->kinds = grown;
    memset(&grown[agenda->count], 0, sizeof(*grown));
    grown[agenda->count++].problem = kind;
done:
    return status;
}

static enum rtune_status add_kinds(const struct rtune_tune_options *options,
                                   struct rtune_agenda *agenda, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_problem problem;
    for (size_t k = 0; options->problems != NULL && k < options->problem_count; k++)
        TRY(add_kind(agenda, &options->problems[k], err));
    for (size_t k = 0; options->problems == NULL && rtune_problem_at(k, &problem); k++)
        if (problem.acc == RTUNE_WIDE && problem.mode == RTUNE_PLAIN &&
            problem.nan_rule == RTUNE_NAN_PROPAGATE)
            TRY(add_kind(agenda, &problem, err));
    if (agenda->count == 0) TRY(rtune_err_set(err, RTUNE_INVALID, "problems: none to tune"));
done:
    return status;
}

/* The kind that others of its cache state are seeded from: sum of f32 if it is there. */
static bool is_first_choice(const struct rtune_problem *p) {
    return p->op == RTUNE_SUM && p->dtype == RTUNE_F32 && p->acc == RTUNE_WIDE &&
           p->mode == RTUNE_PLAIN && p->flags == 0;
}

static void choose_references(struct rtune_agenda *agenda, bool all) {
    for (size_t k = 0; k < agenda->count; k++)
        agenda->kinds[k].role = all ? RTUNE_ROLE_REFERENCE : RTUNE_ROLE_LEAD;
    for (int cache = 0; cache < RTUNE_CACHE_COUNT; cache++) {
        size_t chosen = SIZE_MAX;
        for (size_t k = 0; k < agenda->count; k++) {
            const struct rtune_problem *p = &agenda->kinds[k].problem;
            if ((int)p->cache != cache) continue;
            if (chosen == SIZE_MAX || is_first_choice(p)) chosen = k;
        }
        if (chosen != SIZE_MAX) agenda->kinds[chosen].role = RTUNE_ROLE_REFERENCE;
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

/* Ops whose kernels do about as much for an element. */
enum family { ADDS, PAIRS, ORDERS, FINDS, LOGIC };
static const enum family families[RTUNE_OP_COUNT] = {
    [RTUNE_SUM] = ADDS,
    [RTUNE_SUMSQ] = ADDS,
    [RTUNE_ASUM] = ADDS,
    [RTUNE_DOT] = PAIRS,
    [RTUNE_PROD] = ADDS,
    [RTUNE_MIN] = ORDERS,
    [RTUNE_MAX] = ORDERS,
    [RTUNE_MINMAX] = ORDERS,
    [RTUNE_ARGMIN] = FINDS,
    [RTUNE_ARGMAX] = FINDS,
    [RTUNE_ANY] = LOGIC,
    [RTUNE_ALL] = LOGIC,
    [RTUNE_COUNT_NONZERO] = LOGIC,
    [RTUNE_BAND] = LOGIC,
    [RTUNE_BOR] = LOGIC,
    [RTUNE_BXOR] = LOGIC,
};

static bool same_class(const struct rtune_problem *a, const struct rtune_problem *b) {
    const struct rtune_dtype_info *x = rtune_dtype_info(a->dtype), *y = rtune_dtype_info(b->dtype);
    return families[a->op] == families[b->op] && a->mode == b->mode && a->cache == b->cache &&
           x->size == y->size && x->is_float == y->is_float;
}

static bool same_kernels(const struct rtune_problem *a, const struct rtune_problem *b, bool cuda) {
    char x[RTUNE_INSTANCE_NAME], y[RTUNE_INSTANCE_NAME];
    const struct rtune_config config = rtune_config_default(a, cuda);
    if (!same_class(a, b)) return false;
    rtune_instance_name(a, &config, x);
    rtune_instance_name(b, &config, y);
    return strcmp(x, y) == 0;
}

/* Move the kinds of a role, in their order, behind those that are in front already. */
static size_t bring_forward(struct rtune_agenda *agenda, enum rtune_role role, size_t front) {
    for (size_t k = front; k < agenda->count; k++) {
        if (agenda->kinds[k].role != role) continue;
        struct rtune_kind kind = agenda->kinds[k];
        memmove(&agenda->kinds[front + 1], &agenda->kinds[front], (k - front) * sizeof(kind));
        agenda->kinds[front++] = kind;
    }
    return front;
}

/* Who begins with whose configs. */
static void choose_sources(struct rtune_agenda *agenda, size_t k, bool cuda) {
    struct rtune_kind *kind = &agenda->kinds[k];
    kind->reference = kind->lead = kind->twin = k;
    for (size_t j = k; j-- > 0 && kind->role != RTUNE_ROLE_REFERENCE;) {
        const struct rtune_kind *other = &agenda->kinds[j];
        if (other->role == RTUNE_ROLE_REFERENCE && other->problem.cache == kind->problem.cache)
            kind->reference = j;
        if (same_class(&other->problem, &kind->problem)) kind->lead = j;
        if (same_kernels(&other->problem, &kind->problem, cuda)) kind->twin = j;
    }
}

/* References, leads, followers, each in the order given: what a kind begins with is known, and can
 * be compiled, long before its turn. */
static void order_kinds(struct rtune_agenda *agenda, bool cuda) {
    size_t references = bring_forward(agenda, RTUNE_ROLE_REFERENCE, 0);
    for (size_t k = references; k < agenda->count; k++)
        for (size_t j = 0; j < k; j++)
            if (same_class(&agenda->kinds[j].problem, &agenda->kinds[k].problem))
                agenda->kinds[k].role = RTUNE_ROLE_FOLLOWER;
    (void)bring_forward(agenda, RTUNE_ROLE_LEAD, references);
    for (size_t k = 0; k < agenda->count; k++)
        choose_sources(agenda, k, cuda);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int compare_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Can the meter measure anything there? A replay knows only what was recorded. */
static enum rtune_status has_configs(struct rtune_meter *meter, const struct rtune_problem *kind,
                                     uint64_t n, bool *has, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_config *configs = NULL;
    struct rtune_problem problem = *kind;
    size_t count = 0;
    *has = true;
    if (meter->ops->configs == NULL) return RTUNE_OK;
    problem.n = n;
    TRY(meter->ops->configs(meter, &problem, &configs, &count, err));
    *has = count > 0;
done:
    free(configs);
    return status;
}

static enum rtune_status add_size(struct rtune_agenda *agenda, struct rtune_kind *kind,
                                  struct rtune_meter *meter, uint64_t n, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t bytes = 0, room = (uint64_t)((double)meter->info.free_bytes * memory_part);
    bool has = true;
    uint64_t size = rtune_dtype_size(kind->problem.dtype);
    if (rtune_data_is_pair(&kind->problem)) size *= 2;
    if (!rtune_mul_u64(n, size, &bytes) || bytes > room) {
        agenda->size_skipped++;
        return RTUNE_OK;
    }
    TRY(has_configs(meter, &kind->problem, n, &has, err));
    if (!has || (kind->size_count > 0 && kind->sizes[kind->size_count - 1] == n)) goto done;
    kind->sizes[kind->size_count++] = n;
    agenda->input_bytes = rtune_max_u64(agenda->input_bytes, bytes);
done:
    return status;
}

static enum rtune_status add_sizes(const struct rtune_tune_options *options,
                                   struct rtune_meter *meter, struct rtune_agenda *agenda,
                                   struct rtune_kind *kind, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    size_t count = options->sizes != NULL ? options->size_count : SIZE_BITS + 1;
    uint64_t *wanted = calloc(count, sizeof(*wanted));
    kind->sizes = calloc(count, sizeof(*kind->sizes));
    kind->decisions = calloc(count, sizeof(*kind->decisions));
    if (wanted == NULL || kind->sizes == NULL || kind->decisions == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "sizes: out of memory"));
    for (size_t k = 0; k < count; k++)
        wanted[k] = options->sizes != NULL ? options->sizes[k] : UINT64_C(1) << k;
    qsort(wanted, count, sizeof(*wanted), compare_size);
    for (size_t k = 0; k < count; k++)
        TRY(add_size(agenda, kind, meter, wanted[k], err));
    agenda->steps += kind->size_count;
    agenda->size_most = rtune_max_u64(agenda->size_most, kind->size_count);
done:
    free(wanted);
    return status;
}

enum rtune_status rtune_agenda_make(const struct rtune_tune_options *options,
                                    struct rtune_meter *meter, struct rtune_agenda *agenda,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    memset(agenda, 0, sizeof(*agenda));
    TRY(add_kinds(options, agenda, err));
    choose_references(agenda, options->effort == RTUNE_EFFORT_EXHAUSTIVE);
    order_kinds(agenda, meter->info.cuda);
    for (size_t k = 0; k < agenda->count; k++)
        TRY(add_sizes(options, meter, agenda, &agenda->kinds[k], err));
    if (options->sizes == NULL) agenda->size_skipped = 0;
    if (agenda->steps == 0)
        TRY(rtune_err_set(
            err, RTUNE_RANGE,
            "sizes: nothing to measure: the free memory (%llu MiB) holds none of them",
            (unsigned long long)(meter->info.free_bytes >> 20)));
done:
    if (status != RTUNE_OK) rtune_agenda_free(agenda);
    return status;
}

/* ---- kinds as they are decided ------------------------------------------------------------------
 */

double rtune_kind_bytes(const struct rtune_kind *kind, uint64_t n) {
    double size = (double)rtune_dtype_size(kind->problem.dtype);
    return (double)n * (rtune_data_is_pair(&kind->problem) ? 2 * size : size);
}

const struct rtune_decided *rtune_kind_decided(const struct rtune_kind *kind, uint64_t n) {
    for (size_t k = 0; k < kind->size_count; k++)
        if (kind->sizes[k] == n) return kind->decisions[k].done ? &kind->decisions[k] : NULL;
    return NULL;
}

/* ---- bans ------------------------------------------------------------------------------------ */

bool rtune_kind_is_banned(const struct rtune_kind *kind, const struct rtune_config *config) {
    for (size_t k = 0; k < kind->banned_count; k++)
        if (rtune_config_equal(&kind->banned[k], config)) return true;
    return false;
}

const struct rtune_config *rtune_kind_favourite(const struct rtune_kind *kind, size_t index) {
    while (index-- > 0)
        if (kind->decisions[index].done) return &kind->decisions[index].config;
    return NULL;
}

enum rtune_status rtune_kind_ban(struct rtune_kind *kind, const struct rtune_config *config,
                                 struct rtune_error *err) {
    if (kind->banned_count == kind->banned_capacity) {
        size_t capacity = kind->banned_capacity == 0 ? 16 : 2 * kind->banned_capacity;
        struct rtune_config *grown = realloc(kind->banned, capacity * sizeof(*grown));
        if (grown == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "failures: out of memory");
        kind->banned = grown;
        kind->banned_capacity = capacity;
    }
    kind->banned[kind->banned_count++] = *config;
    return RTUNE_OK;
}
