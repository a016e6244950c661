#!/usr/bin/env bash
# What these tests need of the machine beside the tools of `make tools`: an authoritative server, a recursive resolver, a signer of zones.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
declare -A package=([nsd]=nsd [unbound]=unbound [dnssec-keygen]=bind9-utils [dnssec-signzone]=bind9-utils)
missing() { lacking package; }
if ! packages=$(missing); then
  install_packages "$packages" missing
  # The packages' own services must not start at the next boot either.
  [ ! -d /run/systemd/system ] || systemctl disable --quiet nsd unbound
fi
