"""Statistics of one column from the metadata table, as arrays of the type that the column has today.

What cannot be said of today's type is null: bounds of another kind (numbers of a column that is text now), NaN, strings whose
order is in doubt. Java orders strings by UTF-16 units, Parquet and Spark by UTF-8 bytes; the two agree on a bound that has no
character from U+E000 on, whatever the values are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from pyhudi.codec.hfile import CellPart
from pyhudi.kernels.arrays.array_types import Mask, Numbers
from pyhudi.metadata_table.format.column_types import are_micros
from pyhudi.metadata_table.format.record import ColumnStats, ValueType
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.read.raw_cells import StoredCells
from pyhudi.metadata_table.read.stats_columns import ManyValuedBound, RawBounds, StatsColumns, decode_stats, layout_of
from pyhudi.schema.float_columns import as_doubles
from pyhudi.spec.table.table_version import TableVersion

#: Tells from the rows of records and the names in them which entries of the result they are about; -1 is none of them.
FileIndexLookup = Callable[[Sequence[bytes], Sequence[bytes]], list[int]]

_WHOLE: Final = frozenset({"IntWrapper", "LongWrapper", "DateWrapper", "LocalDateWrapper", "TimeMicrosWrapper", "TimestampMicrosWrapper"})
_BY_WRAPPER: Final[Mapping[str, ValueType]] = {
    "BooleanWrapper": ValueType.BOOLEAN,
    "IntWrapper": ValueType.LONG,
    "LongWrapper": ValueType.LONG,
    "FloatWrapper": ValueType.FLOAT,
    "DoubleWrapper": ValueType.DOUBLE,
    "StringWrapper": ValueType.STRING,
    "DateWrapper": ValueType.DATE,
    "LocalDateWrapper": ValueType.DATE,
    "DecimalWrapper": ValueType.DECIMAL,
    "TimeMicrosWrapper": ValueType.TIME_MICROS,
    "TimestampMicrosWrapper": ValueType.TIMESTAMP_MICROS,
}
_UNITS: Final = {
    ValueType.TIMESTAMP_MILLIS: "ms",
    ValueType.LOCAL_TIMESTAMP_MILLIS: "ms",
    ValueType.TIMESTAMP_MICROS: "us",
    ValueType.LOCAL_TIMESTAMP_MICROS: "us",
}
#: Of `DecimalWrapper`.
_SCALE_OF_WRAPPER: Final = 15
#: Lead bytes of characters from U+E000 on.
_UNORDERED: Final = re.compile(rb"[\xee-\xff]")
_DECIMAL_DIGITS: Final = 38


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """What is known of a column, one entry for each file; `low` and `high` have its type, null for nothing known.

    `has_values` is False where all values are null, `has_nulls` where none is. `rows` is the number of values, nulls
    included, -1 where it is not known. `is_tight` is True where the bounds are of all files of a partition.
    """

    low: pa.Array
    high: pa.Array
    has_values: Mask
    has_nulls: Mask
    rows: Numbers
    is_tight: Mask


def read_bounds(cells: Iterable[StoredCells], index_of: FileIndexLookup, count: int, arrow_type: pa.DataType, what: str) -> ColumnBounds:
    """Return what records of column (or partition) statistics say, for `count` files.

    Args:
        cells: the records as they are stored, of one column.
        index_of: which file a record is about.
        count: how many files there are.
        arrow_type: of the column, in the table.
        what: names the metadata table's partition in errors.

    Raises:
        CorruptTableError: a record is damaged.
    """
    collected = _BoundsCollector(count, arrow_type)
    for stored in cells:
        for rows, stats in _decode_stats(stored, what):
            collected.add(rows, stats, index_of)
    return collected.bounds()


def _decode_stats(stored: StoredCells, what: str) -> Iterable[tuple[Sequence[bytes], StatsColumns]]:
    layout = layout_of(stored.schema)
    if layout is not None:
        try:
            yield stored.part.rows, decode_stats(stored.part, layout, what)
        except ManyValuedBound:
            pass
        else:
            return
    yield from _one_by_one(stored, what)


def _one_by_one(stored: StoredCells, what: str) -> Iterable[tuple[list[bytes], StatsColumns]]:
    """Bring records of another layout into one of ours."""
    decoder = RecordDecoder(stored.schema, what)
    encoder = RecordEncoder(TableVersion.EIGHT)
    layout = layout_of(encoder.file_schema)
    assert layout is not None
    for row, value in stored.part.cells():
        record = decoder.decode(value)
        if isinstance(record, ColumnStats):
            yield [row], decode_stats(CellPart.of([(row, encoder.encode(record))]), layout, what)


class _BoundsCollector:
    """Gathers records that may be of several kinds, each for the place of its file."""

    def __init__(self, count: int, arrow_type: pa.DataType) -> None:
        self._type = arrow_type
        self._low: list[tuple[Numbers, pa.Array]] = []
        self._high: list[tuple[Numbers, pa.Array]] = []
        self._has_values = np.ones(count, dtype=bool)
        self._has_nulls = np.ones(count, dtype=bool)
        self._rows = np.full(count, -1)
        self._is_tight = np.zeros(count, dtype=bool)

    def add(self, rows: Sequence[bytes], stats: StatsColumns, index_of: FileIndexLookup) -> None:
        row_indices = np.array(index_of(rows, stats.names()), np.int64)
        entries = np.flatnonzero((row_indices >= 0) & ~stats.is_deleted)
        indices = row_indices[entries]
        values, nulls = stats.value_counts[entries], stats.null_counts[entries]
        is_bare = (stats.low.branch[entries] == 0) & (stats.high.branch[entries] == 0)
        self._has_values[indices] = ~(is_bare & (values > 0) & (values == nulls))
        self._has_nulls[indices] = nulls != 0
        self._rows[indices] = values
        self._is_tight[indices] = stats.is_tight[entries]
        for raw, into in ((stats.low, self._low), (stats.high, self._high)):
            into.extend(_cast_bounds(stats, raw, entries, indices, self._type))

    def bounds(self) -> ColumnBounds:
        low, high = (self._scatter(parts) for parts in (self._low, self._high))
        return ColumnBounds(low, high, self._has_values, self._has_nulls, self._rows, self._is_tight)

    def _scatter(self, parts: list[tuple[Numbers, pa.Array]]) -> pa.Array:
        """Return the parts, each value at its place, null elsewhere."""
        order = np.full(len(self._rows), -1)
        begin = 0
        for indices, array in parts:
            order[indices] = np.arange(begin, begin + len(array))
            begin += len(array)
        if not begin:
            return pa.nulls(len(self._rows), self._type)
        joined = pa.concat_arrays([array for _, array in parts])
        return joined.take(pa.array(order, mask=order < 0))


def _cast_bounds(
    stats: StatsColumns, raw: RawBounds, entries: Numbers, indices: Numbers, arrow_type: pa.DataType
) -> Iterable[tuple[Numbers, pa.Array]]:
    """Yield the bounds that can be had in the type, with their places: those of one kind and wrapper together."""
    signs = raw.branch[entries] * 1_000 + stats.kinds[entries]
    for sign in np.unique(signs):
        chosen = entries[signs == sign]
        branch = int(raw.branch[chosen[0]])
        if branch == 0:
            continue
        wrapper, named = stats.layout.wrappers[branch - 1], int(stats.kinds[chosen[0]])
        is_typed = named > ValueType.NULL and named in ValueType._value2member_map_
        kind = ValueType(named) if is_typed else _BY_WRAPPER.get(wrapper)
        if not is_typed and wrapper == "LongWrapper" and pt.is_timestamp(arrow_type):
            array = _of_timestamps(raw.numbers[chosen], arrow_type)
        else:
            array = None if kind is None else _array(stats, raw, chosen, kind, wrapper, arrow_type)
        if array is not None:
            yield indices[signs == sign], array


def _array(stats: StatsColumns, raw: RawBounds, chosen: Numbers, kind: ValueType, wrapper: str, arrow_type: pa.DataType) -> pa.Array | None:
    try:
        if wrapper in _WHOLE:
            return _of_whole(raw.numbers[chosen], kind, arrow_type)
        if kind is ValueType.BOOLEAN and wrapper == "BooleanWrapper" and pt.is_boolean(arrow_type):
            return pa.array(raw.numbers[chosen] != 0)
        if wrapper in ("FloatWrapper", "DoubleWrapper") and pt.is_floating(arrow_type):
            return _float_bounds(raw.numbers[chosen], wrapper, arrow_type)
        if wrapper == "StringWrapper" and kind is ValueType.STRING and pt.is_string(arrow_type):
            return _string_bounds(stats, raw, chosen)
        if wrapper in ("BytesWrapper", "DecimalWrapper") and kind is ValueType.DECIMAL and pt.is_decimal(arrow_type):
            return _of_decimals(stats, raw, chosen, wrapper, arrow_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, IndexError):
        return None  # not to be had in today's type
    return None


def _of_whole(numbers: Numbers, kind: ValueType, arrow_type: pa.DataType) -> pa.Array | None:
    array = pa.array(numbers, pa.int64())
    if kind in (ValueType.INT, ValueType.LONG):
        fits = pt.is_integer(arrow_type) or pt.is_floating(arrow_type) or pt.is_decimal(arrow_type)
        return array.cast(arrow_type, safe=not pt.is_floating(arrow_type)) if fits else None
    if kind is ValueType.DATE:
        return array.cast(pa.int32()).cast(pa.date32()) if pt.is_date32(arrow_type) else None
    if kind in _UNITS and pt.is_timestamp(arrow_type):
        return array.cast(pa.timestamp(_UNITS[kind], arrow_type.tz)).cast(arrow_type, safe=False)
    if kind is ValueType.TIME_MILLIS and pt.is_time32(arrow_type):
        return array.cast(pa.int32()).cast(pa.time32("ms")).cast(arrow_type)
    if kind is ValueType.TIME_MICROS and pt.is_time64(arrow_type):
        return array.cast(pa.time64("us")).cast(arrow_type)
    return None


def _of_timestamps(numbers: Numbers, arrow_type: pa.DataType) -> pa.Array | None:
    """Return timestamps of indexes of V1, which do not tell their unit: the column may have counted milliseconds when they were made."""
    if arrow_type.unit != "us":
        return None
    return pa.array(numbers, pa.int64(), mask=~are_micros(numbers)).cast(arrow_type)


def _float_bounds(bits: Numbers, wrapper: str, arrow_type: pa.DataType) -> pa.Array | None:
    if wrapper == "DoubleWrapper" and arrow_type.bit_width < 64:
        return None
    values = bits.view("<f8") if wrapper == "DoubleWrapper" else bits.astype("<i4").view("<f4")
    # Infinity is what stands for NaN, too: see `widest_bounds`.
    array = pa.array(values, mask=~np.isfinite(values))
    return as_doubles(array) if wrapper == "FloatWrapper" and pt.is_float64(arrow_type) else array.cast(arrow_type)


def _string_bounds(stats: StatsColumns, raw: RawBounds, chosen: Numbers) -> pa.Array:
    strings: list[bytes | None] = [stats.data[start : start + size] for start, size in _spans(raw, chosen)]
    if _UNORDERED.search(b"".join(text for text in strings if text)):
        strings = [None if text is None or _UNORDERED.search(text) else text for text in strings]
    return pa.array(strings, pa.binary()).cast(pa.string())


def _of_decimals(stats: StatsColumns, raw: RawBounds, chosen: Numbers, wrapper: str, arrow_type: pa.DataType) -> pa.Array | None:
    infos = [(int(stats.info_starts[n]), int(stats.info_sizes[n])) for n in chosen]
    values: list[Decimal] = []
    scale = arrow_type.scale
    for (start, size), (info_start, info_size) in zip(_spans(raw, chosen), infos, strict=True):
        stored = _SCALE_OF_WRAPPER if wrapper == "DecimalWrapper" else int(stats.data[info_start : info_start + info_size].split(b",")[1])
        if wrapper == "DecimalWrapper" and scale > _SCALE_OF_WRAPPER:
            return None  # such values were rounded when they were wrapped
        number = int.from_bytes(stats.data[start : start + size], "big", signed=True)
        values.append(Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -stored)))
    widest = max((-int(value.as_tuple().exponent) for value in values), default=0)
    return pa.array(values, pa.decimal128(_DECIMAL_DIGITS, max(widest, scale))).cast(arrow_type)


def _spans(raw: RawBounds, chosen: Numbers) -> Iterable[tuple[int, int]]:
    return zip(raw.numbers[chosen].tolist(), raw.sizes[chosen].tolist(), strict=True)
