"""Columns of a table that the data of a write lack, and new ones that they bring.

Rules: Hudi's check of schemas before a write (`HoodieSchemaUtils.deduceWriterSchema`, observed with 1.2.0): a column that is missing, at
any depth, is refused unless an option permits it, since a misspelt name would set the column to null and add another one for good. Unlike
Apache Hudi, `hoodie.datasource.write.schema.allow.auto.evolution.column.drop` permits missing columns without dropping them from the table.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import SchemaError, did_you_mean
from pyhudi.schema.meta_columns import IS_DELETED, without_meta_columns
from pyhudi.spec.options import Options

_log = logging.getLogger("pyhudi.write")

FILL_OPTION: Final = "hoodie.write.set.null.for.missing.columns"
_DROP_OPTION: Final = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"
_RECONCILE_OPTION: Final = "hoodie.datasource.write.reconcile.schema"


class MissingColumns(Enum):
    """What a write does with columns of the table that its data lack: refuse them, fill them with nulls, or fill them with nulls unless the
    data bring new columns as well.
    """

    REFUSED = auto()
    FILLED = auto()
    FILLED_WITHOUT_NEW = auto()


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """The columns that data lack of a table and those that they add to it, as dotted paths into structs, lists and maps."""

    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WidenedColumn:
    """A column, by its dotted path, and its types before and after a write."""

    path: str
    old: pa.DataType
    new: pa.DataType

    @property
    def rounds(self) -> bool:
        """Whether the new type cannot hold all whole numbers that the old one holds."""
        is_wide = pt.is_int64(self.old) or (pt.is_int32(self.old) and pt.is_float32(self.new))
        return bool(is_wide and pt.is_floating(self.new))


def missing_columns(options: Options) -> MissingColumns:
    """Return what the options of a write say about missing columns."""
    if options.flag(FILL_OPTION) or options.flag(_DROP_OPTION):
        return MissingColumns.FILLED
    return MissingColumns.FILLED_WITHOUT_NEW if options.flag(_RECONCILE_OPTION) else MissingColumns.REFUSED


def compare_columns(table: pa.Schema, data: pa.Schema) -> ColumnDifference:
    """Return how the columns of data differ from those of a table; names at the top are matched regardless of case.

    A column that marks records as deleted may be missing: without it none is.

    Example:
        >>> compare_columns(pa.schema({"id": pa.int64(), "name": pa.string()}), pa.schema({"id": pa.int64(), "nmae": pa.string()}))
        ColumnDifference(missing=('name',), new=('nmae',))
    """
    stored, given = without_meta_columns(table), without_meta_columns(data)
    known, data_fields = ({field.name.lower(): field for field in schema} for schema in (stored, given))
    missing = [field.name for name, field in known.items() if name not in data_fields and name != IS_DELETED]
    new = [field.name for name, field in data_fields.items() if name not in known]
    for name, field in known.items():
        if name in data_fields:
            inner = _compare_types(field.type, data_fields[name].type, field.name)
            missing += inner.missing
            new += inner.new
    return ColumnDifference(tuple(missing), tuple(new))


def added_columns(before: pa.Schema, after: pa.Schema) -> tuple[str, ...]:
    """Return the columns that a write added to a table which had some."""
    return compare_columns(before, after).new if before.names and not before.equals(after) else ()


def check_columns(table: pa.Schema, data: pa.Schema, policy: MissingColumns, name: str) -> ColumnDifference:
    """Return how data differ from the table called `name` once that is permitted; new columns are named in the log.

    Raises:
        SchemaError: the data lack columns, and the options do not permit that.
    """
    if not table.names:
        return ColumnDifference()
    difference = compare_columns(table, data)
    if difference.missing and (policy is MissingColumns.REFUSED or (difference.new and policy is MissingColumns.FILLED_WITHOUT_NEW)):
        raise _refusal(difference, f"table {name}")
    if difference.missing and difference.new:
        _log.warning(
            "the data add %s to table %s and lack %s, which is null in all their rows%s",
            _list_names(difference.new),
            name,
            _list_names(difference.missing),
            _suggestions(difference),
        )
    elif difference.new:
        _log.info("the data add %s to table %s", _list_names(difference.new), name)
    return difference


def widened_columns(before: pa.Schema, after: pa.Schema) -> tuple[WidenedColumn, ...]:
    """Return the columns of a table that a write gave a wider type, at any depth.

    Example:
        >>> widened_columns(pa.schema({"id": pa.int64(), "price": pa.int32()}), pa.schema({"id": pa.int64(), "price": pa.float64()}))
        (WidenedColumn(path='price', old=DataType(int32), new=DataType(double)),)
    """
    if before.equals(after):
        return ()
    pairs = [(field.type, after.field(field.name).type, field.name) for field in before if field.name in after.names]
    return tuple(widened for pair in pairs for widened in _widened(*pair))


def _widened(before: pa.DataType, after: pa.DataType, path: str) -> Iterator[WidenedColumn]:
    inner = list(_inner_types(before, after, path))
    for pair in inner:
        yield from _widened(*pair)
    if before != after and not inner and not pt.is_nested(before):
        yield WidenedColumn(path, before, after)


def log_widened(before: pa.Schema, after: pa.Schema, name: str) -> None:
    """Name in the log the columns that data of a wider type widen, for good."""
    for column in widened_columns(before, after):
        rounding = "; whole numbers with more digits than it holds are rounded" if column.rounds else ""
        _log.warning("the data widen the column '%s' of table %s from %s to %s%s", column.path, name, column.old, column.new, rounding)


def refuse_incomplete_rows(rows: Sequence[Mapping[str, object]], names: Iterable[str], table: pa.Schema) -> None:
    """Refuse rows (dicts) of which some lack a column of the table that others have, which would be set to null there.

    Args:
        rows: the rows.
        names: the columns that any of them has.
        table: the table's columns.

    Raises:
        SchemaError: names row and column.
    """
    known = {name.lower() for name in table.names} - {IS_DELETED}
    required = [name for name in names if name.lower() in known]
    for number, row in enumerate(rows):
        if lacking := tuple(name for name in required if name not in row):
            new = tuple(name for name in row if name.lower() not in known and name not in required)
            raise _refusal(ColumnDifference(lacking, new), "the table", f"In row {number} the data")


def _compare_types(table: pa.DataType, data: pa.DataType, path: str) -> ColumnDifference:
    """Return the fields below a column that the data lack or add."""
    pairs = list(_inner_types(table, data, path))
    parts = [_compare_types(*pair) for pair in pairs]
    missing, new = [], []
    if pt.is_struct(table) and pt.is_struct(data):
        stored, given = ({field.name.lower(): field.name for field in kind} for kind in (table, data))
        missing = [f"{path}.{name}" for lower, name in stored.items() if lower not in given]
        new = [f"{path}.{name}" for lower, name in given.items() if lower not in stored]
    return ColumnDifference(
        (*missing, *(name for part in parts for name in part.missing)), (*new, *(name for part in parts for name in part.new))
    )


def _inner_types(table: pa.DataType, data: pa.DataType, path: str) -> Iterator[tuple[pa.DataType, pa.DataType, str]]:
    if pt.is_dictionary(data):
        data = data.value_type
    if pt.is_struct(table) and pt.is_struct(data):
        given = {field.name.lower(): field for field in data}
        for field in table:
            if (match := given.get(field.name.lower())) is not None:
                yield field.type, match.type, f"{path}.{field.name}"
    elif pt.is_map(table) and pt.is_map(data):
        yield table.item_type, data.item_type, f"{path}.value"
    elif pt.is_list(table) and _is_any_list(data):
        yield table.value_type, data.value_type, f"{path}.element"


def _is_any_list(kind: pa.DataType) -> bool:
    return any(is_list(kind) for is_list in (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view, pt.is_large_list_view))


def _refusal(difference: ColumnDifference, table: str, subject: str = "The data") -> SchemaError:
    adds = f" and add {_list_names(difference.new)}" if difference.new else ""
    return SchemaError(
        f"{subject} lack {_list_names(difference.missing)} of {table}{adds}.{_suggestions(difference)} Missing columns would be set to"
        f" null: bring them all, or permit that by {FILL_OPTION}=true. Nothing was written."
    )


def _suggestions(difference: ColumnDifference) -> str:
    """Return the missing name that is nearest to each new one, regardless of case."""
    return "".join(dict.fromkeys(did_you_mean(name, difference.missing) for name in difference.new))


def _list_names(names: Sequence[str]) -> str:
    return f"the column{'' if len(names) == 1 else 's'} {', '.join(map(repr, names))}"
