"""Partitions of the metadata table that are built while writers continue: `hoodie.table.metadata.partitions.inflight`.

Rules: `RunIndexActionExecutor`, `HoodieTableMetadataUtil.getInflightAndCompletedMetadataPartitions`; docs/design/0077-index-builds.md.
An `indexing` instant is pending on the data table's timeline meanwhile. Writers record what they do in these partitions, readers do not
look at them. Their file groups are there before the properties name them, and no timeline shows them yet: the names of files tell.
"""

from __future__ import annotations

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.metadata_table.format.index_definitions import load_definitions
from pyhudi.metadata_table.format.metadata_partitions import COLUMN_STATS, FILES
from pyhudi.metadata_table.read.instant_times import is_built
from pyhudi.metadata_table.read.writer_table import FOLDER, MetadataWriterTable
from pyhudi.spec.actions.indexing import Indexing
from pyhudi.spec.files.file_group import FileGroupId, FileSlice, join_path
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.timeline import Timeline


def pending_builds(data: Timeline) -> tuple[Instant, ...]:
    """Return the pending indexing actions of the data table."""
    return data.pending(Action.INDEXING)


def planned_partitions(storage: Storage, config: TableConfig, build: Instant) -> tuple[str, ...]:
    """Return the partitions that a build is to make.

    Raises:
        CorruptTableError: it has no readable plan, or the plan names what is no partition.
    """
    try:
        plan = read_action(storage, config, Instant(build.requested, Action.INDEXING, State.REQUESTED))
    except FileNotFoundError:
        plan = None
    if not isinstance(plan, Indexing):
        raise CorruptTableError(f"indexing {build.requested} of table {storage.uri} has no readable plan")
    names = tuple(one.metadata_partition for one in plan.partitions if one.metadata_partition)
    for name in names:
        if "/" in name or name.startswith("."):
            raise CorruptTableError(
                f"the plan of indexing {build.requested} of table {storage.uri} is damaged: '{name}' is no partition of the metadata table."
                f" Nothing is built or deleted by it. Move the files {build.requested}.indexing.inflight and"
                f" {build.requested}.indexing.requested out of the timeline '{config.timeline_path}', and index again."
            )
    return names


def is_under_way(instant: Instant, data: Timeline) -> bool:
    """Tell whether a pending delta commit of the metadata table may be that of a build that continues concurrently with writers.

    It has the time of the indexing action, or, where Apache Hudi builds, one of those from before all commits.
    """
    builds = {build.requested for build in pending_builds(data)}
    return bool(builds) and (instant.requested in builds or is_built(instant.requested))


def file_ids(storage: Storage, partition: str) -> tuple[str, ...]:
    """Return the file groups of a partition by the names of its files, whether a timeline shows them or not, sorted."""
    parsed = (parse_log_file_name(name) or parse_base_file_name(name) for name in storage.file_names(partition))
    return tuple(sorted({name.file_id for name in parsed if name is not None}))


def create_file_groups(mdt: MetadataWriterTable, partition: str, instant: str) -> dict[str, FileSlice]:
    """Return the file groups of a partition that is being built, for log files of an instant on top of whatever is in them by now."""
    return {file_id: FileSlice(FileGroupId(partition, file_id), instant, None) for file_id in file_ids(mdt.storage, partition)}


def check_laid_out(storage: Storage, config: TableConfig) -> None:
    """Refuse to write while somebody builds a partition whose file groups are not there yet: what is written would be missing in it.

    Raises:
        UnsupportedError: names the partition.
    """
    definitions = load_definitions(storage, config)
    for name in config.metadata_partitions_inflight:
        is_defined = name != COLUMN_STATS or config.layout == 1 or name in definitions
        if name == FILES or not is_defined or not file_ids(storage, join_path(FOLDER, name)):
            raise UnsupportedError(
                f"the index {name} of table {storage.uri} is being built by another writer, which has not laid out its files yet: try "
                "again, or take that build back with table.services.rollback(...)"
            )
