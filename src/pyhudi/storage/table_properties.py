"""`hoodie.properties`: reading it, and changing it so that no crash loses it.

Rules: `HoodieTableConfig.create/update/recover`; docs/format/table-properties.md#checksum, #update-and-recovery. A change goes through
`hoodie.properties.backup`. Unlike Hudi, which deletes the file and writes it again, this replaces it in one step;
readers of either kind always find one whole file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from pyhudi.errors import ConflictError, CorruptTableError, TableNotFound
from pyhudi.javacompat.properties import parse_properties, render_properties
from pyhudi.spec.table.table_config import checksum
from pyhudi.storage.storage_protocol import Storage, changed_meanwhile

PROPERTIES = ".hoodie/hoodie.properties"
BACKUP = ".hoodie/hoodie.properties.backup"

_CHECKSUM = "hoodie.table.checksum"
_NAME = "hoodie.table.name"
_MAX_BYTES = 16 << 20
#: Another writer may move the content from one file to the other between two looks.
_LOOKS = (PROPERTIES, BACKUP, PROPERTIES)


def load_properties(storage: Storage) -> dict[str, str]:
    """Return the properties of a table, from the backup when the file itself is missing or damaged.

    Raises:
        TableNotFound: there is neither.
        CorruptTableError: none of those that exist is valid.
    """
    problems = []
    for path in _LOOKS:
        try:
            return _load(storage, path)
        except FileNotFoundError:
            continue
        except CorruptTableError as error:
            problems.append(str(error))
    if problems:
        raise CorruptTableError(f"table {storage.uri} has no valid properties: {'; '.join(dict.fromkeys(problems))}")
    raise TableNotFound(f"there is no Hudi table at {storage.uri}: it has no {PROPERTIES}")


def create_properties(storage: Storage, properties: Mapping[str, str], at: datetime) -> None:
    """Write the properties of a new table: the step that makes it a table.

    Raises:
        AlreadyExistsError: there is a table, or another creator was faster.
    """
    checked = {**properties, _CHECKSUM: str(checksum(properties))}
    storage.create(PROPERTIES, render_properties(checked, at, updated=False))


def replace_properties(storage: Storage, properties: Mapping[str, str], at: datetime) -> None:
    """Put other properties, of another table or another place of its timeline, in the place of those that are there, in one step. The
    caller holds the lock.

    Raises:
        ConflictError: another process has changed them meanwhile; nothing is changed.
    """
    checked = {**properties, _CHECKSUM: str(checksum(properties))}
    stored = storage.read(PROPERTIES, max_bytes=_MAX_BYTES)
    storage.replace(PROPERTIES, render_properties(checked, at, updated=True), expected=stored)


def store_properties(storage: Storage, changes: Mapping[str, str], at: datetime, *, remove: Collection[str] = ()) -> dict[str, str]:
    """Change some properties, drop those in `remove`, keep all others, and return the result. The caller holds the
    lock.

    Raises:
        ConflictError: another process has changed them since they were read here; nothing is changed.
        CorruptTableError: neither the properties nor their backup are valid.
        TableNotFound: there are none.
    """
    recover_properties(storage)
    loaded = load_properties(storage)
    stored = storage.read(PROPERTIES, max_bytes=_MAX_BYTES)
    if parse_properties(stored) != loaded:
        raise changed_meanwhile(storage.uri, PROPERTIES)
    changed = {**loaded, **changes}
    for name in remove:
        changed.pop(name, None)
    changed[_CHECKSUM] = str(checksum(changed))
    storage.create(BACKUP, stored)
    try:
        storage.replace(PROPERTIES, render_properties(changed, at, updated=True), expected=stored)
    except ConflictError:
        storage.delete(BACKUP)  # of what the other process has replaced
        raise
    storage.delete(BACKUP)
    return changed


def recover_properties(storage: Storage) -> None:
    """Finish or undo a change that was cut off: afterwards there is one valid file and no backup. The caller holds
    the lock.

    Raises:
        CorruptTableError: neither file is valid; both are left as they are.
    """
    if storage.stat(BACKUP) is None:
        return
    if not _is_valid(storage, PROPERTIES):
        if not _is_valid(storage, BACKUP):
            raise CorruptTableError(f"neither {PROPERTIES} nor its backup of table {storage.uri} is valid")
        storage.replace(PROPERTIES, storage.read(BACKUP, max_bytes=_MAX_BYTES))
    storage.delete(BACKUP)


def _load(storage: Storage, path: str) -> dict[str, str]:
    properties = parse_properties(storage.read(path, max_bytes=_MAX_BYTES))
    if not properties.get(_NAME):
        raise CorruptTableError(f"'{path}' of table {storage.uri} names no {_NAME}")
    stated, expected = properties.get(_CHECKSUM), str(checksum(properties))
    if stated is not None and stated != expected:
        raise CorruptTableError(f"'{path}' of table {storage.uri} has checksum {stated}, its content gives {expected}")
    return properties


def _is_valid(storage: Storage, path: str) -> bool:
    try:
        return _CHECKSUM in _load(storage, path)
    except (FileNotFoundError, CorruptTableError):
        return False
