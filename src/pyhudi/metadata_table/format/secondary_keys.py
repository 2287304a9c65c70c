"""Keys of a secondary index, column by column; `keys.secondary_key` states the rule for one.

Rules: `SecondaryIndexKeyUtils`, `HoodieIndexUtils.validateDataTypeForSecondaryIndex`; docs/format/metadata-table.md#secondary-index-entry.
A value is in a key as the text of what Avro holds: a date is the number of its day, a timestamp that of its micro- or milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.kernels.keys.key_kernels import column_text, field_column
from pyhudi.schema.meta_columns import RECORD_KEY

_NULL, _SEPARATOR, _ESCAPE = "\0", "$", "\\"


@dataclass(frozen=True, slots=True)
class SecondaryKeys:
    """Keys of an index, and how each begins: with the value and the separator."""

    keys: pa.StringArray
    prefixes: pa.StringArray


def is_servable(kind: pa.DataType) -> bool:
    """Tell whether a secondary index can be made of a column of this type."""
    return bool(pt.is_string(kind) or pt.is_integer(kind) or pt.is_floating(kind) or pt.is_date(kind) or pt.is_timestamp(kind))


def same_strings(old: pa.DataType, new: pa.DataType) -> bool:
    """Tell whether values of a column have the same texts once it has another type."""
    return bool(old == new or (pt.is_integer(old) and (pt.is_integer(new) or pt.is_string(new))))


def secondary_keys(rows: pa.Table, field: str) -> SecondaryKeys:
    """Return the keys for rows that have their record key and a column, whose name may go into structs with dots."""
    values = value_strings(field_column(rows, field), field)
    prefixes = pc.binary_join_element_wise(pc.fill_null(_escape(values), _NULL), _SEPARATOR, "")
    records = _escape(rows.column(RECORD_KEY).combine_chunks())
    return SecondaryKeys(pc.binary_join_element_wise(prefixes, records, ""), prefixes)


def value_strings(column: pa.ChunkedArray, field: str) -> pa.StringArray:
    """Return the values of a column as texts, as the index holds them; null stays null."""
    return column_text(column.cast(pa.int32()) if pt.is_date32(column.type) else column, field)


def _escape(strings: pa.StringArray) -> pa.StringArray:
    for character in (_ESCAPE, _SEPARATOR, _NULL):
        if pc.any(pc.match_substring(strings, character)).as_py():
            strings = pc.replace_substring(strings, character, _ESCAPE + character)
    return strings
