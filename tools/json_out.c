/* SPDX-License-Identifier: Apache-2.0 */
/* tools/json_out.c: writing JSON. */
#include "tools/json_out.h"

#include "base/parse.h"
#include "kernels/kernels.h"
#include "tools/cli.h"
#include "tools/console.h"

#include <inttypes.h>
#include <math.h>

#define JSON_MAX ((size_t)256 << 20)

static void key_of(struct json *json, const char *key) {
    if (json->comma) rtune_buf_puts(&json->buf, ",");
    json->comma = true;
    if (key == NULL) return;
    rtune_buf_json(&json->buf, key);
    rtune_buf_puts(&json->buf, ":");
}

void json_begin(struct json *json) {
    rtune_buf_init(&json->buf, JSON_MAX);
    rtune_buf_puts(&json->buf, "{");
    json->comma = false;
}

void json_open(struct json *json, const char *key, char bracket) {
    key_of(json, key);
    rtune_buf_add(&json->buf, &bracket, 1);
    json->comma = false;
}

void json_close(struct json *json, char bracket) {
    rtune_buf_add(&json->buf, &bracket, 1);
    json->comma = true;
}

void json_text(struct json *json, const char *key, const char *value) {
    key_of(json, key);
    if (value != NULL)
        rtune_buf_json(&json->buf, value);
    else
        rtune_buf_puts(&json->buf, "null");
}

void json_u64(struct json *json, const char *key, uint64_t value) {
    key_of(json, key);
    rtune_buf_printf(&json->buf, "%" PRIu64, value);
}

void json_bool(struct json *json, const char *key, bool value) {
    key_of(json, key);
    rtune_buf_puts(&json->buf, value ? "true" : "false");
}

void json_number(struct json *json, const char *key, const char *spelled) {
    key_of(json, key);
    rtune_buf_puts(&json->buf, spelled);
}

void json_double(struct json *json, const char *key, double value) {
    char text[40];
    if (isnan(value)) {
        json_text(json, key, "nan");
    } else if (isinf(value)) {
        json_text(json, key, value > 0 ? "inf" : "-inf");
    } else {
        key_of(json, key);
        (void)rtune_print_double(value, text, sizeof text);
        rtune_buf_puts(&json->buf, text);
    }
}

void json_known(struct json *json, const char *key, double value) {
    if (value == 0)
        json_text(json, key, NULL);
    else
        json_double(json, key, value);
}

void json_problem_fields(struct json *json, const struct rtune_problem *problem) {
    json_text(json, "op", rtune_op_name(problem->op));
    json_text(json, "dtype", rtune_dtype_name(problem->dtype));
    json_text(json, "acc", rtune_acc_name(problem->acc));
    json_text(json, "mode", rtune_mode_name(problem->mode));
    json_text(json, "nan", rtune_nan_name(problem->nan_rule));
    json_text(json, "cache", rtune_cache_name(problem->cache));
    json_u64(json, "n", problem->n);
}

int json_print(struct json *json) {
    struct rtune_error err;
    int code = CLI_OK;
    rtune_buf_puts(&json->buf, "}\n");
    if (rtune_buf_status(&json->buf, &err) != RTUNE_OK) {
        rtune_err_prefix(&err, "output");
        code = cli_fail(&err);
    } else {
        (void)console_write(json->buf.data, json->buf.size);
        (void)console_flush();
    }
    json_free(json);
    return code;
}

void json_free(struct json *json) { rtune_buf_free(&json->buf); }
