"""A thread that renews what expires: a lock while it is held, the heartbeat of a writer while it is alive."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from pyhudi.workers import workers

_log = logging.getLogger(__name__)
#: How long an end waits for the renewal of a lock that is under way, in seconds, as Apache Hudi does.
_LAST_RENEWAL_S: Final = 15.0


class Renewal:
    """Calls `renew` once an interval, until it returns False, for what is lost, or `stop` is called.

    Example:
        >>> renewal = Renewal(60.0, lambda: True, "the lock could not be renewed")
        >>> renewal.start()
        >>> renewal.stop()
        True
    """

    def __init__(self, interval_s: float, renew: Callable[[], bool], failed: str) -> None:
        """Call nothing yet; `failed` is what is logged when `renew` raises an error, which the next call may make up for."""
        self._interval_s, self._renew, self._failed = interval_s, renew, failed
        self._end = threading.Event()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin; where no thread is to be had nothing is renewed, and is lost when it expires."""
        if not workers().take(self._run):
            self._stopped.set()

    def stop(self, timeout_s: float = _LAST_RENEWAL_S) -> bool:
        """End the renewals, and tell whether none is under way any more after at most `timeout_s` seconds."""
        self._end.set()
        return self._stopped.wait(timeout_s)

    def _run(self) -> None:
        try:
            while not self._end.wait(self._interval_s) and self._is_renewed():
                pass
        finally:
            self._stopped.set()

    def _is_renewed(self) -> bool:
        """Renew once; whatever the storage raises, the next renewal may succeed, and what is not renewed in time expires."""
        try:
            return self._renew()
        except Exception as failure:  # noqa: BLE001 - see above
            _log.warning("%s: %s", self._failed, failure)
            return True
