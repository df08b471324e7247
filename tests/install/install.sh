#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install the library into a temporary prefix, move it, and build and run programs against it.
# usage: install.sh cmake|pkg-config BUILD_FOLDER SOURCE_FOLDER VERSION C_COMPILER CXX_COMPILER
set -eu
how=$1 build=$2 source=$3 version=$4 cc=$5 cxx=$6
command -v "$cc" > /dev/null || exit 77
command -v "$cxx" > /dev/null || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/rtune-install-XXXXXX")
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" --component rtune > "$work/install.log"
mv "$work/first" "$work/prefix" # nothing may know where it was installed
unset RTUNE_DB RTUNE_OVERRIDE LD_LIBRARY_PATH || true

with_cmake() {
    cmake -S "$source/tests/install/consumer" -B "$work/consumer" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$work/prefix" -DRTUNE_WANTED="$version" \
        -DCMAKE_C_FLAGS=-Werror -DCMAKE_CXX_FLAGS=-Werror
    cmake --build "$work/consumer"
    for program in c_rtune cxx_rtune c_rtune_static cxx_rtune_static; do
        echo "$program: $("$work/consumer/$program")"
    done
}

with_pkg_config() {
    libdir=$(dirname "$(find "$work/prefix" -name rtune.pc)")
    export PKG_CONFIG_PATH="$libdir"
    [ "$(pkg-config --modversion rtune)" = "$version" ]
    lib=$(pkg-config --variable=libdir rtune)
    main=$source/tests/install/consumer/main.c
    static=$(pkg-config --libs --static rtune | sed 's/-lrtune /-l:librtune.a /')
    strict="-Wall -Wextra -Werror -pedantic"
    # shellcheck disable=SC2046,SC2086
    {
        "$cc" -std=c11 $strict "$main" $(pkg-config --cflags --libs rtune) -o "$work/c"
        "$cxx" -std=c++17 $strict -x c++ "$main" -x none \
            $(pkg-config --cflags --libs rtune) -o "$work/cxx"
        "$cc" -std=c11 $strict "$main" $(pkg-config --cflags rtune) $static -o "$work/c_static"
        "$cc" -std=c11 -Wall -Wextra "$source/examples/reduce_device.c" \
            $(pkg-config --cflags --libs rtune) -ldl -o "$work/example"
    }
    export LD_LIBRARY_PATH="$lib"
    echo "c: $("$work/c")"
    echo "cxx: $("$work/cxx")"
    RTUNE_DB=none "$work/example" --device cpu | grep '^sum: 524288$'
    unset LD_LIBRARY_PATH
    echo "c_static: $("$work/c_static")"
}

case $how in
cmake) with_cmake ;;
pkg-config) with_pkg_config ;;
esac
