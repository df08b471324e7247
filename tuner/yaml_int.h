/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/yaml_int.h: shared by yaml*.c alone. */
#ifndef RTUNE_TUNER_YAML_INT_H
#define RTUNE_TUNER_YAML_INT_H

#include "tuner/yaml.h"

/* Check the bytes of a document before libyaml sees them: size, UTF-8, control characters, tabs. A
 * byte order mark in front is skipped: *text and *size are advanced over it. */
enum rtune_status rtune_yaml_scan(const char **text, size_t *size, const char *name,
                                  struct rtune_error *err);

/* "a list", "a mapping", "null", "the text \"x\"", "\"x\"": what a node is, for messages. */
enum { RTUNE_YAML_SHOWN = 80 };
void rtune_yaml_describe(const struct rtune_yaml_node *node, char text[RTUNE_YAML_SHOWN]);
/* Is it a plain scalar that means nothing: "", "~" or "null"? */
bool rtune_yaml_is_null(const struct rtune_yaml_node *node);

#endif /* RTUNE_TUNER_YAML_INT_H */
