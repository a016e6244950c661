#!/usr/bin/env bash
# release.sh: writes dist/release: both charts, the image for two processors as one OCI archive, what it is made of (CycloneDX), the API's description
# (OpenAPI), checksums, and a README with the commands that bring all of it into a registry.
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$ROOT"
out=dist/release stage=dist/stage
STORAGE=$ROOT/$stage/storage
. "$HERE/base.sh"
for tool in buildah apt-get dpkg-deb npm helm; do
  command -v $tool >/dev/null || die "$tool is missing. Helm: make tools; the others, on Debian: apt-get install -y --no-install-recommends buildah npm"
done
version=$(sed -n 's/^appVersion: *//p' charts/doorplate/Chart.yaml)
[ -e node_modules/.bin/node ] || die "node_modules is missing: npm ci"
image=doorplate-image-$version.tar
rm -rf "$out" "$stage"
mkdir -p "$out" "$stage"

"$HERE/bundle.sh" "$stage/app" || die "esbuild"

mkdir -p "$STORAGE"
release_base amd64 arm64
base="the official image $BASE"
[ "$base_name" = "$BASE" ] || base="a stand-in for $BASE, of Debian packages and the npm package node: do not publish this image"
revision=$(git rev-parse HEAD) || die "a release names its commit, but this folder has no history. Use a git clone"
source=$(node_modules/.bin/node -p "require('./package.json').repository.url.replace(/^git\\+|\\.git\$/g, '')")

# build_for ARCH: adds the image for a processor to the manifest. The host has built the bundle, which takes the place of the stage. The
# platform of this machine is named for buildah before 1.29, which does not know it in FROM.
build_for() {
  local id container files
  id=$(bh build -q --platform "linux/$1" --timestamp 0 --ignorefile /dev/null --build-arg "BUILDPLATFORM=linux/$(dpkg --print-architecture)" \
    --build-context "bundle=$stage" --build-arg "VERSION=$version" \
    --build-arg "REVISION=$revision" --build-arg "SOURCE=$source" --label "org.opencontainers.image.base.name=$base_name" \
    --manifest "doorplate:$version" . | tail -1) || die "buildah build"
  container=$(bh from "$id") && files=$(bh mount "$container") || die "buildah mount"
  cat "$files"/var/lib/dpkg/status.d/* | awk '/^Package:/ {name = $2} /^Architecture:/ {arch = $2} /^Version:/ {print name, $2, arch}' >>"$stage/packages"
  bh umount "$container" >/dev/null && bh rm "$container" >/dev/null || die "buildah umount"
  say "built for $1"
}

bh manifest create "doorplate:$version" >/dev/null || die "buildah"
build_for amd64
build_for arm64
bh manifest push -q --all --digestfile "$stage/digest" "doorplate:$version" "oci-archive:$out/$image" >/dev/null || die "buildah push"
digest=$(cat "$stage/digest")

cp docs/reference/openapi.json "$out/openapi.json"
for chart in doorplate-crds doorplate; do helm package -d "$out" "charts/$chart" >/dev/null || die "helm package"; done
node_modules/.bin/node cluster/sbom.ts "$NODE_VERSION" <"$stage/packages" >"$out/doorplate-$version.cdx.json" || die "SBOM"
cat >"$out/README.md" <<END
# Doorplate $version

The image, for amd64 and arm64: $digest

Its base is $base.

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
