#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rtune.h compiles alone, without a warning.
# usage: header.sh COMPILER LANGUAGE STANDARD INCLUDE_FOLDER...
set -eu
compiler=$1 language=$2 standard=$3
shift 3
command -v "$compiler" > /dev/null || { echo "no $compiler"; exit 77; }
folders=
for folder in "$@"; do folders="$folders -I$folder"; done
# Every macro of the header is used, so that what it expands to is compiled too.
# shellcheck disable=SC2086
printf '%s\n' '#include <rtune/rtune.h>' 'int use(rtune *rt, const void *in, void *out);' \
    'int use(rtune *rt, const void *in, void *out) {' \
    '    struct rtune_options opts = RTUNE_OPTIONS_INIT;' \
    '    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 10);' \
    '    struct rtune_args a = RTUNE_ARGS(in, out);' \
    '    return (int)opts.threads + (int)rtune_reduce(rt, &p, &a, NULL, NULL);' '}' |
    "$compiler" -x "$language" -std="$standard" -pedantic-errors -Wall -Wextra -Werror -Wshadow \
        -Wundef $folders -fsyntax-only -
