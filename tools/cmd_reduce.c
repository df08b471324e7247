/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/cmd_reduce.c: reduce the elements of a file, or for dot of two, with the launch that the
 * library serves. What does not fit on the device goes there in pieces, each of which accumulates
 * on the result of those before it.
 */
#include "base/num.h"
#include "base/parse.h"
#include "tools/console.h"
#include "tools/datafile.h"
#include "tools/device_arg.h"
#include "tools/problem_arg.h"
#include "tools/result.h"
#include "tools/serve.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Host memory for one transfer; on cpu also the most that is reduced at a time. */
#define STAGE_BYTES ((uint64_t)16 << 20)
#define STREAM_ELEMENTS ((uint64_t)1 << 26) /* at a time, where the end is not known */
#define CPU_BYTES ((uint64_t)1 << 30)

enum { INPUTS = 2 };

/* A place for elements that the library can read. On cpu it is host memory, and dev is NULL. */
struct target {
    rtune_device *dev;
    void *in[INPUTS]; /* capacity elements each; the second is NULL but for dot */
    void *out;        /* RESULT_BYTES */
    void *stage;      /* STAGE_BYTES of host memory; NULL on cpu */
    uint64_t capacity;
    size_t element;
};

/* All that the command works with. */
struct work {
    rtune *rt;
    struct rtune_problem problem;
    struct datafile file[INPUTS];
    int files;
    double scale;
    struct target target;
    struct rtune_launch launch;
    unsigned char result[RESULT_BYTES];
};

static void free_place(struct target *target, void *memory) {
    if (memory == NULL) return;
    if (target->dev != NULL)
        target->dev->ops->mem_free(target->dev, memory);
    else
        free(memory);
}

static void target_close(struct target *target) {
    for (int k = 0; k < INPUTS; k++)
        free_place(target, target->in[k]);
    free_place(target, target->out);
    free(target->stage);
    rtune_device_close(target->dev);
    memset(target, 0, sizeof *target);
}

static enum rtune_status host_alloc(size_t size, void **memory, struct rtune_error *err) {
    *memory = malloc(size);
    if (*memory == NULL)
        return rtune_err_set(err, RTUNE_NO_MEMORY,
                             "out of memory: %zu bytes (give a smaller --chunk)", size);
    return RTUNE_OK;
}

static enum rtune_status make_place(struct target *target, size_t size, void **memory,
                                    struct rtune_error *err) {
    if (target->dev == NULL) return host_alloc(size, memory, err);
    return target->dev->ops->mem_alloc(target->dev, size, memory, err);
}

/* Room for `wanted` elements of each file, or for as many as fit. */
static enum rtune_status target_open(struct work *work, uint64_t wanted, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct target *target = &work->target;
    const char *device = rtune_device_name(work->rt);
    uint64_t room = CPU_BYTES;
    target->element = rtune_dtype_size(work->problem.dtype);
    if (strcmp(device, "cpu") != 0) {
        struct rtune_device_request request = {.spec = device};
        TRY(rtune_device_open(&request, &target->dev, err));
        TRY(target->dev->ops->mem_free_bytes(target->dev, &room, err));
        room = room / 10 * 6;
        TRY(host_alloc(STAGE_BYTES, &target->stage, err));
    }
    room /= (uint64_t)work->files * target->element;
    target->capacity = rtune_max_u64(rtune_min_u64(wanted, room), 1);
    for (int k = 0; k < work->files; k++)
        TRY(make_place(target, target->capacity * target->element, &target->in[k], err));
    TRY(make_place(target, RESULT_BYTES, &target->out, err));
done:
    return status;
}

/* Fill a place from its file; *got is less than the capacity at the end only. */
static enum rtune_status target_fill(struct target *target, struct datafile *file, void *in,
                                     uint64_t *got, struct rtune_error *err) {
    if (target->dev == NULL) return datafile_read(file, in, target->capacity, got, err);
    enum rtune_status status = RTUNE_OK;
    uint64_t step = STAGE_BYTES / target->element;
    uint64_t filled = 0;
    uint64_t part = 1;
    while (filled < target->capacity && part > 0) {
        TRY(datafile_read(file, target->stage, rtune_min_u64(step, target->capacity - filled),
                          &part, err));
        if (part > 0)
            TRY(target->dev->ops->mem_put(target->dev, (char *)in + filled * target->element,
                                          target->stage, part * target->element, err));
        filled += part;
    }
    *got = filled;
done:
    return status;
}

static enum rtune_status fill_all(struct work *work, uint64_t *got, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t other;
    TRY(target_fill(&work->target, &work->file[0], work->target.in[0], got, err));
    for (int k = 1; k < work->files; k++) {
        TRY(target_fill(&work->target, &work->file[k], work->target.in[k], &other, err));
        if (other != *got)
            TRY(rtune_err_set(err, RTUNE_INVALID, "%s and %s: not equally many elements",
                              work->file[0].name, work->file[k].name));
    }
done:
    return status;
}

static enum rtune_status fetch(struct work *work, unsigned char result[RESULT_BYTES],
                               struct rtune_error *err) {
    const size_t size = rtune_result_size(&work->problem);
    rtune_device *dev = work->target.dev;
    if (dev != NULL) return dev->ops->mem_get(dev, result, work->target.out, size, err);
    memcpy(result, work->target.out, size);
    return RTUNE_OK;
}

/* One piece after those of work->problem.n elements. */
static enum rtune_status reduce_piece(struct work *work, uint64_t n, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct target *target = &work->target;
    struct rtune_problem piece = work->problem;
    struct rtune_args args = RTUNE_ARGS(target->in[0], target->out);
    const bool indexed = piece.op == RTUNE_ARGMIN || piece.op == RTUNE_ARGMAX;
    const bool first = piece.n == 0;
    unsigned char result[RESULT_BYTES] = {0};
    args.in2 = target->in[1];
    args.scale = work->scale;
    args.launch = &work->launch;
    if (!first && piece.mode == RTUNE_REPRODUCIBLE)
        TRY(rtune_err_set(
            err, RTUNE_UNSUPPORTED,
            "mode reproducible: the elements do not fit on the device at once, and in "
            "pieces the bits would be others (give a larger --chunk, or another "
            "device or mode)"));
    piece.n = n;
    if (!first && !indexed) piece.flags |= RTUNE_ACCUMULATE;
    TRY(rtune_reduce(work->rt, &piece, &args, NULL, err));
    /* The place is filled again, and the result read, only when the device is done. */
    if (target->dev != NULL) TRY(target->dev->ops->stream_wait(target->dev, NULL, err));
    TRY(fetch(work, result, err));
    if (first || !indexed)
        memcpy(work->result, result, sizeof result);
    else
        result_join(&piece, work->problem.n, result, work->result);
    work->problem.n += n;
done:
    return status;
}

static enum rtune_status reduce_all(struct work *work, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t got;
    work->problem.n = 0;
    do {
        TRY(fill_all(work, &got, err));
        if (got == 0 && work->problem.n > 0) break;
        TRY(reduce_piece(work, got, err));
    } while (got == work->target.capacity);
done:
    if (status == RTUNE_EMPTY) rtune_err_prefix(err, "%s", work->file[0].name);
    return status;
}

static int print_result(const struct cli *cli, const struct work *work) {
    const char *warning = result_warns(&work->problem, work->result);
    struct result_text text;
    struct json json;
    result_text(&work->problem, work->result, &text);
    if (warning != NULL) console_warn("%s: %s", work->file[0].name, warning);
    if (!cli->opt.json) {
        result_print(&work->problem, &text);
        return CLI_OK;
    }
    json_begin(&json);
    result_json(&json, &text);
    serve_launch_json(&json, work->rt, &work->problem, &work->launch);
    return json_print(&json);
}

static enum rtune_status open_files(const struct cli *cli, struct work *work,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const uint64_t limit = cli->opt.has_n ? cli->opt.n : DATAFILE_UNKNOWN;
    enum rtune_dtype raw = RTUNE_F32;
    if (cli->opt.dtypes != 0) raw = (enum rtune_dtype)__builtin_ctz(cli->opt.dtypes);
    for (int k = 0; k < work->files; k++) {
        TRY(datafile_open(&work->file[k], cli->opt.args[k], cli->opt.dtypes != 0 ? &raw : NULL,
                          limit, err));
        if (work->file[k].dtype != work->file[0].dtype || work->file[k].n != work->file[0].n)
            TRY(rtune_err_set(err, RTUNE_INVALID,
                              "%s and %s: not equally many elements of one type",
                              work->file[0].name, work->file[k].name));
    }
done:
    return status;
}

/* What is wrong on the command line is said before any file or device is touched. */
static enum rtune_status check_options(const struct cli *cli, struct work *work,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    enum rtune_dtype raw = RTUNE_F32;
    const uint64_t none = 0;
    if (cli->opt.dtypes != 0) raw = (enum rtune_dtype)__builtin_ctz(cli->opt.dtypes);
    TRY(device_arg_check(cli->opt.device, false, false, err));
    status = problem_arg_one(&cli->opt, &raw, &none, &work->problem, err);
    if (status == RTUNE_UNSUPPORTED && cli->opt.dtypes == 0)
        status = RTUNE_OK; /* the file's type */
    TRY(status);
    work->scale = 1;
    if (cli->opt.scale != NULL) {
        status = rtune_parse_double(cli->opt.scale, -DBL_MAX, DBL_MAX, &work->scale, err);
        if (status == RTUNE_OK && !(work->scale < 0 || work->scale > 0))
            status = rtune_err_set(err, RTUNE_RANGE, "0 is no scale");
        if (status != RTUNE_OK) rtune_err_prefix(err, "--scale");
        TRY(status);
    }
    if (work->problem.op == RTUNE_DOT && cli->opt.arg_count != 2)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "--op dot: takes two files"));
    if (work->problem.op == RTUNE_DOT && strcmp(cli->opt.args[0], "-") == 0 &&
        strcmp(cli->opt.args[1], "-") == 0)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "-: standard input is read once (give a file)"));
    if (work->problem.op != RTUNE_DOT && cli->opt.arg_count != 1)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "--op %s: takes one file",
                          rtune_op_name(work->problem.op)));
    if (cli->opt.scale != NULL && work->problem.mode != RTUNE_FIXED)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "--scale: mode %s has none (use --mode fixed)",
                          rtune_mode_name(work->problem.mode)));
done:
    return status;
}

int cmd_reduce(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct work work = {.file = {{.fd = -1}, {.fd = -1}}, .launch = RTUNE_LAUNCH_INIT};
    int code = CLI_OK;
    const uint64_t none = 0;
    uint64_t chunk = cli->opt.has_chunk ? cli->opt.chunk : UINT64_MAX;
    if (check_options(cli, &work, &err) != RTUNE_OK) return cli_usage(cli, &err);
    work.files = (int)cli->opt.arg_count;
    TRY(open_files(cli, &work, &err));
    TRY(problem_arg_one(&cli->opt, &work.file[0].dtype, &none, &work.problem, &err));
    if (work.file[0].n == DATAFILE_UNKNOWN) chunk = rtune_min_u64(chunk, STREAM_ELEMENTS);
    TRY(serve_open(cli, &work.rt, &err));
    TRY(target_open(&work, rtune_min_u64(work.file[0].n, chunk), &err));
    TRY(reduce_all(&work, &err));
    code = print_result(cli, &work);
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    target_close(&work.target);
    rtune_close(work.rt);
    for (int k = 0; k < INPUTS; k++)
        datafile_close(&work.file[k]);
    return code;
}
