/* SPDX-License-Identifier: Apache-2.0 */
/* A locale with a decimal comma, installed or made for the occasion. */
#include "comma_locale.h"

#include "tests/scratch_folder.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char made_in[SCRATCH_FOLDER]; /* folder with a locale that was made; "" if none */

static bool try_locale(const char *name) {
    return setlocale(LC_ALL, name) != NULL && strcmp(localeconv()->decimal_point, ",") == 0;
}

static int run(const char *const argv[]) {
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool make_locale(void) {
    char target[512];
    if (scratch_folder_make(made_in, "locale") != 0) {
        made_in[0] = '\0';
        return false;
    }
    snprintf(target, sizeof(target), "%s/de_DE.UTF-8", made_in);
    const char *const argv[] = {"localedef", "--no-archive", "-c",   "-i", "de_DE",
                                "-f",        "UTF-8",        target, NULL};
    if (run(argv) > 1) return false; /* 1: made, with warnings */
    setenv("LOCPATH", made_in, 1);
    return try_locale("de_DE.UTF-8");
}

bool comma_locale_set(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                        "fr_FR.utf8",  "tr_TR.utf8", "nl_NL.utf8"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (try_locale(names[i])) return true;
    if (make_locale()) return true;
    fprintf(stderr,
            "SKIPPED: no locale with a decimal comma is installed, and localedef made none\n");
    comma_locale_reset();
    return false;
}

void comma_locale_reset(void) {
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    if (made_in[0] == '\0') return;
    scratch_folder_remove(made_in);
    made_in[0] = '\0';
}
