#!/usr/bin/env bash
# What these tests need of the machine: nginx, a Python that makes environments (for Envoy's wheel), and redis-server.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
declare -A package=([nginx]=nginx-light)
missing() { lacking package; }
packages=$(missing) || install_packages "$packages" missing
