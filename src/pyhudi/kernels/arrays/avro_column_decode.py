"""Avro records decoded a column at a time: one cursor for each record, all of them moved over a field at once.

Rules: Avro 1.11 specification, "Binary Encoding". Serves records of primitive types, their logical types, and unions of one of them
with null: what nearly all tables hold. `None` from `column_plan` means that the schema has more, and records are decoded one by one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.varint_columns import read_varints
from pyhudi.schema.avro_arrow import avro_to_arrow

Json: TypeAlias = Any

_NUMBERS: dict[str, np.dtype[Any]] = {"int": np.dtype("<i4"), "long": np.dtype("<i8")}
_FLOATS: dict[str, np.dtype[Any]] = {"float": np.dtype("<f4"), "double": np.dtype("<f8")}
_STRINGS = frozenset({"string", "bytes"})
#: Bytes that may be read behind the last one of a content: a number has at most so many.
_SLACK = 16
_MOST_DECIMAL_BYTES = 16


@dataclass(frozen=True, slots=True)
class PlannedField:
    """One field: its primitive type, the branch of null in its union (None without a union), the bytes of a fixed."""

    field: pa.Field
    kind: str
    null_branch: int | None
    size: int = 0


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """The fields of a schema, in order."""

    fields: tuple[PlannedField, ...]


@functools.lru_cache(maxsize=64)
def column_plan(writer_schema: str) -> ColumnPlan | None:
    """Return how records of a schema are decoded, None when they must be one by one."""
    record: Json = json.loads(writer_schema)
    arrow = avro_to_arrow(writer_schema)
    fields = [_field(avro["type"], arrow.field(number)) for number, avro in enumerate(record["fields"])]
    known = tuple(field for field in fields if field is not None)
    return ColumnPlan(known) if known and len(known) == len(fields) else None


def _field(avro: Json, field: pa.Field) -> PlannedField | None:
    null_branch = None
    if isinstance(avro, list):
        if len(avro) != 2 or "null" not in avro:
            return None
        null_branch = avro.index("null")
        avro = avro[1 - null_branch]
    kind = avro["type"] if isinstance(avro, dict) else avro
    if kind == "fixed" and isinstance(avro, dict):
        size = int(avro["size"])
        return PlannedField(field, kind, null_branch, size) if 0 < size <= _MOST_DECIMAL_BYTES or not pt.is_decimal(field.type) else None
    served = kind in _NUMBERS or kind in _FLOATS or kind in _STRINGS or kind == "boolean"
    return PlannedField(field, kind, null_branch) if served else None


class ColumnDecoder:
    """Decodes the records of one block.

    Args:
        plan: of the records' schema.
        content: the bytes that the records are in.
        starts: where each record begins.
        ends: where each record ends.
    """

    def __init__(self, plan: ColumnPlan, content: bytes, starts: Indices, ends: Indices) -> None:
        self._plan = plan
        self._data = np.frombuffer(content + bytes(_SLACK), np.uint8)
        self._text_buffer = pa.py_buffer(content)
        self._at = starts.copy()
        self._ends = ends

    def decode(self, columns: Sequence[str]) -> pa.Table:
        """Return the asked columns.

        Raises:
            CorruptTableError: a record does not end where its length says, or holds what its schema does not allow.
        """
        decoded = []
        for field in self._plan.fields:
            column = self._column(field, is_selected=field.field.name in columns)
            if column is not None:
                decoded.append((field.field.with_nullable(True), column))
            if (self._at > self._ends).any():
                raise CorruptTableError(f"field '{field.field.name}' of an Avro record goes on behind the record's end")
        if (self._at != self._ends).any():
            raise CorruptTableError("the records of an Avro block do not have the lengths before them")
        return pa.Table.from_arrays([column for _, column in decoded], schema=pa.schema([one for one, _ in decoded]))

    def _column(self, field: PlannedField, *, is_selected: bool) -> pa.Array | None:
        indices: Indices | slice = slice(None)
        nulls: Mask | None = None
        if field.null_branch is not None:
            branches = self._varints(slice(None))
            nulls = branches == field.null_branch
            if ((branches != 0) & (branches != 1)).any():
                raise CorruptTableError(f"field '{field.field.name}' of an Avro record has a branch that its union lacks")
            if not nulls.any():
                nulls = None
            else:
                indices = np.flatnonzero(~nulls)
        if field.kind in _STRINGS or field.kind == "fixed":
            return self._decode_strings(field, indices, nulls, is_selected=is_selected)
        values = self._scalars(field, indices)
        return _scatter(values, nulls, field) if is_selected else None

    def _scalars(self, field: PlannedField, indices: Indices | slice) -> npt.NDArray[Any]:
        if field.kind in _NUMBERS:
            wide = self._varints(indices)
            numbers: npt.NDArray[Any] = wide.astype(_NUMBERS[field.kind])
            if field.kind == "int" and (numbers != wide).any():
                raise CorruptTableError(f"field '{field.field.name}' of an Avro record is no number of 32 bits")
            return numbers
        if field.kind == "boolean":
            flags = self._data[self._clip(indices)]
            if (flags > 1).any():
                raise CorruptTableError(f"field '{field.field.name}' of an Avro record is neither true nor false")
            self._at[indices] += 1
            return flags.astype(bool)
        kind = _FLOATS[field.kind]
        raw = self._data[self._clip(indices)[:, None] + np.arange(kind.itemsize)]
        self._at[indices] += kind.itemsize
        floats: npt.NDArray[Any] = np.ascontiguousarray(raw).view(kind)[:, 0]
        return floats

    def _clip(self, indices: Indices | slice) -> Indices:
        """Return the cursors, those that ran away held at the end, where `decode` finds them."""
        return np.minimum(self._at[indices], len(self._data) - _SLACK)

    def _varints(self, indices: Indices | slice) -> Indices:
        try:
            decoded, lengths = read_varints(self._data, self._clip(indices))
        except ValueError:
            raise CorruptTableError("an overlong number in an Avro record") from None
        self._at[indices] += lengths
        return decoded

    def _decode_strings(self, field: PlannedField, indices: Indices | slice, nulls: Mask | None, *, is_selected: bool) -> pa.Array | None:
        lengths = np.full(len(self._at[indices]), field.size) if field.kind == "fixed" else self._varints(indices)
        begins = self._at[indices].copy()
        if ((lengths < 0) | (lengths > self._ends[indices] - begins)).any():
            raise CorruptTableError(f"field '{field.field.name}' of an Avro record is longer than the record")
        self._at[indices] += lengths
        if not is_selected:
            return None
        if pt.is_decimal(field.field.type):
            return self._decimals(field, begins, lengths, nulls)
        count = len(self._at)
        full_lengths, full_begins = lengths, begins
        if nulls is not None:
            full_lengths, full_begins = np.zeros(count, np.int64), np.zeros(count, np.int64)
            full_lengths[indices], full_begins[indices] = lengths, begins
        return self._view_strings(full_begins, full_lengths, nulls, field)

    def _view_strings(self, begins: Indices, lengths: Indices, nulls: Mask | None, field: PlannedField) -> pa.Array:
        """Return strings as an Arrow array: views into the content, which Arrow then puts one behind the other.

        A view is the length, then twelve bytes of the text itself, or its first four, the buffer's number and the offset.
        """
        views = np.zeros((len(begins), 4), "<i4")
        views[:, 0] = lengths
        short = lengths <= 12
        window = self._data[np.minimum(begins, len(self._data) - _SLACK)[:, None] + np.arange(12)]
        window[np.arange(12) >= np.minimum(lengths, 12)[:, None]] = 0
        views[:, 1:] = np.ascontiguousarray(window).view("<i4")
        views[~short, 2] = 0
        views[~short, 3] = begins[~short]
        validity = None if nulls is None else pa.py_buffer(np.packbits(~nulls, bitorder="little").tobytes())
        array = pa.Array.from_buffers(pa.binary_view(), len(begins), [validity, pa.py_buffer(views), self._text_buffer])
        try:
            return array.cast(field.field.type if pt.is_binary(field.field.type) else pa.string())
        except pa.ArrowInvalid as error:
            raise CorruptTableError(f"field '{field.field.name}' of an Avro record is no text: {error}") from None

    def _decimals(self, field: PlannedField, begins: Indices, lengths: Indices, nulls: Mask | None) -> pa.Array:
        """Return decimals: big-endian two's complement of any length, as Arrow's sixteen bytes, lowest first."""
        if (lengths > _MOST_DECIMAL_BYTES).any() or (lengths < 1).any():
            raise CorruptTableError(f"field '{field.field.name}' of an Avro record is no decimal of 38 digits")
        index = np.arange(_MOST_DECIMAL_BYTES)
        inside = index < lengths[:, None]
        raw = self._data[np.maximum(begins[:, None] + lengths[:, None] - 1 - index, 0)]
        sign = np.where(self._data[begins] > 0x7F, 0xFF, 0).astype(np.uint8)
        digits = np.where(inside, raw, sign[:, None])
        full = digits
        if nulls is not None:
            full = np.zeros((len(nulls), _MOST_DECIMAL_BYTES), np.uint8)
            full[~nulls] = digits
        validity = None if nulls is None else pa.py_buffer(np.packbits(~nulls, bitorder="little").tobytes())
        array = pa.Array.from_buffers(field.field.type, len(full), [validity, pa.py_buffer(np.ascontiguousarray(full))])
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            raise CorruptTableError(f"field '{field.field.name}' of an Avro record: {error}") from None
        return array


def _scatter(values: npt.NDArray[Any], nulls: Mask | None, field: PlannedField) -> pa.Array:
    """Return the values that are not null among the nulls, with the field's type."""
    full = values
    if nulls is not None:
        full = np.zeros(len(nulls), values.dtype)
        full[~nulls] = values
    array = pa.array(full, mask=nulls)
    return array if array.type == field.field.type else array.view(field.field.type)
