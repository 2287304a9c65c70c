"""Which release of pyhudi wrote a commit."""

from __future__ import annotations

from importlib import metadata

try:
    VERSION = metadata.version("pyhudi")
except metadata.PackageNotFoundError:  # a source tree on the path
    VERSION = "unreleased"
