"""Overwriting a table by one with another definition: other keys, partitions, type, name, change data or column types.

Rules: save mode overwrite of `HoodieSparkSqlWriter`, which deletes the table first. Here the new table is written next to the old one, in
one operation under its lock; see `pyhudi.txn.recreation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.codec.actions.plan_codec import encode_requested_replace
from pyhudi.errors import ConflictError, HudiError, UnsupportedError
from pyhudi.locks.choose_lock import with_lock_provider
from pyhudi.read.snapshot.identity_check import accept_identity
from pyhudi.service.inline_sync import check_sync_options, sync_committed
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.extra_metadata import SCHEMA_KEY
from pyhudi.spec.instant import Action
from pyhudi.spec.options import Options, resolve, same_key
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.recreated_storage import RecreatedStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.sync.sync_settings import ENABLE, ENABLE_ALL
from pyhudi.sync.table_sync import RECREATE
from pyhudi.table.create_new_table import create_table
from pyhudi.table.open_table import OpenTable
from pyhudi.timeline.clock import InstantClock
from pyhudi.timeline.write_instant import TimelineWriter
from pyhudi.txn.locked_table import LockedTable, locked_table
from pyhudi.txn.recreation import (
    Replacement,
    begin_recreation,
    file_groups_of,
    is_switched,
    properties_at_first,
    recover_recreation,
    switch,
)

_LOCKS: Final = "hoodie.write.lock."
#: Options of which the rows of the new table take none: the concurrency mode, and what `pyhudi.sync` does after the change.
_OF_THE_CHANGE: Final = ("hoodie.write.concurrency.mode", ENABLE, ENABLE_ALL)
_LOCK_WAIT: Final = "hoodie.write.lock.wait_time_ms"


@dataclass(frozen=True, slots=True)
class NewDefinition:
    """What the new table is to be; arguments of `pyhudi.table.create_new_table.create_table`."""

    schema: pa.Schema
    name: str
    keys: tuple[str, ...]
    partition_by: tuple[str, ...]
    order_by: tuple[str, ...]
    table_type: str
    options: Mapping[str, str]


def recreate_table(table: OpenTable, new: NewDefinition, options: Options, write: Callable[[Storage], None]) -> None:
    """Replace a table by another one on its path; readers see the old one with its rows or the new one with its rows.

    Args:
        table: the old table; refreshed afterwards.
        new: what the new table is.
        options: of the write: a lock provider if there is one, and the catalogs that hear of the new table.
        write: writes the first rows of the new table through the storage that it is given; takes no lock provider.

    Raises:
        UsageError: the definition or the rows are wrong; the table is as it was.
        UnsupportedError: the new table is to have version 6.
        LockTimeoutError: another writer held the lock for too long.
        ConflictError: the lock was lost meanwhile; the table is as it was.
    """
    storage = with_lock_provider(table.storage, options)
    with locked_table(storage, options.integer(_LOCK_WAIT) / 1000, table.clock, table.ids) as locked:
        old = replace(locked, storage=storage)  # without what was listed of it: tasks of other processes write, too
        try:
            _write_new(old, new, write, options)
        except (HudiError, OSError):
            if not is_switched(storage):  # a storage may fail after it has done what it was asked for
                recover_recreation(storage, table.clock.now())
                raise
        except BaseException:
            recover_recreation(storage, table.clock.now())
            raise
        recover_recreation(storage, table.clock.now())
    table.refresh()
    # The catalogs may refuse to change columns of the old table, and never change partition columns.
    sync_committed(table.storage, resolve({RECREATE: "true", **options.given}))


def options_of_rows(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with which the rows of the new table are written: without those of its lock, of which the writer holds one, and
    of the catalogs, which hear of the new table when it is there.
    """
    return {
        name: value
        for name, value in options.items()
        if not name.startswith(_LOCKS) and not any(same_key(name, key) for key in _OF_THE_CHANGE)
    }


def _write_new(old: LockedTable, new: NewDefinition, write: Callable[[Storage], None], options: Options) -> None:
    storage, clock = old.storage, old.clock
    replaced = file_groups_of(storage)
    begin_recreation(storage, old.config)
    config = create_table(
        RecreatedStorage(storage, ""),
        new.schema,
        name=new.name,
        keys=new.keys,
        partition_by=new.partition_by,
        order_by=new.order_by,
        table_type=new.table_type,
        options=new.options,
        clock=clock,
        replaces=True,
    )
    _check_layout(storage, config)
    check_sync_options(options, config)
    first = InstantClock(clock, config.timeline_zone, old.timeline.greatest_time(), storage.uri)
    began = first.next()
    created = RecreatedStorage(storage, began)
    replacement = _commit_replacement(created, config, (began, first.next()), replaced, old)
    write(created)
    if not old.is_locked:
        raise ConflictError(
            f"the lock of table {storage.uri} was lost while the table was written that is to replace it: it is as it was; write again."
        )
    accept_identity(storage, TableConfig(properties_at_first(load_properties(created))), before=old.config)
    switch(storage, old.config, replacement, clock.now())


def _check_layout(storage: Storage, config: TableConfig) -> None:
    if config.layout == 1:
        raise UnsupportedError(
            f"mode('overwrite') would give table {storage.uri} another definition and version {config.version}, whose timeline cannot be"
            " replaced in one step: leave hoodie.write.table.version out, or write to another path."
        )


def _commit_replacement(
    storage: RecreatedStorage, config: TableConfig, times: tuple[str, str], groups: Mapping[str, tuple[str, ...]], old: LockedTable
) -> Replacement:
    """Make the first commit of the new table: it replaces the file groups of the old one, which readers that list folders see."""
    requested, completed = times
    metadata = CommitMetadata(
        stats={},
        extra_metadata={SCHEMA_KEY: config.properties[keys.CREATE_SCHEMA]},
        operation=Operation.INSERT_OVERWRITE_TABLE,
        replaced=groups,
    )
    writer = TimelineWriter(storage, config)
    plan = encode_requested_replace(Operation.INSERT_OVERWRITE_TABLE, sync=old.ids.sync_marker())
    inflight = writer.start(writer.request(Action.REPLACE_COMMIT, requested, plan))
    writer.complete(inflight, completed, commit_content(metadata, config.layout, sync=old.ids.sync_marker()))
    return Replacement(requested, groups, commit_content(replace(metadata, replaced={}), config.layout, sync=old.ids.sync_marker()))
