"""Tables of Apache Hudi's SQL continued by pyhudi, and tables of pyhudi continued by Apache Hudi's SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi import HudiTable
from tests.interop.kinds import HIVE_STYLE, Kind, Model, assert_both_read
from tests.interop.reference import ReferenceHudi
from tests.interop.rows import data, trips

COLUMNS = "id STRING, city STRING, amount BIGINT, price DOUBLE"


@pytest.mark.parametrize("version", ["8", "9"])
def test_a_table_created_by_sql_is_filled_by_pyhudi(version: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    path, name = tmp_path / "t", f"created_{version}"
    reference.sql(
        f"CREATE TABLE {name} ({COLUMNS}) USING hudi PARTITIONED BY (city) LOCATION '{path}' TBLPROPERTIES "
        f"(primaryKey='id', preCombineField='amount', 'hoodie.write.table.version'='{version}')",
        conf={"hoodie.write.table.version": version},
    )
    table = HudiTable.open(path)
    assert table.to_arrow().num_rows == 0
    assert [field.name for field in table.to_arrow().schema] == ["id", "amount", "price", "city"]
    model = Model(("amount",))
    # SQL puts the partition column last; the data's order of columns is its own affair.
    table.insert(model.upsert(trips(0, 5)))
    reference.sql(f"UPDATE {name} SET amount = amount + 5 WHERE id = 'trip-1'", f"DELETE FROM {name} WHERE id = 'trip-0'")
    model.upsert(trips(1, 2, amount=5))
    model.delete(trips(0, 1))
    HudiTable.open(path).upsert(model.upsert(trips(1, 7, amount=2)))
    assert_same_rows(reference, path, model)


def test_statements_of_apache_hudi_change_a_table_of_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    model = Model()
    Kind("sql", options=HIVE_STYLE).create(path).insert(model.upsert(trips(0, 6)))
    reference.sql(
        f"CREATE TABLE changed USING hudi LOCATION '{path}'",
        "UPDATE changed SET amount = 5 WHERE price < 1",
        "DELETE FROM changed WHERE city = 'lima'",
        "INSERT INTO changed (id, city, amount, price) VALUES ('trip-6', 'oslo', 0, 6.5)",
        "MERGE INTO changed t USING (SELECT 'trip-2' id, 'bern' city, 8L amount, 2.5D price) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    )
    model.upsert(trips(0, 1, amount=5))
    model.delete(trips(1, 2))
    model.delete(trips(4, 5))
    model.upsert(trips(6, 7))
    model.upsert(trips(2, 3, amount=8))
    assert_both_read(reference, path, model.sorted())
    HudiTable.open(path).upsert(model.upsert(trips(4, 8, amount=9)))
    assert_both_read(reference, path, model.sorted())


def test_generated_keys_of_apache_hudi_are_kept_by_pyhudi(reference: ReferenceHudi, tmp_path: Path) -> None:
    path = tmp_path / "t"
    reference.sql(
        f"CREATE TABLE keyless_sql ({COLUMNS}) USING hudi LOCATION '{path}'",
        "INSERT INTO keyless_sql VALUES ('a', 'oslo', 1, 1.5), ('b', 'lima', 2, 2.5)",
        "UPDATE keyless_sql SET amount = 5 WHERE id = 'a'",
    )
    HudiTable.open(path).insert(trips(0, 2))
    reference.sql("DELETE FROM keyless_sql WHERE id = 'trip-1'")
    expected = [
        {"id": "a", "city": "oslo", "amount": 5, "price": 1.5},
        {"id": "b", "city": "lima", "amount": 2, "price": 2.5},
        *trips(0, 1).to_pylist(),
    ]
    assert_both_read(reference, path, expected)


def assert_same_rows(reference: ReferenceHudi, path: Path, model: Model) -> None:
    """As `assert_both_read`, for a table whose columns are in another order than the model's."""
    names = ["id", "city", "amount", "price"]
    assert data(reference.read(path).select(names)) == model.sorted()
    assert data(HudiTable.open(path).to_arrow().select(names)) == model.sorted()
