#!/usr/bin/env bash
# release.sh: writes dist/release: both charts, the image for two processors as one OCI archive, what it is made of (CycloneDX), the API's description
# (OpenAPI), checksums, and a README with the commands that bring all of it into a registry. Node.js is of the version that node_modules has, from npm;
# its libraries are Debian's.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$ROOT"
out=dist/release stage=dist/stage
for tool in buildah apt-get dpkg-deb npm helm; do
  command -v $tool >/dev/null || die "$tool is missing. Helm: make tools; the others, on Debian: apt-get install -y --no-install-recommends buildah npm"
done
version=$(sed -n 's/^appVersion: *//p' charts/doorplate/Chart.yaml)
node=$(node_modules/.bin/node -p process.versions.node) || die "node_modules is missing: npm ci"
image=doorplate-image-$version.tar
rm -rf "$out" "$stage"
mkdir -p "$out" "$stage"

"$HERE/bundle.sh" "$stage/app" || die "esbuild"

# packages_for ARCH: downloads the libraries of Node.js as Debian has them for a processor, with apt's lists in a folder of their own.
packages_for() {
  local dir=$ROOT/$stage/$1/packages
  mkdir -p "$dir/lists"
  : >"$dir/status"
  cat >"$dir/apt.conf" <<END
APT { Architecture "$1"; Architectures { "$1"; }; Sandbox::User "root"; };
Dir { State { lists "$dir/lists"; status "$dir/status"; }; Cache "$dir/cache"; };
END
  (cd "$dir" && apt-get -qq -c apt.conf update && apt-get -qq -c apt.conf download libc6 libstdc++6 libgcc-s1 &&
    apt-get -qq -c apt.conf download "$(dpkg-deb -f libgcc-s1_*.deb Depends | grep -oE 'gcc-[0-9]+-base')") # the licence of the last two
}

# build_for ARCH CPU: CPU is npm's word for ARCH.
build_for() {
  local dir=$stage/$1 package lib
  packages_for "$1" || die "Debian's libraries for $1"
  for package in "$dir"/packages/*.deb; do
    dpkg-deb -x "$package" "$dir/packages/root"
    dpkg-deb -f "$package" Package Version Architecture | sed 's/.*: //' | paste -sd' ' >>"$stage/packages"
  done
  mkdir -p "$dir/rootfs/etc" "$dir/rootfs/usr/local/bin"
  # The libraries where the loader looks for them, and their licences. Where Debian has all below /usr, the loader's own path leads there.
  (cd "$dir/packages/root" && find . -path './usr/share/doc/*' \( -name copyright -o -type l \) -o -path './*lib*' -name '*.so*' -not -path './usr/share/*' -not -path '*/gconv/*') |
    tar -C "$dir/packages/root" -cf - --files-from=- | tar -C "$dir/rootfs" -xf - || die "staging the libraries"
  for lib in lib lib64; do
    [ -e "$dir/rootfs/$lib" ] || [ ! -d "$dir/rootfs/usr/$lib" ] || ln -s "usr/$lib" "$dir/rootfs/$lib"
  done
  npm pack --silent --pack-destination "$dir" "node-linux-$2@$node" >/dev/null || die "Node.js $node for $2"
  tar -xzf "$dir"/node-linux-*.tgz -C "$dir" package/bin/node package/LICENSE
  install -m 755 "$dir/package/bin/node" "$dir/rootfs/usr/local/bin/node"
  install -Dm 644 "$dir/package/LICENSE" "$dir/rootfs/usr/share/doc/node/copyright"
  echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$dir/rootfs/etc/passwd"
  echo 'nonroot:x:65532:' >"$dir/rootfs/etc/group"
  cp -a "$stage/app" "$dir/app"
  bh build -q --platform "linux/$1" --timestamp 0 --ignorefile /dev/null -f Containerfile --manifest "doorplate:$version" "$dir" >/dev/null || die "buildah build"
  say "built for $1"
}

export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
bh() { buildah --root "$ROOT/$stage/storage" --runroot "$ROOT/$stage/storage/run" "$@"; }
bh manifest create "doorplate:$version" >/dev/null || die "buildah"
build_for amd64 x64
build_for arm64 arm64
bh manifest push -q --all --digestfile "$stage/digest" "doorplate:$version" "oci-archive:$out/$image" >/dev/null || die "buildah push"
digest=$(cat "$stage/digest")

cp docs/openapi.json "$out/openapi.json"
for chart in doorplate-crds doorplate; do helm package -d "$out" "charts/$chart" >/dev/null || die "helm package"; done
node_modules/.bin/node cluster/sbom.ts "$node" <"$stage/packages" >"$out/doorplate-$version.cdx.json" || die "SBOM"
cat >"$out/README.md" <<END
# Doorplate $version

The image, for amd64 and arm64: $digest

    sha256sum -c SHA256SUMS
    registry=registry.example.net/platform
    skopeo copy --all --preserve-digests oci-archive:$image docker://\$registry/doorplate:$version
    helm push doorplate-crds-$version.tgz oci://\$registry/charts
    helm push doorplate-$version.tgz oci://\$registry/charts

Then, in the values:

    image: {repository: registry.example.net/platform/doorplate, digest: "$digest"}

doorplate-$version.cdx.json says what the image is made of (CycloneDX). Generate clients of the API from openapi.json.
END
(cd "$out" && sha256sum -- *.tar *.tgz *.json >SHA256SUMS)
rm -rf "$stage"
say "$out: $(ls "$out" | paste -sd' ')"
cat "$out/README.md"
