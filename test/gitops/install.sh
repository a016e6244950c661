#!/usr/bin/env bash
# Builds what asks the real tools (main.go) into the cache, when it is not there or was built of other sources. Prints where it is.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
dir=$ROOT/test/gitops out=$BIN/gitops-judges
mkdir -p "$BIN" "$CACHE/log"
exec 5>"$CACHE/.lock-gitops"
flock 5
key=$(cat "$dir"/*.go "$dir/go.mod" "$dir/go.sum" | sha256sum)
if [ ! -x "$out" ] || [ "$key" != "$(cat "$BIN/.gitops-judges.key" 2>/dev/null)" ]; then
  need_go
  log=$CACHE/log/gitops-judges.log
  env -C "$dir" GOFLAGS="-buildvcs=false -mod=readonly" go build -o "$out.tmp" . >"$log" 2>&1 5>&- || { tail -n 20 "$log" >&2; die "building the judges: see $log"; }
  mv "$out.tmp" "$out"
  echo "$key" >"$BIN/.gitops-judges.key"
fi
echo "$out"
