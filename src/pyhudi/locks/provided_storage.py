"""A table's storage whose lock is a lock provider's as well as its own."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

from pyhudi.errors import LockTimeoutError
from pyhudi.locks.lock_provider import LockProvider, ProviderLock
from pyhudi.locks.storage_lock import with_audit
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.remote.external_lock import OutsideLock
from pyhudi.storage.storage_protocol import FileStatus, HeldLock, Storage


@dataclass(frozen=True, slots=True)
class ProvidedLock:
    """The table's own lock and the provider's, both held. Clocks of other holders may be `clock_skew_s` seconds behind."""

    local: HeldLock
    provider: ProviderLock
    clock_skew_s: float
    process: int

    def is_held(self) -> bool:
        """Tell whether both locks still exclude others; a forked child holds neither."""
        return self.process == os.getpid() and self.local.is_held() and self.provider.is_held()


@dataclass(frozen=True, slots=True)
class ProvidedStorage:
    """The storage `inner`, whose lock is taken together with the one of `provider`; of everything else nothing changes.

    The time that a holder took last is over on clocks that are `clock_skew_s` seconds behind before the lock is released. `wait_s` is how
    long whoever waits for the lock does so, None where each caller says it.
    """

    inner: Storage
    provider: LockProvider
    clock_skew_s: float
    wait_s: float | None = None

    @property
    def uri(self) -> str:
        """The table as a user would write it."""
        return self.inner.uri

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder; see the protocol."""
        return self.inner.list(path)

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files in a folder; see the protocol."""
        return self.inner.file_names(path)

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        return self.inner.stat(path)

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file; see the protocol."""
        return self.inner.read(path, max_bytes=max_bytes)

    def open_input(self, path: str) -> BinaryIO:
        """Open a file for seekable reading; see the protocol."""
        return self.inner.open_input(path)

    def open_output(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a new data file for writing; see the protocol."""
        return self.inner.open_output(path)

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively, whole and durably; see the protocol."""
        self.inner.create(path, data)

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file, durably, in place of whatever has that name."""
        self.inner.replace(path, data, expected=expected)

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the time of a file's last change; see the protocol."""
        self.inner.set_modified(path, modified_ms)

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        return self.inner.delete(path)

    def delete_tree(self, path: str) -> None:
        """Delete a folder with all below it."""
        self.inner.delete_tree(path)

    def make_dir(self, path: str) -> None:
        """Make a folder and its parents."""
        self.inner.make_dir(path)

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        """Hold the table's own lock and then the provider's; under another `name` only the own one. See the protocol.

        Raises:
            LockTimeoutError: others held one of them for too long; names who has the provider's.
            OptionError: the table is written under another lock.
        """
        timeout_s = timeout_s if timeout_s <= 0 or name or self.wait_s is None else self.wait_s
        end = time.monotonic() + timeout_s
        with self.inner.lock(timeout_s, name, provider or self.provider.identity) as local:
            if name:
                yield local
                return
            audited = with_audit(self.provider, local.names if isinstance(local, OutsideLock) else ())
            lock = audited.lock(self.inner, self.inner.lock_domain if isinstance(self.inner, LocalStorage) else "")
            if not lock.acquire(max(end - time.monotonic(), 0) if timeout_s > 0 else 0):
                raise LockTimeoutError(
                    f"another writer has held the lock of table {self.uri} for {timeout_s:g} s ({self.provider.identity}). {lock.holder()}"
                )
            held = ProvidedLock(local, lock, self.clock_skew_s, os.getpid())
            try:
                yield held
            finally:
                if held.process == os.getpid():  # a forked child has no part in the lock
                    lock.release()
