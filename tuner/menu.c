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
    VALUES_MAX = 64, /* of one axis: as many as a space has */
    MANY = 4         /* values of an axis that the quick effort still tries all */
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
static const struct rtune_decided *nearest(const struct rtune_kind *reference, uint64_t n,
                                           size_t size) {
    const struct rtune_decided *best = NULL;
    double best_distance = INFINITY, bytes = (double)n * (double)size;
    double reference_size = (double)rtune_dtype_size(reference->problem.dtype);
    for (size_t k = 0; k < reference->size_count; k++) {
        if (!reference->decisions[k].done) continue;
        double distance = fabs(log((double)reference->sizes[k] * reference_size / bytes));
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = &reference->decisions[k];
    }
    return best;
}

static void add(const struct rtune_menu_source *source, const struct rtune_kind *kind,
                const struct rtune_config *config, struct rtune_menu *menu) {
    if (rtune_config_check(config, kind->problem.dtype, NULL) != RTUNE_OK ||
        rtune_kind_is_banned(kind, config) ||
        !rtune_forge_can(source->forge, &kind->problem, config) ||
        contains(menu->configs, menu->count, config))
        return;
    menu->configs[menu->count++] = *config;
}

static enum rtune_status make_seeded(const struct rtune_menu_source *source,
                                     const struct rtune_kind *kind, size_t index,
                                     struct rtune_menu *menu, struct rtune_error *err) {
    const struct rtune_kind *reference = &source->agenda->kinds[kind->reference];
    const struct rtune_config *favourite = rtune_kind_favourite(kind, index);
    size_t size = rtune_dtype_size(kind->problem.dtype);
    size_t from = rtune_dtype_size(reference->problem.dtype);
    const struct rtune_decided *like = nearest(reference, kind->sizes[index], size);
    menu->configs = calloc(2 + RTUNE_SEEDS + NEAR_KEEP, sizeof(*menu->configs));
    if (menu->configs == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory");
    menu->configs[menu->count++] = rtune_config_default(&kind->problem, source->meter->info.cuda);
    if (favourite != NULL) {
        add(source, kind, favourite, menu);
        menu->favourite = rtune_config_equal(favourite, &menu->configs[0]) ? 0 : 1;
        if ((size_t)menu->favourite >= menu->count) menu->favourite = RTUNE_NO_FAVOURITE;
    }
    for (size_t k = 0; like != NULL && k < like->seed_count; k++) {
        struct rtune_config config = like->seeds[k];
        config.items = (uint32_t)(config.items * from / size); /* as many bytes in flight */
        add(source, kind, &config, menu);
    }
    for (size_t k = 0; k < kind->remembered_count && k < NEAR_KEEP; k++)
        add(source, kind, &kind->remembered[k].config, menu);
    return RTUNE_OK;
}

enum rtune_status rtune_menu_make(const struct rtune_menu_source *source,
                                  const struct rtune_kind *kind, size_t index, bool big,
                                  struct rtune_menu *menu, struct rtune_error *err) {
    memset(menu, 0, sizeof(*menu));
    menu->favourite = RTUNE_NO_FAVOURITE;
    return kind->full ? make_full(source, kind, index, big, menu, err)
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
    if (menu->count <= count) return;
    if (menu->favourite > 0 && count > front) {
        swap(&menu->configs[front], &menu->configs[menu->favourite]);
        menu->favourite = (long)front++;
    } else if (menu->favourite > 0) {
        menu->favourite = RTUNE_NO_FAVOURITE;
    }
    for (size_t r = 0; r < kind->remembered_count && front < count && kind->full; r++) {
        for (size_t k = front; k < menu->count; k++) {
            if (!rtune_config_equal(&menu->configs[k], &kind->remembered[r].config)) continue;
            swap(&menu->configs[front++], &menu->configs[k]);
            break;
        }
    }
    /* The rest evenly over what is left, which is sorted well enough for that. A seeded kind's list
     * is in the order of worth already. */
    size_t left = menu->count - front, places = count > front ? count - front : 0;
    for (size_t k = 0; k < places && kind->full; k++)
        menu->configs[front + k] = menu->configs[front + k * left / places];
    menu->count = count;
}
