"""Clustering that rewrites file groups: joined, split, ordered; every row once, with the times that it had."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, CorruptTableError, OptionError, UnsupportedError
from pyhudi.read.snapshot import query_type
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import pending_clustering
from tests.not_none import not_none
from tests.unit.table.tables import copy_of

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "fare": pa.int64(), "tip": pa.float64()})
PREFIX = "hoodie.clustering.plan.strategy."
SORT = {f"{PREFIX}sort.columns": "fare,id"}
QUIET = {"hoodie.compact.inline": "false", "hoodie.parquet.small.file.limit": "0"}
INLINE = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"}
ALLOW = {"hoodie.clustering.updates.strategy": "org.apache.hudi.client.clustering.update.strategy.SparkAllowUpdateStrategy"}
KINDS = [("COPY_ON_WRITE", "9"), ("MERGE_ON_READ", "9"), ("COPY_ON_WRITE", "6"), ("MERGE_ON_READ", "6")]
numbers = itertools.count()


def rides(first: int, count: int, tip: float = 0.0) -> list[dict[str, Any]]:
    return [{"id": id_, "city": ("oslo", "rome")[id_ % 2], "fare": id_ * 37 % 101, "tip": tip} for id_ in range(first, first + count)]


def make(table_type: str = "COPY_ON_WRITE", version: str = "9", **options: str) -> HudiTable:
    """A table of 4 files in each of 2 partitions, of 200 rows, ten of which were updated."""
    return copy_of(_made(table_type, version, tuple(options.items())))


@functools.cache
def _made(table_type: str, version: str, options: tuple[tuple[str, str], ...]) -> HudiTable:
    given = {"hoodie.write.table.version": version, **{name.replace("__", "."): value for name, value in options}}
    table = HudiTable.create(
        f"memory://rewrite-{next(numbers)}", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=table_type, options=given
    )
    for number in range(4):
        table.insert(rides(number * 50, 50), QUIET)
    table.upsert(rides(0, 10, tip=1.0), QUIET)
    return table


def state(table: HudiTable) -> list[dict[str, Any]]:
    """All rows with the times at which they were written, whatever file they are in."""
    rows = table.to_arrow(meta_columns=True).sort_by("id").to_pylist()
    return [{name: value for name, value in row.items() if name != "_hoodie_file_name"} for row in rows]


def base_files(table: HudiTable) -> list[str]:
    slices = [row for row in table.inspect.slices().to_pylist() if row["latest"]]
    return [f"{row['partition_path']}/{row['base_file']}" for row in slices]


def column(table: HudiTable, path: str, name: str) -> list[Any]:
    with table.storage.open_input(path) as file:
        values: list[Any] = pq.read_table(file, columns=[name])[name].to_pylist()
    return values


@pytest.mark.parametrize(("table_type", "version"), KINDS)
def test_small_files_become_one_in_each_partition_and_rows_keep_their_times(table_type: str, version: str) -> None:
    table = make(table_type, version)
    before = state(table)
    (done,) = table.services.cluster(options=SORT)
    assert (done.state, done.slices, done.groups, done.partitions, done.rows) == ("completed", 8, 2, 2, 200)
    assert state(table) == before
    assert len(base_files(table)) == 2
    for path in base_files(table):
        fares = column(table, path, "fare")
        assert fares == sorted(fares)
    assert table.history().to_pylist()[-1]["operation"] == "CLUSTER"
    assert table.inspect.health().to_pylist() == []


def test_without_sort_columns_rows_stay_in_the_order_of_their_files() -> None:
    table = make()
    before = state(table)
    table.services.cluster()
    assert state(table) == before
    assert len(base_files(table)) == 2


def test_files_end_at_their_size_and_groups_at_theirs() -> None:
    table = make()
    size = max(row["base_bytes"] for row in table.inspect.slices().to_pylist())
    (planned,) = table.services.cluster(options={f"{PREFIX}max.bytes.per.group": str(2 * size)}, dry_run=True)
    assert (planned.state, planned.groups, planned.slices) == ("planned", 4, 8)
    before = state(table)
    (done,) = table.services.cluster(options={**SORT, f"{PREFIX}target.file.max.bytes": str(2 * size)})
    assert done.files_written == 4
    assert state(table) == before
    for city in ("oslo", "rome"):
        fares = [column(table, path, "fare") for path in base_files(table) if path.startswith(city)]
        assert max(fares[0]) <= min(fares[1]) or max(fares[1]) <= min(fares[0])


@pytest.mark.parametrize("layout", ["ZORDER", "HILBERT"])
def test_a_curve_keeps_all_rows(layout: str) -> None:
    table = make()
    before = state(table)
    table.services.cluster(options={**SORT, "hoodie.layout.optimize.strategy": layout}, mode="schedule")
    (done,) = table.services.cluster(mode="execute")  # the plan says how to order
    assert state(table) == before
    fares = column(table, base_files(table)[0], "fare")
    assert (done.rows, fares != sorted(fares)) == (200, True)


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_rows_that_do_not_fit_in_memory_are_ordered_in_passes(table_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_type, "LEAST_MERGE_BYTES", 1)
    table = make(table_type)
    before = state(table)
    table.services.cluster(options={**SORT, "hoodie.memory.merge.max.size": "2000"})
    assert state(table) == before
    for path in base_files(table):
        fares = column(table, path, "fare")
        assert fares == sorted(fares)


def test_single_files_are_sorted_each_for_itself() -> None:
    table = make()
    before = state(table)
    (done,) = table.services.cluster(options={**SORT, f"{PREFIX}class": "SparkSingleFileSortPlanStrategy"})
    assert (done.groups, done.files_written) == (8, 8)
    assert state(table) == before
    for path in base_files(table):
        fares = column(table, path, "fare")
        assert fares == sorted(fares)


def test_partitions_are_chosen() -> None:
    table = make()
    (done,) = table.services.cluster(options={f"{PREFIX}partition.selected": "rome"})
    assert (done.partitions, len(base_files(table))) == (1, 5)
    recent = {f"{PREFIX}class": "SparkRecentDaysClusteringPlanStrategy", f"{PREFIX}daybased.lookback.partitions": "1"}
    assert table.services.cluster(options={**SORT, **recent})[0].slices == 1
    assert table.services.cluster(options={f"{PREFIX}partition.regex.pattern": "os.*"})[0].slices == 4
    assert table.services.cluster(options={f"{PREFIX}partition.regex.pattern": "ber.*"}) == ()


def test_what_was_not_written_since_is_left_alone_unless_the_order_is_another() -> None:
    table = make()
    table.services.cluster(options=SORT)
    assert table.services.cluster(options=SORT) == ()
    table.insert([{"id": 1000, "city": "rome", "fare": 1, "tip": 0.0}], QUIET)
    assert table.services.cluster(options=SORT)[0].partitions == 1
    assert table.services.cluster(options={f"{PREFIX}sort.columns": "id"})[0].partitions == 2
    always = {"hoodie.table.services.incremental.enabled": "false", f"{PREFIX}sort.columns": "id"}
    assert table.services.cluster(options=always)[0].partitions == 2


def test_groups_beyond_the_limit_wait_for_the_next_plan() -> None:
    table = make()
    few = {**SORT, f"{PREFIX}max.num.groups": "1"}
    (planned,) = table.services.cluster(options=few, mode="schedule")
    assert (planned.groups, planned.partitions) == (1, 1)
    (pending,) = load_timeline(table.storage, table.config).pending()
    plan = pending_clustering(table.storage, table.config, pending)
    assert plan is not None
    assert plan.missing_partitions == ("rome",)
    table.services.cluster(mode="execute")
    assert table.services.cluster(options=few)[0].slices == 4
    assert len(base_files(table)) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"},
        {"hoodie.populate.meta.fields": "false"},
        {"hoodie.table.cdc.enabled": "true"},
        {"hoodie.datasource.write.drop.partition.columns": "true"},
    ],
)
def test_tables_with_other_features_are_clustered(options: dict[str, str]) -> None:
    of_writes = {key: value for key, value in options.items() if ".metadata." in key}
    of_table = {key: value for key, value in options.items() if key not in of_writes}
    table = HudiTable.create(f"memory://rewrite-{next(numbers)}", SCHEMA, name="t", keys=["id"], partition_by=["city"], options=of_table)
    for number in range(3):
        table.insert(rides(number * 50, 50), {**QUIET, **of_writes})
    before = table.to_arrow().sort_by("id")
    table.services.cluster(options=SORT)
    assert table.to_arrow().sort_by("id").equals(before)
    assert len(base_files(table)) == 2
    table.upsert(rides(0, 20, tip=5.0), QUIET)
    after = table.to_arrow().sort_by("id")
    assert (after.num_rows, after["tip"].to_pylist().count(5.0)) == (150, 20)
    assert table.inspect.health().to_pylist() == []


def test_a_column_that_is_added_while_a_plan_is_pending_stays() -> None:
    table = make()
    table.services.cluster(options=SORT, mode="schedule")
    table.upsert([{**rides(1000, 1)[0], "note": "x"}], QUIET)
    table.services.cluster(mode="execute")
    assert table.to_arrow()["note"].to_pylist().count("x") == 1
    table.services.cluster(options={f"{PREFIX}sort.columns": "note,id"})
    assert table.to_arrow()["note"].to_pylist().count("x") == 1


def test_a_slice_that_somebody_changed_meanwhile_is_not_lost() -> None:
    table = make()
    (planned,) = table.services.cluster(options=SORT, mode="schedule")
    table.upsert(rides(0, 1, tip=9.0), QUIET | ALLOW)
    before = state(table)
    with pytest.raises(ConflictError, match=r"services\.rollback"):
        table.services.cluster(mode="execute")
    assert state(table) == before
    table.services.rollback(planned.instant)
    table.services.cluster(options=SORT)
    assert state(table) == before


def test_a_slice_that_is_changed_while_the_tasks_run_wins() -> None:
    table = make()

    def write(done: int, count: int) -> None:
        if done == count:
            table.upsert(rides(0, 1, tip=9.0), QUIET | ALLOW)

    with pytest.raises(ConflictError, match="is not what it was"):
        table.services.cluster(options=SORT, progress=write)
    assert table.to_arrow()["tip"].to_pylist().count(9.0) == 1
    assert [row["action"] for row in table.history().to_pylist()][-1] == "commit"


def test_a_pending_plan_is_taken_off_the_timeline() -> None:
    table = make()
    (planned,) = table.services.cluster(options=SORT, mode="schedule")
    (plan,) = table.services.rollback(planned.instant)
    assert (not_none(plan.instant).time, plan.requests) == (planned.instant, ())
    table.upsert(rides(0, 1))


def test_inline_it_comes_after_so_many_commits() -> None:
    table = HudiTable.create(f"memory://rewrite-{next(numbers)}", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    for number in range(4):
        table.insert(rides(number * 50, 50), {**QUIET, **INLINE, **SORT})
    assert [row["operation"] for row in table.history().to_pylist()] == ["INSERT", "INSERT", "CLUSTER", "INSERT", "INSERT", "CLUSTER"]
    assert len(base_files(table)) == 2
    assert table.to_arrow().num_rows == 200


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({f"{PREFIX}sort.columns": "fair"}, OptionError, r"no column 'fair'.*fare"),
        ({f"{PREFIX}class": "com.example.MyStrategy"}, UnsupportedError, "MyStrategy"),
        ({"hoodie.clustering.execution.strategy.class": "com.example.MyStrategy"}, UnsupportedError, "MyStrategy"),
        ({f"{PREFIX}class": "SparkSingleFileSortPlanStrategy"}, OptionError, "names no columns"),
        ({f"{PREFIX}class": "SparkStreamCopyClusteringPlanStrategy", **SORT}, OptionError, "leave out"),
        ({f"{PREFIX}partition.regex.pattern": "("}, OptionError, "no regular expression"),
        ({"hoodie.layout.optimize.strategy": "SPIRAL"}, OptionError, "SPIRAL"),
        ({f"{PREFIX}target.file.max.bytes": "0"}, OptionError, "target.file.max.bytes"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, str], error: type[Exception], text: str) -> None:
    table = make()
    with pytest.raises(error, match=text):
        table.services.cluster(options=options)
    assert [row["state"] for row in table.history().to_pylist()] == ["completed"] * 5


def test_a_table_of_buckets_is_not_rewritten() -> None:
    table = HudiTable.create(f"memory://rewrite-{next(numbers)}", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    buckets = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
    table.upsert(rides(0, 50), buckets)
    with pytest.raises(UnsupportedError, match="bucket index"):
        table.services.cluster()


def test_a_file_that_is_damaged_stops_the_clustering_and_leaves_the_table_as_it_is() -> None:
    table = make()
    path = base_files(table)[0]
    table.storage.replace(path, b"PAR1")
    with pytest.raises(CorruptTableError):
        table.services.cluster(options=SORT)
    assert [row["action"] for row in table.history().to_pylist()] == ["commit"] * 5


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("layout", ["LINEAR", "ZORDER"])
def test_rows_are_ordered_by_columns_inside_structs(layout: str, passes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_type, "LEAST_MERGE_BYTES", 1)
    inner = pa.struct({"zip": pa.int64(), "lane": pa.struct({"name": pa.string()})})
    schema = pa.schema({"id": pa.int64(), "at": inner})
    table = HudiTable.create(f"memory://rewrite-{next(numbers)}", schema, name="t", keys=["id"])
    for number in range(2):
        rows = [{"id": id_, "at": {"zip": id_ * 37 % 11, "lane": {"name": f"n{id_ % 3}"}}} for id_ in range(number * 50, number * 50 + 50)]
        table.insert([*rows, {"id": 1000 + number, "at": None}], QUIET)
    before = state(table)
    options = {f"{PREFIX}sort.columns": "at.zip,at.lane.name", "hoodie.layout.optimize.strategy": layout}
    table.services.cluster(options=options | ({"hoodie.memory.merge.max.size": "2000"} if passes else {}))
    assert state(table) == before
    (path,) = base_files(table)
    addresses = column(table, path.lstrip("/"), "at")
    assert addresses.count(None) == 2
    if layout == "LINEAR":
        assert addresses[:2] == [None, None]
        order = [(at["zip"], at["lane"]["name"]) for at in addresses[2:]]
        assert order == sorted(order)


@pytest.mark.parametrize("name", ["at", "at.lane", "at.none", "id.zip", "_hoodie_record_key"])
def test_columns_without_an_order_are_refused_by_name(name: str) -> None:
    schema = pa.schema({"id": pa.int64(), "at": pa.struct({"zip": pa.int64(), "lane": pa.struct({"name": pa.string()})})})
    options = {"hoodie.populate.meta.fields": "false"}
    table = HudiTable.create(f"memory://rewrite-{next(numbers)}", schema, name="t", keys=["id"], options=options)
    table.insert([{"id": 1, "at": None}])
    with pytest.raises(OptionError, match=f"'{name}'"):
        table.services.cluster(options={f"{PREFIX}sort.columns": name})


def test_plan_of_a_filter_opens_fewer_files_once_the_table_is_clustered_by_its_column() -> None:
    """Before, each file holds fares from one end to the other; after, one file of each partition holds those that are asked for."""
    table, condition = make(), "fare < 10"
    table.upsert(rides(0, 1), QUIET | {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"})
    rows = table.to_arrow(filter=condition).sort_by("id").to_pylist()
    before = [file for file in table.inspect.plan(condition).to_pylist() if file["kind"] == "base"]
    assert [file["read"] for file in before] == [True] * 8
    # A little below the size of a file before: how well the keys and times of a run compress would decide about an eighth.
    size = str(sum(file["bytes"] for file in before) // 10)
    table.services.cluster(options=SORT | {f"{PREFIX}small.file.limit": "1000000000", f"{PREFIX}target.file.max.bytes": size})
    after = table.inspect.plan(condition).to_pylist()
    assert len(after) > 8
    assert sum(file["read"] for file in after) == 2
    assert {file["ruled_out_by"] for file in after if not file["read"]} == {"column_stats"}
    assert table.to_arrow(filter=condition).sort_by("id").to_pylist() == rows
