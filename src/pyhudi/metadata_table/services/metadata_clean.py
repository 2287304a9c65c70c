"""Cleaning the metadata table: file slices that no reader asks for any more go.

Rules: `HoodieBackedTableMetadataWriter.cleanIfNecessary`, `HoodieMetadataWriteUtils`, `CleanPlanner`;
docs/format/metadata-table.md#services-of-the-metadata-table. What a reader may still see that began some commits ago is kept, or, if the
options of the write say so, some versions of each file group. A clean that was cut off is finished by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pyhudi.codec.actions.clean_codec import encode_clean_metadata, encode_clean_plan
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.metadata_table.format.metadata_settings import DEFAULTS, MetadataSettings
from pyhudi.metadata_table.read.instant_times import Service, service_time
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.services.metadata_compaction import delta_commits
from pyhudi.spec.actions.clean import CleanMetadata, CleanPartition, CleanPlan
from pyhudi.spec.files.file_group import FileGroup, FileSlice, join_path
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.instant_details import read_action

#: Delta commits after a compaction from which on it is worth looking.
AFTER_COMPACTION = 3
_BY_COMMITS, _BY_VERSIONS = "KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS"


def clean_if_due(mdt: MetadataWriterTable, inflight: Collection[str] = (), settings: MetadataSettings = DEFAULTS) -> MetadataWriterTable:
    """Clean the metadata table once after each compaction, and return it as it is then; partitions that are being built stay as they are.

    Args:
        mdt: the metadata table.
        inflight: its partitions that are being built.
        settings: which states stay.

    Raises:
        CorruptTableError: a clean that was cut off has no plan.
        StorageError: the storage failed; the clean is finished by the next one.
    """
    for instant in mdt.timeline.pending():
        if instant.action is Action.CLEAN:
            _execute(mdt, instant, _read_plan(mdt, instant))
            mdt = mdt.reload()
    done = [instant for instant in mdt.timeline.completed() if instant.action in (Action.DELTA_COMMIT, Action.COMMIT)]
    compacted = any(instant.action is Action.COMMIT for instant in done)
    if not compacted or delta_commits(mdt) != AFTER_COMPACTION:
        return mdt
    if settings.retained_versions is not None:
        versions = settings.retained_versions
        return _clean(mdt, inflight, None, done[-1], lambda group: group.slices[versions:])
    # Archival may leave fewer commits active than are retained: the states of those that it took are not read any more.
    retained = settings.retained_commits
    earliest = done[-retained] if len(done) > retained else done[0]
    # The slice that was the newest at the earliest time stays.
    return _clean(
        mdt, inflight, earliest, done[-1], lambda group: [one for one in group.slices if one.base_instant < earliest.requested][1:]
    )


def _clean(
    mdt: MetadataWriterTable,
    inflight: Collection[str],
    earliest: Instant | None,
    last: Instant,
    unneeded: Callable[[FileGroup], Sequence[FileSlice]],
) -> MetadataWriterTable:
    """Delete what is not needed of each file group; `earliest` is the first commit whose state stays, None where versions are counted."""
    files = {partition: paths for partition, paths in _list_unneeded(mdt, unneeded) if paths and partition not in inflight}
    if not files:
        return mdt
    plan = CleanPlan(
        _BY_VERSIONS if earliest is None else _BY_COMMITS,
        retained_from=None if earliest is None else earliest.requested,
        retained_action=None if earliest is None else earliest.action.value,
        last_completed=last.requested,
        files={partition: tuple(f"{mdt.storage.uri}/{path}" for path in paths) for partition, paths in files.items()},
        extra_metadata={},
    )
    requested = mdt.writer.request(Action.CLEAN, service_time(mdt, Service.CLEAN), encode_clean_plan(plan, sync=mdt.sources.sync_marker()))
    _execute(mdt, requested, plan)
    return mdt.reload()


def _list_unneeded(mdt: MetadataWriterTable, unneeded: Callable[[FileGroup], Sequence[FileSlice]]) -> Iterator[tuple[str, list[str]]]:
    for partition, _ in walk_partitions(mdt.storage):
        yield partition, sorted(path for group in mdt.view.groups(partition) for one in unneeded(group) for path in _paths(one))


def _paths(slice_: FileSlice) -> list[str]:
    return [log.path for log in slice_.logs] + ([] if slice_.base is None else [slice_.base.path])


def _execute(mdt: MetadataWriterTable, instant: Instant, plan: CleanPlan) -> None:
    started = time.perf_counter()
    if instant.state is State.REQUESTED:
        instant = mdt.writer.start(instant)
    names = {partition: tuple(path.rpartition("/")[2] for path in paths) for partition, paths in plan.files.items()}
    for partition, file_names in names.items():
        for name in file_names:
            mdt.storage.delete(join_path(partition, name))
    metadata = CleanMetadata(
        start=instant.requested,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        files_deleted=sum(map(len, names.values())),
        retained_from=plan.retained_from or "",
        last_completed=plan.last_completed,
        partitions=_list_completed(plan.policy, names),
        extra_metadata={},
    )
    mdt.writer.complete(instant, mdt.next_time(instant.requested), encode_clean_metadata(metadata, sync=mdt.sources.sync_marker()))


def _list_completed(policy: str, names: Mapping[str, tuple[str, ...]]) -> dict[str, CleanPartition]:
    return {partition: CleanPartition(partition, policy, file_names, file_names) for partition, file_names in names.items()}


def _read_plan(mdt: MetadataWriterTable, instant: Instant) -> CleanPlan:
    try:
        plan = read_action(mdt.storage, mdt.config, Instant(instant.requested, Action.CLEAN, State.REQUESTED))
    except FileNotFoundError:
        plan = None
    if not isinstance(plan, CleanPlan):
        raise CorruptTableError(f"clean {instant.requested} of the metadata table {mdt.storage.uri} has no readable plan")
    return plan
