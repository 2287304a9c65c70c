"""Which columns have statistics in the metadata table, and what their bounds are.

Rules: `HoodieTableMetadataUtil.getColumnsToIndex`, `ValueType`; format notes (metadata table) 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.errors import SchemaError, nearest
from pyhudi.kernels.aligned_rows import alignment
from pyhudi.metadata_table.record import ValueType
from pyhudi.schema.meta_columns import COMMIT_TIME, META_COLUMNS, PARTITION_PATH, RECORD_KEY
from pyhudi.spec.table_config import TableConfig
from pyhudi.spec.table_version import TableVersion

#: `hoodie.metadata.index.column.stats.max.columns.to.index`
MAX_COLUMNS = 32
#: The option that names the columns that have statistics.
STATS_COLUMNS = "hoodie.metadata.index.column.stats.column.list"
#: Meta columns that have statistics, too; each is a text.
_META_COLUMNS = (COMMIT_TIME, PARTITION_PATH, RECORD_KEY)
_BY_ID = {
    pa.types.is_boolean: ValueType.BOOLEAN,
    pa.types.is_int32: ValueType.INT,
    pa.types.is_int64: ValueType.LONG,
    pa.types.is_float32: ValueType.FLOAT,
    pa.types.is_float64: ValueType.DOUBLE,
    pa.types.is_string: ValueType.STRING,
    pa.types.is_binary: ValueType.BYTES,
    pa.types.is_fixed_size_binary: ValueType.FIXED,
    pa.types.is_date32: ValueType.DATE,
}
#: By unit and whether the column has a time zone, that is, stands for a moment.
_TIMESTAMPS = {
    ("ms", True): ValueType.TIMESTAMP_MILLIS,
    ("us", True): ValueType.TIMESTAMP_MICROS,
    ("ms", False): ValueType.LOCAL_TIMESTAMP_MILLIS,
    ("us", False): ValueType.LOCAL_TIMESTAMP_MICROS,
}
_TIMES = {pa.time32("ms"): ValueType.TIME_MILLIS, pa.time64("us"): ValueType.TIME_MICROS}
#: Version 8 has no statistics of columns that are fixed bytes on disk, which decimals are.
_NOT_IN_VERSION_8 = frozenset({ValueType.BYTES, ValueType.FIXED, ValueType.DECIMAL})


def indexed_columns(schema: pa.Schema, version: int, limit: int = MAX_COLUMNS, named: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns that have statistics: some meta columns, and those `named` or the first `limit` ones, of a fitting type.

    Names with dots are of fields of structs.
    """
    fitting = [name for name in dict.fromkeys(named or schema.names) if _kind_of(schema, name, version) is not None]
    return (*_META_COLUMNS, *(fitting if named else fitting[:limit]))


def check_named(named: Sequence[str], schema: pa.Schema, config: TableConfig) -> None:
    """Refuse columns for statistics that do not exist, or have no order.

    Raises:
        SchemaError: names the column.
    """
    for name in named:
        if name in META_COLUMNS or _kind_of(schema, name, config.version) is not None:
            continue
        kind = type_at(schema, name)
        if kind is None:
            raise SchemaError(f"{STATS_COLUMNS} names '{name}', which is no column of table {config.name}.{nearest(name, schema.names)}")
        raise SchemaError(
            f"{STATS_COLUMNS} names '{name}' of type {kind}, of which tables of version {config.version} such as {config.name} have no"
            " statistics; leave it out."
        )


def bound_types(schema: pa.Schema, columns: tuple[str, ...], version: int) -> Mapping[str, tuple[ValueType, str | None]]:
    """Return the type of each column's bounds and what is said of it; columns without order or unknown are left out."""
    types: dict[str, tuple[ValueType, str | None]] = {name: (ValueType.STRING, None) for name in columns if name in _META_COLUMNS}
    for name in columns:
        arrow, kind = type_at(schema, name), _kind_of(schema, name, version)
        if arrow is not None and kind is not None:
            types[name] = kind, type_info(arrow)
    return types


def _kind_of(schema: pa.Schema, name: str, version: int) -> ValueType | None:
    arrow = type_at(schema, name)
    return None if arrow is None else value_type(arrow, version)


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """Where the values of columns are in files that were written with one version of the table's schema.

    `names` are what such a file calls the columns whose values have today's type there. In a file that lacks the column, those in `nulls`
    are null. Of all others nothing is known by a footer.
    """

    names: Mapping[str, str]
    nulls: frozenset[str] = frozenset()


def stored_columns(columns: Iterable[str], schema: pa.Schema, config: TableConfig, instant: str) -> StoredColumns:
    """Return what a file of a commit's requested time calls columns of the table.

    Args:
        columns: names of columns, with dots for fields of structs.
        schema: the table's data columns, with the history of its schema if it has one.
        config: of the table; values of partition columns may be in the path alone.
        instant: the commit's requested time.
    """
    other = alignment(schema, instant)
    in_paths = frozenset(config.partition_fields if config.drop_partition_columns else ())
    names: dict[str, str] = {}
    nulls = set()
    for column in columns:
        head = column if column in schema.names else column.split(".")[0]
        stored = head if other is None else other.stored_name(head)
        if stored is not None and (other is None or other.has_type_of_today(head)):
            names[column] = stored + column[len(head) :]
        if column in schema.names and column not in in_paths and (stored is None or column in names):
            nulls.add(column)
    return StoredColumns(names, frozenset(nulls))


def value_type(arrow: pa.DataType, version: int) -> ValueType | None:
    """Return the type that a column's bounds have, None when it has no statistics."""
    kind = _value_type(arrow)
    return None if version < TableVersion.NINE and kind in _NOT_IN_VERSION_8 else kind


def _value_type(arrow: pa.DataType) -> ValueType | None:
    if pa.types.is_decimal(arrow):
        return ValueType.DECIMAL
    if pa.types.is_timestamp(arrow):
        return _TIMESTAMPS.get((arrow.unit, arrow.tz is not None))
    return _TIMES.get(arrow) or next((kind for is_of, kind in _BY_ID.items() if is_of(arrow)), None)


def type_at(schema: pa.Schema, name: str) -> pa.DataType | None:
    """Return the type of a column, which a dotted name finds in structs; None when there is none."""
    head, *path = (name,) if name in schema.names else name.split(".")
    kind = schema.field(head).type if head in schema.names else None
    for part in path:
        inner = -1 if kind is None or not pa.types.is_struct(kind) else kind.get_field_index(part)
        kind = None if inner < 0 or kind is None else kind.field(inner).type
    return kind


def type_info(arrow: pa.DataType) -> str | None:
    """Return what is said of a type beside its number: precision and scale of decimals."""
    return f"{arrow.precision},{arrow.scale}" if pa.types.is_decimal(arrow) else None
