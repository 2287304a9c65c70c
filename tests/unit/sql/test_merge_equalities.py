"""What counts as a condition of nothing but equal columns, and what does not."""

from __future__ import annotations

import pytest

from pyhudi.sql.write.merge_equalities import equalities
from pyhudi.sql.write.merge_text import merge_text


def equalities_of(on: str, target: str = "rides t") -> list[tuple[str, str]] | None:
    return equalities(merge_text(f"MERGE INTO {target} USING new s ON {on} WHEN MATCHED THEN DELETE"))


@pytest.mark.parametrize(
    ("on", "pairs"),
    [
        ("t.id = s.ride", [("id", "ride")]),
        ("s.ride = t.id", [("id", "ride")]),
        ("T.id = S.ride", [("id", "ride")]),
        ("t.id = s.ride and s.`the city` = `t`.city", [("id", "ride"), ("city", "the city")]),
        ("( (t.id = s.ride) )", [("id", "ride")]),
        ("(t.id = s.ride AND t.a = s.a)", [("id", "ride"), ("a", "a")]),
    ],
)
def test_columns_that_equal_each_other(on: str, pairs: list[tuple[str, str]]) -> None:
    assert equalities_of(on) == pairs


def test_a_table_without_alias_is_qualified_by_its_name() -> None:
    assert equalities_of("db.rides.id = s.id", "db.rides") == [("id", "id")]


@pytest.mark.parametrize(
    "on",
    [
        "t.id = s.id OR t.a = s.a",
        "NOT t.id = s.id",
        "t.id <=> s.id",
        "t.id == s.id",
        "t.id >= s.id",
        "t.id = s.id + 1",
        "t.id = -s.id",
        "t.id = t.a",
        "id = s.id",
        "t.id = 1",
        "t.id = s.id AND t.a > 1",
        "t.id = s.id AND t.a BETWEEN s.a AND s.b",
        "(t.id = s.id) OR (t.a = s.a)",
        "t.place.x = s.x",
        "lower(t.id) = s.id",
        "t.id = s.id COLLATE UTF8_LCASE",
        "true",
    ],
)
def test_anything_else_is_sparks_work(on: str) -> None:
    assert equalities_of(on) is None
