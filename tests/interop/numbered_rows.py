"""Rows that follow from a number and a version, so that a model of millions of them is one array of versions.

A row's values are drawn from a hash of both, its key and partition from the number alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CITIES = pa.array(["oslo", "lima", "bern", "rome", "cairo"])
#: All columns, of the types that Apache Hudi, Spark and hudi-rs read as Arrow holds them.
WIDE = pa.schema(
    [
        ("id", pa.int64()),
        ("version", pa.int32()),
        ("kind", pa.int32()),
        ("price", pa.float64()),
        ("ratio", pa.float32()),
        ("word", pa.string()),
        ("text", pa.string()),
        ("amount", pa.decimal128(12, 2)),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("flag", pa.bool_()),
        ("raw", pa.binary()),
        ("point", pa.struct([("x", pa.float64()), ("y", pa.int32())])),
        ("tags", pa.list_(pa.int32())),
        ("city", pa.string()),
    ]
)
NARROW = pa.schema([WIDE.field(name) for name in ("id", "version", "kind", "price", "city")])
_HUNDREDTH = pa.scalar(Decimal("0.01"), pa.decimal128(3, 2))
_EVEN = np.uint64(0x9E3779B97F4A7C15)
_STEPS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))


@dataclass
class NumberedRows:
    """The model of a table: which version of each row it holds, 0 where it holds none."""

    schema: pa.Schema
    versions: np.ndarray[tuple[int], np.dtype[np.int32]] = field(default_factory=lambda: np.zeros(0, np.int32))
    last: int = 0

    def store(self, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
        """Give rows a version that none had, and return them."""
        self.last += 1
        self.versions = np.concatenate([self.versions, np.zeros(max(0, int(numbers.max()) + 1 - len(self.versions)), np.int32)])
        self.versions[numbers] = self.last
        return rows_of(self.schema, numbers, self.versions[numbers])

    def remove(self, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
        """Take rows out, and return them as they were."""
        removed = rows_of(self.schema, numbers, self.versions[numbers])
        self.versions[numbers] = 0
        return removed

    def present(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the numbers of the rows of the table, ascending."""
        return np.flatnonzero(self.versions).astype(np.int64)

    def rows(self) -> pa.Table:
        """Return the rows of the table, in the order of their numbers."""
        return rows_of(self.schema, self.present(), self.versions[self.present()])


def rows_of(schema: pa.Schema, numbers: np.ndarray, versions: np.ndarray) -> pa.Table:
    """Return the columns of a schema of the rows with these numbers and versions."""
    columns = {name: column for name, column in _COLUMNS.items() if name in schema.names}
    seed = _hashed(numbers.astype(np.uint64) * np.uint64(1_000_003) + versions.astype(np.uint64))
    arrays = {name: column(_hashed(seed + np.uint64(salt))) for salt, (name, column) in enumerate(columns.items())}
    arrays |= {"id": pa.array(numbers), "version": pa.array(versions), "city": CITIES.take(pa.array(numbers % len(CITIES)))}
    return pa.table([arrays[name].cast(schema.field(name).type) for name in schema.names], schema=schema)


def _hashed(values: np.ndarray) -> np.ndarray:
    """Return well distributed 64 bits for each number (splitmix64)."""
    values = values + _EVEN
    for shift, factor in _STEPS:
        values = (values ^ (values >> shift)) * factor
    hashed: np.ndarray = values ^ (values >> np.uint64(31))
    return hashed


def _below(values: np.ndarray, end: int) -> np.ndarray:
    remainders: np.ndarray = (values % np.uint64(end)).astype(np.int64)
    return remainders


def _some_null(values: np.ndarray, array: pa.Array) -> pa.Array:
    """Return every seventh value, or so, as null."""
    return pc.if_else(pa.array(_below(values >> np.uint64(40), 7) > 0), array, pa.scalar(None, array.type))


def _point(values: np.ndarray) -> pa.Array:
    fields = [pa.array(_below(values, 1 << 20) / 8), pa.array(_below(values >> np.uint64(20), 1000).astype(np.int32))]
    return pa.StructArray.from_arrays(fields, fields=list(WIDE.field("point").type), mask=pa.array(_below(values, 11) == 0))


def _tags(values: np.ndarray) -> pa.Array:
    lengths = _below(values, 4)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    ranks = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    items = _below(_hashed(np.repeat(values, lengths) + ranks.astype(np.uint64)), 1 << 30).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(items))


def _strings(values: np.ndarray, end: int, prefix: str) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pa.array(_below(values, end)).cast(pa.string()), "")


_COLUMNS = {
    "kind": lambda values: _some_null(values, pa.array(_below(values, 100).astype(np.int32))),
    "price": lambda values: _some_null(values, pa.array(_below(values, 1 << 40) / 64)),
    "ratio": lambda values: pa.array((_below(values, 1 << 20) / 16).astype(np.float32)),
    "word": lambda values: _some_null(values, _strings(values, 500, "word ü ")),
    "text": lambda values: _strings(values, 1 << 62, "a text of nearly the same length "),
    "amount": lambda values: pc.multiply(pa.array(_below(values, 10**9)).cast(pa.decimal128(19, 0)), _HUNDREDTH),
    "day": lambda values: pa.array(_below(values, 40_000).astype(np.int32)).cast(pa.date32()),
    "at": lambda values: _some_null(values, pa.array(_below(values, 1 << 51)).cast(pa.timestamp("us", "UTC"))),
    "flag": lambda values: pa.array(_below(values, 2) > 0),
    "raw": lambda values: _strings(values, 1 << 30, "\x00").cast(pa.binary()),
    "point": _point,
    "tags": _tags,
}
