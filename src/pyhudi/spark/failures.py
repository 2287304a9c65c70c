"""Errors of pyhudi that happen while Spark plans, carried through the JVM to the user.

Spark's planner calls back into Python; py4j turns an error raised there into a Java exception that holds only a text.
So the error is kept here under a number, the text names the number, and where PySpark converts Java exceptions the
error itself is raised again.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pyspark.errors.exceptions import captured

from pyhudi.errors import HudiError

_MARK = "_pyhudi_original"
_NUMBER = re.compile(r"pyhudi failure #(\d+)")
_KEPT = 100  # a planner that swallows an error must not make this grow for ever
_MOST_CAUSES = 20

_failures: OrderedDict[int, HudiError] = OrderedDict()
_numbers = itertools.count(1)

P = ParamSpec("P")
T = TypeVar("T")


class _Carried(Exception):
    """What py4j sees of an error; its text ends up in the Java exception."""


def carried(callback: Callable[P, T]) -> Callable[P, T]:
    """Decorate a method that the JVM calls: its `HudiError` reaches the user as it was raised."""

    @wraps(callback)
    def method(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return callback(*args, **kwargs)
        except HudiError as error:
            number = next(_numbers)
            _failures[number] = error
            while len(_failures) > _KEPT:
                _failures.popitem(last=False)
            raise _Carried(f"pyhudi failure #{number}: {error}") from error

    return method


def install() -> None:
    """Let PySpark's conversion of Java exceptions raise carried errors; a second call does nothing."""
    original = captured.convert_exception
    if hasattr(original, _MARK):
        return

    @wraps(original)
    def convert_exception(e: Any) -> Any:
        return _found_in(e) or original(e)

    setattr(convert_exception, _MARK, original)
    captured.convert_exception = convert_exception
    # py4j logs every error of a callback with its trace; a carried one is shown to the user anyway.
    logging.getLogger("py4j.clientserver").addFilter(_is_not_carried)


def _found_in(exception: Any) -> HudiError | None:
    """Return the error that a Java exception, or one of its causes, carries."""
    if not _failures:
        return None
    for _ in range(_MOST_CAUSES):
        if exception is None:
            break
        found = _NUMBER.search(exception.getMessage() or "")
        if found and int(found[1]) in _failures:
            return _failures.pop(int(found[1]))
        exception = exception.getCause()
    return None


def _is_not_carried(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], _Carried))
