"""`table.update` and `table.merge`: the rows that SQL's UPDATE and MERGE INTO would leave, in one commit, without Spark."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, KeyFieldError, SchemaError, UsageError
from pyhudi.read.execute import Selection, read_table
from pyhudi.read.late_columns import LateRows, read_late
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.change.changed_rows import updated_rows
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS

SCHEMA = pa.schema(
    {"id": pa.int64(), "city": pa.string(), "ts": pa.int64(), "fare": pa.float64(), "seats": pa.int32(), "price": pa.decimal128(10, 2)}
)
ROWS = [
    {"id": 1, "city": "oslo", "ts": 10, "fare": 7.5, "seats": 1, "price": Decimal("1.00")},
    {"id": 2, "city": "oslo", "ts": 10, "fare": 12.0, "seats": 2, "price": None},
    {"id": 3, "city": "rome", "ts": 11, "fare": 9.0, "seats": None, "price": Decimal("3.33")},
]
KINDS: dict[str, Any] = {
    "cow": {"table_type": "COPY_ON_WRITE"},
    "mor": {"table_type": "MERGE_ON_READ"},
    "no meta columns": {"table_type": "COPY_ON_WRITE", "options": {"hoodie.populate.meta.fields": "false"}},
}


def create(kind: str = "cow", order_by: tuple[str, ...] = ()) -> HudiTable:
    storage = MemoryStorage()
    table = HudiTable.create(storage.uri, SCHEMA, name="trips", keys=["id"], partition_by=["city"], order_by=order_by, **KINDS[kind])
    table.insert(pa.Table.from_pylist(ROWS, SCHEMA))
    return table


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest) -> HudiTable:
    return create(request.param)


def fares(table: HudiTable) -> dict[int, float | None]:
    rows = table.to_arrow(["id", "fare"]).to_pylist()
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row["fare"] for row in rows}


def source(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows))


def test_an_update_changes_the_rows_of_its_condition(table: HudiTable) -> None:
    result = table.update({"fare": "fare * 2 + seats", "seats": 4, "TS": "ts + 1"}, where="city = 'oslo'")
    assert result.updated == 2
    assert fares(table) == {1: 16.0, 2: 26.0, 3: 9.0}
    assert sorted(table.to_arrow(["ts", "seats"], "city = 'oslo'").to_pylist(), key=str) == [{"ts": 11, "seats": 4}] * 2


def test_an_update_without_condition_changes_all_rows(table: HudiTable) -> None:
    assert table.update({"fare": pc.field("fare") * 0, "price": None}).updated == 3
    assert set(fares(table).values()) == {0.0}
    assert table.to_arrow(["price"])["price"].null_count == 3
    assert table.update({"fare": 1.0}, where=pc.field("id") == 99).instant is None


@pytest.mark.parametrize(
    ("column", "expression", "expected"),
    [
        ("fare", "fare -1", 6.5),
        ("fare", "-fare + 2 * (3 - 1)", -3.5),
        ("fare", "7 / 2", 3.5),
        ("seats", "7 % 4", 3),
        ("seats", "-7 % 4", -3),
        ("fare", "CASE WHEN fare > 10 THEN 1 WHEN city = 'oslo' THEN fare + 1 ELSE 0 END", 8.5),
        ("fare", "CASE WHEN fare > 10 THEN 1 END", None),
        ("fare", "IF(price > 5, 1, 2)", 2.0),
        ("fare", "CAST('2.5' AS DOUBLE)", 2.5),
        ("seats", "coalesce(nullif(seats, 1), 9)", 9),
        ("seats", "nullif(seats, 1)", None),
        ("seats", "greatest(seats, 5)", 5),
        ("seats", "length(city) + seats", 5),
        ("price", "price * 1.005", Decimal("1.01")),
        ("price", "price + 0.5", Decimal("1.50")),
        ("price", "7", Decimal("7.00")),
        ("fare", "price", 1.0),
        ("fare", "round(fare)", 8.0),
        ("fare", "abs(-2.5)", 2.5),
    ],
)
def test_expressions_mean_what_they_mean_in_sql(column: str, expression: str, expected: object) -> None:
    table = create()
    table.update({column: expression}, where="id = 1")
    assert table.to_arrow([column], "id = 1").to_pylist() == [{column: expected}]


def test_strings_and_times_are_expressions_too() -> None:
    schema = pa.schema({"id": pa.int64(), "name": pa.string(), "day": pa.date32(), "at": pa.timestamp("us", "UTC")})
    table = HudiTable.create(MemoryStorage().uri, schema, name="t", keys=["id"])
    table.insert(pa.Table.from_pylist([{"id": 1, "name": " ann "}], schema))
    table.update(
        {"name": "upper(trim(name)) || '-' || concat('it''s', name)", "day": "DATE '2026-01-02'", "at": "TIMESTAMP '2026-01-02 03:04:05'"}
    )
    (row,) = table.to_arrow(["name", "day", "at"]).to_pylist()
    assert row["name"] == "ANN-it's ann "
    assert (row["day"], row["at"].isoformat()) == (date(2026, 1, 2), "2026-01-02T03:04:05+00:00")
    table.update({"day": date(2026, 5, 5), "name": pa.scalar("plain")})
    assert table.to_arrow(["day", "name"]).to_pylist() == [{"day": date(2026, 5, 5), "name": "plain"}]


@pytest.mark.parametrize(
    ("assigned", "where", "error", "match"),
    [
        ({"id": 5}, None, SchemaError, "assigns id, which is part of the record key"),
        ({"CITY": "'rome'"}, None, SchemaError, "assigns city, which is part"),
        ({"fair": 1}, None, SchemaError, "no column of the table.*'fare'"),
        ({"fare": 1, "FARE": 2}, None, SchemaError, "assigns FARE twice"),
        ({}, None, UsageError, "needs the new values"),
        ("fare = 1", None, UsageError, "needs the new values"),
        ({"fare": "fair + 1"}, None, UsageError, "'fair'"),
        ({"fare": "paid"}, None, UsageError, r"as a constant it has quotes inside: \"'paid'\""),
        ({"fare": "fare +"}, None, UsageError, "misses an operand of '\\+'"),
        ({"fare": "sqrt(fare)"}, None, UsageError, "not served"),
        ({"fare": "abs(fare, 1)"}, None, UsageError, "2 arguments"),
        ({"fare": "1 / (seats - seats)"}, None, UsageError, "divide by zero"),
        ({"fare": "'many'"}, None, SchemaError, "cannot be stored in fare"),
        ({"seats": 2.5}, None, SchemaError, "cannot be stored in seats"),
        ({"seats": "CAST(9000000000 AS BIGINT)"}, None, SchemaError, "cannot be stored in seats"),
        ({"seats": object()}, None, UsageError, "no expression and no constant"),
        ({"fare": "(" * 300 + "1" + ")" * 300}, None, UsageError, "deeper than"),
        ({"fare": 1}, "fair = 1", UsageError, "'fair'"),
        ({"fare": "CASE END"}, None, UsageError, "has an unexpected 'END'"),
        ({"fare": "CAST(fare AS MONEY)"}, None, UsageError, "casts to a type"),
    ],
)
def test_a_wrong_update_is_refused_and_writes_nothing(assigned: Any, where: str | None, error: type[Exception], match: str) -> None:
    table = create()
    with pytest.raises(error, match=match):
        table.update(assigned, where)
    assert table.history().num_rows == 1


def test_an_update_of_rows_that_were_written_in_between_is_refused() -> None:
    table = create()
    changed = updated_rows(table.storage, table.config, {}, {"fare": 1.0}, None)
    table.upsert([{**ROWS[0], "fare": 100.0}])
    with pytest.raises(ConflictError, match="completed between reading and writing"):
        table._write_changes(lambda _: changed, None)
    assert fares(table)[1] == 100.0


def test_a_merge_updates_inserts_and_deletes(table: HudiTable) -> None:
    rows = source(
        {"id": 1, "city": "oslo", "ts": 20, "fare": 1.0, "seats": 1, "price": None},
        {"id": 3, "city": "rome", "ts": 20, "fare": 3.0, "seats": 1, "price": None},
        {"id": 4, "city": "bern", "ts": 20, "fare": 4.0, "seats": 1, "price": None},
        {"id": 5, "city": "bern", "ts": 20, "fare": -4.0, "seats": 1, "price": None},
    )
    result = (
        table.merge(rows)
        .when_matched_delete(where="source.fare > 2")
        .when_matched_update({"fare": "source.fare + target.fare"})
        .when_not_matched_insert(where="fare > 0")
        .execute()
    )
    assert (result.updated, result.deleted, result.inserted) == (1, 1, 1)
    assert fares(table) == {1: 8.5, 2: 12.0, 4: 4.0}
    assert table.history().num_rows == 2


def test_a_merge_of_the_same_source_changes_nothing_the_second_time(table: HudiTable) -> None:
    rows = source({"id": 1, "city": "oslo", "ts": 20, "fare": None, "seats": 5, "price": Decimal("1.5")})
    merge = table.merge(rows).when_matched_update()
    assert merge.execute().updated == 1
    assert merge.execute().instant is None
    assert fares(table)[1] is None


def test_a_merge_that_brings_nan_where_nan_is_stored_changes_nothing(table: HudiTable) -> None:
    nan = source({"id": 1, "city": "oslo", "ts": 20, "fare": float("nan"), "seats": 5, "price": Decimal("1.5")})
    merge = table.merge(nan).when_matched_update()
    assert merge.execute().updated == 1
    assert merge.execute().instant is None
    assert table.merge(nan).when_matched_update({"fare": "source.fare"}).execute().instant is None
    assert table.merge(nan).when_matched_update({"fare": pc.scalar(None)}).execute().updated == 1
    assert merge.execute().updated == 1


def test_a_merge_can_name_columns_and_other_columns_to_match_by(table: HudiTable) -> None:
    rows = [{"trip": 2, "tip": 1.5}, {"trip": 8, "tip": 2.5}]
    merge = table.merge(rows, on={"id": "trip"}).when_matched_update({"fare": "fare + tip", "price": "tip"})
    merge.when_not_matched_insert({"id": "trip", "city": "'bern'", "ts": 1, "fare": "tip"}).execute()
    assert fares(table) == {1: 7.5, 2: 13.5, 3: 9.0, 8: 2.5}
    assert table.to_arrow(["city", "seats"], "id = 8").to_pylist() == [{"city": "bern", "seats": None}]


def test_a_merge_reaches_rows_that_the_source_lacks(table: HudiTable) -> None:
    merge = (
        table.merge([{"id": 1}]).when_not_matched_by_source_delete("city = 'rome'").when_not_matched_by_source_update({"fare": "fare + 1"})
    )
    result = merge.execute()
    assert (result.updated, result.deleted) == (1, 1)
    assert fares(table) == {1: 7.5, 2: 13.0}


def test_conditions_may_be_arrow_expressions(table: HudiTable) -> None:
    newer = pc.field("source", "ts") > pc.field("target", "ts")
    rows = source({"id": 1, "ts": 20}, {"id": 2, "ts": 5})
    assert table.merge(rows).when_matched_update({"fare": 0.0}, where=newer).execute().updated == 1
    assert fares(table) == {1: 0.0, 2: 12.0, 3: 9.0}


def test_a_key_that_is_null_matches_nothing(table: HudiTable) -> None:
    rows = pa.table({"id": pa.array([None, 1], pa.int64()), "fare": [1.0, 2.0]})
    assert table.merge(rows).when_matched_update({"fare": "source.fare"}).execute().updated == 1


def test_an_empty_source_changes_nothing(table: HudiTable) -> None:
    empty = SCHEMA.empty_table()
    assert table.merge(empty).when_matched_update().when_not_matched_insert().execute().instant is None


@pytest.mark.parametrize("moves_upserts", ["true", "false"])
def test_a_record_may_move_to_another_partition_whatever_the_index_does_with_upserts(moves_upserts: str) -> None:
    table = create()
    rows = source({**ROWS[0], "city": "rome", "price": None})
    options = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": moves_upserts}
    table.merge(rows).when_matched_update().execute(options=options)
    assert table.to_arrow(["city"], "id = 1").to_pylist() == [{"city": "rome"}]
    assert len(table) == 3


def test_two_source_rows_of_one_record_need_an_order() -> None:
    rows = source({**ROWS[0], "ts": 30, "fare": 1.0, "price": None}, {**ROWS[0], "ts": 40, "fare": 2.0, "price": None})
    with pytest.raises(KeyFieldError, match="more than one row of the source changes the record '1'"):
        create().merge(rows).when_matched_update().execute()
    ordered = create(order_by=("ts",))
    ordered.merge(rows).when_matched_update().execute()
    assert fares(ordered)[1] == 2.0


def test_a_partial_update_of_a_merge_on_read_table_writes_the_columns_that_change() -> None:
    table = create("mor")
    table.merge([{"id": 1, "tip": 1.0}]).when_matched_update({"fare": "fare + tip"}).execute()
    assert fares(table)[1] == 8.5
    assert table.to_arrow(["seats", "price"], "id = 1").to_pylist() == [{"seats": 1, "price": Decimal("1.00")}]


def test_a_table_without_record_key_merges_by_what_is_named() -> None:
    table = HudiTable.create(MemoryStorage().uri, SCHEMA, name="t")
    table.insert(pa.Table.from_pylist(ROWS, SCHEMA))
    with pytest.raises(UsageError, match="no record key"):
        table.merge([{"id": 1}])
    rows = pa.Table.from_pylist([{**ROWS[0], "fare": 1.0}, {**ROWS[0], "id": 9}], SCHEMA)
    result = table.merge(rows, on="id").when_matched_update({"fare": "source.fare"}).when_not_matched_insert().execute()
    assert (result.updated, result.inserted) == (1, 1)
    assert fares(table) == {1: 1.0, 2: 12.0, 3: 9.0, 9: 7.5}


def test_columns_named_like_the_sides_do_not_hide_them() -> None:
    schema = pa.schema({"id": pa.int64(), "source": pa.string()})
    table = HudiTable.create(MemoryStorage().uri, schema, name="t", keys=["id"])
    table.insert(pa.table({"id": [1], "source": ["a"]}))
    table.merge([{"id": 1, "name": "b"}]).when_matched_update({"source": "target.source || source.name"}).execute()
    assert table.to_arrow(["source"]).to_pylist() == [{"source": "ab"}]


@pytest.mark.parametrize(
    ("clause", "error", "match"),
    [
        (lambda merge: merge, UsageError, "no clause"),
        (lambda merge: merge.when_matched_update({"id": "source.id"}), SchemaError, "assigns id, which is part of the record key"),
        (lambda merge: merge.when_matched_update({"city": "'bern'"}), SchemaError, "assigns city"),
        (lambda merge: merge.when_matched_update({"fair": 1}), SchemaError, "no column of the table"),
        (lambda merge: merge.when_matched_update(), SchemaError, r"UPDATE \* needs every column .* lacks city, seats, price"),
        (lambda merge: merge.when_not_matched_insert(), SchemaError, r"INSERT \* needs every column"),
        (lambda merge: merge.when_matched_update({"fare": "fare"}), UsageError, r"both sides: write source\.fare or target\.fare"),
        (lambda merge: merge.when_matched_update({"fare": 1}, where="ts > 1"), UsageError, r"write source\.ts or target\.ts"),
        (lambda merge: merge.when_matched_update({"fare": 1}, where=5), UsageError, "give SQL text or a pyarrow expression"),
        (lambda merge: merge.when_matched_delete().when_matched_update({"fare": 1}), SchemaError, "never applies"),
        (lambda merge: merge.when_not_matched_by_source_update(None), UsageError, "needs the new values"),
        (lambda merge: merge.when_matched_update([1]), UsageError, "needs the new values"),
        (lambda merge: merge.when_not_matched_insert({"id": "target.id"}), UsageError, "'target'"),
    ],
)
def test_a_wrong_merge_is_refused_and_writes_nothing(clause: Any, error: type[Exception], match: str) -> None:
    table = create()
    with pytest.raises(error, match=match):
        clause(table.merge(source({"id": 1, "ts": 1, "fare": 1.0}, {"id": 9, "ts": 1, "fare": 1.0}))).execute()
    assert table.history().num_rows == 1


@pytest.mark.parametrize(
    ("rows", "on", "error", "match"),
    [
        (None, None, UsageError, "needs a source"),
        ([{"fare": 1.0}], None, SchemaError, "the source has no column 'id'"),
        ([{"id": 1}], "idd", SchemaError, "the table has no column 'idd' to match by.*'id'"),
        ([{"id": 1}], [], UsageError, "on names no column"),
        ([{"id": 1}], 5, UsageError, "on is 5"),
        (7, None, UsageError, "The data are of type"),
    ],
)
def test_a_merge_without_source_or_match_is_refused(rows: Any, on: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        create().merge(rows, on=on)


def test_sources_of_other_kinds_are_merged(tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 9], "city": ["oslo", "bern"], "ts": [1, 1], "fare": [2.0, 3.0], "seats": [1, 1], "price": [1, 1]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    categories = rows.to_pandas().astype({"city": "category"})
    for given in (rows.to_pydict(), pl.DataFrame(rows).lazy(), categories, tmp_path / "rows.parquet"):
        table = create()
        merge = table.merge(given).when_matched_update({"fare": "source.fare"}, where="source.city = target.city")
        merge.when_not_matched_insert().execute()
        assert fares(table) == {1: 2.0, 2: 12.0, 3: 9.0, 9: 3.0}


@pytest.mark.parametrize("rows", [pa.table({"id": ["1"]}), pa.table({"id": [1.5]})])
def test_keys_of_another_type_are_refused(rows: pa.Table) -> None:
    with pytest.raises(SchemaError, match="cannot be stored in id"):
        create().merge(rows).when_matched_delete().execute()


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_expressions_may_name_meta_columns(kind: str) -> None:
    table = create(kind)
    first = table.history()["requested"][0].as_py()
    table.update({"ts": "CAST(_hoodie_commit_time AS BIGINT)"}, where="_hoodie_commit_time > '2000' AND id = 1")
    assert table.to_arrow(["ts"], filter="id = 1")["ts"].to_pylist() == [int(first)]
    merge = table.merge([{"id": 2}]).when_matched_update({"ts": "1"}, where=f"target._hoodie_commit_time <> '{first}'")
    assert merge.execute().updated == 0
    values = {"ts": "length(target._hoodie_commit_seqno) + CAST(_HOODIE_COMMIT_TIME AS BIGINT)"}
    assert table.merge([{"id": 2}]).when_matched_update(values, where=pc.field("_hoodie_commit_time") == first).execute().updated == 1
    assert table.to_arrow(["ts"], filter="id = 2")["ts"].to_pylist()[0] > int(first)


def test_meta_columns_that_no_expression_names_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    table = create()
    columns: list[list[str]] = []

    def reading(chosen: Selection) -> pa.Table:
        columns.append([name for name in chosen.columns if name.startswith("_hoodie_")])
        return read_table(chosen)

    def reading_late(chosen: Selection, first: list[str]) -> LateRows:
        columns.append([name for name in chosen.columns if name.startswith("_hoodie_")])
        return read_late(chosen, first)

    monkeypatch.setattr("pyhudi.table.change.changed_rows.read_table", reading)
    monkeypatch.setattr("pyhudi.table.change.source_join.read_late", reading_late)
    table.update({"ts": 1}, where="id = 1")
    table.merge([{"id": 2, "ts": 5}]).when_matched_update({"ts": "source.ts"}).execute()
    assert columns == [list(LOCATION_COLUMNS)] * 2


def test_a_merge_that_was_not_executed_says_so(table: HudiTable) -> None:
    merge = table.merge([{"id": 1, "fare": 2.0}], on="id")
    assert repr(merge) == "<merge, not executed: no clause; execute() runs it>"
    assert repr(merge.when_matched_delete("fare > 1").when_not_matched_by_source_delete()) == (
        "<merge, not executed: matched delete; not matched by source delete; execute() runs it>"
    )
