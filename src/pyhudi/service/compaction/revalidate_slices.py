"""Holds a plan against the files that are there now: what was planned is compacted as planned, or not at all.

A file group may have been replaced since (overwrite, delete of a partition), or been rewritten by a writer that did not know of the plan,
or, under a log compaction, be held by a compaction that Apache Hudi has planned.
It is declined then: what others did stays. A file of the plan that is missing without such a reason is damage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.fsview.committed_sizes import StatedFile, length_problem, stated_files
from pyhudi.fsview.pending_plans import PendingCompaction, pending_compactions
from pyhudi.fsview.replaced_groups import replaced_groups
from pyhudi.spec.actions.compaction import CompactionOperation, CompactionPlan
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice, LogFile, join_path
from pyhudi.spec.files.file_names import BaseFileName, LogFileName, parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.txn.locked_table import LockedTable

Listing = Mapping[str, FileStatus]


@dataclass(frozen=True, slots=True)
class PlannedSlices:
    """The slices of a plan that can be compacted, and the groups that cannot, with the reason."""

    slices: tuple[FileSlice, ...]
    declined: Mapping[FileGroupId, str]


def planned_slices(table: LockedTable, instant: Instant, plan: CompactionPlan) -> PlannedSlices:
    """Return the slices of a pending plan as they are now.

    Raises:
        CorruptTableError: a file of the plan is not there or not as its commit states, or the plan names what is no file of its group.
    """
    replaced = replaced_groups(table.storage, table.config, table.timeline)
    present = _held_by_compactions(table, instant)
    stated = stated_files(table.storage, table.config, table.timeline) if plan.operations else {}
    listings: dict[str, Listing] = {}
    slices: list[FileSlice] = []
    declined: dict[FileGroupId, str] = {}
    for operation in plan.operations or ():
        group = operation.group
        if group.partition_path not in listings:
            listings[group.partition_path] = {status.name: status for status in table.storage.list(group.partition_path)}
        listing = listings[group.partition_path]
        if group in replaced:
            declined[group] = f"replaced by {replaced[group]}"
        elif (newer := _newer_base(table, instant, operation, listing)) is not None:
            declined[group] = f"rewritten as {newer}"
        elif group in present:
            declined[group] = f"held by compaction {present[group].instant}"
        else:
            file_slice = _slice(table, instant, operation, listing)
            _check_lengths(table, file_slice, stated.get(group.partition_path, {}).get(group.file_id, ()))
            slices.append(with_checksums(table.storage, table.config, table.timeline, file_slice))
    return PlannedSlices(tuple(slices), declined)


def _held_by_compactions(table: LockedTable, instant: Instant) -> Mapping[FileGroupId, PendingCompaction]:
    """Return the groups that a log compaction must leave to compactions: it would apply on top of the base file that they make."""
    if instant.action is not Action.LOG_COMPACTION:
        return {}
    return pending_compactions(table.storage, table.config, table.timeline)


def _newer_base(table: LockedTable, instant: Instant, operation: CompactionOperation, listing: Listing) -> BaseFileName | None:
    """Return a committed base file of the group that is newer than the planned slice."""
    for name in filter(None, map(parse_base_file_name, listing)):
        is_newer = name.instant > (operation.base_instant or "") and name.instant != instant.requested
        if name.file_id == operation.file_id and is_newer and table.timeline.is_committed(name.instant):
            return name
    return None


def _check_lengths(table: LockedTable, file_slice: FileSlice, stated: Iterable[StatedFile]) -> None:
    """See that the files of a slice have the lengths that commits state: what is missing in them would be missing for good."""
    sizes = {str(log.name): log.size for log in file_slice.logs}
    if file_slice.base is not None:
        sizes[str(file_slice.base.name)] = file_slice.base.size
    longest = {file.name: file for file in sorted(stated, key=lambda file: file.size)}
    for file in longest.values():
        if file.name in sizes and (problem := length_problem(file, sizes[file.name], table.config.layout)) is not None:
            raise CorruptTableError(f"'{join_path(file_slice.group.partition_path, file.name)}' of table {table.storage.uri} {problem}")


def _slice(table: LockedTable, instant: Instant, operation: CompactionOperation, listing: Listing) -> FileSlice:
    group = operation.group

    def status(name: str | None, parsed: BaseFileName | LogFileName | None) -> FileStatus:
        if parsed is None or parsed.file_id != group.file_id:
            raise CorruptTableError(
                f"the plan of {instant.action} {instant.requested} of table {table.storage.uri} names '{name}' as a file of {group}."
            )
        result = listing.get(str(name))
        if result is None:
            raise CorruptTableError(
                f"'{name}' in partition '{group.partition_path}' of table {table.storage.uri} is missing, and {instant.action} "
                f"{instant.requested} needs it. If its rows can be spared, take the plan back with table.services.rollback(...)."
            )
        return result

    base = None
    if operation.data_file is not None:
        base_name = parse_base_file_name(operation.data_file)
        result = status(operation.data_file, base_name)
        assert base_name is not None, "status has looked"
        base = BaseFile(group.partition_path, base_name, result.size, result.modified_ms)
    logs = []
    for text in operation.delta_files or ():
        log_name = parse_log_file_name(text)
        size = status(text, log_name).size
        assert log_name is not None, "status has looked"
        logs.append(LogFile(group.partition_path, log_name, size))
    return FileSlice(group, operation.base_instant or instant.requested, base, tuple(logs))
