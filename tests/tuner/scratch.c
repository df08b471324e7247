/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/scratch.c: mkdtemp and its opposite. */
#include "tests/tuner/scratch.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void scratch_make(struct scratch *scratch) {
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch->folder, sizeof(scratch->folder), "%s/rtune-tuner-XXXXXX",
             tmp != NULL && tmp[0] == '/' ? tmp : "/tmp");
    assert_non_null(mkdtemp(scratch->folder));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

void scratch_remove(struct scratch *scratch) {
    nftw(scratch->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void scratch_path(const struct scratch *scratch, const char *name, char *text, size_t size) {
    snprintf(text, size, "%s/%s", scratch->folder, name);
}
