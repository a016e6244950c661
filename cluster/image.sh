#!/usr/bin/env bash
# image.sh: stages dist/image, builds the image with docker or buildah, and imports it into the cluster when one is up.
# The tag is the content's: it stands in dist/image.tag, the whole name is localhost/doorplate:$(cat dist/image.tag).
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$ROOT"
context=dist/image entry=${IMAGE_ENTRY:-operator/main.ts}
node=$(readlink -f node_modules/.bin/node) || die "node_modules is missing: npm ci"
[ -f "$entry" ] || die "$entry is missing"
rm -rf "$context/app"

# --- the first layer: changes with the version of Node.js only
libs=$(ldd "$node" | grep -oE '/[^ ]+') # linux-vdso has no path
rootfs_key=$(stat -L -c '%n %s %Y' "$node" $libs | sha256sum)
if [ "$rootfs_key" != "$(cat dist/rootfs.key 2>/dev/null)" ]; then
  rm -rf "$context/rootfs"; mkdir -p "$context/rootfs/etc" "$context/rootfs/usr/local/bin"
  for lib in $libs; do
    mkdir -p "$context/rootfs${lib%/*}"; cp -L "$lib" "$context/rootfs$lib"
  done
  install -m 755 "$node" "$context/rootfs/usr/local/bin/node"
  echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$context/rootfs/etc/passwd"
  echo 'nonroot:x:65532:' >"$context/rootfs/etc/group"
  (cd "$context/rootfs" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >dist/rootfs.sums
  echo "$rootfs_key" >dist/rootfs.key
  say "staged Node.js $("$node" --version)"
fi

# --- the second: the bundle
"$HERE/bundle.sh" "$context/app" "$entry" || die "esbuild"
say "bundled $(($(stat -c %s "$context/app/main.js") / 1024)) KiB, and $(($(cat "$context"/app/chunk-*.js "$context"/app/dist-*.js 2>/dev/null | wc -c) / 1024)) KiB that a Pod does not load"

tag=$(find Containerfile dist/rootfs.sums "$context/app" -type f -print0 | sort -z | xargs -0 cat | sha256sum | cut -c1-12)
ref=localhost/doorplate:$tag archive=dist/doorplate-$tag.tar
if [ ! -f "$archive" ]; then
  rm -f dist/doorplate-*.tar
  if docker info >/dev/null 2>&1; then
    with=docker
    docker build -q -f Containerfile -t "$ref" "$context" >/dev/null || die "docker build"
    docker save "$ref" -o "$archive.tmp" || die "docker save"
  elif command -v buildah >/dev/null; then
    with=buildah
    export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
    storage=$CACHE/image-storage
    bh() { buildah --root "$storage" --runroot "$storage/run" "$@"; }
    mkdir -p "$storage"; exec 5>"$storage/.lock"; flock 5
    # --ignorefile: .dockerignore is for who gives the checkout as the context. Layers are kept between runs, so only the bundle's is new.
    bh build -q --layers --timestamp 0 --ignorefile /dev/null -f Containerfile -t "$ref" "$context" >/dev/null 5>&- || die "buildah build"
    say "built"
    bh push -q --disable-compression "$ref" "oci-archive:$archive.tmp:$ref" || die "buildah push"
    # Of the images before this one only the layer that is shared stays.
    bh images --format '{{.Name}}:{{.Tag}}' | { grep '^localhost/doorplate:' || true; } | { grep -vxF "$ref" || true; } | xargs -r -n1 buildah --root "$storage" --runroot "$storage/run" rmi >/dev/null 2>&1 || true
  else
    die "neither a docker daemon nor buildah: apt-get install -y --no-install-recommends buildah"
  fi
  mv "$archive.tmp" "$archive"
  say "image $ref by $with, $(du -m "$archive" | cut -f1) MiB"
fi
echo "$tag" >dist/image.tag
if init_pid >/dev/null; then
  "$HERE/enter.sh" ctr images import "$archive" >/dev/null 2>"$STATE/log/image.log" || die "import: $(tail -3 "$STATE/log/image.log")"
  say "imported into the cluster: $ref"
fi
