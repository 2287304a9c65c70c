"""Options that contradict how a table of buckets was written are refused before a key occurs twice, whatever the options are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, OptionError
from pyhudi.kernels.arrays.bucket_hash import list_hashes

SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "v": pa.int64()})
KEYS = [f"k{number}" for number in range(30)]
EXPRESSIONS = "hoodie.bucket.index.partition.expressions"
TYPES = pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])


def of(count: int) -> dict[str, str]:
    return {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": str(count)}


CONSISTENT_HASHING = {**of(4), "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}


def table_at(path: Path, table_type: str = "MERGE_ON_READ") -> HudiTable:
    return HudiTable.create(path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type)


def upsert(table: HudiTable, value: int, options: Mapping[str, str], city: str = "o", keys: list[str] = KEYS) -> None:
    table.upsert([{"id": key, "city": city, "v": value} for key in keys], options=dict(options))


def bucket(key: str, count: int) -> int:
    return int((list_hashes(pa.array([key]), ["id"]) % count)[0])


def assert_refused(table: HudiTable, count: int, *arguments: Any, **more: Any) -> None:
    with pytest.raises(OptionError, match=r"contradicts? table"):
        upsert(table, 2, *arguments, **more)
    assert table.count() == count


@TYPES
@pytest.mark.parametrize("more", [{}, of(4), {"hoodie.index.type": "BUCKET"}])
def test_expressions_given_to_a_table_that_was_written_without(tmp_path, table_type, more) -> None:
    table = table_at(tmp_path, table_type)
    upsert(table, 1, of(4))
    assert_refused(table, 30, {**more, "hoodie.index.type": "BUCKET", EXPRESSIONS: "o,8"})
    upsert(table, 2, of(4))
    assert table.count() == 30


@TYPES
def test_another_number_or_expression_than_the_rules_of_the_table(tmp_path, table_type) -> None:
    table = table_at(tmp_path, table_type)
    rules = {**of(4), EXPRESSIONS: "o,8"}
    upsert(table, 1, rules)
    assert_refused(table, 30, {**rules, EXPRESSIONS: "o,7"})
    assert_refused(table, 30, of(8))
    for same in (rules, {}, of(4)):
        upsert(table, 2, same)
    assert table.count() == 30


@TYPES
def test_another_number_is_noticed_in_every_partition(tmp_path, table_type) -> None:
    table = table_at(tmp_path, table_type)
    upsert(table, 1, of(4))
    upsert(table, 1, of(4), "z", [next(key for key in KEYS if bucket(key, 8) == bucket(key, 4))])
    assert_refused(table, 31, of(8))


@TYPES
@pytest.mark.parametrize("seed", range(12))
def test_another_number_is_noticed_by_more_than_the_first_and_last_keys(tmp_path, table_type, seed) -> None:
    table, keys = table_at(tmp_path, table_type), [f"u{seed}-{number * 7919 % 1000:03d}" for number in range(50)]
    upsert(table, 1, of(2), keys=keys)
    assert_refused(table, 50, of(4), keys=keys)


@pytest.mark.parametrize("options", [{}, CONSISTENT_HASHING, {**CONSISTENT_HASHING, "hoodie.bucket.index.hash.field": "city2"}])
@pytest.mark.parametrize("engine", [CONSISTENT_HASHING, of(4)], ids=["consistent", "simple"])
def test_other_hash_fields(tmp_path, engine, options) -> None:
    schema = SCHEMA.append(pa.field("city2", pa.string()))
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id", "city2"], partition_by=["city"], table_type="MERGE_ON_READ")
    rows = [{"id": f"k{number}", "city": "o", "city2": f"z{number}", "v": number} for number in range(40)]
    table.upsert(rows, options={**engine, "hoodie.bucket.index.hash.field": "id"})
    with pytest.raises((OptionError, CorruptTableError)):
        table.upsert(rows, options=options)
    assert table.count() == 40
    table.upsert(rows, options={**engine, "hoodie.bucket.index.hash.field": "id"})
    assert table.count() == 40


@pytest.mark.parametrize("before", [of(4), {"hoodie.index.type": "SIMPLE"}], ids=["numbers", "no buckets"])
@pytest.mark.parametrize("city", ["o", "z"])
def test_consistent_hashing_in_a_table_that_was_written_otherwise(tmp_path, before, city) -> None:
    table = table_at(tmp_path)
    upsert(table, 1, before)
    assert_refused(table, 30, CONSISTENT_HASHING, city)
    upsert(table, 2, before)
    assert table.count() == 30


@TYPES
@pytest.mark.parametrize("options", [{}, of(4)])
def test_a_table_of_buckets_is_known_after_commits_without_files(tmp_path, table_type, options) -> None:
    table = table_at(tmp_path, table_type)
    upsert(table, 1, of(4))
    for number in range(5):
        upsert(table, 1, of(4), f"p{number}", ["x"])
    for number in range(5):
        table.delete(partitions=[f"p{number}"])
    new = [f"n{number}" for number in range(10)]
    upsert(table, 1, options, keys=new)
    upsert(table, 2, of(4), keys=new)
    assert table.count() == 40
    with pytest.raises(OptionError, match="whose file groups are buckets"):
        upsert(table, 3, {"hoodie.index.type": "BLOOM"})
