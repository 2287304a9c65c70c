"""Carrying a planned clean out, from wherever it stands: inflight - files - metadata table - completed.

Rules: `CleanActionExecutor`; docs/format/services.md. Each step may be repeated: a clean that was cut is finished by the next one. Files
are deleted without the table's lock, since no writer touches slices that are not the newest; folders of dropped partitions are deleted
under the lock, when it is sure that nothing has been written into them since. A file that cannot be deleted keeps the clean pending.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyhudi.codec.actions.clean_codec import encode_clean_metadata, encode_clean_plan
from pyhudi.errors import ConflictError, CorruptTableError, KeyFieldError
from pyhudi.metadata_table.format.metadata_settings import DEFAULTS, MetadataSettings
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.service.cleaning.clean_history import savepoints_of
from pyhudi.service.cleaning.clean_plan import PlannedClean
from pyhudi.service.cleaning.source_files import delete_source, sources_of_skeletons
from pyhudi.spec.actions.clean import CleanMetadata, CleanPartition, CleanPlan
from pyhudi.spec.files import partition_path
from pyhudi.spec.files.bootstrap_source import BootstrapSource
from pyhudi.spec.files.file_group import is_in_partition, join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE, base_file_names, parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.commit_checks import check_lock_held
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import find_metadata_table, maintain

_log = logging.getLogger(__name__)
_MANY_PARTITIONS: Final = 16
#: To hand a task to a thread takes longer than a local delete.
_MOST_TASKS: Final = 256


@dataclass(frozen=True, slots=True)
class CleanWork:
    """A clean that is inflight, with the files to delete by partition path: names, and those that the table was bootstrapped from."""

    instant: Instant
    planned: PlannedClean
    names: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, tuple[BootstrapSource, ...]] = field(default_factory=dict)

    def targets(self) -> list[Sequence[str | BootstrapSource]]:
        """Return what each task deletes: files of the table, relative to its base, then files that it was bootstrapped from."""
        paths = (join_path(path, name) for path, names in self.names.items() for name in names)
        files: list[str | BootstrapSource] = [*paths, *(source for of_path in self.sources.values() for source in of_path)]
        of_task = len(files) // _MOST_TASKS + 1
        return [files[begin : begin + of_task] for begin in range(0, len(files), of_task)]

    @property
    def files(self) -> dict[str, dict[str, int | None]]:
        """The names of the files with their sizes, by partition path."""
        return {path: self.planned.sizes_of(path, names) for path, names in self.names.items()}


@dataclass(frozen=True, slots=True)
class Deletion:
    """How long the deletion took, in milliseconds, and the URIs of files of the bootstrap that are not deleted."""

    time_taken_ms: int
    undeleted: frozenset[str] = frozenset()


def request_clean(table: LockedTable, planned: PlannedClean) -> Instant:
    """Put a plan on the timeline."""
    return table.writer.request(Action.CLEAN, table.times.next(), encode_clean_plan(planned.plan, sync=table.ids.sync_marker()))


def start_clean(table: LockedTable, instant: Instant, planned: PlannedClean) -> CleanWork:
    """Put a requested clean inflight; one that is inflight is resumed.

    Raises:
        CorruptTableError: the plan names files outside the table, none of a table's data, or some that readers need.
    """
    names = planned_names(planned.plan, table, instant)
    sources = _planned_sources(planned.plan, table, instant, names)
    if planned.is_resumed:
        _check_not_needed(table, instant, names)
    if instant.state is State.REQUESTED:
        instant = table.writer.start(instant)
    if sources:
        _log.warning(
            "clean %s of table %s deletes %d files that the table was bootstrapped from, since hoodie.clean.delete.bootstrap.base.file=true"
            " asked for it: whatever else reads them loses them",
            instant.requested,
            table.storage.uri,
            sum(map(len, sources.values())),
        )
    return CleanWork(instant, planned, names, sources)


def delete_files(storage: Storage, files: Sequence[str | BootstrapSource]) -> list[str]:
    """Delete files, some of which may be deleted already; return the URIs of source files that stay."""
    undeleted = []
    for file in files:
        if isinstance(file, str):
            storage.delete(file)
        elif not delete_source(storage, file):
            undeleted.append(file.uri)
    return undeleted


def complete_clean(
    table: LockedTable, work: CleanWork, outcome: Deletion, settings: MetadataSettings = DEFAULTS, sync: MetadataSync | None = None
) -> tuple[Instant, CleanMetadata]:
    """Record in the metadata table what was deleted, and complete the clean; its files are deleted already.

    Args:
        table: the table, locked, with its timeline read again.
        work: the clean.
        outcome: what was deleted.
        settings: what options say about the metadata table, whose own services run afterwards.
        sync: the metadata table, where the caller has it open.

    Raises:
        ConflictError: the lock was lost, or another process has completed the clean.
        StorageError: the storage failed; the clean stays pending and is finished by the next one.
    """
    plan = work.planned.plan
    if any(one.is_completed for one in table.timeline.find(work.instant.requested)):  # by Apache Hudi, which knows no lock of cleans
        raise ConflictError(
            f"clean {work.instant.requested} of table {table.storage.uri} was completed by another process meanwhile, which deleted the"
            " same files. Nothing is left to do."
        )
    dropped = _drop_partitions(table, work)
    metadata = CleanMetadata(
        start=work.instant.requested,
        time_taken_ms=outcome.time_taken_ms,
        files_deleted=sum(map(len, work.names.values())),
        retained_from=plan.retained_from or "",
        last_completed=plan.last_completed,
        partitions={path: _partition(path, work, dropped) for path in (*work.names, *(path for path in dropped if path not in work.names))},
        extra_metadata=dict(plan.extra_metadata or {}),
        sources={path: _source_partition(path, of_path, plan.policy, outcome.undeleted) for path, of_path in work.sources.items()},
    )
    sync = sync or _metadata_sync(table, settings)
    check_lock_held(table, work.instant)
    if sync is not None and metadata.partitions:
        sync = sync.record_clean(work.instant.requested, metadata)
    content = encode_clean_metadata(metadata, sync=table.ids.sync_marker())
    check = functools.partial(check_lock_held, table, work.instant)
    completed = table.writer.complete(work.instant, table.times.next(), content, check)
    maintain(sync)
    return completed, metadata


def planned_names(plan: CleanPlan, table: LockedTable, instant: Instant) -> dict[str, tuple[str, ...]]:
    """Return the names of the files to delete, by partition path.

    Plans name files absolutely, and tables get moved: partition path and file name decide.

    Raises:
        CorruptTableError: the plan leads out of the table, or names what is no data file.
    """
    names: dict[str, tuple[str, ...]] = {}
    for path in (*plan.files, *plan.partitions_to_delete):
        try:
            partition_path.check(path)
        except KeyFieldError as error:
            raise _damaged(table, instant, f"leads out of the table: {error}") from None
    for path, named in plan.files.items():
        parts = [one.rpartition("/") for one in named]
        names[path] = tuple([name for _, _, name in parts])
        are_base_files = base_file_names(names[path]) is not None  # as nearly all are: all at once
        if are_base_files and all(is_in_partition(folder, path) for folder in {folder for folder, _, _ in parts}):
            continue
        for one, (folder, _, name) in zip(named, parts, strict=True):
            if not is_in_partition(folder, path) or (parse_base_file_name(name) is None and parse_log_file_name(name) is None):
                raise _damaged(table, instant, f"names '{one}', which is no data file of partition '{path}'")
    return names


def _planned_sources(
    plan: CleanPlan, table: LockedTable, instant: Instant, names: Mapping[str, Sequence[str]]
) -> dict[str, tuple[BootstrapSource, ...]]:
    """Return the files of the bootstrap to delete, by partition path, as the bootstrap index describes them.

    Raises:
        CorruptTableError: the plan names one that is not the source of a skeleton that it deletes.
    """
    sources: dict[str, tuple[BootstrapSource, ...]] = {}
    for path, named in plan.sources.items():
        known = {one.name: one for one in sources_of_skeletons(table.storage, {path: names.get(path, ())}).get(path, ())}
        if other := next((one for one in named if one.rpartition("/")[2] not in known), None):
            raise _damaged(table, instant, f"names '{other}', which is the source of no skeleton that it deletes")
        sources[path] = tuple(known[one.rpartition("/")[2]] for one in named)
    return sources


def _damaged(table: LockedTable, instant: Instant, problem: str) -> CorruptTableError:
    requested = instant.requested
    return CorruptTableError(
        f"the plan of clean {requested} of table {table.storage.uri} {problem}. Nothing is deleted by it. Move the files"
        f" {requested}.clean.inflight and {requested}.clean.requested out of the timeline '{table.config.timeline_path}'; the next clean"
        " plans again."
    )


def _check_not_needed(table: LockedTable, instant: Instant, names: Mapping[str, Collection[str]]) -> None:
    """Refuse a plan that was made before somebody put older states of the table back in use, or savepointed them."""
    view = find_metadata_table(table).view
    if len(names) >= _MANY_PARTITIONS:
        view.partition_paths()  # finds the files of all partitions with one look-up
    savepointed = savepoints_of(table.storage, table.config, table.timeline).files
    for path, planned in names.items():
        newest = {str(file.name) for one in view.latest_slices(path) for file in (*one.logs, *(() if one.base is None else (one.base,)))}
        for needed, who in ((newest, "readers need"), (savepointed.get(path, frozenset()), "a savepoint retains")):
            if named := sorted(needed.intersection(planned)):
                requested = instant.requested
                raise CorruptTableError(
                    f"the plan of clean {requested} of table {table.storage.uri} names '{join_path(path, named[0])}', which {who}:"
                    " the plan is older than what the table holds now, or damaged. Nothing more is deleted. Delete the files"
                    f" {requested}.clean.inflight and {requested}.clean.requested of the timeline; the next clean plans again."
                )


def _drop_partitions(table: LockedTable, work: CleanWork) -> tuple[str, ...]:
    """Delete the folders of dropped partitions into which nothing was written since, and return these partitions."""
    if not work.planned.plan.partitions_to_delete or any(one.comparable_action.writes_data for one in table.timeline.pending()):
        return ()
    return tuple(path for path in work.planned.plan.partitions_to_delete if path and _drop_folder(table.storage, path))


def _drop_folder(storage: Storage, path: str) -> bool:
    """Delete a folder that holds a metafile at most, and tell whether that was all it held."""
    listing = storage.list(path)
    if any(one.is_dir or not one.name.startswith(PARTITION_METAFILE) for one in listing):
        return False
    storage.delete_tree(path)
    return True


def _partition(path: str, work: CleanWork, dropped: Sequence[str]) -> CleanPartition:
    names = work.names.get(path, ())
    return CleanPartition(path, work.planned.plan.policy, names, names, is_partition_deleted=path in dropped)


def _source_partition(path: str, sources: Sequence[BootstrapSource], policy: str, undeleted: Collection[str]) -> CleanPartition:
    uris = tuple(one.uri for one in sources)
    deleted = tuple(uri for uri in uris if uri not in undeleted)
    return CleanPartition(path, policy, uris, deleted, tuple(uri for uri in uris if uri in undeleted))


def _metadata_sync(table: LockedTable, settings: MetadataSettings) -> MetadataSync | None:
    """Return the metadata table to record the clean in; None when there is none, or when the next write must build it again."""
    if not table.config.metadata_partitions:
        return None
    state = find_metadata_table(table)
    if state.mdt is None or state.trouble:
        _log.warning("the metadata table of %s is rebuilt by the next write: %s", table.storage.uri, state.trouble)
        return None
    return MetadataSync(table.storage, table.config, state.view, state.mdt, settings)
