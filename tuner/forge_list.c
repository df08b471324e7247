/* SPDX-License-Identifier: Apache-2.0 */
/* forge_list.c: a growing list with a hash table over it, and a queue through it. */
#include "tuner/forge_int.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 256, CAPACITY_MAX = 1 << 20 };

void rtune_forge_list_free(struct rtune_forge_list *list) {
    for (size_t k = 0; k < list->count; k++)
        free(list->all[k].why);
    free(list->all);
    free(list->buckets);
    memset(list, 0, sizeof(*list));
}

struct rtune_forge_instance *rtune_forge_list_at(const struct rtune_forge_list *list, size_t id) {
    return &list->all[id - 1];
}

/* ---- by name --------------------------------------------------------------------------------- */

static size_t *bucket_of(const struct rtune_forge_list *list, const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return &list->buckets[(hash ^ (hash >> 32)) & (list->capacity - 1)];
}

size_t rtune_forge_list_find(const struct rtune_forge_list *list, const char *name) {
    if (list->count == 0) return 0;
    size_t id = *bucket_of(list, name);
    while (id != 0 && strcmp(list->all[id - 1].name, name) != 0)
        id = list->all[id - 1].chain;
    return id;
}

static void hang(struct rtune_forge_list *list, size_t id) {
    struct rtune_forge_instance *i = &list->all[id - 1];
    size_t *bucket = bucket_of(list, i->name);
    i->chain = *bucket;
    *bucket = id;
}

/* Room for one more, and at most one a bucket on average. */
static enum rtune_status grow(struct rtune_forge_list *list, struct rtune_error *err) {
    if (list->count < list->capacity) return RTUNE_OK;
    size_t capacity = list->capacity == 0 ? CAPACITY_MIN : 2 * list->capacity;
    if (capacity > CAPACITY_MAX)
        return rtune_err_set(err, RTUNE_RANGE, "kernels: more than %d of them", CAPACITY_MAX);
    size_t *buckets = calloc(capacity, sizeof(*buckets));
    struct rtune_forge_instance *all =
        buckets != NULL ? realloc(list->all, capacity * sizeof(*all)) : NULL;
    if (all == NULL) {
        free(buckets);
        return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
    }
    free(list->buckets);
    list->all = all;
    list->buckets = buckets;
    list->capacity = capacity;
    for (size_t id = 1; id <= list->count; id++)
        hang(list, id);
    return RTUNE_OK;
}

enum rtune_status rtune_forge_list_add(struct rtune_forge_list *list,
                                       const struct rtune_problem *problem,
                                       const struct rtune_config *config, size_t *id,
                                       struct rtune_error *err) {
    enum rtune_status status = grow(list, err);
    if (status != RTUNE_OK) return status;
    struct rtune_forge_instance *i = &list->all[list->count++];
    memset(i, 0, sizeof(*i));
    i->problem = *problem;
    i->config = *config;
    rtune_instance_name(problem, config, i->name);
    hang(list, list->count);
    *id = list->count;
    return RTUNE_OK;
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* Where the id of its neighbour on one side is kept; of none: the end of the queue. */
static size_t *link_before(struct rtune_forge_list *list, size_t id) {
    return id != 0 ? &list->all[id - 1].before : &list->last;
}

static size_t *link_after(struct rtune_forge_list *list, size_t id) {
    return id != 0 ? &list->all[id - 1].after : &list->first;
}

void rtune_forge_list_push(struct rtune_forge_list *list, size_t id, bool front) {
    struct rtune_forge_instance *i = &list->all[id - 1];
    i->before = front ? 0 : list->last;
    i->after = front ? list->first : 0;
    *link_after(list, i->before) = id;
    *link_before(list, i->after) = id;
    list->queued++;
}

void rtune_forge_list_take(struct rtune_forge_list *list, size_t id) {
    struct rtune_forge_instance *i = &list->all[id - 1];
    *link_after(list, i->before) = i->after;
    *link_before(list, i->after) = i->before;
    list->queued--;
}
