"""What a write does about compaction afterwards."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.workers import wait_for_background

SCHEMA = pa.schema({"id": pa.int64(), "value": pa.int64()})
OFF = {"hoodie.compact.inline": "false"}


@pytest.fixture
def table(tmp_path) -> HudiTable:
    return HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")


def write(table: HudiTable, count: int = 1, **options: str) -> None:
    given = {name.replace("__", "."): value for name, value in options.items()}
    for number in range(count):
        table.upsert([{"id": 1, "value": number}, {"id": 2, "value": -number}], options=given)


def actions(table: HudiTable) -> list[str]:
    return [row["action"] for row in table.history().to_pylist()]


def test_fifth_delta_commit_is_compacted_by_default(table) -> None:
    write(table, 4)
    assert actions(table) == ["deltacommit"] * 4
    write(table)
    assert actions(table) == ["deltacommit"] * 5 + ["commit"]
    write(table, 4)
    assert actions(table).count("commit") == 1
    write(table)
    assert actions(table)[-1] == "commit"
    assert table.to_arrow(mode="read_optimized").to_pylist() == table.to_arrow().to_pylist()


def test_option_turns_it_off(table) -> None:
    write(table, 6, hoodie__compact__inline="false")
    assert actions(table) == ["deltacommit"] * 6


def test_schedule_inline_leaves_a_plan_that_the_next_inline_write_runs(table) -> None:
    write(table, 2, hoodie__compact__schedule__inline="true", hoodie__compact__inline__max__delta__commits="2")
    assert actions(table) == ["deltacommit", "deltacommit", "compaction"]
    write(table)
    assert actions(table) == ["deltacommit", "deltacommit", "commit", "deltacommit"]


def test_plan_stays_while_writes_are_told_to_leave_compaction_alone(table) -> None:
    write(table, 2, hoodie__compact__inline="false")
    table.services.compact(mode="schedule")
    write(table, 2, hoodie__compact__inline="false")
    assert actions(table)[2] == "compaction"


def test_background_compaction_is_done_when_it_is_waited_for(table) -> None:
    write(table, 2, hoodie__datasource__compaction__async__enable="true", hoodie__compact__inline__max__delta__commits="2")
    wait_for_background()
    assert "commit" in actions(table)
    assert table.to_arrow().num_rows == 2


def test_process_that_ends_waits_for_its_background_compaction(table) -> None:
    program = f"""
import pyhudi
table = pyhudi.HudiTable.open({table.storage.uri!r})
options = {{"hoodie.datasource.compaction.async.enable": "true", "hoodie.compact.inline.max.delta.commits": "2"}}
for number in range(2):
    table.upsert([{{"id": 1, "value": number}}], options=options)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert actions(table) == ["deltacommit", "deltacommit", "commit"]


def test_write_stands_when_the_compaction_after_it_fails(table, caplog) -> None:
    write(table, 2, hoodie__compact__inline="false")
    (damaged,) = (name for row in table.inspect.slices().to_pylist() for name in row["log_files"])
    table.storage.replace(damaged, b"no log file")
    result = table.upsert([{"id": 3, "value": 3}], options={"hoodie.compact.inline.max.delta.commits": "2"})
    assert result.instant is not None
    assert actions(table) == ["deltacommit"] * 3 + ["compaction"]
    assert "is committed, the compaction after it failed" in caplog.text


def test_write_leaves_compaction_to_the_process_that_is_at_it(table) -> None:
    write(table, 4)
    with table.storage.lock(0, "compaction"):
        write(table)
    assert "commit" not in actions(table)


def test_log_compaction_after_a_write_joins_the_logs(table) -> None:
    write(table, 3, hoodie__compact__inline="false")
    write(table, hoodie__compact__inline="false", hoodie__log__compaction__inline="true", hoodie__log__compaction__blocks__threshold="3")
    assert [row["operation"] for row in table.history().to_pylist()][-1] == "LOG_COMPACT"
    assert table.to_arrow().sort_by("id").to_pylist() == [{"id": 1, "value": 0}, {"id": 2, "value": 0}]
