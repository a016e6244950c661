#!/usr/bin/env bash
# Builds a Go program into the cache, unless it is there and was built from the same sources. Prints its path. install.sh [judges|installers]
#   judges: asks the tools that wait for their verdict on a status (this folder). installers: applies as Flux and Argo CD do (test/installers)
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
name=${1-judges}
case $name in judges) dir=$ROOT/test/gitops ;; *) dir=$ROOT/test/$name ;; esac
out=$BIN/gitops-$name
mkdir -p "$BIN" "$CACHE/log"
exec 5>"$CACHE/.lock-gitops"
flock 5
key=$(cat "$dir"/*.go "$dir/go.mod" "$dir/go.sum" | sha256sum)
if [ ! -x "$out" ] || [ "$key" != "$(cat "$BIN/.gitops-$name.key" 2>/dev/null)" ]; then
  need_go
  log=$CACHE/log/gitops-$name.log
  env -C "$dir" GOFLAGS="-buildvcs=false -mod=readonly" go build -o "$out.tmp" . >"$log" 2>&1 5>&- || { tail -n 20 "$log" >&2; die "building the $name: see $log"; }
  mv "$out.tmp" "$out"
  echo "$key" >"$BIN/.gitops-$name.key"
fi
echo "$out"
