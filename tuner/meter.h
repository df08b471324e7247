/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/meter.h: the seam between those who ask for measurements and those who make them.
 *
 * A meter answers "measure these candidates on this problem, so many samples each, interleaved". A
 * candidate that cannot be measured gets a reason; the meter itself fails only when nothing can be
 * measured any more. Implementations: meter_worker.c (a worker process that owns the device),
 * meter_replay.c (recorded trials), meter_record.c (in front of another meter: keeps trials,
 * answers from kept ones), and the fakes of the tests. One thread at a time.
 */
#ifndef RTUNE_TUNER_METER_H
#define RTUNE_TUNER_METER_H

#include "db/db.h"

#include <stdatomic.h>

struct rtune_candidate {
    struct rtune_config config;
    uint64_t image_at;   /* where its cubin is in the images */
    uint32_t image_size; /* 0: a built-in kernel, or cpu */
    double expect_us;    /* time of one launch as far as known, for deadlines; 0: unknown */
};

struct rtune_measure {
    struct rtune_problem problem; /* canonical, with n and cache */
    const struct rtune_candidate *candidates;
    size_t count;
    uint32_t samples; /* of each, at least 1 */
    bool thorough; /* finalists: a few at a time, in the same rounds, with every check there is */
};

struct rtune_measured {
    enum rtune_reason reason;
    char detail[256];
    double *samples;     /* room for measure.samples, given by the caller; us */
    size_t sample_count; /* equal for all candidates without a failure; sample j of all is of one
                            round */
};

/* What happened around the samples. */
struct rtune_measure_report {
    uint32_t discarded; /* rounds taken again because the clock had dropped */
    bool clock_drop;    /* ... and did not recover: kept at the lower clock */
    bool foreign_load;  /* the fixed probe varied so much that something else must be running */
};

/* What is known of the device behind a meter. */
struct rtune_meter_info {
    struct rtune_identity identity;
    char name[32]; /* "cuda:0" */
    bool cuda;
    uint32_t units;      /* SMs or threads */
    uint64_t free_bytes; /* of device memory when the meter was opened */
    double floor_us;     /* of a launch that does nothing; 0 until prepared */
    double read_gbs;     /* of the cache displacement: a first guess of the read bandwidth; GB/s */
    double overhead_us;  /* what one cold sample costs beside the launch itself */
    uint32_t sm_mhz, memory_mhz, temperature_c; /* last known; 0: unknown */
    uint32_t busy_percent; /* how busy others kept the device when the meter was opened */
};

struct rtune_meter;
struct rtune_meter_ops {
    /* Allocate for inputs of at most so many bytes, and warm up. */
    enum rtune_status (*prepare)(struct rtune_meter *meter, uint64_t input_bytes,
                                 struct rtune_error *err);
    /* INTERRUPTED when the stop flag was seen; results are then undefined. */
    enum rtune_status (*measure)(struct rtune_meter *meter, const struct rtune_measure *measure,
                                 struct rtune_measured *measured,
                                 struct rtune_measure_report *report, struct rtune_error *err);
    void (*close)(struct rtune_meter *meter);
    /* The configs that it can measure for a problem with n, in no order; the caller frees them.
     * NULL: any, the search space decides. */
    enum rtune_status (*configs)(struct rtune_meter *meter, const struct rtune_problem *problem,
                                 struct rtune_config **configs, size_t *count,
                                 struct rtune_error *err);
};
/* Every implementation's struct starts with this. */
struct rtune_meter {
    const struct rtune_meter_ops *ops;
    struct rtune_meter_info info;
};

/* NULL is accepted. */
static inline void rtune_meter_close(struct rtune_meter *meter) {
    if (meter != NULL) meter->ops->close(meter);
}

/* ---- a worker process ------------------------------------------------------------------------ */

struct rtune_worker_options {
    const char *worker; /* program, started as "worker --fd N" */
    const char *device;
    int images;       /* descriptor of a file of cubins, which may grow; -1: none. Borrowed */
    uint32_t threads; /* cpu */
    uint64_t seed;
    double candidate_limit_s; /* bounds the time of one candidate when it is verified, and nobody
                                 gets a second chance; 0: adaptive */
    double grace_s;           /* what a second chance adds; 0: 9 s */
    uint64_t deadline_ns;    /* of the session, of rtune_clock_ns: a second chance adds no more than
                                what is left; 0: none */
    const atomic_bool *stop; /* may be NULL */
    const struct rtune_log *log;
};
/* Start a worker and learn the device. Strings are borrowed for the life of the meter. */
enum rtune_status rtune_meter_worker(const struct rtune_worker_options *options,
                                     struct rtune_meter **meter, struct rtune_error *err);

/* ---- recorded trials ------------------------------------------------------------------------- */

/* Answer from the trials of a samples.db. Configs that were never recorded fail as CONSTRAINTS.
 * Samples are used up in the order taken and then start again. The device gets an identity of its
 * own ("replay"), so that what is learnt from a replay is never served to a real device. */
enum rtune_status rtune_meter_replay(const char *path, struct rtune_meter **meter,
                                     struct rtune_error *err);

/* Put in front of another meter, which it owns from then on (also when it fails). Every measured or
 * failed candidate is stored in work (may be NULL) and told to on_trial (may be NULL). resume:
 * trials that work already has answer first. */
typedef void (*rtune_on_trial)(void *user, const struct rtune_trial *trial);
enum rtune_status rtune_meter_record(struct rtune_meter *inner, rtune_work *work, bool resume,
                                     rtune_on_trial on_trial, void *user,
                                     struct rtune_meter **meter, struct rtune_error *err);

#endif /* RTUNE_TUNER_METER_H */
