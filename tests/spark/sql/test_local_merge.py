"""The join of a small MERGE, made in this process, gives the rows that Spark's join gives, and steps back where it could not."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from pyhudi.read.skipping import key_rows
from pyhudi.spark.writer import local_join as joined_rows
from pyhudi.sql.statement import statement
from pyhudi.sql.write import merge_query
from pyhudi.sql.write.merge_query import MergeQuery
from pyhudi.sql.write.merge_text import merge_text
from pyhudi.sql.write.write_target import open_for_change

pytestmark = pytest.mark.spark

ROWS = """
    (1, 'ann', DATE'2024-01-01', 10.5, TIMESTAMP'2024-05-01 10:00:00', 'oslo'), (2, 'bob', DATE'2024-01-02', NULL, NULL, 'oslo'),
    (3, NULL, NULL, 12.5, TIMESTAMP'1969-12-31 23:59:59.999999', 'rome'), (4, 'bob', DATE'2024-01-02', 13.5, NULL, 'rome')
"""
BOTH = """WHEN MATCHED THEN UPDATE SET name = concat(s.name, '!'), paid = t.paid + 1
    WHEN NOT MATCHED THEN INSERT (id, name, city) VALUES (s.id % 1000, s.name, 'bern')"""
UPDATE = "WHEN MATCHED AND s.name > 'b' THEN UPDATE SET name = s.name WHEN MATCHED AND t.paid IS NULL THEN DELETE"
INSERT = "WHEN NOT MATCHED THEN INSERT (id, name, city) VALUES (s.id % 1000, upper(s.name), 'bern')"
DELETE = "WHEN MATCHED THEN DELETE"
BY_ID = "ON t.id = s.id"
SOURCES = [
    ("(1, 'x'), (3, 'y'), (9, 'z')", "t.id = s.id"),
    ("(2L, 'x'), (2L, 'y'), (9000000000L, 'z'), (CAST(NULL AS BIGINT), 'n')", "t.id = s.id"),
    ("(7, 'bob'), (8, CAST(NULL AS STRING)), (9, 'Bob')", "s.name = t.name"),
    ("(2, 'bob'), (3, 'cid'), (4, 'ann')", "t.ID = s.Id AND `t`.name = s.`name`"),
    ("(2, '2'), (9, '9')", "t._hoodie_record_key = s.name"),
    ("(9, 'z')", "( (t.id = s.id) )"),
]


@pytest.fixture(params=["cow", "mor"])
def stored(sql, request):
    """Four rows in two partitions, on merge-on-read some of them changed in logs."""
    sql(
        "CREATE TABLE stored (id INT, name STRING, born DATE, paid DECIMAL(10, 2), seen TIMESTAMP, city STRING) USING hudi"
        f" PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id', type = '{request.param}')"
    )
    sql(f"INSERT INTO stored VALUES {ROWS}")
    sql("UPDATE stored SET paid = 11.5 WHERE id = 1")
    sql("DELETE FROM stored WHERE id = 4")
    sql("INSERT INTO stored VALUES (4, 'bob', DATE'2024-01-02', 13.5, NULL, 'rome')")
    return sql


def both(sql, text: str) -> tuple[list[str] | None, list[str]]:
    """Return the changes that both joins lead to; None for the one in this process where it steps back."""
    plain = SparkSession.sql.__wrapped__.__get__(sql.session)  # type: ignore[attr-defined]
    analyzed = statement.read(sql.session, plain, text, None)
    change = open_for_change(analyzed, analyzed.plan.targetTable())
    assert change is not None
    query = MergeQuery(analyzed, change[0], merge_text(text))
    here, by_spark = query.build_locally(1 << 26), analyzed.run_sql(query.build())
    assert here is None or here.columns == by_spark.columns
    assert here is None or [field.dataType for field in here.schema] == [field.dataType for field in by_spark.schema]
    return None if here is None else sorted(map(repr, here.collect())), sorted(map(repr, by_spark.collect()))


ALL = [(source, clauses) for source in SOURCES for clauses in (BOTH, UPDATE, INSERT, DELETE)]
#: Each source with the clauses that update and insert, and with one of the other three in turn.
SOME = [(source, clauses) for number, source in enumerate(SOURCES) for clauses in (BOTH, (UPDATE, INSERT, DELETE)[number % 3])]


@pytest.mark.parametrize(
    ("stored", "merges"),
    [pytest.param("cow", ALL, marks=pytest.mark.slow), pytest.param("mor", ALL, marks=pytest.mark.slow), ("mor", SOME)],
    indirect=["stored"],
    ids=["cow", "mor", "mor, some"],
)
def test_the_rows_are_those_of_sparks_join(stored, merges):
    for (source, on), clauses in merges:
        here, by_spark = both(stored, f"MERGE INTO stored t USING (SELECT * FROM VALUES {source} AS v(id, name)) s ON {on} {clauses}")
        assert here == by_spark, (source, on, clauses)


@pytest.mark.parametrize("stored", ["mor"], indirect=True)
def test_dates_equal_dates_and_every_value_survives(stored):
    text = (
        "MERGE INTO stored USING (SELECT DATE'2024-01-02' AS born, TIMESTAMP'2200-02-03 04:05:06.000007' AS seen, 99.99BD AS paid) s"
        " ON stored.born = s.born WHEN MATCHED THEN UPDATE SET seen = s.seen, paid = s.paid"
    )
    here, by_spark = both(stored, text)
    assert here == by_spark
    assert len(by_spark) == 2


@pytest.mark.parametrize("stored", ["cow"], indirect=True)
def test_what_is_sparks_work_is_left_to_it(stored):
    for using in (
        f"(SELECT 1 AS id) s {BY_ID} AND t.name = 'ann' {DELETE}",
        f"(SELECT 1 AS id) s ON t.id <=> s.id {DELETE}",
        f"(SELECT 1.0 AS id) s {BY_ID} {DELETE}",
        f"(SELECT map(1, 2) AS pairs, 1 AS id) s {BY_ID} {DELETE}",
        f"stored s {BY_ID} {DELETE}",
        f"(SELECT 1 AS k) s ON id = s.k {DELETE}",
        f"(SELECT 1 AS id) s ON (t.id = s.id) OR (t.id = s.id) {DELETE}",
        f"(SELECT 1 AS id) s {BY_ID} WHEN NOT MATCHED BY SOURCE THEN DELETE",
        f"(SELECT 1 AS id) s {BY_ID} WHEN MATCHED AND t.id IN (SELECT 1) THEN DELETE",
        f"(SELECT id FROM range(1000000)) s {BY_ID} {DELETE}",
    ):
        assert both(stored, f"MERGE INTO stored t USING {using}")[0] is None, using


@pytest.mark.parametrize("stored", ["cow"], indirect=True)
def test_a_source_that_takes_a_job_is_run_once(stored, monkeypatch):
    stored("CREATE TABLE news (id INT) USING parquet")
    stored("INSERT INTO news VALUES (1)")
    text = f"MERGE INTO stored t USING news s {BY_ID} {DELETE}"
    here, by_spark = both(stored, text)
    assert here == by_spark
    brought: list[Any] = []
    monkeypatch.setattr(joined_rows, "rows_of_small_plan", lambda *arguments: brought.append(arguments))
    monkeypatch.setattr(joined_rows, "_FILES_MAX", 1)
    assert both(stored, text)[0] is None
    assert brought == []


@pytest.mark.parametrize("stored", ["mor"], indirect=True)
def test_bounds_are_those_of_what_is_read(stored, monkeypatch):
    text = f"MERGE INTO stored t USING (SELECT * FROM VALUES (1), (2), (3) AS v(id)) s {BY_ID} {DELETE}"
    here, by_spark = both(stored, text)
    assert here == by_spark
    with monkeypatch.context() as patch:
        patch.setattr(merge_query, "AS_VALUES", joined_rows.JoinLimits(2, 8 << 20))
        assert both(stored, text)[0] is None
    with monkeypatch.context() as patch:
        patch.setattr(joined_rows, "_BASE_FILE_FACTOR", 0)
        assert both(stored, text)[0] is None


@pytest.mark.parametrize("stored", ["cow", "mor"], indirect=True)
def test_of_many_keys_statistics_are_asked_for_the_range(stored, monkeypatch):
    for on in (BY_ID, "ON t._hoodie_record_key = s.key", "ON t._hoodie_record_key = s.key AND t.name = s.name"):
        values = "(1, 'ann'), (3, 'x'), (2, 'x'), (2, 'bob'), (4, 'bob'), (9, 'x')"
        source = f"SELECT *, CAST(id AS STRING) AS key FROM VALUES {values} AS v(id, name)"
        text = f"MERGE INTO stored t USING ({source}) s {on} {BOTH}"
        few, by_spark = both(stored, text)
        with monkeypatch.context() as patch:
            patch.setattr(joined_rows, "MOST_KEYS", 1)
            patch.setattr(key_rows, "_FILE_BYTES", 0)
            assert both(stored, text) == (few, by_spark)
        assert few == by_spark


STORES = [
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED THEN UPDATE SET *",
    "WHEN NOT MATCHED THEN INSERT *",
]
#: Rows 2 and 3 as they are stored (3 has another time alone, then another name alone), a row twice, a new row, and one without key.
WHOLE_ROWS = """SELECT CAST(id AS INT) AS id, name, born, CAST(paid AS DECIMAL(10, 2)) AS paid, seen, city FROM VALUES
    (2, 'bob', DATE'2024-01-02', NULL, NULL, 'oslo'),
    (3, NULL, NULL, 12.5, TIMESTAMP'1969-12-31 23:59:59.999998', 'rome'),
    (3, 'z', NULL, 12.5, TIMESTAMP'1969-12-31 23:59:59.999999', 'rome'),
    (4, 'bob', DATE'2024-01-02', 13.5, NULL, 'oslo'), (9, 'new', NULL, NULL, NULL, 'bern'), (NULL, 'none', NULL, NULL, NULL, 'bern')
    AS v(id, name, born, paid, seen, city)"""


def stored_rows(sql, text: str) -> tuple[list[str] | None, list[str]]:
    """Return the changes of a MERGE that stores rows of its source, computed in this process and by Spark."""
    plain = SparkSession.sql.__wrapped__.__get__(sql.session)  # type: ignore[attr-defined]
    analyzed = statement.read(sql.session, plain, text, None)
    change = open_for_change(analyzed, analyzed.plan.targetTable())
    assert change is not None
    query = MergeQuery(analyzed, change[0], merge_text(text))
    here, by_spark = query.collect_locally(1 << 26) if query.stores_source_rows else None, analyzed.run_sql(query.build()).toArrow()
    assert here is None or here.select(by_spark.column_names).cast(by_spark.schema)
    return None if here is None else sorted(map(repr, here.to_pylist())), sorted(map(repr, by_spark.to_pylist()))


@pytest.mark.parametrize("stored", ["cow", "mor"], indirect=True)
def test_rows_that_are_stored_as_they_are_need_no_expression_of_spark(stored):
    for clauses in STORES:
        for first in (None, "seen"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(MergeQuery, "_compared_first", first)
                here, by_spark = stored_rows(stored, f"MERGE INTO stored t USING ({WHOLE_ROWS}) s ON t.id = s.id {clauses}")
            assert here == by_spark, (clauses, first)


@pytest.mark.parametrize("stored", ["mor"], indirect=True)
def test_sparks_expressions_evaluate_what_is_not_stored_as_it_is(stored):
    for source, clauses in (
        (WHOLE_ROWS, "WHEN MATCHED AND t.id > 1 THEN UPDATE SET *"),
        (WHOLE_ROWS, "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *"),
        (WHOLE_ROWS, "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE THEN DELETE"),
        (WHOLE_ROWS.replace("CAST(paid AS DECIMAL(10, 2))", "CAST(paid AS DECIMAL(9, 2))"), "WHEN MATCHED THEN UPDATE SET *"),
        (WHOLE_ROWS, "WHEN MATCHED THEN DELETE"),
    ):
        assert stored_rows(stored, f"MERGE INTO stored t USING ({source}) s ON t.id = s.id {clauses}")[0] is None, clauses


@pytest.mark.parametrize("stored", ["cow", "mor"], indirect=True)
def test_a_merge_that_stores_rows_of_its_source_changes_what_differs(stored):
    source = """SELECT CAST(id AS INT) AS id, name, born, CAST(paid AS DECIMAL(10, 2)) AS paid, seen, city FROM VALUES
        (2, 'bob', DATE'2024-01-02', NULL, NULL, 'oslo'), (3, NULL, NULL, 99.5, TIMESTAMP'1969-12-31 23:59:59.999999', 'rome'),
        (4, 'bob', DATE'2024-01-02', 13.5, NULL, 'oslo'), (9, 'new', NULL, NULL, NULL, 'bern') AS v(id, name, born, paid, seen, city)"""
    before = dict(stored("SELECT id, _hoodie_commit_time FROM stored"))
    text = f"MERGE INTO stored t USING ({source}) s ON t.id = s.id {STORES[0]}"
    stored(text)
    times = dict(stored("SELECT id, _hoodie_commit_time FROM stored"))
    assert sorted(number for number, time in times.items() if time > max(before.values())) == [3, 4, 9]
    assert [times[number] for number in (1, 2)] == [before[number] for number in (1, 2)]
    assert stored("SELECT id, name, CAST(paid AS DOUBLE), city FROM stored WHERE id > 2 ORDER BY id") == [
        (3, None, 99.5, "rome"),
        (4, "bob", 13.5, "oslo"),
        (9, "new", None, "bern"),
    ]
    stored(text)
    assert dict(stored("SELECT id, _hoodie_commit_time FROM stored")) == times


@pytest.mark.parametrize("stored", ["cow"], indirect=True)
def test_a_merge_told_to_run_on_spark_does(stored):
    stored("SET pyhudi.engine = spark")
    try:
        stored(f"MERGE INTO stored t USING (SELECT 1 AS id) s {BY_ID} {DELETE}")
    finally:
        stored("RESET pyhudi.engine")
    assert stored("SELECT count(*) FROM stored") == [(3,)]


@pytest.mark.parametrize("stored", ["cow"], indirect=True)
def test_names_have_the_case_that_the_session_gives_them(stored):
    stored("SET spark.sql.caseSensitive = true")
    try:
        with pytest.raises(AnalysisException, match="ID"):
            stored(f"MERGE INTO stored t USING (SELECT 1 AS id) s ON t.ID = s.id {DELETE}")
    finally:
        stored("RESET spark.sql.caseSensitive")
