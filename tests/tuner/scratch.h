/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/scratch.h: a folder for one test, removed with all that is in it. */
#ifndef RTUNE_TESTS_TUNER_SCRATCH_H
#define RTUNE_TESTS_TUNER_SCRATCH_H

#include "tests/scratch_folder.h"

struct scratch {
    char folder[SCRATCH_FOLDER];
};

void scratch_make(struct scratch *scratch);
void scratch_remove(struct scratch *scratch);
/* "FOLDER/name" in text. */
void scratch_path(const struct scratch *scratch, const char *name, char *text, size_t size);

#endif /* RTUNE_TESTS_TUNER_SCRATCH_H */
