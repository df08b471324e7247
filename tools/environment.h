/* SPDX-License-Identifier: Apache-2.0 */
/* tools/environment.h: the environment variables that matter, for doctor, the man page and its
 * check. */
#ifndef RTUNE_TOOLS_ENVIRONMENT_H
#define RTUNE_TOOLS_ENVIRONMENT_H

#include <stddef.h>

struct environment_variable {
    const char *name;
    const char *help;
};

/* NULL past the end. */
const struct environment_variable *environment_at(size_t k);

#endif /* RTUNE_TOOLS_ENVIRONMENT_H */
