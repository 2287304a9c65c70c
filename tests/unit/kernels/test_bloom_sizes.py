"""Bloom filters are sized for the keys of their file, grow with it, and are of the size that options name where they do."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi import HudiTable
from pyhudi.codec.bloom_codec import BloomFilter, BloomType, sizing
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.base_file import FOOTER_BLOOM_FILTER, WriterSettings
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.parquet_input import footer_entries, open_parquet
from pyhudi.spec.options import resolve
from pyhudi.write.options.write_config import writer_settings
from tests.unit.kernels.conftest import Group, keyed, record_context_of
from tests.unit.table.tables import make_table, ride

FITTING = WriterSettings(bloom_fits=True)


def rows(first: int, count: int) -> pa.Table:
    return keyed(pa.table({"id": pa.array(range(first, first + count), pa.int64())}))


def filter_of(group: Group) -> BloomFilter:
    assert group.base is not None
    with open_parquet(group.storage, group.base.path) as parquet:
        return BloomFilter.decode(footer_entries(parquet, group.storage, group.base.path)[FOOTER_BLOOM_FILTER], BloomType.DYNAMIC_V0)


@pytest.fixture
def group() -> Group:
    return Group(record_context_of(pa.schema({"id": pa.int64()})), settings=FITTING)


def test_small_file_is_small(group) -> None:
    """435 kB before, nearly all of it the filter for 60,000 keys."""
    group.write(rows(0, 50))
    assert group.storage.stat(group.base.path).size < 12_000
    assert filter_of(group).row_entries == 512


def test_small_table_written_with_default_options_is_small() -> None:
    table = make_table()
    table.upsert([ride(number) for number in range(50)])
    table.upsert([ride(number) for number in range(25, 75)])
    assert all(size < 12_000 for size in table.inspect.files()["bytes"].to_pylist())


def test_filter_grows_with_its_file_and_has_one_row_up_to_the_greatest_size(group) -> None:
    sizes, first = [], 0
    for count in (50, 200, 600, 10, 9_000, 25_000, 40_000, 30_000):
        group.write(rows(first, count))
        first += count
        bloom = filter_of(group)
        sizes.append((bloom.row_entries, len(bloom.rows)))
        probes = [*range(0, first, max(1, first // 300)), first - 1]
        assert all(bloom.might_contain(str(key)) for key in probes)
        assert not any(bloom.might_contain(f"other-{key}") for key in range(300))
    assert sizes == [(512, 1), (512, 1), (2048, 1), (2048, 1), (32768, 1), (60000, 1), (60000, 2), (60000, 2)]


def test_filter_for_too_large_a_number_shrinks_when_its_file_is_rewritten(group) -> None:
    """As those are that Apache Hudi and earlier releases wrote into small files."""
    group.settings = replace(FITTING, bloom_fits=False)
    group.write(rows(0, 50))
    assert filter_of(group).row_entries == 60000
    group.settings = FITTING
    group.write(rows(0, 1))
    bloom = filter_of(group)
    assert bloom.row_entries == 512
    assert all(bloom.might_contain(str(key)) for key in range(50))


def test_update_of_known_keys_takes_the_filter_over_as_it_is(group) -> None:
    group.write(rows(0, 50))
    before = filter_of(group).encode()
    group.write(rows(0, 50))
    assert filter_of(group).encode() == before


def test_full_filter_of_too_many_keys_is_as_small_as_can_be(group) -> None:
    group.settings = replace(FITTING, bloom_entries=1000, bloom_max_entries=2000, bloom_fpp=0.01)
    group.write(rows(0, 50))
    group.write(rows(50, 40_000))
    bloom = filter_of(group)
    assert (bloom.row_entries, len(bloom.rows)) == (512, 1)
    assert all(bloom.might_contain(f"other-{key}") for key in range(100))
    group.write(rows(40_050, 1))
    again = filter_of(group)
    assert (again.row_entries, len(again.rows)) == (512, 1)
    assert all(again.might_contain(f"other-{key}") for key in range(100))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=1, max_size=6))
def test_filters_of_any_growth_hold_all_keys(counts: list[int]) -> None:
    small = replace(FITTING, bloom_entries=700, bloom_fpp=0.001, bloom_max_entries=1000)
    group = Group(record_context_of(pa.schema({"id": pa.int64()})), settings=small)
    first = 0
    for count in counts:
        group.write(rows(first, count))
        first += count
    bloom = filter_of(group)
    assert all(bloom.might_contain(str(key)) for key in range(first))


@pytest.mark.parametrize(
    ("options", "entries"),
    [
        ({"hoodie.index.bloom.num_entries": "60000"}, 60000),
        ({"hoodie.index.bloom.num_entries": "100"}, 100),
        ({"hoodie.bloom.index.num_entries": "3000"}, 3000),
        ({"hoodie.bloom.index.filter.type": "DYNAMIC_V0"}, 512),
        ({}, 512),
    ],
)
def test_options_decide_the_size(group, options, entries) -> None:
    group.settings = writer_settings(resolve(options))
    group.write(rows(0, 20))
    assert filter_of(group).row_entries == entries


def test_simple_filter_cannot_grow_and_has_the_full_size() -> None:
    made = KeyFilter.empty(writer_settings(resolve({"hoodie.bloom.index.filter.type": "SIMPLE"})))
    made.add(pa.chunked_array([["a"]]))
    assert BloomFilter.decode(made.encode()).bits == sizing(60000, 1e-9)[0]


def test_filter_of_an_unknown_type_is_an_error_that_names_the_file(tmp_path) -> None:
    """One flipped bit in a footer without checksum, as Apache Hudi writes it; a read does not need the filter."""
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t", keys=["id"])
    table.upsert([{"id": 1}])
    (base,) = (tmp_path / "t").glob("*.parquet")
    content = base.read_bytes().replace(b"pyhudi.footer.crc", b"another.entry.crc")
    assert content.count(b"DYNAMIC_V0") == 1
    base.write_bytes(content.replace(b"DYNAMIC_V0", b"DYNAMIC_V4"))
    with pytest.raises(CorruptTableError, match=f"'{base.name}'.*unknown type 'DYNAMIC_V4'"):
        table.upsert([{"id": 1}])
    assert HudiTable.open(tmp_path / "t").to_arrow()["id"].to_pylist() == [1]


@pytest.mark.parametrize("probed", [False, True], ids=["rewritten", "probed"])
def test_damaged_filter_is_an_error_that_names_the_file(tmp_path, probed) -> None:
    """It is looked at where a file is rewritten, and by the bloom index where few keys are searched among many."""
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64()}), name="t", keys=["id"])
    table.upsert([{"id": number} for number in range(100)])
    (base,) = (tmp_path / "t").glob("*.parquet")
    content = base.read_bytes().replace(b"pyhudi.footer.crc", b"another.entry.crc")
    text = pq.read_metadata(base).metadata[FOOTER_BLOOM_FILTER.encode()]
    base.write_bytes(content.replace(text, b"!" + text[1:]))
    with pytest.raises(CorruptTableError, match=rf"'{base.name}'.*bloom filter"):
        table.upsert([{"id": 1 if probed else 500}], {"hoodie.index.type": "BLOOM" if probed else "SIMPLE"})
