"""The lock of a table on a store that has no file locks: a lock file elsewhere, or that of a lock provider."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.lock_files.fair_lock import process_lock
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION, check_external_lock, check_lock_inside
from pyhudi.storage.storage_protocol import HeldLock, Storage


def check_lock_file(path: str | None) -> None:
    """Check the storage option of a lock file.

    Raises:
        OptionError: it is another file in each working folder.
    """
    if path is not None and not Path(path).is_absolute():
        raise OptionError(
            f"storage option '{LOCK_FILE_OPTION}' is '{path}', which is another file in each working folder: give an absolute path"
        )


@dataclass(frozen=True, slots=True)
class OutsideLock:
    """The lock `inner` of a table, and the names of the files that were in its folder of locks when it was taken."""

    inner: HeldLock
    names: tuple[str, ...]

    def is_held(self) -> bool:
        """Tell whether the lock still excludes others."""
        return self.inner.is_held()


@contextlib.contextmanager
def lock_outside(storage: Storage, path: str | None, timeout_s: float, name: str, provider: str) -> Iterator[HeldLock]:
    """Hold the lock file at `path`, or for another `name` one next to it; with a lock provider it suffices that the threads of this
    process exclude each other.

    Raises:
        UnsupportedError: no lock file and no lock provider is named.
        OptionError: the table is written under another lock.
    """
    if path is None and provider:
        with process_lock(storage.uri, name, timeout_s) as lock:
            yield lock if name else OutsideLock(lock, check_lock_inside(storage, provider))
        return
    if path is None:
        raise UnsupportedError(
            f"table {storage.uri} cannot be written without a lock: name a lock provider that all its writers use in"
            f" hoodie.write.lock.provider, or a file of this machine in the storage option '{LOCK_FILE_OPTION}' if they all run here."
        )
    file = f"{Path(path).name}{'.' if name else ''}{name}"
    with LocalStorage(str(Path(path).parent)).lock_file(file, timeout_s, storage.uri) as lock:
        yield lock if name else OutsideLock(lock, check_external_lock(storage, lock.identity(), path, provider))
