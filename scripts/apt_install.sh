#!/usr/bin/env bash
# Installs the first of the named Debian packages that can be had. Where this user may not install, prints the command to type.
# Usage: apt_install.sh PACKAGE [ALTERNATIVE...]
set -euo pipefail

if ! command -v apt-get >/dev/null; then
    echo "Cannot install $1 here: this system has no apt-get. Install it with the package manager of the system." >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
else
    echo "Needed and not allowed to install it without a password. Type this, then call make again:" >&2
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends $1" >&2
    exit 1
fi

install() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1" >&2; }

"${as_root[@]}" apt-get update -q >&2 || echo "apt-get update failed; trying with the package lists that are there." >&2
for package in "$@"; do
    if install "$package"; then
        exit 0
    fi
done
echo "None of these packages could be installed: $*" >&2
exit 1
