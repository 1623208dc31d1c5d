#!/usr/bin/env bash
# Installs the build into a fresh prefix, moves that, and builds and runs a consumer against it: through the CMake package, shared and
# static, and through pkg-config, shared and static.
# usage: installed.sh CMAKE BUILD_DIR CC
set -euo pipefail
cmake=$1 build=$2 cc=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved

# The consumers fold a model; those of the kernels alone take no arguments.
run() {
  rm -f "$work/folded.pt2"
  "$1" "$here/../fixtures/views.pt2" "$work/folded.pt2"
}

"$cmake" --install "$build" --prefix "$work/installed" >"$work/install.log"
mv "$work/installed" "$prefix"

"$cmake" -S "$here/consumer" -B "$work/consumer" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
"$cmake" --build "$work/consumer" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
for program in kernels_shared kernels_static qfold_shared qfold_static; do
  run "$work/consumer/$program"
done

pc=$(dirname "$(find "$prefix" -name qfold.pc)")
libs=$(dirname "$pc")
export PKG_CONFIG_PATH=$pc
for module in qfold-kernels qfold; do
  source=$here/consumer/use_${module/-/_}.c
  read -ra flags <<<"$(pkg-config --cflags --libs "$module")"
  "$cc" -std=c11 -Wall -Werror "$source" -o "$work/shared" "${flags[@]}"
  LD_LIBRARY_PATH=$libs run "$work/shared"
  # The archives by name: beside them lie the shared libraries, which -l would prefer.
  read -ra flags <<<"$(pkg-config --static --cflags --libs "$module" |
    sed -E "s|-l(qfold(_kernels)?)( \|$)|$libs/lib\\1.a\\3|g")"
  "$cc" -std=c11 -Wall -Werror "$source" -o "$work/static" "${flags[@]}"
  run "$work/static"
done
"$prefix"/bin/qfold --version
[ "$(readelf -d "$libs/libqfold.so" | grep -c 'SONAME.*\[libqfold.so.0\]')" -eq 1 ]
[ "$(readelf -d "$libs/libqfold_kernels.so" | grep -c 'SONAME.*\[libqfold_kernels.so.0\]')" -eq 1 ]
