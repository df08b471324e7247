/* SPDX-License-Identifier: Apache-2.0 */
/* menu.c: gathering, filtering and cutting lists of configs. */
#include "tuner/menu.h"

#include "tuner/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BIG_KEEP = 48,   /* of the size before, where launches are long */
    NEAR_KEEP = 4,   /* of the size before, for a kind that is seeded */
    LEAD_KEEP = 6,   /* of the reference, for the lead of a class; each is compiled anew */
    FOLLOW_KEEP = 4, /* of the lead, for a follower */
    AROUND = 2,      /* of the reference, whose neighbours the lead of a class tries too */
    NEIGHBOURS = 4,
    VALUES_MAX = 64, /* of one axis: as many as a space has */
    POWERS = 4,      /* shapes that suit the mode reproducible */
    GROWN = 2,       /* the larger ones of them */
    MOST_SEEDED = 2 + POWERS + 2 * LEAD_KEEP + NEAR_KEEP + AROUND * NEIGHBOURS + GROWN,
    MANY = 4 /* values of an axis that the quick effort still tries all */
};
/* So much slower than the best at the size before, and it will not be the best at this one. */
static const double hopeless = 3.0;

static bool contains(const struct rtune_config *list, size_t count,
                     const struct rtune_config *config) {
    for (size_t k = 0; k < count; k++)
        if (rtune_config_equal(&list[k], config)) return true;
    return false;
}

static const struct rtune_remembered *remembered(const struct rtune_kind *kind,
                                                 const struct rtune_config *config, size_t *rank) {
    for (size_t k = 0; k < kind->remembered_count; k++) {
        if (!rtune_config_equal(&kind->remembered[k].config, config)) continue;
        if (rank != NULL) *rank = k;
        return &kind->remembered[k];
    }
    return NULL;
}

/* ---- references ------------------------------------------------------------------------------ */

/* Where among the values of its axis, counted from the largest, a config is. */
struct place {
    size_t above, count; /* values that are larger, and all */
};

static void see_value(uint32_t seen[VALUES_MAX], size_t *count, uint32_t value) {
    for (size_t k = 0; k < *count; k++)
        if (seen[k] == value) return;
    if (*count < VALUES_MAX) seen[(*count)++] = value;
}

static struct place place_of(const uint32_t seen[VALUES_MAX], size_t count, uint32_t value) {
    struct place place = {0, count};
    for (size_t k = 0; k < count; k++)
        place.above += seen[k] > value;
    return place;
}

/* Every other value from the largest on, and the smallest, of an axis that has many. */
static bool is_taken(struct place place) {
    return place.count <= MANY || place.above % 2 == 0 || place.above + 1 == place.count;
}

/* The quick effort takes every other block, and every other grid of each kind. */
struct sieve {
    uint32_t blocks[VALUES_MAX], grids[RTUNE_GRID_COUNT][VALUES_MAX];
    size_t block_count, grid_count[RTUNE_GRID_COUNT];
};

static void sieve_make(struct sieve *sieve, const struct rtune_menu *menu) {
    memset(sieve, 0, sizeof(*sieve));
    for (size_t k = 0; k < menu->count; k++) {
        const struct rtune_config *c = &menu->configs[k];
        see_value(sieve->blocks, &sieve->block_count, c->block);
        see_value(sieve->grids[c->grid.kind], &sieve->grid_count[c->grid.kind], c->grid.value);
    }
}

static bool sieve_takes(const struct sieve *sieve, const struct rtune_config *c) {
    return is_taken(place_of(sieve->blocks, sieve->block_count, c->block)) &&
           is_taken(place_of(sieve->grids[c->grid.kind], sieve->grid_count[c->grid.kind],
                             c->grid.value));
}

static bool worth_trying(const struct rtune_menu_source *source, const struct rtune_kind *kind,
                         const struct sieve *sieve, const struct rtune_config *config, bool big) {
    size_t rank = 0;
    if (rtune_kind_is_banned(kind, config) ||
        !rtune_forge_can(source->forge, &kind->problem, config))
        return false;
    if (source->effort == RTUNE_EFFORT_EXHAUSTIVE) return true;
    if (source->effort == RTUNE_EFFORT_QUICK && !sieve_takes(sieve, config)) return false;
    if (kind->remembered_count == 0) return true;
    const struct rtune_remembered *before = remembered(kind, config, &rank);
    if (big) return before != NULL && rank < BIG_KEEP;
    return before == NULL || before->us <= kind->remembered[0].us * hopeless;
}

/* All that there are for a problem, the default first. */
static enum rtune_status list_all(const struct rtune_menu_source *source,
                                  const struct rtune_problem *problem,
                                  struct rtune_config **configs, size_t *count,
                                  struct rtune_error *err) {
    struct rtune_meter *meter = source->meter;
    if (meter->ops->configs == NULL)
        return rtune_space_configs(source->space, &meter->info.identity, problem, configs, count,
                                   err);
    struct rtune_config standard = rtune_config_default(problem, meter->info.cuda);
    enum rtune_status status = meter->ops->configs(meter, problem, configs, count, err);
    for (size_t k = 1; status == RTUNE_OK && k < *count; k++) {
        if (!rtune_config_equal(&(*configs)[k], &standard)) continue;
        (*configs)[k] = (*configs)[0];
        (*configs)[0] = standard;
    }
    return status;
}

static enum rtune_status make_full(const struct rtune_menu_source *source,
                                   const struct rtune_kind *kind, size_t index, bool big,
                                   struct rtune_menu *menu, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_problem problem = kind->problem;
    const struct rtune_config *favourite = rtune_kind_favourite(kind, index);
    struct sieve sieve;
    size_t kept = 1;
    problem.n = kind->sizes[index];
    TRY(list_all(source, &problem, &menu->configs, &menu->count, err));
    sieve_make(&sieve, menu);
    for (size_t k = 1; k < menu->count; k++) {
        bool liked = favourite != NULL && rtune_config_equal(favourite, &menu->configs[k]);
        if (liked) menu->favourite = (long)kept;
        if (liked || worth_trying(source, kind, &sieve, &menu->configs[k], big))
            menu->configs[kept++] = menu->configs[k];
    }
    if (favourite != NULL && rtune_config_equal(favourite, &menu->configs[0])) menu->favourite = 0;
    menu->count = kept;
done:
    return status;
}

/* ---- kinds that are seeded ------------------------------------------------------------------- */

/* The reference's decided size whose input is nearest in bytes, by ratio; NULL if none is decided.
 */
static const struct rtune_decided *nearest(const struct rtune_kind *reference, double bytes) {
    const struct rtune_decided *best = NULL;
    double best_distance = INFINITY;
    for (size_t k = 0; k < reference->size_count; k++) {
        if (!reference->decisions[k].done) continue;
        double distance = fabs(log(rtune_kind_bytes(reference, reference->sizes[k]) / bytes));
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = &reference->decisions[k];
    }
    return best;
}

/* A menu that is being filled for one problem. */
struct filling {
    const struct rtune_menu_source *source;
    const struct rtune_kind *kind;
    struct rtune_problem problem;
    struct rtune_menu *menu;
};

static void add(const struct filling *f, const struct rtune_config *config) {
    const char *why = NULL;
    struct rtune_menu *menu = f->menu;
    if (rtune_instance_check(&f->problem, config, NULL) != RTUNE_OK ||
        !rtune_finish_admits(config, &f->problem, RTUNE_GRID_MAX, &why) ||
        rtune_kind_is_banned(f->kind, config) ||
        !rtune_forge_can(f->source->forge, &f->kind->problem, config) ||
        contains(menu->configs, menu->count, config))
        return;
    menu->configs[menu->count++] = *config;
}

/* A config that was good for floats, and before it what integers may do instead: one atomic. */
static void add_seed(const struct filling *f, const struct rtune_config *config) {
    struct rtune_config packed = *config;
    packed.finish = RTUNE_FINISH_PACKED;
    packed.extra = config->variant == RTUNE_BULK ? config->extra : 0;
    if (f->source->meter->info.cuda && config->finish != RTUNE_FINISH_ONE) add(f, &packed);
    add(f, config);
}

/* What was good for the reference at as many bytes, with as many bytes in flight. */
static void add_references(const struct filling *f) {
    const struct rtune_kind *reference = &f->source->agenda->kinds[f->kind->reference];
    const struct rtune_decided *like = nearest(reference, rtune_kind_bytes(f->kind, f->problem.n));
    size_t size = rtune_dtype_size(f->problem.dtype);
    size_t from = rtune_dtype_size(reference->problem.dtype);
    for (size_t k = 0; like != NULL && k < like->seed_count && k < LEAD_KEEP; k++) {
        struct rtune_config config = like->seeds[k];
        config.items = (uint32_t)(config.items * from / size);
        add_seed(f, &config);
    }
}

/* The first `count` of: twice the elements in flight, twice the threads, half of each. Another op
 * or type may need more or fewer of them to keep up with memory, and another size, too. */
static void add_neighbours(const struct filling *f, const struct rtune_config *config,
                           size_t count) {
    struct rtune_config near[NEIGHBOURS] = {*config, *config, *config, *config};
    if (!f->source->meter->info.cuda) return;
    near[0].items *= 2;
    near[1].block *= 2;
    near[2].items /= 2;
    near[3].block /= 2;
    for (size_t k = 0; k < count; k++)
        add(f, &near[k]);
}

/* A tree of leaves is dealt out to a power of two of blocks; as many as are resident at once, with
 * loads enough in flight, leave none waiting for others. */
static void add_powers(const struct filling *f) {
    static const struct {
        uint32_t block, vectors, per_sm;
    } shapes[POWERS] = {{1024, 4, 1}, {512, 16, 1}, {512, 8, 2}, {512, 4, 4}};
    const uint32_t units = f->source->meter->info.identity.sm_count;
    if (f->problem.mode != RTUNE_REPRODUCIBLE || !f->source->meter->info.cuda) return;
    for (size_t k = 0; k < POWERS; k++) {
        struct rtune_config config = rtune_config_default(&f->problem, true);
        uint32_t grid = 1;
        while (2 * grid <= units * shapes[k].per_sm)
            grid *= 2;
        config.block = shapes[k].block;
        config.items =
            shapes[k].vectors * RTUNE_VECTOR_BYTES / (uint32_t)rtune_dtype_size(f->problem.dtype);
        config.grid = (struct rtune_grid){RTUNE_GRID_BLOCKS, grid};
        if (f->problem.n / config.items / config.block >= grid) add(f, &config);
    }
}

static void add_seeds(const struct filling *f, const struct rtune_config *favourite) {
    const struct rtune_agenda *agenda = f->source->agenda;
    const struct rtune_kind *kind = f->kind, *self = kind;
    const bool has_twin = &agenda->kinds[kind->twin] != self;
    const bool has_lead = &agenda->kinds[kind->lead] != self;
    const struct rtune_decided *twin =
        has_twin ? rtune_kind_decided(&agenda->kinds[kind->twin], f->problem.n) : NULL;
    const struct rtune_decided *lead =
        has_lead ? rtune_kind_decided(&agenda->kinds[kind->lead], f->problem.n) : NULL;
    if (twin != NULL) add(f, &twin->config);
    if (twin != NULL) return; /* the same kernels on as many bytes: there is nothing to find out */
    for (size_t k = 0; lead != NULL && k < lead->seed_count && k < FOLLOW_KEEP; k++)
        add_seed(f, &lead->seeds[k]);
    add_powers(f);
    const size_t front = f->menu->count;
    if (lead == NULL) add_references(f);
    if (lead != NULL) return;
    const size_t seeds = f->menu->count;
    /* Where the reference's configs are tied, any of them may be first, and none need be a block
     * that suits this size and op. */
    if (favourite != NULL && favourite->finish == RTUNE_FINISH_ONE)
        add_neighbours(f, favourite, GROWN);
    for (size_t k = 0; k < kind->remembered_count && k < NEAR_KEEP; k++)
        add(f, &kind->remembered[k].config);
    for (size_t k = front; k < seeds && k < front + AROUND; k++) {
        const struct rtune_config best = f->menu->configs[k];
        add_neighbours(f, &best, NEIGHBOURS);
    }
}

static enum rtune_status make_seeded(const struct rtune_menu_source *source,
                                     const struct rtune_kind *kind, size_t index,
                                     struct rtune_menu *menu, struct rtune_error *err) {
    const struct rtune_config *favourite = rtune_kind_favourite(kind, index);
    struct filling f = {source, kind, kind->problem, menu};
    f.problem.n = kind->sizes[index];
    menu->configs = calloc(MOST_SEEDED, sizeof(*menu->configs));
    if (menu->configs == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory");
    menu->configs[menu->count++] = rtune_config_default(&kind->problem, source->meter->info.cuda);
    if (favourite != NULL) {
        add(&f, favourite);
        menu->favourite = rtune_config_equal(favourite, &menu->configs[0]) ? 0 : 1;
        if ((size_t)menu->favourite >= menu->count) menu->favourite = RTUNE_NO_FAVOURITE;
    }
    add_seeds(&f, favourite);
    return RTUNE_OK;
}

enum rtune_status rtune_menu_make(const struct rtune_menu_source *source,
                                  const struct rtune_kind *kind, size_t index, bool big,
                                  struct rtune_menu *menu, struct rtune_error *err) {
    memset(menu, 0, sizeof(*menu));
    menu->favourite = RTUNE_NO_FAVOURITE;
    return kind->role == RTUNE_ROLE_REFERENCE ? make_full(source, kind, index, big, menu, err)
                                              : make_seeded(source, kind, index, menu, err);
}

/* ---- cutting --------------------------------------------------------------------------------- */

static void swap(struct rtune_config *a, struct rtune_config *b) {
    struct rtune_config c = *a;
    *a = *b;
    *b = c;
}

void rtune_menu_limit(struct rtune_menu *menu, const struct rtune_kind *kind, size_t count) {
    size_t front = 1;
    bool full = kind->role == RTUNE_ROLE_REFERENCE;
    if (menu->count <= count) return;
    if (menu->favourite > 0 && count > front) {
        swap(&menu->configs[front], &menu->configs[menu->favourite]);
        menu->favourite = (long)front++;
    } else if (menu->favourite > 0) {
        menu->favourite = RTUNE_NO_FAVOURITE;
    }
    for (size_t r = 0; r < kind->remembered_count && front < count && full; r++) {
        for (size_t k = front; k < menu->count; k++) {
            if (!rtune_config_equal(&menu->configs[k], &kind->remembered[r].config)) continue;
            swap(&menu->configs[front++], &menu->configs[k]);
            break;
        }
    }
    /* The rest evenly over what is left, which is sorted well enough for that. A seeded kind's list
     * is in the order of worth already. */
    size_t left = menu->count - front, places = count > front ? count - front : 0;
    for (size_t k = 0; k < places && full; k++)
        menu->configs[front + k] = menu->configs[front + k * left / places];
    menu->count = count;
}
