/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/forge_int.h: the list of a forge's instances, found by name, and the order in which those
 * that are not compiled yet will be. Whoever uses it holds the forge's mutex.
 */
#ifndef RTUNE_TUNER_FORGE_INT_H
#define RTUNE_TUNER_FORGE_INT_H

#include "db/db.h"

enum rtune_forge_state { RTUNE_FORGE_QUEUED, RTUNE_FORGE_COMPILING, RTUNE_FORGE_MADE };

struct rtune_forge_instance {
    char name[RTUNE_INSTANCE_NAME];
    struct rtune_problem problem;
    struct rtune_config config;
    enum rtune_forge_state state;
    uint64_t at;
    uint32_t size;                 /* 0: failed */
    char *why;                     /* of a failure */
    char digest[RTUNE_DIGEST_HEX]; /* of a kept image; "" if it is not kept yet */
    uint64_t call;                 /* the last one that asked for it */
    size_t chain;                  /* the next of its bucket */
    size_t before, after;          /* in the queue */
};

/* Instances are named by ids, from 1 on; 0 stands for none. All zero is an empty list. */
struct rtune_forge_list {
    struct rtune_forge_instance *all;
    size_t count, capacity;
    size_t *buckets; /* as many as there is capacity */
    size_t first, last, queued;
};

void rtune_forge_list_free(struct rtune_forge_list *list);
/* Valid until the next one is added. */
struct rtune_forge_instance *rtune_forge_list_at(const struct rtune_forge_list *list, size_t id);
/* By the name of its kernel; 0 if there is none. */
size_t rtune_forge_list_find(const struct rtune_forge_list *list, const char *name);
/* A new one, which is in no queue yet. Errors: NO_MEMORY. */
enum rtune_status rtune_forge_list_add(struct rtune_forge_list *list,
                                       const struct rtune_problem *problem,
                                       const struct rtune_config *config, size_t *id,
                                       struct rtune_error *err);
/* Into the queue, to its front or to its end, and out of it. */
void rtune_forge_list_push(struct rtune_forge_list *list, size_t id, bool front);
void rtune_forge_list_take(struct rtune_forge_list *list, size_t id);

#endif /* RTUNE_TUNER_FORGE_INT_H */
