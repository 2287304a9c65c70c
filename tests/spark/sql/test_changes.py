"""Rows that changed in a span of time: `hudi_table_changes`, `hudi_query`, and the incremental DataFrame read."""

from __future__ import annotations

import json

import pytest

from pyhudi.errors import OptionError, TableNotFound, UsageError

pytestmark = pytest.mark.spark

BEGIN = "hoodie.datasource.read.begin.instanttime"


@pytest.fixture(params=["cow", "mor"])
def three_commits(sql, request):
    """Rows 1 to 3, then row 2 changed, then row 4 added and row 1 deleted; returns the SQL runner."""
    sql(
        "CREATE TABLE t (id INT, v STRING, p STRING) USING hudi PARTITIONED BY (p)"
        f" TBLPROPERTIES (primaryKey = 'id', type = '{request.param}')"
    )
    sql("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'a', 'y'), (3, 'a', 'x')")
    sql("UPDATE t SET v = 'b' WHERE id = 2")
    sql("DELETE FROM t WHERE id = 1")
    sql("INSERT INTO t VALUES (4, 'd', 'y')")
    return sql


def times(sql):
    return sql.table("t").history().column("completed").to_pylist()


def test_changes_of_a_span(three_commits):
    sql = three_commits
    first, second, _, last = times(sql)
    assert sql(f"SELECT id, v FROM hudi_table_changes('t', 'latest_state', '{first}', '{second}')") == [(2, "b")]
    assert sql(f"SELECT id, v FROM hudi_table_changes('t', 'latest_state', '{first}') ORDER BY id") == [(2, "b"), (4, "d")]
    assert sql(f"SELECT count(*) FROM hudi_table_changes('t', 'latest_state', '{last}')") == [(0,)]


def test_changes_from_the_beginning_are_the_snapshot(three_commits):
    sql = three_commits
    assert sql("SELECT id, v FROM hudi_table_changes('t', 'latest_state', 'earliest') ORDER BY id") == sql(
        "SELECT id, v FROM t ORDER BY id"
    )


def test_a_function_joins_with_tables_and_takes_an_alias_and_a_path(three_commits):
    sql = three_commits
    first = times(sql)[0]
    path = sql.folder / "t"
    result = sql(
        f"SELECT c.id, t.v FROM hudi_table_changes('{path}', 'latest_state', '{first}') AS c JOIN t ON c.id = t.id"
        " WHERE c.p = 'y' ORDER BY 1"
    )
    assert result == [(2, "b"), (4, "d")]
    assert sql("SELECT count(*) FROM hudi_query('t', 'snapshot')") == [(3,)]


def test_incremental_reads_of_a_dataframe(three_commits):
    sql = three_commits
    first = times(sql)[0]
    reader = sql.session.read.format("hudi").option("hoodie.datasource.query.type", "incremental").option(BEGIN, first)
    rows = reader.load(str(sql.folder / "t"))
    assert sorted(tuple(row) for row in rows.select("id", "v").collect()) == [(2, "b"), (4, "d")]
    assert rows.columns[0] == "_hoodie_commit_time"
    assert rows.where("p = 'y'").count() == 2


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("hudi_table_changes('t', 'latest_state')", UsageError),
        ("hudi_table_changes('t', 'newest', 'earliest')", UsageError),
        ("hudi_table_changes('t', 'cdc', 'earliest')", UsageError),
        ("hudi_table_changes('nothing', 'latest_state', 'earliest')", TableNotFound),
        ("hudi_table_changes('t', 'latest_state', 'yesterday')", OptionError),
        ("hudi_query('t', 'incremental')", UsageError),
    ],
)
def test_a_call_that_does_not_fit_is_refused(people, call, error):
    with pytest.raises(error):
        people(f"SELECT * FROM {call.replace(chr(39) + 't' + chr(39), chr(39) + 'people' + chr(39))}")


def test_an_incremental_read_without_begin_is_refused(people):
    with pytest.raises(OptionError, match="begin"):
        people.session.read.format("hudi").option("hoodie.datasource.query.type", "incremental").load(str(people.folder / "people"))


AT_END = "hoodie.datasource.read.schema.use.end.instanttime"


@pytest.mark.parametrize("form", ["latest_state", "cdc"])
def test_changes_before_a_column_was_added_have_the_latest_columns(sql, form):
    captured = "'hoodie.table.cdc.enabled' = 'true', 'hoodie.table.cdc.supplemental.logging.mode' = 'data_before_after'"
    sql(f"CREATE TABLE t (id INT, v STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', {captured})")
    sql("INSERT INTO t VALUES (1, 'a')")
    sql("ALTER TABLE t ADD COLUMNS (added INT)")
    sql("INSERT INTO t VALUES (2, 'b', 7)")
    end = times(sql)[0]
    options = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.query.incremental.format": form}
    options |= {BEGIN: "earliest", "hoodie.datasource.read.end.instanttime": end}
    reader = sql.session.read.format("hudi").options(**options)
    call = f"SELECT * FROM hudi_table_changes('t', '{form}', 'earliest', '{end}')"

    def columns(rows):
        (row,) = rows.collect()
        return [*json.loads(row.after)] if form == "cdc" else [name for name in row.asDict() if not name.startswith("_hoodie_")]

    for at_end, expected in (("false", ["id", "v", "added"]), ("true", ["id", "v"])):
        assert columns(reader.option(AT_END, at_end).load(str(sql.folder / "t"))) == expected
        sql(f"SET {AT_END} = {at_end}")
        try:
            assert columns(sql.session.sql(call)) == expected
        finally:
            sql(f"RESET {AT_END}")


@pytest.mark.parametrize("prefix", ["", "spark."])
def test_settings_of_the_session_hold_for_the_function(three_commits, prefix, caplog):
    sql = three_commits
    first, second, _, _ = times(sql)
    call = "SELECT id FROM hudi_table_changes('t', 'latest_state', '{}'{}) ORDER BY id"

    def answer(key, value, end=""):
        name = f"{prefix}hoodie.datasource.read.{key}"
        sql.session.conf.set(name, value)
        try:
            return sql(call.format(first, end))
        finally:
            sql.session.conf.unset(name)

    assert answer("end.instanttime", second) == [(2,)]
    assert answer("end.instanttime", first, f", '{second}'") == [(2,)], "an argument beats the setting"
    assert answer("incr.path.glob", "*/p=x/*") == []
    assert answer("incr.path.glob", "*/p=y/*") == [(2,), (4,)]
    with caplog.at_level("INFO", "pyhudi.options"):
        assert answer("incr.filters", "id > 2") == [(2,), (4,)], "as in Apache Hudi 1.2.0"
    assert answer("incr.fallback.fulltablescan.enable", "false") == [(2,), (4,)]


def test_settings_that_do_not_fit_the_function_are_refused(three_commits):
    sql, glob, end = three_commits, "hoodie.datasource.read.incr.path.glob", "hoodie.datasource.read.end.instanttime"
    for name, value, form, words in ((glob, "*", "cdc", "RESET"), (end, "no time", "latest_state", "no time")):
        sql.session.conf.set(name, value)
        try:
            with pytest.raises(UsageError, match=words):
                sql(f"SELECT * FROM hudi_table_changes('t', '{form}', 'earliest')")
        finally:
            sql.session.conf.unset(name)
