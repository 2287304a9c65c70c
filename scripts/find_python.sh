#!/usr/bin/env bash
# Prints a Python that can run pyhudi: $PYTHON when it is set, else the first of the usual names that is 3.11 or later.
set -euo pipefail

serves() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

if [ -n "${PYTHON:-}" ]; then
    serves "$PYTHON" || { echo "PYTHON=$PYTHON is not a Python 3.11 or later." >&2; exit 1; }
    echo "$PYTHON"
    exit 0
fi
# 3.11 first: it is the one version that both pyhudi and Apache Hudi of `make interop` are tested on.
for candidate in python3.11 python3.12 python3.13 python3 python; do
    if serves "$candidate"; then
        echo "$candidate"
        exit 0
    fi
done
echo "No Python 3.11 or later was found. Install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2
exit 1
