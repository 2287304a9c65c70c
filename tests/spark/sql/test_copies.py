"""CALL copy_to_table and copy_to_temp_view: spans of time, columns, and arguments that contradict one another."""

from __future__ import annotations

import pytest

from pyhudi.errors import UsageError


@pytest.fixture(params=["cow", "mor"])
def copied(sql, request):
    """A table of three commits, one row each, the last one an update."""
    sql(f"CREATE TABLE t (id INT, name STRING, n INT) USING hudi TBLPROPERTIES (primaryKey = 'id', type = '{request.param}')")
    for row in ("(1, 'ann', 1)", "(2, 'bob', 1)"):
        sql(f"INSERT INTO t VALUES {row}")
    sql("UPDATE t SET n = 2 WHERE id = 1")
    return sql


def span(sql, begin, end=None):
    """The arguments of a span between completion times of commits, by their numbers."""
    times = sql.table("t").history().column("completed").to_pylist()
    bounds = {"begin_instance_time": times[begin], "end_instance_time": None if end is None else times[end]}
    return ", ".join(["query_type => 'incremental'", *(f"{name} => '{time}'" for name, time in bounds.items() if time)])


@pytest.mark.parametrize(("begin", "end", "expected"), [(0, 1, [(2, 1)]), (0, 2, [(1, 2), (2, 1)]), (1, None, [(1, 2)]), (2, None, [])])
def test_a_copy_of_a_span_has_the_rows_after_begin_up_to_end(copied, begin, end, expected):
    bounds = span(copied, begin, end)
    copied(f"CALL copy_to_table(table => 't', new_table => 'copy', {bounds})")
    copied(f"CALL copy_to_temp_view(table => 't', view_name => 'copy_view', replace => true, {bounds})")
    assert copied("SELECT id, n FROM copy ORDER BY id") == expected
    assert copied("SELECT id, n FROM copy_view ORDER BY id") == expected


def test_a_copy_is_appended_by_the_columns_of_the_target(copied):
    copied("CALL copy_to_table(table => 't', new_table => 'copy', columns => 'n,_hoodie_record_key', save_mode => 'append')")
    assert copied("SELECT * FROM copy ORDER BY 2") == [(2, "1"), (1, "2")]
    copied("CALL copy_to_table(table => 't', new_table => 'names', columns => 'name')")
    copied("CALL copy_to_table(table => 't', new_table => 'names', save_mode => 'append')")
    assert copied("SELECT * FROM names ORDER BY name") == [("ann",), ("ann",), ("bob",), ("bob",)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("query_type => 'incremental'", "needs begin_instance_time"),
        (
            "query_type => 'incremental', begin_instance_time => '0', as_of_instant => '2020'",
            "as_of_instant is for query_type => 'snapshot'",
        ),
        ("begin_instance_time => '0'", "are for query_type => 'incremental'"),
        ("end_instance_time => '9'", "are for query_type => 'incremental'"),
        ("query_type => 'latest'", "snapshot, read_optimized or incremental"),
        ("save_mode => 'replace'", "append or overwrite"),
    ],
)
def test_arguments_that_contradict_one_another_are_refused(copied, arguments, says):
    with pytest.raises(UsageError, match=says):
        copied(f"CALL copy_to_table(table => 't', new_table => 'copy', {arguments})")
    assert not copied.session.catalog.tableExists("copy")
