/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/json_out.h: one JSON value into a buffer, field by field. A key of NULL writes an array
 * element. Failures stay in the buffer (rtune_buf_status).
 */
#ifndef RTUNE_TOOLS_JSON_OUT_H
#define RTUNE_TOOLS_JSON_OUT_H

#include "base/buf.h"

struct json {
    struct rtune_buf buf; /* freed with json_free */
    bool comma;           /* the next field needs one in front */
};

void json_begin(struct json *json);                                    /* an object */
void json_open(struct json *json, const char *key, char bracket);      /* '{' or '[' */
void json_close(struct json *json, char bracket);                      /* '}' or ']' */
void json_text(struct json *json, const char *key, const char *value); /* NULL: null */
void json_u64(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
/* A number that is spelled already. */
void json_number(struct json *json, const char *key, const char *spelled);
/* JSON has no NaN and no infinities: they become the strings "nan", "inf" and "-inf". */
void json_double(struct json *json, const char *key, double value);
/* null where value is 0, which stands for "unknown" in the store. */
void json_known(struct json *json, const char *key, double value);
/* op ... cache and n, as fields of an open object. */
void json_problem_fields(struct json *json, const struct rtune_problem *problem);
/* Close the object, print it as one line on standard output and free it. The result is an exit
 * code. */
int json_print(struct json *json);
void json_free(struct json *json);

#endif /* RTUNE_TOOLS_JSON_OUT_H */
