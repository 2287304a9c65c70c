"""Holds a table's properties against what the newest commit of this package noted of them (`pyhudi.spec.table_identity`).

Apache Hudi may have changed properties since: an upgrade, a downgrade. What these change is not compared where the metadata table, whose
properties are another file, has the changed version as well, or where the table has none and Apache Hudi has committed since. Whoever
changes a property otherwise says so (`accept_identity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.spec.extra_metadata import IDENTITY_KEY
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table_identity import ACCEPTED_FILE, CHANGED_BY_UPGRADES, identity_note, identity_of, noted_identity
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import PROPERTIES, load_properties
from pyhudi.timeline.instant_details import instant_path
from pyhudi.timeline.timeline import Timeline

_ACCEPTED: Final = f".hoodie/.aux/{ACCEPTED_FILE}"
_MAX_BYTES: Final = 1 << 20
#: Compared where both say it. Writers find the first out from the keys (`pyhudi.index.key_encoding`), and older notes lack the others.
_NOT_ALWAYS_STORED: Final = frozenset({keys.COMPLEX_KEY_ENCODING, keys.HISTORY_PATH, keys.ARCHIVE_FOLDER})


def check_identity(
    storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant, note: str, *, is_past: bool = False
) -> None:
    """Compare a table's properties with what one of its commits notes of them.

    Args:
        storage: the table's.
        config: its properties.
        timeline: the table's.
        instant: the newest commit with a note.
        note: the note.
        is_past: whether the timeline ends before that of now, so that what upgrades change may have been otherwise.

    Raises:
        CorruptTableError: the properties, or the note, are damaged.
    """
    now = identity_note(config)
    if note == now:
        return
    noted = noted_identity(note)
    if noted is None:
        raise CorruptTableError(
            f"the extra metadata of '{instant_path(config, instant)}' of table {storage.uri} is damaged: the CRC of '{IDENTITY_KEY}' does"
            " not hold. Restore that file from a copy."
        )
    stored = identity_of(config)
    changed = _differences(noted, stored)
    if is_past or (keys.VERSION in changed and _was_upgraded(storage, config, without_proof=_came_later(timeline, instant))):
        changed = [name for name in changed if name not in CHANGED_BY_UPGRADES]
    if changed and not _is_accepted(storage, stored):
        differences = ", ".join(f"{name} is {stored[name] or 'not set'!r} and was {noted.get(name) or 'not set'!r}" for name in changed)
        raise CorruptTableError(
            f"'{PROPERTIES}' of table {storage.uri} was changed since {instant.action} {instant.requested} was written: {differences}."
            " Restore the file, or, if that was changed on purpose, accept it by table.inspect.health(fix_properties=True)."
        )


def accept_identity(storage: Storage, config: TableConfig, *, before: TableConfig | None = None) -> None:
    """Record that the properties are as they are on purpose; the next commit notes them.

    Args:
        storage: the table's.
        config: the properties.
        before: those that are stored still, where `config` is about to be: both are accepted, since that may fail.
    """
    accepted = [identity_note(one) for one in (config, before) if one is not None]
    storage.replace(_ACCEPTED, "\n".join(accepted).encode())


def _came_later(timeline: Timeline, instant: Instant) -> bool:
    """Tell whether a commit, rollback or restore followed on a commit: Apache Hudi may have upgraded the table with it."""
    undone = timeline.completed(Action.ROLLBACK, Action.RESTORE)
    return instant != timeline.data_instants()[-1] or any(one.requested > instant.requested for one in undone)


def _differences(noted: Mapping[str, str], stored: Mapping[str, str]) -> list[str]:
    return [name for name, value in stored.items() if _differs(name, noted.get(name, ""), value)]


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


def _is_accepted(storage: Storage, stored: Mapping[str, str]) -> bool:
    try:
        lines = storage.read(_ACCEPTED, max_bytes=_MAX_BYTES).decode(errors="replace").splitlines()
    except FileNotFoundError:
        return False
    return any((noted := noted_identity(line)) is not None and not _differences(noted, stored) for line in lines)
