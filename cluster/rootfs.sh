#!/bin/sh
# rootfs.sh TARGET OUT: picks the files that Node.js needs out of a base image whose files are below TARGET: the binary, its libraries,
# the release of Debian, and a user. Each package gets its licence and an entry in dpkg's status.d, where scanners look for it. The
# base may be of another processor: none of its programs is run.
set -eu
target=$1 out=$2
query() { dpkg-query --admindir="$target/var/lib/dpkg" "$@"; }

mkdir -p "$out/etc" "$out/usr/lib" "$out/usr/local/bin" "$out/usr/share/doc/node" "$out/var/lib/dpkg/status.d"
for lib in lib lib64; do # as in the base: links into /usr
  [ ! -L "$target/$lib" ] || { mkdir -p "$out/usr/$lib"; ln -s "usr/$lib" "$out/$lib"; }
done
cp "$target/usr/local/bin/node" "$out/usr/local/bin/node"
cp "$target/usr/local/LICENSE" "$out/usr/share/doc/node/copyright"
echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$out/etc/passwd"
echo 'nonroot:x:65532:' >"$out/etc/group"

# The packages of GCC have their licence in the package gcc-VERSION-base. libatomic1 is needed by some builds of Node.js only.
gcc=$(query -W -f '${Package}\n' 'gcc-*-base')
for package in base-files libc6 "$gcc" libgcc-s1 libstdc++6 libatomic1; do
  if ! query -W "$package" >/dev/null 2>&1; then
    [ "$package" = libatomic1 ] && continue
    echo "rootfs.sh: the base image has no package $package" >&2; exit 1
  fi
  query -s "$package" >"$out/var/lib/dpkg/status.d/$package"
  licence=$target/usr/share/doc/$package/copyright
  [ -f "$licence" ] || licence=$target/usr/share/doc/$gcc/copyright
  mkdir -p "$out/usr/share/doc/$package"
  cp "$licence" "$out/usr/share/doc/$package/copyright"
  query -L "$package" | while read -r path; do
    case $path in
    */gconv/* | */audit/*) ;;
    /lib*/*.so* | /usr/lib*/*.so* | /etc/debian_version | */os-release)
      mkdir -p "$out${path%/*}"
      cp -P "$target$path" "$out$path"
      ;;
    esac
  done
done

# On the base's own processor, the loader names each library that the binary needs.
if [ "$(query -W -f '${Architecture}' libc6)" = "$(dpkg --print-architecture)" ]; then
  ldd "$target/usr/local/bin/node" | grep -oE '/[^ ]+' | while read -r path; do
    [ -e "$out$path" ] || { echo "rootfs.sh: Node.js needs $path, which is in none of the packages above" >&2; exit 1; }
  done
fi
