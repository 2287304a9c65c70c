"""Which columns have statistics in the metadata table, and what their bounds are.

Rules: `HoodieTableMetadataUtil.getColumnsToIndex`, `.isColumnTypeSupported`, `ValueType`; docs/format/metadata-table.md#metadata-record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.errors import SchemaError, did_you_mean
from pyhudi.kernels.base_file.schema_projection import alignment
from pyhudi.metadata_table.format.record import ColumnStats, ValueType
from pyhudi.schema.field_paths import type_at
from pyhudi.schema.meta_columns import COMMIT_TIME, META_COLUMNS, PARTITION_PATH, RECORD_KEY
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion

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
#: By unit and whether the column has a time zone, that is, stands for a timestamp.
_TIMESTAMPS = {
    ("ms", True): ValueType.TIMESTAMP_MILLIS,
    ("us", True): ValueType.TIMESTAMP_MICROS,
    ("ms", False): ValueType.LOCAL_TIMESTAMP_MILLIS,
    ("us", False): ValueType.LOCAL_TIMESTAMP_MICROS,
}
_TIMES = {pa.time32("ms"): ValueType.TIME_MILLIS, pa.time64("us"): ValueType.TIME_MICROS}
#: Digits before and after the point of the decimals that `DecimalWrapper` holds, the bounds of indexes of V1.
_DIGITS_OF_WRAPPER: Final = 15
#: Milliseconds of the first and the last moment of the years 1 to 9999.
_FIRST_MILLIS, _LAST_MILLIS = -62_135_596_800_000, 253_402_300_799_999
_MICROS = (ValueType.TIMESTAMP_MICROS, ValueType.LOCAL_TIMESTAMP_MICROS)


class BoundType(NamedTuple):
    """What the bounds of a column are: their type, what is said of it (of decimals precision and scale), and the version of their index."""

    kind: ValueType
    info: str | None = None
    index_version: int = 2

    @property
    def stated_info(self) -> str | None:
        """What a record states of the type: nothing in indexes of V1."""
        return self.info if self.index_version > 1 else None


def index_version_of(table_version: int, defined: int | None = None) -> int:
    """Return the version of an index with bounds, as its definition states it: an upgrade of the table leaves its indexes as they are.

    Without definition it is the version that the table gets for new indexes.

    Example:
        >>> index_version_of(8), index_version_of(9), index_version_of(9, defined=1)
        (1, 2, 1)
    """
    newest = 2 if table_version >= TableVersion.NINE else 1
    return newest if defined is None else min(defined, newest)


def indexed_columns(schema: pa.Schema, index_version: int, limit: int = MAX_COLUMNS, named: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns that have statistics: some meta columns, and those `named` or the first `limit` ones, of a fitting type.

    Names with dots are of fields of structs.
    """
    fitting = [name for name in dict.fromkeys(named or schema.names) if _kind_of(schema, name, index_version) is not None]
    return (*_META_COLUMNS, *(fitting if named else fitting[:limit]))


def check_named(named: Sequence[str], schema: pa.Schema, config: TableConfig) -> None:
    """Refuse columns for statistics that do not exist, or have no order.

    Raises:
        SchemaError: names the column.
    """
    for name in named:
        if name in META_COLUMNS or _kind_of(schema, name, index_version_of(config.version)) is not None:
            continue
        kind = type_at(schema, name)
        if kind is None:
            raise SchemaError(
                f"{STATS_COLUMNS} names '{name}', which is no column of table {config.name}.{did_you_mean(name, schema.names)}"
            )
        raise SchemaError(
            f"{STATS_COLUMNS} names '{name}' of type {kind}, of which tables of version {config.version} such as {config.name} have no"
            " statistics; leave it out."
        )


def bound_types(schema: pa.Schema, columns: tuple[str, ...], index_version: int) -> Mapping[str, BoundType]:
    """Return the type of each column's bounds; columns without order or unknown are left out."""
    types = {name: BoundType(ValueType.STRING, None, index_version) for name in columns if name in _META_COLUMNS}
    for name in columns:
        arrow, kind = type_at(schema, name), _kind_of(schema, name, index_version)
        if arrow is not None and kind is not None:
            types[name] = BoundType(kind, type_info(arrow), index_version)
    return types


def _kind_of(schema: pa.Schema, name: str, index_version: int) -> ValueType | None:
    arrow = type_at(schema, name)
    return None if arrow is None else value_type(arrow, index_version)


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


def value_type(arrow: pa.DataType, index_version: int) -> ValueType | None:
    """Return the type that a column's bounds have in an index of this version, None when it has no statistics."""
    kind = _value_type(arrow)
    if index_version > 1 or kind is None:
        return kind
    if kind is ValueType.DECIMAL:
        return kind if max(arrow.scale, arrow.precision - arrow.scale) <= _DIGITS_OF_WRAPPER else None
    return None if kind is ValueType.FIXED else kind


def are_micros(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell which timestamps must count microseconds: no year until 9999 has so many milliseconds."""
    return (numbers < _FIRST_MILLIS) | (numbers > _LAST_MILLIS)


def kind_of_record(stats: ColumnStats, today: ValueType) -> ValueType | None:
    """Return the type of the bounds of a record. Those of V1 say LONG for a timestamp, in the unit that its column had then."""
    if stats.index_version > 1 or stats.value_type is not ValueType.LONG or today not in _MICROS:
        return stats.value_type
    bounds = [bound for bound in (stats.minimum, stats.maximum) if isinstance(bound, int)]
    return today if are_micros(np.array(bounds, np.int64)).all() else stats.value_type


def _value_type(arrow: pa.DataType) -> ValueType | None:
    if pa.types.is_decimal(arrow):
        return ValueType.DECIMAL
    if pa.types.is_timestamp(arrow):
        return _TIMESTAMPS.get((arrow.unit, arrow.tz is not None))
    return _TIMES.get(arrow) or next((kind for is_of, kind in _BY_ID.items() if is_of(arrow)), None)


def type_info(arrow: pa.DataType) -> str | None:
    """Return the properties of a type besides its number: precision and scale of decimals."""
    return f"{arrow.precision},{arrow.scale}" if pa.types.is_decimal(arrow) else None
