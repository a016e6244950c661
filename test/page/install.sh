#!/usr/bin/env bash
# Installs Chromium and a font from Debian, if they are missing. chromium-headless-shell is Chromium without the windows of the desktop: the
# page's tests need half of the processor time.
. "$(dirname "${BASH_SOURCE[0]}")/../../cluster/env.sh"
. "$HERE/packages.sh"
missing() { command -v chromium-headless-shell >/dev/null || { echo "chromium-headless-shell fonts-dejavu-core"; return 1; }; }
packages=$(missing) || install_packages "$packages" missing
