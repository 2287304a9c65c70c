"""`table.changes`: the rows that a span of commits wrote, as they are at its end."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, OptionError, UnsupportedError, UsageError
from pyhudi.read.incremental.incremental import ChangesQuery, open_changes
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from tests.tables import unpack
from tests.unit.table.tables import make_table, ride

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string(), "p": pa.string()})


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> HudiTable:
    """Four commits: three rows, one of them changed, one deleted, one added."""
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["p"], table_type=request.param)
    table.upsert([{"id": n, "v": f"a{n}", "p": "xy"[n % 2]} for n in (1, 2, 3)])
    table.upsert([{"id": 2, "v": "b2", "p": "x"}])
    table.delete([{"id": 1, "p": "y"}])
    table.upsert([{"id": 3, "v": "c3", "p": "y"}, {"id": 4, "v": "c4", "p": "x"}])
    return table


def times(table: HudiTable) -> list[str]:
    result: list[str] = table.history().column("completed").to_pylist()
    return result


def values_by_id(rows: pa.Table) -> dict[int, str]:
    pairs = list(zip(rows["id"].to_pylist(), rows["v"].to_pylist(), strict=True))
    assert len(dict(pairs)) == len(pairs), "a row came twice"
    return dict(pairs)


def test_all_changes_are_the_snapshot(table: HudiTable) -> None:
    assert values_by_id(table.changes()) == values_by_id(table.to_arrow()) == {2: "b2", 3: "c3", 4: "c4"}
    assert values_by_id(table.changes(since="earliest")) == values_by_id(table.to_arrow())


def test_the_begin_is_open_and_the_end_closed(table: HudiTable) -> None:
    first, second, third, fourth = times(table)
    assert values_by_id(table.changes(first, second)) == {2: "b2"}
    assert values_by_id(table.changes(second, third)) == {}
    assert values_by_id(table.changes(third, fourth)) == {3: "c3", 4: "c4"}
    assert values_by_id(table.changes(fourth)) == {}
    assert values_by_id(table.changes(first)) == {2: "b2", 3: "c3", 4: "c4"}


def test_the_rows_stand_as_at_the_end_of_the_span(table: HudiTable) -> None:
    first, second, third, _ = times(table)
    assert values_by_id(table.changes(until=first)) == {1: "a1", 2: "a2", 3: "a3"}
    assert values_by_id(table.changes(until=third)) == {2: "b2", 3: "a3"}
    assert values_by_id(table.changes("earliest", second)) == {1: "a1", 2: "b2", 3: "a3"}


def test_the_spans_from_commit_to_commit_give_every_row_that_stands(table: HudiTable) -> None:
    edges = [None, *times(table)]
    notes_by_id: dict[int, str] = {}
    for since, until in itertools.pairwise(edges):
        notes_by_id |= values_by_id(table.changes(since, until))
    snapshot = values_by_id(table.to_arrow())
    assert {key: value for key, value in notes_by_id.items() if key in snapshot} == snapshot


def test_a_replaced_partition_gives_no_row_twice(table: HudiTable) -> None:
    before = times(table)[-1]
    table.overwrite([{"id": 9, "v": "n", "p": "x"}])
    assert values_by_id(table.changes(before)) == {9: "n"}
    assert values_by_id(table.changes()) == values_by_id(table.to_arrow())


def test_compaction_gives_no_row_twice(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    table.upsert([{"id": n, "v": "a", "p": "x"} for n in range(5)])
    table.upsert([{"id": 2, "v": "b", "p": "x"}])
    since = times(table)[0]
    table.services.compact()
    assert values_by_id(table.changes(since)) == {2: "b"}
    assert values_by_id(table.changes()) == values_by_id(table.to_arrow())


@pytest.mark.parametrize("name", ["apache_hudi/sql_operations_v9", "apache_hudi/sql_operations_v6", "apache_hudi/cleaned_and_archived_v9"])
def test_all_changes_of_tables_of_apache_hudi_are_the_snapshot(name: str, tmp_path: Path) -> None:
    table = HudiTable.open(unpack(name, tmp_path))
    assert table.changes().num_rows == table.to_arrow().num_rows


def test_a_begin_among_archived_commits_is_answered_by_a_scan(tmp_path: Path) -> None:
    table = HudiTable.open(unpack("apache_hudi/cleaned_and_archived_v9", tmp_path))
    assert table.changes("1970-01-02").num_rows == table.to_arrow().num_rows


def test_a_begin_among_archived_commits_without_a_scan_names_the_earliest_safe_one(tmp_path: Path) -> None:
    storage = LocalStorage(str(unpack("apache_hudi/cleaned_and_archived_v9", tmp_path)))
    with pytest.raises(UsageError, match="earliest safe time is") as refused:
        open_changes(storage, ChangesQuery("1970-01-02", may_scan=False))
    (safe,) = re.findall(r"earliest safe time is (\d+)", str(refused.value))
    assert open_changes(storage, ChangesQuery(safe, may_scan=False)).written.commits
    with pytest.raises(UsageError):
        open_changes(storage, ChangesQuery(str(int(safe) - 1), may_scan=False))


def test_an_end_whose_files_were_cleaned_is_refused(tmp_path: Path) -> None:
    table = HudiTable.open(unpack("apache_hudi/cleaned_and_archived_v9", tmp_path))
    commits = table.history().filter(pc.field("action") == "commit")
    assert table.changes(until=commits["completed"][-1].as_py()).num_rows == table.to_arrow().num_rows
    with pytest.raises(UsageError, match="deleted files of that time"):
        table.changes(until=commits["completed"][1].as_py())


def test_a_filter_on_a_meta_column_works_on_a_partitioned_table(table: HudiTable) -> None:
    (first, *_) = table.history().column("requested").to_pylist()
    assert values_by_id(table.to_arrow(filter=f"_hoodie_commit_time > '{first}'")) == {2: "b2", 3: "c3", 4: "c4"}


def test_what_is_no_time_or_no_format_is_refused(table: HudiTable) -> None:
    with pytest.raises(OptionError, match="yesterday"):
        table.changes("yesterday")
    with pytest.raises(UsageError, match="cdc"):
        table.changes(format="cdc")
    with pytest.raises(OptionError, match="latest_state"):
        table.changes(format="latest")  # type: ignore[arg-type]


def test_a_table_without_meta_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="populate"):
        HudiTable.open(unpack("apache_hudi/virtual_keys_v9", tmp_path)).changes()


@pytest.mark.parametrize("version", ["6", "9"])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_rows_have_the_latest_columns_unless_those_of_the_end_are_asked_for(tmp_path: Path, table_type: str, version: str) -> None:
    options = {"hoodie.write.table.version": version}
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["p"], table_type=table_type, options=options)
    table.upsert([{"id": 1, "v": "a1", "p": "x"}, {"id": 2, "v": "a2", "p": "x"}])
    table.upsert([{"id": 2, "v": "b2", "p": "x"}])
    end = times(table)[-1] or table.history()["requested"].to_pylist()[-1]
    table.upsert([{"id": 3, "v": "c3", "p": "x", "added": 7}])
    rows = table.changes(until=end)
    assert rows.schema.names == table.schema.names == ["id", "v", "p", "added"]
    assert rows.sort_by("id").to_pylist() == [{"id": n, "v": v, "p": "x", "added": None} for n, v in ((1, "a1"), (2, "b2"))]
    at_end = table.changes(until=end, schema_at_end=True)
    assert at_end.schema.names == ["id", "v", "p"]
    assert at_end.sort_by("id").to_pylist() == rows.sort_by("id").drop_columns(["added"]).to_pylist()
    assert table.changes(since=end)["added"].to_pylist() == [7] * table.changes(since=end).num_rows


@pytest.mark.parametrize("version", ["6", "9"])
def test_emptied_commit_is_an_error_that_names_its_file(version: str) -> None:
    storage = MemoryStorage()
    table = make_table(storage, options={"hoodie.write.table.version": version})
    table.upsert([ride(1)])
    table.upsert([ride(2)])
    folder = ".hoodie" if version == "6" else ".hoodie/timeline"
    path = [status.path for status in storage.list(folder) if status.path.endswith(".commit")][-1]
    since = min(table.history()["requested" if version == "6" else "completed"].to_pylist())
    storage.replace(path, b"")
    with pytest.raises(CorruptTableError, match=path):
        HudiTable(storage.copy()).changes(since)
