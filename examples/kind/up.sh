#!/usr/bin/env bash
# Doorplate on a kind cluster, up to a Live hostname, without root: up.sh. Run it again at any time; `up.sh --delete` removes the cluster.
#
#   DOORPLATE_IMAGE         image of Doorplate, which Docker has or pulls (default: built from this checkout)
#   PEBBLE_IMAGE            image of Pebble whose entry point is Pebble (default: built from its Go module)
#   EDGE_HTTP_PORT, EDGE_HTTPS_PORT   ports of this machine for the edge of a new cluster (default 8080 and 8443)
#   KIND_NODE_IMAGE         node image of a new cluster (default: kind's; Kubernetes 1.33 or newer)
#   DOORPLATE_KIND_CLUSTER  name of the cluster (default doorplate)
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
: "${EDGE_HTTP_PORT:=8080}" "${EDGE_HTTPS_PORT:=8443}"
export KUBECONFIG=$STATE/kubeconfig # yours is not read, and not changed

# --- prerequisites: all that is missing is named at once
missing=()
need() { command -v "$1" >/dev/null || missing+=("$1: $2"); }
need docker "install Docker Engine or Docker Desktop (https://docs.docker.com/get-docker)"
need kind "install it (https://kind.sigs.k8s.io/docs/user/quick-start/#installation)"
need kubectl "install it (https://kubernetes.io/docs/tasks/tools)"
need helm "install Helm 3.8 or newer (https://helm.sh/docs/intro/install)"
need curl "install it with your package manager"
if command -v docker >/dev/null && ! docker info >/dev/null 2>&1; then
  missing+=("the Docker daemon does not answer: start it, or add your user to the group docker and log in again")
fi
if ((${#missing[@]})); then
  printf 'missing: %s\n' "${missing[@]}" >&2
  exit 1
fi

exists() { kind get clusters 2>/dev/null | grep -qx "$CLUSTER"; }
if [ "${1-}" = --delete ]; then
  kind delete cluster --name "$CLUSTER" --kubeconfig "$KUBECONFIG"
  rm -rf "$STATE"
  exit
fi
[ $# -eq 0 ] || die "usage: up.sh [--delete]"

# --- the cluster
mkdir -p "$STATE"
if exists; then
  say "The kind cluster $CLUSTER exists"
  docker start "$CLUSTER-control-plane" >/dev/null
  kind export kubeconfig --name "$CLUSTER" --kubeconfig "$KUBECONFIG" >/dev/null 2>&1
else
  say "The kind cluster $CLUSTER"
  render "$HERE/cluster.yaml" >"$STATE/cluster.yaml"
  kind create cluster --name "$CLUSTER" --config "$STATE/cluster.yaml" --kubeconfig "$KUBECONFIG" --wait 3m \
    ${KIND_NODE_IMAGE:+--image "$KIND_NODE_IMAGE"} ||
    die "kind could not create the cluster. If a port is taken, set EDGE_HTTP_PORT and EDGE_HTTPS_PORT, run up.sh --delete, and try again"
fi
retry 60 "the API server" kubectl get --raw /readyz

# --- images. Each is built FROM its source, so that it has one platform, which `kind load` needs, and the name that the manifests use
say "Images"
# The builder of the Docker daemon itself: others do not see its images.
BUILDX_BUILDER=$(docker context show)
export BUILDX_BUILDER BUILDX_NO_DEFAULT_ATTESTATIONS=1
images=()
# image NAME [DOCKER-BUILD-ARGUMENT...]: builds the image; the Dockerfile is on stdin.
image() {
  local name=$1
  shift
  docker build --quiet --tag "$name" "$@" - >/dev/null || die "docker build: $name"
  images+=("$name")
}
if [ -z "${DOORPLATE_IMAGE-}" ]; then
  DOORPLATE_IMAGE=localhost/doorplate:checkout
  docker build --quiet --tag "$DOORPLATE_IMAGE" "$ROOT" >/dev/null || die "docker build $ROOT"
elif ! docker image inspect "$DOORPLATE_IMAGE" >/dev/null 2>&1; then
  docker pull --quiet "$DOORPLATE_IMAGE" >/dev/null || die "Docker neither has nor can pull the image $DOORPLATE_IMAGE"
fi
# The tag follows from the contents: another image restarts the Pods, the same one does not.
id=$(docker image inspect --format '{{.Id}}' "$DOORPLATE_IMAGE" | sed 's/.*://' | cut -c1-12)
image "localhost/doorplate:kind-$id" <<<"FROM $DOORPLATE_IMAGE"
image "localhost/traefik:$TRAEFIK_VERSION" <<<"FROM traefik:$TRAEFIK_VERSION"
image "localhost/coredns:$COREDNS_VERSION" <<<"FROM coredns/coredns:${COREDNS_VERSION#v}"
image localhost/backend:1 <<'D'
FROM busybox:1.37
ENTRYPOINT ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www"]
D
if [ -n "${PEBBLE_IMAGE-}" ]; then
  image "localhost/pebble:$PEBBLE_VERSION" <<<"FROM $PEBBLE_IMAGE"
else
  image "localhost/pebble:$PEBBLE_VERSION" --build-arg "VERSION=$PEBBLE_VERSION" <<'D'
FROM golang:1.26-alpine AS build
ARG VERSION
RUN CGO_ENABLED=0 go install "github.com/letsencrypt/pebble/v2/cmd/pebble@$VERSION"
FROM scratch
COPY --from=build /go/bin/pebble /pebble
ENTRYPOINT ["/pebble"]
D
fi
kind load docker-image --name "$CLUSTER" "${images[@]}" >"$STATE/load.log" 2>&1 || die "kind load docker-image: $(cat "$STATE/load.log")"

# --- what needs kubectl and helm alone
"$HERE/surroundings.sh"
EDGE_HTTPS=$(docker port "$CLUSTER-control-plane" 443/tcp | head -1)
DOORPLATE_IMAGE=localhost/doorplate:kind-$id EDGE_HTTPS=$EDGE_HTTPS "$HERE/story.sh"
cat <<T

Look around:
  export KUBECONFIG=$KUBECONFIG
  kubectl get projects,customdomains -A
  kubectl describe customdomain docs -n acme
  curl -k --connect-to ::$EDGE_HTTPS https://docs.customer.test/
  examples/kind/zone.sh show
Remove the cluster:
  examples/kind/up.sh --delete
T
