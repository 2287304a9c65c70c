"""The join of a MERGE that changes few rows, made in this process: the table's own indexes and statistics find the rows it touches.

Spark's optimizer evaluates by itself a plan that is nothing but values. So the joined rows go into Spark as such a plan, under the
attributes of both sides: expressions over them are resolved and evaluated by Spark as over its own join, and no job runs.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ByteType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.row_pairs import row_pairs
from pyhudi.read.execute import Selection, read_slices, select
from pyhudi.read.filter.point_predicates import MOST_KEYS
from pyhudi.read.skipping.key_rows import keys_in_column
from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.schema.meta_columns import with_meta_columns
from pyhudi.spark.input.local_rows import LOCAL_RELATION, PLAIN_TYPES
from pyhudi.spark.input.small_input import is_made_of_values, rows_of_small_plan
from pyhudi.spark.jvm import jvm
from pyhudi.spec.files.file_group import FileSlice

#: Where Spark's tasks begin to be worth their start: files that may hold matches of the source.
_FILES_MAX: Final = 512
#: Of base files little more is read than the columns of ON, hence they may have so many times the bytes of what is read whole.
_BASE_FILE_FACTOR: Final = 32

_TYPES: Final = (*PLAIN_TYPES, TimestampType, TimestampNTZType)
#: Whole numbers of any two types, and strings and dates with their like, are equal in Spark just where they are in Python.
_WHOLE: Final = (ByteType(), ShortType(), IntegerType(), LongType())
_ALIKE: Final = (StringType(), DateType())
_NO_ROWS: Final = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class JoinLimits:
    """Where Spark's tasks begin to be worth their start: rows of the source, or joined, and bytes of the source by Spark's estimate."""

    rows: int
    source_bytes: int


#: For joined rows that Spark gets as values, whose expressions it evaluates on one thread.
AS_VALUES: Final = JoinLimits(50_000, 8 << 20)
#: For joined rows that stay columns of Arrow: 200,000 of four million take a third of the time of Spark's join.
AS_COLUMNS: Final = JoinLimits(500_000, 64 << 20)


@dataclass(frozen=True, slots=True)
class Join:
    """What to join: columns of the table with those of the source that equal them, and whose rows are wanted.

    `matched`: rows of the source with each of their matches, `unmatched`: those without. Without `matched` there are columns of the
    source only, as in an anti join.
    """

    pairs: Sequence[tuple[str, str]]
    matched: bool
    unmatched: bool


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of a source, the stored rows that may match some, and the join as pairs of their numbers, null where no row matches."""

    given: pa.Table
    stored: pa.Table
    given_numbers: pa.Int64Array
    stored_numbers: pa.Int64Array

    def given_rows(self) -> pa.Table:
        """Return the row of the source of each pair."""
        return self.given.take(self.given_numbers)

    def stored_rows(self) -> pa.Table:
        """Return the stored row of each pair, nulls where there is none."""
        return self.stored.take(self.stored_numbers)


@dataclass(frozen=True, slots=True)
class LocalJoin:
    """A join that this process can make, unless its rows turn out to be too many.

    Args:
        snapshot: the table as the statement sees it.
        target: all its rows, with meta columns; not run.
        source: all rows of the source; run when they are few.
        join: what is joined.
        columns: the columns that are joined, of the table and of the source.
        max_bytes: what is read of either side has at most as many bytes, however much would suit one process.
        limits: how much is joined.
    """

    snapshot: Snapshot
    target: DataFrame
    source: DataFrame
    join: Join
    columns: Sequence[tuple[StructField, StructField]]
    max_bytes: int
    limits: JoinLimits

    def source_rows(self) -> pa.Table | None:
        """Return the rows of the source; None where they are many, or where Spark might have to run it once more."""
        if not is_made_of_values(self.source) and not _are_few(select(self.snapshot).slices(), self.max_bytes):
            return None
        given = rows_of_small_plan(self.source, min(self.max_bytes, self.limits.source_bytes))
        return None if given is None or given.num_rows > self.limits.rows else given

    def matches(self, given: pa.Table, names: Sequence[str]) -> Matches | None:
        """Return which stored rows the rows of a source match, with some columns of the table; None where they are many."""
        fields = [ours for ours, _ in self.columns]
        keys = [_comparable(given.column(theirs.name)) for _, theirs in self.columns]
        stored = self._touched_keys(names, fields, keys)
        if stored is None:
            return None
        pairs = row_pairs(keys, [_comparable(stored.column(field.name)) for field in fields], self.limits.rows)
        return None if pairs is None else self._matches(given, stored, *pairs)

    def _touched_keys(self, columns: Sequence[str], fields: Sequence[StructField], keys: Sequence[pa.ChunkedArray]) -> pa.Table | None:
        """Return the stored rows that may have one of the keys; None where too many files may hold some, or too many rows have one."""
        stored = with_meta_columns(self.snapshot.schema)
        values = [_present_values(stored.field(field.name), column) for field, column in zip(fields, keys, strict=True)]
        selection = _selection(self.snapshot, columns, {field.name: one for field, one in zip(fields, values, strict=True)})
        file_slices = selection.slices()
        if not _are_few(file_slices, self.max_bytes):
            return None
        batches, rows = [], 0
        with contextlib.closing(read_slices(selection, file_slices)) as read:
            for batch in read:
                batches.append(batch)
                rows += batch.num_rows
                if rows > self.limits.rows:
                    return None
        return pa.Table.from_batches(batches, schema=selection.schema)

    def _matches(self, given: pa.Table, stored: pa.Table, given_numbers: Indices, stored_numbers: Indices) -> Matches | None:
        """Return those of the pairs of rows that are wanted, and rows without a match, in the order of the source."""
        unmatched = np.setdiff1d(np.arange(given.num_rows), given_numbers) if self.join.unmatched else _NO_ROWS
        if not self.join.matched:
            given_numbers = stored_numbers = _NO_ROWS
        if len(given_numbers) + len(unmatched) > self.limits.rows:
            return None
        order = np.argsort(np.concatenate([given_numbers, unmatched]), kind="stable")
        numbers = np.concatenate([given_numbers, unmatched])[order]
        stored_or_none = pa.concat_arrays([pa.array(stored_numbers, pa.int64()), pa.nulls(len(unmatched), pa.int64())])
        return Matches(given, stored, pa.array(numbers, pa.int64()), stored_or_none.take(pa.array(order)))


def local_join(
    snapshot: Snapshot, target: DataFrame, source: DataFrame, join: Join, max_bytes: int, limits: JoinLimits
) -> LocalJoin | None:
    """Return a join that this process can make by the types of its columns, else None; arguments as of `LocalJoin`."""
    columns = [(_column(target, ours), _column(source, theirs)) for ours, theirs in join.pairs]
    if not all(_compare(*pair) for pair in columns) or not _are_values(snapshot, target, source):
        return None
    named = [(ours, theirs) for ours, theirs in columns if ours is not None and theirs is not None]
    return LocalJoin(snapshot, target, source, join, named, max_bytes, limits)


def joined_rows(local: LocalJoin) -> DataFrame | None:
    """Return the rows of a join under the columns of both sides; None where it is Spark's work."""
    given = local.source_rows()
    matches = None if given is None else local.matches(given, local.target.columns)
    if matches is None:
        return None
    if not local.join.matched:
        return _of_values([local.source], matches.given_rows().columns)
    return _of_values([local.target, local.source], [*matches.stored_rows().columns, *matches.given_rows().columns])


def _column(frame: DataFrame, name: str) -> StructField | None:
    """Return the one column that a name means in this session; None when there is none, or several."""
    with_case = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    matches = [field for field in frame.schema if field.name == name or (not with_case and field.name.lower() == name.lower())]
    return matches[0] if len(matches) == 1 else None


def _compare(ours: StructField | None, theirs: StructField | None) -> bool:
    """Tell whether values of two columns are equal in Spark just where they are in Python."""
    if ours is None or theirs is None:
        return False
    both = {ours.dataType, theirs.dataType}
    return both <= set(_WHOLE) or any(both == {alike} for alike in _ALIKE)


def _are_values(snapshot: Snapshot, target: DataFrame, source: DataFrame) -> bool:
    """Tell whether rows of two relations can be handed to Spark as values, under attributes that tell the two apart.

    The table's own reader gives times of day, which Spark reads as whole numbers, and no columns that are in paths alone.
    """
    stored = with_meta_columns(snapshot.schema)
    if not set(target.columns) <= set(stored.names) or any(map(pa.types.is_time, stored.types)):
        return False
    if not all(isinstance(field.dataType, _TYPES) for field in (*target.schema, *source.schema)):
        return False
    ours, theirs = (jvm.analyzed_plan(frame).outputSet() for frame in (target, source))
    return bool(ours.intersect(theirs).isEmpty())


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column of one of the types that are compared, as the same type for all that are alike.

    Dates come as days, since Spark has some that Python has not.
    """
    if pa.types.is_date32(column.type):
        return column.cast(pa.int32()).cast(pa.int64())
    return column.cast(pa.int64() if pa.types.is_integer(column.type) else pa.string())


def _are_few(file_slices: Sequence[FileSlice], max_bytes: int) -> bool:
    """Tell whether the files of some slices are few and small: log files are read whole, of base files little but the columns of ON."""
    bases = [file_slice.base for file_slice in file_slices if file_slice.base is not None]
    logs = [log for file_slice in file_slices for log in file_slice.logs]
    if len(bases) + len(logs) > _FILES_MAX or sum(log.size for log in logs) > max_bytes:
        return False
    return sum(base.size for base in bases) <= max_bytes * _BASE_FILE_FACTOR


def _selection(snapshot: Snapshot, columns: Sequence[str], values: Mapping[str, pa.Array]) -> Selection:
    """Return the rows that have one of some values in each of some columns.

    Statistics and indexes are asked for the values where these are few, else for their range: of thousands, most files hold some.
    """
    among = functools.reduce(operator.and_, (pc.field(name).isin(one) for name, one in values.items()))
    if not all(map(len, values.values())) or max(map(len, values.values())) <= MOST_KEYS:
        return select(snapshot, columns, among)
    ranges = (
        (pc.field(name) >= bounds["min"]) & (pc.field(name) <= bounds["max"])
        for name, bounds in ((name, pc.min_max(one)) for name, one in values.items())
    )
    selection = select(snapshot, columns, functools.reduce(operator.and_, ranges))
    known = [one for one in (keys_in_column(*item, snapshot.schema, snapshot.config) for item in values.items()) if one is not None]
    condition = among if selection.condition is None else among & selection.condition
    keys = min(known, key=lambda one: len(one[0]), default=None)
    return replace(selection, condition=condition, known_keys=keys, tests_known_rows=False)


def _present_values(field: pa.Field, values: pa.ChunkedArray) -> pa.Array:
    """Return the distinct values that a column may have, of some that `_comparable` returned."""
    distinct = pc.unique(pc.drop_null(values))
    if pa.types.is_date32(field.type):
        return distinct.cast(pa.int32()).cast(pa.date32())
    if pa.types.is_integer(field.type):
        most = 1 << (field.type.bit_width - 1)
        within = pc.and_(pc.greater_equal(distinct, -most), pc.less_equal(distinct, most - 1))
        distinct = distinct.filter(within)  # others equal no value of the column
    return distinct.cast(field.type)


def _of_values(sides: Sequence[DataFrame], columns: Sequence[pa.ChunkedArray]) -> DataFrame | None:
    """Return a DataFrame that is nothing but values, under the attributes of some relations: their names, qualifiers and ids.

    None where Spark does not keep so many bytes in a plan.
    """
    session = sides[0].sparkSession
    names = [f"c{number}" for number in range(len(columns))]  # of both sides, hence not unique
    types = [field.dataType for side in sides for field in side.schema]
    schema = StructType([StructField(name, kind) for name, kind in zip(names, types, strict=True)])
    values = jvm.analyzed_plan(session.createDataFrame(pa.table(dict(zip(names, columns, strict=True))), schema))
    if values.nodeName() != LOCAL_RELATION:
        return None
    attributes = functools.reduce(lambda left, right: left.concat(right), (jvm.analyzed_plan(side).output() for side in sides))
    local = jvm.companion(session, "catalyst.plans.logical.LocalRelation")
    is_streaming, no_stream = False, jvm.some(session, None)
    plan = local.apply(attributes, values.data(), is_streaming, no_stream)
    return DataFrame(jvm.companion(session, "classic.Dataset").ofRows(jvm.jvm_session(session), plan), session)
