/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/cmd_reduce.c: reduce the elements of a file with the launch that the library serves. What
 * does not fit on the device goes there in pieces, each of which accumulates on the result of those
 * before it.
 */
#include "base/num.h"
#include "tools/console.h"
#include "tools/datafile.h"
#include "tools/device_arg.h"
#include "tools/problem_arg.h"
#include "tools/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Host memory for one transfer; on cpu also the most that is reduced at a time. */
#define STAGE_BYTES ((uint64_t)16 << 20)
#define STREAM_ELEMENTS ((uint64_t)1 << 26) /* at a time, where the end is not known */
#define CPU_BYTES ((uint64_t)1 << 30)

/* A place for elements that the library can read. On cpu it is host memory, and dev is NULL. */
struct target {
    rtune_device *dev;
    void *in;    /* capacity elements */
    void *out;   /* 16 bytes */
    void *stage; /* STAGE_BYTES of host memory; NULL on cpu */
    uint64_t capacity;
    size_t element;
};

static void target_close(struct target *target) {
    if (target->dev != NULL) {
        if (target->in != NULL) target->dev->ops->mem_free(target->dev, target->in);
        if (target->out != NULL) target->dev->ops->mem_free(target->dev, target->out);
    } else {
        free(target->in);
        free(target->out);
    }
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

/* Room for `wanted` elements, or for as many as fit. */
static enum rtune_status target_open(struct target *target, const char *device, uint64_t wanted,
                                     size_t element, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t room = CPU_BYTES;
    memset(target, 0, sizeof *target);
    target->element = element;
    if (strcmp(device, "cpu") != 0) {
        struct rtune_device_request request = {.spec = device};
        TRY(rtune_device_open(&request, &target->dev, err));
        TRY(target->dev->ops->mem_free_bytes(target->dev, &room, err));
        room = room / 10 * 6;
        TRY(host_alloc(STAGE_BYTES, &target->stage, err));
    }
    target->capacity = rtune_max_u64(rtune_min_u64(wanted, room / element), 1);
    if (target->dev != NULL) {
        TRY(target->dev->ops->mem_alloc(target->dev, target->capacity * element, &target->in, err));
        TRY(target->dev->ops->mem_alloc(target->dev, 16, &target->out, err));
    } else {
        TRY(host_alloc(target->capacity * element, &target->in, err));
        TRY(host_alloc(16, &target->out, err));
    }
done:
    if (status != RTUNE_OK) target_close(target);
    return status;
}

/* Fill the place from the file; *got is less than its capacity at the end only. */
static enum rtune_status target_fill(struct target *target, struct datafile *file, uint64_t *got,
                                     struct rtune_error *err) {
    if (target->dev == NULL) return datafile_read(file, target->in, target->capacity, got, err);
    enum rtune_status status = RTUNE_OK;
    uint64_t step = STAGE_BYTES / target->element;
    uint64_t filled = 0;
    uint64_t part = 1;
    while (filled < target->capacity && part > 0) {
        TRY(datafile_read(file, target->stage, rtune_min_u64(step, target->capacity - filled),
                          &part, err));
        if (part > 0)
            TRY(target->dev->ops->mem_put(target->dev,
                                          (char *)target->in + filled * target->element,
                                          target->stage, part * target->element, err));
        filled += part;
    }
    *got = filled;
done:
    return status;
}

static enum rtune_status reduce_all(rtune *rt, struct target *target, struct datafile *file,
                                    struct rtune_problem *problem, struct rtune_launch *launch,
                                    unsigned char result[16], struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_args args = RTUNE_ARGS(target->in, target->out);
    struct rtune_problem piece = *problem;
    uint64_t got;
    args.launch = launch;
    problem->n = 0;
    do {
        TRY(target_fill(target, file, &got, err));
        if (got == 0 && problem->n > 0) break;
        piece.n = got;
        TRY(rtune_reduce(rt, &piece, &args, NULL, err));
        /* The place is filled again, and the result read, only when the device is done. */
        if (target->dev != NULL) TRY(target->dev->ops->stream_wait(target->dev, NULL, err));
        piece.flags |= RTUNE_ACCUMULATE;
        problem->n += got;
    } while (got == target->capacity);
    if (target->dev != NULL)
        TRY(target->dev->ops->mem_get(target->dev, result, target->out, rtune_result_size(problem),
                                      err));
    else
        memcpy(result, target->out, rtune_result_size(problem));
done:
    if (status == RTUNE_EMPTY) rtune_err_prefix(err, "%s", file->name);
    return status;
}

/* The value as text: exact for integers, %.17g for floats. The program never sets a locale, so that
 * printf writes a point. */
static enum rtune_status print_value(enum rtune_dtype dtype, const unsigned char *bytes, char *text,
                                     size_t size, struct rtune_error *err) {
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
    } v;
    memcpy(&v, bytes, sizeof v);
    switch (dtype) {
    case RTUNE_I8:
        (void)snprintf(text, size, "%d", v.i8);
        break;
    case RTUNE_U8:
        (void)snprintf(text, size, "%u", v.u8);
        break;
    case RTUNE_I16:
        (void)snprintf(text, size, "%d", v.i16);
        break;
    case RTUNE_U16:
        (void)snprintf(text, size, "%u", v.u16);
        break;
    case RTUNE_I32:
        (void)snprintf(text, size, "%" PRId32, v.i32);
        break;
    case RTUNE_U32:
        (void)snprintf(text, size, "%" PRIu32, v.u32);
        break;
    case RTUNE_I64:
        (void)snprintf(text, size, "%" PRId64, v.i64);
        break;
    case RTUNE_U64:
        (void)snprintf(text, size, "%" PRIu64, v.u64);
        break;
    case RTUNE_F32:
        (void)snprintf(text, size, "%.17g", (double)v.f32);
        break;
    case RTUNE_F64:
        (void)snprintf(text, size, "%.17g", v.f64);
        break;
    case RTUNE_F16:
    case RTUNE_BF16:
    case RTUNE_DTYPE_COUNT:
        return rtune_err_set(err, RTUNE_UNSUPPORTED, "a result of type %s cannot be printed",
                             rtune_dtype_name(dtype));
    }
    return RTUNE_OK;
}

/* Values that JSON cannot spell (nan, inf) become strings. */
static int print_result(const struct cli *cli, const rtune *rt, const struct rtune_problem *problem,
                        const struct rtune_launch *launch, const char *value) {
    struct json json;
    if (!cli->opt.json) {
        console_printf("%s\n", value);
        return CLI_OK;
    }
    json_begin(&json);
    if (strpbrk(value, "in") != NULL)
        json_text(&json, "value", value);
    else
        json_number(&json, "value", value);
    serve_launch_json(&json, rt, problem, launch);
    return json_print(&json);
}

int cmd_reduce(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct rtune_problem problem;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct datafile file = {.fd = -1};
    struct target target;
    unsigned char result[16] = {0};
    char value[48];
    rtune *rt = NULL;
    int code = CLI_OK;
    enum rtune_dtype raw = RTUNE_F32;
    uint64_t none = 0;
    uint64_t chunk = cli->opt.has_chunk ? cli->opt.chunk : UINT64_MAX;
    memset(&target, 0, sizeof target);
    /* What is wrong on the command line is said before any file or device is touched. */
    if (cli->opt.dtypes != 0) raw = (enum rtune_dtype)__builtin_ctz(cli->opt.dtypes);
    if (device_arg_check(cli->opt.device, false, false, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    status = problem_arg_one(&cli->opt, &raw, &none, &problem, &err);
    if (status != RTUNE_OK && (status != RTUNE_UNSUPPORTED || cli->opt.dtypes != 0))
        return cli_usage(cli, &err);
    TRY(datafile_open(&file, cli->opt.args[0], cli->opt.dtypes != 0 ? &raw : NULL,
                      cli->opt.has_n ? cli->opt.n : DATAFILE_UNKNOWN, &err));
    TRY(problem_arg_one(&cli->opt, &file.dtype, &none, &problem, &err));
    if (file.n == DATAFILE_UNKNOWN) chunk = rtune_min_u64(chunk, STREAM_ELEMENTS);
    TRY(serve_open(cli, &rt, &err));
    TRY(target_open(&target, rtune_device_name(rt), rtune_min_u64(file.n, chunk),
                    rtune_dtype_size(file.dtype), &err));
    TRY(reduce_all(rt, &target, &file, &problem, &launch, result, &err));
    TRY(print_value(rtune_result_dtype(&problem), result, value, sizeof value, &err));
    code = print_result(cli, rt, &problem, &launch, value);
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    target_close(&target);
    rtune_close(rt);
    datafile_close(&file);
    return code;
}
