"""Keys of the metadata table's records, and which file group holds a key.

Rules: `HoodieMetadataPayload`, `HoodieTableMetadataUtil`, `SecondaryIndexKeyUtils`; docs/format/metadata-table.md#keys-of-metadata-records,
#secondary-index-entry, #key-to-file-group. Names are hashed into keys: a column or partition into 12 characters, a file into 24.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import operator
import sys
from array import array
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.codec.xxhash import xxh64
from pyhudi.kernels.keys.key_kernels import column_text, field_column
from pyhudi.schema.meta_columns import RECORD_KEY

#: Key of the record that lists all partitions.
ALL_PARTITIONS = "__all_partitions__"
#: What a table without partitions calls its one partition; its path is empty.
NO_PARTITION = "."
#: MarkLive in keys of an expression index before the partition whose statistics the record holds.
_PARTITION_STATS_MARK = "__partition_stat__"
_SEED = 0xFFFFFFFFDABADABA
_NULL = "\0"
_SEPARATOR = "$"
_ESCAPE = "\\"
_ESCAPED = str.maketrans({character: _ESCAPE + character for character in (_ESCAPE, _SEPARATOR, _NULL)})
_INT_RANGE = 1 << 32
_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"


def partition_name(path: str) -> str:
    """Return what the metadata table calls a partition path."""
    return path or NO_PARTITION


def partition_path(name: str) -> str:
    """Return the path of a partition that the metadata table calls so."""
    return "" if name == NO_PARTITION else name


def column_stats_key(column: str, path: str, file_name: str) -> str:
    """Return the key of a file's statistics of one column."""
    return column_stats_prefix(column, path) + column_stats_suffix(file_name)


def column_stats_suffix(file_name: str) -> str:
    """Return how the keys of a file's statistics end, whatever the column."""
    return _hash_128(file_name)


def column_stats_prefix(column: str, path: str | None = None) -> str:
    """Return how the keys of a column's statistics begin: in one partition, or in all."""
    return _hash_64(column) + ("" if path is None else _hash_64(partition_name(path)))


def partition_stats_key(column: str, path: str) -> str:
    """Return the key of a partition's statistics of one column."""
    return column_stats_prefix(column, path)


def expression_partition_stats_key(column: str, path: str) -> str:
    """Return the key of a partition's statistics in an expression index."""
    return _hash_64(column) + _hash_64(_PARTITION_STATS_MARK) + _hash_64(partition_name(path))


def bloom_filter_key(path: str, file_name: str) -> str:
    """Return the key of a base file's bloom filter."""
    return _hash_64(partition_name(path)) + _hash_128(file_name)


def secondary_key(value: str | None, record_key: str) -> str:
    """Return the key of a secondary index for a column's value and a record's key."""
    return secondary_prefix(value) + record_key.translate(_ESCAPED)


def secondary_prefix(value: str | None) -> str:
    """Return how the keys of all records with a value begin; None is the null value."""
    return (_NULL if value is None else value.translate(_ESCAPED)) + _SEPARATOR


def secondary_key_prefix(key: str) -> str:
    """Return the part of a secondary index's key that holds the value, with the separator.

    Raises:
        ValueError: it is no such key.
    """
    return key[: _separator(key) + 1]


def split_secondary_key(key: str) -> tuple[str | None, str]:
    """Return the column's value and the record's key of a secondary index's key.

    Raises:
        ValueError: it is no such key.

    Example:
        >>> split_secondary_key("value$key")
        ('value', 'key')
    """
    at = _separator(key)
    value, record_key = key[:at], key[at + 1 :]
    return None if value == _NULL else _unescape(value), _unescape(record_key)


def shard(hashed: str, count: int) -> int:
    """Return the number of the file group, of `count` sorted by file id, that holds a key.

    `hashed` is the whole key, for a secondary index of version 2 the part that `secondary_prefix` gives.
    """
    code = _java_hash(hashed)
    # Java's absolute value of the least number is itself, its remainder keeps the sign.
    remainder = abs(code) % count if code != -(1 << 31) else -((1 << 31) % count)
    return abs(remainder)


def _separator(key: str) -> int:
    at = 0
    while at < len(key):
        if key[at] == _SEPARATOR:
            return at
        at += 2 if key[at] == _ESCAPE else 1
    raise ValueError(f"'{key}' is no key of a secondary index")


def _unescape(text: str) -> str:
    if _ESCAPE not in text:
        return text
    out, at = [], 0
    while at < len(text):
        at += text[at] == _ESCAPE
        out.append(text[at : at + 1])
        at += 1
    return "".join(out)


def _java_hash(text: str) -> int:
    """Return Java's `String.hashCode`, a polynomial over UTF-16 units with factor 31 in 32 bits."""
    units = text.encode() if text.isascii() else array("H", text.encode(_UTF_16, "surrogatepass"))
    code: int = sum(map(operator.mul, units, _powers(len(units)))) % _INT_RANGE
    return code - _INT_RANGE if code >= _INT_RANGE >> 1 else code


@functools.lru_cache(maxsize=1024)
def _powers(count: int) -> tuple[int, ...]:
    return tuple(pow(31, exponent, _INT_RANGE) for exponent in reversed(range(count)))


@functools.lru_cache(maxsize=4096)
def _hash_64(text: str) -> str:
    return base64.b64encode(xxh64(text.encode(), _SEED).to_bytes(8, "big")).decode()


def _hash_128(text: str) -> str:
    return base64.b64encode(hashlib.md5(text.encode(), usedforsecurity=False).digest()).decode()


_NULL, _SEPARATOR, _ESCAPE = "\0", "$", "\\"


@dataclass(frozen=True, slots=True)
class SecondaryKeys:
    """Keys of an index, and how each begins: with the value and the separator."""

    keys: pa.StringArray
    prefixes: pa.StringArray


def is_servable(kind: pa.DataType) -> bool:
    """Tell whether a secondary index can be made of a column of this type."""
    return bool(pt.is_string(kind) or pt.is_integer(kind) or pt.is_floating(kind) or pt.is_date(kind) or pt.is_timestamp(kind))


def secondary_keys(rows: pa.Table, field: str) -> SecondaryKeys:
    """Return the keys for rows that have their record key and a column, whose name may go into structs with dots."""
    values = value_strings(field_column(rows, field), field)
    prefixes = pc.binary_join_element_wise(pc.fill_null(_escape(values), _NULL), _SEPARATOR, "")
    records = _escape(rows.column(RECORD_KEY).combine_chunks())
    return SecondaryKeys(pc.binary_join_element_wise(prefixes, records, ""), prefixes)


def value_strings(column: pa.ChunkedArray, field: str) -> pa.StringArray:
    """Return the values of a column as strings, as the index holds them; null stays null."""
    return column_text(column.cast(pa.int32()) if pt.is_date32(column.type) else column, field)


def _escape(strings: pa.StringArray) -> pa.StringArray:
    for character in (_ESCAPE, _SEPARATOR, _NULL):
        if pc.any(pc.match_substring(strings, character)).as_py():
            strings = pc.replace_substring(strings, character, _ESCAPE + character)
    return strings
