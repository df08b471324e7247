/* SPDX-License-Identifier: Apache-2.0 */
/* tests/scratch_folder.h: a folder for what a test leaves, in TMPDIR or /tmp. */
#ifndef RTUNE_TESTS_SCRATCH_FOLDER_H
#define RTUNE_TESTS_SCRATCH_FOLDER_H

#include <stddef.h>

enum { SCRATCH_FOLDER = 300 }; /* bytes of a path; more does not fit */

/* A new one, with name in its own; its path is written to folder. 0, or -1 with errno. */
int scratch_folder_make(char folder[SCRATCH_FOLDER], const char *name);
/* Remove it with all that is in it; links are not followed. 0, or -1. */
int scratch_folder_remove(const char *folder);

#endif /* RTUNE_TESTS_SCRATCH_FOLDER_H */
