"""Where the fields of structs are, without decoding them: the same fields, the same ends and the same errors as decoding gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.parquet import compact_protocol as compact
from pyhudi.codec.parquet.compact_protocol import read_fields, write_struct
from pyhudi.codec.parquet.thrift_fields import find_fields, number_in, read_field
from pyhudi.errors import CorruptTableError
from tests.unit.codec.test_compact_protocol import STRUCTS

Found = tuple[dict[int, Any], int]


def fields_of(data: bytes) -> Found | type[Exception]:
    """Return the fields, found without decoding and decoded one by one, and the end of the struct."""
    try:
        fields, end = find_fields(data, 0)
    except (IndexError, ValueError) as error:
        return type(error)
    for number, (kind, _, _, value) in fields.items():
        assert kind not in (compact.I16, compact.I32, compact.I64) or number_in(fields, number) == value
    decoded = {number: read_field(data, begin, kind) for number, (kind, begin, _, _) in fields.items()}
    assert [after for _, after in decoded.values()] == [after for _, _, after, _ in fields.values()]
    return {number: one for number, (one, _) in decoded.items()}, end


def decoded(data: bytes) -> Found | type[Exception]:
    try:
        return read_fields(data, 0, 0)
    except (IndexError, ValueError) as error:
        return type(error)


@given(STRUCTS)
def test_fields_are_those_of_the_struct(fields: dict[int, Any]) -> None:
    data = write_struct(fields)
    assert fields_of(data + b"more") == (fields, len(data))


@given(STRUCTS, st.data())
def test_damage_is_refused_where_decoding_refuses_it(fields: dict[int, Any], data: st.DataObject) -> None:
    whole = write_struct(fields)
    at = data.draw(st.integers(0, len(whole) - 1))
    for damaged in (whole[:at], whole[:at] + data.draw(st.binary(min_size=1, max_size=3)) + whole[at + 1 :]):
        assert fields_of(damaged) == decoded(damaged)


@given(st.binary(max_size=60))
def test_any_bytes_are_found_or_refused_as_decoding_does(data: bytes) -> None:
    assert fields_of(data) == decoded(data)


def test_hostile_structs_are_refused() -> None:
    with pytest.raises(ValueError, match="levels deep"):
        find_fields(b"\x1c" * 1000, 0)
    with pytest.raises(ValueError, match="items at"):
        find_fields(b"\x19\xf1" + b"\xff" * 8 + b"\x01", 0)  # 2^57 booleans
    fields, _ = find_fields(write_struct({1: (compact.BINARY, b"x")}), 0)
    with pytest.raises(CorruptTableError, match="where a number belongs"):
        number_in(fields, 1)
