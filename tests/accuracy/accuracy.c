/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accuracy.c: errors of float sums beside an accumulator that loses nothing, and their bounds.
 *
 *     rtune_accuracy --device cpu|cuda:0 [--max N] [--commit ID] [--output FILE.csv]
 *
 * A line that says where the figures are from, then one row for each mode, op, dtype, acc, kind of
 * data and n; exit status 1 if an error exceeds its bound, 77 if there is no such device.
 */
#include "tests/accuracy/data.h"
#include "tests/reference/element.h"
#include "tests/reference/reference.h"

#include "base/num.h"
#include "kernels/kernels.h"
#include "runtime/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXED_SCALE 0x1p32

struct bench {
    rtune_device *dev;
    rtune *rt;
    const char *spec, *commit;
    void *stream, *out, *in[2]; /* on the device */
    void *host[2];
    uint64_t max;
    FILE *csv;
    unsigned rows, exceeded;
};

static void fail(const struct rtune_error *err) {
    fprintf(stderr, "rtune_accuracy: %s\n", err->message);
    exit(err->status == RTUNE_NO_DEVICE ? 77 : 1);
}
#define OK(expr)                                                                                   \
    do {                                                                                           \
        if ((expr) != RTUNE_OK) fail(&err);                                                        \
    } while (0)

static void open_device(struct bench *b) {
    struct rtune_error err;
    const struct rtune_device_request request = {.spec = b->spec};
    struct rtune_options options = RTUNE_OPTIONS_INIT;
    const size_t bytes = b->max * 8;
    options.device = b->spec;
    options.store = "none";
    OK(rtune_device_open(&request, &b->dev, &err));
    OK(rtune_open(&b->rt, &options, &err));
    OK(b->dev->ops->stream_create(b->dev, &b->stream, &err));
    OK(b->dev->ops->mem_alloc(b->dev, 16, &b->out, &err));
    for (int k = 0; k < 2; k++) {
        OK(b->dev->ops->mem_alloc(b->dev, bytes, &b->in[k], &err));
        b->host[k] = malloc(bytes);
        if (!b->host[k]) OK(rtune_err_set(&err, RTUNE_NO_MEMORY, "out of memory"));
    }
}

static void close_device(struct bench *b) {
    for (int k = 0; k < 2; k++) {
        b->dev->ops->mem_free(b->dev, b->in[k]);
        free(b->host[k]);
    }
    b->dev->ops->mem_free(b->dev, b->out);
    b->dev->ops->stream_destroy(b->dev, b->stream);
    rtune_close(b->rt);
    rtune_device_close(b->dev);
}

/* Additions on the longest path, as docs/ACCURACY.md has them. */
static uint64_t depth_of(const struct bench *b, const struct rtune_problem *p,
                         const struct rtune_launch *launch) {
    if (p->mode == RTUNE_REPRODUCIBLE) return reference_depth_reproducible(p);
    if (b->dev->cuda) return reference_depth_of(p->n, &launch->config, launch->grid);
    const uint64_t chains = p->mode == RTUNE_KAHAN ? 16 : launch->config.items / 2;
    return p->n / (chains * launch->grid) + 64 + launch->grid;
}

static void measure(const struct bench *b, const struct reference *exact,
                    const struct rtune_problem *p, struct reference_error *error) {
    struct rtune_error err;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_args args = RTUNE_ARGS(b->in[0], b->out);
    struct reference like = *exact;
    unsigned char got[16];
    args.in2 = p->op == RTUNE_DOT ? b->in[1] : NULL;
    args.scale = FIXED_SCALE;
    args.launch = &launch;
    OK(rtune_reduce(b->rt, p, &args, b->stream, &err));
    OK(b->dev->ops->stream_wait(b->dev, b->stream, &err));
    OK(b->dev->ops->mem_get(b->dev, got, b->out, rtune_result_size(p), &err));
    like.problem.mode = p->mode;
    like.problem.acc = p->acc;
    if (p->mode != RTUNE_FIXED) {
        reference_measure(&like, got, depth_of(b, p, &launch), error);
        return;
    }
    struct rtune_fixed fixed;
    memcpy(&fixed, got, sizeof fixed);
    error->exact = exact_value(&exact->sum.exact);
    error->magnitude = exact->sum.magnitude;
    error->error = fabsl((long double)fixed.value / FIXED_SCALE - error->exact);
    error->bound = fixed.flags ? 0 : (long double)p->n / (2 * FIXED_SCALE);
    if (p->dtype == RTUNE_F64 && (p->op == RTUNE_SUMSQ || p->op == RTUNE_DOT))
        error->bound += ldexpl(error->magnitude, -53); /* no product here is subnormal */
}

static void add_row(struct bench *b, const struct rtune_problem *p, enum accuracy_data data,
                    const struct reference_error *e) {
    const long double size = fabsl(e->exact);
    const bool exceeded = !(e->error <= e->bound);
    b->rows++;
    b->exceeded += exceeded;
    if (exceeded)
        fprintf(stderr, "rtune_accuracy: %s of %s, %s, %s, %s, n = %llu: error %Lg, bound %Lg\n",
                rtune_op_name(p->op), rtune_dtype_name(p->dtype), rtune_acc_name(p->acc),
                rtune_mode_name(p->mode), accuracy_data_name(data), (unsigned long long)p->n,
                e->error, e->bound);
    if (!b->csv) return;
    fprintf(b->csv, "%s,%s,%s,%s,%s,%llu,%.3Lg,%.3Lg,%.3Lg,%.3Lg\n", rtune_mode_name(p->mode),
            rtune_op_name(p->op), rtune_dtype_name(p->dtype), rtune_acc_name(p->acc),
            accuracy_data_name(data), (unsigned long long)p->n, e->magnitude / size,
            e->error / size, e->bound / size, e->bound > 0 ? e->error / e->bound : 0);
}

/* All modes and accs of one op on one input. */
static void measure_modes(struct bench *b, enum rtune_op op, enum rtune_dtype dtype,
                          enum accuracy_data data, uint64_t n) {
    struct rtune_problem p = RTUNE_PROBLEM(op, dtype, n);
    struct reference exact;
    struct reference_error error;
    reference_begin(&exact, &p, 1);
    reference_add(&exact, b->host[0], b->host[1], n);
    if (exact_value(&exact.sum.exact) == 0)
        return; /* what should remain is below the dtype's least */
    for (int mode = 0; mode < RTUNE_MODE_COUNT; mode++) {
        for (int acc = 0; acc < RTUNE_ACC_COUNT; acc++) {
            p.mode = (enum rtune_mode)mode;
            p.acc = (enum rtune_acc)acc;
            const struct rtune_problem canonical = rtune_problem_canonical(&p);
            if (canonical.acc != p.acc || rtune_problem_check(&p, NULL) != RTUNE_OK) continue;
            if (acc == RTUNE_NATIVE && exact.sum.magnitude > (dtype == RTUNE_F16 ? 65000 : 1e30L))
                continue; /* overflows */
            measure(b, &exact, &p, &error);
            add_row(b, &p, data, &error);
        }
    }
}

static void measure_inputs(struct bench *b, enum rtune_dtype dtype, enum accuracy_data data,
                           uint64_t n) {
    struct rtune_error err;
    const bool cancels = data >= ACCURACY_1E4;
    accuracy_fill(data, dtype, n, b->host[0], b->host[1]);
    for (int k = 0; k < 2; k++)
        OK(b->dev->ops->mem_put(b->dev, b->in[k], b->host[k], n * element_size(dtype), &err));
    for (int op = RTUNE_SUM; op <= RTUNE_DOT; op++)
        if (!cancels || op == RTUNE_SUM || op == RTUNE_DOT)
            measure_modes(b, (enum rtune_op)op, dtype, data, n);
}

static void usage(void) {
    fprintf(stderr, "usage: rtune_accuracy --device SPEC [--max N] [--commit ID] "
                    "[--output FILE.csv]\n");
    exit(2);
}

int main(int argc, char **argv) {
    static const enum rtune_dtype dtypes[] = {RTUNE_F16, RTUNE_BF16, RTUNE_F32, RTUNE_F64};
    struct bench b = {.spec = "cpu", .commit = "unknown", .max = 10000000};
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) usage();
        if (strcmp(argv[i], "--device") == 0)
            b.spec = argv[i + 1];
        else if (strcmp(argv[i], "--max") == 0)
            b.max = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--commit") == 0)
            b.commit = argv[i + 1];
        else if (strcmp(argv[i], "--output") == 0)
            b.csv = fopen(argv[i + 1], "w");
        else
            usage();
    }
    open_device(&b);
    if (b.csv)
        fprintf(b.csv,
                "# device=%s units=%u commit=%s\n"
                "mode,op,dtype,acc,data,n,condition,error,bound,quotient\n",
                b.dev->identity.name, (unsigned)b.dev->units, b.commit);
    for (uint64_t n = 1000; n <= b.max; n *= 100)
        for (size_t d = 0; d < RTUNE_ARRAY_SIZE(dtypes); d++)
            for (int data = 0; data < ACCURACY_DATA_COUNT; data++)
                measure_inputs(&b, dtypes[d], (enum accuracy_data)data, n);
    close_device(&b);
    printf("%u rows, %u beyond their bounds\n", b.rows, b.exceeded);
    if (b.csv && fclose(b.csv) != 0) return 1;
    return b.exceeded || b.rows == 0 ? 1 : 0;
}
