/* SPDX-License-Identifier: Apache-2.0 */
/* uncomment.c: C++ source text without what the compiler does not see. */
#include "kernels/uncomment.h"

#include <stdbool.h>
#include <string.h>

/* The end of what begins at p: of a comment, or of a literal in p[0] = ' or ". */
static const char *end_of_comment(const char *p) {
    const char *end = p[1] == '*' ? strstr(p + 2, "*/") : strchr(p, '\n');
    if (end == NULL) return p + strlen(p);
    return p[1] == '*' ? end + 2 : end;
}
static const char *end_of_literal(const char *p) {
    const char quote = *p++;
    while (*p != '\0' && *p != quote)
        p += *p == '\\' && p[1] != '\0' ? 2 : 1;
    return *p == quote ? p + 1 : p;
}

size_t rtune_uncomment(const char *text, char *code) {
    size_t used = 0;
    bool blank = false, line = false; /* in front of p there are blanks; with an end of line */
    for (const char *p = text; *p != '\0';) {
        const bool comment = p[0] == '/' && (p[1] == '/' || p[1] == '*');
        if (comment || strchr(" \t\r\n", *p) != NULL) {
            blank = true;
            line = line || *p == '\n';
            p = comment ? end_of_comment(p) : p + 1;
            continue;
        }
        if (blank && used > 0) code[used++] = line ? '\n' : ' ';
        blank = line = false;
        const char *end = *p == '"' || *p == '\'' ? end_of_literal(p) : p + 1;
        memcpy(code + used, p, (size_t)(end - p));
        used += (size_t)(end - p);
        p = end;
    }
    code[used] = '\0';
    return used;
}
