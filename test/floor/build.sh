#!/usr/bin/env bash
# Builds the API server of the oldest Kubernetes that the chart accepts (go.mod), if the cache lacks it. Prints the folder of a cache
# with that API server in place of the cluster's, and with links to all else. From nothing 3 to 5 minutes on two cores.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
folder=$ROOT/test/floor floor=$CACHE/floor package=k8s.io/component-base/version
version=$(awk '$2 == "k8s.io/kubernetes" {print $3}' "$folder/go.mod")
flags=(-trimpath -buildvcs=false -mod=readonly "-gcflags=all=-dwarf=false"
  "-ldflags=-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$version") -X $package.gitTreeState=clean")
mkdir -p "$floor/bin" "$CACHE/log"
exec 5>"$floor/.lock"
flock 5
key=$({ cat "$folder/go.mod" "$folder/tools.go"; echo "${flags[*]}"; } | sha256sum)
if [ "$key" != "$(cat "$floor/key" 2>/dev/null)" ]; then
  need_go
  say "building the API server of Kubernetes $version" >&2
  env -C "$folder" CGO_ENABLED=0 go build "${flags[@]}" -o "$floor/bin/kube-apiserver.tmp" k8s.io/kubernetes/cmd/kube-apiserver >"$CACHE/log/floor.log" 2>&1 5>&- ||
    { tail -n 20 "$CACHE/log/floor.log" >&2; die "go build: see $CACHE/log/floor.log"; }
  mv "$floor/bin/kube-apiserver.tmp" "$floor/bin/kube-apiserver"
  echo "$key" >"$floor/key"
fi
for f in "$CACHE"/*; do case ${f##*/} in floor | bin) ;; *) ln -sfn "$f" "$floor/" ;; esac; done
for f in "$BIN"/*; do case ${f##*/} in kube-apiserver) ;; *) ln -sfn "$f" "$floor/bin/" ;; esac; done
say "$("$floor/bin/kube-apiserver" --version)" >&2
echo "$floor"
