"""The properties of a table, replaced as a whole. Rules: `RepairOverwriteHoodiePropsProcedure`.

It is the way back from damaged properties too, so that the old ones need not be valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyhudi.errors import CorruptTableError, TableNotFound, UsageError
from pyhudi.javacompat.properties import parse_properties, render_properties
from pyhudi.locks.choose_lock import hold_lock
from pyhudi.read.snapshot.identity_check import accept_identity
from pyhudi.spec.table.table_config import TableConfig, checksum
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import BACKUP, PROPERTIES, load_properties, store_properties
from pyhudi.table.repair.repair_result import PropertyChange
from pyhudi.timeline.clock import Clock

_NAME: Final = "hoodie.table.name"
_CHECKSUM: Final = "hoodie.table.checksum"


def overwrite_properties(
    storage: Storage, clock: Clock, new: Mapping[str, str] | bytes, *, dry_run: bool, wait_s: float
) -> tuple[PropertyChange, ...]:
    """Replace the properties; see `RepairServices.overwrite_properties`."""
    properties = dict(parse_properties(new) if isinstance(new, bytes) else new)
    properties.pop(_CHECKSUM, None)
    if not properties.get(_NAME):
        raise UsageError(f"the new properties of table {storage.uri} name no {_NAME}: they are no table's properties. Nothing was changed.")
    TableConfig(properties)  # refuses what is no table's properties
    if not storage.list(".hoodie"):
        raise TableNotFound(f"there is no Hudi table at {storage.uri}: it has no folder .hoodie. Nothing was changed.")
    with hold_lock(storage, wait_s):
        try:
            old: Mapping[str, str] | None = load_properties(storage)
        except (CorruptTableError, TableNotFound):
            old = None
        if not dry_run:
            properties = _store(storage, clock, properties, old)
    before = old or {}
    return tuple(PropertyChange(name, before.get(name), properties.get(name)) for name in sorted({*before, *properties}))


def _store(storage: Storage, clock: Clock, properties: dict[str, str], old: Mapping[str, str] | None) -> dict[str, str]:
    if old is not None:
        stored = store_properties(storage, properties, clock.now(), remove=[name for name in old if name not in properties])
    else:
        stored = {**properties, _CHECKSUM: str(checksum(properties))}
        storage.replace(PROPERTIES, render_properties(stored, clock.now(), updated=True))
        storage.delete(BACKUP)
    accept_identity(storage, TableConfig(stored))
    return stored
