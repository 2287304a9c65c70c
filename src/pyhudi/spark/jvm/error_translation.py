"""Errors that reach the user through the JVM, turned into pyhudi's own.

Spark's planner calls back into Python; py4j turns an error raised there into a Java exception that holds only a text.
So the error is kept here under a number, the text names the number, and where PySpark converts Java exceptions the
error itself is raised again. A task that fails to read a file of a Hudi table is explained at the same place.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions import captured
from pyspark.sql import SparkSession

from pyhudi.cache import LruCache
from pyhudi.errors import CorruptTableError, HudiError, UnsupportedError, UsageError
from pyhudi.merge.custom import merger_of_module
from pyhudi.read.snapshot.cleaned_states import check_not_cleaned_file
from pyhudi.spark.jvm.interruption import InterruptedCall, is_interruption
from pyhudi.spark.jvm.jvm import JavaObject, java_causes, java_class
from pyhudi.spark.jvm.patches import replace_function
from pyhudi.spark.jvm.read_failures import Cause, read_failure
from pyhudi.storage.storage_protocol import Storage

_NUMBER = re.compile(r"pyhudi failure #(\d+)")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")
_MOST_FAILURES = 100  # a planner that swallows an error must not make this grow for ever
_MOST_TABLES = 10_000
_READ_FAILED = "FAILED_READ_FILE"
_REFUSED = "hudi.DefaultSource$Refused"
_OF_SKELETON = "hudi.Skeleton$Failed"
_INTERRUPT_OF_PY4J = "KeyboardInterrupt while sending command."

_failures: LruCache[int, HudiError | PySparkException] = LruCache(_MOST_FAILURES)
_numbers = itertools.count(1)
_tables: LruCache[str, Storage] = LruCache(_MOST_TABLES)
_sources: LruCache[str, str] = LruCache(_MOST_TABLES)

P = ParamSpec("P")
T = TypeVar("T")


class _CarriedError(Exception):
    """What py4j sees of an error; its text ends up in the Java exception."""


def propagate_errors(callback: Callable[P, T]) -> Callable[P, T]:
    """Decorate a method that the JVM calls: its `HudiError`, or an error of Spark's, reaches the user as it was raised."""

    @wraps(callback)
    def method(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return callback(*args, **kwargs)
        except (HudiError, PySparkException) as error:
            raise _CarriedError(encode_error_text(error)) from error
        except Py4JJavaError as error:
            if is_interruption(error):
                raise InterruptedCall from None
            raise

    return method


def encode_error_text(error: HudiError | PySparkException) -> str:
    """Return what a Java exception has to say so that Python raises this error in its place."""
    number = next(_numbers)
    _failures.put(number, error)
    return f"pyhudi failure #{number}: {error}"


@contextmanager
def translate_pickling_errors() -> Iterator[None]:
    """Name what does not pickle where Python says so only on its own terms; also a decorator."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "PicklingError":  # by name: its module is one that nothing here may import
            raise
        raise UsageError(
            f"The work cannot be sent to Spark's tasks, since an object that was registered does not pickle: {error}"
        ) from error


def explain_reads_below(base: str, storage: Storage) -> None:
    """Explain, from now on, failures to read files below a table's base path, written as Hadoop writes it."""
    _tables.put(base, storage)


def explain_reads_of_source(folder: str, table: str) -> None:
    """Explain, from now on, failures to read files below a folder that a table was bootstrapped from, written as Hadoop writes it."""
    _sources.put(folder, table)


def explain_missing(table: str, file: str) -> HudiError:
    """Return an error for a base file that Spark does not find: a clean has deleted it, it was lost, or the table itself is damaged."""
    storage = _tables.get(table)
    try:
        if storage is not None:
            check_not_cleaned_file(storage, file)
    except HudiError as error:
        return error
    except FileNotFoundError:  # a clean was archived meanwhile
        pass
    return CorruptTableError(
        f"Base file {file} of table {table} is missing, and no clean of the active timeline has deleted it. Put a copy of the file in its"
        " place."
    )


def install() -> None:
    """Let PySpark's conversion of Java exceptions give pyhudi's errors; a second call does nothing."""
    replace_function(captured, "convert_exception", _converting)
    # py4j logs every error of a callback with its trace; a carried one is shown to the user anyway, an interruption is none.
    logging.getLogger("py4j.clientserver").addFilter(_is_not_carried)
    logging.getLogger().addFilter(_is_no_interrupt)  # which is where py4j logs a Ctrl-C that ends its waiting


def uninstall() -> None:
    """Let py4j log all errors of callbacks, and interrupts, again; `patches.restore_all` gives PySpark its conversion back."""
    logging.getLogger("py4j.clientserver").removeFilter(_is_not_carried)
    logging.getLogger().removeFilter(_is_no_interrupt)


def _converting(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @wraps(original)
    def convert_exception(e: Any) -> Any:
        return _error_of(e) or original(e)

    return convert_exception


def _error_of(exception: JavaObject) -> HudiError | PySparkException | None:
    """Return the error for a Java exception that carries one, or that says a table's file or a registered class cannot be read."""
    for cause in java_causes(exception):
        message = cause.getMessage() or ""
        match = _NUMBER.search(message)
        if match and (error := _failures.pop(int(match[1]))) is not None:
            return error
        if "pyhudi" in message and cause.getClass().getName() == _REFUSED:
            return UnsupportedError(message)
        if message.startswith(f"[{_READ_FAILED}"):
            return _explain_error(cause)
        if (missing := _NO_MODULE.search(message)) and (name := merger_of_module(missing[1])):
            return UsageError(
                f"Spark's Python workers cannot import module {missing[1]}, where the class registered as {name} stands. Put it where they"
                " find it: spark.sparkContext.addPyFile(path), --py-files, or PYTHONPATH before Spark starts. A class that the script or"
                " notebook itself defines travels without."
            )
    return None


def _explain_error(exception: JavaObject) -> HudiError | None:
    """Return an error for a file of a Hudi table; None for files that are none of pyhudi's business."""
    path = unquote(str(exception.getMessageParameters().get("path") or ""))
    if path.startswith("file:///"):  # as Spark writes the paths of its own relations
        path = path.replace("///", "/", 1)
    skeleton = next((cause for cause in java_causes(exception.getCause()) if cause.getClass().getName() == _OF_SKELETON), None)
    if skeleton is not None and skeleton.getCause() is None:
        return CorruptTableError(skeleton.getMessage())
    if skeleton is not None:
        path = str(skeleton.file())  # of the two files that are read it is this one
    table = next((base for base in _tables if path.startswith(f"{base}/")), None)
    if table is None:
        folder = next((one for one in _sources if path.startswith(f"{one}/")), None)
        return None if folder is None else _explain_source(exception, path, str(_sources.get(folder)))
    file = path.removeprefix(f"{table}/")
    kind = str(exception.getCondition()).removeprefix(f"{_READ_FAILED}.")
    if kind == "PARQUET_COLUMN_DATA_TYPE_MISMATCH":
        named = exception.getMessageParameters()
        return UnsupportedError(
            f"Base file {file} of table {table} holds column {named.get('column')} as {named.get('actualType')}, the"
            f" table as {named.get('expectedType')}, and no earlier commit of the table has another type for it. HudiTable.to_arrow reads"
            " the file if the one type can be widened to the other; otherwise it is none of this table's, restore the right one."
        )
    if kind == "FILE_NOT_EXIST":
        return explain_missing(table, file)
    causes = [Cause(cause.getClass().getName(), str(cause.getMessage())) for cause in java_causes(exception.getCause())]
    return read_failure(table, file, causes, _hadoop_version())


def _explain_source(exception: JavaObject, file: str, table: str) -> HudiError | None:
    """Return an error for a column of a source file that Spark's reader does not take, None for any other failure."""
    if str(exception.getCondition()) != f"{_READ_FAILED}.PARQUET_COLUMN_DATA_TYPE_MISMATCH":
        return None
    named = exception.getMessageParameters()
    return UnsupportedError(
        f"Source file {file} of the bootstrapped table {table} holds column {named.get('column')} as {named.get('actualType')}, the table"
        f" as {named.get('expectedType')}, and Spark's Parquet reader does not turn the one into the other. HudiTable.to_arrow reads it."
        " For Spark, bootstrap the source into a new table with hoodie.bootstrap.mode.selector=FullRecordBootstrapModeSelector: its rows"
        " are written with the types of the table."
    )


def _hadoop_version() -> str:
    """Return the version of Spark's Hadoop classes, `<version of Hadoop>` where no session tells."""
    session = SparkSession.getActiveSession()
    if session is None:
        return "<version of Hadoop>"
    return str(java_class(session, "org.apache.hadoop.util.VersionInfo").getVersion())


def _is_not_carried(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], _CarriedError | InterruptedCall))


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """Leave out the trace that py4j logs of a KeyboardInterrupt, which is raised as well."""
    return record.msg != _INTERRUPT_OF_PY4J
