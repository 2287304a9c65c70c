"""The lock file of Apache Hudi's `FileSystemBasedLockProvider`: who creates it holds the lock, and deletes it afterwards.

Rules: `FileSystemBasedLockProvider`, `LockInfo`; docs/format/concurrency.md#lock-providers. Apache Hudi knows neither whose the file is nor
whether its holder lives. So the file of pyhudi says who made it: a holder notices that its file was deleted or replaced, renews it before
it expires, and a file whose maker is known to have ended is removed.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pyhudi.errors import AlreadyExistsError, CorruptTableError, OptionError, UnsupportedError
from pyhudi.locks.holder import new_holder_id
from pyhudi.locks.lock_provider import ProviderLock, other_table_note, poll
from pyhudi.locks.renewal import Renewal
from pyhudi.spec.options import Options
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.clock import Clock, SystemClock, now_millis

CLASS: Final = "FileSystemBasedLockProvider"
PATH: Final = "hoodie.write.lock.filesystem.path"
EXPIRE: Final = "hoodie.write.lock.filesystem.expire"
_NAME: Final = "lock"
_TABLE: Final = "table "
_IN_TABLE: Final = ".hoodie/lock"
_MAX_BYTES: Final = 1 << 20
#: Apache Hudi looks whether the file is there and then creates it, so it may empty a file that was created in between.
_SETTLE_S: Final = 0.02
#: Renewals within the time after which others take the file for left over.
_RENEWALS: Final = 4
_FOREIGN: Final = "Apache Hudi or another program"


@dataclass(frozen=True, slots=True)
class FileSystemProvider:
    """Locks tables by a file in `folder`, by default in the table's `.hoodie`. One older than `expire_minutes` is left over; 0 is never."""

    folder: str = ""
    expire_minutes: int = 0

    @property
    def identity(self) -> str:
        """The class, and the folder of the file."""
        return f"{CLASS} in '{self.folder or '.hoodie'}'"

    def lock(self, storage: Storage, domain: str) -> ProviderLock:
        """Return the lock of a table.

        Raises:
            UnsupportedError: the file would be on a storage that does not create files exclusively.
        """
        location = open_storage(self.folder) if self.folder else storage
        scheme, separator, _ = location.uri.partition("://")
        if separator and scheme != "memory":
            raise UnsupportedError(
                f"{CLASS} needs a file system that creates files exclusively, and '{location.uri}' is none; name a folder of such a one"
                f" that all writers see in {PATH}, or take another lock provider."
            )
        return FileSystemLock(location, _NAME if self.folder else _IN_TABLE, storage.uri, self.expire_minutes * 60.0, domain)


def file_system_provider(options: Options) -> FileSystemProvider:
    """Return what the options say.

    Raises:
        OptionError: the folder is a relative path, which is another one in each working folder.
    """
    folder = options.text(PATH).strip()
    if folder and not folder.startswith("/") and "://" not in folder and not folder.startswith("file:"):
        raise OptionError(f"{PATH}={folder} is another folder in each working folder; give an absolute path.")
    return FileSystemProvider(folder.rstrip("/") or folder, options.integer(EXPIRE))


class FileSystemLock:
    """The lock file at `path` of a storage, for one holder."""

    def __init__(self, storage: Storage, path: str, table: str, expire_s: float, domain: str, clock: Clock | None = None) -> None:
        """Nothing is held yet; `table` is the URI that the file will name."""
        self._clock = clock or SystemClock()
        self._storage, self._path, self._table, self._expire_s, self._domain = storage, path, table, expire_s, domain
        self._content = b""
        self._renewal: Renewal | None = None

    def acquire(self, timeout_s: float) -> bool:
        """Create the file, waiting until it is not there; see the protocol."""
        if not poll(self._try_lock, timeout_s):
            return False
        if self._expire_s:
            failed = f"the lock file '{self._storage.uri}/{self._path}' could not be renewed, which is tried again"
            self._renewal = Renewal(self._expire_s / _RENEWALS, self._renew, failed)
            self._renewal.start()
        return True

    def is_held(self) -> bool:
        """Tell whether the file is there, is this holder's and has not expired."""
        if not self._is_mine():
            return False
        status = self._storage.stat(self._path)
        return status is not None and not self._is_expired(status)

    def release(self) -> None:
        """Delete the file, if it is this holder's."""
        if self._renewal is not None:
            self._renewal.stop()
        if self._is_mine():
            self._storage.delete(self._path)

    def holder(self) -> str:
        """Say who made the file."""
        stated = _stated(self._read() or b"")
        advice = (
            f"or set {EXPIRE} to the minutes after which a lock file is taken for left over"
            if not self._expire_s
            else f"or wait until it has expired, {self._expire_s / 60:g} minutes after its last change"
        )
        note = other_table_note(_table_of(stated), self._table, PATH)
        return (
            f"The lock file is '{self._storage.uri}/{self._path}', of {stated.get('lockThreadName', _FOREIGN)}. If no writer of the table,"
            f" pyhudi or Apache Hudi, is running anywhere, delete that file, {advice}.{note}"
        )

    def _try_lock(self) -> bool:
        status = self._storage.stat(self._path)
        if status is not None and not self._remove_left_over(status):
            return False
        self._content = _content(self._clock.now(), self._table, self._domain)
        try:
            self._storage.create(self._path, self._content)
        except AlreadyExistsError:
            return False
        time.sleep(_SETTLE_S)
        return self._is_mine()

    def _remove_left_over(self, status: FileStatus) -> bool:
        """Delete a file that has expired or whose maker is dead, and tell whether that was done."""
        if self._is_expired(status):
            return self._remove_expired(status)
        return self._is_of_ended_process() and self._storage.delete(self._path)

    def _remove_expired(self, status: FileStatus) -> bool:
        """Delete an expired file. Of several holders that see it one deletes it, so that none deletes the file that follows on it."""
        claim = f"{self._path}.expired-{status.modified_ms}"
        try:
            self._storage.create(claim, b"")
        except AlreadyExistsError:
            claimed = self._storage.stat(claim)
            if claimed is not None and self._is_expired(claimed):  # of one that died over it
                self._storage.delete(claim)
            return False
        try:
            now = self._storage.stat(self._path)
            return now is not None and now.modified_ms == status.modified_ms and self._storage.delete(self._path)
        finally:
            self._storage.delete(claim)

    def _is_expired(self, status: FileStatus) -> bool:
        return self._expire_s > 0 and self._now_ms() - status.modified_ms > self._expire_s * 1000

    def _is_of_ended_process(self) -> bool:
        """Tell whether the file was made under the lock of this machine that the caller holds now."""
        return bool(self._domain) and _stated(self._read() or b"").get("pyhudiLockDomain") == self._domain

    def _renew(self) -> bool:
        if not self._is_mine():
            return False
        self._storage.set_modified(self._path, self._now_ms())
        return True

    def _is_mine(self) -> bool:
        return bool(self._content) and self._read() == self._content

    def _now_ms(self) -> int:
        return now_millis(self._clock)

    def _read(self) -> bytes | None:
        with contextlib.suppress(FileNotFoundError, CorruptTableError):
            return self._storage.read(self._path, max_bytes=_MAX_BYTES)
        return None


def _content(now: datetime, table: str, domain: str) -> bytes:
    """Return a lock file that no other holder writes, in the form of Apache Hudi's `LockInfo`."""
    stated = {
        "lockCreateTime": f"{now:%Y-%m-%d %H:%M:%S}.{now.microsecond // 1000:03d}",
        "lockThreadName": f"pyhudi process {os.getpid()} on {_host()}",
        "lockStacksInfo": [f"{_TABLE}{table}", f"holder {new_holder_id()}"],
        **({"pyhudiLockDomain": domain} if domain else {}),
    }
    return json.dumps(stated, indent=2).encode()


@functools.cache
def _host() -> str:
    return socket.gethostname()


def _stated(content: bytes) -> dict[str, object]:
    """Return what a lock file says; that of Apache Hudi is empty, and a damaged one says nothing."""
    with contextlib.suppress(ValueError):
        stated = json.loads(content)
        return stated if isinstance(stated, dict) else {}
    return {}


def _table_of(stated: dict[str, object]) -> str:
    """Return the table that the maker of a lock file locks, `""` where it does not say so."""
    match stated.get("lockStacksInfo"):
        case [str(table), *_] if table.startswith(_TABLE):
            return table.removeprefix(_TABLE)
    return ""
