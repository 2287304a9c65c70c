"""The lease of a table service on a table that several machines share: one process at a time runs services of a kind.

The lock of a service is one of its machine. Where a lock provider says that writers of several machines work on a table, whoever runs a
service makes a file `.hoodie/.locks/pyhudi-service-<name>-<id>` as well, and looks for those of others: of two that begin at the same
time, one at least sees the other and withdraws. The file is written again once an interval while the service runs; one that was not is
that of a dead process, by the clock of the storage alone. Apache Hudi has no such lease: it knows heartbeats of instants.
docs/design/0182-service-leases.md.
"""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import time
from collections.abc import Callable, Sequence
from typing import Final

from pyhudi.errors import ConflictError, CorruptTableError, HudiError
from pyhudi.locks.holder import new_holder_id
from pyhudi.locks.renewal import Renewal
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.clock import elapsed_s

_log = logging.getLogger(__name__)
_FOLDER: Final = ".hoodie/.locks"
_FILE: Final = re.compile(r"pyhudi-service-([a-z]+)-[0-9a-f-]{36}")
_INTERVAL_S: Final = 20.0
#: How long a lease excludes others after its file was written last.
ALIVE_S: Final = 120.0
#: Leases that began within so short a time may both have been withdrawn, and are tried again.
_AT_THE_SAME_TIME_MS: Final = 5_000
_TRIES: Final = 4
_MAX_BYTES: Final = 1 << 12


class ServiceLease:
    """The lease of one run. Made by `acquire`; `release` ends it."""

    def __init__(self, storage: Storage, name: str, elapsed: Callable[[], float] = elapsed_s) -> None:
        """Write nothing yet; `name` is that of the service's lock."""
        self._storage, self._name, self._elapsed = storage, name, elapsed
        holder = new_holder_id()
        self._path = f"{_FOLDER}/pyhudi-service-{name}-{holder}"
        self._pause_s = 0.05 + int(holder[:4], 16) / 0xFFFF / 5  # another one than that of whoever came at the same time
        self._process = os.getpid()
        self._written_s = 0.0
        self._is_lost = False
        failed = f"the lease of the {name} of table {storage.uri} could not be renewed"
        self._renewal = Renewal(_INTERVAL_S, self._renew, failed)

    def acquire(self, doing: str, pause: Callable[[float], None] = time.sleep) -> None:
        """Take the lease.

        Args:
            doing: what a holder is doing, for the error.
            pause: waits so many seconds.

        Raises:
            ConflictError: a process of another machine has it; says which, and from when on it counts as dead.
            StorageError: the storage failed.
        """
        for attempt in range(_TRIES):
            self._write()
            mine, others = self._leases()
            alive = [one for one in others if mine.modified_ms - one.modified_ms <= ALIVE_S * 1000]
            for one in others:
                if one not in alive:
                    self._storage.delete(one.path)
            if not alive:
                self._renewal.start()  # where no thread is to be had, a run that takes longer than the lease is refused
                return
            self._storage.delete(self._path)
            newest = max(alive, key=lambda one: one.modified_ms)
            if attempt == _TRIES - 1 or mine.modified_ms - newest.modified_ms > _AT_THE_SAME_TIME_MS:
                raise self._held_by(newest, mine.modified_ms - newest.modified_ms, doing)
            pause(self._pause_s * (attempt + 1))

    def is_held(self) -> bool:
        """Tell whether the lease still excludes others. Asks the storage; call it while the table's lock is held."""
        return not self._is_expired() and self._process == os.getpid() and self._storage.stat(self._path) is not None

    def release(self) -> None:
        """End the lease; a file that cannot be deleted expires. A forked child leaves the lease of its parent alone."""
        if self._process != os.getpid():
            return
        self._renewal.stop()
        try:
            self._storage.delete(self._path)
        except (HudiError, OSError) as failure:
            _log.warning("the lease '%s' of table %s is left to expire: %s", self._path, self._storage.uri, failure)

    def _write(self) -> None:
        before = self._elapsed()
        self._storage.replace(self._path, json.dumps({"host": socket.gethostname(), "process": os.getpid()}).encode())
        self._written_s = before

    def _renew(self) -> bool:
        """Write the file again, unless others may have taken the lease; a process that was suspended in between has lost it."""
        if self._is_expired() or self._storage.stat(self._path) is None:
            self._is_lost = True
            return False
        before = self._written_s
        self._write()
        if self._elapsed() - before > ALIVE_S:
            self._is_lost = True
            self._storage.delete(self._path)
        return not self._is_lost

    def _is_expired(self) -> bool:
        if self._elapsed() - self._written_s > ALIVE_S:
            self._is_lost = True
        return self._is_lost

    def _leases(self) -> tuple[FileStatus, Sequence[FileStatus]]:
        """Return the status of the own file, of which the storage has written the time just now, and those of others."""
        leases = {one.path: one for one in self._storage.list(_FOLDER) if (match := _FILE.fullmatch(one.name)) and match[1] == self._name}
        mine = leases.pop(self._path, None)
        if mine is None:
            raise ConflictError(f"'{self._path}' of table {self._storage.uri} was deleted by another process; try again.")
        return mine, tuple(leases.values())

    def _held_by(self, other: FileStatus, age_ms: int, doing: str) -> ConflictError:
        try:
            content = json.loads(self._storage.read(other.path, max_bytes=_MAX_BYTES))
            who = f"process {content['process']} of host {content['host']}"
        except (OSError, CorruptTableError, ValueError, KeyError, TypeError):
            who = "another process"
        return ConflictError(
            f"{who} is {doing} table {self._storage.uri}: it showed life {max(age_ms, 0) / 1000:.0f} seconds ago, and counts as dead"
            f" {ALIVE_S:.0f} seconds after its last sign of life. Wait for it and try again."
        )
