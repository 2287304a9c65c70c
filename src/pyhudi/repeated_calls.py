"""Calls of a server that are made again after an error that passes."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

_log = logging.getLogger(__name__)
#: Seconds before each further attempt at what other processes are in the way of. Of those that met, one succeeds each time.
_PAUSES: Final = (0.05, 0.1, 0.2, 0.4, *[0.8] * 5)

_Result = TypeVar("_Result")
_Error = TypeVar("_Error", bound=Exception)


def repeated(
    call: Callable[[], _Result],
    error_class: type[_Error],
    may_pass: Callable[[_Error], bool],
    *,
    pauses_s: Sequence[float] = (),
    longest_s: float = math.inf,
) -> _Result:
    """Return what a call returns that does no harm when it is done twice.

    Args:
        call: makes the call; what it needs of the server it reads itself, since others may have changed it meanwhile.
        error_class: errors of other classes end it.
        may_pass: whether another attempt may succeed after an error.
        pauses_s: seconds before each further attempt, of which there are as many; nine within five seconds unless given.
        longest_s: an attempt that took more seconds is the last one.

    Raises:
        Exception: it fails in a way that does not pass, or each time.

    Example:
        >>> answers = iter([ValueError("deadlock"), 5])
        >>> def ask():
        ...     answer = next(answers)
        ...     if isinstance(answer, ValueError):
        ...         raise answer
        ...     return answer
        >>> repeated(ask, ValueError, lambda error: "deadlock" in str(error))
        5
    """
    for pause_s in pauses_s or _PAUSES:
        began = time.monotonic()
        try:
            return call()
        except error_class as error:
            if not may_pass(error) or time.monotonic() - began > longest_s:
                raise
            _log.info("tried again: %s", str(error)[:1000])
            time.sleep(pause_s)
    return call()
