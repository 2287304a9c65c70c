"""Holds a table's properties against what its newest commit of this package noted of them (`pyhudi.spec.table_identity`).

Apache Hudi commits without a note, so the newest note is looked for in the commits before. Apache Hudi may also have changed properties
since: an upgrade, a downgrade. What these change is not compared where the metadata table, whose properties are another file, has the
changed version as well, or where the table has none and Apache Hudi has committed since. Whoever changes a property otherwise says so
(`accept_identity`).
"""

from __future__ import annotations

from typing import Final, TypeAlias

from pyhudi.cache import LruCache
from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_identity import CHANGED_BY_UPGRADES, IDENTITY_NOTE, identity_note, identity_of, noted_identity
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import PROPERTIES, load_properties
from pyhudi.timeline.instant_details import commit_of, read_details
from pyhudi.timeline.timeline import Timeline

_ACCEPTED: Final = ".hoodie/.aux/pyhudi.identity"
_MAX_BYTES: Final = 1 << 20
#: Where the properties do not say it, writers find it out from the keys (`pyhudi.index.key_encoding`).
_NOT_ALWAYS_STORED: Final = frozenset({keys.COMPLEX_KEY_ENCODING})
#: How many commits, from the newest one, are looked at for a note: each costs one read where no commit of this package is among them.
_MOST_COMMITS: Final = 16
#: Notes of commits by table, requested time and completion time; empty for a commit without one.
_Key: TypeAlias = tuple[str, str, str]
_NOTES: LruCache[_Key, str] = LruCache(4096)


def check_identity(
    storage: Storage, config: TableConfig, timeline: Timeline, read: tuple[Instant, CommitMetadata] | None = None, *, is_past: bool = False
) -> None:
    """Compare a table's properties with the newest note of its active timeline; without one among the newest commits nothing is compared.

    Args:
        storage: the table's.
        config: its properties.
        timeline: the table's.
        read: a commit that the caller has read already, so that it is not read again.
        is_past: whether the timeline ends before that of now, so that what upgrades change may have been otherwise.

    Raises:
        CorruptTableError: the properties, or the note, are damaged.
    """
    newest = _newest_note(storage, config, timeline, read)
    if newest is None or newest[1] == (now := identity_note(config)):
        return
    instant, note = newest
    noted = noted_identity(note)
    if noted is None:
        raise CorruptTableError(
            f"the extra metadata of {instant.action} {instant.requested} of table {storage.uri} are damaged: the CRC of '{IDENTITY_NOTE}'"
            f" does not hold. Restore that file of '{config.timeline_path}'."
        )
    stored = identity_of(config)
    changed = [name for name, value in stored.items() if _differs(name, noted.get(name, ""), value)]
    is_newest = instant == timeline.data_instants()[-1]
    if is_past or (keys.VERSION in changed and _was_upgraded(storage, config, without_proof=not is_newest)):
        changed = [name for name in changed if name not in CHANGED_BY_UPGRADES]
    if changed and not _is_accepted(storage, now):
        differences = ", ".join(f"{name} is {stored[name] or 'not set'!r} and was {noted.get(name) or 'not set'!r}" for name in changed)
        raise CorruptTableError(
            f"'{PROPERTIES}' of table {storage.uri} was changed since {instant.action} {instant.requested} was written: {differences}."
            " Restore the file, or, if that was changed on purpose, accept it by table.inspect.health(fix_properties=True)."
        )


def _newest_note(
    storage: Storage, config: TableConfig, timeline: Timeline, read: tuple[Instant, CommitMetadata] | None
) -> tuple[Instant, str] | None:
    """Return the newest commit with a note, and the note."""
    for position, instant in enumerate(timeline.data_instants()[: -_MOST_COMMITS - 1 : -1]):
        if read is not None and instant == read[0]:
            note = read[1].extra.get(IDENTITY_NOTE)
        elif position == 0:  # a commit that is there again, as after a restore, is not taken from memory
            note = _read_note(storage, config, timeline, instant)
        else:
            note = _known_note(storage, config, timeline, instant)
        if note is not None:
            return instant, note
    return None


def _known_note(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> str | None:
    """Return the note of a commit, which is read once for the process: a completed commit never changes."""
    key = (storage.uri, instant.requested, instant.completed or "")
    note = _NOTES.get(key)
    if note is None:
        note = _read_note(storage, config, timeline, instant) or ""
        _NOTES.put(key, note)
    return note or None


def _read_note(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> str | None:
    try:
        if IDENTITY_NOTE.encode() not in read_details(storage, config, timeline, instant):
            return None  # decoding takes far longer, and notes are not compressed
        return commit_of(storage, config, timeline, instant).extra.get(IDENTITY_NOTE)
    except FileNotFoundError:  # archived since the timeline was loaded
        return None


def accept_identity(storage: Storage, config: TableConfig) -> None:
    """Record that the properties are as they are on purpose; the next commit notes them."""
    storage.replace(_ACCEPTED, identity_note(config).encode())


def _differs(name: str, noted: str, stored: str) -> bool:
    return noted != stored and (name not in _NOT_ALWAYS_STORED or bool(noted and stored))


def _was_upgraded(storage: Storage, config: TableConfig, *, without_proof: bool) -> bool:
    """Tell whether the metadata table, which is upgraded together with its table, has the changed version as well.

    Where there is no metadata table, nothing proves it.
    """
    try:
        return TableConfig(load_properties(FolderStorage(storage, FOLDER))).version == config.version
    except (HudiError, FileNotFoundError):
        return without_proof


def _is_accepted(storage: Storage, note: str) -> bool:
    try:
        return storage.read(_ACCEPTED, max_bytes=_MAX_BYTES) == note.encode()
    except FileNotFoundError:
        return False
