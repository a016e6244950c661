# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this folder: directories, versions, helpers. They run with bash 3.2 and BSD tools too, so that macOS will do.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
ROOT=${HERE%/examples/kind}
STATE=$ROOT/dist/kind # of up.sh: the kubeconfig
CLUSTER=${DOORPLATE_KIND_CLUSTER:-doorplate}
# shellcheck source=../../cluster/versions.env
. "$ROOT/cluster/versions.env"

say() { printf '\n[%4ds] %s\n' "$SECONDS" "$*"; }
die() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# scratch: creates the directory TMP, which is removed when the script ends.
scratch() { TMP=$(mktemp -d); trap 'rm -rf "$TMP"' EXIT; }

# render FILE: prints the file with each @NAME@ replaced by the variable NAME.
render() {
  local text name
  text=$(cat "$1")
  for name in EDGE_HTTP_PORT EDGE_HTTPS_PORT COREDNS_VERSION NODE_IP DNS_IP PEBBLE_CA_BASE64; do
    text=${text//@$name@/${!name-}}
  done
  printf '%s\n' "$text"
}

# apply: applies the manifests on stdin.
apply() { kubectl apply --server-side --force-conflicts -f - >/dev/null; }

# retry SECONDS WHAT COMMAND...: repeats the command until it succeeds, and prints the command's error if it never does.
retry() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= end)); then
      "$@" >&2 || true
      die "$what: not within the time allowed"
    fi
    sleep 1
  done
}

# node_ip: prints the address of the first node, which is also the edge's.
node_ip() { kubectl get nodes -o jsonpath='{.items[0].status.addresses[?(@.type=="InternalIP")].address}' | cut -d' ' -f1; }
