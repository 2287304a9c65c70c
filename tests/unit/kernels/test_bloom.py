"""Bloom filters filled by columns of keys equal those filled key by key."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.codec.bloom_codec import BloomFilter, BloomType, StoredFilter, positions
from pyhudi.errors import OptionError
from pyhudi.kernels.arrays.murmur_columns import bit_positions
from pyhudi.kernels.base_file.base_file import FOOTER_BLOOM_FILTER, WriterSettings
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_parquet
from tests.unit.kernels.conftest import Group, keyed, record_context_of

keys = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
SMALL = WriterSettings(bloom_entries=5, bloom_fpp=0.01, bloom_max_entries=12)


def column(*batches: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(batch, pa.string()) for batch in batches], pa.string())


def key_by_key(some: list[str], kind: BloomType = BloomType.DYNAMIC_V0) -> BloomFilter:
    bloom = BloomFilter.empty(kind, entries=5, fpp=0.01, max_entries=12)
    for key in some:
        bloom.add(key)
    return bloom


def stored_filter(group: Group) -> BloomFilter:
    assert group.base is not None
    with open_parquet(group.storage, group.base.path) as parquet:
        return BloomFilter.decode(footer_entries(parquet, group.storage, group.base.path)[FOOTER_BLOOM_FILTER], BloomType.DYNAMIC_V0)


@given(st.lists(keys, max_size=40))
def test_bit_positions_of_a_column_are_those_of_its_keys(some: list[str]) -> None:
    sliced = pa.array(["before", *some, "after"], pa.string()).slice(1, len(some))
    result = sorted(int(position) for block in bit_positions(sliced, 1009, 7) for position in block)
    assert result == sorted(position for key in some for position in positions(key.encode(), 1009, 7))


@pytest.mark.parametrize("kind", list(BloomType))
@given(st.lists(st.lists(keys, max_size=8), max_size=3))
def test_filter_of_columns_is_that_of_keys_one_by_one(kind: BloomType, batches: list[list[str]]) -> None:
    some = [key for batch in batches for key in batch]
    made = KeyFilter.empty(WriterSettings(bloom_type=kind, bloom_entries=5, bloom_fpp=0.01, bloom_max_entries=12))
    if len(some) > made._most_keys:
        return
    for batch in batches:
        made.add(column(batch))
    assert made.encode() == key_by_key(some, kind).encode()


def test_full_rows_take_turns_as_in_the_reference() -> None:
    some = [f"key-{number}" for number in range(20)]
    made = KeyFilter.empty(SMALL)
    assert len(some) <= made._most_keys
    made.add(column(some[:17], some[17:]))
    reference = key_by_key(some)
    assert len(reference.rows) == 3
    assert made.encode() == reference.encode()


@settings(max_examples=30)
@given(st.lists(keys, max_size=5), st.lists(keys, max_size=5))
def test_adding_to_a_stored_filter_is_going_on_where_it_stopped(old: list[str], new: list[str]) -> None:
    stored = key_by_key(old).encode()
    made = KeyFilter(StoredFilter.of(stored, BloomType.DYNAMIC_V0, max_entries=12), keys=len(old))
    made.add(column(new))
    assert made.encode() == key_by_key([*old, *new]).encode()
    assert new or made.encode() is stored


def test_filter_of_too_many_keys_says_maybe_to_everything() -> None:
    made = KeyFilter.empty(SMALL)
    made.add(column([f"key-{number}" for number in range(made._most_keys + 1)]))
    bloom = BloomFilter.decode(made.encode(), BloomType.DYNAMIC_V0)
    assert all(bloom.might_contain(f"other-{number}") for number in range(100))


def test_filter_of_the_most_keys_still_says_no_to_about_half_of_the_others() -> None:
    made = KeyFilter.empty(SMALL)
    made.add(column([f"key-{number}" for number in range(made._most_keys)]))
    bloom = BloomFilter.decode(made.encode(), BloomType.DYNAMIC_V0)
    maybes = sum(bloom.might_contain(f"other-{number}") for number in range(2000))
    assert 600 < maybes < 1400


def test_rewrite_adds_the_new_keys_and_keeps_the_old_ones(group: Group) -> None:
    group.write(keyed(pa.table({"id": [1, 2], "v": ["a", "b"]})))
    group.write(keyed(pa.table({"id": [2, 3], "v": ["B", "c"]})))
    bloom = stored_filter(group)
    assert [bloom.might_contain(key) for key in ("1", "2", "3", "4")] == [True, True, True, False]
    assert bloom.last_row_entries == 3


def test_rewrite_of_a_file_without_a_filter_gives_it_one_of_all_its_keys() -> None:
    schema = pa.schema({"id": pa.int64()})
    group = Group(record_context_of(schema), settings=WriterSettings(bloom_enabled=False))
    group.write(keyed(pa.table({"id": [1, 2]})))
    group.settings = WriterSettings(bloom_entries=1000, bloom_max_entries=1000)
    group.write(keyed(pa.table({"id": [3]})))
    bloom = stored_filter(group)
    assert [bloom.might_contain(key) for key in ("1", "2", "3", "4")] == [True, True, True, False]


def test_unknown_filter_type_is_refused_with_those_that_are_served() -> None:
    with pytest.raises(OptionError, match="SIMPLE"):
        WriterSettings(bloom_type="CUCKOO")
