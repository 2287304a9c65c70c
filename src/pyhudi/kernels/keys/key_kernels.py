"""Record keys and partition paths of whole tables. The rules on one record: `pyhudi.keygen`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import KeyFieldError
from pyhudi.javacompat.float_text import float_text
from pyhudi.kernels.arrays.array_types import Numbers
from pyhudi.kernels.arrays.timestamp_text import first_rows, local_time_strings, timestamp_strings
from pyhudi.kernels.base_file.meta_column_writer import numbered
from pyhudi.keygen.auto import AutoKeys
from pyhudi.keygen.choose_generator import KeyGenerator
from pyhudi.keygen.fields import FieldKeys
from pyhudi.keygen.key_generator_protocol import EMPTY_PART, NULL_PART, KeyFields, PartitionField, PartitionLayout, bare_key, composite_key
from pyhudi.keygen.user import UserKeys
from pyhudi.schema.evolve import conform_column
from pyhudi.schema.meta_columns import META_COLUMNS, RECORD_KEY
from pyhudi.schema.storable import storable_type

#: Numbers below this are renumbered by a table, greater ones by sorting.
_SORT_FROM = 1 << 20
#: 9999-12-31, in days from 1970 on.
_LAST_OF_FOUR_DIGITS = 2_932_896


def key_columns(rows: pa.Table, generator: KeyGenerator, *, first_row: int = 0) -> tuple[pa.StringArray, pa.DictionaryArray]:
    """Return the record key and the partition path (as a dictionary) of every row.

    Args:
        rows: the data; meta columns are not looked at.
        generator: the table's, see `pyhudi.keygen.choose_generator`.
        first_row: number of the first row within the task.

    Raises:
        KeyFieldError: a field is missing, a key is null or empty, or a partition value makes no path; names field and
        row.
    """
    if isinstance(generator, UserKeys):
        return _of_records(rows, generator, first_row)
    return keys_of(rows, generator, first_row), partition_paths(rows, generator.layout, first_row)


def keys_of(rows: pa.Table, generator: FieldKeys | AutoKeys, first_row: int = 0) -> pa.StringArray:
    """Return the record key of every row, of a generator that is not the user's own; see `key_columns`."""
    if isinstance(generator, AutoKeys):
        return numbered(generator.prefix, first_row, rows.num_rows)
    return record_keys(rows, generator.key, first_row)


def _of_records(rows: pa.Table, generator: UserKeys, first_row: int) -> tuple[pa.StringArray, pa.DictionaryArray]:
    records = list(enumerate(without_meta(rows).to_pylist(), first_row))
    keys = pa.array([generator.key_of(record, row=row) for row, record in records], pa.string())
    return keys, pa.array([generator.path_of(record, row=row) for row, record in records], pa.string()).dictionary_encode()


def without_meta(rows: pa.Table) -> pa.Table:
    """Leave out the meta columns."""
    return rows.drop_columns([name for name in rows.column_names if name in META_COLUMNS])


def column_text(column: pa.ChunkedArray, field: str, *, timestamps_as_text: bool = False) -> pa.StringArray:
    """Return the strings of a column's values as they are in keys; null stays null.

    Raises:
        KeyFieldError: the column's type has no text.
    """
    plain = conform_column(column, storable_type(column.type, field), field).combine_chunks()
    kind = plain.type
    if pt.is_string(kind):
        return plain
    if pt.is_timestamp(kind):
        if timestamps_as_text and kind.tz is not None:
            return local_time_strings(plain)
        return pc.cast(pc.cast(plain, pa.int64()), pa.string())
    if pt.is_binary(kind):
        return _format_distinct(plain, bytes.hex)
    if pt.is_floating(kind):
        return _format_floats(plain)
    if pt.is_date(kind):
        return _format_dates(plain)
    if pt.is_boolean(kind) or pt.is_integer(kind) or pt.is_decimal(kind) or pt.is_null(kind):
        return pc.cast(plain, pa.string())
    raise KeyFieldError(f"Field '{field}' has type {kind}, which cannot be part of a record key or partition path.")


def _format_dates(dates: pa.Array) -> pa.StringArray:
    """Return dates as `java.time.LocalDate` prints them: Arrow leaves out the sign of years with more than four digits."""
    text, days = pc.cast(dates, pa.string()), dates.cast(pa.int32())
    if (pc.max(days).as_py() or 0) <= _LAST_OF_FOUR_DIGITS:
        return text
    return pc.if_else(pc.greater(days, _LAST_OF_FOUR_DIGITS), pc.binary_join_element_wise("+", text, ""), text)


def field_column(rows: pa.Table, field: str) -> pa.ChunkedArray:
    """Return a column by name; a dotted name goes into structs.

    Raises:
        KeyFieldError: there is no such column.
    """
    if field in rows.schema.names:
        return rows.column(field)
    head, *path = field.split(".")
    matches = [name for name in rows.schema.names if name.lower() in (field.lower(), head.lower())]
    if not matches:
        raise KeyFieldError(f"Field '{field}' is not in the data; its columns are {', '.join(rows.schema.names)}.")
    column = rows.column(matches[0])
    if matches[0].lower() == field.lower():
        return column
    try:
        return pc.struct_field(column, path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, KeyError) as error:
        raise KeyFieldError(f"Field '{field}' is not in the data: column '{head}' is {column.type}.") from error


def with_computed_keys(rows: pa.Table, key: KeyFields | None) -> pa.Table:
    """Return rows read from a file with their record keys, which tables with virtual keys do not store; None: they are there."""
    if key is None:
        return rows
    index = rows.schema.get_field_index(RECORD_KEY)
    return rows.set_column(index, pa.field(RECORD_KEY, pa.string()), record_keys(rows, key))


def record_keys(rows: pa.Table, key: KeyFields, first_row: int = 0) -> pa.StringArray:
    """Return the record key of every row.

    Raises:
        KeyFieldError: a field is missing, or a key is null or empty; names field and row.
    """
    fields = key.key_fields
    strings = [column_text(field_column(rows, field), field, timestamps_as_text=key.timestamps_as_text) for field in fields]
    if not key.is_composite:
        if _has_blank(strings[0]):
            row = int(np.argmax(_is_blank(strings[0])))
            bare_key(fields[0], strings[0][row].as_py(), row=first_row + row)
        return strings[0]
    blank = [_is_blank(text) for text in strings]
    all_blank = np.logical_and.reduce(blank)
    if all_blank.any():
        row = int(np.argmax(all_blank))
        composite_key(fields, [text[row].as_py() for text in strings], row=first_row + row)
    parts: list[pa.StringArray | str] = []
    for index, (field, text, some_blank) in enumerate(zip(fields, strings, blank, strict=True)):
        parts.extend([f"{',' if index else ''}{field}:", _without_blanks(text) if some_blank.any() else text])
    return pc.binary_join_element_wise(*parts, "")


def partition_paths(rows: pa.Table, layout: PartitionLayout, first_row: int = 0) -> pa.DictionaryArray:
    """Return the partition path of every row.

    Raises:
        KeyFieldError: a field is missing, or a value makes no path; names field and row.
    """
    if not layout.fields:
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows.num_rows, np.int32)), pa.array([""], pa.string()))
    encoded = [_distinct(field_column(rows, field.name), field, first_row) for field in layout.fields]
    combined, count = encoded[0][0], len(encoded[0][1])
    for codes, strings in encoded[1:]:
        combined, count = _dense(combined * len(strings) + codes, count * len(strings))
    combined, count = _dense(combined, count)
    paths = [
        _check_path(layout, [strings[codes[row]] for codes, strings in encoded], first_row + row) for row in first_rows(combined, count)
    ]
    return pa.DictionaryArray.from_arrays(pa.array(combined.astype(np.int32)), pa.array(paths, pa.string()))


def _check_path(layout: PartitionLayout, values: Sequence[str | None], row: int) -> str:
    try:
        return layout.path(values)
    except KeyFieldError as error:
        fields = ", ".join(f"{field}={value!r}" for field, value in zip(layout.names, values, strict=True))
        raise KeyFieldError(f"Row {row} ({fields}) makes no partition path: {error}") from error


def _distinct(column: pa.ChunkedArray, field: PartitionField, first_row: int) -> tuple[Numbers, list[str | None]]:
    """Numbers of the rows and the text of each code."""
    if pt.is_dictionary(column.type) or field.timestamp is not None:
        column = conform_column(column, storable_type(column.type, field.name), field.name)
    if field.timestamp is not None:
        return timestamp_strings(column.combine_chunks(), field.timestamp, field.name, first_row)
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    distinct = pa.chunked_array([encoded.dictionary])
    strings = column_text(distinct, field.name, timestamps_as_text=field.timestamps_as_text).to_pylist()
    return encoded.indices.to_numpy().astype(np.int64), strings


def _dense(codes: Numbers, limit: int) -> tuple[Numbers, int]:
    """Return codes below `limit` renumbered without gaps, and how many there are."""
    if limit > _SORT_FROM:
        distinct, numbers = np.unique(codes, return_inverse=True)
        return numbers, len(distinct)
    used = np.zeros(limit, bool)
    used[codes] = True
    return (np.cumsum(used) - 1)[codes], int(used.sum())


def _is_blank(strings: pa.StringArray) -> npt.NDArray[np.bool_]:
    empty = pc.equal(pc.binary_length(strings), 0)
    blank: npt.NDArray[np.bool_] = pc.fill_null(empty, True).to_numpy(zero_copy_only=False)
    return blank


def _has_blank(strings: pa.StringArray) -> bool:
    return bool(strings.null_count) or bool(pc.equal(pc.min(pc.binary_length(strings)), 0).as_py())


def _without_blanks(strings: pa.StringArray) -> pa.StringArray:
    named = pc.if_else(pc.equal(pc.binary_length(strings), 0), EMPTY_PART, strings)
    return pc.fill_null(named, NULL_PART)


def _format_floats(values: pa.Array) -> pa.StringArray:
    single = pt.is_float32(values.type)
    return _format_distinct(values, lambda value: float_text(value, single_precision=single))


def _format_distinct(values: pa.Array, text: Callable[[Any], str]) -> pa.StringArray:
    encoded = values.dictionary_encode()
    return pa.array([text(value) for value in encoded.dictionary.to_pylist()], pa.string()).take(encoded.indices)
