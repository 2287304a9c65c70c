"""The `_ro` entry of a synchronised merge-on-read table shows base files only, and changes through it see all rows."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


def test_an_entry_that_is_read_optimised_shows_base_files(sql):
    sql(
        "CREATE TABLE trips (id INT, name STRING, ts BIGINT) USING hudi"
        " TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = 'mor')"
    )
    sql("INSERT INTO trips VALUES (1, 'ann', 10), (2, 'bob', 20)")
    sql("UPDATE trips SET name = 'amy' WHERE id = 1")
    location = sql.table("trips").storage.uri
    sql(f"CREATE TABLE trips_ro USING hudi OPTIONS (`hoodie.query.as.ro.table` = 'true') LOCATION '{location}'")
    names = "SELECT name FROM trips_ro ORDER BY id"
    assert sql(names) == [("ann",), ("bob",)]
    assert sorted(row.name for row in sql.session.table("trips_ro").collect()) == ["ann", "bob"]
    assert sql("SELECT name FROM trips ORDER BY id") == [("amy",), ("bob",)]
    sql("UPDATE trips_ro SET name = concat(name, '!') WHERE id = 1")
    assert sql("SELECT name FROM trips ORDER BY id") == [("amy!",), ("bob",)]
    assert sql(names) == [("ann",), ("bob",)]
