/* SPDX-License-Identifier: Apache-2.0 */
/* records.c: a growing list with a hash table over it. */
#include "tuner/records.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 1024 };

void rtune_records_init(struct rtune_records *records) { memset(records, 0, sizeof(*records)); }

void rtune_records_free(struct rtune_records *records) {
    for (size_t k = 0; k < records->count; k++) {
        free(records->list[k].samples);
        free(records->list[k].ends);
    }
    free(records->list);
    free(records->buckets);
    rtune_records_init(records);
}

static uint64_t mix(uint64_t hash, uint64_t value) { return rtune_rng_at(hash, value); }

static uint64_t hash_of(const struct rtune_problem *p, const struct rtune_config *c) {
    const uint64_t fields[] = {p->op,    p->dtype,    p->acc,
                               p->mode,  p->nan_rule, p->cache,
                               p->flags, p->n,        rtune_config_hash(c, true)};
    uint64_t hash = 0;
    for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++)
        hash = mix(hash, fields[k]);
    return hash;
}

static bool same(const struct rtune_record *r, const struct rtune_problem *p,
                 const struct rtune_config *c) {
    return rtune_problem_compare(&r->problem, p) == 0 && rtune_config_equal(&r->config, c);
}

struct rtune_record *rtune_records_find(const struct rtune_records *records,
                                        const struct rtune_problem *problem,
                                        const struct rtune_config *config) {
    if (records->bucket_count == 0) return NULL;
    size_t k = records->buckets[hash_of(problem, config) & (records->bucket_count - 1)];
    while (k != 0 && !same(&records->list[k - 1], problem, config))
        k = records->list[k - 1].chain;
    return k == 0 ? NULL : &records->list[k - 1];
}

static void hang(struct rtune_records *records, size_t k) {
    struct rtune_record *r = &records->list[k];
    size_t *bucket =
        &records->buckets[hash_of(&r->problem, &r->config) & (records->bucket_count - 1)];
    r->chain = *bucket;
    *bucket = k + 1;
}

/* Room for one more record, and at most one record a bucket on average. */
static enum rtune_status grow(struct rtune_records *records, struct rtune_error *err) {
    if (records->count < records->capacity) return RTUNE_OK;
    size_t capacity = records->capacity == 0 ? BUCKETS_MIN : 2 * records->capacity;
    struct rtune_record *list = realloc(records->list, capacity * sizeof(*list));
    if (list == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "records: out of memory");
    records->list = list;
    size_t *buckets = calloc(capacity, sizeof(*buckets));
    if (buckets == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "records: out of memory");
    free(records->buckets);
    records->buckets = buckets;
    records->bucket_count = records->capacity = capacity;
    for (size_t k = 0; k < records->count; k++)
        hang(records, k);
    return RTUNE_OK;
}

static bool grow_array(void **array, size_t *capacity, size_t needed, size_t item) {
    if (needed <= *capacity) return true;
    size_t wanted = *capacity == 0 ? 8 : *capacity;
    while (wanted < needed)
        wanted *= 2;
    void *grown = realloc(*array, wanted * item);
    if (grown == NULL) return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

static enum rtune_status append(struct rtune_record *r, const struct rtune_trial *trial,
                                struct rtune_error *err) {
    void *samples = r->samples, *ends = r->ends;
    bool room = grow_array(&samples, &r->sample_capacity, r->sample_count + trial->sample_count,
                           sizeof(double));
    r->samples = samples;
    room = room && grow_array(&ends, &r->trial_capacity, r->trial_count + 1, sizeof(uint32_t));
    r->ends = ends;
    if (!room) return rtune_err_set(err, RTUNE_NO_MEMORY, "records: out of memory");
    if (trial->sample_count > 0)
        memcpy(r->samples + r->sample_count, trial->samples, trial->sample_count * sizeof(double));
    r->sample_count += trial->sample_count;
    r->ends[r->trial_count++] = (uint32_t)r->sample_count;
    r->reason = trial->reason;
    snprintf(r->detail, sizeof(r->detail), "%s", trial->detail);
    return RTUNE_OK;
}

enum rtune_status rtune_records_add(void *user, const struct rtune_trial *trial,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_records *records = user;
    struct rtune_record *r = rtune_records_find(records, &trial->problem, &trial->config);
    if (r == NULL) {
        TRY(grow(records, err));
        r = &records->list[records->count];
        memset(r, 0, sizeof(*r));
        r->problem = trial->problem;
        r->config = trial->config;
        hang(records, records->count++);
    }
    TRY(append(r, trial, err));
done:
    return status;
}
