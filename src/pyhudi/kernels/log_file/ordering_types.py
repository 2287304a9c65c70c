"""Which type an ordering column has in a delete block: the one that Hudi's engine gives the column, else its readers fail.

Rules: `docs/design/0060-log-format.md`; days are numbers of 32 bits there, times numbers of 64.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import UnsupportedError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.schema.field_paths import type_at
from pyhudi.spec.files.delete_record import OrderingType

_TYPES: tuple[tuple[Callable[[pa.DataType], bool], OrderingType], ...] = (
    (pt.is_boolean, OrderingType.BOOLEAN),
    (pt.is_int64, OrderingType.LONG),
    (pt.is_integer, OrderingType.INT),
    (pt.is_float32, OrderingType.FLOAT),
    (pt.is_float64, OrderingType.DOUBLE),
    (pt.is_string, OrderingType.STRING),
    (pt.is_binary, OrderingType.BYTES),
    (pt.is_date, OrderingType.INT),
    (pt.is_decimal, OrderingType.DECIMAL),
    (pt.is_timestamp, OrderingType.LONG),
)


def ordering_types(context: RecordContext) -> tuple[OrderingType, ...]:
    """Return the type of each ordering field on disk.

    Raises:
        UnsupportedError: a field has a type that delete blocks do not know.
    """
    return tuple(_type_of(name, type_at(context.schema, name)) for name in context.ordering_fields)


def _type_of(name: str, kind: pa.DataType | None) -> OrderingType:
    for is_such, result in _TYPES:
        if kind is not None and is_such(kind):
            return result
    raise UnsupportedError(f"Ordering field '{name}' has type {kind}, which a delete in a log file cannot have.")
