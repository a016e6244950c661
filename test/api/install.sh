#!/usr/bin/env bash
# What these tests need of the machine: a Python that makes environments, curl, jq, and Go.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
declare -A package=([curl]=curl [jq]=jq)
missing() {
  local out
  out=$(lacking package)
  python3 -c 'import ensurepip, venv' 2>/dev/null || out+=" python3 python3-venv"
  [ -z "$out" ] || { echo "$out"; return 1; }
}
packages=$(missing) || install_packages "$packages" missing
need_go # builds the programs in Go that pages show
