"""Partition metafiles: those that are missing are added, those of the text format are replaced by the format of base files.

Rules: `RepairAddpartitionmetaProcedure`, `RepairMigratePartitionMetaProcedure`, `HoodiePartitionMetadata`. Unlike Apache Hudi's, a dry run
of the migration leaves the table properties alone.
"""

from __future__ import annotations

import contextlib
from typing import Final

from pyhudi.codec.partition_metafile import parse
from pyhudi.errors import AlreadyExistsError, UnsupportedError, UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.partition_folder import PARTITION_BASE_METAFILE, ensure_partition, render_base_metafile
from pyhudi.read.snapshot.identity_check import accept_identity
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_keys import PARTITION_METAFILE_BASE_FORMAT
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import store_properties
from pyhudi.storage.temporary_files import is_left_over
from pyhudi.table.repair.repair_result import PartitionRepair
from pyhudi.txn.locked_table import LockedTable

_MAX_BYTES: Final = 1 << 16


def add_partition_metafiles(table: LockedTable, *, dry_run: bool) -> tuple[PartitionRepair, ...]:
    """Write the metafile of each partition folder that has none; see `RepairServices.repair_partition_metafiles`."""
    last = table.timeline.last_completed()
    repairs = []
    for path in _folders(table):
        text, base = _present(table.storage, path)
        action = "none" if text or base else "add"
        if action == "add" and not dry_run:
            if last is None:
                raise UsageError(
                    f"table {table.storage.uri} has no completed commit that a partition metafile could name; write to it first."
                )
            _remove_left_overs(table.storage, path)
            ensure_partition(table.storage, path, last.requested)
            action = "added"
        repairs.append(PartitionRepair(path, text, base, action))
    return tuple(repairs)


def migrate_partition_metafiles(table: LockedTable, *, dry_run: bool) -> tuple[PartitionRepair, ...]:
    """Replace the text metafiles; see `RepairServices.migrate_partition_metafiles`."""
    if table.config.properties.get("hoodie.table.base.file.format", "PARQUET").upper() != "PARQUET":
        raise UnsupportedError(
            f"partition metafiles of table {table.storage.uri} can be migrated to Parquet only, as its base files are not."
        )
    repairs = []
    for path in _folders(table):
        text, base = _present(table.storage, path)
        action = "migrate" if text else "none"
        if not dry_run:
            _remove_left_overs(table.storage, path)
        if text and not dry_run:
            _migrate(table.storage, path, has_base=base)
            action = "migrated"
        repairs.append(PartitionRepair(path, text, base, action))
    if not dry_run and table.config.properties.get(PARTITION_METAFILE_BASE_FORMAT) != "true":
        stored = store_properties(table.storage, {PARTITION_METAFILE_BASE_FORMAT: "true"}, table.clock.now())
        accept_identity(table.storage, TableConfig(stored))
    return tuple(repairs)


def _migrate(storage: Storage, path: str, *, has_base: bool) -> None:
    text = join_path(path, PARTITION_METAFILE)
    if not has_base:
        metafile = parse(storage.read(text, max_bytes=_MAX_BYTES))
        with contextlib.suppress(AlreadyExistsError):
            storage.create(join_path(path, PARTITION_BASE_METAFILE), render_base_metafile(metafile))
    storage.delete(text)


def _remove_left_overs(storage: Storage, path: str) -> None:
    """Delete what an addition that died left of the metafile; unfinished files of another name may be those of a live writer."""
    for name in storage.file_names(path):
        if is_left_over(name) and PARTITION_METAFILE in name:
            storage.delete(join_path(path, name))


def _present(storage: Storage, path: str) -> tuple[bool, bool]:
    text, base = (storage.stat(join_path(path, name)) is not None for name in (PARTITION_METAFILE, PARTITION_BASE_METAFILE))
    return text, base


def _folders(table: LockedTable) -> tuple[str, ...]:
    if not table.config.partition_fields:
        return ("",)
    return FileSystemView(table.storage, table.config, table.timeline).partition_folders()
