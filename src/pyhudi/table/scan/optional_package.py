"""Packages that only some calls need."""

from __future__ import annotations

import importlib
from typing import Any

from pyhudi.errors import UnsupportedError


def load_package(name: str, what: str) -> Any:
    """Return a package that pyhudi does not depend on.

    Args:
        name: the package, as it is imported and installed.
        what: the call that needs it, for the message.

    Raises:
        UnsupportedError: it is not installed.

    Example:
        >>> load_package("polars", "to_polars()").__name__
        'polars'
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UnsupportedError(f"{what} needs the package {name}: pip install {name}") from error
