"""Writes of data that lack columns of the table: refused, or filled with nulls where an option permits it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import SchemaError

SCHEMA = pa.schema({"id": pa.int64(), "name": pa.string(), "at": pa.struct({"day": pa.string(), "hour": pa.int64()})})
ANN = {"id": 1, "name": "ann", "at": {"day": "mon", "hour": 1}}
BOB = {**ANN, "id": 2, "name": "bob"}
FILLS = {"hoodie.write.set.null.for.missing.columns": "true"}
KEEPS = {"hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}
RECONCILES = {"hoodie.datasource.write.reconcile.schema": "true"}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = HudiTable.create(f"memory://{request.node.name}", SCHEMA, name="people", keys=["id"], table_type=request.param)
    made.upsert([ANN, BOB])
    return made


def rows(table: HudiTable) -> list[dict[str, Any]]:
    return sorted(table.to_arrow().to_pylist(), key=lambda row: row["id"])


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


@pytest.mark.parametrize("write", ["upsert", "insert", "bulk_insert", "overwrite"])
@pytest.mark.parametrize(
    ("data", "missing"),
    [
        ([without(ANN, "name")], "'name'"),
        ([{**without(ANN, "name"), "nmae": "c"}], "'nmae'.*Did you mean 'name'"),
        ([ANN, without(BOB, "name")], "In row 1 the data lack the column 'name'"),
        ([{**ANN, "at": {"day": "tue"}}], "'at.hour'"),
        (pa.table({"id": [1], "name": ["x"]}), "'at'"),
        (pd.DataFrame({"id": [1], "name": ["x"]}), "'at'"),
        (SCHEMA.remove(1).empty_table(), "'name'"),
    ],
)
def test_missing_columns_are_refused_by_every_operation(table: HudiTable, write: str, data: Any, missing: str) -> None:
    before = table.history()
    with pytest.raises(SchemaError, match=missing):
        getattr(table, write)(data)
    assert table.history() == before
    assert rows(table) == [ANN, BOB]
    assert table.schema.names == SCHEMA.names


@pytest.mark.parametrize("options", [FILLS, KEEPS, RECONCILES])
def test_options_permit_missing_columns_and_no_column_leaves_the_table(table: HudiTable, options: dict[str, str]) -> None:
    result = table.upsert([without(ANN, "name")], options)
    assert rows(table) == [{**ANN, "name": None}, BOB]
    assert result.new_columns == ()
    assert table.upsert([ANN, without(BOB, "at")], options).updated == 2
    assert rows(table) == [ANN, {**BOB, "at": None}]


@pytest.mark.parametrize("options", [FILLS, KEEPS])
def test_options_permit_missing_columns_beside_new_ones(table: HudiTable, options: dict[str, str]) -> None:
    result = table.upsert([{**without(ANN, "name"), "nmae": "c"}], options)
    assert result.new_columns == ("nmae",)
    assert rows(table)[0] == {**ANN, "name": None, "nmae": "c"}


def test_new_columns_are_named_in_the_result(table: HudiTable) -> None:
    result = table.upsert([{**ANN, "age": 7, "at": {"day": "mon", "hour": 1, "minute": 5}}])
    assert result.new_columns == ("age", "at.minute")
    assert str(result).endswith("; new columns: age, at.minute")
    assert result.to_dict()["new_columns"] == ["age", "at.minute"]
    assert rows(table)[1] == {**BOB, "age": None, "at": {"day": "mon", "hour": 1, "minute": None}}


@pytest.mark.parametrize("data", [[{"id": 1}], pa.table({"id": [1]})])
def test_deletes_need_the_keys_only(table: HudiTable, data: Any) -> None:
    assert table.delete(data).deleted == 1
    assert rows(table) == [BOB]


@pytest.mark.parametrize("write", [lambda table: table.upsert([]), lambda table: table.insert(pa.table({}))])
def test_data_without_rows_and_columns_change_nothing(table: HudiTable, write: Callable[[HudiTable], Any]) -> None:
    assert write(table).instant is None
    assert rows(table) == [ANN, BOB]


@pytest.mark.parametrize("write", ["upsert", "insert", "bulk_insert", "overwrite", "delete"])
@pytest.mark.parametrize("data", [{}, [{}], [{}, {}], pa.table({"id": [1]}).select([])])
def test_rows_without_any_column_are_refused(table: HudiTable, write: str, data: Any) -> None:
    with pytest.raises(SchemaError, match=r"no columns, and [12] rows"):
        getattr(table, write)(data)
    assert rows(table) == [ANN, BOB]


def test_column_that_marks_deletes_may_be_missing(table: HudiTable) -> None:
    assert table.upsert([{**ANN, "_hoodie_is_deleted": True}]).new_columns == ("_hoodie_is_deleted",)
    assert table.upsert([{**BOB, "name": "rob"}]).updated == 1
    assert [row["name"] for row in rows(table)] == ["rob"]


def test_a_missing_number_of_pandas_widens_no_column(table: HudiTable) -> None:
    frame = pd.DataFrame([{**ANN, "age": 7}, {**BOB, "age": 8}])
    table.upsert(frame)
    frame["age"] = [2**53 + 1, None]
    result = table.upsert(frame.astype({"age": "Int64"}))
    assert result.widened_columns == ()
    assert table.upsert(pd.DataFrame([{**ANN, "age": 9}, {**BOB, "age": None}])).widened_columns == ()
    assert table.schema.field("age").type == pa.int64()
    assert [row["age"] for row in rows(table)] == [9, None]


def test_widened_columns_are_named_in_the_result_and_in_the_log(table: HudiTable, caplog: pytest.LogCaptureFixture) -> None:
    result = table.upsert([{**ANN, "at": {"day": "mon", "hour": 1.5}}])
    assert result.widened_columns == ("at.hour",)
    assert str(result).endswith("; widened columns: at.hour")
    assert result.to_dict()["widened_columns"] == ["at.hour"]
    assert "widen the column 'at.hour' of table people from int64 to double; whole numbers with more digits" in caplog.text
