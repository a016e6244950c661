#!/usr/bin/env bash
# What these tests need of the machine beside the tools of `make tools`: a recursive resolver, and a signer of zones.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
declare -A package=([unbound]=unbound [dnssec-keygen]=bind9-utils [dnssec-signzone]=bind9-utils)
missing() { lacking package; }
if ! packages=$(missing); then
  install_packages "$packages" missing
  # The package's own resolver is not wanted at the next boot either.
  [ ! -d /run/systemd/system ] || systemctl disable --quiet unbound
fi
