"""Rows as JSON strings, one object a row: the images of change data.

Rules: the forms that Apache Hudi 1.2.0 gives, where it gives them without loss (docs/design/0081-change-data-and-streams.md): no
spaces, columns in the order of the table, nulls included, meta columns left out.
"""

from __future__ import annotations

import base64
import functools
import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.kernels.arrays.avro_rows import plain_type
from pyhudi.schema.meta_columns import is_meta_column

_ToText: TypeAlias = Callable[[Any], str]
_quoted = json.encoder.encode_basestring


def json_rows(rows: pa.Table | pa.RecordBatch) -> pa.StringArray:
    """Return one JSON object for each row, of its data columns.

    Example:
        >>> json_rows(pa.table({"id": [1], "name": ["a"]})).to_pylist()
        ['{"id":1,"name":"a"}']
    """
    names = [name for name in rows.schema.names if not is_meta_column(name)]
    if not names:
        return pa.array(["{}"] * rows.num_rows, pa.string())
    pattern = "{" + ",".join(_quoted(name).replace("%", "%%") + ":%s" for name in names) + "}"
    columns = [_strings(rows.column(name)) for name in names]
    return pa.array([pattern % row for row in zip(*columns, strict=True)], pa.string())


def _strings(column: pa.ChunkedArray | pa.Array) -> Sequence[str]:
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    plain = column.cast(plain_type(kind)) if plain_type(kind) != column.type else column
    to_text = _writer(kind)
    return ["null" if value is None else to_text(value) for value in plain.to_pylist()]


@functools.lru_cache(maxsize=256)
def _writer(kind: pa.DataType) -> _ToText:
    """Return what makes the text of a value that is not null."""
    if pt.is_boolean(kind):
        return lambda value: "true" if value else "false"
    if pt.is_string(kind):
        return _quoted
    if pt.is_floating(kind):
        return _real
    if pt.is_decimal(kind):
        return lambda value: f"{value:f}"
    if pt.is_binary(kind):
        return lambda value: f'"{base64.b64encode(value).decode()}"'
    if pt.is_list(kind):
        item = _or_null(_writer(kind.value_type))
        return lambda values: f"[{','.join(map(item, values))}]"
    if pt.is_map(kind):
        value_text = _or_null(_writer(kind.item_type))
        return lambda entries: "{" + ",".join(f"{_quoted(key)}:{value_text(value)}" for key, value in entries) + "}"
    if pt.is_struct(kind):
        fields = [(field.name, _quoted(field.name), _or_null(_writer(field.type))) for field in kind]
        return lambda value: "{" + ",".join(f"{quoted}:{text(value[name])}" for name, quoted, text in fields) + "}"
    return str


def _or_null(to_text: _ToText) -> _ToText:
    return lambda value: "null" if value is None else to_text(value)


def _real(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    # JSON has no such numbers; Jackson writes them as strings.
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
