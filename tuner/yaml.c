/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/yaml.c: from libyaml's events to a tree. The stack of open collections has a fixed depth.
 */
#include "base/parse.h"
#include "tuner/yaml_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* What a document owns: a list of allocations, one per node or text. */
struct cell {
    struct cell *next;
    max_align_t data[];
};

struct rtune_yaml {
    struct cell *cells;
    struct rtune_yaml_node *root;
};

/* A collection that is still open. */
struct frame {
    struct rtune_yaml_node *node;
    struct rtune_yaml_node *last; /* child; NULL while empty */
    struct rtune_yaml_node *key;  /* waiting for its value, in a mapping */
};

struct builder {
    rtune_yaml *doc;
    const char *file; /* copy of the name, owned by the document */
    const char *what;
    size_t nodes;
    size_t depth;
    struct frame stack[RTUNE_YAML_DEPTH];
};

static void *allocate(rtune_yaml *doc, size_t size) {
    struct cell *cell = calloc(1, sizeof(*cell) + size);
    if (cell == NULL) return NULL;
    cell->next = doc->cells;
    doc->cells = cell;
    return cell->data;
}

void rtune_yaml_free(rtune_yaml *doc) {
    if (doc == NULL) return;
    for (struct cell *cell = doc->cells; cell != NULL;) {
        struct cell *next = cell->next;
        free(cell);
        cell = next;
    }
    free(doc);
}

const struct rtune_yaml_node *rtune_yaml_root(const rtune_yaml *doc) { return doc->root; }

static enum rtune_status fail_at(const struct builder *b, const yaml_mark_t *mark,
                                 enum rtune_status status, struct rtune_error *err,
                                 const char *message) {
    return rtune_err_set_at(err, status, b->file, (int)mark->line + 1, (int)mark->column + 1, "%s",
                            message);
}

static enum rtune_status fail_memory(struct rtune_error *err) {
    return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for a YAML document");
}

static enum rtune_status new_node(struct builder *b, enum rtune_yaml_kind kind,
                                  const yaml_mark_t *mark, struct rtune_yaml_node **node,
                                  struct rtune_error *err) {
    if (++b->nodes > RTUNE_YAML_NODES)
        return rtune_err_set_at(err, RTUNE_RANGE, b->file, (int)mark->line + 1,
                                (int)mark->column + 1, "too many values (at most %d)",
                                RTUNE_YAML_NODES);
    *node = allocate(b->doc, sizeof(**node));
    if (*node == NULL) return fail_memory(err);
    (*node)->kind = kind;
    (*node)->file = b->file;
    (*node)->line = (int)mark->line + 1;
    (*node)->column = (int)mark->column + 1;
    return RTUNE_OK;
}

/* ---- keys and values ------------------------------------------------------------------------- */

static enum rtune_status take_key(const struct frame *frame, struct rtune_yaml_node *node,
                                  struct rtune_error *err) {
    char quoted[RTUNE_YAML_SHOWN];
    if (node->kind != RTUNE_YAML_SCALAR || rtune_yaml_is_null(node))
        return rtune_yaml_fail(node, RTUNE_SYNTAX, err, "expected a key (a word before a colon)");
    rtune_print_quoted(node->text, quoted, sizeof(quoted));
    for (const struct rtune_yaml_node *child = frame->node->first; child != NULL;
         child = child->next) {
        if (strcmp(child->key->text, node->text) == 0)
            return rtune_yaml_fail(node, RTUNE_SYNTAX, err,
                                   "key %s is given twice: on line %d and on line %d", quoted,
                                   child->key->line, node->line);
    }
    if (frame->node->count == RTUNE_YAML_KEYS)
        return rtune_yaml_fail(node, RTUNE_RANGE, err, "too many keys (at most %d in a mapping)",
                               RTUNE_YAML_KEYS);
    return RTUNE_OK;
}

/* Put a node where it belongs: the root, a key, the value of a key, or an item. */
static enum rtune_status place(struct builder *b, struct rtune_yaml_node *node,
                               struct rtune_error *err) {
    if (b->depth == 0) {
        b->doc->root = node;
        return RTUNE_OK;
    }
    struct frame *frame = &b->stack[b->depth - 1];
    if (frame->node->kind == RTUNE_YAML_MAPPING && frame->key == NULL) {
        enum rtune_status status = take_key(frame, node, err);
        if (status == RTUNE_OK) frame->key = node;
        return status;
    }
    node->key = frame->key;
    frame->key = NULL;
    if (frame->last == NULL)
        frame->node->first = node;
    else
        frame->last->next = node;
    frame->last = node;
    frame->node->count++;
    return RTUNE_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static enum rtune_status check_marks(const struct builder *b, const yaml_event_t *event,
                                     const yaml_char_t *anchor, const yaml_char_t *tag,
                                     struct rtune_error *err) {
    if (anchor != NULL)
        return fail_at(b, &event->start_mark, RTUNE_SYNTAX, err,
                       "anchors (&name) are not allowed (write the value out)");
    if (tag != NULL)
        return fail_at(b, &event->start_mark, RTUNE_SYNTAX, err,
                       "tags (!name) are not allowed (write the value alone)");
    return RTUNE_OK;
}

static enum rtune_status on_scalar(struct builder *b, const yaml_event_t *event,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_node *node = NULL;
    size_t length = event->data.scalar.length;
    TRY(check_marks(b, event, event->data.scalar.anchor, event->data.scalar.tag, err));
    if (memchr(event->data.scalar.value, '\0', length) != NULL)
        TRY(fail_at(b, &event->start_mark, RTUNE_SYNTAX, err, "text must not contain \\0"));
    TRY(new_node(b, RTUNE_YAML_SCALAR, &event->start_mark, &node, err));
    char *text = allocate(b->doc, length + 1);
    if (text == NULL) TRY(fail_memory(err));
    memcpy(text, event->data.scalar.value, length);
    node->text = text;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    TRY(place(b, node, err));
done:
    return status;
}

static enum rtune_status on_open(struct builder *b, const yaml_event_t *event,
                                 enum rtune_yaml_kind kind, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_yaml_node *node = NULL;
    bool mapping = kind == RTUNE_YAML_MAPPING;
    TRY(check_marks(b, event,
                    mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
                    mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag, err));
    if (b->depth == RTUNE_YAML_DEPTH)
        TRY(rtune_err_set_at(err, RTUNE_RANGE, b->file, (int)event->start_mark.line + 1,
                             (int)event->start_mark.column + 1,
                             "nested too deep (at most %d levels)", RTUNE_YAML_DEPTH));
    TRY(new_node(b, kind, &event->start_mark, &node, err));
    TRY(place(b, node, err));
    b->stack[b->depth++] = (struct frame){node, NULL, NULL};
done:
    return status;
}

static enum rtune_status on_document(struct builder *b, const yaml_event_t *event,
                                     struct rtune_error *err) {
    if (b->doc->root != NULL)
        return fail_at(b, &event->start_mark, RTUNE_SYNTAX, err,
                       "one document expected (a second one starts here)");
    if (event->data.document_start.tag_directives.start !=
        event->data.document_start.tag_directives.end)
        return fail_at(b, &event->start_mark, RTUNE_SYNTAX, err, "%TAG is not allowed");
    return RTUNE_OK;
}

/* *end becomes true with the last event. */
static enum rtune_status on_event(struct builder *b, const yaml_event_t *event, bool *end,
                                  struct rtune_error *err) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return on_document(b, event, err);
    case YAML_SCALAR_EVENT:
        return on_scalar(b, event, err);
    case YAML_SEQUENCE_START_EVENT:
        return on_open(b, event, RTUNE_YAML_SEQUENCE, err);
    case YAML_MAPPING_START_EVENT:
        return on_open(b, event, RTUNE_YAML_MAPPING, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return RTUNE_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(b, &event->start_mark, RTUNE_SYNTAX, err,
                       "aliases (*name) are not allowed (write the value out)");
    case YAML_STREAM_END_EVENT:
        *end = true;
        return RTUNE_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return RTUNE_OK;
}

static enum rtune_status fail_libyaml(const struct builder *b, const yaml_parser_t *parser,
                                      struct rtune_error *err) {
    if (parser->error == YAML_MEMORY_ERROR) return fail_memory(err);
    char message[160];
    snprintf(message, sizeof(message), "not YAML: %s%s%s",
             parser->problem == NULL ? "syntax error" : parser->problem,
             parser->context == NULL ? "" : " ", parser->context == NULL ? "" : parser->context);
    return fail_at(b, &parser->problem_mark, RTUNE_SYNTAX, err, message);
}

static enum rtune_status build(struct builder *b, yaml_parser_t *parser, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    for (bool end = false; !end && status == RTUNE_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) return fail_libyaml(b, parser, err);
        status = on_event(b, &event, &end, err);
        yaml_event_delete(&event);
    }
    return status;
}

static enum rtune_status check_root(const struct builder *b, struct rtune_error *err) {
    const struct rtune_yaml_node *root = b->doc->root;
    char shown[RTUNE_YAML_SHOWN];
    if (root == NULL)
        return rtune_err_set_at(err, RTUNE_SYNTAX, b->file, 1, 1, "no %s found: the file is empty",
                                b->what);
    if (root->kind == RTUNE_YAML_MAPPING) return RTUNE_OK;
    rtune_yaml_describe(root, shown);
    return rtune_yaml_fail(root, RTUNE_SYNTAX, err,
                           "no %s found: expected a mapping (key: value), not %s", b->what, shown);
}

enum rtune_status rtune_yaml_parse(const char *text, size_t size, const char *name,
                                   const char *what, rtune_yaml **doc, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct builder b = {.what = what};
    yaml_parser_t parser;
    bool opened = false;
    TRY(rtune_yaml_scan(&text, &size, name, err));
    b.doc = calloc(1, sizeof(*b.doc));
    char *file = b.doc == NULL ? NULL : allocate(b.doc, strlen(name) + 1);
    if (file == NULL) TRY(fail_memory(err));
    memcpy(file, name, strlen(name) + 1);
    b.file = file;
    opened = yaml_parser_initialize(&parser);
    if (!opened) TRY(fail_memory(err));
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    TRY(build(&b, &parser, err));
    TRY(check_root(&b, err));
    *doc = b.doc;
    b.doc = NULL;
done:
    if (opened) yaml_parser_delete(&parser);
    rtune_yaml_free(b.doc);
    return status;
}
