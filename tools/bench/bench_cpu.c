/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_cpu.c: launches of the cpu device, of every op in mode plain, beside `#pragma omp
 * parallel for simd reduction` on as many threads (-O3 -march=native), and beside this machine's
 * read bandwidth; of the dtypes that bench_cpu_peers.c has. For developers.
 *
 * Prints CSV: op,dtype,n,threads,ours_us,omp_us,ratio,GB_s; ratio is ours / omp, GB_s is ours. The
 * op "read" is the read kernel: its time stands under omp_us, its bandwidth under GB_s. Dot reads
 * two inputs of half the size. Rounds of calls alternate; each starts with calls that are not
 * timed, until the other's threads no longer spin and the scheduler has spread these. A round gives
 * its median, a line its best round, since other load on the machine only adds time.
 *
 * Threads are bound to processors, unless BENCH_CPU_UNPINNED is set.
 *
 * Usage: bench_cpu [MiB ...]     sizes of the input; default 1, 16, 256 and 4 x the last-level
 * cache
 */
#include "tools/bench/bench_cpu.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/parse.h"
#include "runtime/device.h"

#include <dirent.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 15, CALLS_MAX = 1000, ROUND_NS = 10000000, WARM_NS = 40000000 };

/* ---- timing ---------------------------------------------------------------------------------- */

/* One side of a comparison: a launch, or a peer where kernel is NULL. */
struct side {
    rtune_device *dev;
    const rtune_kernel *kernel;
    struct rtune_launch_request request;
    bench_peer_fn *reduce;
    double rounds[ROUNDS];
};

static void die(const struct rtune_error *err) {
    fprintf(stderr, "bench_cpu: %s\n", err->message);
    exit(1);
}

static void call(const struct side *side) {
    const struct rtune_kernel_args *args = &side->request.args;
    struct rtune_error err;
    if (!side->kernel)
        side->reduce(args->in, args->in2, args->n, args->out);
    else if (side->dev->ops->launch(side->dev, side->kernel, &side->request, &err) != RTUNE_OK)
        die(&err);
}

static int compare_double(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_double);
    return values[count / 2];
}

static double best(const struct side *side) {
    double us = side->rounds[0];
    for (int k = 1; k < ROUNDS; k++)
        if (side->rounds[k] < us) us = side->rounds[k];
    return us;
}

static void time_round(struct side *side, int round) {
    double us[CALLS_MAX];
    size_t count = 0;
    for (uint64_t start = rtune_clock_ns(); rtune_clock_ns() - start < WARM_NS;)
        call(side);
    for (uint64_t start = rtune_clock_ns(), now = start;
         count < CALLS_MAX && (count < 3 || now - start < ROUND_NS); count++) {
        const uint64_t before = rtune_clock_ns();
        call(side);
        now = rtune_clock_ns();
        us[count] = (double)(now - before) / 1000.0;
    }
    side->rounds[round] = median(us, count);
}

static void print_us(double us) {
    printf("%llu.%02llu", (unsigned long long)us, (unsigned long long)(us * 100.0) % 100);
}

static void print_line(const char *op, const char *dtype, uint64_t n, uint32_t threads, double ours,
                       double peer, double bytes_us) {
    printf("%s,%s,%llu,%u,", op, dtype, (unsigned long long)n, (unsigned)threads);
    print_us(ours);
    printf(",");
    print_us(peer);
    printf(",");
    print_us(peer > 0 ? ours / peer : 0);
    printf(",");
    print_us(bytes_us / 1000.0);
    printf("\n");
    fflush(stdout);
}

/* ---- placement ------------------------------------------------------------------------------- */

/* Bind a thread (0: this one) to the k-th processor of the mask. */
static void pin(pid_t thread, int k, const cpu_set_t *mask) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, mask) && k-- == 0) CPU_SET(cpu, &one);
    if (sched_setaffinity(thread, sizeof one, &one) != 0) perror("bench_cpu: sched_setaffinity");
}

/* Both sides' threads on the same processors, one each: where the scheduler puts them is not
 * compared. To be called before OpenMP has threads: all but the first are the device's. */
static void pin_threads(void) {
    cpu_set_t mask;
    DIR *tasks = opendir("/proc/self/task");
    int k = 1;
    if (!tasks || sched_getaffinity(0, sizeof mask, &mask) != 0) return;
    for (struct dirent *entry; (entry = readdir(tasks));) {
        uint64_t thread = 0;
        if (rtune_parse_u64(entry->d_name, 1, INT32_MAX, &thread, NULL) == RTUNE_OK &&
            (pid_t)thread != getpid())
            pin((pid_t)thread, k++, &mask);
    }
    closedir(tasks);
#pragma omp parallel
    pin(0, omp_get_thread_num(), &mask);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void bench_read(rtune_device *dev, const void *in, size_t bytes) {
    uint64_t out;
    struct side read = {.request = {.args = {.in = in, .n = bytes, .out = &out}},
                        .reduce = bench_read_all};
    for (int round = 0; round < ROUNDS; round++)
        time_round(&read, round);
    const double us = best(&read);
    print_line("read", "u64", bytes / 8, dev->units, 0, us, (double)bytes / us);
}

/* Ours alone where there is no peer. */
static void bench_op(rtune_device *dev, struct rtune_problem problem, const void *in,
                     size_t bytes) {
    const size_t one = bytes / (problem.op == RTUNE_DOT ? 2 : 1);
    const struct rtune_config config = rtune_config_default(&problem, false);
    struct rtune_error err;
    rtune_kernel *kernel = NULL;
    uint64_t out[2];
    problem.n = one / rtune_dtype_size(problem.dtype);
    if (dev->ops->kernel_open(dev, &problem, &config, NULL, 0, &kernel, &err) != RTUNE_OK)
        die(&err);
    struct side ours = {.dev = dev, .kernel = kernel};
    ours.request.args = (struct rtune_kernel_args){.in = in, .out = out, .n = problem.n};
    if (problem.op == RTUNE_DOT) ours.request.args.in2 = (const unsigned char *)in + one;
    ours.request.grid = rtune_grid_resolve(&config, problem.dtype, problem.n, dev->units, 1);
    struct side theirs = {.request = ours.request,
                          .reduce = bench_peer_find(problem.op, problem.dtype)};
    for (int round = 0; round < ROUNDS; round++) {
        if (theirs.reduce && round % 2 == 0) time_round(&theirs, round);
        time_round(&ours, round);
        if (theirs.reduce && round % 2) time_round(&theirs, round);
    }
    const double us = best(&ours);
    print_line(rtune_op_name(problem.op), rtune_dtype_name(problem.dtype), problem.n,
               ours.request.grid, us, best(&theirs), (double)bytes / us);
    dev->ops->kernel_close(dev, kernel);
}

static void bench_ops(rtune_device *dev, const void *in, size_t bytes) {
    struct rtune_problem problem;
    for (size_t k = 0; rtune_problem_at(k, &problem); k++) {
        const bool plain = problem.mode == RTUNE_PLAIN && problem.acc == RTUNE_WIDE &&
                           problem.nan_rule == RTUNE_NAN_PROPAGATE;
        if (plain && bench_peer_has(problem.dtype)) bench_op(dev, problem, in, bytes);
    }
}

int main(int argc, char **argv) {
    const struct rtune_device_request request = {.spec = "cpu"};
    uint64_t sizes[16] = {1, 16, 256, 0};
    size_t count = 4;
    rtune_device *dev = NULL;
    struct rtune_error err;
    void *in = NULL;
    if (rtune_device_open_cpu(&request, &dev, &err) != RTUNE_OK) die(&err);
    omp_set_num_threads((int)dev->units);
    if (!getenv("BENCH_CPU_UNPINNED")) pin_threads();
    sizes[3] = rtune_max_u64(4 * (dev->identity.l3_bytes >> 20), 512);
    if (argc > 1) count = rtune_min_u64((uint64_t)argc - 1, RTUNE_ARRAY_SIZE(sizes));
    for (size_t k = 0; argc > 1 && k < count; k++)
        if (rtune_parse_u64(argv[k + 1], 1, 1 << 20, &sizes[k], &err) != RTUNE_OK) die(&err);
    printf("op,dtype,n,threads,ours_us,omp_us,ratio,GB_s\n");
    for (size_t s = 0; s < count; s++) {
        const size_t bytes = (size_t)sizes[s] << 20;
        if (dev->ops->mem_alloc(dev, bytes, &in, &err) != RTUNE_OK) die(&err);
        memset(in, 0, bytes);
        bench_read(dev, in, bytes);
        bench_ops(dev, in, bytes);
        dev->ops->mem_free(dev, in);
    }
    dev->ops->close(dev);
    return 0;
}
