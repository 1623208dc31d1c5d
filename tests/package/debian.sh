#!/usr/bin/env bash
# Makes the Debian packages of a build and installs them by dpkg into an empty root: the program folds there, with nothing but the
# libraries that the packages depend on; a consumer compiles and links against the headers; removing them leaves nothing.
# usage: debian.sh CPACK BUILD_DIR TESTS_DIR CC
set -euo pipefail
cpack=$1 build=$2 tests=$3 cc=$4

for tool in dpkg dpkg-deb dpkg-shlibdeps unshare; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
# A root of its own: as root, or as its like in a user namespace.
inside=(unshare --mount)
"${inside[@]}" chroot / true 2>/dev/null || inside=(unshare --user --map-root-user --mount)
"${inside[@]}" chroot / true 2>/dev/null || { echo "skipped: chroot needs root or a user namespace"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/cpack.log" 2>&1 || { cat "$work/cpack.log"; exit 1; }
names=$(cd "$work/packages" && echo *.deb)
version=$(sed -n 's/^set(CPACK_PACKAGE_VERSION "\(.*\)")/\1/p' "$build/CPackConfig.cmake")
machine=$(dpkg --print-architecture)
[ "$names" = "libqfold-dev_${version}_$machine.deb libqfold0_${version}_$machine.deb qfold_${version}_$machine.deb" ]

field() { dpkg-deb -f "$work/packages/$1_${version}_$machine.deb" "$2"; }
[[ "$(field qfold Depends)" =~ libc6.*libdeflate0.*libpthreadpool0 ]]
[[ "$(field libqfold0 Depends)" =~ libc6.*libdeflate0.*libpthreadpool0 ]]
[[ "$(field libqfold-dev Depends)" == "libqfold0 (= $version)"* ]]

# An empty root has no libc package either, so dependencies are put there as files, from this machine.
mkdir -p "$root"/var/lib/dpkg/{info,updates} "$root"/{tmp,bin}
touch "$root/var/lib/dpkg/status"
as_root=("${inside[@]}" dpkg --root="$root" --log="$work/dpkg.log" --force-not-root --force-depends --force-script-chrootless)
"${as_root[@]}" -i "$work"/packages/*.deb >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
ldd "$root/usr/bin/qfold" | grep -oE '/[^ ]+' | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
cp "$tests/fixtures/views.pt2" "$root/tmp/in.pt2"

"${inside[@]}" chroot "$root" /usr/bin/qfold fold /tmp/in.pt2 -o /tmp/out.pt2 --quiet
"${inside[@]}" chroot "$root" /usr/bin/qfold verify /tmp/in.pt2 /tmp/out.pt2 --quiet
"$build/qfold" fold "$tests/fixtures/views.pt2" -o "$work/here.pt2" --quiet
cmp "$root/tmp/out.pt2" "$work/here.pt2"
for file in share/man/man1/qfold.1 share/bash-completion/completions/qfold share/zsh/vendor-completions/_qfold \
            share/fish/vendor_completions.d/qfold.fish share/doc/{qfold,libqfold0,libqfold-dev}/copyright; do
  [ -s "$root/usr/$file" ]
done
[ ! -e "$root/usr/share/zsh/site-functions" ]

pc=$(dirname "$(find "$root" -name qfold.pc)")
read -ra flags <<<"$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs qfold)"
"$cc" -std=c11 "$tests/api/consumer/use_qfold.c" -o "$root/tmp/consumer" "${flags[@]}"
rm "$root/tmp/out.pt2"
"${inside[@]}" chroot "$root" /tmp/consumer /tmp/in.pt2 /tmp/out.pt2
cmp "$root/tmp/out.pt2" "$work/here.pt2"

"${as_root[@]}" -P libqfold-dev libqfold0 qfold >"$work/remove.log" 2>&1 || { cat "$work/remove.log"; exit 1; }
left=$(find "$root" -name '*qfold*' -not -path "$root/tmp/*" -not -path "$root/var/*")
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "3 packages: installed, used, removed"
