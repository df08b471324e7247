/* SPDX-License-Identifier: Apache-2.0 */
/* meter_replay.c: measurements from a recorded sweep, so that search is tested on real timings. */
#include "tuner/meter.h"
#include "tuner/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_meter {
    struct rtune_meter base;
    struct rtune_records records;
};

static struct replay_meter *self(struct rtune_meter *meter) { return (struct replay_meter *)meter; }

static enum rtune_status replay_prepare(struct rtune_meter *base, uint64_t input_bytes,
                                        struct rtune_error *err) {
    (void)base;
    (void)input_bytes;
    (void)err;
    return RTUNE_OK;
}

static void replay_one(struct rtune_record *record, uint32_t samples,
                       struct rtune_measured *measured) {
    measured->sample_count = 0;
    measured->detail[0] = '\0';
    if (record == NULL || (record->sample_count == 0 && record->reason == RTUNE_REASON_CORRECT)) {
        measured->reason = RTUNE_REASON_CONSTRAINTS;
        snprintf(measured->detail, sizeof(measured->detail), "was never recorded");
        return;
    }
    measured->reason = record->reason;
    if (record->reason != RTUNE_REASON_CORRECT) {
        snprintf(measured->detail, sizeof(measured->detail), "%s", record->detail);
        return;
    }
    for (uint32_t k = 0; k < samples; k++) {
        measured->samples[k] = record->samples[record->next_sample % record->sample_count];
        record->next_sample++;
    }
    measured->sample_count = samples;
}

static enum rtune_status replay_measure(struct rtune_meter *base,
                                        const struct rtune_measure *measure,
                                        struct rtune_measured *measured,
                                        struct rtune_measure_report *report,
                                        struct rtune_error *err) {
    (void)err;
    memset(report, 0, sizeof(*report));
    for (size_t k = 0; k < measure->count; k++) {
        struct rtune_record *record = rtune_records_find(&self(base)->records, &measure->problem,
                                                         &measure->candidates[k].config);
        replay_one(record, measure->samples, &measured[k]);
    }
    return RTUNE_OK;
}

static enum rtune_status replay_configs(struct rtune_meter *base,
                                        const struct rtune_problem *problem,
                                        struct rtune_config **configs, size_t *count,
                                        struct rtune_error *err) {
    const struct rtune_records *records = &self(base)->records;
    struct rtune_config *list = calloc(records->count + 1, sizeof(*list));
    size_t found = 0;
    if (list == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "replay: out of memory");
    for (size_t k = 0; k < records->count; k++)
        if (rtune_problem_compare(&records->list[k].problem, problem) == 0)
            list[found++] = records->list[k].config;
    *configs = list;
    *count = found;
    return RTUNE_OK;
}

static void replay_close(struct rtune_meter *base) {
    rtune_records_free(&self(base)->records);
    free(base);
}

enum rtune_status rtune_meter_replay(const char *path, struct rtune_meter **meter,
                                     struct rtune_error *err) {
    static const struct rtune_meter_ops ops = {replay_prepare, replay_measure, replay_close,
                                               replay_configs};
    enum rtune_status status = RTUNE_OK;
    struct replay_meter *m = calloc(1, sizeof(*m));
    if (m == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "replay: out of memory");
    m->base.ops = &ops;
    rtune_records_init(&m->records);
    TRY(rtune_samples_read(path, NULL, rtune_records_add, &m->records, err));
    if (m->records.count == 0)
        TRY(rtune_err_set(err, RTUNE_NOT_FOUND, "%s: no recorded trials", path));
    struct rtune_meter_info *info = &m->base.info;
    info->cuda = m->records.list[0].config.block != 1;
    snprintf(info->name, sizeof(info->name), "replay");
    snprintf(info->identity.model, sizeof(info->identity.model), "replay");
    snprintf(info->identity.isa, sizeof(info->identity.isa), "replay");
    snprintf(info->identity.name, sizeof(info->identity.name), "replay");
    info->identity.cores = info->units = 1;
    info->free_bytes = UINT64_C(1) << 40; /* no input is ever made */
    info->overhead_us = 1;
    *meter = &m->base;
    m = NULL;
done:
    if (m != NULL) replay_close(&m->base);
    return status;
}
