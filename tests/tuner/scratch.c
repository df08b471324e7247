/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/scratch.c: a scratch folder that must be there. */
#include "tests/tuner/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

void scratch_make(struct scratch *scratch) {
    assert_int_equal(scratch_folder_make(scratch->folder, "tuner"), 0);
}

void scratch_remove(struct scratch *scratch) {
    assert_int_equal(scratch_folder_remove(scratch->folder), 0);
}

void scratch_path(const struct scratch *scratch, const char *name, char *text, size_t size) {
    snprintf(text, size, "%s/%s", scratch->folder, name);
}
