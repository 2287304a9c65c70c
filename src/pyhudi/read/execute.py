"""Reads a snapshot in this process: row batches of bounded size, or one Arrow table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaError, nearest
from pyhudi.kernels.read_base import iter_base_file, row_count
from pyhudi.read.predicate import parse_predicate
from pyhudi.read.prune import prune_partitions
from pyhudi.read.snapshot import Snapshot
from pyhudi.schema.meta_columns import META_FIELDS
from pyhudi.spec import partition_path
from pyhudi.spec.file_group import BaseFile

_THREADS: Final = 4


@dataclass(frozen=True)
class Selection:
    """Which rows and columns of a snapshot to read."""

    snapshot: Snapshot
    columns: tuple[str, ...]
    condition: pc.Expression | None

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows."""
        fields = {field.name: field for field in [*META_FIELDS, *self.snapshot.schema]}
        return pa.schema([fields[name] for name in self.columns])

    def files(self) -> list[BaseFile]:
        """Return the files to read; partitions that cannot match are not listed."""
        paths: Sequence[str] = self.snapshot.partition_paths
        if self.condition is not None:
            paths = prune_partitions(paths, self.condition, self.snapshot.schema, self.snapshot.config)
        return [file for path in paths for file in self.snapshot.files(path)]


def select(
    snapshot: Snapshot,
    columns: Sequence[str] | None = None,
    filter: str | pc.Expression | None = None,  # noqa: A002 - the public name
    *,
    meta_columns: bool = False,
) -> Selection:
    """Return a selection after checking that its columns exist.

    Args:
        snapshot: The state to read.
        columns: Names in the order wanted; all data columns when None.
        filter: SQL text such as `amount > 5 AND city = 'lima'`, or a pyarrow expression.
        meta_columns: Put the five `_hoodie_*` columns first, when `columns` is None.

    Raises:
        SchemaError: a column does not exist.
        UsageError: the filter's text cannot be understood.
    """
    known = [field.name for field in META_FIELDS] + snapshot.schema.names
    names = list(columns) if columns is not None else known if meta_columns else snapshot.schema.names
    for name in names:
        if name not in known:
            raise SchemaError(f"table {snapshot.storage.uri} has no column '{name}'.{nearest(name, known)}")
    full = pa.schema([*META_FIELDS, *snapshot.schema])
    condition = parse_predicate(filter, full) if isinstance(filter, str) else filter
    return Selection(snapshot, tuple(names), condition)


def read_table(selection: Selection) -> pa.Table:
    """Return all rows of a selection; files are read side by side."""
    files = selection.files()
    with ThreadPoolExecutor(_THREADS) as pool:
        batches = [batch for found in pool.map(lambda file: list(_batches(selection, file)), files) for batch in found]
    return pa.Table.from_batches(batches, schema=selection.schema)


def read_batches(selection: Selection) -> pa.RecordBatchReader:
    """Return the rows of a selection as a stream; memory does not grow with the table."""
    rows = (batch for file in selection.files() for batch in _batches(selection, file))
    return pa.RecordBatchReader.from_batches(selection.schema, rows)


def count_rows(selection: Selection) -> int:
    """Return how many rows a selection has; without a filter from the footers alone."""
    storage = selection.snapshot.storage
    if selection.condition is None:
        return sum(row_count(storage, file) for file in selection.files())
    return sum(batch.num_rows for file in selection.files() for batch in _batches(selection, file))


def _batches(selection: Selection, file: BaseFile) -> Iterator[pa.RecordBatch]:
    snapshot = selection.snapshot
    if snapshot.config.drop_partition_columns:
        yield from _with_path_values(selection, file)
        return
    yield from iter_base_file(snapshot.storage, file, snapshot.schema, selection.columns, selection.condition)


def _with_path_values(selection: Selection, file: BaseFile) -> Iterator[pa.RecordBatch]:
    """Yield rows of a table whose files leave the partition columns out: their values are in the path."""
    snapshot, config = selection.snapshot, selection.snapshot.config
    fields = config.partition_fields
    texts = partition_path.parse(file.partition_path, fields, hive_style=config.hive_style, url_encode=config.url_encode)
    values = dict(zip(fields, texts, strict=True))
    for batch in iter_base_file(snapshot.storage, file, snapshot.schema, meta_columns=True):
        rows = pa.Table.from_batches([batch])
        for name in values.keys() & set(rows.schema.names):
            place = rows.schema.get_field_index(name)
            kind = rows.schema.field(name).type
            rows = rows.set_column(place, name, pa.repeat(pa.scalar(values[name], pa.string()).cast(kind), rows.num_rows))
        if selection.condition is not None:
            rows = rows.filter(selection.condition)
        yield from rows.select(selection.columns).to_batches()
