"""Which columns are read for the queries of validators: those that they name, or all where a query may need others."""

from __future__ import annotations

import pytest

from pyhudi.table.validation.query_columns import named_columns

NAMES = ["_hoodie_record_key", "id", "fare", "City", "s"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT count(*) FROM <TABLE_NAME>", []),
        ("select count(1) from <TABLE_NAME> where fare is null", ["fare"]),
        ("SELECT sum(FARE) AS total FROM <TABLE_NAME> t WHERE t.city = 'id' AND fare * 2 > 1", ["City", "fare"]),
        ("SELECT count(DISTINCT id) FROM <TABLE_NAME>", ["id"]),
        ("SELECT city, max(fare) FROM <TABLE_NAME> GROUP BY city ORDER BY city", ["City", "fare"]),
        ("SELECT count(*) FROM <TABLE_NAME> WHERE _hoodie_record_key IN ('a', 'b')", ["_hoodie_record_key"]),
        ("SELECT count(*) FROM <TABLE_NAME> WHERE CAST(id AS INT) BETWEEN 1 AND 2 OR lower(city) LIKE 'o%'", ["City", "id"]),
        ("SELECT * FROM <TABLE_NAME>", None),
        ("SELECT count(t) FROM <TABLE_NAME> t", None),
        ("SELECT count(DISTINCT t.*) FROM <TABLE_NAME> t", None),
        ("SELECT sum(s.fare) FROM <TABLE_NAME>", None),
        ("SELECT a FROM <TABLE_NAME> AS t(a, b)", None),
        ("SELECT max(total) FROM (SELECT sum(fare) AS total FROM <TABLE_NAME> GROUP BY id)", None),
        ("SELECT count(*) FROM <TABLE_NAME> a JOIN <TABLE_NAME> b USING (id)", None),
        ("SELECT count(*) FROM <TABLE_NAME> WHERE id IN (SELECT id FROM other)", None),
        ("FROM <TABLE_NAME>", None),
        ('SELECT count("fare") FROM <TABLE_NAME>', None),
        ("SELECT own_function(fare) FROM <TABLE_NAME>", None),
        ("SELECT nothing FROM <TABLE_NAME>", None),
        ("no query", None),
    ],
)
def test_columns_of_a_query(query: str, expected: list[str] | None) -> None:
    columns = named_columns([query], NAMES)
    assert (None if columns is None else sorted(columns)) == expected


def test_columns_of_several_queries_are_read_once() -> None:
    columns = named_columns(["SELECT sum(fare) FROM <TABLE_NAME>", "SELECT max(id) FROM <TABLE_NAME>"], NAMES)
    assert columns == frozenset(("fare", "id"))
    assert named_columns(["SELECT sum(fare) FROM <TABLE_NAME>", "SELECT * FROM <TABLE_NAME>"], NAMES) is None
