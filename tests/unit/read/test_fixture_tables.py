"""Fixture tables hold what their generators wrote, and hudi-rs reads the same rows from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hudi import HudiReadOptions, HudiTableBuilder

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError
from tests.tables import BASE_ONLY, LANCE, WITH_LOGS

#: hudi-rs does not know a type in it, or refuses it; Apache Hudi's own rows are compared in tests/unit/table.
NOT_FOR_HUDI_RS = {
    "apache_hudi/all_types_v6",
    "apache_hudi/all_types_v8",
    "apache_hudi/all_types_v9",
    "apache_hudi/dropped_partition_column_v9",
}
#: hudi-rs does not read tables with several ordering fields.
SEVERAL_ORDERING_FIELDS = {"apache_hudi/merge_on_read_mysql_v9", "apache_hudi/merge_on_read_several_ordering_fields_v9"}
#: What hudi-rs refuses (merger classes), or merges otherwise than Apache Hudi: it does not see logs of a version 6 table whose
#: compaction is pending, takes values that Debezium leaves out for values, and revives deleted base rows (as Apache Hudi does, and we
#: do not). tests/unit/table compares these tables with Apache Hudi.
MERGED_OTHERWISE_BY_HUDI_RS = {
    *SEVERAL_ORDERING_FIELDS,
    "apache_hudi/merge_on_read_pending_compaction_v6",
    "apache_hudi/merge_on_read_postgres_v9",
    *(f"apache_hudi/merge_on_read_revived_v{version}" for version in (6, 8, 9)),
    *(
        f"apache_hudi/merge_on_read_{name}_v{version}"
        for name in ("aws_dms", "mysql", "postgres", "overwrite_non_defaults", "partial_update")
        for version in (6, 8)
    ),
}
#: Times were cleaned, hudi-rs does not see the logs that an upgrade or a downgrade left, or shows commits before they completed;
#: `test_replay` reads their past.
PAST_NOT_BY_HUDI_RS = {name for name in WITH_LOGS if any(text in name for text in ("lagging", "graded", "concurrent"))}
#: Virtual keys: the files have no meta columns, which we give as nulls and hudi-rs leaves out.
META = "_hoodie_"
TRANSACTIONS = [f"TXN-{number:03}" for number in (1, 3, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18)]


def by_hudi_rs(path: Path, *, read_optimized: bool = False, as_of: str | None = None) -> pa.Table | None:
    builder = HudiTableBuilder.from_base_uri(str(path))
    if read_optimized:
        builder = builder.with_option("hoodie.read.use.read_optimized.mode", "true")
    batches = builder.build().read(HudiReadOptions().with_as_of_timestamp(as_of) if as_of else None)
    return pa.Table.from_batches(batches) if batches else None


def assert_equal_rows(ours: pa.Table, theirs: pa.Table | None) -> None:
    if theirs is None:
        assert ours.num_rows == 0
        return
    names = set(ours.column_names) ^ set(theirs.column_names)
    assert all(name.startswith(META) for name in names)
    common = [name for name in ours.column_names if name in theirs.column_names]
    assert sorted(map(repr, ours.select(common).to_pylist())) == sorted(map(repr, theirs.select(common).to_pylist()))


@pytest.mark.parametrize("name", [name for name in BASE_ONLY if name not in NOT_FOR_HUDI_RS])
def test_hudi_rs_reads_the_same_rows(name: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(name)
    ours = HudiTable.open(path).to_arrow(meta_columns=True)
    assert_equal_rows(ours, by_hudi_rs(path))


@pytest.mark.parametrize("name", [name for name in WITH_LOGS if name not in MERGED_OTHERWISE_BY_HUDI_RS])
def test_hudi_rs_merges_log_files_to_the_same_rows(name: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(name)
    ours = HudiTable.open(path).to_arrow(meta_columns=True)
    assert_equal_rows(ours, by_hudi_rs(path))


@pytest.mark.parametrize(
    "name",
    [name for name in WITH_LOGS if name not in MERGED_OTHERWISE_BY_HUDI_RS | PAST_NOT_BY_HUDI_RS and "added_column" not in name],
)
def test_hudi_rs_reads_the_same_rows_as_of_every_commit(name: str, fixture_table: Callable[[str], Path]) -> None:
    table = HudiTable.open(path := fixture_table(name))
    commits = [row["requested"] for row in table.history().to_pylist() if row["state"] == "completed" and row["operation"]]
    assert commits
    for commit in commits:
        # hudi-rs takes a compaction's files from its requested time on, before they were there.
        ours = table.to_arrow(as_of=commit, meta_columns=True).drop_columns(["_hoodie_file_name"])
        assert_equal_rows(ours, by_hudi_rs(path, as_of=commit))


@pytest.mark.parametrize("name", [name for name in WITH_LOGS if name not in SEVERAL_ORDERING_FIELDS])
def test_hudi_rs_reads_the_same_base_files(name: str, fixture_table: Callable[[str], Path]) -> None:
    path = fixture_table(name)
    ours = HudiTable.open(path).to_arrow(mode="read_optimized", meta_columns=True)
    assert ours.num_rows > 0 or "log_only" in name or name.endswith("concurrent_v8")
    assert_equal_rows(ours, by_hudi_rs(path, read_optimized=True))


@pytest.mark.parametrize("name", LANCE)
def test_a_table_of_lance_files_is_refused_by_name(name: str, fixture_table: Callable[[str], Path]) -> None:
    with pytest.raises(UnsupportedError, match="LANCE"):
        HudiTable.open(fixture_table(name)).to_arrow()


SAMPLES = [name for name in BASE_ONLY if "/v6_" in name or "/v8_" in name if "apache_hudi" not in name]


@pytest.mark.parametrize("name", [name for name in SAMPLES if "empty" not in name and "overwritetable" not in name])
def test_samples_hold_the_four_people_of_their_generator(name: str, fixture_table: Callable[[str], Path]) -> None:
    rows = HudiTable.open(fixture_table(name)).to_arrow().sort_by("id").to_pylist()
    assert [(row["id"], row["name"]) for row in rows] == [(1, "Alice"), (2, "Bob"), (3, "Carol"), (4, "Diana")]


def test_every_type_of_a_sample_has_the_value_that_was_inserted(fixture_table: Callable[[str], Path]) -> None:
    [row] = HudiTable.open(fixture_table("cow/v8_nonpartitioned")).to_arrow(filter="id = 2").to_pylist()
    assert row["decimalField"] == Decimal("67890.12345")
    assert row["dateField"] == date(2023, 4, 2)
    assert row["timestampField"].astimezone(UTC) == datetime(2023, 4, 2, 13, 2, tzinfo=UTC)
    assert row["binaryField"] == b"more binary data"
    assert row["arrayField"][1] == {"arr_struct_f1": "purple", "arr_struct_f2": 500}
    assert dict(row["mapField"])["key4"] == {"map_field_value_struct_f1": 567.89, "map_field_value_struct_f2": False}
    assert row["structField"]["child_struct"] == {"child_field1": 789.012, "child_field2": False}


@pytest.mark.parametrize("kind", ["cow", "mor/avro"])
@pytest.mark.parametrize("name", ["v9_txns_simple_meta", "v9_txns_simple_nometa", "v9_txns_complex_nometa"])
def test_transactions_are_those_left_by_updates_deletes_overwrite_and_clustering(
    kind: str, name: str, fixture_table: Callable[[str], Path]
) -> None:
    rows = {row["txn_id"]: row for row in HudiTable.open(fixture_table(f"{kind}/{name}")).to_arrow().to_pylist()}
    assert sorted(rows) == TRANSACTIONS
    assert (rows["TXN-001"]["txn_type"], rows["TXN-001"]["txn_ts"]) == ("reversal", 1700100000001)
    assert rows["TXN-007"]["fee_amount"] == Decimal("75.00")
    assert rows["TXN-003"]["merchant_name"] is None
    assert {row["region"] for row in rows.values()} == {"us", "eu", "apac"}


@pytest.mark.parametrize("name", ["cow/v6_empty", "cow/v8_empty", "mor/parquet/v6_empty"])
def test_an_empty_table_has_no_rows_but_its_columns(name: str, fixture_table: Callable[[str], Path]) -> None:
    rows = HudiTable.open(fixture_table(name)).to_arrow()
    assert (rows.num_rows, rows.column_names) == (0, ["id", "name", "isActive"])


@pytest.mark.parametrize("name", [*BASE_ONLY, *WITH_LOGS])
def test_batches_give_the_rows_of_the_table(name: str, fixture_table: Callable[[str], Path]) -> None:
    table = HudiTable.open(fixture_table(name))
    assert table.to_batches().read_all().equals(table.to_arrow())


@pytest.mark.parametrize("name", [*BASE_ONLY, *WITH_LOGS])
def test_count_is_the_number_of_rows(name: str, fixture_table: Callable[[str], Path]) -> None:
    table = HudiTable.open(fixture_table(name))
    assert table.count() == table.to_arrow().num_rows


@pytest.mark.parametrize("name", WITH_LOGS)
def test_filter_and_columns_apply_to_merged_rows(name: str, fixture_table: Callable[[str], Path]) -> None:
    table = HudiTable.open(fixture_table(name))
    rows = table.to_arrow()
    key = next(column for column in rows.column_names if column in table.config.record_key_fields)
    value = rows[key].sort()[len(rows) // 2].as_py()
    for condition in (pc.field(key) >= value, pc.field(key) != value):
        last = rows.column_names[-1]
        assert table.to_arrow(columns=[last], filter=condition).equals(rows.filter(condition).select([last]))
        assert table.count(filter=condition) == rows.filter(condition).num_rows


@pytest.mark.parametrize(("name", "rows"), [("v6_trips_8i1u", 8), ("v6_trips_8i3d", 5), ("v8_trips_8i3u1d", 6)])
def test_trips_are_those_left_by_their_updates_and_deletes(name: str, rows: int, fixture_table: Callable[[str], Path]) -> None:
    table = HudiTable.open(fixture_table(f"mor/avro/{name}"))
    before = {row["uuid"]: row for row in table.to_arrow(mode="read_optimized").to_pylist()}
    now = {row["uuid"]: row for row in table.to_arrow().to_pylist()}
    assert len(now) == rows
    assert now.keys() <= before.keys()
    assert any(now[key] != before[key] for key in now) is name.endswith(("1u", "1d"))
