"""HFiles of HBase are read right: whole, by row, by prefix, and with few reads."""

from __future__ import annotations

import pytest

from pyhudi.codec.hfile import HFileReader
from tests.unit.codec.hfiles import DEEP, EMPTY, FAKE_KEYS, REPEATED, TWO_LEVELS, UNIQUE, CountingSource, fixture, made, open_hfile


@pytest.mark.parametrize("name", [*UNIQUE, REPEATED, EMPTY])
def test_all_entries_come_in_order_and_as_many_as_the_trailer_says(name: str) -> None:
    reader = open_hfile(fixture(name))
    rows = [row for row, _ in reader.entries()]
    assert rows == sorted(rows)
    assert len(rows) == len(reader)


@pytest.mark.parametrize("name", UNIQUE)
def test_values_belong_to_their_rows(name: str) -> None:
    for row, value in open_hfile(fixture(name)).entries():
        number = next(part for part in row.split(b"-") if part.isdigit())
        assert value == b"hudi-value-" + number


@pytest.mark.parametrize("name", UNIQUE)
def test_every_row_is_found_and_nothing_between_the_rows(name: str) -> None:
    data = fixture(name)
    expected = dict(open_hfile(data).entries())
    absent = [row + b"\0" for row in expected] + [b"", b"\xff"]
    assert dict(open_hfile(data).get_many([*absent, *expected])) == expected


@pytest.mark.parametrize("name", [DEEP, TWO_LEVELS, FAKE_KEYS])
def test_one_row_is_found_by_reading_little_of_the_file(name: str) -> None:
    data = fixture(name)
    row, value = list(open_hfile(data).entries())[1234]
    source = CountingSource(data)
    reader = HFileReader(source, len(data))
    assert reader.get(row) == value
    assert source.read_bytes < 64 * 1024 + 20_000  # the end of the file, then index nodes and one or two blocks


def test_second_look_up_in_a_block_reads_nothing() -> None:
    source = CountingSource(fixture(FAKE_KEYS))
    reader = HFileReader(source, len(source.getvalue()))
    assert reader.get(b"hudi-key-000000003-abcdefghij") == b"hudi-value-000000003"
    before = source.read_bytes
    assert reader.get(b"hudi-key-000000004-abcdefghij") == b"hudi-value-000000004"
    assert source.read_bytes == before


def test_without_room_in_the_cache_blocks_are_read_again() -> None:
    source = CountingSource(fixture(FAKE_KEYS))
    reader = HFileReader(source, len(source.getvalue()), cache_bytes=0)
    result = [reader.get(b"hudi-key-000000003-abcdefghij"), source.read_bytes, reader.get(b"hudi-key-000000003-abcdefghij")]
    assert result[0] == result[2] == b"hudi-value-000000003"
    assert source.read_bytes > result[1]  # type: ignore[operator]


@pytest.mark.parametrize("name", [*UNIQUE, REPEATED])
@pytest.mark.parametrize("cut", [1, 3, 6])
def test_prefix_gives_all_rows_that_begin_with_it(name: str, cut: int) -> None:
    reader = open_hfile(fixture(name))
    everything = list(reader.entries())
    for row, _ in everything[:: len(everything) // 5]:
        prefix = row[:-cut]
        assert list(reader.scan(prefix)) == [cell for cell in everything if cell[0].startswith(prefix)]


@pytest.mark.parametrize("prefix", [b"\xff", b"\xff\xff", b"zzz", b"a"])
def test_prefix_of_no_row_gives_nothing(prefix: bytes) -> None:
    assert list(open_hfile(fixture(FAKE_KEYS)).scan(prefix)) == []


def test_prefix_that_ends_with_the_greatest_byte_is_searched_right() -> None:
    cells = [(b"a\xfe", b"1"), (b"a\xff", b"2"), (b"a\xff\xff", b"3"), (b"b", b"4"), (b"\xff\xff", b"5")]
    reader = open_hfile(made(cells, block_bytes=1))
    assert [value for _, value in reader.scan(b"a\xff")] == [b"2", b"3"]
    assert [value for _, value in reader.scan(b"\xff")] == [b"5"]


def test_of_equal_rows_the_first_is_given_once() -> None:
    reader = open_hfile(fixture(REPEATED))
    first: dict[bytes, bytes] = {}
    for row, value in reader.entries():
        first.setdefault(row, value)
    assert list(reader.get_many(sorted([*first, *first]))) == sorted(first.items())


def test_file_without_entries_has_no_rows_but_its_info_and_filter() -> None:
    reader = open_hfile(fixture(EMPTY))
    assert reader.get(b"x") is None
    assert list(reader.scan(b"")) == []
    assert reader.info["minRecordKey"] == b""
    assert reader.info["bloomFilterTypeCode"] == b"DYNAMIC_V0"
    assert len(reader.meta_block("bloomFilter") or b"") == 431380


def test_unknown_meta_block_is_none() -> None:
    assert open_hfile(fixture(FAKE_KEYS)).meta_block("nothing") is None


def test_block_that_is_searched_again_gives_the_same() -> None:
    cells = [(f"{number:03}".encode(), str(number).encode()) for number in range(50)]
    reader = open_hfile(made(cells))
    for _ in range(3):
        assert list(reader.get_many([b"\0", b"007", b"007", b"049", b"zzz"])) == [(b"007", b"7"), (b"049", b"49")]
