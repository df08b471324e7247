/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/runtime/toy.h: a device that computes nothing. It remembers what was asked of it and fails
 * when told to, so that policy and bookkeeping are tested without a driver. And stores made of a
 * few rows.
 */
#ifndef RTUNE_TESTS_RUNTIME_TOY_H
#define RTUNE_TESTS_RUNTIME_TOY_H

#include "runtime/lookup.h"

#include <setjmp.h>

#include <cmocka.h>

enum { TOY_EVENTS = 4200 };

struct toy_event {
    atomic_bool made, pending;
    void *_Atomic stream; /* it was last recorded on */
};

struct toy {
    struct rtune_device base;
    uint32_t resident;
    bool no_builtin;          /* built-in kernels cannot be opened */
    bool no_image;            /* nor can images */
    _Atomic uint64_t calls;   /* of all functions */
    _Atomic uint64_t fail_at; /* this call fails; 0: none does */
    _Atomic uint64_t launches, sets, kernels, allocations, streams;
    pthread_mutex_t last_lock;
    struct rtune_launch_request last; /* launch */
    uint32_t last_block;
    bool capturing;   /* what stream_state says */
    bool events_done; /* every event is done */
    struct toy_event events[TOY_EVENTS];
    struct rtune_log log;
};

/* A cuda device "toy:0" with the identity of an H200, or what identity (may be NULL) says. */
struct toy *toy_new(const struct rtune_identity *identity);
struct rtune_identity toy_identity(int cc_major, int cc_minor, uint32_t sm_count);

/* A table that grows row by row. */
struct rows {
    struct rtune_table table;
};
uint32_t rows_device(struct rows *rows, const struct rtune_identity *identity);
/* A winner tuned at n and served for [n, n]; block=256,items=16 on f32, and so on. Change it as you
 * like. */
struct rtune_winner *rows_add(struct rows *rows, uint32_t device, enum rtune_op op,
                              enum rtune_dtype dtype, uint64_t n, const char *config);
/* Write the rows as a store image to path (sorted as the store wants them) and forget them. */
void rows_write(struct rows *rows, const char *path);
void rows_free(struct rows *rows);

/* A folder of this test program's own; removed by scratch_remove. */
int scratch_make(void **state);
int scratch_remove(void **state);
/* Path of a file in it; the last 8 are valid. */
const char *scratch_path(const char *name);

/* The stores that are read, best first, in place of those of rtune_store_paths (but "none" is
 * none); NULL path: as the option says, alone. Linked with --wrap=rtune_store_paths. */
void use_stores(const char *first, const char *second);

/* No variable of the environment that the library reads, but XDG_DATA_HOME in the scratch folder.
 */
void clean_environment(void);

/* A handle on a toy; the store option may be NULL. Fails the test if it cannot be opened. */
rtune *toy_open(struct toy *toy, const char *store);

/* The launch that is served, and a check of where it came from and of words in its reason. */
struct rtune_launch served(const rtune *rt, const struct rtune_problem *problem);
void check_served(const rtune *rt, const struct rtune_problem *problem, enum rtune_source source,
                  const char *config, const char *words);

#endif /* RTUNE_TESTS_RUNTIME_TOY_H */
