"""Those who wait for a lock file, in the order in which they came.

Each has a file in the folder `<lock file>.queue`, its ticket, which it keeps locked: a ticket that can be locked belongs to a process that
died, and a process that finds it deletes it. The queue decides only who tries next. What excludes writers is the lock file itself, so a
ticket that is lost costs a writer its turn and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.storage.lock_files.lock_descriptor import LockDescriptor

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL
_TICKET = re.compile(r"([0-9]{20})-[0-9]+-[0-9]+")
_TRIES = 10
#: Greater than every ticket.
_LAST = "~"


class LockQueue:
    """The queue before one lock file."""

    def __init__(self, folder: int, lock_name: str) -> None:
        """Take the descriptor of the folder that holds the lock file; nothing is opened yet."""
        self._parent = folder
        self._name = f"{lock_name}.queue"

    def tickets(self) -> list[str]:
        """Return the tickets, the oldest first, of the living and the dead; none where the folder is not there or cannot be read."""
        try:
            with self._open_ticket() as folder:
                return _tickets(folder)
        except OSError:
            return []

    @contextlib.contextmanager
    def ticket(self) -> Iterator[str | None]:
        """Hold a new ticket behind all others; None where none can be made: that one waits without an order."""
        taken = _Ticket()
        try:
            with contextlib.suppress(OSError):
                self._take(taken)
            yield taken.name if taken.is_valid else None
        finally:
            if taken.file is not None:
                with contextlib.suppress(OSError), self._open_ticket() as folder:
                    os.unlink(taken.name, dir_fd=folder)
                taken.file.close()

    def first(self) -> str | None:
        """Return the oldest ticket of a living process; those of the dead are deleted."""
        return self.first_before(_LAST)

    def first_before(self, ticket: str) -> str | None:
        """Return the oldest ticket of a living process that is older than this one; those of the dead are deleted."""
        try:
            with self._open_ticket() as folder:
                return next((name for name in _tickets(folder) if name < ticket and not _remove_if_abandoned(name, folder)), None)
        except OSError:
            return None

    @contextlib.contextmanager
    def _open_ticket(self) -> Iterator[int]:
        folder = os.open(self._name, _FOLDER, dir_fd=self._parent)
        try:
            yield folder
        finally:
            os.close(folder)

    def _take(self, taken: _Ticket) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(self._name, dir_fd=self._parent)
        with self._open_ticket() as folder:
            for _ in range(_TRIES):
                number = max((int(name.partition("-")[0]) for name in _tickets(folder)), default=0) + 1
                taken.name = f"{number:020d}-{os.getpid()}-{time.monotonic_ns()}"
                with contextlib.suppress(FileExistsError):  # another machine's, which shares the folder
                    taken.file = LockDescriptor(taken.name, _NEW, folder)
                    # Until it is locked it looks like that of a dead process, and may be deleted as such.
                    taken.is_valid = taken.file.try_lock() and not taken.file.is_deleted()
                    if taken.is_valid:
                        return
                    taken.file.close()


@dataclass(slots=True)
class _Ticket:
    """A ticket that is being taken: filled step by step, so that an interrupt anywhere leaves nothing locked."""

    name: str = ""
    file: LockDescriptor | None = None
    is_valid: bool = False


def _tickets(folder: int) -> list[str]:
    return sorted(name for name in os.listdir(folder) if _TICKET.fullmatch(name))


def _remove_if_abandoned(name: str, folder: int) -> bool:
    """Delete the ticket of a process that died, and tell whether it was deleted."""
    try:
        ticket = LockDescriptor(name, os.O_RDONLY, folder)
    except FileNotFoundError:
        return True
    except OSError:  # another user's: it counts as living
        return False
    try:
        if not ticket.try_lock(shared=True):
            return False
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        return True
    finally:
        ticket.close()
