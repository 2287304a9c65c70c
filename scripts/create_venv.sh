#!/usr/bin/env bash
# Makes a virtual environment, or keeps the one that is there. Usage: create_venv.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1

if [ -x "$folder/bin/python" ] && "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi
python=$("$here/find_python.sh")
# Debian keeps the venv module in a package of its own.
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$here/apt_install.sh" "python$version-venv" python3-venv
fi
"$python" -m venv --clear "$folder"
"$folder/bin/python" -m pip install --quiet --upgrade pip
