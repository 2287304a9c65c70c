"""Apache Hudi and pyhudi take turns on tables of every index: no row doubled, each key in the bucket that both sides say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.index.bucket_numbers import bucket_of
from pyhudi.kernels.arrays.bucket_hash import list_hashes
from tests.interop.reference import ReferenceHudi

SCHEMA = pa.schema({"id": pa.int64(), "name": pa.string(), "v": pa.int64(), "ts": pa.int64(), "p": pa.string()})
PLAIN = {"hoodie.metadata.enable": "false", "hoodie.compact.inline": "false"}
BUCKET = {**PLAIN, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
#: Apache Hudi's DataFrames store no expressions, and its tasks fail when several count buckets at the same time.
NUMBERED = {**BUCKET, "hoodie.bucket.index.partition.expressions": "^x,3;y,5", "hoodie.upsert.shuffle.parallelism": "1"}
RECORDS = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true", "hoodie.compact.inline": "false"}
RECORDS_BY_PARTITION = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.level.index.enable": "true",
    "hoodie.compact.inline": "false",
}
VIRTUAL = {**PLAIN, "hoodie.populate.meta.fields": "false", "hoodie.index.type": "SIMPLE"}
RECORD_LEVEL = "GLOBAL_RECORD_LEVEL_INDEX"
#: Options that say whether a record moves to the partition that its row names.
GLOBAL = {
    "GLOBAL_SIMPLE": "hoodie.simple.index.update.partition.path",
    "GLOBAL_BLOOM": "hoodie.bloom.index.update.partition.path",
    RECORD_LEVEL: "hoodie.record.index.update.partition.path",
}


@dataclass(frozen=True, slots=True)
class Side:
    """A table kind: `index` is what pyhudi has to find by itself; `own` are options of its writes."""

    index: str
    reference: Mapping[str, str]
    keys: str = "id"
    table_type: str = "COPY_ON_WRITE"
    own: Mapping[str, str] = field(default_factory=lambda: PLAIN)

    @property
    def options(self) -> dict[str, str]:
        return {
            "hoodie.table.name": "turns",
            "hoodie.datasource.write.recordkey.field": self.keys,
            "hoodie.datasource.write.partitionpath.field": "p",
            "hoodie.table.ordering.fields": "ts",
            "hoodie.datasource.write.table.type": self.table_type,
            **self.reference,
        }


SIDES = {
    "bucket_cow": Side("BUCKET", {**BUCKET, "hoodie.bucket.index.hash.field": "name"}, keys="id,name"),
    "bucket_mor": Side("BUCKET", BUCKET, table_type="MERGE_ON_READ"),
    "ring_mor": Side("BUCKET", {**BUCKET, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}, table_type="MERGE_ON_READ"),
    "bloom_mor": Side(
        "BLOOM", {**PLAIN, "hoodie.index.type": "BLOOM"}, table_type="MERGE_ON_READ", own={**PLAIN, "hoodie.index.type": "BLOOM"}
    ),
    "numbered_cow": Side("BUCKET", NUMBERED, own=NUMBERED),
    "by_partition": Side(
        "RECORD_LEVEL_INDEX", {**RECORDS_BY_PARTITION, "hoodie.index.type": "RECORD_LEVEL_INDEX"}, own=RECORDS_BY_PARTITION
    ),
    "virtual_mor": Side("SIMPLE", VIRTUAL, table_type="MERGE_ON_READ"),
    "record_index": Side("RECORD_LEVEL_INDEX", {**RECORDS, "hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX"}, own=RECORDS),
}


def rows(first: int, end: int, turn: int, odd: str = "x", even: str = "y") -> pa.Table:
    names = [f"näme {n}:x" for n in range(first, end)]
    partitions = [odd if n % 2 else even for n in range(first, end)]
    numbers = list(range(first, end))
    return pa.table({"id": numbers, "name": names, "v": [turn] * len(names), "ts": [turn] * len(names), "p": partitions}, schema=SCHEMA)


def values(table: pa.Table) -> list[tuple[int, int]]:
    return sorted(zip(table["id"].to_pylist(), table["v"].to_pylist(), strict=True))


@pytest.mark.parametrize("kind", SIDES)
def test_both_sides_find_each_other_s_records(reference: ReferenceHudi, tmp_path: Path, kind: str) -> None:
    side, path = SIDES[kind], tmp_path / kind
    hashed = {name: value for name, value in side.reference.items() if name == "hoodie.bucket.index.hash.field"}
    reference.write(path, rows(0, 24, 1), mode="overwrite", options=side.options)
    result = HudiTable.open(path).upsert(rows(12, 40, 2), {**side.own, **hashed})
    assert result.index == side.index
    reference.write(path, rows(36, 50, 3), options=side.options)
    HudiTable.open(path).upsert(rows(48, 60, 4), {**side.own, **hashed})
    turns = [1] * 12 + [2] * 24 + [3] * 12 + [4] * 12
    expected = list(enumerate(turns))
    if side.table_type == "MERGE_ON_READ":
        assert values(HudiTable.open(path).to_arrow()) == expected
        HudiTable.open(path).services.compact()
    assert values(HudiTable.open(path).to_arrow()) == expected
    assert values(reference.read(path)) == expected
    if kind == "numbered_cow":
        indices = {(row["p"], bucket_of(row["_hoodie_file_name"])) for row in reference.read(path).to_pylist()}
        assert indices == {("x", number) for number in range(3)} | {("y", number) for number in range(5)}
    if kind.startswith("bucket"):
        assert_in_their_buckets(reference.read(path), ["name"] if hashed else ["id"])


def every_turn() -> Iterator[Any]:
    """One kind of table for each index and each answer; the others are for `make test-slow`."""
    short = {("GLOBAL_SIMPLE", "COPY_ON_WRITE", False), ("GLOBAL_BLOOM", "MERGE_ON_READ", True), (RECORD_LEVEL, "COPY_ON_WRITE", True)}
    for case in product(GLOBAL, ("COPY_ON_WRITE", "MERGE_ON_READ"), (True, False)):
        yield pytest.param(*case, marks=() if case in short else pytest.mark.slow)


@pytest.mark.parametrize(("index", "table_type", "moves"), list(every_turn()))
def test_rows_that_name_another_partition_go_where_both_sides_say(
    reference: ReferenceHudi, tmp_path: Path, index: str, table_type: str, moves: bool
) -> None:
    path = tmp_path / "global"
    mdt = {**(RECORDS if index == RECORD_LEVEL else PLAIN), "hoodie.index.type": index, GLOBAL[index]: str(moves).lower()}
    options = Side(index, mdt, table_type=table_type).options
    reference.write(path, rows(0, 24, 1), mode="overwrite", options=options)
    HudiTable.open(path).upsert(rows(12, 30, 2, "y", "z"), mdt)
    reference.write(path, rows(20, 40, 3, "x", "w"), options=options)
    HudiTable.open(path).upsert(rows(36, 50, 4, "w", "y"), mdt)
    HudiTable.open(path).delete(rows(0, 2, 5, "nowhere", "nowhere"), options=mdt)
    expected = []
    for number in range(2, 50):
        turns = [turn for turn, (first, end, *_) in enumerate(TURNS) if first <= number < end]
        _, _, odd, even = TURNS[turns[-1] if moves else turns[0]]
        expected.append((number, turns[-1] + 1, odd if number % 2 else even))
    for result in (reference.read(path), HudiTable.open(path).to_arrow()):
        assert sorted((row["id"], row["v"], row["p"]) for row in result.to_pylist()) == expected


#: First and last row, and where they say that they are.
TURNS = ((0, 24, "x", "y"), (12, 30, "y", "z"), (20, 40, "x", "w"), (36, 50, "w", "y"))


def assert_in_their_buckets(table: pa.Table, fields: list[str]) -> None:
    expected = (list_hashes(table["_hoodie_record_key"].combine_chunks().cast(pa.string()), fields) % 4).tolist()
    assert [bucket_of(name) for name in table["_hoodie_file_name"].to_pylist()] == expected
    groups = {(row["p"], row["_hoodie_file_name"].partition("_")[0]) for row in table.to_pylist()}
    assert len(groups) <= 8


@pytest.mark.parametrize("version", ["9", pytest.param("6", marks=pytest.mark.slow)])
def test_both_sides_leave_the_partition_columns_out_of_files(reference: ReferenceHudi, tmp_path: Path, version: str) -> None:
    path = tmp_path / "dropped"
    drop = {"hoodie.datasource.write.drop.partition.columns": "true", "hoodie.write.table.version": version}
    options = {**SIDES["bloom_mor"].options, **PLAIN, "hoodie.index.type": "SIMPLE", "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}
    HudiTable.create(path, SCHEMA, name="turns", keys=["id"], partition_by=["p"], order_by=["ts"], options=drop)
    HudiTable.open(path).upsert(rows(0, 10, 1), PLAIN)
    assert set(reference.read(path)["p"].to_pylist()) == {"x", "y"}
    reference.write(path, rows(5, 15, 2), options=options)
    HudiTable.open(path).upsert(rows(12, 20, 3), PLAIN)
    HudiTable.open(path).delete(rows(0, 1, 0), options=PLAIN)
    expected = [(number, 1 if number < 5 else 2 if number < 12 else 3) for number in range(1, 20)]
    for result in (reference.read(path), HudiTable.open(path).to_arrow()):
        assert values(result) == expected
        assert [row["p"] == ("x" if row["id"] % 2 else "y") for row in result.to_pylist()] == [True] * 19
