"""Reads a snapshot in this process: row batches of bounded size, or one Arrow table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.cache import cached_property
from pyhudi.errors import CorruptTableError, SchemaError, did_you_mean
from pyhudi.fsview.gc_pause import collector_paused
from pyhudi.kernels.base_file.meta_column_writer import without_identity
from pyhudi.kernels.base_file.read_base import iter_base_file
from pyhudi.kernels.keys.keyed_rows import KeyedPositions, iter_keyed_positions
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.read.filter.arrow_condition import condition_of
from pyhudi.read.filter.condition import And, Condition, Unknown, operands
from pyhudi.read.filter.predicate import parse_predicate
from pyhudi.read.filter.row_predicate import Filter, check_condition
from pyhudi.read.filter.tuple_filter import FilterLike, expression_of
from pyhudi.read.skipping.data_skipping import Skipping, explain_pruning
from pyhudi.read.skipping.key_rows import keyed_rows_meant, keys_meant, rows_meant
from pyhudi.read.skipping.partition_pruning import left_out_values, path_values, prune_partitions
from pyhudi.read.snapshot.prefetch import side_by_side
from pyhudi.read.snapshot.slice_cache import count_slice, remember_deltas, slice_task
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.meta_columns import COMMIT_TIME, META_FIELDS
from pyhudi.spec.arguments import check_strings
from pyhudi.spec.files.file_group import BaseFile, FileSlice


@dataclass(frozen=True)
class Selection:
    """Which rows and columns of a snapshot to read."""

    snapshot: Snapshot
    columns: tuple[str, ...]
    condition: pc.Expression | None
    #: What statistics and indexes are asked; says the same as `condition`, or less.
    test: Condition = field(default_factory=Unknown)
    #: What `keys_meant` is, where more keys are known than statistics and indexes are asked for.
    known_keys: tuple[pa.StringArray, str] | None = None
    #: Whether the condition is asked of rows of base files which a search for those keys has found. A join tests its rows itself.
    tests_known_rows: bool = True

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows."""
        fields = {field.name: field for field in [*META_FIELDS, *self.snapshot.schema]}
        return pa.schema([fields[name] for name in self.columns])

    @collector_paused()
    def slices(self) -> Sequence[FileSlice]:
        """Return the file slices to read; partitions that cannot match are not listed.

        Raises:
            UsageError: files of the snapshot were deleted after it had been opened.
        """
        try:
            slices = self._listed_slices()
        except CorruptTableError:
            self.snapshot.check_not_cleaned()  # what a clean has deleted is no damage
            raise
        self.snapshot.check_not_cleaned()
        return slices

    def _listed_slices(self) -> Sequence[FileSlice]:
        skipping = self._skipping
        if skipping is None:
            return [file_slice for path in self.paths for file_slice in self.snapshot.slices(path)]
        return skipping.choose(self.paths).slices

    def explain_pruning(self) -> list[tuple[FileSlice, str | None]]:
        """Return all file slices of the snapshot, each with what rules it out, None for those that are read."""
        return explain_pruning(self.snapshot, self.snapshot.partition_paths, self.paths, self._skipping)

    @property
    def paths(self) -> Sequence[str]:
        """The partitions that match by their paths."""
        paths = self.snapshot.partition_paths
        if self.condition is None:
            return paths
        return prune_partitions(paths, self.condition, self.snapshot.schema, self.snapshot.config)

    @cached_property
    def keys_meant(self) -> tuple[pa.StringArray, str] | None:
        """Record keys, one of which each row has that is read, and the column that says so; None when it may have any."""
        if self.known_keys is not None:
            return self.known_keys
        return keys_meant(self.test, self.snapshot.schema, self.snapshot.config) if any(operands(self.test)) else None

    @property
    def _skipping(self) -> Skipping | None:
        return Skipping(self.snapshot, self.test) if self.snapshot.query.skips_data and any(operands(self.test)) else None


def select(
    snapshot: Snapshot,
    columns: Sequence[str] | None = None,
    filter: FilterLike | None = None,  # noqa: A002 - the public name
    *,
    meta_columns: bool = False,
) -> Selection:
    """Return a selection after checking that its columns exist.

    Args:
        snapshot: The state to read.
        columns: Names in the order predicate; all data columns when None.
        filter: SQL text such as `amount > 5 AND city = 'lima'`, a pyarrow expression, or a list of tuples.
        meta_columns: Put the five `_hoodie_*` columns first, when `columns` is None.

    Raises:
        SchemaError: a column does not exist.
        UsageError: `columns` is no list of strings, the filter's text cannot be understood, or its expression is no condition over these
            columns.
    """
    known = [field.name for field in META_FIELDS] + snapshot.schema.names
    names = check_strings(columns, "columns", "column names") if columns is not None else known if meta_columns else snapshot.schema.names
    for name in names:
        if name not in known:
            raise SchemaError(f"table {snapshot.storage.uri} has no column '{name}'.{did_you_mean(name, known)}")
    if filter is None:
        return Selection(snapshot, tuple(names), snapshot.condition)
    predicate = _parsed(filter, snapshot)
    return Selection(snapshot, tuple(names), _both(predicate.expression, snapshot.condition), predicate.condition)


def narrow(
    selection: Selection,
    columns: Sequence[str] | None = None,
    filter: FilterLike | Filter | None = None,  # noqa: A002 - as in `select`
) -> Selection:
    """Return a selection with other columns, or of the rows that a further condition is true for.

    Args:
        selection: what to narrow.
        columns: names of columns of the table that exist; those of the selection when None.
        filter: SQL text or a pyarrow expression over the columns of the table, or a filter that is parsed already.

    Raises:
        UsageError: as `select` does for a filter.
    """
    names = selection.columns if columns is None else check_strings(columns, "columns", "column names")
    if filter is None:
        return replace(selection, columns=names)
    predicate = _parsed(filter, selection.snapshot)
    return replace(
        selection,
        columns=names,
        condition=_both(predicate.expression, selection.condition),
        test=And((selection.test, predicate.condition)),
    )


def _parsed(filter: FilterLike | Filter, snapshot: Snapshot) -> Filter:  # noqa: A002
    """Return a filter over the columns of a snapshot and the meta columns, after checking it."""
    if isinstance(filter, Filter):
        return filter
    schema = pa.schema([*META_FIELDS, *snapshot.schema])
    if isinstance(filter, str):
        return parse_predicate(filter, schema)
    expression = filter if isinstance(filter, pc.Expression) else expression_of(filter, schema)
    check_condition(expression, schema)
    return Filter(expression, condition_of(expression, schema))


def _both(left: pc.Expression | None, right: pc.Expression | None) -> pc.Expression | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right


def read_table(selection: Selection) -> pa.Table:
    """Return all rows of a selection; file slices are read side by side."""
    return pa.Table.from_batches(read_slices(selection, selection.slices()), schema=selection.schema)


def read_slices(selection: Selection, slices: Sequence[FileSlice]) -> Generator[pa.RecordBatch, None, None]:
    """Yield the rows that a selection has in some file slices; closing the generator ends the reading."""
    return side_by_side(_streams(selection, slices))


def read_batches(selection: Selection) -> pa.RecordBatchReader:
    """Return the rows of a selection as a stream; memory does not grow with the table."""
    return pa.RecordBatchReader.from_batches(selection.schema, side_by_side(_streams(selection, selection.slices()), ahead=1))


def slice_batches(selection: Selection, file_slice: FileSlice) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a selection that are in one of its slices."""
    yield from _batches(selection, file_slice)


def count_rows(selection: Selection) -> int:
    """Return how many rows a selection has; without a filter from footers and logs, no base row being read."""
    if selection.condition is not None:
        # Some column must carry the number of rows; this one takes least.
        return sum(batch.num_rows for batch in read_batches(replace(selection, columns=(COMMIT_TIME,))))
    counts = [functools.partial(_count, selection.snapshot, file_slice) for file_slice in selection.slices()]
    return sum(side_by_side(counts))


def _streams(selection: Selection, slices: Sequence[FileSlice]) -> list[Callable[[], Iterator[pa.RecordBatch]]]:
    return [functools.partial(_batches, selection, file_slice) for file_slice in slices]


def _count(snapshot: Snapshot, file_slice: FileSlice) -> Iterator[int]:
    yield count_slice(snapshot, file_slice)


def _batches(selection: Selection, file_slice: FileSlice) -> Iterator[pa.RecordBatch]:
    """Return the rows of a selection that are in a slice, its logs merged."""
    snapshot, columns, condition = selection.snapshot, selection.columns, selection.condition
    constants = path_constants(snapshot, file_slice.group.partition_path)
    verify = snapshot.query.verifies_pages
    meant, base = selection.keys_meant, file_slice.base
    known = None if meant is None or base is None or selection.tests_known_rows else _known_positions(snapshot, base, *meant)
    only = None if meant is None or base is None or known is not None else rows_meant(snapshot.storage, base, *meant)
    if file_slice.logs:
        task = _task(snapshot, file_slice, columns)
        merge, limit = remember_deltas(snapshot), snapshot.query.slice_bytes
        rows = iter_merged(
            snapshot.storage,
            snapshot.context,
            task,
            condition,
            limit_bytes=limit,
            merge=merge,
            constants=constants,
            verify=verify,
            only=only,
            known=known,
        )
        return rows if snapshot.context.virtual_key is None else _as_stored(rows)
    if base is not None and known is not None:
        return iter_keyed_positions(snapshot.storage, snapshot.context, base, columns, known, constants=constants, verify=verify)
    if base is not None:
        return iter_base_file(snapshot.storage, base, snapshot.schema, columns, condition, constants=constants, verify=verify, only=only)
    return iter(())


def _known_positions(snapshot: Snapshot, base: BaseFile, keys: pa.StringArray, column: str) -> KeyedPositions | None:
    """Return the rows of a base file with one of some keys; None where it is to be searched by its columns."""
    matches = None if snapshot.condition is not None else keyed_rows_meant(snapshot.storage, base, keys, column)
    return None if matches is None else KeyedPositions(matches[0], keys.take(pa.array(matches[1])))


def path_constants(snapshot: Snapshot, path: str) -> Mapping[str, pa.Scalar]:
    """Return the values that all rows of a partition have by its path, whatever its files say."""
    in_path_alone = snapshot.config.drop_partition_columns or snapshot.query.takes_path_values
    values_of = left_out_values if in_path_alone else path_values
    return values_of(path, snapshot.schema, snapshot.config)


def _as_stored(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield merged rows without the virtual keys that they were merged by: rows of base files have none either."""
    for batch in batches:
        yield from without_identity(pa.Table.from_batches([batch])).to_batches()


def _task(snapshot: Snapshot, file_slice: FileSlice, columns: tuple[str, ...] | None = None) -> SliceTask:
    return slice_task(snapshot, snapshot.with_checksums(file_slice), columns)
