"""Records of column statistics decoded a field at a time, all of them together: fifty thousand files in a tenth of a second.

Rules: Avro 1.11 specification, "Binary Encoding"; `HoodieMetadata.avsc`; docs/format/metadata-table.md#metadata-record. One cursor for
each record, all moved over a field at once. What the fields mean is the business of `record_codec`, which decodes one record
at a time and says the same.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyhudi.codec.hfile import CellPart
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Mask, Numbers
from pyhudi.kernels.arrays.varint_columns import read_varints
from pyhudi.metadata_table.format.record import RecordType

#: Bytes that may be read behind the last record: a number has at most ten, a real eight.
_SLACK = 16
_FIELDS = [
    *("fileName", "columnName", "minValue", "maxValue", "valueCount", "nullCount"),
    *("totalSize", "totalUncompressedSize", "isDeleted"),
]
#: What newer versions add, each after the one before.
_ADDED = ["isTightBound", "valueType"]
_META_FIELDS = 5
_BEFORE = ["key", "type", "filesystemMetadata", "BloomFilterMetadata", "ColumnStatsMetadata"]


@dataclass(frozen=True, slots=True)
class Layout:
    """What of a schema decides how its records lie in bytes.

    The wrappers in the union of bounds, if tightness and a type follow, and how many kinds of content may come behind the statistics.
    """

    wrappers: tuple[str, ...]
    with_tightness: bool
    with_type: bool
    kinds_behind: int


@functools.lru_cache(maxsize=64)
def layout_of(schema: str) -> Layout | None:
    """Return the layout of records of column statistics, None when the schema is not one of those that Hudi writes."""
    try:
        fields: list[Any] = json.loads(schema)["fields"]
        stats = fields[_META_FIELDS + 4]["type"][1]["fields"]
        names = [field["name"] for field in stats]
        wrappers = tuple(branch["name"] for branch in stats[2]["type"][1:])
        as_known = [field["name"] for field in fields[_META_FIELDS : _META_FIELDS + len(_BEFORE)]] == _BEFORE
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    added = names[len(_FIELDS) :]
    if not as_known or names != [*_FIELDS, *_ADDED[: len(added)]] or len(stats[3]["type"]) != 1 + len(wrappers):
        return None
    return Layout(wrappers, len(added) > 0, len(added) > 1, len(fields) - _META_FIELDS - len(_BEFORE))


@dataclass(frozen=True, slots=True)
class RawBounds:
    """One of the two bounds of each record: `branch` is its wrapper's number, 0 for none, and `numbers` its value.

    Of reals `numbers` are the bits; of strings and bytes they are where these begin in the data, and `sizes` their lengths.
    """

    branch: Numbers
    numbers: Numbers
    sizes: Numbers


@dataclass(frozen=True, slots=True)
class StatsColumns:
    """Records of column statistics, one entry each. Counts are -1 where the record has none, kinds where it names no type."""

    layout: Layout
    data: bytes
    name_starts: Numbers
    name_sizes: Numbers
    column_starts: Numbers
    column_sizes: Numbers
    low: RawBounds
    high: RawBounds
    value_counts: Numbers
    null_counts: Numbers
    total_sizes: Numbers
    total_uncompressed_sizes: Numbers
    is_deleted: Mask
    is_tight: Mask
    kinds: Numbers
    info_starts: Numbers
    info_sizes: Numbers

    def names(self) -> list[bytes]:
        """Return the name of the file (or partition) that each record is about."""
        return self.strings(self.name_starts, self.name_sizes)

    def strings(self, starts: Numbers, sizes: Numbers) -> list[bytes]:
        """Return the bytes that begin at some places of the data and have these lengths."""
        ends = starts + sizes
        return [self.data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


class ManyValuedBound(ValueError):
    """A bound is a list of values: such records are for `record_codec`."""


def decode_stats(part: CellPart, layout: Layout, what: str) -> StatsColumns:
    """Return records of column or partition statistics, which all have the layout; `part` holds them as its values.

    Raises:
        ManyValuedBound: one of them has no single bound.
        CorruptTableError: one of them is no such record, or damaged; `what` names the file.
    """
    try:
        return _decode(part, layout)
    except ManyValuedBound:
        raise
    except (ValueError, IndexError) as error:
        raise CorruptTableError(f"a record of {what} is damaged: {error}") from None


def _decode(part: CellPart, layout: Layout) -> StatsColumns:
    data, count = part.payload, len(part.rows)
    at = _Cursors(data, np.array(part.value_starts, np.int64), np.array(part.value_ends, np.int64))
    for _ in range(_META_FIELDS):
        at.optional_text()
    at.text()
    kinds_of_record = at.number()
    stats_types = (int(RecordType.COLUMN_STATS), int(RecordType.PARTITION_STATS))
    if not np.isin(kinds_of_record, stats_types).all() or at.number().any() or at.number().any() or (at.number() != 1).any():
        raise ValueError("it is not of column statistics")
    names, columns = at.optional_text(), at.optional_text()
    low, high = at.bound(layout), at.bound(layout)
    counts = at.optional_number(), at.optional_number(), at.optional_number(), at.optional_number()
    is_deleted = at.flag()
    is_tight = at.flag() if layout.with_tightness else np.zeros(count, bool)
    kinds, info = np.full(count, -1), (np.zeros(count, np.int64), np.zeros(count, np.int64))
    if layout.with_type:
        typed = at.branch(2) == 1
        kinds[typed] = at.number(typed)
        info = at.optional_text(typed)
    at.finish(layout.kinds_behind)
    return StatsColumns(layout, data, *names, *columns, low, high, *counts, is_deleted, is_tight, kinds, *info)


class _Cursors:
    """A place in each record; every method moves the cursors over one field, those of a mask when one is given."""

    def __init__(self, data: bytes, at: Numbers, ends: Numbers) -> None:
        self._data = np.frombuffer(data + bytes(_SLACK), np.uint8)
        self._at = at
        self._ends = ends
        self._everyone = np.ones(len(at), dtype=bool)

    def number(self, mask: Mask | None = None) -> Numbers:
        decoded, sizes = read_varints(self._data, self._offsets(mask))
        self._move(mask, sizes)
        return decoded

    def branch(self, count: int) -> Numbers:
        """Return the branch of a union of so many types."""
        branches = self.number()
        if ((branches < 0) | (branches >= count)).any():
            raise ValueError("it has a branch that its union lacks")
        return branches

    def text(self, mask: Mask | None = None) -> tuple[Numbers, Numbers]:
        """Return where strings begin and their sizes."""
        sizes = self.number(mask)
        starts = self._offsets(mask).copy()
        if ((sizes < 0) | (sizes > self._limits(mask) - starts)).any():
            raise ValueError("it has a text that is longer than the record")
        self._move(mask, sizes)
        return starts, sizes

    def optional_text(self, among: Mask | None = None) -> tuple[Numbers, Numbers]:
        """Return starts and sizes, 0 where there is none; `among` are the records that have the field at all."""
        present = self._present(among)
        starts, sizes = np.zeros(len(self._at), np.int64), np.zeros(len(self._at), np.int64)
        if present.any():
            starts[present], sizes[present] = self.text(present)
        return starts, sizes

    def optional_number(self) -> Numbers:
        present = self._present(None)
        numbers = np.full(len(self._at), -1)
        if present.any():
            numbers[present] = self.number(present)
        return numbers

    def flag(self) -> Mask:
        flags = self._data[self._offsets(None)]
        if (flags > 1).any():
            raise ValueError("it has a flag that is neither true nor false")
        self._move(None, np.ones(len(flags), np.int64))
        return flags.astype(bool)

    def bound(self, layout: Layout) -> RawBounds:
        """Return a bound: after its branch comes the one value of the wrapper."""
        branch = self.branch(1 + len(layout.wrappers))
        numbers, sizes = np.zeros(len(branch), np.int64), np.zeros(len(branch), np.int64)
        for used in np.unique(branch[branch > 0]):
            mask = branch == used
            match layout.wrappers[used - 1]:
                case "BytesWrapper" | "StringWrapper" | "DecimalWrapper":
                    numbers[mask], sizes[mask] = self.text(mask)
                case "FloatWrapper":
                    numbers[mask] = self._bits(mask, 4)
                case "DoubleWrapper":
                    numbers[mask] = self._bits(mask, 8)
                case "BooleanWrapper":
                    numbers[mask] = self._bits(mask, 1)
                case "ArrayWrapper":
                    raise ManyValuedBound
                case _:
                    numbers[mask] = self.number(mask)
        return RawBounds(branch, numbers, sizes)

    def finish(self, kinds_behind: int) -> None:
        """Hold that nothing else is in the records, and that each ended where it should."""
        for _ in range(kinds_behind):
            if self.number().any():
                raise ValueError("it holds several kinds of content")
        if (self._at != self._ends).any():
            raise ValueError("it does not have the length that it says")

    def _present(self, among: Mask | None) -> Mask:
        mask = self._everyone if among is None else among
        present = np.zeros(len(mask), dtype=bool)
        branches = self.number(mask)
        if ((branches != 0) & (branches != 1)).any():
            raise ValueError("it has a branch that its union lacks")
        present[mask] = branches == 1
        return present

    def _bits(self, mask: Mask, size: int) -> Numbers:
        raw = self._data[self._offsets(mask)[:, None] + np.arange(size)]
        self._move(mask, np.full(len(raw), size))
        wide = np.zeros((len(raw), 8), np.uint8)
        wide[:, :size] = raw
        bits: Numbers = wide.view("<i8")[:, 0].astype(np.int64)
        return bits

    def _offsets(self, mask: Mask | None) -> Numbers:
        """Return the cursors; one that ran away is held at the end, where `finish` finds it."""
        at = self._at if mask is None else self._at[mask]
        return np.minimum(at, len(self._data) - _SLACK)

    def _limits(self, mask: Mask | None) -> Numbers:
        return self._ends if mask is None else self._ends[mask]

    def _move(self, mask: Mask | None, sizes: Numbers) -> None:
        if mask is None:
            self._at = self._at + sizes
        else:
            self._at[mask] += sizes
