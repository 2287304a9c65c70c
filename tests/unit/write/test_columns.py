"""How the columns of data are held against those of a table."""

from __future__ import annotations

import logging

import pyarrow as pa
import pytest

from pyhudi.errors import SchemaError
from pyhudi.spec.options import resolve
from pyhudi.write.input.data_columns import ColumnDifference, MissingColumns, check_columns, compare_columns, missing_columns

INNER = pa.struct({"a": pa.int64(), "b": pa.string()})
LESS = pa.struct({"a": pa.int64(), "bb": pa.string()})
TABLE = pa.schema({"id": pa.int64(), "Name": pa.string(), "_hoodie_is_deleted": pa.bool_()})


@pytest.mark.parametrize(
    ("table", "data", "missing", "new"),
    [
        ({"id": pa.int64()}, {"ID": pa.int32(), "_hoodie_commit_time": pa.string()}, (), ()),
        ({"id": pa.int64(), "name": pa.string()}, {"id": pa.int64(), "nmae": pa.string()}, ("name",), ("nmae",)),
        ({"s": INNER}, {"s": LESS}, ("s.b",), ("s.bb",)),
        ({"s": pa.list_(INNER)}, {"s": pa.large_list(LESS)}, ("s.element.b",), ("s.element.bb",)),
        ({"s": pa.map_(pa.string(), INNER)}, {"s": pa.map_(pa.string(), LESS)}, ("s.value.b",), ("s.value.bb",)),
        ({"s": pa.struct({"t": INNER})}, {"s": pa.struct({"t": LESS})}, ("s.t.b",), ("s.t.bb",)),
        ({"s": INNER}, {"s": pa.null()}, (), ()),
    ],
)
def test_missing_and_new_columns_are_told_at_any_depth(table, data, missing, new) -> None:
    assert compare_columns(pa.schema(table), pa.schema(data)) == ColumnDifference(missing, new)


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ({}, MissingColumns.REFUSED),
        ({"hoodie.write.set.null.for.missing.columns": "false"}, MissingColumns.REFUSED),
        ({"hoodie.write.set.null.for.missing.columns": "true"}, MissingColumns.FILLED),
        ({"hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}, MissingColumns.FILLED),
        ({"hoodie.datasource.write.reconcile.schema": "true"}, MissingColumns.FILLED_WITHOUT_NEW),
    ],
)
def test_options_permit_missing_columns(options: dict[str, str], policy: MissingColumns) -> None:
    assert missing_columns(resolve(options)) is policy


@pytest.mark.parametrize("policy", [MissingColumns.REFUSED, MissingColumns.FILLED_WITHOUT_NEW])
def test_refusal_names_what_is_missing_what_is_new_and_the_nearest_name(policy: MissingColumns) -> None:
    with pytest.raises(SchemaError) as caught:
        check_columns(TABLE, pa.schema({"id": pa.int64(), "nmae": pa.string()}), policy, "people")
    message = str(caught.value)
    assert "the column 'Name' of table people and add the column 'nmae'." in message
    assert "Did you mean 'Name'?" in message
    assert "hoodie.write.set.null.for.missing.columns=true" in message


def test_permitted_missing_columns_beside_new_ones_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="pyhudi.write"):
        check_columns(TABLE, pa.schema({"id": pa.int64(), "nmae": pa.string()}), MissingColumns.FILLED, "people")
        check_columns(TABLE, pa.schema({"id": pa.int64()}), MissingColumns.FILLED, "people")
        check_columns(TABLE, pa.schema({"id": pa.int64(), "name": pa.string(), "age": pa.int64()}), MissingColumns.REFUSED, "people")
    first, last = caplog.records
    assert first.levelno == logging.WARNING
    assert "'nmae'" in first.getMessage()
    assert "'Name'" in first.getMessage()
    assert (last.levelno, last.getMessage()) == (logging.INFO, "the data add the column 'age' to table people")


def test_table_without_columns_lacks_none() -> None:
    assert check_columns(pa.schema([]), pa.schema({"id": pa.int64()}), MissingColumns.REFUSED, "t") == ColumnDifference()
