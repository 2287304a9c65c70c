"""What pyhudi asks of a storage. All paths are relative to the table's base path, with `/` between segments.

Three promises carry the transaction (compare Delta's LogStore): a file is visible whole or not at all; of several
creators of one name one wins and the others get `AlreadyExistsError`; a listing shows what was written before it
began.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import BinaryIO, NamedTuple, Protocol

from pyhudi.errors import ConflictError


class FileStatus(NamedTuple):
    """One entry of a listing; `path` is relative to the table's base, `size` in bytes, `modified_ms` in epoch
    milliseconds.

    A tuple takes a third of the time of a frozen dataclass to be made: a commit lists some hundred files, a plan ten thousands.
    """

    path: str
    size: int
    modified_ms: int
    is_dir: bool = False

    @property
    def name(self) -> str:
        """The last segment of the path."""
        return self.path.rsplit("/", 1)[-1]


def names_of_files(listing: Iterable[FileStatus]) -> tuple[str, ...]:
    """Return the names of the files in a listing, in its order."""
    return tuple(status.name for status in listing if not status.is_dir)


class HeldLock(Protocol):
    """A lock of a table while it is held."""

    def is_held(self) -> bool:
        """Tell whether the lock still excludes others: a lock file that was deleted or replaced does not."""
        ...


class Storage(Protocol):
    """A place that holds one table. Implementations are small picklable values: tasks carry them to other processes."""

    @property
    def uri(self) -> str:
        """Base path of the table as a user would write it."""
        ...

    def list(self, path: str) -> list[FileStatus]:
        """Return the direct children of a folder, sorted by path; `[]` when there is no such folder. Links are left
        out.
        """
        ...

    def file_names(self, path: str) -> tuple[str, ...]:
        """Return the names of the files that `list` shows, sorted: without sizes and times a listing may cost less."""
        ...

    def stat(self, path: str) -> FileStatus | None:
        """Return the status of a file or folder, or None when there is none."""
        ...

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Return a whole file.

        Raises:
            FileNotFoundError: as `StorageError`'s cause is not enough here, callers tell absence apart from failure.
            CorruptTableError: the file is longer than `max_bytes`.
        """
        ...

    def open_input(self, path: str) -> BinaryIO:
        """Open a data file for seekable reading (`FileNotFoundError` when it is missing)."""
        ...

    def open_output(self, path: str) -> AbstractContextManager[BinaryIO]:
        """Open a new data file for writing; parents are made. Durable when the block ends without an error, removed
        otherwise.

        Raises:
            AlreadyExistsError: a file of that name exists.
        """
        ...

    def create(self, path: str, data: bytes) -> None:
        """Create a small file exclusively, whole and durably; parents are made.

        Raises:
            AlreadyExistsError: a file of that name exists.
        """
        ...

    def replace(self, path: str, data: bytes, *, expected: bytes | None = None) -> None:
        """Put a small file, durably, in place of whatever has that name, or only in place of the content `expected`.

        Object stores decide that themselves. Elsewhere the file is read first, so that the caller holds a lock.

        Raises:
            ConflictError: the content is another one, or there is no such file; nothing was written.
        """
        ...

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Set the time of a file's last change, in epoch milliseconds; a storage that cannot, as object stores, does nothing."""
        ...

    def delete(self, path: str) -> bool:
        """Delete one file; False when it was not there."""
        ...

    def delete_tree(self, path: str) -> None:
        """Delete a folder with all below it; nothing happens when it is not there."""
        ...

    def make_dir(self, path: str) -> None:
        """Make a folder and its parents; a storage without folders does nothing."""
        ...

    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> AbstractContextManager[HeldLock]:
        """Hold a lock of the table, by default the one of its writers; released when the holder's process dies.

        A `name` (letters) stands for another lock, which a long-running service holds to be known as alive. `provider` is the identity of
        the lock provider whose lock the caller takes as well.

        Raises:
            LockTimeoutError: another holder kept it for longer than `timeout_s` seconds.
            OptionError: the table is written under another lock file or lock provider.
        """
        ...


def check_content(storage: Storage, path: str, expected: bytes | None) -> None:
    """Refuse to replace a file whose content is not the expected one; where nothing is expected, nothing is read.

    Raises:
        ConflictError: names the file.
    """
    if expected is None:
        return
    try:
        content = storage.read(path)
    except FileNotFoundError:
        content = None
    if content != expected:
        raise changed_meanwhile(storage.uri, path)


def changed_meanwhile(uri: str, path: str) -> ConflictError:
    """Return the error of a file that another process has changed."""
    return ConflictError(
        f"'{path}' of table {uri} was changed by another process at the same time; this change of it was not made. Read the table again,"
        " and repeat the change if it is still wanted."
    )
