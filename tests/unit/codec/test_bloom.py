"""Bloom filters: those of Hudi's base files hold the keys of the file, and ours are laid out alike."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.bloom_codec import BloomFilter, BloomType, StoredFilter, sizing
from pyhudi.errors import CorruptTableError


@pytest.mark.parametrize(
    "name", ["cow/v6_nonpartitioned", "cow/v8_simplekeygen_nonhivestyle", "apache_hudi/all_types_v9", "apache_hudi/complex_keys_v9"]
)
def test_the_filter_of_a_base_file_is_the_one_we_make_of_its_keys(name: str, fixture_table: Callable[[str], Path]) -> None:
    for path in [path for path in fixture_table(name).rglob("*.parquet") if ".hoodie" not in path.parts]:
        file = pq.ParquetFile(path)
        footer = {key.decode(): value.decode() for key, value in file.metadata.metadata.items()}
        kind = BloomType(footer["hoodie_bloom_filter_type_code"])
        keys = file.read(["_hoodie_record_key"]).column(0).to_pylist()
        ours = BloomFilter.empty(kind)
        for key in keys:
            ours.add(key)
        theirs = BloomFilter.decode(footer["org.apache.hudi.bloomfilter"], kind)
        assert all(theirs.might_contain(key) for key in keys)
        assert not theirs.might_contain("no such key")
        if theirs.last_row_entries == len(keys):  # a rewritten file keeps the keys of its deleted rows
            assert theirs.encode() == ours.encode() == footer["org.apache.hudi.bloomfilter"]


@given(st.lists(st.text(min_size=1), max_size=30), st.sampled_from(BloomType))
def test_what_was_added_is_found_after_a_round_trip(keys: list[str], kind: BloomType) -> None:
    bloom = BloomFilter.empty(kind, entries=10, fpp=0.01, max_entries=20)
    keys = [key for key in keys if key.isprintable()]
    for key in keys:
        bloom.add(key)
    again = BloomFilter.decode(bloom.encode(), kind)
    assert all(again.might_contain(key) for key in keys)
    assert again.encode() == bloom.encode()


def test_a_dynamic_filter_grows_by_rows_up_to_its_maximum_and_then_fills_them_in_turn() -> None:
    bloom = BloomFilter.empty(BloomType.DYNAMIC_V0, entries=2, fpp=0.01, max_entries=5)
    rows = []
    for key in range(9):
        bloom.add(f"key {key}")
        rows.append(len(bloom.rows))
    assert rows == [1, 1, 2, 2, 3, 3, 3, 3, 3]
    assert all(bloom.might_contain(f"key {key}") for key in range(9))


def test_the_default_filter_has_hudis_size() -> None:
    assert sizing(60000, 0.000000001) == (2587966, 30)
    assert len(BloomFilter.empty(BloomType.DYNAMIC_V0).encode()) == 431380


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(ValueError, match="empty key"):
        BloomFilter.empty(BloomType.SIMPLE, entries=10, fpp=0.1).add("")


def looked_at(text: str, kind: BloomType) -> StoredFilter:
    return StoredFilter.of(text, kind, max_entries=20)


@pytest.mark.parametrize("read", [BloomFilter.decode, looked_at])
@pytest.mark.parametrize("kind", BloomType)
def test_every_cut_filter_is_refused(kind: BloomType, read) -> None:
    data = base64.b64decode(BloomFilter.empty(kind, entries=4, fpp=0.1).encode())
    for end in range(len(data)):
        with pytest.raises(CorruptTableError):
            read(base64.b64encode(data[:end]).decode(), kind)


@given(st.data(), st.sampled_from(BloomType))
def test_filter_that_is_looked_at_is_refused_when_it_cannot_be_decoded(data, kind: BloomType) -> None:
    text = BloomFilter.empty(kind, entries=4, fpp=0.1).encode()
    at, letter = data.draw(st.integers(0, len(text) - 1)), data.draw(st.characters())
    changed = text[:at] + letter + text[at + 1 :]
    try:
        decoded = BloomFilter.decode(changed, kind, max_entries=20)
    except CorruptTableError:
        with pytest.raises(CorruptTableError):
            looked_at(changed, kind)
    else:
        assert looked_at(changed, kind).decode() == decoded


@given(st.binary(max_size=80), st.sampled_from(BloomType))
def test_forged_filters_are_refused_at_once(data: bytes, kind: BloomType) -> None:
    forged = b"\xff\xff\xff\xff\x00\x00\x00\x1e\x01" + data
    try:
        BloomFilter.decode(base64.b64encode(forged).decode(), kind)
    except CorruptTableError:
        return
    assert len(data) > 4


@pytest.mark.parametrize("read", [BloomFilter.decode, looked_at])
@pytest.mark.parametrize("kind", BloomType)
def test_number_of_hashes_that_would_keep_look_ups_busy_is_refused(kind: BloomType, read) -> None:
    smallest = BloomFilter.empty(kind, entries=1, fpp=5e-324, max_entries=20)
    assert read(smallest.encode(), kind)
    data = bytearray(base64.b64decode(BloomFilter.empty(kind, entries=4, fpp=0.1).encode()))
    data[4] ^= 0x40
    with pytest.raises(CorruptTableError, match="a header that Hudi does not write"):
        read(base64.b64encode(data).decode(), kind)


def test_padding_in_the_header_of_a_row_is_refused() -> None:
    text = BloomFilter(96, 7, [bytearray(12), bytearray(12)], 10, 20, 2).encode()
    for at in range(len(text) - 4):
        for read in (BloomFilter.decode, looked_at):
            with pytest.raises(CorruptTableError):
                read(f"{text[:at]}={text[at + 1 :]}", BloomType.DYNAMIC_V0)


def test_a_text_that_is_no_base64_is_refused() -> None:
    for read in (BloomFilter.decode, looked_at):
        with pytest.raises(CorruptTableError):
            read("no base64!", BloomType.SIMPLE)
