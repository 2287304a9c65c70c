"""Holds a table's properties against what its last commit of this package noted of them (`pyhudi.spec.table_identity`).

Apache Hudi commits without a note and may change properties before: an upgrade, a downgrade. So what these change is compared only where
the newest commit has a note, and a version that the metadata table has as well, whose properties are another file, was changed on purpose.
Whoever changes a property otherwise says so (`accept_identity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyhudi.errors import CorruptTableError, HudiError
from pyhudi.metadata_table.own import FOLDER
from pyhudi.spec import table_keys as keys
from pyhudi.spec.instant import Instant
from pyhudi.spec.table_config import TableConfig
from pyhudi.spec.table_identity import CHANGED_BY_UPGRADES, IDENTITY_NOTE, identity_note, identity_of, noted_identity
from pyhudi.storage.folder import FolderStorage
from pyhudi.storage.protocol import Storage
from pyhudi.storage.table_properties import PROPERTIES, load_properties

_ACCEPTED: Final = ".hoodie/.aux/pyhudi.identity"
_MAX_BYTES: Final = 1 << 20
#: Where the properties do not say it, writers find it out from the keys (`pyhudi.index.key_encoding`).
_NOT_ALWAYS_STORED: Final = frozenset({keys.COMPLEX_KEY_ENCODING})


def check_identity(storage: Storage, config: TableConfig, instant: Instant, extra: Mapping[str, str], *, is_newest: bool) -> None:
    """Compare a table's properties with what a commit noted of them.

    Args:
        storage: the table's.
        config: its properties.
        instant: the commit.
        extra: the commit's extra metadata; without a note nothing is compared.
        is_newest: whether no commit is later, so that what an upgrade changes must be as noted, too.

    Raises:
        CorruptTableError: the properties, or the note, are damaged.
    """
    note = extra.get(IDENTITY_NOTE)
    if note is None or note == (now := identity_note(config)):
        return
    noted = noted_identity(note)
    if noted is None:
        raise CorruptTableError(
            f"the extra metadata of {instant.action} {instant.requested} of table {storage.uri} are damaged: the CRC of '{IDENTITY_NOTE}'"
            f" does not hold. Restore that file of '{config.timeline_path}'."
        )
    stored = identity_of(config)
    changed = [
        name
        for name in stored
        if noted.get(name, "") != stored[name] and not (name in _NOT_ALWAYS_STORED and "" in (noted.get(name, ""), stored[name]))
    ]
    if not is_newest or _was_upgraded(storage, config, changed):
        changed = [name for name, value in stored.items() if _differs(name, noted.get(name, ""), value)]
    if not is_newest or _was_upgraded(storage, config, changed):
        changed = [name for name in changed if name not in CHANGED_BY_UPGRADES]
    if changed and not _is_accepted(storage, now):
        differences = ", ".join(f"{name} is {stored[name] or 'not set'!r} and was {noted.get(name) or 'not set'!r}" for name in changed)
        raise CorruptTableError(
            f"'{PROPERTIES}' of table {storage.uri} was changed since {instant.action} {instant.requested} was written: {differences}."
            " Restore the file, or, if that was changed on purpose, accept it by table.inspect.health(fix_properties=True)."
        )


def accept_identity(storage: Storage, config: TableConfig) -> None:
    """Record that the properties are as they are on purpose; the next commit notes them."""
    storage.replace(_ACCEPTED, identity_note(config).encode())


def _differs(name: str, noted: str, stored: str) -> bool:
    return noted != stored and (name not in _NOT_ALWAYS_STORED or bool(noted and stored))


def _was_upgraded(storage: Storage, config: TableConfig, changed: list[str]) -> bool:
    """Tell whether the metadata table, which is upgraded together with its table, has the changed version as well."""
    if keys.VERSION not in changed:
        return False
    try:
        return TableConfig(load_properties(FolderStorage(storage, FOLDER))).version == config.version
    except (HudiError, FileNotFoundError):
        return False


def _is_accepted(storage: Storage, note: str) -> bool:
    try:
        return storage.read(_ACCEPTED, max_bytes=_MAX_BYTES) == note.encode()
    except FileNotFoundError:
        return False
