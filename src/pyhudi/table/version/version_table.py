"""Upgrading and downgrading a table: on request (`table.services.upgrade`, the command line, SQL) and before a write that asks for it.

Rules: `UpgradeDowngrade.run`; docs/format/upgrade.md. Failed writes are rolled back and, on a merge-on-read table, all log files compacted
before the version changes, as Apache Hudi does: log files of version 6 are named and read otherwise than those of later versions.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyhudi.cache import LruCache
from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import ConflictError, OptionError, UsageError
from pyhudi.fsview.unmerged_logs import check_merged
from pyhudi.locks.choose_lock import lock_wait_s, with_lock_provider
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.archival import archival_settings
from pyhudi.service.compaction.compaction_service import Compaction
from pyhudi.service.compaction.compaction_settings import compaction_settings
from pyhudi.service.compaction.pending_compactions import pending_compactions
from pyhudi.service.indexes import Indexing
from pyhudi.service.rollback import failed_writes, roll_back_failed_writes
from pyhudi.service.service_engine import Progress, service_runner
from pyhudi.service.service_executor import ServiceRequest, serve
from pyhudi.service.upgrade import (
    VersionChange,
    VersionRequest,
    change_version,
    check_version_change,
    finish_change,
    forget_rebuild,
    indexes_to_rebuild,
    name_indexes,
    plan_change,
)
from pyhudi.spec.options import merge_options, resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.storage.defaults_file import default_write_options
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.open_table import OpenTable
from pyhudi.timeline.clock import Clock
from pyhudi.timeline.pending_clustering import clustered_groups
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import LockedTable, locked_table
from pyhudi.write.options.non_blocking import check_mode

_log = logging.getLogger(__name__)

AUTO_UPGRADE: Final = "hoodie.write.auto.upgrade"
_WRITE_VERSION: Final = "hoodie.write.table.version"
_EVERYTHING: Final = {"hoodie.compaction.strategy": "org.apache.hudi.table.action.compact.strategy.UnBoundedCompactionStrategy"}
#: How often writers may come between the compaction and the change of version.
_MOST_ATTEMPTS: Final = 3
#: Names of Apache Hudi's versions, as its procedures and its command line take them.
_NAMES: Final = {version.name: version for version in TableVersion}


@dataclass(frozen=True, slots=True)
class VersionArguments:
    """What a caller asks for; `upward` is None where either direction will do."""

    to: TableVersion
    upward: bool | None
    dry_run: bool
    options: Mapping[str, str]
    engine: Engine | None = None
    progress: Progress | None = None
    wait_s: float = 60.0


def parse_version(version: int | str) -> TableVersion:
    """Return a table version by its number or by Apache Hudi's name for it.

    Raises:
        OptionError: it is neither a number nor a name of a version that this release writes.

    Example:
        >>> parse_version("nine") is parse_version(9)
        True
    """
    text = str(version).strip().upper()
    if text in _NAMES:
        return _NAMES[text]
    numbers = {str(int(known)): known for known in TableVersion}
    if text not in numbers:
        raise OptionError(f"table version '{version}' is none that tables are moved to: {', '.join(numbers)} or {', '.join(_NAMES)}")
    return numbers[text]


def change_table_version(storage: Storage, clock: Clock, ids: Ids, arguments: VersionArguments) -> VersionChange:
    """Move a table to a version; see `Services.upgrade` for errors."""
    options = resolve(arguments.options)
    request = VersionRequest(arguments.to, archival_settings(options).merge)
    storage = with_lock_provider(storage, options)
    arguments = replace(arguments, wait_s=lock_wait_s(options, arguments.wait_s))
    with locked_table(storage, arguments.wait_s, clock, ids) as table:
        check_notes(storage, table.config, table.timeline)
        _check_direction(table.config, arguments, storage.uri)
        check_mode(options, table.config, arguments.to)
        if table.config.version == arguments.to:
            if not arguments.dry_run:
                finish_change(roll_back_failed_writes(table))
        else:
            check_version_change(table.config, table.timeline, arguments.to, storage.uri)
            if arguments.dry_run:
                return _preview(table, request)
    if table.config.version == arguments.to:
        if not arguments.dry_run:
            _rebuild_metadata_table(storage, clock, ids, arguments.wait_s)
        return VersionChange(int(arguments.to), int(arguments.to), dry_run=arguments.dry_run)
    change = _change(storage, clock, ids, arguments, request)
    _rebuild_metadata_table(storage, clock, ids, arguments.wait_s)
    _log.info("table %s: %s", storage.uri, change)
    return change


def upgrade_before(table: OpenTable, options: Mapping[str, str]) -> None:
    """Upgrade a table before a write whose options ask for it in so many words.

    Without the option one line of the log says, once for each table, that the table could be upgraded.
    """
    if table.config.version == max(TableVersion):
        return
    resolved = resolve(options)
    to = parse_version(resolved.get(_WRITE_VERSION) or int(max(TableVersion)))
    if table.config.version >= to:
        return
    if (resolved.get(AUTO_UPGRADE) or "").strip().lower() != "true":
        _suggest(table.storage, table.config, to)
        return
    try:
        storage = with_lock_provider(table.storage, resolved)
        change_table_version(storage, table.clock, table.ids, VersionArguments(to, upward=None, dry_run=False, options={}))
    finally:
        table.refresh()


#: Tables of which the log says already that they could be upgraded.
_SUGGESTED: LruCache[str, bool] = LruCache(1024)


def _suggest(storage: Storage, config: TableConfig, to: TableVersion) -> None:
    if _SUGGESTED.get(storage.uri) is None:
        _SUGGESTED.put(storage.uri, True)
        _log.info(
            "table %s has version %d; %s=true, or table.services.upgrade(), moves it to %d, which Hudi releases before %s cannot read",
            storage.uri, config.version, AUTO_UPGRADE, int(to), "1.1" if to is TableVersion.NINE else "1.0",
        )  # fmt: skip


def _check_direction(config: TableConfig, arguments: VersionArguments, uri: str) -> None:
    upward, to = arguments.upward, int(arguments.to)
    if upward is True and to < config.version:
        raise UsageError(f"table {uri} has version {config.version}: to move it to {to} is a downgrade (table.services.downgrade({to})).")
    if upward is False and to > config.version:
        raise UsageError(f"table {uri} has version {config.version}: to move it to {to} is an upgrade (table.services.upgrade({to})).")


def _preview(table: LockedTable, request: VersionRequest) -> VersionChange:
    change, _ = plan_change(table, request)
    failed = tuple(one.requested for one in failed_writes(table))
    return replace(change, rolled_back=failed, compacted=tuple(one.requested for one in pending_compactions(table.timeline)))


def _change(storage: Storage, clock: Clock, ids: Ids, arguments: VersionArguments, request: VersionRequest) -> VersionChange:
    compacted: tuple[str, ...] = ()
    for _ in range(_MOST_ATTEMPTS):
        with locked_table(storage, arguments.wait_s, clock, ids) as locked:
            failed = tuple(one.requested for one in failed_writes(locked))
            table = roll_back_failed_writes(locked)
            if not table.config.is_merge_on_read:
                view = open_view(storage, table.config, table.timeline)
                check_merged(view, view.partition_paths(), "the change of version is refused")
            if not has_logs(table):
                check_version_change(table.config, table.timeline, arguments.to, storage.uri)
                return replace(change_version(table, request), rolled_back=failed, compacted=compacted)
        compacted += compact_everything(storage, clock, ids, arguments.options, arguments.engine, arguments.progress)
    raise ConflictError(
        f"writers put new log files into table {storage.uri} while it was compacted, {_MOST_ATTEMPTS} times: its version is still"
        f" {table.config.version}. Let them pause, and try again."
    )


def compact_everything(
    storage: Storage, clock: Clock, ids: Ids, options: Mapping[str, str], engine: Engine | None, progress: Progress | None
) -> tuple[str, ...]:
    """Run what compactions are pending, and one of all log files that are left; return the requested times of those that ran."""
    resolved = resolve(merge_options(default_write_options(), options, _EVERYTHING))
    service = Compaction(compaction_settings(resolved, clock.now().date()))
    done = serve(service, service_runner(storage, clock, ids, resolved, engine, progress), ServiceRequest())
    return tuple(one.instant for one in done if one.instant is not None)


def has_logs(table: LockedTable) -> bool:
    """Tell whether rows of the table are in log files, or a compaction is pending.

    Raises:
        ConflictError: a planned clustering holds a file group with log files, which no compaction merges.
    """
    if not table.config.is_merge_on_read:
        return False
    if pending_compactions(table.timeline):
        return True
    view = open_view(table.storage, table.config, table.timeline)
    groups = [file_slice.group for path in view.partition_paths() for file_slice in view.latest_slices(path) if file_slice.logs]
    planned = clustered_groups(table.storage, table.config, table.timeline)
    if held := [group for group in groups if group in planned]:
        requested = planned[held[0]].requested
        raise ConflictError(
            f"table {table.storage.uri} has rows in log files of partition '{held[0].partition_path}' that cannot be compacted: clustering"
            f" {requested} is planned and holds file group {held[0].file_id}. Run it, table.services.cluster('{requested}'), or roll it"
            f" back, table.services.rollback('{requested}'), and try again."
        )
    return bool(groups)


def _rebuild_metadata_table(storage: Storage, clock: Clock, ids: Ids, wait_s: float) -> None:
    """Build the metadata table again after the timeline's layout changed; what goes wrong is left to the next write, readers list."""
    with locked_table(storage, wait_s, clock, ids) as table:
        names = indexes_to_rebuild(storage, table.config)
        if not names:
            return
        name_indexes(table, names)
    try:
        Indexing(storage, clock, ids, wait_s).rebuild()
    except UsageError as error:
        _log.warning("the metadata table of %s is not built yet, the next write builds it: %s", storage.uri, error)
        return
    forget_rebuild(storage, TableConfig(load_properties(storage)))
