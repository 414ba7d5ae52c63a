# Functions shared by the scripts of this folder and .ci/run; sourced, never run.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROGRAM=$ROOT/build/release/bin/fsdpckpt

# What a build with tests needs. Debian 12, Debian 13 and Ubuntu 24.04 use these names.
BUILD_PACKAGES=(
  g++ cmake ninja-build pkg-config
  libcli11-dev libspdlog-dev nlohmann-json3-dev libzstd-dev libisal-dev libxxhash-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  python3 python3-jsonschema unzip
)

# What the rank program needs besides; not every distribution has them.
RANK_PACKAGES=(libtorch-dev libgloo-dev)

die() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Prints a command, then runs it.
run() {
  printf '+'
  printf ' %q' "$@"
  printf '\n'
  "$@"
}

# missing_packages NAME...: those that are not installed, one a line.
missing_packages() {
  local name status
  for name in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null || true)
    [[ $status == installed ]] || printf '%s\n' "$name"
  done
}

# The prefix that makes a command run as root: nothing for root, sudo where it may be used without
# a person or a person is at the terminal. Fails where neither is possible.
root_prefix() {
  if [[ $(id -u) == 0 ]]; then
    return 0
  fi
  command -v sudo >/dev/null || return 1
  if sudo -n true 2>/dev/null || [[ -t 0 ]]; then
    printf 'sudo'
    return 0
  fi
  return 1
}

# install_missing NAME...: installs what dpkg says is missing, and does nothing when nothing is.
# Without root and without sudo it names the packages and the command, and exits 1.
install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    printf 'note: no dpkg here; these Debian packages, or what corresponds to them, are needed: %s\n' "$*" >&2
    return 0
  fi
  local missing prefix
  mapfile -t missing < <(missing_packages "$@")
  if [[ ${#missing[@]} == 0 ]]; then
    return 0
  fi
  if ! prefix=$(root_prefix); then
    printf 'These packages are missing: %s\n' "${missing[*]}" >&2
    printf 'Install them as root:\n  apt-get update && apt-get install --no-install-recommends %s\n' "${missing[*]}" >&2
    exit 1
  fi
  local as_root=(env DEBIAN_FRONTEND=noninteractive)
  [[ -z $prefix ]] || as_root=("$prefix" "${as_root[@]}")
  run "${as_root[@]}" apt-get update -qq
  run "${as_root[@]}" apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" </dev/null
}

# available_packages NAME...: those that the package lists know, one a line.
available_packages() {
  local name
  for name in "$@"; do
    if apt-cache show "$name" >/dev/null 2>&1; then
      printf '%s\n' "$name"
    fi
  done
}

# Installs what builds and, where there is such, what the rank program needs.
install_build_packages() {
  install_missing "${BUILD_PACKAGES[@]}" "$@"
  local rank
  mapfile -t rank < <(missing_packages "${RANK_PACKAGES[@]}")
  [[ ${#rank[@]} == 0 ]] || mapfile -t rank < <(available_packages "${rank[@]}")
  [[ ${#rank[@]} == 0 ]] || install_missing "${rank[@]}"
}

# Configures (a second when nothing changed) and builds one preset.
build_preset() {
  run cmake --preset "$1"
  run cmake --build --preset "$@"
}
