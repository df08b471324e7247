/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/yaml.h: the strict subset of YAML that profiles and search spaces are written in, as a
 * tree.
 *
 * One document of mappings, sequences and scalars. Refused, with file, line and column: anchors,
 * aliases, tags, a second document, duplicate keys, tabs, bytes that are not UTF-8, text over
 * RTUNE_YAML_MAX bytes, nesting over RTUNE_YAML_DEPTH. The tree is immutable and lives until
 * rtune_yaml_free; nodes and texts are borrowed from it. Every accessor fails with SYNTAX or RANGE
 * and the place of the node.
 */
#ifndef RTUNE_TUNER_YAML_H
#define RTUNE_TUNER_YAML_H

#include "base/err.h"
#include "kernels/kernels.h"

enum {
    RTUNE_YAML_MAX = 1 << 20,  /* bytes of a document */
    RTUNE_YAML_DEPTH = 8,      /* collections inside each other */
    RTUNE_YAML_NODES = 200000, /* keys, scalars and collections; bounds the memory */
    RTUNE_YAML_KEYS = 64       /* keys of one mapping */
};

enum rtune_yaml_kind { RTUNE_YAML_SCALAR, RTUNE_YAML_SEQUENCE, RTUNE_YAML_MAPPING };

struct rtune_yaml_node {
    enum rtune_yaml_kind kind;
    bool quoted;      /* a scalar in quotes, which is text and never a number or null */
    int line, column; /* 1-based, in characters */
    const char *file; /* name that messages give */
    const char *text; /* of a scalar, without NUL inside; else NULL */
    size_t count;     /* items of a sequence, keys of a mapping */
    const struct rtune_yaml_node
        *first; /* items, or values of a mapping, in the order of the file */
    const struct rtune_yaml_node *next; /* sibling */
    const struct rtune_yaml_node *key;  /* of a value in a mapping; else NULL */
};

typedef struct rtune_yaml rtune_yaml;

/* Read a document whose root is a mapping. name stands for the file in messages, what ("profile")
 * for the thing that an empty document lacks. Errors: SYNTAX and RANGE with a place, NO_MEMORY. */
enum rtune_status rtune_yaml_parse(const char *text, size_t size, const char *name,
                                   const char *what, rtune_yaml **doc, struct rtune_error *err);
void rtune_yaml_free(rtune_yaml *doc);
const struct rtune_yaml_node *rtune_yaml_root(const rtune_yaml *doc);

/* Fail at a node. */
enum rtune_status rtune_yaml_fail(const struct rtune_yaml_node *node, enum rtune_status status,
                                  struct rtune_error *err, const char *fmt, ...) RTUNE_PRINTF(4, 5);
/* Give a failure of something else that read the node's text the node's place. */
enum rtune_status rtune_yaml_blame(const struct rtune_yaml_node *node, enum rtune_status status,
                                   const struct rtune_error *cause, struct rtune_error *err);

/* A key that a mapping may have. */
struct rtune_yaml_field {
    const char *key;
    bool required;
    const struct rtune_yaml_node *value; /* found; NULL if absent */
};
/* Find the fields of a mapping. Fails for a node that is none, for a key that is not in fields
 * (naming those that are) and for a required one that is missing. */
enum rtune_status rtune_yaml_fields(const struct rtune_yaml_node *node,
                                    struct rtune_yaml_field *fields, size_t count,
                                    struct rtune_error *err);
/* Is it a sequence, of at least min and at most max items? */
enum rtune_status rtune_yaml_sequence(const struct rtune_yaml_node *node, size_t min, size_t max,
                                      struct rtune_error *err);

/* Plain scalars: whole numbers in decimal without leading zeros, sizes as rtune_parse_size, doubles
 * as rtune_parse_double, true and false. */
enum rtune_status rtune_yaml_u64(const struct rtune_yaml_node *node, uint64_t min, uint64_t max,
                                 uint64_t *value, struct rtune_error *err);
enum rtune_status rtune_yaml_size(const struct rtune_yaml_node *node, uint64_t min, uint64_t max,
                                  uint64_t *value, struct rtune_error *err);
enum rtune_status rtune_yaml_double(const struct rtune_yaml_node *node, double min, double max,
                                    double *value, struct rtune_error *err);
enum rtune_status rtune_yaml_bool(const struct rtune_yaml_node *node, bool *value,
                                  struct rtune_error *err);
/* Text, quoted or plain (a plain null is none), copied; at most size - 1 bytes. */
enum rtune_status rtune_yaml_text(const struct rtune_yaml_node *node, char *text, size_t size,
                                  struct rtune_error *err);
/* A name of a table of kernels/kernels.h. */
enum rtune_status rtune_yaml_name(const struct rtune_yaml_node *node, enum rtune_name_kind kind,
                                  int *value, struct rtune_error *err);

/* Append text in double quotes, escaped so that every reader of YAML or JSON gets it back and the
 * text stays on one line. Bytes that are not UTF-8 become "?". */
struct rtune_buf;
void rtune_yaml_quote(struct rtune_buf *buf, const char *text);

#endif /* RTUNE_TUNER_YAML_H */
