"""Keys and places of records equal Apache Hudi's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.xxhash import xxh64
from pyhudi.metadata_table.format import metadata_keys as keys

TEXT = st.text(alphabet=st.sampled_from("ab$\\\0é😀"), max_size=8)


# Of the xxHash specification's test vectors, and of its reference implementation for longer input.
@pytest.mark.parametrize(
    ("data", "seed", "expected"),
    [
        (b"", 0, 0xEF46DB3751D8E999),
        (b"a", 0, 0xD24EC4F1A98C6E5B),
        (b"abc", 0, 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
    ],
)
def test_xxh64_gives_the_published_values(data, seed, expected) -> None:
    assert xxh64(data, seed) == expected


def test_names_hash_as_in_tables_of_apache_hudi() -> None:
    assert keys.column_stats_prefix("currency") == "/m6lxu4Dh5w="
    assert keys.column_stats_prefix("currency", "region=us") == "/m6lxu4Dh5w=431THTTwO5Q="
    file_name = "c7bbe63e-fa43-40ba-94a9-03158165edc6-0_1-27-53_20260307162434124.parquet"
    assert keys.column_stats_key("currency", "region=us", file_name) == "/m6lxu4Dh5w=431THTTwO5Q=W7RhzS2IFnrW7FlqIkFJUw=="
    assert keys.bloom_filter_key("region=us", file_name) == "431THTTwO5Q=W7RhzS2IFnrW7FlqIkFJUw=="


def test_table_without_partitions_hashes_a_dot() -> None:
    assert keys.partition_stats_key("c", "") == keys.column_stats_prefix("c") + keys.bloom_filter_key("", "f")[:12]
    assert keys.partition_name("") == "."
    assert keys.partition_path(".") == ""


@given(st.none() | TEXT, TEXT)
def test_secondary_key_is_taken_apart_into_what_it_was_made_of(value, record_key) -> None:
    if value == "\0":
        return  # one such character is what stands for null
    key = keys.secondary_key(value, record_key)
    assert keys.split_secondary_key(key) == (value, record_key)
    assert keys.secondary_key_prefix(key) == keys.secondary_prefix(value)


def test_null_in_a_secondary_key_is_not_escaped() -> None:
    assert keys.secondary_key(None, "TXN-003") == "\0$TXN-003"
    assert keys.secondary_key("a$b\\", "k") == "a\\$b\\\\$k"


@pytest.mark.parametrize("key", ["", "abc", "a\\$b"])
def test_text_without_separator_is_no_secondary_key(key) -> None:
    with pytest.raises(ValueError, match="no key"):
        keys.split_secondary_key(key)


# `String.hashCode` of the first is the least int, whose absolute value in Java is itself.
@pytest.mark.parametrize(("key", "count", "expected"), [("polygenelubricants", 10, 8), ("TXN-003", 10, 6), ("", 7, 0), ("😀", 10, 9)])
def test_file_group_of_a_key_is_javas(key, count, expected) -> None:
    assert keys.shard(key, count) == expected
