"""The change of a table's version under its lock, after failed writes are rolled back and log files are compacted.

In this order, so that a cut at any call leaves a table of one version that readers read right:

1. what an earlier change left over is deleted: files of the layout that the table does not have;
2. the timeline and its archive are written in the layout of the new version, next to the old ones (between 8 and 9 they stay as they are);
3. a file in the old timeline's folder tells readers who come in between to look at the properties once more;
4. one replacement of `hoodie.properties` is the change;
5. the old timeline's files are deleted, the oldest first; indexes that the version does not have go; the metadata table gets the version.

Cut before step 4 the table is what it was, cut after it the new one; the next change, upgrade or downgrade does what is left. Apache Hudi
renames file by file before it changes the properties, and a cut leaves a table of which neither version sees all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyhudi.errors import CorruptTableError, TableNotFound
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import PATH_PROPERTY, load_definitions, render_definitions
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.read.snapshot.identity_check import accept_identity
from pyhudi.service.upgrade.completion_times import completion_times
from pyhudi.service.upgrade.convert_archive import rows_of_layout_1, rows_to_archive, write_archive, write_history
from pyhudi.service.upgrade.convert_restores import leaving, rows_of_leaving
from pyhudi.service.upgrade.convert_timeline import known_completions, state_files, write_converted
from pyhudi.service.upgrade.version_change import VersionChange
from pyhudi.spec.instant import Action, Instant, parse_instant
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.spec.table.version_properties import properties_of_version
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.timeline.archived_timeline_lsm import VERSION_FILE, archived_rows, is_history_file, manifest_numbers
from pyhudi.timeline.moved_timeline import MOVED_FILE
from pyhudi.timeline_archive.archive_writer import MergeLimits
from pyhudi.timeline_archive.full_timeline import read_rows
from pyhudi.txn.locked_table import LockedTable

_MAX_MARK_BYTES: Final = 1 << 20
#: Partitions of the metadata table that version 6 knows.
_OF_VERSION_6 = frozenset({partitions.FILES, partitions.COLUMN_STATS, partitions.BLOOM_FILTERS, partitions.RECORD_INDEX})


@dataclass(frozen=True, slots=True)
class VersionRequest:
    """To which version, and how files of the archive are merged."""

    to: TableVersion
    merge: MergeLimits = field(default_factory=MergeLimits)


def plan_change(table: LockedTable, request: VersionRequest) -> tuple[VersionChange, TableConfig]:
    """Return what a change would do, and the properties that the table would have; nothing is written."""
    stored = TableConfig(load_properties(table.storage))
    retained, dropped = _indexes(table, stored, request.to)
    target = TableConfig(_target_properties(table, stored, request.to, retained))
    changes = {name: value for name, value in target.properties.items() if stored.properties.get(name) != value}
    removed = tuple(sorted(stored.properties.keys() - target.properties.keys()))
    moves = target.layout != stored.layout
    change = VersionChange(
        stored.version,
        target.version,
        instants=len(table.timeline.instants) if moves else 0,
        archived=_count_archived(table, target) if moves else 0,
        properties=changes,
        removed=removed,
        indexes_dropped=dropped,
        indexes_rebuilt=retained if moves else (),
        dry_run=True,
    )
    return change, target


def change_version(table: LockedTable, request: VersionRequest) -> VersionChange:
    """Change the version of a table whose failed writes are rolled back and whose log files are compacted.

    The metadata table of a table whose layout changes keeps its old version and must be rebuilt: until then readers list.

    Raises:
        CorruptTableError: a file of the timeline or its archive is damaged; the table is as it was.
        StorageError: the storage failed; the table has the one version or the other.
    """
    finish_change(table)
    change, target = plan_change(table, request)
    if target.layout != table.config.layout:
        _write_timeline(table, target, request.merge)
        table.storage.replace(f"{table.config.timeline_path}/{MOVED_FILE}", ",".join(change.indexes_rebuilt).encode())
    accept_identity(table.storage, target, before=table.config)
    store_properties(table.storage, change.properties, table.clock.now(), remove=change.removed)
    accept_identity(table.storage, target)
    finish_change(replace(table, config=target))
    return replace(change, dry_run=False)


def finish_change(table: LockedTable) -> None:
    """Delete what a change of version left behind that is no part of the table any more, and bring what belongs to it to its version.

    It may be repeated, and does nothing where no change was cut off.
    """
    storage, config = table.storage, table.config
    storage.delete(f"{config.timeline_path}/{MOVED_FILE}")
    other = _other_layout(config)
    if storage.stat(f"{other.timeline_path}/{MOVED_FILE}") is not None:
        _delete_instants(storage, other)
    _finish_indexes(table)


def indexes_to_rebuild(storage: Storage, config: TableConfig) -> tuple[str, ...]:
    """Return the partitions of the metadata table that must be rebuilt since the timeline's layout changed; empty once they are.

    The file that tells readers of the change names them: while they are built the properties do not.
    """
    try:
        text = storage.read(f"{_other_layout(config).timeline_path}/{MOVED_FILE}", max_bytes=_MAX_MARK_BYTES).decode()
    except (FileNotFoundError, CorruptTableError, UnicodeDecodeError):
        return ()
    return tuple(name for name in text.split(",") if name)


def forget_rebuild(storage: Storage, config: TableConfig) -> None:
    """Note that the metadata table is rebuilt."""
    storage.replace(f"{_other_layout(config).timeline_path}/{MOVED_FILE}", b"")


def name_indexes(table: LockedTable, names: Sequence[str]) -> None:
    """Delete the metadata table and let the properties name its partitions, so that a rebuild makes all; readers list meanwhile."""
    table.storage.delete_tree(FOLDER)
    store_properties(table.storage, {keys.METADATA_PARTITIONS: ",".join(sorted(names))}, table.clock.now())


def _finish_indexes(table: LockedTable) -> None:
    """Bring the metadata table and the definitions of indexes to the table's version, as far as its layout is that of the table."""
    storage, config = table.storage, table.config
    mdt = FolderStorage(storage, FOLDER)
    if not config.metadata_partitions or mdt.stat(".hoodie") is None:
        return
    definitions = load_definitions(storage, config)
    unnamed = [name for name in definitions if name not in (*config.metadata_partitions, *config.metadata_partitions_inflight)]
    try:
        mdt_config = TableConfig(load_properties(mdt))
    except TableNotFound:
        return  # its deletion was cut (`name_indexes`): what is left of it is deleted before it is rebuilt
    if mdt_config.version == config.version or mdt_config.layout != config.layout:
        return
    if config.version < mdt_config.version and unnamed:
        retained = {name: definition for name, definition in definitions.items() if name not in unnamed}
        storage.replace(config.properties[PATH_PROPERTY], render_definitions(retained))
    elif definitions:
        storage.replace(config.properties[PATH_PROPERTY], render_definitions(definitions))  # each with the version of its index
    for status in mdt.list(""):
        if status.is_dir and status.name != ".hoodie" and status.name not in config.metadata_partitions:
            mdt.delete_tree(status.name)
    store_properties(mdt, {keys.VERSION: str(config.version)}, table.clock.now())


def _write_timeline(table: LockedTable, target: TableConfig, merge: MergeLimits) -> None:
    """Write the timeline and its archive in another layout; what an attempt that was cut left of it is deleted first."""
    _delete_instants(table.storage, target)
    table.storage.delete(f"{target.timeline_path}/{MOVED_FILE}")
    files = state_files(table)
    known = tuple(known_completions(table, files))
    times = _times(known, target)
    if target.layout == 1:
        write_archive(table, target, rows_to_archive(table, target))
    else:
        _delete_history(table.storage, target)
        archived = rows_of_layout_1(table, known)
        leave = leaving(files, target, archived)
        restores = rows_of_leaving(table, files, leave, times)
        write_history(table, target, sorted((*archived, *restores), key=lambda row: row.requested), merge)
        files = tuple(file for file in files if (file.instant.requested, file.instant.action) not in leave)
    write_converted(table, files, target, times)


def _times(known: Sequence[tuple[Instant, str | None]], target: TableConfig) -> Mapping[tuple[str, Action], str]:
    if target.layout == 1:
        return {(instant.requested, instant.action): time for instant, time in known if time is not None}
    return completion_times(known)


def _target_properties(table: LockedTable, stored: TableConfig, to: TableVersion, retained: tuple[str, ...]) -> dict[str, str]:
    properties = properties_of_version(stored, to)
    properties.pop(keys.METADATA_PARTITIONS_INFLIGHT, None)
    if retained:
        properties[keys.METADATA_PARTITIONS] = ",".join(retained)
    else:
        properties.pop(keys.METADATA_PARTITIONS, None)
    if TableConfig(properties).key_encoding_is_open:
        # Older releases do not know which of two encodings the table has; the line is written while it is known.
        properties[keys.COMPLEX_KEY_ENCODING] = table.config.properties.get(keys.COMPLEX_KEY_ENCODING, "FIELD_PREFIXED")
    return properties


def _indexes(table: LockedTable, stored: TableConfig, to: TableVersion) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the partitions of the metadata table that a version keeps, and those that go."""
    named = stored.metadata_partitions
    if to >= stored.version:
        return named, ()
    definitions = load_definitions(table.storage, stored)
    newer = {name for name, definition in definitions.items() if definition.version > 1 or definition.is_partitioned}
    if partitions.COLUMN_STATS in newer:
        newer.add(partitions.PARTITION_STATS)
    retained = tuple(name for name in named if name not in newer and (to >= TableVersion.EIGHT or name in _OF_VERSION_6))
    return retained, tuple(name for name in named if name not in retained)


def _count_archived(table: LockedTable, target: TableConfig) -> int:
    if target.layout == 1:
        return sum(1 for _ in archived_rows(table.storage, table.config, read_rows))
    return len(rows_of_layout_1(table, known_completions(table, state_files(table))))


def _other_layout(config: TableConfig) -> TableConfig:
    """Return properties by which the folders of the layout are found that a table does not have."""
    version = TableVersion.EIGHT if config.layout == 1 else TableVersion.SIX
    return TableConfig({**config.properties, keys.VERSION: str(int(version)), keys.LAYOUT: str(version.layout)})


def _delete_instants(storage: Storage, config: TableConfig) -> None:
    """Delete the instants in a timeline's folder, the oldest first, that is not the timeline of the table."""
    for status in storage.list(config.timeline_path):
        if not status.is_dir and parse_instant(status.name, config.layout) is not None:
            storage.delete(status.path)


def _delete_history(storage: Storage, config: TableConfig) -> None:
    listing = storage.list(config.history_path)
    manifests = {f"manifest_{number}" for number in manifest_numbers(listing)}
    for status in listing:
        if status.name == VERSION_FILE or status.name in manifests or is_history_file(status.name):
            storage.delete(status.path)
