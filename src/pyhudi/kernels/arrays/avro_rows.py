"""Rows of Avro data blocks to and from Arrow, by the schema in the block's header.

Rules: Avro 1.11 specification, "Data Serialization"; docs/format/log-files.md#avro-data-block. fastavro decodes many records with one call:
the length before each record is read as the first field of a record around it. Logical types at the top of a row stay the
numbers and bytes that they are on disk, and become Arrow's types a column at a time.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from pyhudi.codec.avro.avro_record import parse_avro_schema
from pyhudi.codec.log.log_content import avro_records
from pyhudi.codec.log.ordering_decode import decimal_of
from pyhudi.codec.varint import write_varint
from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.arrays.avro_column_decode import ColumnDecoder, column_plan
from pyhudi.kernels.arrays.avro_column_encode import encode_columns
from pyhudi.schema.avro_arrow import avro_to_arrow

Json: TypeAlias = Any

_RECORDS_AT_ONCE = 1 << 14
_LENGTH = struct.Struct(">i")
_FRAME = "_pyhudi_length"
_ROW = "_pyhudi_row"
#: What fastavro raises for bytes that do not follow their schema.
_DECODING_ERRORS = (EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the rows of one schema are decoded: an array of records with their lengths, as which Arrow columns."""

    frame_content: Json
    schema: pa.Schema


def decode(content: bytes, writer_schema: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the rows of an Avro data block in pieces, with the types of the writer's schema.

    Args:
        content: the block's content.
        writer_schema: Avro JSON of the block's header.
        columns: names of the columns to return; those that the writer's schema does not have are left out.

    Raises:
        CorruptTableError: content or schema are damaged.
        UnsupportedError: the schema holds a union of several types.
    """
    parse_avro_schema(writer_schema)
    records = avro_records(content)
    by_column = column_plan(writer_schema)
    if by_column is not None:
        starts = np.array(records.starts)
        for first in range(0, len(records), _RECORDS_AT_ONCE):
            bounds = starts[first : first + _RECORDS_AT_ONCE + 1]
            yield ColumnDecoder(by_column, content, bounds[:-1], bounds[1:] - _LENGTH.size).decode(columns)
        return
    plan = _plan(writer_schema)
    fields = [field for field in plan.schema if field.name in columns]
    for start in range(0, len(records), _RECORDS_AT_ONCE):
        end = min(start + _RECORDS_AT_ONCE, len(records))
        rows = _rows(records.frame_content(start, end), [len(records[index]) for index in range(start, end)], plan.frame_content)
        yield (
            pa.Table.from_arrays([_column(rows, field) for field in fields], schema=pa.schema(fields)) if fields else _without_columns(rows)
        )


def encode(rows: pa.Table, writer_schema: str) -> list[bytes]:
    """Return one Avro datum for each row.

    Args:
        rows: the columns of the schema, found by name; one that is missing is null. Dictionaries are taken for their values.
        writer_schema: Avro JSON of a record.

    Raises:
        SchemaError: a value does not fit its column.
    """
    schema = parse_avro_schema(writer_schema)
    by_column = column_plan(writer_schema)
    if by_column is not None and not any(pt.is_decimal(field.field.type) and field.kind == "bytes" for field in by_column.fields):
        return list(encode_columns(rows, by_column))
    plain = pa.table([column.cast(plain_type(column.type)) for column in rows.columns], rows.column_names)
    sink = io.BytesIO()
    ends = [0]
    try:
        for row in plain.to_pylist(maps_as_pydicts="strict"):
            fastavro.schemaless_writer(sink, schema, row)
            ends.append(sink.tell())
    except (ValueError, TypeError, OverflowError, AttributeError, struct.error) as error:
        raise SchemaError(f"Row {len(ends) - 1} cannot be written to a log file: {error}") from error
    data = sink.getvalue()
    return [data[begin:end] for begin, end in itertools.pairwise(ends)]


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type under which values cross to Python: numbers for dates and times, at any depth; text for dictionaries."""
    if pt.is_dictionary(kind):
        return kind.value_type
    if pt.is_date32(kind) or pt.is_time32(kind):
        return pa.int32()
    if pt.is_timestamp(kind) or pt.is_time64(kind):
        return pa.int64()
    if pt.is_struct(kind):
        return pa.struct([field.with_type(plain_type(field.type)) for field in kind])
    if pt.is_list(kind):
        return pa.list_(kind.value_field.with_type(plain_type(kind.value_type)))
    if pt.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(plain_type(kind.item_type)))
    return kind


@functools.lru_cache(maxsize=64)
def _plan(writer_schema: str) -> _Plan:
    parse_avro_schema(writer_schema)
    schema = avro_to_arrow(writer_schema)
    record = json.loads(writer_schema)
    plain = {**record, "fields": [{**field, "type": _physical(field["type"])} for field in record["fields"]]}
    length = {"name": _FRAME, "type": {"type": "fixed", "name": f"{_FRAME}_t", "size": _LENGTH.size}}
    frame_content = {"type": "record", "name": f"{_FRAME}_{_ROW}", "fields": [length, {"name": _ROW, "type": plain}]}
    return _Plan(fastavro.parse_schema({"type": "array", "items": frame_content}, _write_hint=False), schema)


def _physical(avro: Json) -> Json:
    """Return a field's type without the logical type at its top."""
    if isinstance(avro, list):
        return [_physical(branch) for branch in avro]
    if isinstance(avro, dict):
        return {name: value for name, value in avro.items() if name != "logicalType"}
    return avro


def _rows(frame_content: memoryview, lengths: Sequence[int], schema: Json) -> list[dict[str, Any]]:
    source = io.BytesIO(b"".join((write_varint(len(lengths)), frame_content, b"\x00")))
    try:
        rows = fastavro.schemaless_reader(source, schema, None)
    except _DECODING_ERRORS as error:
        raise CorruptTableError(f"the records of an Avro block do not follow its schema ({type(error).__name__}: {error})") from None
    if not isinstance(rows, list) or [_LENGTH.unpack(row[_FRAME])[0] for row in rows] != lengths or source.read(1):
        raise CorruptTableError("the records of an Avro block do not have the lengths before them")
    return [row[_ROW] for row in rows]


def _column(rows: Sequence[dict[str, Any]], field: pa.Field) -> pa.Array:
    name, kind = field.name, field.type
    values = [row[name] for row in rows]
    try:
        if pt.is_decimal(kind):
            return pa.array([None if raw is None else decimal_of(raw, kind.scale) for raw in values], kind)
        if pt.is_temporal(kind):
            return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeError) as error:
        raise CorruptTableError(f"column '{name}' of an Avro block holds what is not {kind}: {error}") from error


def _without_columns(rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.table({_ROW: pa.nulls(len(rows))}).select([])
