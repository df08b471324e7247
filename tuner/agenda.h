/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/agenda.h: which problems a session tunes at which sizes, in order, and what has been
 * decided. */
#ifndef RTUNE_TUNER_AGENDA_H
#define RTUNE_TUNER_AGENDA_H

#include "tuner/effort.h"
#include "tuner/meter.h"
#include "tuner/stats.h"
#include "tuner/tuner.h"

enum { RTUNE_SEEDS = 12 /* configs of one kind that others begin with, at each size */ };

/* One size of one kind. */
struct rtune_decided {
    double estimate_s; /* of the time it will take */
    bool done;
    struct rtune_config config;
    struct rtune_summary us;
    double default_us;
    struct rtune_config seeds[RTUNE_SEEDS]; /* best first */
    size_t seed_count;
};

struct rtune_remembered {
    struct rtune_config config;
    double us; /* at the last size */
};

struct rtune_kind {
    struct rtune_problem problem; /* n = 0 */
    enum rtune_role role;
    size_t reference; /* index of the kind of which every config of the space is measured */
    size_t lead;      /* of the first kind of the same class: its kernels cost about the same */
    size_t twin;      /* of the first kind that has the very same kernels */
    uint64_t *sizes;
    size_t size_count;
    struct rtune_decided *decisions;     /* of each size */
    struct rtune_remembered *remembered; /* the last size's good candidates, best first */
    size_t remembered_count;
    size_t remembered_capacity;
    struct rtune_config *banned; /* failed: not tried at later sizes */
    size_t banned_count, banned_capacity;
    struct rtune_winner *rows; /* as stored, until their floors are known at the end */
    size_t row_count;
    bool queued;       /* the forge has been given what its sizes need, as far as that is known */
    bool told_builtin; /* warned once that the built-in kernel is wrong */
};

struct rtune_agenda {
    struct rtune_kind *kinds; /* references, then leads, then followers */
    size_t count;
    size_t steps;         /* sizes of all kinds */
    size_t size_most;     /* sizes of the kind that has most */
    size_t size_skipped;  /* sizes asked for that do not fit the memory */
    uint64_t input_bytes; /* of the largest input */
};

/* Errors: INVALID, UNSUPPORTED (a problem asked for by name), RANGE (nothing fits the memory). */
enum rtune_status rtune_agenda_make(const struct rtune_tune_options *options,
                                    struct rtune_meter *meter, struct rtune_agenda *agenda,
                                    struct rtune_error *err);
void rtune_agenda_free(struct rtune_agenda *agenda);

/* Bytes that a kind reads of n elements. */
double rtune_kind_bytes(const struct rtune_kind *kind, uint64_t n);
/* What was decided for a kind at n elements; NULL if nothing. */
const struct rtune_decided *rtune_kind_decided(const struct rtune_kind *kind, uint64_t n);
bool rtune_kind_is_banned(const struct rtune_kind *kind, const struct rtune_config *config);
enum rtune_status rtune_kind_ban(struct rtune_kind *kind, const struct rtune_config *config,
                                 struct rtune_error *err);
/* The config that won at the size before index; NULL if none has been decided. */
const struct rtune_config *rtune_kind_favourite(const struct rtune_kind *kind, size_t index);

#endif /* RTUNE_TUNER_AGENDA_H */
