#!/usr/bin/env bash
# What these tests need of the machine: Debian's Chromium, and letters for it to show.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
missing() { command -v chromium >/dev/null || { echo "chromium fonts-dejavu-core"; return 1; }; }
packages=$(missing) || install_packages "$packages" missing
