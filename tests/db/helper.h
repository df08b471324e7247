/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/db/helper.h: what the tests of db/ share: a scratch folder, made-up devices, winners and
 * trials, files as bytes, and children that do one thing and end.
 */
#ifndef RTUNE_TESTS_DB_HELPER_H
#define RTUNE_TESTS_DB_HELPER_H

#include "db/db_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above, which it needs */
#include <cmocka.h>

/* cmocka fixtures: *state is the path of an empty scratch folder, removed with all in it. */
int scratch_make(void **state);
int scratch_remove(void **state);
/* Path of a file in it; valid until 64 other paths have been asked for. */
const char *in(void *const *state, const char *name);

/* A store folder's fixed rows. Devices are "NVIDIA X" with 100 + k SMs; devices of one k are equal.
 */
struct rtune_identity make_device(unsigned k);
struct rtune_identity make_cpu(void);
/* A winner for sum of f32 (op and dtype can be changed after), tuned at n, served from..to; tag
 * goes into its time, so that rows can be told apart. */
struct rtune_winner make_winner(uint64_t n, uint64_t from, uint64_t to, double tag);
struct rtune_session make_session(const char *effort);
/* A trial that succeeded, with `count` samples (at most 64) starting at tag; the samples are
 * static. */
struct rtune_trial make_trial(uint64_t n, double tag, size_t count);
/* Merge count winners of one device; fails the test if it does not work. */
void put(const char *path, unsigned device, const struct rtune_winner *winners, size_t count);
/* Read a store; fails the test if it does not work. */
struct rtune_table get(const char *path);

void file_put(const char *path, const void *data, size_t size);
unsigned char *file_get(const char *path, size_t *size); /* free() it */
bool file_exists(const char *path);
/* Do two files have equal content? */
bool file_same(const char *a, const unsigned char *data, size_t size);
/* Run SQL on a database file, as another program would. */
void shell(const char *path, const char *sql);

/* Run a function in a child process; its result is the exit status, or 128 + the signal that ended
 * it. */
int in_child(int (*function)(void *), void *argument);
/* Start one; wait for it as in_child does. */
int child_start(int (*function)(void *), void *argument);
int child_wait(int pid);

/* Assert a status, printing the message if it differs. */
#define assert_status(expected, err_, expr)                                                        \
    check_status((expected), (expr), (err_), #expr, __FILE__, __LINE__)
void check_status(enum rtune_status expected, enum rtune_status found,
                  const struct rtune_error *err, const char *text, const char *file, int line);

/* A hook that counts steps and at the k-th fails with errnum, or kills the process if errnum is 0.
 */
struct trip {
    int at; /* 1 is the first; 0: never */
    int errnum;
    int calls;
};
int trip_step(void *trip, enum rtune_db_step step);
struct rtune_db_io trip_io(struct trip *trip);

#endif /* RTUNE_TESTS_DB_HELPER_H */
