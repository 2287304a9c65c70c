"""Building partitions of the metadata table, from records of all that the data table holds.

Rules: `HoodieBackedTableMetadataWriter.initializeFromFilesystem`; docs/format/metadata-table.md#initialization. Each partition is
built by a delta commit of its own, with an instant from before all others (in version 6: all that are still to come). Its name
then goes into the data table's properties, and from there on it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.codec.partition_metafile import render
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.metadata_table.read.instant_times import build_time
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.write.data_table_changes import InitialGroup
from pyhudi.metadata_table.write.hfile_base_writer import write_base, write_base_columns
from pyhudi.metadata_table.write.hfile_log_writer import write_initial_log
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.extra_metadata import SCHEMA_KEY
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.spec.instant import Action, Instant
from pyhudi.timeline.timeline import Timeline


def build_partition(mdt: MetadataWriterTable, partition: str, groups: Iterable[InitialGroup], data: Timeline) -> MetadataWriterTable:
    """Build a partition of these file groups and return the metadata table as it is then.

    What an attempt that was cut off left of the partition is deleted first. `data` is the data table's timeline: by the time at
    which it was built, the metadata table is known to hold all that was done before.
    """
    mdt.storage.delete_tree(partition)
    inflight = begin_build(mdt, build_time(mdt, data))
    lay_out(mdt, inflight, partition, ())
    return complete_build(mdt, inflight, {partition: fill(mdt, inflight, partition, groups, is_laid_out=False)}, data)


def begin_build(mdt: MetadataWriterTable, instant: str) -> Instant:
    """Begin the delta commit of a build."""
    return mdt.writer.start(mdt.writer.request(Action.DELTA_COMMIT, instant))


def lay_out(mdt: MetadataWriterTable, build: Instant, partition: str, file_ids: Iterable[str]) -> None:
    """Begin a partition and these file groups of it."""
    mdt.storage.create(join_path(partition, PARTITION_METAFILE), render(build.requested, 1, mdt.sources.clock.now()))
    for file_id in file_ids:
        write_initial_log(mdt, partition, file_id, build.requested)


def fill(
    mdt: MetadataWriterTable, build: Instant, partition: str, groups: Iterable[InitialGroup], *, is_laid_out: bool
) -> tuple[WriteStat, ...]:
    """Write what is in the file groups of a partition, which are begun here unless they are laid out."""
    return tuple(stat for stat in _write_groups(mdt, partition, build.requested, groups, is_laid_out) if stat is not None)


def complete_build(
    mdt: MetadataWriterTable, build: Instant, stats: Mapping[str, tuple[WriteStat, ...]], data: Timeline
) -> MetadataWriterTable:
    """Complete the delta commit of a build, and return the metadata table as it is then."""
    metadata = CommitMetadata(stats=stats, extra_metadata={SCHEMA_KEY: mdt.encoder.schema}, operation="BULK_INSERT_PREPPED")
    content = commit_content(metadata, mdt.config.layout, sync=mdt.sources.sync_marker())
    mdt.writer.complete(build, mdt.next_time(data.greatest_time()), content)
    return mdt.reload()


def _write_groups(
    mdt: MetadataWriterTable, partition: str, instant: str, groups: Iterable[InitialGroup], is_laid_out: bool
) -> Iterator[WriteStat | None]:
    """Write the file groups, some at a time: what those take that come later is not in memory yet."""
    engine = LocalEngine()
    numbered = enumerate(groups)
    while some := tuple(islice(numbered, engine.threads)):
        by_threads = any(group.columns is not None for _, group in some)
        yield from (engine if by_threads else LocalEngine(threads=1)).run(
            lambda one: _write_group(mdt, partition, instant, is_laid_out, *one), some
        )


def _write_group(
    mdt: MetadataWriterTable, partition: str, instant: str, is_laid_out: bool, number: int, group: InitialGroup
) -> WriteStat | None:
    """Write a file group, with a base file if it has cells; an empty one stands for itself by its first log file."""
    if not is_laid_out:
        write_initial_log(mdt, partition, group.file_id, instant)
    token = f"{number}-0-0"
    if group.columns is not None:
        columns = group.columns()
        return write_base_columns(mdt, partition, group.file_id, instant, token, columns) if len(columns.rows) else None
    cells = iter(group.cells)
    first = next(cells, None)
    return None if first is None else write_base(mdt, partition, group.file_id, instant, token, chain([first], cells))
