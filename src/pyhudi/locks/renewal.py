"""A thread that renews a lock while it is held."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from pyhudi.errors import HudiError
from pyhudi.workers import workers

_log = logging.getLogger(__name__)
#: How long an end waits for a renewal that is under way, in seconds, as Apache Hudi does.
_LAST_RENEWAL_S: Final = 15.0


class Renewal:
    """Calls `renew` once an interval, until it returns False, for a lock that is lost, or `stop` is called.

    Example:
        >>> renewal = Renewal(60.0, lambda: True)
        >>> renewal.start()
        >>> renewal.stop()
        True
    """

    def __init__(self, interval_s: float, renew: Callable[[], bool]) -> None:
        """Call nothing yet."""
        self._interval_s, self._renew = interval_s, renew
        self._end = threading.Event()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin; where no thread is to be had the lock is not renewed, and is lost when it expires."""
        if not workers().take(self._run):
            self._stopped.set()

    def stop(self) -> bool:
        """End the renewals, and tell whether none is under way any more."""
        self._end.set()
        return self._stopped.wait(_LAST_RENEWAL_S)

    def _run(self) -> None:
        while not self._end.wait(self._interval_s):
            try:
                if not self._renew():
                    break
            except (HudiError, OSError) as failure:
                _log.warning("a lock could not be renewed, which is tried again in %g s: %s", self._interval_s, failure)
        self._stopped.set()
