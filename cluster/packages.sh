# Sourced after env.sh: Debian packages by what they bring. What is missing is installed on Debian, as root; elsewhere it is named.

# lacking ARRAY: prints the packages that the associative array (command or path -> package) finds missing, and fails then.
lacking() {
  local -n of=$1
  local what out=
  for what in "${!of[@]}"; do command -v "$what" >/dev/null || out+=" ${of[$what]}"; done
  [ -z "$out" ] || { tr ' ' '\n' <<<"$out" | sed '/^$/d' | sort -u | tr '\n' ' '; return 1; }
}

# install_packages PACKAGES CHECK...: CHECK must succeed afterwards, and prints what is missing where it doesn't. Only the programs are
# wanted: services that come with them are not started (invoke-rc.d asks policy-rc.d).
install_packages() {
  local packages=$1 command policy=/usr/sbin/policy-rc.d ours=; shift
  command="apt-get install -y --no-install-recommends $packages"
  command -v apt-get >/dev/null || die "missing on this machine, by their Debian names: $packages"
  say "installing Debian packages that are missing: $packages"
  mkdir -p "$CACHE/log"
  exec 5>"$CACHE/.lock-packages"; flock 5
  [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy; chmod +x $policy; ours=1; }
  { apt-get update -q || true; DEBIAN_FRONTEND=noninteractive $command; } </dev/null >"$CACHE/log/apt-get.log" 2>&1 5>&- || command+=' (it failed)'
  [ -z "$ours" ] || rm -f $policy
  exec 5>&-
  packages=$("$@") || die "still missing after '$command', see $CACHE/log/apt-get.log: $packages"
}

need_go() { # only when there is something to build
  command -v go >/dev/null || die "Go is missing: install Go $(awk '$1 == "go" {print $2}' "$HERE/modules/kubernetes/go.mod") or newer (from go.dev/dl) and put it on PATH"
}
