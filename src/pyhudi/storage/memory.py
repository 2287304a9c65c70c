"""The former name of `pyhudi.storage.memory_storage`, for one release."""

from __future__ import annotations

import warnings

from pyhudi.storage.memory_storage import MemoryStorage

__all__ = ["MemoryStorage"]

warnings.warn("pyhudi.storage.memory is now pyhudi.storage.memory_storage", DeprecationWarning, stacklevel=2)
