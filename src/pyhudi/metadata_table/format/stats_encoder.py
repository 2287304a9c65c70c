"""Records of column statistics to their Avro bytes without fastavro, whose search through the union of bounds takes most of its time.

Rules: Avro 1.11 specification, "Binary Encoding"; docs/format/metadata-table.md#metadata-record. What a table's schema has decides on the
layout; wrappers of bounds that few records have are left to `record_encoder`, which encodes all records and says the same.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any, Final

from pyhudi.codec.varint import prefix_length, write_varint
from pyhudi.metadata_table.format.column_bound import encode_bound
from pyhudi.metadata_table.format.record import ColumnStats, ValueType

_STATS: Final = "ColumnStatsMetadata"
_NONE, _SOME = b"\x00", b"\x02"
_FLAGS: Final = (b"\x00", b"\x01")
_WRITERS: Final[dict[str, Callable[[Any], bytes]]] = {
    "BooleanWrapper": lambda value: _FLAGS[bool(value)],
    "IntWrapper": write_varint,
    "LongWrapper": write_varint,
    "FloatWrapper": struct.Struct("<f").pack,
    "DoubleWrapper": struct.Struct("<d").pack,
    "BytesWrapper": prefix_length,
    "StringWrapper": lambda value: prefix_length(value.encode()),
}


class StatsEncoder:
    """Encodes what follows the names in a record of column statistics; `schema` is that of the file's records."""

    def __init__(self, schema: str, *, has_types: bool) -> None:
        fields: list[Any] = json.loads(schema)["fields"]
        at = next(index for index, field in enumerate(fields) if field["name"] == _STATS)
        stats = {field["name"]: field["type"] for field in fields[at]["type"][1]["fields"]}
        self._has_types = has_types
        #: The kinds of content that come after the statistics are not there.
        self._behind = _NONE * (len(fields) - at - 1)
        self._branches: dict[str, tuple[bytes, Callable[[Any], bytes]]] = {
            branch["name"]: (write_varint(number), _WRITERS[branch["name"]])
            for number, branch in enumerate(stats["minValue"])
            if number and branch["name"] in _WRITERS
        }

    def rest(self, stats: ColumnStats) -> bytes | None:
        """Return the bytes after the names; None when a bound is in a wrapper that is not served here."""
        with_type = self._has_types and stats.index_version > 1
        low, high = self._bound(stats, stats.minimum, with_type=with_type), self._bound(stats, stats.maximum, with_type=with_type)
        if low is None or high is None:
            return None
        counts = (stats.value_count, stats.null_count, stats.total_size, stats.total_uncompressed_size)
        parts = [low, high, *(_NONE if count is None else _SOME + write_varint(count) for count in counts), _FLAGS[stats.is_deleted]]
        parts += [_FLAGS[stats.is_tight_bound], _type_of(stats) if with_type and not stats.is_deleted else _NONE]
        return b"".join((*parts, self._behind))

    def _bound(self, stats: ColumnStats, value: object, *, with_type: bool) -> bytes | None:
        wrapped = encode_bound(value, stats.value_type, stats.type_info, with_type=with_type)
        if wrapped is None:
            return _NONE
        branch = self._branches.get(wrapped[0].rpartition(".")[2])
        return None if branch is None else branch[0] + branch[1](wrapped[1]["value"])


def _type_of(stats: ColumnStats) -> bytes:
    kind = ValueType.NULL if stats.value_type is None else stats.value_type
    info = _NONE if stats.type_info is None else _SOME + prefix_length(stats.type_info.encode())
    return _SOME + write_varint(int(kind)) + info
