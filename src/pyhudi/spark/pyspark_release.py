"""The PySpark that is installed, and what to say where it is missing or older than pyhudi needs."""

from __future__ import annotations

import importlib
import posixpath
import re
from typing import Final

from pyhudi.errors import UnsupportedError

_LOWEST: Final = (4, 1)


def check_pyspark(name: str) -> None:
    """Refuse to run what has this name with a PySpark that is missing or too old.

    Raises:
        UnsupportedError: it is.
    """
    if problem := problem_of_pyspark(name):
        raise UnsupportedError(problem)


def problem_of_pyspark(name: str) -> str | None:
    """Return why what has this name cannot run with the PySpark of this process; None where it can.

    Example:
        >>> problem_of_pyspark("pyhudi.enable") is None
        True
    """
    lowest = ".".join(map(str, _LOWEST))
    try:
        version, file = str(importlib.import_module("pyspark.version").__version__), importlib.import_module("pyspark").__file__
    except ImportError:
        return f"{name} needs PySpark: pip install 'pyhudi[spark]'."
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers >= _LOWEST:
        return None
    return (
        f"{name} needs PySpark {lowest} or later, and this is PySpark {version} in {posixpath.dirname(file or '')}:"
        " pip install 'pyhudi[spark]', and leave out SPARK_HOME and PYTHONPATH of an older Spark. pyhudi.HudiTable works without Spark."
    )
