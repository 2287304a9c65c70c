"""Non-blocking writers: both commit, their rows merge by the rule of the table, and what the mode excludes is refused before it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

import pyarrow as pa
import pytest

from pyhudi.errors import ConflictError, HudiError, OptionError, UnsupportedError, WriteConflictError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import SCHEMA, files_of, make_table, ride, rows_of
from tests.unit.txn.test_optimistic import BUCKETS, MODE, OCC, RETRIES, beside, check_sound

NBCC = {MODE: "non_blocking_concurrency_control"} | BUCKETS
SHARED_IDS = [f"0000000{number}-0000-0000-0000-000000000000-0" for number in range(2)]


def bucket_table(*, order_by: tuple[str, ...] = (), version: str = "9", **options: str) -> HudiTable:
    return make_table(
        MemoryStorage(),
        table_type="MERGE_ON_READ",
        partition_by=("city",),
        order_by=order_by,
        options={"hoodie.write.table.version": version} | options,
    )


@pytest.fixture(params=["8", "9"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = bucket_table(version=request.param)
    made.upsert([ride(number) for number in range(4)], options=NBCC)
    return made


def test_first_rows_of_a_bucket_are_log_files_of_file_groups_that_all_writers_name_alike() -> None:
    table = bucket_table()
    result = table.upsert([ride(number) for number in range(4)], options=NBCC)
    assert (result.inserted, result.updated) == (4, 0)
    files = table.inspect.files().to_pylist()
    assert sorted({file["file_id"] for file in files}) == SHARED_IDS
    assert [file for file in files_of(table.storage, "oslo") if file.endswith(".parquet")] == []
    assert rows_of(table) == [ride(number) for number in range(4)]
    check_sound(table)


@pytest.mark.parametrize("after", [False, True])
def test_two_writers_begin_one_bucket(after: bool) -> None:
    table = bucket_table(order_by=("at",))
    first = beside(table, lambda: table.upsert([ride(1, value=5), ride(2)], options=NBCC), after=after)
    first.upsert([ride(1, value=7, at=1), ride(3)], options=NBCC)
    assert rows_of(table) == [ride(1, value=7, at=1), ride(2), ride(3)]
    assert {file["file_id"] for file in table.inspect.files().to_pylist()} <= set(SHARED_IDS)
    check_sound(table)


@pytest.mark.parametrize("after", [False, True])
def test_the_row_of_the_writer_that_began_last_wins_without_ordering_fields(table: HudiTable, after: bool) -> None:
    first = beside(table, lambda: table.upsert([ride(1, value=5), ride(2, value=6)], options=NBCC), after=after)
    first.upsert([ride(1, value=7)], options=NBCC)
    expected = [ride(0), ride(1, value=5), ride(2, value=6), ride(3)]
    assert rows_of(table) == expected
    check_sound(table)
    table.services.compact(options=NBCC)
    assert rows_of(table) == expected


def test_the_row_of_the_greatest_ordering_value_wins_whoever_completes_last() -> None:
    table = bucket_table(order_by=("at",))
    first = beside(table, lambda: table.upsert([ride(1, value=5, at=9), ride(2, value=6, at=1)], options=NBCC))
    first.upsert([ride(1, value=7, at=3), ride(2, value=8, at=3)], options=NBCC)
    assert rows_of(table) == [ride(1, value=5, at=9), ride(2, value=8, at=3)]
    table.services.compact(options=NBCC)
    assert rows_of(table) == [ride(1, value=5, at=9), ride(2, value=8, at=3)]


def test_a_marked_delete_counts_in_a_bucket_that_was_not_there_when_it_began() -> None:
    table = make_table(
        MemoryStorage(),
        schema=SCHEMA.append(pa.field("_hoodie_is_deleted", pa.bool_())),
        table_type="MERGE_ON_READ",
        partition_by=("city",),
        order_by=("at",),
    )
    live = {"_hoodie_is_deleted": False}
    first = beside(table, lambda: table.upsert([ride(1) | live, ride(3) | live], options=NBCC))
    first.upsert([ride(1, at=1) | {"_hoodie_is_deleted": True}], options=NBCC)
    assert [row["id"] for row in rows_of(table)] == [3]
    check_sound(table)
    table.upsert([ride(9, city="rome") | {"_hoodie_is_deleted": True}], options=NBCC)
    table.services.compact(options=NBCC)
    assert [row["id"] for row in rows_of(table)] == [3]
    check_sound(table)


@pytest.mark.parametrize("retries", ["0", "1"])
def test_a_compaction_that_is_pending_does_not_change_which_row_wins(retries: str) -> None:
    """Without ordering fields the row of the compaction would win until it has run, and the other one from then on."""
    table = bucket_table()
    table.upsert([ride(1)], options=NBCC)

    def write_and_plan() -> None:
        table.upsert([ride(1, value=5)], options=NBCC)
        table.services.compact(mode="schedule", options=NBCC)

    first = beside(table, write_and_plan)
    if retries == "0":
        with pytest.raises(WriteConflictError, match=r"compaction .* is pending and"):
            first.upsert([ride(1, value=7)], options=NBCC | {RETRIES: "0"})
    else:
        first.upsert([ride(1, value=7)], options=NBCC | {RETRIES: retries})
    expected = [ride(1, value=5 if retries == "0" else 7)]
    assert rows_of(table) == expected
    table.services.compact(mode="execute", options=NBCC)
    assert rows_of(table) == expected
    check_sound(table)


@pytest.mark.parametrize("mode", ["schedule", "both"])
def test_a_compaction_while_others_write_leaves_their_rows_to_the_next_slice(table: HudiTable, mode: Literal["schedule", "both"]) -> None:
    first = beside(table, lambda: table.services.compact(mode=mode, options=NBCC), after=True)
    first.upsert([ride(1, value=7)], options=NBCC)
    expected = [ride(0), ride(1, value=7), ride(2), ride(3)]
    assert rows_of(table) == expected
    table.services.compact(mode="execute", options=NBCC)
    assert rows_of(table) == expected
    table.services.compact(options=NBCC)
    assert rows_of(table) == expected
    check_sound(table)


def test_each_time_shows_the_commits_that_were_complete_then(table: HudiTable) -> None:
    times = []
    first = beside(table, lambda: times.append(table.upsert([ride(1, value=5)], options=NBCC).completed))
    last = first.upsert([ride(1, value=7), ride(2, value=8)], options=NBCC)
    assert sorted(table.to_arrow(as_of=times[0])["value"].to_pylist()) == [0, 0, 0, 5]
    assert sorted(table.to_arrow(as_of=last.completed)["value"].to_pylist()) == [0, 0, 5, 8]
    assert table.changes(since=times[0])["value"].to_pylist() == [8]


def test_buckets_that_a_single_writer_began_are_continued() -> None:
    table = bucket_table()
    table.upsert([ride(number) for number in range(4)], options=BUCKETS)
    first = beside(table, lambda: table.upsert([ride(1, value=5)], options={MODE: NBCC[MODE]}))
    first.upsert([ride(1, value=7), ride(2, value=7)], options={MODE: NBCC[MODE]})
    assert rows_of(table) == [ride(0), ride(1, value=5), ride(2, value=7), ride(3)]
    assert len({file["file_id"] for file in table.inspect.files().to_pylist()}) == 2
    check_sound(table)


def test_a_bucket_whose_file_group_was_replaced_begins_under_another_file_id(table: HudiTable) -> None:
    """Apache Hudi gives it the file id of the replaced one again, and its rows are not visible."""
    table.delete(partitions=["oslo"])
    table.upsert([ride(1, value=5)], options=NBCC)
    assert rows_of(table) == [ride(1, value=5)]
    table.services.compact(options=NBCC)
    assert rows_of(table) == [ride(1, value=5)]
    check_sound(table)


@pytest.mark.parametrize(
    "other",
    [lambda table: table.overwrite([ride(8)], options=OCC | BUCKETS), lambda table: table.delete(partitions=["oslo"], options=OCC)],
    ids=["overwrite", "delete of partitions"],
)
def test_rows_are_not_appended_to_a_file_group_that_was_replaced_meanwhile(table: HudiTable, other: Callable[[HudiTable], object]) -> None:
    first = beside(table, lambda: other(table))
    with pytest.raises(WriteConflictError, match="changed file group"):
        first.upsert([ride(1, value=7)], options=NBCC | {RETRIES: "0"})
    assert ride(1, value=7) not in rows_of(table)
    check_sound(table)
    table.upsert([ride(1)], options=NBCC)
    beside(table, lambda: other(table)).upsert([ride(1, value=7)], options=NBCC)
    assert ride(1, value=7) in rows_of(table)
    check_sound(table)


@pytest.mark.parametrize("modes", [(NBCC, OCC | BUCKETS), (OCC | BUCKETS, NBCC)], ids=["optimistic first", "non-blocking first"])
def test_writers_of_two_modes_do_not_begin_one_bucket_twice(modes: tuple[dict[str, str], dict[str, str]]) -> None:
    table = bucket_table()
    first = beside(table, lambda: table.upsert([ride(1, value=5)], options=modes[1]))
    with pytest.raises(WriteConflictError):
        first.upsert([ride(1, value=7)], options=modes[0] | {RETRIES: "0"})
    assert rows_of(table) == [ride(1, value=5)]
    check_sound(table)


def test_a_bulk_insert_begins_base_files_and_conflicts_with_whoever_was_faster() -> None:
    table = bucket_table()
    first = beside(table, lambda: table.upsert([ride(1, value=5)], options=NBCC))
    with pytest.raises(WriteConflictError):
        first.bulk_insert([ride(1, value=7)], options=NBCC | {RETRIES: "0"})
    beside(table, lambda: table.bulk_insert([ride(2)], options=NBCC)).upsert([ride(2, value=7)], options=NBCC)
    assert rows_of(table) == [ride(1, value=5), ride(2, value=7)]
    assert {file["file_id"] for file in table.inspect.files().to_pylist()} <= set(SHARED_IDS)
    check_sound(table)


def test_an_insert_that_leaves_out_known_keys_conflicts_with_whoever_was_faster(table: HudiTable) -> None:
    drop = NBCC | {RETRIES: "0", "hoodie.datasource.insert.dup.policy": "drop"}
    with pytest.raises(WriteConflictError):
        beside(table, lambda: table.upsert([ride(9, value=5)], options=NBCC)).insert([ride(9, value=7), ride(1, value=7)], options=drop)
    assert rows_of(table) == [*(ride(number) for number in range(4)), ride(9, value=5)]


@pytest.mark.parametrize("index", ["hoodie.metadata.record.level.index.enable", "hoodie.metadata.global.record.level.index.enable"])
@pytest.mark.parametrize("deletes_first", [True, False])
@pytest.mark.parametrize("order_by", [(), ("at",)])
def test_the_record_index_has_the_rows_whatever_the_order_in_which_writers_began(
    index: str, deletes_first: bool, order_by: tuple[str, ...]
) -> None:
    table = bucket_table(order_by=order_by)
    indexed = NBCC | {"hoodie.metadata.enable": "true", index: "true"}
    table.upsert([ride(1), ride(2), ride(5)], options=indexed)

    def delete(table: HudiTable) -> None:
        table.delete([{"id": 1, "city": "oslo"}], options=indexed)

    def upsert(table: HudiTable) -> None:
        table.upsert([ride(1, value=7, at=1), ride(9, at=1)], options=indexed)

    one, other = (delete, upsert) if deletes_first else (upsert, delete)
    one(beside(table, lambda: other(table)))
    rows = rows_of(table)
    for key in (1, 2, 5, 9):
        assert table.to_arrow(filter=f"id = {key}").to_pylist() == [row for row in rows if row["id"] == key]
    check_sound(table)


def test_change_data_is_what_each_commit_changed() -> None:
    table = bucket_table(order_by=("at",), **{"hoodie.table.cdc.enabled": "true"})
    begun = table.upsert([ride(1)], options=NBCC).completed
    first = beside(table, lambda: table.upsert([ride(1, value=5, at=1), ride(2)], options=NBCC))
    first.upsert([ride(1, value=7, at=2), ride(2, value=7)], options=NBCC)
    events = [
        (event["op"], *(None if image is None else json.loads(image)["value"] for image in (event["before"], event["after"])))
        for event in table.changes(since=begun, format="cdc").to_pylist()
    ]
    assert sorted(events, key=str) == [("i", None, 0), ("u", 0, 5), ("u", 5, 7)]


@pytest.mark.parametrize(
    ("write", "error", "text"),
    [
        (lambda table: table.overwrite([ride(1)], options=NBCC), UnsupportedError, "insert_overwrite_table replaces file groups"),
        (lambda table: table.overwrite([ride(1)], partitions=["oslo"], options=NBCC), UnsupportedError, "replaces file groups"),
        (lambda table: table.delete(partitions=["oslo"], options=NBCC), UnsupportedError, "delete_partition replaces file groups"),
        (
            lambda table: table.upsert([ride(1)], options=NBCC | {"hoodie.index.type": "BLOOM"}),
            OptionError,
            "hoodie.index.type=BLOOM names",
        ),
        (
            lambda table: table.upsert([ride(1)], options=NBCC | {"hoodie.index.bucket.engine": "CONSISTENT_HASHING"}),
            OptionError,
            "CONSISTENT_HASHING names another one",
        ),
        (lambda table: table.services.cluster(options=NBCC), UnsupportedError, "laid out by a bucket index"),
        (
            lambda table: table.upsert([ride(1)], options=NBCC | {"hoodie.write.concurrency.early.conflict.detection.enable": "true"}),
            HudiError,
            "early",
        ),
    ],
)
def test_what_the_mode_excludes_is_refused_before_anything_is_written(table: HudiTable, write, error, text: str) -> None:
    before = files_of(table.storage)
    with pytest.raises(error, match=text):
        write(table)
    assert files_of(table.storage) == before


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ({"table_type": "COPY_ON_WRITE"}, "is copy-on-write"),
        ({"table_type": "MERGE_ON_READ", "options": {"hoodie.write.table.version": "6"}}, "is of version 6"),
        ({"table_type": "MERGE_ON_READ", "partition_by": ("city",), "options": {"hoodie.populate.meta.fields": "false"}}, "virtual keys"),
        ({"table_type": "MERGE_ON_READ", "keys": ()}, "has no record key"),
    ],
)
def test_tables_that_the_mode_excludes_are_refused(made, text: str) -> None:
    table = make_table(**made)
    before = files_of(table.storage)
    with pytest.raises(UnsupportedError, match=text):
        table.upsert([ride(1)], options=NBCC)
    assert files_of(table.storage) == before


SERVICES: dict[str, Callable[[HudiTable], object]] = {
    "clean": lambda table: table.services.clean(options=NBCC),
    "compact": lambda table: table.services.compact(options=NBCC),
    "log_compact": lambda table: table.services.log_compact(options=NBCC),
    "cluster": lambda table: table.services.cluster(options=NBCC),
    "archive": lambda table: table.services.archive(options=NBCC),
    "ttl": lambda table: table.services.ttl(options=NBCC | {"hoodie.partition.ttl.strategy.days.retain": "3"}),
    "purge": lambda table: table.services.purge(["oslo"], options=NBCC),
    "deduplicate": lambda table: table.services.deduplicate("", options=NBCC),
    "rescale_buckets": lambda table: table.services.rescale_buckets("", default=4, options=NBCC),
    "upgrade": lambda table: table.services.upgrade(options=NBCC),
    "downgrade": lambda table: table.services.downgrade(8, options=NBCC),
    "change_type": lambda table: table.services.change_type("COPY_ON_WRITE", options=NBCC),
    "alter": lambda table: table.alter(add={"more": pa.int64()}, options=NBCC),
}


@pytest.mark.parametrize("service", SERVICES)
def test_services_and_changes_of_a_table_that_the_mode_excludes_are_refused(service: str) -> None:
    table = make_table(table_type="COPY_ON_WRITE", partition_by=("city",))
    table.upsert([ride(1)])
    before = files_of(table.storage)
    with pytest.raises(UnsupportedError, match=r"mode=NON_BLOCKING_CONCURRENCY_CONTROL: table \S+ is copy-on-write"):
        SERVICES[service](table)
    assert files_of(table.storage) == before


def test_services_of_a_table_whose_file_groups_are_no_buckets_are_refused() -> None:
    table = bucket_table()
    table.upsert([ride(1)])
    with pytest.raises(OptionError, match="needs the simple bucket index"):
        table.services.clean(options={MODE: NBCC[MODE]})


@pytest.mark.parametrize("change", [lambda table: table.services.downgrade(6, options=NBCC), SERVICES["change_type"]])
def test_a_table_is_not_changed_to_one_that_the_mode_excludes(table: HudiTable, change: Callable[[HudiTable], object]) -> None:
    before = files_of(table.storage)
    with pytest.raises(UnsupportedError, match=r"is copy-on-write|is of version 6"):
        change(table)
    assert files_of(table.storage) == before


def test_a_table_whose_file_groups_are_no_buckets_is_refused_and_left_as_it_is() -> None:
    table = bucket_table()
    table.upsert([ride(1)])
    before = files_of(table.storage)
    with pytest.raises(OptionError, match="needs the simple bucket index"):
        table.upsert([ride(1)], options={MODE: NBCC[MODE]})
    assert files_of(table.storage) == before


def test_a_single_writer_is_refused_while_a_non_blocking_one_is_at_work(table: HudiTable) -> None:
    def write_alone() -> None:
        with pytest.raises(ConflictError, match="is being written"):
            table.upsert([ride(2, value=5)], options=BUCKETS)

    beside(table, write_alone).upsert([ride(1, value=7)], options=NBCC)
    assert rows_of(table) == [ride(0), ride(1, value=7), ride(2), ride(3)]


@pytest.mark.parametrize("mode", [NBCC, OCC | BUCKETS], ids=["non-blocking", "optimistic"])
def test_two_writers_do_not_begin_a_partition_with_other_numbers_of_buckets(mode: dict[str, str]) -> None:
    """Neither of them has found a key that tells the number."""
    table = bucket_table()
    theirs, mine = ([ride(number) for number in range(first, 16, 2)] for first in (0, 1))
    first = beside(table, lambda: table.upsert(theirs, options=mode | {"hoodie.bucket.index.num.buckets": "4"}))
    with pytest.raises((OptionError, WriteConflictError)):
        first.upsert(mine, options=mode | {"hoodie.bucket.index.num.buckets": "3"})
    assert rows_of(table) == theirs
    check_sound(table)


def test_a_delete_of_keys_that_nobody_has_written_changes_nothing(table: HudiTable) -> None:
    assert table.delete([{"id": 77, "city": "bergen"}], options=NBCC).instant is None
    assert rows_of(table) == [ride(number) for number in range(4)]


def test_a_table_without_partitions() -> None:
    table = make_table(table_type="MERGE_ON_READ", order_by=("at",))
    first = beside(table, lambda: table.upsert([ride(1, value=5, at=1), ride(2)], options=NBCC))
    first.upsert([ride(1, value=7), ride(3)], options=NBCC)
    assert rows_of(table) == [ride(1, value=5, at=1), ride(2), ride(3)]
    check_sound(table)
    table.services.compact(options=NBCC)
    assert rows_of(table) == [ride(1, value=5, at=1), ride(2), ride(3)]


def test_partitions_have_their_own_numbers_of_buckets() -> None:
    options = NBCC | {"hoodie.bucket.index.partition.expressions": "rome,3", "hoodie.bucket.index.partition.rule.type": "regex"}
    table = bucket_table()
    rows = [ride(number, city) for number in range(12) for city in ("oslo", "rome")]
    beside(table, lambda: table.upsert(rows[:12], options=options)).upsert(rows, options=options)
    assert table.count() == 24
    counted = {(file["partition_path"], file["file_id"]) for file in table.inspect.files().to_pylist()}
    assert len([path for path, _ in counted if path == "rome"]) == 3
    check_sound(table)


def test_a_column_of_another_writer_is_retained(table: HudiTable) -> None:
    other = pa.table({"id": [3], "city": ["oslo"], "value": [5], "at": [9], "note": ["new"]})
    beside(table, lambda: table.upsert(other, options=NBCC)).upsert([ride(1, value=7)], options=NBCC)
    assert "note" in table.schema.names
    assert table.count() == 4
    check_sound(table)
