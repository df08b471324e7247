/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/space.h: the search space, read from configs/ (YAML), pruned by constraints before
 * compiling. */
#ifndef RTUNE_TUNER_SPACE_H
#define RTUNE_TUNER_SPACE_H

#include "db/db.h"

typedef struct rtune_space rtune_space;

/* Read a space. text NULL: the built-in copy of configs/default.yaml. name stands for the file. */
enum rtune_status rtune_space_parse(const char *text, size_t size, const char *name,
                                    rtune_space **space, struct rtune_error *err);
void rtune_space_free(rtune_space *space);
/* The text it was read from (stored with the session). */
const char *rtune_space_text(const rtune_space *space);

/* All configs of the space for a problem (with n) on a device, constraints applied, sorted, unique,
 * rtune_config_default first. resolved grids that coincide are kept once. The caller frees
 * *configs. */
enum rtune_status rtune_space_configs(const rtune_space *space,
                                      const struct rtune_identity *identity,
                                      const struct rtune_problem *problem,
                                      struct rtune_config **configs, size_t *count,
                                      struct rtune_error *err);

#endif /* RTUNE_TUNER_SPACE_H */
