#!/usr/bin/env bash
# What these tests need of the machine: Prometheus, and promtool that comes with it.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
declare -A package=([prometheus]=prometheus [promtool]=prometheus)
missing() { lacking package; }
if ! packages=$(missing); then
  install_packages "$packages" missing
  # The package's own server is not wanted at the next boot either.
  [ ! -d /run/systemd/system ] || systemctl disable --quiet prometheus
fi
