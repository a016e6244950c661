#!/usr/bin/env bash
# image.sh: builds the image with docker or buildah, and imports it into the cluster when one is up. The bundle is built here, on the
# host, and takes the place of the Dockerfile's stage. The tag is made of the contents: it is in dist/image.tag, the whole name is
# localhost/doorplate:$(cat dist/image.tag).
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
. "$HERE/base.sh"
cd "$ROOT"
context=dist/image entry=${IMAGE_ENTRY:-operator/main.ts}
[ -e node_modules/.bin/node ] || die "node_modules is missing: npm ci"
[ -f "$entry" ] || die "$entry is missing"

"$HERE/bundle.sh" "$context/app" "$entry" || die "esbuild"
say "bundled $(($(stat -c %s "$context/app/main.js") / 1024)) KiB, and $(($(cat "$context"/app/chunk-*.js "$context"/app/dist-*.js 2>/dev/null | wc -c) / 1024)) KiB that a Pod does not load"

# The version is not a label here: buildah 1.28 would take the label of an older version from its cached layers.
tag=$(find Dockerfile cluster/rootfs.sh cluster/base.sh "$context/app" -type f -print0 | sort -z | xargs -0 cat | sha256sum | cut -c1-12)
ref=localhost/doorplate:$tag archive=dist/doorplate-$tag.tar
if [ ! -f "$archive" ]; then
  rm -f dist/doorplate-*.tar
  build=(build -q --build-context "bundle=$context" -t "$ref")
  if docker info >/dev/null 2>&1; then
    with=docker
    docker buildx "${build[@]}" --load . >/dev/null || die "docker build"
    docker save "$ref" -o "$archive.tmp" || die "docker save"
  elif command -v buildah >/dev/null; then
    with=buildah
    mkdir -p "$STORAGE"; exec 5>"$STORAGE/.lock"; flock 5
    stand_in "$(dpkg --print-architecture)" 5>&- || die "the stand-in for $BASE"
    # The files of Node.js change with the base only. An image of their own saves the stages before them.
    rootfs=localhost/doorplate-rootfs:$(cat "$STORAGE/stand-in" Dockerfile cluster/rootfs.sh | sha256sum | cut -c1-12)
    bh images -q "$rootfs" >/dev/null 2>&1 ||
      bh build -q --timestamp 0 --target rootfs -t "$rootfs" . >/dev/null 5>&- || die "buildah build --target rootfs"
    # --ignorefile: .dockerignore is for the checkout, not for the folder that replaces a stage. Layers are kept, so only the bundle's is new.
    bh "${build[@]}" --layers --timestamp 0 --ignorefile /dev/null --build-context "rootfs=container-image://$rootfs" . >/dev/null 5>&- || die "buildah build"
    say "built"
    bh push -q --disable-compression "$ref" "oci-archive:$archive.tmp:$ref" || die "buildah push"
    # Of the images before this one only the layer that is shared stays.
    bh images --format '{{.Name}}:{{.Tag}}' | { grep -E '^localhost/doorplate(-rootfs)?:' || true; } | { grep -vxF -e "$ref" -e "$rootfs" || true; } |
      while read -r old; do bh rmi "$old" >/dev/null 2>&1 || true; done
  else
    die "neither a docker daemon nor buildah: apt-get install -y --no-install-recommends buildah"
  fi
  mv "$archive.tmp" "$archive"
  say "image $ref by $with, $(du -m "$archive" | cut -f1) MiB"
fi
echo "$tag" >dist/image.tag
if init_pid >/dev/null; then
  "$HERE/enter.sh" sh -c 'for cri in $(find "$1" -name containerd.sock); do ctr -a "$cri" images import "$2" || exit; done' - "$RUN" "$archive" >/dev/null 2>"$STATE/log/image.log" || die "import: $(tail -3 "$STATE/log/image.log")"
  say "imported into the cluster: $ref"
fi
