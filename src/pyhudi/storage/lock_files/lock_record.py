"""Which lock a table is written under: writers under two locks would destroy it.

The lock of a table on a local file system lies inside it, so its file is its own record. A lock file elsewhere (`pyhudi.lock.file`) is
recorded in the table as `.hoodie/.locks/pyhudi-lock-at-<id>.json` by the first writer that holds it, where the id is in the lock file
as well: the same file under another path is the same lock, another file under the same path, on another machine or recreated, is not.
A first writer makes its record, then looks for others: of two, one at least sees the other and withdraws, without an exclusive create.
"""

from __future__ import annotations

from typing import Final

from pyhudi.errors import OptionError
from pyhudi.storage.lock_files.provider_record import check_provider, forget_provider
from pyhudi.storage.lock_files.record_files import LOCK_FOLDER, MAX_BYTES, RecordFiles
from pyhudi.storage.storage_protocol import Storage

LOCK_FILE: Final = f"{LOCK_FOLDER}/pyhudi.lock"
LOCK_FILE_OPTION: Final = "pyhudi.lock.file"
_RECORDS: Final = RecordFiles("pyhudi-lock-at", "lock_file")
_ADVICE: Final = (
    " Writers under two locks destroy a table. If it was copied, restored or mounted elsewhere, or its lock file was recreated, end all its"
    " writers and record the lock of this one by table.inspect.health(fix_lock=True)."
)


def check_lock_inside(storage: Storage, provider: str = "") -> tuple[str, ...]:
    """Refuse the lock inside a table that is written under one elsewhere. The caller holds it, and takes that of `provider` next.

    Returns:
        The names of the files in the folder of locks.

    Raises:
        OptionError: names the lock file or the lock provider that is recorded.
    """
    names = storage.file_names(LOCK_FOLDER)
    check_provider(storage, provider, names)
    recorded = _RECORDS.ids(names)
    if recorded:
        stated = _RECORDS.stated(storage, recorded[0])
        raise OptionError(
            f"table {storage.uri} is written under the lock file '{stated}', a writer by this path would take the"
            f" one inside the table. Write to it by the URL and storage option '{LOCK_FILE_OPTION}' of its other writers.{_ADVICE}"
        )
    return names


def check_external_lock(storage: Storage, identity: str, path: str, provider: str = "") -> tuple[str, ...]:
    """Refuse a lock file outside a table that is written under another one; record it where none is. The caller holds it, and takes that
    of `provider` next.

    Returns:
        The names of the files in the folder of locks.

    Raises:
        OptionError: names the lock file or the lock provider that is recorded.
    """
    names = storage.file_names(LOCK_FOLDER)
    check_provider(storage, provider, names)
    recorded = _RECORDS.ids(names)
    if recorded == [identity] or (not recorded and _lock_inside(storage) == identity):
        return names
    if not recorded and _lock_inside(storage) is None:
        _RECORDS.create(storage, identity, path)
        recorded = _RECORDS.stored_ids(storage)
        if recorded == [identity] and _lock_inside(storage) is None:
            return names
        _RECORDS.delete(storage, identity)
    others = [_RECORDS.stated(storage, other) for other in recorded if other != identity]
    stated = f"the lock file '{others[0]}'" if others else f"the one inside it, '{LOCK_FILE}'"
    raise OptionError(
        f"table {storage.uri} is written under {stated}, this writer would take '{path}': name that one in '{LOCK_FILE_OPTION}'.{_ADVICE}"
    )


def forget_lock(storage: Storage, *, is_inside: bool) -> None:
    """Delete what says under which lock a table is written; the next writer records its own. No writer may be at work.

    Args:
        storage: the table's.
        is_inside: whether its lock lies inside it from now on.
    """
    forget_provider(storage)
    _RECORDS.delete(storage, *_RECORDS.stored_ids(storage))
    if not is_inside:
        storage.delete(LOCK_FILE)


def _lock_inside(storage: Storage) -> str | None:
    """Return the id in the lock file inside the table, `""` where none is there, None where there is no such file."""
    try:
        return storage.read(LOCK_FILE, max_bytes=MAX_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return None
