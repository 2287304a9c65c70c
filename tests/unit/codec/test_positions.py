"""Record positions against what Hudi's own class makes of them."""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.log.roaring_positions import decode_positions, encode_positions, last_position
from pyhudi.errors import CorruptTableError, UsageError
from tests.tables import FIXTURES

JAVA = dict(line.split("\t") for line in (FIXTURES / "log_format" / "positions.tsv").read_text().splitlines())
THREE = "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAIAEAAAAAAAAgAFAA=="

positions = st.one_of(
    st.sets(st.integers(0, 300)),
    st.sets(st.integers(0, 2**40), max_size=50),
    st.tuples(st.integers(0, 140_000), st.integers(1, 10_000), st.integers(1, 40)).map(
        lambda t: set(range(t[0], t[0] + t[1] * t[2], t[2]))
    ),
)


@pytest.mark.parametrize("name", JAVA)
def test_text_of_apache_hudi_is_read_and_written_again(name: str) -> None:
    assert encode_positions(decode_positions(JAVA[name])) == JAVA[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("empty", []),
        ("three", [0, 2, 5]),
        ("run012", [0, 1, 2]),
        ("run0123", [0, 1, 2, 3]),
        ("big", [0, 65536, 65537, 1 << 32, (1 << 40) + 7]),
        ("hundred", list(range(100))),
        ("six", [65536 * high + low for high in range(6) for low in (0, 9)]),
    ],
)
def test_positions_of_apache_hudi_are_these(name: str, expected: list[int]) -> None:
    assert list(decode_positions(JAVA[name])) == expected


@pytest.mark.parametrize(
    ("values", "digest"),
    [
        (range(0, 30_000, 3), "cc6b76f005fbec3bfc5cf6c01b2ef65beb33f2780bff56e5dd56b2ed5ab2f3da"),
        (range(300_000), "63422e4544a9f1573345ffad0d0ce04b99e7f64d91e73076677a9fedab07e641"),
        (range(0, 8192, 2), "965d39e0508829b33af5403b7764d0822fff51289eb09eeb238a9893bc0159a2"),
        ([*range(0, 8192, 2), 16_384], "ef730aaa37614742610cb803ad62fa9a5fa451f9fc55b895efe524dd1586a718"),
    ],
)
def test_large_containers_are_written_as_by_apache_hudi(values: range | list[int], digest: str) -> None:
    text = encode_positions(values)
    assert list(decode_positions(text)) == list(values)
    assert hashlib.sha256(text.encode()).hexdigest() == digest


@given(positions)
def test_positions_survive_writing_and_reading(values: set[int]) -> None:
    assert set(decode_positions(encode_positions(sorted(values)))) == values


@given(positions)
def test_last_position_is_the_greatest_of_all(values: set[int]) -> None:
    assert last_position(encode_positions(sorted(values))) == max(values, default=-1)


def test_containers_in_descending_order_have_no_last_one() -> None:
    raw = b64decode(encode_positions([1, 70_000]))
    swapped = raw[:20] + raw[24:28] + raw[20:24] + raw[28:]
    with pytest.raises(CorruptTableError, match="damaged"):
        last_position(b64encode(swapped).decode())


@pytest.mark.parametrize("values", [[1, 1], [2, 1], [-1, 0]])
def test_positions_that_are_not_distinct_rows_are_not_written(values: list[int]) -> None:
    with pytest.raises(UsageError, match="ascending"):
        encode_positions(values)


def test_more_positions_than_records_are_damage() -> None:
    assert len(decode_positions(THREE, most=3)) == 3
    with pytest.raises(CorruptTableError, match="more positions than the 2"):
        decode_positions(THREE, most=2)


def test_few_bytes_do_not_become_many_positions() -> None:
    # 65,536 containers of one full run each: half a MB that would become 2^32 numbers.
    count = 65536
    head = (12347 | count - 1 << 16).to_bytes(4, "little") + b"\xff" * (count // 8)
    described = b"".join(high.to_bytes(2, "little") + b"\xff\xff" for high in range(count))
    body = bytes(4 * count) + b"\1\0\0\0\xff\xff" * count
    data = (1).to_bytes(8, "little") + bytes(4) + head + described + body
    with pytest.raises(CorruptTableError, match="more positions"):
        decode_positions(b64encode(data).decode())


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda raw: raw[:-1], "no Roaring bitmap"),
        (lambda raw: raw + b"\0", "belong to no bitmap"),
        (lambda raw: (1 << 40).to_bytes(8, "little") + raw[8:], "no Roaring bitmap"),
        (lambda raw: (2**64 - 1).to_bytes(8, "little") + raw[8:], "no Roaring bitmap"),
        (lambda raw: raw[:11] + b"\x80" + raw[12:], "negative"),
        (lambda raw: raw[:12] + b"\0" + raw[13:], "no Roaring bitmap"),
        (lambda raw: raw[:16] + b"\xff\xff\xff\x7f" + raw[20:], "no Roaring bitmap"),
        (lambda raw: raw[:22] + b"\1" + raw[23:], "belong to no bitmap"),
        (lambda raw: raw[:-2] + b"\1\0", "no Roaring bitmap"),
    ],
)
def test_damaged_bitmap_is_a_typed_error(damage, message: str) -> None:
    with pytest.raises(CorruptTableError, match=message):
        decode_positions(b64encode(damage(b64decode(THREE))).decode())


@pytest.mark.parametrize("text", ["*", "AQA", "größe"])
def test_text_that_is_not_base64_is_damage(text: str) -> None:
    with pytest.raises(CorruptTableError, match="not base64"):
        decode_positions(text)
