"""Log compactions of the metadata table: Apache Hudi reads by ours and continues with them, and so does pyhudi with those of Apache
Hudi.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable, open_writer_table
from tests.interop.kinds import Kind
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import trips
from tests.interop.test_metadata_table import ON, check
from tests.unit.metadata_table.replays import sources
from tests.unit.service.test_indexes import placed

JOINED = {
    **ON,
    "hoodie.metadata.log.compaction.enable": "true",
    "hoodie.metadata.log.compaction.blocks.threshold": "2",
    "hoodie.metadata.compact.max.delta.commits": "12",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.compact.inline": "false",
}

# pyhudi finds keys by the record index where there is one. By base files Apache Hudi would find a deleted key where it was, and so twice.
BY_KEY = {"hoodie.index.type": "RECORD_INDEX"}


def joined(table: HudiTable) -> frozenset[str]:
    return own_of(table).timeline.log_compactions


def own_of(table: HudiTable) -> MetadataWriterTable:
    mdt = open_writer_table(table.storage, sources())
    assert mdt is not None
    return mdt


def check_keys(reference: ReferenceHudi, table: HudiTable, name: str) -> None:
    """Each key is found by the record index where its row is, those that were deleted are not."""
    expected = {f"trip-{number}" for number in range(10)}
    condition = f"id IN ({', '.join(repr(key) for key in sorted(expected))})"
    reference.sql(f"REFRESH TABLE {name}")
    rows = reference.sql(f"SELECT id FROM {name} WHERE {condition}", conf=JOINED).column("id").to_pylist()
    there = sorted({key for key, _, _ in placed(table)} & expected)
    assert sorted(rows) == sorted(table.to_arrow(columns=["id"], filter=condition).column("id").to_pylist()) == there
    assert table.inspect.health().to_pylist() == []


@pytest.mark.parametrize(
    ("version", "table_type"),
    [
        (9, "COPY_ON_WRITE"),
        pytest.param(6, "COPY_ON_WRITE", marks=pytest.mark.slow),
        pytest.param(8, "MERGE_ON_READ", marks=pytest.mark.slow),
    ],
)
def test_both_continue_with_log_compactions_of_the_other(reference: ReferenceHudi, tmp_path: Path, version: int, table_type: str) -> None:
    name = f"joined_{version}_{table_type.lower()}"
    kind = Kind("joined", version=version, table_type=table_type, order_by=("amount",), options=JOINED | BY_KEY)
    table = dataclasses.replace(kind, options={}).create(tmp_path / "t")
    table.insert(trips(0, 6), JOINED)
    for turn in range(4):
        table.upsert(trips(turn, turn + 3, amount=turn + 1), JOINED)
        table.delete(trips(2 * turn, 2 * turn + 1), options=JOINED)
    ours = joined(table)
    assert len(ours) > 2
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{tmp_path / 't'}'")
    check_keys(reference, table, name)
    kind.reference_writes(reference, tmp_path / "t", "upsert", trips(0, 4, amount=7))
    kind.reference_writes(reference, tmp_path / "t", "delete", trips(1, 2, amount=9))
    kind.reference_writes(reference, tmp_path / "t", "upsert", trips(2, 3, amount=8))
    theirs = joined(table) - ours
    assert theirs
    check_keys(reference, table, name)
    table.upsert(trips(1, 10, amount=10), JOINED)
    table.delete(trips(3, 4), options=JOINED)
    check(reference, tmp_path / "t", name)
    check_keys(reference, table, name)
    assert joined(table) - ours - theirs
