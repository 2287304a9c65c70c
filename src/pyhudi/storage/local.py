"""The former name of `pyhudi.storage.local_storage`, for one release."""

from __future__ import annotations

import warnings

from pyhudi.storage.local_storage import LocalStorage

__all__ = ["LocalStorage"]

warnings.warn("pyhudi.storage.local is now pyhudi.storage.local_storage", DeprecationWarning, stacklevel=2)
