"""A merge-on-read table as it was after each of its writes, before and after compactions, read in every way there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.unit.table.tables import SCHEMA, ride


def rows(table: HudiTable, **read: Any) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = table.to_arrow(**read).sort_by("id").to_pylist()
    return result


WITHOUT_COMPACTION = {"hoodie.compact.inline": "false", "hoodie.datasource.compaction.async.enable": "false"}


@pytest.fixture(params=["6", "8", "9"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> HudiTable:
    return HudiTable.create(
        tmp_path / "rides",
        SCHEMA,
        name="rides",
        keys=["id"],
        partition_by=["city"],
        order_by=["at"],
        table_type="MERGE_ON_READ",
        options={"hoodie.write.table.version": request.param},
    )


def lived(table: HudiTable) -> dict[str, list[dict[str, Any]]]:
    """Write, delete and compact; return the rows after each write by its instant."""
    states = {}

    def see(instant: str | None) -> None:
        assert instant is not None
        states[instant] = rows(table)

    see(table.insert([ride(n, ("oslo", "rome")[n % 2], n, at=5) for n in range(8)]).instant)
    see(table.upsert([ride(n, ("oslo", "rome")[n % 2], n * 10, at=6) for n in range(4)]).instant)
    see(table.delete(where="value >= 10 AND value <= 20").instant)
    [planned] = table.services.compact(mode="schedule")
    see(table.upsert([ride(0, "oslo", 77, at=7), ride(2, "oslo", 78, at=7), ride(9, "rome", 79, at=7)], WITHOUT_COMPACTION).instant)
    table.services.compact(planned.instant)
    see(table.upsert([ride(4, "oslo", 1, at=4), ride(5, "rome", 80, at=9)]).instant)
    see(table.delete(where="id IN (0, 5)").instant)
    return states


def test_every_write_can_be_read_as_it_was(table: HudiTable) -> None:
    states = lived(table)
    assert len({repr(value) for value in states.values()}) == len(states)
    for instant, expected in states.items():
        assert rows(table, as_of=instant) == expected
        assert table.count(as_of=instant) == len(expected)


def test_delete_by_condition_takes_rows_out_of_log_files(table: HudiTable) -> None:
    *_, last = lived(table).values()
    assert [row["id"] for row in last] == [2, 3, 4, 6, 7, 9]
    assert {row["id"]: row["value"] for row in last} == {2: 78, 3: 30, 4: 4, 6: 6, 7: 7, 9: 79}


def test_batches_columns_filters_and_counts_agree_with_the_rows(table: HudiTable) -> None:
    lived(table)
    whole = table.to_arrow()
    assert table.to_batches().read_all().equals(whole)
    assert table.count(filter="value > 20") == sum(value > 20 for value in whole["value"].to_pylist())
    table_rows = table.to_arrow(columns=["id"], filter="value > 20 AND city = 'rome'")
    assert sorted(table_rows["id"].to_pylist()) == [row["id"] for row in rows(table) if row["value"] > 20 and row["city"] == "rome"]


def test_read_optimized_shows_base_files_only(table: HudiTable) -> None:
    lived(table)
    by_id = {row["id"]: row for row in rows(table, mode="read_optimized")}
    assert by_id[5]["value"] == 5
    assert 0 in by_id


def test_meta_columns_of_merged_rows_are_those_of_their_last_write(table: HudiTable) -> None:
    *_, update, _ = lived(table)
    merged = table.to_arrow(meta_columns=True)
    assert merged.schema.names[:5] == [name for name in merged.schema.names if name.startswith("_hoodie_")]
    assert isinstance(merged["_hoodie_commit_time"], pa.ChunkedArray)
    assert update not in merged["_hoodie_commit_time"].to_pylist()  # one row was late, the other is deleted
