/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/records.h: recorded trials by (problem, config), in the order they were made. */
#ifndef RTUNE_TUNER_RECORDS_H
#define RTUNE_TUNER_RECORDS_H

#include "db/db.h"

/* All trials of one candidate at one size. */
struct rtune_record {
    struct rtune_problem problem;
    struct rtune_config config;
    enum rtune_reason reason; /* of the last one */
    char detail[256];
    double *samples; /* of all trials, one after the other */
    size_t sample_count, sample_capacity;
    uint32_t *ends; /* per trial, the index after its last sample */
    size_t trial_count, trial_capacity;
    size_t next_trial, next_sample; /* for whoever replays */
    size_t chain;                   /* next in the same bucket, plus 1 */
};

struct rtune_records {
    struct rtune_record *list;
    size_t count, capacity;
    size_t *buckets; /* index plus 1; a power of two of them */
    size_t bucket_count;
};

void rtune_records_init(struct rtune_records *records);
void rtune_records_free(struct rtune_records *records);
/* Copies the trial. A rtune_trial_visit; user is the records. */
enum rtune_status rtune_records_add(void *user, const struct rtune_trial *trial,
                                    struct rtune_error *err);
/* NULL if there is none. Valid until the next add. */
struct rtune_record *rtune_records_find(const struct rtune_records *records,
                                        const struct rtune_problem *problem,
                                        const struct rtune_config *config);

#endif /* RTUNE_TUNER_RECORDS_H */
