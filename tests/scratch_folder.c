/* SPDX-License-Identifier: Apache-2.0 */
/* tests/scratch_folder.c: mkdtemp and its opposite. */
#include "tests/scratch_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

int scratch_folder_make(char folder[SCRATCH_FOLDER], const char *name) {
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || tmp[0] != '/') tmp = "/tmp";
    int length = snprintf(folder, SCRATCH_FOLDER, "%s/rtune-%s-XXXXXX", tmp, name);
    if (length >= SCRATCH_FOLDER) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at) {
    (void)info, (void)type, (void)at;
    return remove(path);
}

int scratch_folder_remove(const char *folder) {
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
