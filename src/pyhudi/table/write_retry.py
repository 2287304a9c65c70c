"""Repeating a write that lost against another one. Rules: `HoodieSparkSqlWriter` with `hoodie.write.num.retries.on.conflict.failures`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from pyhudi.errors import LockLostError, WriteConflictError
from pyhudi.spec.options import resolve
from pyhudi.txn.concurrency import concurrency

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0


def repeated(write: Callable[[], _Answer], retries: int, pause: Callable[[float], None] = time.sleep) -> _Answer:
    """Return what a write returns, which is tried again when another write was faster or took the lock; pauses between the attempts double.

    The rows are tagged, planned and written again: they may belong into other file groups by now. What they are computed from is not, but
    for a DataFrame that Spark tasks write (`pyhudi.spark.writer.repeated_source`).

    Args:
        write: the write.
        retries: how often it is tried again.
        pause: sleeps for so many seconds.

    Raises:
        WriteConflictError: others were faster each time.
        LockLostError: the lock was lost in the last attempt.

    Example:
        >>> repeated(lambda: 42, retries=3)
        42
    """
    for attempt in range(retries):
        try:
            return write()
        except (WriteConflictError, LockLostError) as error:
            _log.info("attempt %d of %d lost against another write and is repeated: %s", attempt + 1, retries + 1, error)
            pause(min(_FIRST_PAUSE_S * 2**attempt, _LONGEST_PAUSE_S))
    return write()


def repeated_change(change: Callable[[], _Answer], options: Mapping[str, str]) -> _Answer:
    """Return what an update, delete by condition or merge returns, which is tried again as a whole: its rows come from what it reads, and
    that has changed when it loses. Apache Hudi writes the rows of the first attempt again, and what the winner had changed is lost.

    Args:
        change: reads and writes.
        options: the `hoodie.*` options of the write.

    Raises:
        HudiError: as `repeated`, and as `pyhudi.table.write_table.write` for options.

    Example:
        >>> repeated_change(lambda: 42, {})
        42
    """
    return repeated(change, concurrency(resolve(options)).retries)
