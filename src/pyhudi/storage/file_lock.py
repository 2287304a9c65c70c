"""The writer lock of a local table: an advisory lock (`flock`) on an open file, gone with the process that holds it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator

from pyhudi.errors import LockTimeoutError, StorageError

_FIRST_WAIT_S = 0.001
_LONGEST_WAIT_S = 0.05


@contextlib.contextmanager
def held_file_lock(descriptor: int, timeout_s: float, uri: str) -> Iterator[None]:
    """Hold the lock of an open file, whose descriptor is closed at the end; threads of one process exclude each other
    too.

    Raises:
        LockTimeoutError: another holder kept it for longer than `timeout_s` seconds.
        StorageError: the file system has no such locks.
    """
    try:
        _acquire(descriptor, time.monotonic() + timeout_s, timeout_s, uri)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, deadline: float, timeout_s: float, uri: str) -> None:
    wait_s = _FIRST_WAIT_S
    while not _try_lock(descriptor, uri):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise LockTimeoutError(f"another writer has held the lock of table {uri} for {timeout_s:g} s; wait for it or allow more time")
        time.sleep(min(wait_s, left_s))
        wait_s = min(wait_s * 2, _LONGEST_WAIT_S)


def _try_lock(descriptor: int, uri: str) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise StorageError(f"the file system of table {uri} gives no writer lock: {error}") from error
    return True
