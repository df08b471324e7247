/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/yaml_get.c: typed values out of a tree, each failure with its place; and quoting text into
 * YAML. */
#include "base/buf.h"
#include "base/num.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "tuner/yaml_int.h"

#include <stdio.h>
#include <string.h>

enum rtune_status rtune_yaml_fail(const struct rtune_yaml_node *node, enum rtune_status status,
                                  struct rtune_error *err, const char *fmt, ...) {
    char text[sizeof(err->message)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return rtune_err_set_at(err, status, node->file, node->line, node->column, "%s", text);
}

enum rtune_status rtune_yaml_blame(const struct rtune_yaml_node *node, enum rtune_status status,
                                   const struct rtune_error *cause, struct rtune_error *err) {
    if (status == RTUNE_OK) return status;
    const char *key = node->key == NULL ? "" : node->key->text;
    return rtune_yaml_fail(node, status, err, "%s%s%s", key, *key == '\0' ? "" : ": ",
                           cause->message);
}

bool rtune_yaml_is_null(const struct rtune_yaml_node *node) {
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != RTUNE_YAML_SCALAR || node->quoted) return false;
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(words); i++)
        if (strcmp(node->text, words[i]) == 0) return true;
    return false;
}

void rtune_yaml_describe(const struct rtune_yaml_node *node, char text[RTUNE_YAML_SHOWN]) {
    char quoted[48];
    if (node->kind == RTUNE_YAML_SEQUENCE) {
        snprintf(text, RTUNE_YAML_SHOWN, "a list");
    } else if (node->kind == RTUNE_YAML_MAPPING) {
        snprintf(text, RTUNE_YAML_SHOWN, "a mapping");
    } else if (rtune_yaml_is_null(node)) {
        snprintf(text, RTUNE_YAML_SHOWN, "null");
    } else {
        rtune_print_quoted(node->text, quoted, sizeof(quoted));
        snprintf(text, RTUNE_YAML_SHOWN, "%s%s", node->quoted ? "the quoted text " : "", quoted);
    }
}

static enum rtune_status expected(const struct rtune_yaml_node *node, const char *what,
                                  struct rtune_error *err) {
    char shown[RTUNE_YAML_SHOWN];
    rtune_yaml_describe(node, shown);
    return rtune_yaml_fail(node, RTUNE_SYNTAX, err, "%s%sexpected %s, not %s",
                           node->key == NULL ? "" : node->key->text, node->key == NULL ? "" : ": ",
                           what, shown);
}

/* ---- collections ----------------------------------------------------------------------------- */

static enum rtune_status unknown_key(const struct rtune_yaml_node *value,
                                     const struct rtune_yaml_field *fields, size_t count,
                                     struct rtune_error *err) {
    char names[256] = "", quoted[RTUNE_YAML_SHOWN];
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
                                 fields[i].key);
    rtune_print_quoted(value->key->text, quoted, sizeof(quoted));
    return rtune_yaml_fail(value->key, RTUNE_SYNTAX, err, "unknown key %s (expected one of %s)",
                           quoted, names);
}

enum rtune_status rtune_yaml_fields(const struct rtune_yaml_node *node,
                                    struct rtune_yaml_field *fields, size_t count,
                                    struct rtune_error *err) {
    if (node->kind != RTUNE_YAML_MAPPING) return expected(node, "a mapping (key: value)", err);
    for (size_t i = 0; i < count; i++)
        fields[i].value = NULL;
    for (const struct rtune_yaml_node *value = node->first; value != NULL; value = value->next) {
        size_t i = 0;
        while (i < count && strcmp(fields[i].key, value->key->text) != 0)
            i++;
        if (i == count) return unknown_key(value, fields, count, err);
        fields[i].value = value;
    }
    for (size_t i = 0; i < count; i++)
        if (fields[i].required && fields[i].value == NULL)
            return rtune_yaml_fail(node, RTUNE_SYNTAX, err, "key \"%s\" is missing", fields[i].key);
    return RTUNE_OK;
}

enum rtune_status rtune_yaml_sequence(const struct rtune_yaml_node *node, size_t min, size_t max,
                                      struct rtune_error *err) {
    if (node->kind != RTUNE_YAML_SEQUENCE) return expected(node, "a list", err);
    if (node->count >= min && node->count <= max) return RTUNE_OK;
    return rtune_yaml_fail(node, RTUNE_RANGE, err, "%s%sa list of %zu (expected %zu to %zu values)",
                           node->key == NULL ? "" : node->key->text, node->key == NULL ? "" : ": ",
                           node->count, min, max);
}

/* ---- scalars --------------------------------------------------------------------------------- */

static bool is_plain(const struct rtune_yaml_node *node) {
    return node->kind == RTUNE_YAML_SCALAR && !node->quoted && !rtune_yaml_is_null(node);
}

enum rtune_status rtune_yaml_u64(const struct rtune_yaml_node *node, uint64_t min, uint64_t max,
                                 uint64_t *value, struct rtune_error *err) {
    struct rtune_error cause;
    if (!is_plain(node)) return expected(node, "a whole number", err);
    if (node->text[0] == '0' && node->text[1] != '\0' && strspn(node->text, "0123456789") > 1)
        return expected(node, "a whole number without leading zeros", err); /* YAML 1.1: octal */
    return rtune_yaml_blame(node, rtune_parse_u64(node->text, min, max, value, &cause), &cause,
                            err);
}

enum rtune_status rtune_yaml_size(const struct rtune_yaml_node *node, uint64_t min, uint64_t max,
                                  uint64_t *value, struct rtune_error *err) {
    struct rtune_error cause;
    if (!is_plain(node)) return expected(node, "a size such as 1000, 64Ki or 2^20", err);
    return rtune_yaml_blame(node, rtune_parse_size(node->text, min, max, value, &cause), &cause,
                            err);
}

enum rtune_status rtune_yaml_double(const struct rtune_yaml_node *node, double min, double max,
                                    double *value, struct rtune_error *err) {
    struct rtune_error cause;
    if (!is_plain(node)) return expected(node, "a number", err);
    return rtune_yaml_blame(node, rtune_parse_double(node->text, min, max, value, &cause), &cause,
                            err);
}

enum rtune_status rtune_yaml_bool(const struct rtune_yaml_node *node, bool *value,
                                  struct rtune_error *err) {
    bool yes = is_plain(node) && strcmp(node->text, "true") == 0;
    if (!yes && !(is_plain(node) && strcmp(node->text, "false") == 0))
        return expected(node, "true or false", err);
    *value = yes;
    return RTUNE_OK;
}

enum rtune_status rtune_yaml_text(const struct rtune_yaml_node *node, char *text, size_t size,
                                  struct rtune_error *err) {
    if (node->kind != RTUNE_YAML_SCALAR || rtune_yaml_is_null(node))
        return expected(node, "text", err);
    size_t length = strlen(node->text);
    if (length >= size)
        return rtune_yaml_fail(node, RTUNE_RANGE, err,
                               "%s%stext of %zu bytes is too long (at most %zu)",
                               node->key == NULL ? "" : node->key->text,
                               node->key == NULL ? "" : ": ", length, size - 1);
    memcpy(text, node->text, length + 1);
    return RTUNE_OK;
}

enum rtune_status rtune_yaml_name(const struct rtune_yaml_node *node, enum rtune_name_kind kind,
                                  int *value, struct rtune_error *err) {
    struct rtune_error cause;
    if (node->kind != RTUNE_YAML_SCALAR || rtune_yaml_is_null(node))
        return expected(node, "a name", err);
    enum rtune_status status = rtune_name_parse(kind, node->text, value, &cause);
    if (status == RTUNE_OK) return status;
    return rtune_yaml_fail(node, status, err, "%s", cause.message);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void quote_char(struct rtune_buf *buf, const char *text, size_t length, uint32_t code) {
    if (code == '"' || code == '\\')
        rtune_buf_printf(buf, "\\%c", (int)code);
    else if (code == '\n')
        rtune_buf_puts(buf, "\\n");
    else if (code == '\t')
        rtune_buf_puts(buf, "\\t");
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
             code == 0xfeff || code == 0xfffe || code == 0xffff)
        rtune_buf_printf(buf, "\\u%04x", (unsigned)code);
    else
        rtune_buf_add(buf, text, length);
}

void rtune_yaml_quote(struct rtune_buf *buf, const char *text) {
    rtune_buf_puts(buf, "\"");
    for (size_t left = strlen(text); left > 0;) {
        uint32_t code = '?';
        size_t length = rtune_utf8_next(text, left, &code);
        if (length == 0)
            rtune_buf_puts(buf, "?");
        else
            quote_char(buf, text, length, code);
        length = length == 0 ? 1 : length;
        text += length;
        left -= length;
    }
    rtune_buf_puts(buf, "\"");
}
