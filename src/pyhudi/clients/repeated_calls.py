"""Calls of a catalog that are made again when another process was in the way."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from pyhudi.errors import CatalogError

_log = logging.getLogger(__name__)
#: Seconds before each further attempt. Of those that met, one succeeds each time.
_PAUSES: Final = (0.05, 0.1, 0.2, 0.4, *[0.8] * 5)

_Result = TypeVar("_Result")


def repeated(call: Callable[[], _Result], may_pass: Callable[[CatalogError], bool]) -> _Result:
    """Return what a call returns that does no harm when it is done twice; it is made ten times at most.

    Args:
        call: makes the call; what it needs of the catalog it reads itself, since others may have changed it meanwhile.
        may_pass: whether another attempt may succeed after an error.

    Raises:
        CatalogError: it fails in a way that does not pass, or each time.

    Example:
        >>> answers = iter([CatalogError("deadlock"), 5])
        >>> def ask():
        ...     answer = next(answers)
        ...     if isinstance(answer, CatalogError):
        ...         raise answer
        ...     return answer
        >>> repeated(ask, lambda error: "deadlock" in str(error))
        5
    """
    for pause in _PAUSES:
        try:
            return call()
        except CatalogError as error:
            if not may_pass(error):
                raise
            _log.info("tried again: %s", error)
            time.sleep(pause)
    return call()
