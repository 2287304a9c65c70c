"""Apache Hudi's table format in Python, with PySpark as the engine that moves the data.

`HudiTable` opens, reads and writes a table without Spark; `enable` makes a Spark session speak Hudi. Both are
imported when they are first asked for, so that `import pyhudi` loads neither pyarrow nor pyspark.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pyhudi import errors

if TYPE_CHECKING:
    from pyhudi.sql.enable import enable
    from pyhudi.table.table import HudiTable

__all__ = ["HudiTable", "enable", "errors"]

_PLACES = {"HudiTable": "pyhudi.table.table", "enable": "pyhudi.sql.enable"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'pyhudi' has no attribute '{name}'")
    try:
        return getattr(importlib.import_module(_PLACES[name]), name)
    except ModuleNotFoundError as error:
        if error.name == "pyspark":
            raise errors.UnsupportedError("pyhudi.enable needs PySpark: pip install 'pyhudi[spark]'.") from error
        raise
