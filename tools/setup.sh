# SPDX-License-Identifier: Apache-2.0
# Sourced by tools/quickstart and tools/check: what a fresh Debian or Ubuntu machine needs.
# shellcheck shell=sh

say() { printf '\n== %s\n' "$*"; }
die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# The packages of which something is missing, by what they bring rather than by name.
missing_packages() {
    have_command cc && have_command c++ && have_command make || echo build-essential
    have_command cmake || echo cmake
    have_command ninja || echo ninja-build
    have_command pkg-config || echo pkg-config
    have_command python3 || echo python3
    have_module sqlite3 || echo libsqlite3-dev
    have_module yaml-0.1 || echo libyaml-dev
    have_module cmocka || echo libcmocka-dev
}
have_command() { command -v "$1" >/dev/null 2>&1; }
have_module() { have_command pkg-config && pkg-config --exists "$1"; }

# Install what is missing, as root or with sudo; without either, say what to install.
install_packages() {
    packages=$(missing_packages | tr '\n' ' ')
    [ -n "$packages" ] || return 0
    have_command apt-get || die "missing, and there is no apt-get to install it with: $packages"
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif have_command sudo; then
        as_root=sudo
    else
        die "these packages are missing (install them as root): apt-get install $packages"
    fi
    say "Installing $packages"
    $as_root apt-get update -qq || die "apt-get update failed"
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $packages ||
        die "apt-get install failed: $packages"
    packages=$(missing_packages | tr '\n' ' ')
    [ -z "$packages" ] || die "still missing after the installation: $packages"
}

check_cmake() {
    version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
    oldest=$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)
    [ "$oldest" = 3.25 ] ||
        die "CMake $version is too old (3.25 or newer; Debian 12 and Ubuntu 24.04 have it)"
}

# Jobs to run at once: processors, but no more than one for each GiB of memory.
jobs() {
    processors=$(nproc)
    gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
    [ "${gib:-0}" -ge 1 ] || gib=1
    if [ "$gib" -lt "$processors" ]; then echo "$gib"; else echo "$processors"; fi
}
