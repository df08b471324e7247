#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# librtune.so exports the functions of rtune.h and nothing else, and needs no CUDA library to load.
# usage: exports.sh LIBRARY HEADER MAJOR
set -eu
library=$1 header=$2 major=$3
work=$(mktemp -d "${TMPDIR:-/tmp}/rtune-exports-XXXXXX")
trap 'rm -rf "$work"' EXIT

# Declarations may span lines: join each with what follows up to its semicolon.
sed -n '/^RTUNE_API/,/;/p' "$header" | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*[ *]\(rtune_[a-z_0-9]*\)(.*/\1/p' | sort > "$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort > "$work/exported"
[ "$(wc -l < "$work/declared")" -gt 20 ]
diff -u "$work/declared" "$work/exported" || {
    echo "declared and exported functions differ"
    exit 1
}

readelf -d "$library" > "$work/dynamic"
grep -q "SONAME.*\[librtune.so.$major\]" "$work/dynamic" || { grep SONAME "$work/dynamic"; exit 1; }
if grep NEEDED "$work/dynamic" | grep -E 'cuda|nvrtc|nvidia|yaml|stdc\+\+'; then
    echo "a library that must be opened at run time, or not at all, is linked"
    exit 1
fi
size=$(stat -L -c %s "$library")
[ "$size" -le $((12 << 20)) ] || { echo "$library has $size bytes, over 12 MiB"; exit 1; }
