"""BLOOM: filters rule base files out, footers' or those of the metadata table; a wrong "maybe" costs a read, never a row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.kernels.base_file.bloom_probe import may_hold_keys, might_contain
from pyhudi.metadata_table.format.record import BloomFilterRecord
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.call_log import RecordingStorage
from tests.unit.table.tables import make_table, ride, rows_of

BLOOM = {"hoodie.index.type": "BLOOM", "hoodie.parquet.small.file.limit": "0"}


@pytest.mark.parametrize("kind", BloomType)
def test_columns_of_keys_get_the_answers_of_the_filter_key_by_key(kind: BloomType) -> None:
    bloom = BloomFilter.empty(kind, entries=50, fpp=0.01, max_entries=150)
    for number in range(200):
        bloom.add(f"k{number}")
    keys = [f"k{number}" for number in range(0, 1200, 3)] + ["é", "another length"]
    assert might_contain(bloom, pa.array(keys)).tolist() == [bloom.might_contain(key) for key in keys]


def test_filter_that_is_full_rules_nothing_out() -> None:
    bloom = BloomFilter.empty(BloomType.SIMPLE)
    bloom.rows = [bytearray(b"\xff" * len(bloom.rows[0]))]
    assert might_contain(bloom, pa.array(["a", "b"])).all()


def test_no_filter_is_asked_where_reading_is_cheaper() -> None:
    footer = {"org.apache.hudi.bloomfilter": "damaged"}
    assert may_hold_keys(footer, pa.array(["a", "b"]), 19)
    assert not may_hold_keys(footer, pa.array([], pa.string()), 19)


@pytest.mark.parametrize("source", ["footers", "metadata table"])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_only_files_that_may_hold_a_key_are_read(source: str, table_type: str) -> None:
    storage = RecordingStorage(MemoryStorage())
    table = make_table(storage, table_type=table_type)
    options = {**BLOOM, "hoodie.metadata.index.bloom.filter.enable": "true"}
    options |= {"hoodie.bloom.index.use.metadata": "true"} if source == "metadata table" else {}
    for first in range(4):  # ranges overlap: only filters can tell the files apart
        table.insert([ride(number * 4 + first) for number in range(100)], options=options)
    storage.calls.clear()
    result = table.upsert([ride(201, value=1)], options=options)
    assert result.index == "BLOOM"
    if source == "metadata table":
        new_buckets = {
            call.path.partition("_")[0] for call in storage.calls if call.method == "open_input" and call.path.endswith(".parquet")
        }
        assert len(new_buckets) == 1
    assert [row["value"] for row in rows_of(table) if row["id"] == 201] == [1]
    assert len(rows_of(table)) == 400


def test_filter_of_an_unknown_type_in_the_metadata_table_rules_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(MemoryStorage())
    options = {**BLOOM, "hoodie.metadata.index.bloom.filter.enable": "true", "hoodie.bloom.index.use.metadata": "true"}
    table.insert([ride(1)], options=options)
    original = MetadataTable.bloom_filters

    def of_an_unknown_type(*arguments: Any) -> dict[str, BloomFilterRecord]:
        return {name: replace(record, kind="DYNAMIC_V4") for name, record in original(*arguments).items()}

    monkeypatch.setattr(MetadataTable, "bloom_filters", of_an_unknown_type)
    result = table.upsert([ride(1, value=2)], options=options)
    assert (result.index, result.updated, result.inserted) == ("BLOOM", 1, 0)
