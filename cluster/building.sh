# Sourced after env.sh: builds binaries and images into the cache, as far as they are missing or their inputs have changed. Only one
# process builds at a time.
. "$HERE/packages.sh"
export GOFLAGS="-buildvcs=false -mod=readonly"
DOCKERFILES=$HERE/images
mkdir -p "$BIN" "$IMAGES" "$CHARTS" "$CACHE/log"
exec 5>"$CACHE/.lock-build"
flock -n 5 || { say "waiting for another build in $CACHE"; flock 5; }

# patiently WHAT COMMAND...: runs COMMAND with a line every half minute; its own noise goes to a log, shown when it fails.
patiently() {
  local what=$1 t=$SECONDS next=30 log=$CACHE/log/${1//[^a-zA-Z0-9.-]/-}.log pid; shift
  "$@" >"$log" 2>&1 5>&- &
  pid=$!
  trap 'kill $pid 2>/dev/null' EXIT
  while kill -0 $pid 2>/dev/null; do
    sleep 0.2
    ((SECONDS - t < next)) || { say "still at $what, $((SECONDS - t)) s"; next=$((next + 30)); }
  done
  trap - EXIT
  wait $pid || { tail -n 20 "$log" >&2; die "$what: see $log"; }
}

# go_build FOLDER "NAME=PACKAGE ..." [linker flags]: builds what is missing, or was built from other sources or with other flags.
go_build() {
  local module=${1##*/} dir=$1 pairs=$2 pair name key t; shift 2
  # Without debug information it compiles a sixth faster; without inlining another fifth, where nobody waits for what is built.
  local compiler=-dwarf=false flags=(-trimpath -tags=no_btrfs,no_devmapper,no_zfs "-ldflags=-s -w $*")
  case $module in containerd | tools | older-cert-manager) compiler+=" -l" ;; esac
  case $module in tools) flags+=("-modfile=$CACHE/tools.mod") ;; esac
  flags+=("-gcflags=all=$compiler")
  key=$({ find "$dir" -name '*.go' | sort | xargs cat "$dir/go.mod"; echo "${flags[*]}"; } | sha256sum)
  for pair in $pairs; do
    name=${pair%%=*} t=$SECONDS
    [ ! -x "$BIN/$name" ] || [ "$key" != "$(cat "$BIN/.$name.key" 2>/dev/null)" ] || continue
    need_go
    [ "$module" != tools ] || own_copies "$dir"
    patiently "building $name" env -C "$dir" CGO_ENABLED=0 go build "${flags[@]}" -o "$BIN/.$name.tmp" "${pair#*=}"
    mv "$BIN/.$name.tmp" "$BIN/$name"
    echo "$key" >"$BIN/.$name.key"
    say "built $name in $((SECONDS - t)) s, $(du -m "$BIN/$name" | cut -f1) MiB"
  done
}

# Images: FROM scratch, one layer per binary, kept as OCI archives. buildah's own
# storage goes to the cache as well, so that nothing is left in /var/lib/containers.
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
bh() { buildah --root "$CACHE/buildah" --runroot "$CACHE/buildah-run" "$@"; }
image() { # NAME TAG FILES...
  local name=$1 ref=localhost/$1:$2 out=$IMAGES/$1-$2.tar ctx=$CACHE/context key; shift 2
  key=$({ cat "$DOCKERFILES/$name.Dockerfile"; stat -c '%n %s %Y' "$@"; } | sha256sum)
  [ ! -f "$out" ] || [ "$key" != "$(cat "$out.key" 2>/dev/null)" ] || return 0
  rm -rf "$ctx"; mkdir -p "$ctx"; cp "$@" "$ctx/"
  # --timestamp 0: equal files give equal layers, which containerd then keeps once.
  patiently "image $name" bh build --timestamp 0 -f "$DOCKERFILES/$name.Dockerfile" -t "$ref" "$ctx"
  rm -f "$out.tmp"; bh push -q "$ref" "oci-archive:$out.tmp:$ref" || die "buildah push $ref"
  mv "$out.tmp" "$out"
  echo "$key" >"$out.key"
  say "image $ref, $(du -m "$out" | cut -f1) MiB"
}
