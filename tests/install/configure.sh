#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Configuring on a host without a GPU (case G03): the default works and says which architectures it
# builds; "native" fails at once and says what to give. Run as configure.sh CMAKE SOURCE NVCC.
set -u
cmake=$1 source=$2 nvcc=$3
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "configure.sh: $1"
    cat "$scratch/said"
    exit 1
}

configure() {
    folder=$1
    shift
    "$cmake" -S "$source" -B "$scratch/$folder" -DRTUNE_TESTS=OFF "-DRTUNE_NVCC=$nvcc" "$@" \
        > "$scratch/said" 2>&1
}

configure default || fail "the default needs more than the toolkit"
grep -q 'built-in kernels for [0-9]' "$scratch/said" || fail "the default does not say its list"
for arch in native all; do
    if configure "$arch" "-DRTUNE_CUDA_ARCHS=$arch"; then fail "$arch was taken"; fi
    grep -q "\"$arch\" is not an architecture" "$scratch/said" || fail "$arch: the wrong text"
    tr -s ' \n' ' ' < "$scratch/said" | grep -q 'since the kernels are built without a GPU' ||
        fail "$arch: no advice"
done
