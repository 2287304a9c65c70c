"""Statistics of base files from a metadata table that is about to be deleted and built again.

A base file never changes, so that what was recorded of it holds as long as it is there. Who builds the metadata table again need not open
the file then. Statistics are of the types that the columns had when they were recorded: those of other types, or of some columns alone,
are not taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyhudi.codec.hfile import CellPart
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import BoundType, kind_of_record
from pyhudi.metadata_table.format.record import ColumnStats
from pyhudi.metadata_table.indexes.file_stats import BoundTypes
from pyhudi.metadata_table.read.partition_reader import MetadataPartition
from pyhudi.metadata_table.read.raw_cells import StoredCells
from pyhudi.metadata_table.read.stats_records import stats_records
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable


@dataclass(frozen=True, slots=True)
class FileStats:
    """The statistics of a base file by column, and their cells: key and encoded record."""

    by_column: Mapping[str, ColumnStats]
    cells: Mapping[str, bytes]


class RecordedStats:
    """All statistics of files that a metadata table held."""

    def __init__(self, cells: Sequence[StoredCells]) -> None:
        self._cells = cells
        self._at = {row: (number, index) for number, one in enumerate(cells) for index, row in enumerate(one.part.rows)}

    def of_files(self, paths: Collection[str], types: BoundTypes, schema: str) -> dict[str, FileStats]:
        """Return the statistics of those of some base files of which all columns are known.

        Args:
            paths: of the files.
            types: what the bounds of each column must be.
            schema: that of the records that the new metadata table will hold.
        """
        try:
            return self._of_files(paths, types, schema)
        except CorruptTableError:
            return {}

    def _of_files(self, paths: Collection[str], types: BoundTypes, schema: str) -> dict[str, FileStats]:
        path_by_row: dict[bytes, str] = {}
        for path in paths:
            partition_path, _, name = path.rpartition("/")
            path_by_row |= {keys.column_stats_key(column, partition_path, name).encode(): path for column in types}
        chosen = self._of_rows(path_by_row, schema)
        records: dict[str, dict[str, ColumnStats]] = {}
        cells: dict[str, dict[str, bytes]] = {}
        of_all = StoredCells(CellPart.of(chosen), schema)  # all together: decoding part by part takes longer
        for (row, value), (_, record) in zip(chosen, stats_records(of_all, partitions.COLUMN_STATS), strict=True):
            if record.column in types and _is_of_type(record, types[record.column]):
                path = path_by_row[row]
                records.setdefault(path, {})[record.column] = record
                cells.setdefault(path, {})[row.decode()] = value
        return {path: FileStats(by_column, cells[path]) for path, by_column in records.items() if len(by_column) == len(types)}

    def _of_rows(self, rows: Iterable[bytes], schema: str) -> list[tuple[bytes, bytes]]:
        """Return those of some cells that are there, in order of where they are, with records of a schema."""
        locations = sorted(at for row in rows if (at := self._at.get(row)) is not None and self._cells[at[0]].schema == schema)
        parts = [one.part for one in self._cells]
        return [(parts[number].rows[index], parts[number].value(index)) for number, index in locations]


def read_recorded(mdt: MetadataWriterTable) -> RecordedStats:
    """Read the statistics of files of a metadata table that holds all that was done.

    Raises:
        CorruptTableError: a file of it is damaged.
        StorageError: the storage failed.
    """
    slices = mdt.slices(partitions.COLUMN_STATS)
    partition = MetadataPartition(mdt.storage, partitions.COLUMN_STATS, slices, mdt.timeline)
    return RecordedStats(list(partition.scan_cells([""])))


def _is_of_type(record: ColumnStats, kind: BoundType) -> bool:
    """Tell whether a record says what one from the file's footer would say, of bounds of a type."""
    if record.is_deleted or record.index_version != kind.index_version or record.type_info != kind.stated_info:
        return False
    has_bounds = record.minimum is not None or record.maximum is not None
    return kind_of_record(record, kind.kind) is kind.kind or (kind.index_version == 1 and not has_bounds)
