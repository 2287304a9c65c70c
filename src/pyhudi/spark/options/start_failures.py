"""Why Spark's JVM did not start: PySpark says no more than that it ended before it said its port."""

from __future__ import annotations

import itertools
import os
import posixpath
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.errors import PySparkRuntimeError

from pyhudi.errors import UsageError
from pyhudi.storage.named_files import named_file_exists

#: What `PYSPARK_SUBMIT_ARGS` names in the place of a script; PySpark's default of the variable.
_SHELL: Final = "pyspark-shell"


@contextmanager
def naming_start_failures() -> Iterator[None]:
    """While it lasts, a JVM that does not start is an error that says what to change.

    Raises:
        UsageError: the JVM did not start.
    """
    try:
        yield
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        submit_text, java_home = os.environ.get("PYSPARK_SUBMIT_ARGS", _SHELL), os.environ.get("JAVA_HOME", "")
        raise UsageError(f"Spark's JVM did not start: {_reason(submit_text, java_home)}") from error


def split_arguments(submit_text: str) -> list[str]:
    """Return the arguments that `PYSPARK_SUBMIT_ARGS` holds.

    Raises:
        UsageError: a quotation mark has no other half.
    """
    try:
        return shlex.split(submit_text)
    except ValueError as error:
        raise UsageError(f"PYSPARK_SUBMIT_ARGS has a quotation mark or a backslash without what belongs to it: {submit_text}") from error


def _reason(submit_text: str, java_home: str) -> str:
    folders = [posixpath.join(java_home, "bin")] if java_home else os.environ.get("PATH", "").split(os.pathsep)
    if not any(named_file_exists(posixpath.join(folder, "java")) for folder in folders):
        cause = f"JAVA_HOME is {java_home}, which has no bin/java" if java_home else "JAVA_HOME is not set, and no folder of PATH has java"
        return f"{cause}. Install Java 17 or 21, and let JAVA_HOME be its folder."
    arguments = split_arguments(submit_text)
    if _SHELL not in arguments:
        return f"PYSPARK_SUBMIT_ARGS has to end with {_SHELL}, or spark-submit misses a script. It is: {submit_text!r}"
    for flag, path in itertools.pairwise(arguments):
        if flag == "--properties-file" and not named_file_exists(os.path.realpath(path)):
            return f"PYSPARK_SUBMIT_ARGS names the properties file {path}, which does not exist."
    return "what it printed is above. It needs Java 17 or 21, and reads the builder, PYSPARK_SUBMIT_ARGS and spark-defaults.conf."
