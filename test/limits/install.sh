#!/usr/bin/env bash
# What these tests need of the machine: a server that speaks Valkey's protocol, and a clock that can be set for one process.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
declare -A package=([redis-server]=redis-server [faketime]=faketime)
missing() { lacking package; }
if ! packages=$(missing); then
  install_packages "$packages" missing
  # The package's own server is not wanted at the next boot either.
  [ ! -d /run/systemd/system ] || systemctl disable --quiet redis-server
fi
