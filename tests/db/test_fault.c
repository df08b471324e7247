/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges that fail or die at every step, locks that others hold, and many processes at once: the
 * store is the old one or the new one, and the next merge works. Cases E01, E09 and E19.
 */
#include "base/clock.h"
#include "base/rng.h"
#include "tests/db/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { KILLED = 128 + SIGKILL };

/* ---- steps ----------------------------------------------------------------------------------- */

struct job {
    const char *path;
    struct rtune_db_io io;
    double tag;
    struct rtune_error err;
};

/* Merge one row of device 0 with a tag. */
static int merge_one(void *argument) {
    struct job *job = argument;
    struct rtune_identity device = make_device(0);
    struct rtune_winner winner = make_winner(5, 1, 9, job->tag);
    struct rtune_session session = make_session("quick");
    struct rtune_table table = {&device, 1, &winner, 1};
    return (int)rtune_store_merge_with(job->path, &table, &session, &job->io, &job->err);
}

/* The one row's tag; 0 if there is no store. */
static double tag_in(const char *path) {
    if (!file_exists(path)) return 0;
    struct rtune_table table = get(path);
    assert_int_equal(table.winner_count, 1);
    double tag = table.winners[0].us;
    rtune_table_free(&table);
    return tag;
}

/* A later format for the steps of a migration: no table changes. */
static const struct rtune_schema *later_schema(void) {
    static const char *const more[] = {"CREATE INDEX later ON winner (n)", NULL};
    static const char *const *steps[RTUNE_DB_SCHEMA + 1];
    static struct rtune_schema later;
    later = *rtune_schema_store();
    memcpy(steps, later.steps, RTUNE_DB_SCHEMA * sizeof steps[0]);
    steps[RTUNE_DB_SCHEMA] = more;
    later.steps = steps;
    later.version = RTUNE_DB_SCHEMA + 1;
    return &later;
}

static void every_step_fails(void **state, bool existing, int errnum) {
    int k;
    bool done = false;
    const char *path = in(state, "tune.db");
    char new[RTUNE_DB_PATH];
    snprintf(new, sizeof new, "%s.new", path);
    for (k = 1; !done; k++) {
        struct trip trip = {k, errnum, 0};
        struct job job = {path, trip_io(&trip), 2, {0}},
                   again = {path, rtune_db_io_default(), 3, {0}};
        if (existing) put(path, 0, &(struct rtune_winner){0}, 0);
        if (existing) assert_int_equal(merge_one(&(struct job){path, again.io, 1, {0}}), RTUNE_OK);
        enum rtune_status status = (enum rtune_status)merge_one(&job);
        done = trip.calls < k;
        double tag = tag_in(path);
        assert_int_equal(status, done ? RTUNE_OK : RTUNE_IO);
        if (!done) assert_non_null(strstr(job.err.message, path));
        if (!done) assert_non_null(strstr(job.err.message, strerror(errnum)));
        assert_true(tag == 2 || (!done && tag == (existing ? 1 : 0)));
        assert_false(file_exists(new));
        assert_int_equal(merge_one(&again), RTUNE_OK);
        assert_true(tag_in(path) == 3);
        assert_int_equal(unlink(path), 0);
    }
    print_message("%d steps\n", k - 2);
    assert_true(k > (existing ? 11 : 7));
}

static void every_step_fails_on_a_new_store(void **state) {
    every_step_fails(state, false, ENOSPC);
}

static void every_step_fails_on_a_store(void **state) { every_step_fails(state, true, EIO); }

/* The old store or the new, whatever the step it died before; a migration too. */
static void every_step_is_the_last(void **state) {
    const char *path = in(state, "tune.db"), *backup = in(state, "tune.db.v2");
    int result = KILLED, deaths = 0;
    for (int k = 1; result == KILLED; k++) {
        struct trip trip = {k, 0, 0};
        struct job job = {path, trip_io(&trip), 2, {0}},
                   first = {path, rtune_db_io_default(), 1, {0}};
        struct job again = first;
        struct rtune_image image = {0};
        job.io.store = again.io.store = later_schema();
        again.tag = 3;
        assert_int_equal(merge_one(&first), RTUNE_OK);
        result = in_child(merge_one, &job);
        deaths += result == KILLED;
        assert_int_equal(rtune_image_load(path, later_schema(), &image, NULL), RTUNE_OK);
        if (image.version == RTUNE_DB_SCHEMA) assert_true(tag_in(path) == 1);
        /* Once it is replaced, its backup is there. */
        if (image.version > RTUNE_DB_SCHEMA) assert_true(tag_in(backup) == 1);
        rtune_image_free(&image);
        if (file_exists(in(state, "tune.db.1"))) assert_true(tag_in(in(state, "tune.db.1")) == 1);
        assert_int_equal(merge_one(&again),
                         RTUNE_OK); /* no lock is left, nor anything in the way */
        assert_int_equal(unlink(path), 0);
        assert_int_equal(unlink(in(state, "tune.db.1")), 0);
        if (file_exists(backup)) assert_int_equal(unlink(backup), 0);
    }
    assert_int_equal(result, RTUNE_OK);
    print_message("%d deaths\n", deaths);
    assert_true(deaths >= 15);
}

/* Not at a step but at any moment. */
static int merge_for_ever(void *argument) {
    struct job *job = argument;
    for (;;) {
        job->tag += 1;
        if (merge_one(job) != RTUNE_OK) return 1;
    }
}

static void death_at_any_moment(void **state) {
    const char *given = getenv("RTUNE_TEST_SEED");
    struct rtune_rng rng = {given == NULL ? 19 : strtoull(given, NULL, 10), 0};
    struct job job = {in(state, "tune.db"), rtune_db_io_default(), 1, {0}};
    print_message("RTUNE_TEST_SEED=%llu\n", (unsigned long long)rng.seed);
    assert_int_equal(merge_one(&job), RTUNE_OK);
    for (int round = 0; round < 30; round++) {
        const struct timespec moment = {0, (long)rtune_rng_below(&rng, 20000000)};
        int pid = child_start(merge_for_ever, &job);
        nanosleep(&moment, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(child_wait(pid), KILLED);
        assert_true(tag_in(job.path) >= 1);
    }
    assert_int_equal(merge_one(&job), RTUNE_OK);
}

/* A disk that is really too small, for this process. */
static int merge_many_with_a_limit(void *argument) {
    enum { COUNT = 200 };
    struct job *job = argument;
    struct rtune_identity device = make_device(0);
    static struct rtune_winner winners[COUNT];
    struct rtune_table table = {&device, 1, winners, COUNT};
    const struct rlimit limit = {20000, 20000};
    for (size_t i = 0; i < COUNT; i++)
        winners[i] = make_winner(10 * i + 5, 10 * i, 10 * i + 9, 2);
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0) return 100;
    return (int)rtune_store_merge(job->path, &table, NULL, NULL);
}

static void disk_too_small(void **state) {
    struct job job = {in(state, "tune.db"), rtune_db_io_default(), 1, {0}};
    assert_int_equal(merge_one(&job), RTUNE_OK);
    assert_int_equal(in_child(merge_many_with_a_limit, &job), RTUNE_IO);
    assert_true(tag_in(job.path) == 1);
    assert_false(file_exists(in(state, "tune.db.new")));
}

/* ---- locks ----------------------------------------------------------------------------------- */

struct holder {
    const char *path;
    int ready[2], leave[2]; /* pipes: a byte when the lock is held, and when to let go */
};

static int hold_lock(void *argument) {
    struct holder *holder = argument;
    struct rtune_lock lock = {-1};
    char byte = 'x';
    if (rtune_lock_take(holder->path, 0, &lock, NULL) != RTUNE_OK) return 1;
    if (write(holder->ready[1], &byte, 1) != 1) return 2;
    if (read(holder->leave[0], &byte, 1) != 1) return 3;
    rtune_lock_release(&lock);
    return 0;
}

static int hold_start(struct holder *holder, const char *path) {
    char byte;
    holder->path = path;
    assert_int_equal(pipe(holder->ready), 0);
    assert_int_equal(pipe(holder->leave), 0);
    int pid = child_start(hold_lock, holder);
    assert_int_equal(read(holder->ready[0], &byte, 1), 1);
    close(holder->ready[0]);
    close(holder->ready[1]);
    return pid;
}

/* Case E19. */
static void a_locked_store(void **state) {
    struct job job = {in(state, "tune.db"), rtune_db_io_default(), 1, {0}};
    struct holder holder;
    assert_int_equal(merge_one(&job), RTUNE_OK);
    int pid = hold_start(&holder, job.path);
    job.io.wait_ms = 100;
    job.tag = 2;
    uint64_t start = rtune_clock_ns();
    assert_status(RTUNE_LOCKED, &job.err, (enum rtune_status)merge_one(&job));
    assert_in_range(rtune_clock_ns() - start, 100000000, 5000000000);
    assert_non_null(strstr(job.err.message, "tune.db.lock"));
    start = rtune_clock_ns();
    assert_true(tag_in(job.path) == 1); /* readers do not care */
    assert_in_range(rtune_clock_ns() - start, 0, 5000000000);
    job.io.wait_ms = 60000;
    int waiting = child_start(merge_one, &job);
    assert_int_equal(write(holder.leave[1], "x", 1), 1);
    assert_int_equal(child_wait(pid), 0);
    close(holder.leave[0]);
    close(holder.leave[1]);
    assert_int_equal(child_wait(waiting), RTUNE_OK); /* as soon as it is free */
    assert_true(tag_in(job.path) == 2);
    assert_int_equal(rtune_db_io_default().wait_ms, 10000); /* as documented */
}

static void a_shell_that_locks_the_file(void **state) {
    struct job job = {in(state, "tune.db"), rtune_db_io_default(), 1, {0}};
    sqlite3 *db = NULL;
    assert_int_equal(merge_one(&job), RTUNE_OK);
    assert_int_equal(sqlite3_open(job.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_true(tag_in(job.path) == 1);
    job.tag = 2;
    assert_int_equal(merge_one(&job), RTUNE_OK);
    assert_true(tag_in(job.path) == 2);
    sqlite3_close(db);
    assert_true(tag_in(job.path) == 2);
}

static void a_lock_file_that_is_none(void **state) {
    struct job job = {in(state, "tune.db"), rtune_db_io_default(), 1, {0}};
    alarm(60);
    assert_int_equal(mkfifo(in(state, "tune.db.lock"), 0600), 0);
    assert_status(RTUNE_IO, &job.err, (enum rtune_status)merge_one(&job));
    assert_int_equal(unlink(in(state, "tune.db.lock")), 0);
    assert_int_equal(symlink("/dev/null", in(state, "tune.db.lock")), 0);
    assert_status(RTUNE_IO, &job.err, (enum rtune_status)merge_one(&job));
    alarm(0);
}

/* ---- many at once ---------------------------------------------------------------------------- */

enum { WRITERS = 4, READERS = 4, ROUNDS = 12 };

struct worker {
    const char *path;
    unsigned device;
    int done[2]; /* of a reader: the end of this pipe says that all writers are done */
};

/* Each writer has a device of its own and sizes of its own. */
static int write_rounds(void *argument) {
    const struct worker *worker = argument;
    struct rtune_identity device = make_device(worker->device);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t n = 100 * i + worker->device;
        struct rtune_winner winner = make_winner(n, n, n + 50, i);
        struct rtune_session session = make_session("quick");
        struct rtune_table table = {&device, 1, &winner, 1};
        if (rtune_store_merge(worker->path, &table, &session, NULL) != RTUNE_OK) return 1;
    }
    return 0;
}

/* Readers see a whole store at all times, and rows never vanish. */
static int read_until_done(void *argument) {
    const struct worker *worker = argument;
    size_t before = 0;
    char byte;
    close(worker->done[1]);
    for (bool more = true; more;) {
        struct rtune_table table = {0};
        size_t skipped = 0;
        more = read(worker->done[0], &byte, 1) != 0;
        enum rtune_status status = rtune_store_read(worker->path, &table, &skipped, NULL);
        if (status != RTUNE_OK || skipped != 0 || table.winner_count < before) return 1;
        before = table.winner_count;
        rtune_table_free(&table);
    }
    return before == WRITERS * ROUNDS + 1 ? 0 : 2;
}

/* Cases E01 and E09. */
static void many_at_once(void **state) {
    int pids[WRITERS + READERS], done[2];
    struct worker workers[WRITERS + READERS];
    const char *path = in(state, "tune.db");
    struct rtune_winner first = make_winner(1, 1, 1, 1);
    assert_int_equal(pipe2(done, O_NONBLOCK | O_CLOEXEC), 0);
    put(path, 99, &first, 1);
    for (unsigned i = 0; i < WRITERS + READERS; i++) {
        workers[i] = (struct worker){path, i, {done[0], done[1]}};
        pids[i] = child_start(i < WRITERS ? write_rounds : read_until_done, &workers[i]);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(child_wait(pids[i]), 0);
    close(done[1]);
    for (unsigned i = WRITERS; i < WRITERS + READERS; i++)
        assert_int_equal(child_wait(pids[i]), 0);
    struct rtune_table table = get(path);
    assert_int_equal(table.device_count, WRITERS + 1);
    assert_int_equal(table.winner_count, WRITERS * ROUNDS + 1);
    rtune_table_free(&table);
    close(done[0]);
}

int main(void) {
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
    const struct CMUnitTest tests[] = {
        SCRATCH(every_step_fails_on_a_new_store),
        SCRATCH(every_step_fails_on_a_store),
        SCRATCH(every_step_is_the_last),
        SCRATCH(death_at_any_moment),
        SCRATCH(disk_too_small),
        SCRATCH(a_locked_store),
        SCRATCH(a_shell_that_locks_the_file),
        SCRATCH(a_lock_file_that_is_none),
        SCRATCH(many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
