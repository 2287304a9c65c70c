"""Indexes are built while writers go on: what they write meanwhile is in the index, and readers see it when it is whole."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, UnsupportedError, UsageError
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.service.indexes import run_index_build as run
from pyhudi.spec.table.table_keys import METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT
from pyhudi.storage.table_properties import store_properties
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.locked_table import locked_table
from pyhudi.txn.metadata_updates import prepare_metadata_table
from tests.unit.metadata_table.test_sync import check_statistics
from tests.unit.service.test_indexes import check, config_of, new_table, open_metadata, rows
from tests.unit.table.tables import make_table, ride

KINDS = (pytest.param("COPY_ON_WRITE", marks=pytest.mark.slow), "MERGE_ON_READ")
QUIET = {"hoodie.compact.inline": "false"}
FAST = QUIET | {"hoodie.metadata.compact.max.delta.commits": "2"}
NAME = "secondary_index_by_name"
Change = Callable[[HudiTable], object]


class KilledError(BaseException):
    """What ends a run that is killed."""


def first(table: HudiTable) -> None:
    """Update, insert, move nothing, delete: every kind of entry changes. The metadata table is compacted in between."""
    table.upsert(pa.concat_tables([rows(0, 6, ts=50), rows(20, 24)]), FAST)
    table.delete(where="id in ('k004', 'k005', 'k023')", options=FAST)
    table.upsert(rows(5, 6, ts=99), FAST)


def second(table: HudiTable) -> None:
    table.insert(rows(30, 32, city="new"), FAST)
    table.overwrite(rows(40, 43, city="c1"), options=FAST)
    table.upsert(rows(8, 12, ts=77), FAST)
    table.delete(where="id in ('k010', 'k040')", options=FAST)


def concurrent_instants(monkeypatch: pytest.MonkeyPatch, before: Change, after: Change, table: HudiTable) -> None:
    """Has writers commit while builds run: after the start, and once all is written."""
    write = run._write

    def interrupted(work: run.Started) -> Any:
        before(table)
        stats = write(work)
        after(table)
        return stats

    monkeypatch.setattr(run, "_write", interrupted)


def killed(monkeypatch: pytest.MonkeyPatch, table: HudiTable, name: str, *args: Any, at: str = "_write") -> str:
    """Return the instant of a build that was killed in the middle."""

    def die(*_: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(run, at, die)
        patch.setattr(run, "_rollback_after_failure", lambda *_, **__: None)
        with pytest.raises(KilledError):
            table.services.index(name, *args)
    [build] = [row["requested"] for row in table.history().to_pylist() if row["action"] == "indexing" and row["state"] == "inflight"]
    result: str = build
    return result


def problems(table: HudiTable) -> list[dict[str, str]]:
    result: list[dict[str, str]] = table.inspect.health().to_pylist()
    return result


def indexed(tmp_path: Path, kind: str) -> HudiTable:
    table = new_table(tmp_path, kind)
    table.insert(rows(0, 20), QUIET)
    return table


@pytest.mark.parametrize("kind", KINDS)
def test_what_writers_commit_while_an_index_is_built_is_in_it(tmp_path, monkeypatch, kind) -> None:
    table = indexed(tmp_path, kind)
    concurrent_instants(monkeypatch, first, second, table)
    assert table.services.index("by_name", "name").built == ("record_index", NAME)
    check(table)
    monkeypatch.undo()
    assert config_of(table).metadata_partitions_inflight == ()
    assert problems(table) == []
    table.upsert(rows(8, 14, ts=88), FAST)
    table.delete(where="id in ('k011', 'k041')", options=FAST)
    check(table)
    table.services.index(rebuild=True)
    check(table)


@pytest.mark.parametrize("dropped", ["column_stats", "partition_stats"])
def test_partition_statistics_are_built_by_name_beside_writers(tmp_path, monkeypatch, dropped) -> None:
    """They need those of files, which are built with them where there are none."""
    table = new_table(tmp_path, "COPY_ON_WRITE")
    table.insert(rows(0, 20))
    table.services.index(dropped, drop=True)
    needed = (*(("column_stats",) if dropped == "column_stats" else ()), "partition_stats")
    assert table.services.index("partition_stats", dry_run=True).built == needed
    left = {"hoodie.metadata.index.async": "true", **FAST}
    concurrent_instants(
        monkeypatch, lambda table: table.upsert(rows(0, 6, ts=50), left), lambda table: table.delete(where="id > 'k015'"), table
    )
    done = table.services.index("partition_stats")
    monkeypatch.undo()
    assert done.built == needed
    assert done.instant is not None
    with pytest.raises(UsageError, match="has the index partition_stats already"):
        table.services.index("partition_stats")
    check_statistics(table.storage)
    assert problems(table) == []
    table.upsert(rows(8, 14, ts=88), FAST)
    check_statistics(table.storage)
    assert table.inspect.plan("ts = 88").to_pylist()


@pytest.mark.parametrize(
    ("kind", "version", "partition_by", "error", "message"),
    [
        ("MERGE_ON_READ", "9", ["city"], UnsupportedError, "of rows in log files nothing is known"),
        ("COPY_ON_WRITE", "6", ["city"], UnsupportedError, "has version 6, whose tables have no partition_stats"),
        ("COPY_ON_WRITE", "9", [], UsageError, "has no partitions, and so no partition_stats"),
    ],
)
def test_partition_statistics_that_cannot_be_are_refused_by_name(kind, version, partition_by, error, message) -> None:
    table = make_table(table_type=kind, partition_by=partition_by, options={"hoodie.write.table.version": version})
    table.insert([ride(1)])
    before = config_of(table).metadata_partitions
    with pytest.raises(error, match=message):
        table.services.index("partition_stats")
    with pytest.raises(UsageError, match="files is the list of files"):
        table.services.index("files")
    assert config_of(table).metadata_partitions == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_record_index_by_partition_is_built_beside_writers(tmp_path, monkeypatch, kind) -> None:
    table = indexed(tmp_path, kind)
    concurrent_instants(monkeypatch, first, second, table)
    table.services.index("record_index", "id", options={"isPartitioned": "true"})
    check(table)


def test_column_statistics_are_built_beside_writers(tmp_path, monkeypatch) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    without = FAST | {"hoodie.metadata.index.column.stats.enable": "false"}
    table.insert(rows(0, 20), without)
    concurrent_instants(
        monkeypatch, lambda one: one.upsert(rows(0, 6, ts=50), without), lambda one: one.insert(rows(30, 32, city="new"), without), table
    )
    assert table.services.index("column_stats").built == ("column_stats",)
    assert problems(table) == []
    stats = {result.file_name for result in open_metadata(table).column_stats(["ts"])}
    assert stats >= {row["path"].rpartition("/")[2] for row in table.inspect.files().to_pylist()}


def test_write_that_leaves_indexes_to_builds_waits_for_none(tmp_path) -> None:
    table = new_table(tmp_path, "COPY_ON_WRITE")
    options = {"hoodie.metadata.index.async": "true", "hoodie.metadata.record.index.enable": "true"}
    table.insert(rows(0, 4), options)
    assert config_of(table).metadata_partitions == ("files",)
    for name in ("column_stats", "record_index"):
        table.services.index(name)
    table.insert(rows(4, 6), options)
    assert set(config_of(table).metadata_partitions) == {"files", "column_stats", "record_index"}
    check(table)


def test_writers_in_threads_and_a_build_do_not_wait_for_each_other(tmp_path) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for turn in range(4):
                HudiTable.open(table.storage.uri).upsert(rows(6 * number, 6 * number + 8, ts=10 * turn + number), QUIET)
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    table.services.index("by_name", "name")
    for thread in threads:
        thread.join()
    assert failures == []
    check(table)
    assert problems(table) == []


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", pytest.param("MERGE_ON_READ", marks=pytest.mark.slow)])
def test_build_that_was_killed_is_taken_up_and_right(tmp_path, monkeypatch, kind) -> None:
    table = indexed(tmp_path, kind)
    build = killed(monkeypatch, table, "by_name", "name")
    first(table)
    assert NAME not in open_metadata(table).partitions
    assert [row["check"] for row in problems(table)] == ["nothing pending"]
    second(table)
    assert table.services.index(mode="execute").instant == build
    check(table)
    assert problems(table) == []


def test_asking_again_for_an_index_whose_build_was_killed_runs_it_and_another_one_of_that_name_is_refused(tmp_path, monkeypatch) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    build = killed(monkeypatch, table, "by_name", "name")
    with pytest.raises(UsageError, match="builds another index"):
        table.services.index("by_name", "ts")
    assert table.services.index("by_name", "name").instant == build
    check(table)


def test_planned_index_is_run_later(tmp_path) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    change = table.services.index("by_name", "name", mode="schedule")
    assert (change.planned, change.built) == (("record_index", NAME), ())
    first(table)
    assert table.services.index(mode="execute", dry_run=True).planned == change.planned
    assert table.services.index(instant=change.instant).built == change.planned
    check(table)


@pytest.mark.parametrize("how", ["rollback", pytest.param("drop", marks=pytest.mark.slow)])
def test_build_that_is_rolled_back_leaves_nothing(tmp_path, monkeypatch, how) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    build = killed(monkeypatch, table, "by_name", "name")
    first(table)
    if how == "rollback":
        table.services.rollback(build)
    else:
        table.services.index("by_name", drop=True)
    assert config_of(table).metadata_partitions_inflight == ()
    assert not any("index" in file.name for file in table.storage.list(".hoodie/metadata"))
    second(table)
    assert problems(table) == []
    assert table.services.index("by_name", "ts").built == ("record_index", NAME)


def test_build_that_fails_leaves_nothing(tmp_path, monkeypatch) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")

    def fail(_: run.Started) -> None:
        raise UnsupportedError("no")

    monkeypatch.setattr(run, "_write", fail)
    with pytest.raises(UnsupportedError):
        table.services.index("by_name", "name")
    assert problems(table) == []
    assert config_of(table).metadata_partitions_inflight == ()


def test_two_builds_at_once_are_refused(tmp_path) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    with table.storage.lock(0, run.LOCK), pytest.raises(ConflictError, match="building indexes"):
        table.services.index("by_name", "name")


def test_build_whose_metadata_table_was_dropped_meanwhile_is_not_completed(tmp_path, monkeypatch) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    concurrent_instants(
        monkeypatch, lambda one: one.upsert(rows(0, 2), {"hoodie.metadata.enable": "false"}), lambda one: one.upsert(rows(0, 3)), table
    )
    with pytest.raises(ConflictError, match="rebuilt"):
        table.services.index("by_name", "name")
    assert problems(table) == []


def test_files_of_a_build_whose_partition_somebody_else_built_meanwhile_go(tmp_path, monkeypatch) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")

    def built_by_another(one: HudiTable) -> None:
        """As Apache Hudi's writers do that are to have such an index, and are not told that it is built beside them."""
        store_properties(one.storage, {METADATA_PARTITIONS_INFLIGHT: ""}, SystemClock().now())
        prepared = MetadataSettings(record_index=True)
        with locked_table(one.storage, 1, SystemClock(), SystemIds()) as result:
            prepare_metadata_table(result, table_schema(one.storage, result.config, result.timeline).avro_json, prepared)

    concurrent_instants(monkeypatch, built_by_another, lambda _: None, table)
    with pytest.raises(ConflictError):
        table.services.index("record_index")
    times = {file.name.rpartition("_")[2] for file in table.storage.list(".hoodie/metadata/record_index") if file.name.endswith(".hfile")}
    assert len(times) == 1
    table.upsert(rows(0, 3, ts=9))
    check(table)


def test_write_beside_a_build_that_has_not_begun_its_files_is_refused(tmp_path, monkeypatch) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    killed(monkeypatch, table, "by_name", "name")
    table.storage.delete_tree(f".hoodie/metadata/{NAME}")
    with pytest.raises(UnsupportedError, match="not laid out"):
        table.upsert(rows(0, 2))
    assert table.services.index(mode="execute").built
    check(table)


def test_partition_that_nobody_builds_any_more_goes(tmp_path) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    store_properties(table.storage, {METADATA_PARTITIONS_INFLIGHT: NAME}, SystemClock().now())
    table.storage.create(f".hoodie/metadata/{NAME}/left", b"")
    assert [row["subject"] for row in problems(table)] == [NAME]
    table.upsert(rows(0, 2))
    assert config_of(table).metadata_partitions_inflight == ()
    assert table.storage.list(f".hoodie/metadata/{NAME}") == []


def named(table: HudiTable, names: Iterable[str]) -> None:
    store_properties(table.storage, {METADATA_PARTITIONS: ",".join(names)}, SystemClock().now())


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_index_that_nothing_names_any_more_goes_with_the_next_write(tmp_path, kind) -> None:
    """What it lacks of what was written meanwhile would be lost to readers once it is named again."""
    table = indexed(tmp_path, kind)
    table.services.index("by_name", "name")
    table.storage.create(".hoodie/metadata/left_by_others/file", b"")
    names = config_of(table).metadata_partitions
    named(table, [name for name in names if name != NAME])
    table.upsert(rows(0, 6, ts=50), QUIET)
    folders = {file.name for file in table.storage.list(".hoodie/metadata")}
    assert folders >= {"left_by_others", ".hoodie", *names} - {NAME}
    assert NAME not in folders
    named(table, names)
    assert table.to_arrow(columns=["id"], filter="name = 'N$51'")["id"].to_pylist() == ["k001"]
    assert [row["subject"] for row in problems(table)] == [NAME]
    table.upsert(rows(7, 9, ts=60), QUIET)
    check(table)
    assert problems(table) == []


def test_index_that_a_pending_build_is_to_make_stays(tmp_path) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    table.services.index("by_name", "name", mode="schedule")
    table.storage.create(f".hoodie/metadata/{NAME}/left", b"")
    table.upsert(rows(0, 2), QUIET)
    assert len(table.storage.list(f".hoodie/metadata/{NAME}")) == 1
    assert table.services.index(mode="execute").built == ("record_index", NAME)
    check(table)


def test_readers_believe_indexes_beside_a_build_that_was_cut_in_its_last_step(tmp_path, monkeypatch) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    killed(monkeypatch, table, "by_name", "name", at="complete_instant")
    assert not open_metadata(table).is_ahead
    check(table)
    assert table.services.index("by_name", "name", if_not_exists=True).built
    assert problems(table) == []


def test_build_that_was_cut_in_its_last_step_and_is_rolled_back_leaves_no_index(tmp_path, monkeypatch) -> None:
    table = indexed(tmp_path, "COPY_ON_WRITE")
    build = killed(monkeypatch, table, "by_name", "name", at="complete_instant")
    table.services.rollback(build)
    assert problems(table) == []
    assert not open_metadata(table).is_ahead
    table.upsert(rows(0, 3, ts=9))
    assert table.services.index("by_name", "ts").built == ("record_index", NAME)
