"""Rows as Avro datums, one after the other, as the Avro blocks of log files hold them.

Rules: Avro specification, "Binary encoding"; fastavro does the work. Dates and times cross as the numbers they are stored as, so that no
value is beyond what Python's own types can hold.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import pairwise

import fastavro
import pyarrow as pa
import pyarrow.types as pt


def encode_rows(rows: pa.Table, avro_json: str) -> Iterator[bytes]:
    """Yield each row as a datum of the schema, whose fields are columns of `rows`."""
    record = json.loads(avro_json)
    schema = fastavro.parse_schema(record)
    names = [field["name"] for field in record["fields"]]
    sink, ends = io.BytesIO(), [0]
    for batch in rows.select(names).to_batches():
        plain = pa.RecordBatch.from_arrays([column.cast(_plain(column.type)) for column in batch.columns], names=names)
        for row in plain.to_pylist(maps_as_pydicts="strict"):
            fastavro.schemaless_writer(sink, schema, row)
            ends.append(sink.tell())
    whole = sink.getbuffer()
    return (bytes(whole[start:end]) for start, end in pairwise(ends))


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type under which values cross: numbers for dates and times, at any depth; text for dictionaries."""
    if pt.is_dictionary(kind):
        return kind.value_type
    if pt.is_date32(kind) or pt.is_time32(kind):
        return pa.int32()
    if pt.is_timestamp(kind) or pt.is_time64(kind):
        return pa.int64()
    if pt.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    if pt.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pt.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(_plain(kind.item_type)))
    return kind
