#!/usr/bin/env bash
# Installs what building qfold needs on Debian 12 and 13, as root or with sudo. Does nothing when all is there.
#   third_party/setup.sh            compilers, CMake, libraries
#   third_party/setup.sh --tests    also build/venv, the Python environment of the tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tests=0
case "${1-}" in
  '') ;;
  --tests) tests=1 ;;
  *) echo "usage: third_party/setup.sh [--tests]" >&2; exit 2 ;;
esac

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "setup.sh: run as root, or install sudo; needed: $*" >&2
    exit 1
  fi
}

install_packages() {
  local name what missing=()
  while read -r name what; do
    case "$name" in '' | '#'*) continue ;; esac
    [ "$what" = tests ] && [ "$tests" -eq 0 ] && continue
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done < third_party/apt.txt
  [ ${#missing[@]} -eq 0 ] && return
  echo "setup.sh: installing ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# The environment is complete when its copy of python.txt is, which is written last.
install_venv() {
  local done_mark=build/venv/python.txt
  cmp -s third_party/python.txt "$done_mark" && return
  echo "setup.sh: making build/venv"
  python3 -m venv --clear build/venv
  build/venv/bin/python -m pip install --quiet --disable-pip-version-check -r third_party/python.txt
  cp third_party/python.txt "$done_mark"
}

command -v dpkg-query >/dev/null || { echo "setup.sh: needs Debian; third_party/README.md lists what to install" >&2; exit 1; }
install_packages
[ "$tests" -eq 0 ] || install_venv
