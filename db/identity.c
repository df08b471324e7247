/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c: what makes two devices the same one to the tuner. One table per kind of device lists
 * the fields that decide speed; the key text, its parser, equality and distance all come from it.
 */
#include "base/num.h"
#include "base/parse.h"
#include "db/db.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field_kind { FIELD_U32, FIELD_U64, FIELD_BOOL, FIELD_CC, FIELD_TEXT };

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    size_t size;   /* of a text */
    double weight; /* in the distance: per factor of two, or for being different */
};

#define AT(member) offsetof(struct rtune_identity, member)
static const struct field cuda_fields[] = {
    {"cc", FIELD_CC, AT(cc_major), 0, 0},       {"sm", FIELD_U32, AT(sm_count), 0, 1.0},
    {"l2", FIELD_U64, AT(l2_bytes), 0, 0.5},    {"bus", FIELD_U32, AT(bus_bits), 0, 0.5},
    {"mem", FIELD_U32, AT(memory_mhz), 0, 0.5}, {"clk", FIELD_U32, AT(sm_mhz), 0, 0.5},
    {"mig", FIELD_BOOL, AT(mig), 0, 1.0},
};
static const struct field cpu_fields[] = {
    {"model", FIELD_TEXT, AT(model), sizeof(((struct rtune_identity *)0)->model), 0.5},
    {"isa", FIELD_TEXT, AT(isa), sizeof(((struct rtune_identity *)0)->isa), 0},
    {"cores", FIELD_U32, AT(cores), 0, 1.0},
    {"l1", FIELD_U64, AT(l1_bytes), 0, 0.25},
    {"l3", FIELD_U64, AT(l3_bytes), 0, 0.5},
};
#undef AT

static const struct field *fields_of(bool cuda, size_t *count) {
    *count = cuda ? RTUNE_ARRAY_SIZE(cuda_fields) : RTUNE_ARRAY_SIZE(cpu_fields);
    return cuda ? cuda_fields : cpu_fields;
}

static uint64_t number_of(const struct rtune_identity *identity, const struct field *field) {
    const char *at = (const char *)identity + field->offset;
    uint32_t u32;
    uint64_t u64;
    bool flag;
    switch (field->kind) {
    case FIELD_U32:
        memcpy(&u32, at, sizeof u32);
        return u32;
    case FIELD_U64:
        memcpy(&u64, at, sizeof u64);
        return u64;
    case FIELD_BOOL:
        memcpy(&flag, at, sizeof flag);
        return flag;
    case FIELD_CC:
    case FIELD_TEXT:
        break;
    }
    return 0;
}

/* The model of a cpu as it stands in a key: printable ASCII without the separator. */
static void clean_text(const struct rtune_identity *identity, const struct field *field,
                       char *out) {
    const char *text = (const char *)identity + field->offset;
    size_t length = strnlen(text, field->size - 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = (c < ' ' || c > '~' || c == '|') ? '_' : (char)c;
    }
    out[length] = '\0';
}

void rtune_identity_key(const struct rtune_identity *identity, char key[RTUNE_IDENTITY_KEY]) {
    char value[64];
    size_t count;
    const struct field *fields = fields_of(identity->cuda, &count);
    int used = snprintf(key, RTUNE_IDENTITY_KEY, "v1|%s", identity->cuda ? "cuda" : "cpu");
    for (size_t i = 0; i < count; i++) {
        switch (fields[i].kind) {
        case FIELD_CC:
            snprintf(value, sizeof value, "%d.%d", identity->cc_major, identity->cc_minor);
            break;
        case FIELD_TEXT:
            clean_text(identity, &fields[i], value);
            break;
        case FIELD_U32:
        case FIELD_U64:
        case FIELD_BOOL:
            snprintf(value, sizeof value, "%llu",
                     (unsigned long long)number_of(identity, &fields[i]));
            break;
        }
        used += snprintf(key + used, (size_t)(RTUNE_IDENTITY_KEY - used), "|%s=%s", fields[i].name,
                         value);
    }
}
_Static_assert(sizeof(((struct rtune_identity *)0)->model) <= 64,
               "a model fits clean_text's buffer");

static enum rtune_status parse_cc(char *text, struct rtune_identity *identity,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t major = 0, minor = 0;
    char *dot = strchr(text, '.');
    if (dot == NULL) TRY(rtune_err_set(err, RTUNE_SYNTAX, "expected a version such as 9.0"));
    *dot = '\0';
    TRY(rtune_parse_u64(text, 0, 999, &major, err));
    TRY(rtune_parse_u64(dot + 1, 0, 99, &minor, err));
    identity->cc_major = (int)major;
    identity->cc_minor = (int)minor;
done:
    return status;
}

static enum rtune_status parse_field(const struct field *field, char *text,
                                     struct rtune_identity *identity, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char *at = (char *)identity + field->offset;
    uint64_t number = 0;
    uint64_t max = field->kind == FIELD_BOOL  ? 1
                   : field->kind == FIELD_U32 ? UINT32_MAX
                                              : INT64_MAX;
    switch (field->kind) {
    case FIELD_CC:
        TRY(parse_cc(text, identity, err));
        break;
    case FIELD_TEXT:
        if (strlen(text) >= field->size)
            TRY(rtune_err_set(err, RTUNE_RANGE, "longer than %zu characters", field->size - 1));
        memcpy(at, text, strlen(text) + 1);
        break;
    case FIELD_U32:
    case FIELD_U64:
    case FIELD_BOOL:
        TRY(rtune_parse_u64(text, 0, max, &number, err));
        if (field->kind == FIELD_U64) memcpy(at, &number, sizeof number);
        if (field->kind == FIELD_U32) memcpy(at, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
        if (field->kind == FIELD_BOOL) memcpy(at, &(bool){number != 0}, sizeof(bool));
        break;
    }
done:
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", field->name);
    return status;
}

/* The text up to the next separator of *rest, ended by a NUL; NULL past the end. */
static char *next_part(char **rest) {
    char *part = *rest;
    if (part == NULL) return NULL;
    char *bar = strchr(part, '|');
    if (bar != NULL) *bar = '\0';
    *rest = bar == NULL ? NULL : bar + 1;
    return part;
}

static enum rtune_status parse_parts(char *text, struct rtune_identity *identity,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char *rest = text;
    size_t count;
    const char *version = next_part(&rest);
    const char *kind = next_part(&rest);
    if (strcmp(version, "v1") != 0 || kind == NULL ||
        (strcmp(kind, "cuda") != 0 && strcmp(kind, "cpu") != 0))
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "expected \"v1|cuda|...\" or \"v1|cpu|...\""));
    identity->cuda = strcmp(kind, "cuda") == 0;
    const struct field *fields = fields_of(identity->cuda, &count);
    for (size_t i = 0; i < count; i++) {
        char *part = next_part(&rest);
        size_t length = strlen(fields[i].name);
        if (part == NULL || strncmp(part, fields[i].name, length) != 0 || part[length] != '=')
            TRY(rtune_err_set(err, RTUNE_SYNTAX, "expected \"%s=\"", fields[i].name));
        TRY(parse_field(&fields[i], part + length + 1, identity, err));
    }
    if (rest != NULL) TRY(rtune_err_set(err, RTUNE_SYNTAX, "unexpected \"%s\"", rest));
done:
    return status;
}

enum rtune_status rtune_identity_parse(const char *key, struct rtune_identity *identity,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_identity read = {0};
    char text[RTUNE_IDENTITY_KEY], again[RTUNE_IDENTITY_KEY];
    if (strlen(key) >= sizeof text)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "longer than %d characters", RTUNE_IDENTITY_KEY - 1));
    memcpy(text, key, strlen(key) + 1);
    TRY(parse_parts(text, &read, err));
    /* One device, one spelling: leading zeros or odd characters would make a second row of it. */
    rtune_identity_key(&read, again);
    if (strcmp(key, again) != 0)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "not in its shortest form \"%s\"", again));
    *identity = read;
done:
    if (status != RTUNE_OK) rtune_err_prefix(err, "device identity \"%.100s\"", key);
    return status;
}

bool rtune_identity_equal(const struct rtune_identity *a, const struct rtune_identity *b) {
    char key_a[RTUNE_IDENTITY_KEY], key_b[RTUNE_IDENTITY_KEY];
    rtune_identity_key(a, key_a);
    rtune_identity_key(b, key_b);
    return strcmp(key_a, key_b) == 0;
}

bool rtune_identity_similar(const struct rtune_identity *a, const struct rtune_identity *b) {
    if (a->cuda != b->cuda) return false;
    if (a->cuda) return a->cc_major == b->cc_major && a->cc_minor == b->cc_minor;
    return strcmp(a->isa, b->isa) == 0;
}

double rtune_identity_distance(const struct rtune_identity *a, const struct rtune_identity *b) {
    double distance = 0;
    size_t count;
    const struct field *fields = fields_of(a->cuda, &count);
    if (rtune_identity_equal(a, b)) return 0;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].weight == 0) continue;
        double x = (double)number_of(a, &fields[i]) + 1;
        double y = (double)number_of(b, &fields[i]) + 1;
        if (fields[i].kind == FIELD_TEXT)
            distance +=
                strcmp((const char *)a + fields[i].offset, (const char *)b + fields[i].offset) != 0
                    ? fields[i].weight
                    : 0;
        else
            distance += fields[i].weight * fabs(log2(x / y));
    }
    return distance;
}
