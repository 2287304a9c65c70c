"""What the metadata table says compared with storage: listings, and the footers of base files.

Rules: `HoodieMetadataTableValidator` (partitions, file slices, column statistics, partition statistics). A problem is three
strings: which check, of what, and what is wrong. Bounds of partitions may be wider than their rows, which costs time only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.file_groups import committed_files
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.read_base import iter_base_file, row_count
from pyhudi.kernels.log_file.rollback_blocks import instants_in
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import (
    BoundType,
    bound_types,
    index_version_of,
    indexed_columns,
    kind_of_record,
    stored_columns,
)
from pyhudi.metadata_table.format.record import ColumnStats, RecordLocation, ValueType
from pyhudi.metadata_table.indexes.file_stats import BoundTypes, file_stats
from pyhudi.metadata_table.indexes.unbounded_stats import widest_bounds
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, join_path
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.storage.storage_protocol import FileStatus

Problem = tuple[str, str, str]
#: The statistics of so many files are looked up together: some kilobytes of memory each.
_FILES_TOGETHER = 20_000
_COMPARED = ("minimum", "maximum", "value_count", "null_count", "total_size", "total_uncompressed_size")


def metadata_table_problems(view: FileSystemView, schema: pa.Schema, whole: set[str]) -> Iterator[Problem]:
    """Yield where the metadata table of a table differs from storage; nothing when it has none.

    Args:
        view: shows the table by listing.
        schema: the table's data columns.
        whole: gets the paths of base files whose footers were read.
    """
    if partitions.FILES not in view.config.metadata_partitions:
        return
    try:
        table = MetadataTable.open(view.storage, view.config, view.timeline)
        definition = table.definitions.get(partitions.COLUMN_STATS)
    except (CorruptTableError, UnsupportedError) as error:
        yield "metadata table is whole", partitions.FILES, str(error)
        return
    for instant in table.missing_instants:
        yield "metadata table knows all writes", instant, "it was made without the metadata table, which is not used until it is rebuilt"
    if table.missing_instants:
        return
    # Tables of Hudi 0.15 do not say which columns have statistics.
    version = index_version_of(view.config.version, None if definition is None else definition.version)
    columns = indexed_columns(schema, version, len(schema)) if definition is None else definition.source_fields
    types = bound_types(schema, columns, version)
    yield from _catch_damage(partitions.FILES, _file_problems(table, view))

    def stats_of(file: BaseFile) -> Mapping[str, ColumnStats]:
        stats = file_stats(view.storage, file.path, types, stored_columns(types, schema, view.config, file.name.instant))
        whole.add(file.path)
        return stats or {}

    yield from _catch_damage(partitions.COLUMN_STATS, _statistics_problems(table, view, types, stats_of))
    for name in table.partitions:
        if name not in (partitions.FILES, partitions.COLUMN_STATS, partitions.PARTITION_STATS):
            yield from _catch_damage(name, _index_problems(table, view, name))


_StatsOf: TypeAlias = Callable[[BaseFile], Mapping[str, ColumnStats]]


def _catch_damage(name: str, problems: Iterator[Problem]) -> Iterator[Problem]:
    try:
        yield from problems
    except (CorruptTableError, UnsupportedError) as error:
        yield "metadata table is whole", name, str(error)


def _index_problems(table: MetadataTable, view: FileSystemView, name: str) -> Iterator[Problem]:
    """Read an index whole; what it says of files and file groups must be there."""
    ids = {path: set(view.slice_list(path).file_ids) for path in view.partition_paths()}
    missing: set[FileGroupId] = set()
    count = 0
    for _, record in table.records(name):
        count += 1
        if isinstance(record, RecordLocation) and record.file_id not in ids.get(record.partition_path, ()):
            missing.add(FileGroupId(record.partition_path, record.file_id))
    for group in sorted(missing, key=str):
        yield "file groups that the metadata table names are there", str(group), f"{name} has records in it"
    distinct = _distinct_keys(view, count, together=not table.is_by_partition) if name == partitions.RECORD_INDEX else None
    if distinct is not None and distinct != count:
        yield "record index has the keys of the table", name, f"it has {count}, and the table has {distinct}"


def _distinct_keys(view: FileSystemView, expected: int, *, together: bool) -> int | None:
    """Return how many record keys the table has, each once in the table or in its partition; None where rows are in log files.

    Keys are read only where there are more or fewer rows than are expected.
    """
    files = {path: view.latest_slices(path) for path in view.partition_paths()}
    bases = {path: [file_slice.base for file_slice in slices if file_slice.base is not None] for path, slices in files.items()}
    if any(file_slice.logs for slices in files.values() for file_slice in slices):
        return None
    if sum(row_count(view.storage, base) for some in bases.values() for base in some) == expected:
        return expected
    groups = [[base for some in bases.values() for base in some]] if together else bases.values()
    return sum(int(pc.count_distinct(_keys(view, group)).as_py()) for group in groups)


def _keys(view: FileSystemView, bases: Iterable[BaseFile]) -> pa.ChunkedArray:
    schema = pa.schema([pa.field(RECORD_KEY, pa.string())])
    batches = (batch for base in bases for batch in iter_base_file(view.storage, base, schema, [RECORD_KEY]))
    return pa.chunked_array([batch.column(0) for batch in batches], pa.string())


def _file_problems(table: MetadataTable, view: FileSystemView) -> Iterator[Problem]:
    """Compare the files that count: storage may show folders and files of writers that never came to their end.

    The metadata table lists none of these: what it lists must be there, of whatever write it is.
    """
    known = set(table.partition_paths())
    listed = {path: list(view.storage.list(path)) for path in view.partition_paths()}
    for path, stated in sorted(table.files_of(known | listed.keys()).items()):
        stored = listed.get(path, [])
        in_metadata_table, on_storage = _list_committed_files(view, path, stated), _list_committed_files(view, path, stored)
        for name in sorted({file.name for file in stated} - {file.name for file in stored} - in_metadata_table.keys()):
            yield "files that the metadata table lists are there", f"{path}/{name}", "it is listed and missing, and of no completed write"
        if on_storage and path not in known:
            yield "metadata table lists all partitions", path, f"it has {len(on_storage)} files and is not listed"
        for name in sorted(in_metadata_table.keys() | on_storage.keys()):
            recorded, size = in_metadata_table.get(name), on_storage.get(name)
            if recorded == size or (size is not None and not _counts(view, join_path(path, name), size)):
                continue
            if recorded is None:
                yield "metadata table lists all files", f"{path}/{name}", f"it has {size} bytes and is not listed"
            elif size is None:
                yield "files that the metadata table lists are there", f"{path}/{name}", "it is listed and missing"
            else:
                problem = f"it has {size} bytes, {recorded} are listed"
                yield "metadata table lists the right sizes", f"{path}/{name}", problem


def _counts(view: FileSystemView, path: str, size: int) -> bool:
    """Tell whether a file holds anything that is committed: names of log files of version 6 do not say whose blocks are in them."""
    if view.timeline.layout > 1 or parse_log_file_name(path.rpartition("/")[2]) is None:
        return True
    return any(instant and view.timeline.is_committed(instant) for instant in instants_in(view.storage, path, size))


def _list_committed_files(view: FileSystemView, path: str, listing: list[FileStatus]) -> dict[str, int]:
    return committed_files(path, listing, view.timeline).sizes()


def _statistics_problems(table: MetadataTable, view: FileSystemView, types: BoundTypes, stats_of: _StatsOf) -> Iterator[Problem]:
    """Compare the statistics of files and partitions with the footers of base files, each of which is read once.

    What the metadata table holds is looked up for all partitions together where that is not too much: each look-up opens all files of an
    index.
    """
    paths = view.partition_paths()
    are_few = sum(len(view.latest_base_files(path)) for path in paths) <= _FILES_TOGETHER
    for scanned, some in [(None, paths)] if are_few else [(path, (path,)) for path in paths]:
        damage: list[Problem] = []
        by_file = _recorded(table, partitions.COLUMN_STATS, partial(table.column_stats, types, scanned), damage)
        by_partition = _recorded(table, partitions.PARTITION_STATS, partial(table.partition_stats, types, scanned), damage)
        yield from damage
        for path in some:
            of_partition = by_partition.get(keys.partition_name(path), {})
            for file in view.latest_base_files(path):
                of_file = by_file.get(str(file.name), {})
                if of_file or of_partition:
                    actual = stats_of(file)
                    yield from _column_problems(file, of_file, actual, types)
                    yield from _partition_problems(file, of_partition, actual)


def _recorded(
    table: MetadataTable, name: str, read: Callable[[], Iterator[ColumnStats]], damage: list[Problem]
) -> Mapping[str, Mapping[str, ColumnStats]]:
    """Return the statistics of an index by the file or partition and the column; what is wrong with it goes to `damage`."""
    try:
        return _by_file(read()) if name in table.partitions else {}
    except (CorruptTableError, UnsupportedError) as error:
        damage.append(("metadata table is whole", name, str(error)))
        return {}


def _column_problems(
    file: BaseFile, recorded: Mapping[str, ColumnStats], actual: Mapping[str, ColumnStats], types: BoundTypes
) -> Iterator[Problem]:
    for column, stats in recorded.items():
        match = actual.get(column)
        if match is None or (match.minimum is not None and not _are_of_one_type(stats, match)):
            continue  # the file has no such column, or the column had another type then
        for name in _COMPARED:
            if getattr(stats, name) != getattr(match, name) and not _rules_nothing_out(name, stats, match, types[column]):
                problem = f"{name} of {column} is {getattr(match, name)!r}, recorded is {getattr(stats, name)!r}"
                yield "column statistics are those of the file", file.path, problem


def _rules_nothing_out(name: str, recorded: ColumnStats, actual: ColumnStats, kind: BoundType) -> bool:
    """Tell whether a bound is recorded as the widest one of its type, or the file does not tell any bounds."""
    if name not in ("minimum", "maximum"):
        return False
    if actual.value_count == actual.null_count:
        return True  # Apache Hudi states zeros where all values are null
    if recorded.value_type in (None, ValueType.BOOLEAN):
        return False
    widest = dict(zip(("minimum", "maximum"), widest_bounds(kind.kind, kind.info), strict=True))
    return getattr(recorded, name) == widest[name] or all(getattr(actual, one) == bound for one, bound in widest.items())


def _partition_problems(file: BaseFile, recorded: Mapping[str, ColumnStats], actual: Mapping[str, ColumnStats]) -> Iterator[Problem]:
    for column, stats in actual.items():
        known = recorded.get(column)
        if known is not None and _are_of_one_type(known, stats) and not _is_within(stats, known):
            problem = f"{column} has values from {stats.minimum!r} to {stats.maximum!r} in {file.path}"
            problem += f", recorded are {known.minimum!r} to {known.maximum!r}"
            yield "partition statistics hold all rows", file.partition_path, problem


def _are_of_one_type(recorded: ColumnStats, actual: ColumnStats) -> bool:
    kind = None if actual.value_type is None else kind_of_record(recorded, actual.value_type)
    return (kind, recorded.type_info) == (actual.value_type, actual.type_info)


def _is_within(stats: ColumnStats, wider: ColumnStats) -> bool:
    if stats.minimum is None or stats.maximum is None:
        return True
    if wider.minimum is None or wider.maximum is None:
        return False
    return bool(wider.minimum <= stats.minimum and stats.maximum <= wider.maximum)  # type: ignore[operator]


def _by_file(all_stats: Iterator[ColumnStats]) -> Mapping[str, Mapping[str, ColumnStats]]:
    by_file: dict[str, dict[str, ColumnStats]] = {}
    for stats in all_stats:
        by_file.setdefault(stats.file_name, {})[stats.column] = stats
    return by_file
