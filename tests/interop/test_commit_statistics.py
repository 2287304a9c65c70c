"""Event times and rolling metadata: Apache Hudi states the same of the same writes, and each side continues what the other states."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.timeline.instant_details import read_commit
from pyhudi.timeline.load_timeline import load_timeline
from tests.interop.reference import ReferenceHudi

MILLIS = 1_700_000_000_000
OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.table.ordering.fields": "n",
    "hoodie.metadata.enable": "false",
    "hoodie.write.track.event.time.watermark": "true",
    "hoodie.payload.event.time.field": "at",
    "hoodie.write.rolling.metadata.keys": "_offset",
}


def rows(*values: tuple[str, str, int, int]) -> pa.Table:
    schema = pa.schema({"id": pa.string(), "city": pa.string(), "n": pa.int64(), "at": pa.int64()})
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in values], schema)


FIRST = rows(("a", "oslo", 1, MILLIS // 1000), ("b", "oslo", 1, MILLIS + 500))
SECOND = rows(("a", "oslo", 2, MILLIS + 5000), ("c", "rome", 2, MILLIS + 3000))


def stated(path: Path) -> list[tuple[str | None, list[tuple[int | None, int | None]]]]:
    """Of each commit the rolling entry, and the event times of its files."""
    table = HudiTable.open(path)
    commits = [read_commit(table.storage, table.config, one) for one in load_timeline(table.storage, table.config).data_instants()]
    return [
        (commit.extra_metadata.get("_offset"), sorted((one.min_event_time, one.max_event_time) for one in commit.all_stats()))
        for commit in commits
    ]


@pytest.mark.slow
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_both_state_the_same_and_continue_each_other(reference: ReferenceHudi, tmp_path: Path, table_type: str) -> None:
    options = {**OPTIONS, "hoodie.datasource.write.table.type": table_type}
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    reference.write(theirs, FIRST, options={**options, "_offset": "10"})
    reference.write(theirs, SECOND, options=options)
    table = HudiTable.create(ours, FIRST.schema, name="t", keys=["id"], partition_by=["city"], order_by=["n"], table_type=table_type)
    of_writes = {name: value for name, value in OPTIONS.items() if "write.track" in name or "event" in name or "rolling" in name}
    table.upsert(FIRST, {**of_writes, "_offset": "10"})
    table.upsert(SECOND, of_writes)
    assert stated(ours) == stated(theirs)
    assert [offset for offset, _ in stated(ours)] == ["10", "10"]

    third = rows(("b", "oslo", 3, MILLIS + 9000))
    reference.write(ours, third, options=options)
    HudiTable.open(theirs).upsert(third, of_writes)
    assert stated(ours)[-1] == stated(theirs)[-1]
    expected = sorted(row["n"] for row in HudiTable.open(theirs).to_arrow().to_pylist())
    assert sorted(reference.read(ours)["n"].to_pylist()) == sorted(reference.read(theirs)["n"].to_pylist()) == expected == [2, 2, 3]
