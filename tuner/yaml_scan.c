/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/yaml_scan.c: what can be refused by looking at bytes alone, with a place. */
#include "base/utf8.h"
#include "tuner/yaml_int.h"

#include <string.h>

/* The breaks that YAML 1.1 and libyaml count as ends of a line. */
static bool is_break(uint32_t code) {
    return code == '\n' || code == '\r' || code == 0x85 || code == 0x2028 || code == 0x2029;
}

static const char *refused(uint32_t code) {
    if (code == '\t') return "a tab (use spaces; inside double quotes write \\t)";
    if (code == 0) return "a NUL byte (the file is not text)";
    if (code < 0x20 && !is_break(code)) return "a control character";
    if (code >= 0x7f && code < 0xa0 && code != 0x85) return "a control character";
    if (code == 0xfeff) return "a byte order mark inside the file";
    if (code == 0xfffe || code == 0xffff) return "a character that YAML does not allow";
    return NULL;
}

enum rtune_status rtune_yaml_scan(const char **text, size_t *size, const char *name,
                                  struct rtune_error *err) {
    static const char bom[] = "\xef\xbb\xbf";
    int line = 1, column = 1;
    if (*size > RTUNE_YAML_MAX)
        return rtune_err_set_at(err, RTUNE_RANGE, name, 0, 0,
                                "file is too large: %zu bytes (at most %d)", *size, RTUNE_YAML_MAX);
    if (*size >= 3 && memcmp(*text, bom, 3) == 0) {
        *text += 3;
        *size -= 3;
    }
    for (size_t i = 0; i < *size;) {
        uint32_t code = 0;
        size_t length = rtune_utf8_next(*text + i, *size - i, &code);
        if (length == 0)
            return rtune_err_set_at(err, RTUNE_SYNTAX, name, line, column,
                                    "byte 0x%02x is not UTF-8",
                                    (unsigned)(unsigned char)(*text)[i]);
        const char *why = refused(code);
        if (why != NULL) return rtune_err_set_at(err, RTUNE_SYNTAX, name, line, column, "%s", why);
        i += length;
        column++;
        if (is_break(code) && !(code == '\r' && i < *size && (*text)[i] == '\n')) {
            line++;
            column = 1;
        }
    }
    return RTUNE_OK;
}
