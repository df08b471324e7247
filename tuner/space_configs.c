/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/space_configs.c: the configs of a space for one problem, less what the constraints drop. */
#include "base/num.h"
#include "kernels/cpu/cpu.h"
#include "tuner/space_int.h"

#include <stdlib.h>
#include <string.h>

enum { RESIDENT_MAX = 32 /* blocks of one multiprocessor */, REGISTER_UNIT = 8 };

/* A config of the space, and the blocks that it comes to. */
struct candidate {
    struct rtune_config config;
    uint32_t blocks; /* UINT32_MAX where residency, unknown before compiling, decides */
    size_t order;    /* of the file */
};

/* What every candidate is judged against. */
struct target {
    const struct rtune_space_limits *limits;
    const struct rtune_problem *problem;
    bool cuda;
    uint32_t units; /* multiprocessors, or threads */
    uint32_t size;  /* bytes of an element */
    uint64_t bytes; /* of the input, saturated */
    int cc_major, cc_minor;
    enum rtune_isa isa;
    bool isa_known;
};

static void aim(struct target *t, const struct rtune_space_section *section,
                const struct rtune_identity *identity, const struct rtune_problem *problem) {
    t->limits = &section->limits;
    t->problem = problem;
    t->cuda = identity->cuda;
    t->units = identity->cuda ? identity->sm_count : identity->cores;
    if (t->units == 0) t->units = 1;
    t->size = (uint32_t)rtune_dtype_size(problem->dtype);
    t->cc_major = identity->cc_major;
    t->cc_minor = identity->cc_minor;
    if (!rtune_mul_u64(problem->n, t->size, &t->bytes)) t->bytes = UINT64_MAX;
    for (int isa = 0; isa < RTUNE_ISA_COUNT && !identity->cuda; isa++) {
        if (strcmp(rtune_isa_name((enum rtune_isa)isa), identity->isa) != 0) continue;
        t->isa = (enum rtune_isa)isa;
        t->isa_known = rtune_cpu_items_at(problem->dtype, t->isa, 0) != 0;
    }
}

/* Estimate of the blocks that one multiprocessor holds; 0 if not even one fits. */
static uint32_t estimate_resident(const struct target *t, const struct rtune_config *config) {
    const struct rtune_space_limits *l = t->limits;
    uint64_t resident = RESIDENT_MAX;
    if (!t->cuda) return 1;
    if (l->threads_per_sm > 0) {
        if ((uint64_t)config->block * config->occupancy > l->threads_per_sm) return 0;
        resident = rtune_min_u64(resident, l->threads_per_sm / config->block);
    }
    if (l->registers_per_sm > 0) {
        uint64_t vectors = (uint64_t)config->items * t->size / RTUNE_VECTOR_BYTES;
        uint64_t registers = l->register_base + l->register_per_vector * vectors;
        registers = rtune_ceil_div(rtune_max_u64(registers, 1), REGISTER_UNIT) * REGISTER_UNIT;
        uint64_t fit = l->registers_per_sm / (registers * config->block);
        /* Asking for residency makes the compiler find the registers for it. */
        resident = rtune_min_u64(resident, rtune_max_u64(fit, config->occupancy));
    }
    if (l->shared_per_sm > 0 && config->variant == RTUNE_BULK) {
        const uint64_t stage = (uint64_t)config->block * config->items * t->size;
        resident = rtune_min_u64(resident, l->shared_per_sm / (stage * config->extra));
    }
    return (uint32_t)resident;
}

static bool enough_in_flight(const struct target *t, const struct rtune_config *config,
                             uint64_t running) {
    const struct rtune_space_limits *l = t->limits;
    size_t k = l->flights;
    while (k > 0 && l->flight[k - 1].from > t->bytes)
        k--;
    if (k == 0) return true;
    uint64_t flight = running * config->block * config->items * t->size / t->units;
    return flight >= l->flight[k - 1].min && flight <= l->flight[k - 1].max;
}

static bool has_cpu_kernel(const struct target *t, const struct rtune_config *config) {
    uint32_t items = 0;
    if (t->cuda || !t->isa_known) return true;
    for (size_t k = 0; (items = rtune_cpu_items_at(t->problem->dtype, t->isa, k)) != 0; k++)
        if (items == config->items) return true;
    return false;
}

/* Is there a kernel of it that serves this problem on this device? */
static bool exists(const struct target *t, const struct rtune_config *config) {
    if (rtune_instance_check(t->problem, config, NULL) != RTUNE_OK) return false;
    return t->cuda ? rtune_config_runs_on(config, t->cc_major, t->cc_minor)
                   : has_cpu_kernel(t, config);
}

/* Is it worth measuring? *blocks gets what the grid comes to. */
static bool worth(const struct target *t, const struct rtune_config *config, uint32_t *blocks) {
    const struct rtune_space_limits *l = t->limits;
    const char *why;
    if (!exists(t, config)) return false;
    if (l->warm_plain && t->problem->cache == RTUNE_WARM && config->load != RTUNE_LOAD_PLAIN)
        return false;
    uint32_t resident = estimate_resident(t, config);
    if (resident == 0) return false;
    uint64_t n = t->problem->n, wave = (uint64_t)t->units * resident;
    uint64_t tiles = rtune_max_u64(rtune_ceil_div(n, (uint64_t)config->block * config->items), 1);
    *blocks = rtune_grid_resolve(config, t->problem->dtype, n, t->units, resident);
    if (!rtune_finish_admits(config, t->problem, *blocks, &why)) return false;
    if (l->one_block_finish && (config->finish == RTUNE_FINISH_ONE) != (*blocks == 1)) return false;
    if (!l->idle_blocks && *blocks > tiles) return false;
    if (l->waves > 0 && rtune_ceil_div(*blocks, wave) > l->waves) return false;
    if (*blocks > 1 && t->bytes / *blocks < l->bytes_per_block) return false;
    if (!enough_in_flight(t, config, rtune_min_u64(*blocks, wave))) return false;
    if (t->cuda && config->grid.kind == RTUNE_GRID_COVER && tiles > t->units) *blocks = UINT32_MAX;
    return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_u32(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

/* By the axes in the order of struct rtune_config; with_grid 0 leaves the grid out. */
static int compare_exact(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return rtune_config_compare(&x->config, &y->config, true);
}

static int compare_launch(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    int order = rtune_config_compare(&x->config, &y->config, false);
    if (order == 0) order = compare_u32(x->blocks, y->blocks);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static bool same_launch(const struct candidate *a, const struct candidate *b) {
    return a->blocks == b->blocks && rtune_config_compare(&a->config, &b->config, false) == 0;
}

/* Keep the first of those that launch the same, none that launches what the default does; sort. */
static size_t unique(struct candidate *list, size_t count, const struct candidate *builtin) {
    size_t kept = 0;
    qsort(list, count, sizeof(list[0]), compare_launch);
    for (size_t i = 0; i < count; i++) {
        if (same_launch(&list[i], builtin)) continue;
        if (kept > 0 && same_launch(&list[i], &list[kept - 1])) continue;
        list[kept++] = list[i];
    }
    qsort(list, kept, sizeof(list[0]), compare_exact);
    return kept;
}

/* ---- enumeration ----------------------------------------------------------------------------- */

static size_t combinations(const struct rtune_space_section *section) {
    size_t product = 1;
    for (size_t i = 0; i < RTUNE_SPACE_AXES; i++)
        product *= section->axes[i].count;
    return product;
}

/* The k-th combination; the last axis runs fastest. */
static struct rtune_config combine(const struct rtune_space_section *section, size_t k,
                                   uint32_t size) {
    const union rtune_space_value *v[RTUNE_SPACE_AXES];
    for (size_t i = RTUNE_SPACE_AXES; i-- > 0;) {
        v[i] = &section->axes[i].value[k % section->axes[i].count];
        k /= section->axes[i].count;
    }
    return (struct rtune_config){
        .variant = (enum rtune_variant)v[RTUNE_SPACE_VARIANT]->number,
        .block = v[RTUNE_SPACE_BLOCK]->number,
        .items = v[RTUNE_SPACE_VECTORS]->number * RTUNE_VECTOR_BYTES / size,
        .grid = v[RTUNE_SPACE_GRID]->grid,
        .load = (enum rtune_load)v[RTUNE_SPACE_LOAD]->number,
        .finish = (enum rtune_finish)v[RTUNE_SPACE_FINISH]->number,
        .map = (enum rtune_map)v[RTUNE_SPACE_MAP]->number,
        .occupancy = v[RTUNE_SPACE_OCCUPANCY]->number,
        .extra = v[RTUNE_SPACE_EXTRA]->number,
    };
}

enum rtune_status rtune_space_configs(const rtune_space *space,
                                      const struct rtune_identity *identity,
                                      const struct rtune_problem *problem,
                                      struct rtune_config **configs, size_t *count,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_space_section *section = identity->cuda ? &space->cuda : &space->cpu;
    struct target target = {0};
    struct candidate builtin = {.config = rtune_config_default(problem, identity->cuda)};
    struct candidate *list = NULL;
    struct rtune_config *found = NULL;
    size_t total = combinations(section), kept = 0;
    if (!section->present)
        TRY(rtune_err_set(err, RTUNE_UNSUPPORTED, "%s: the search space has no part for %s devices",
                          space->name, identity->cuda ? "cuda" : "cpu"));
    aim(&target, section, identity, problem);
    list = calloc(total, sizeof(list[0]));
    found = calloc(total + 1, sizeof(found[0]));
    if (list == NULL || found == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for %zu configs", total));
    for (size_t k = 0; k < total; k++) {
        struct candidate *c = &list[kept];
        *c = (struct candidate){combine(section, k, target.size), 0, k};
        if (worth(&target, &c->config, &c->blocks)) kept++;
    }
    if (!worth(&target, &builtin.config, &builtin.blocks)) builtin.blocks = 0;
    kept = unique(list, kept, &builtin);
    found[0] = builtin.config;
    for (size_t i = 0; i < kept; i++)
        found[i + 1] = list[i].config;
    *configs = found;
    *count = kept + 1;
    found = NULL;
done:
    free(found);
    free(list);
    return status;
}
