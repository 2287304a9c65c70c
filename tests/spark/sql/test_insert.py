"""INSERT INTO and INSERT OVERWRITE: which value goes into which column, and which rows stay."""

from __future__ import annotations

import pytest

from pyhudi.errors import HudiError, KeyFieldError, SchemaError

pytestmark = pytest.mark.spark

READ = "SELECT id, name, age, city FROM people ORDER BY id, name"
STORED = [(1, "ann", 31, "oslo"), (2, "bob", 42, "oslo"), (3, "cid", 53, "rome")]


def test_the_answer_counts_the_rows(people):
    assert people.counts("INSERT INTO people VALUES (4, 'dee', 1, 'oslo'), (5, 'eve', 2, 'bern')") == {
        "num_affected_rows": 2,
        "num_inserted_rows": 2,
    }


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO people VALUES (4, 'dee', 64, 'oslo')",
        "INSERT INTO TABLE people SELECT 4, 'dee', 64, 'oslo'",
        "INSERT INTO people (city, age, id, name) VALUES ('oslo', 64, 4, 'dee')",
        "INSERT INTO people BY NAME SELECT 'oslo' AS city, 64 AS age, 'dee' AS name, 4 AS id",
        "INSERT INTO people PARTITION (city = 'oslo') VALUES (4, 'dee', 64)",
        "INSERT INTO people PARTITION (city = 'oslo') (age, id, name) VALUES (64, 4, 'dee')",
        "INSERT INTO people PARTITION (city) SELECT 4, 'dee', 64, 'oslo'",
        "WITH one AS (SELECT 4 AS id) INSERT INTO people SELECT id, 'dee', 64, 'oslo' FROM one",
        "/* c */ INSERT INTO people -- rows: (1)\n VALUES (4, 'dee', /* age */ 64, 'oslo');",
        "INSERT INTO people (SELECT 4, 'dee', 64, 'oslo')",
        "INSERT INTO people SELECT 4L, 'dee', CAST(64 AS TINYINT), 'oslo'",
    ],
)
@pytest.mark.parametrize("people", ["cow"], indirect=True)  # what the clauses say is the same for both types
def test_values_reach_their_columns(people, statement):
    people(statement)
    assert people(READ) == [*STORED, (4, "dee", 64, "oslo")]


def test_columns_left_out_are_null(people):
    people("INSERT INTO people (id, city) VALUES (4, 'oslo')")
    assert people(READ)[-1] == (4, None, None, "oslo")


def test_named_and_positional_parameters_are_bound(people):
    people("INSERT INTO people VALUES (:id, :name, 64, 'oslo')", {"id": 4, "name": "d'ee"})
    people("INSERT INTO people VALUES (?, ?, 75, 'oslo')", [5, "eve"])
    assert [row[1] for row in people(READ)][3:] == ["d'ee", "eve"]


def test_an_insert_keeps_duplicates_of_existing_keys(people):
    people("INSERT INTO people VALUES (1, 'ann again', 31, 'oslo')")
    assert [row[1] for row in people(READ)][:2] == ["ann", "ann again"]


def test_the_session_can_make_inserts_upserts(people):
    people("SET hoodie.spark.sql.insert.into.operation = upsert")
    try:
        people("INSERT INTO people VALUES (1, 'ann again', 31, 'oslo')")
    finally:
        people.session.conf.unset("hoodie.spark.sql.insert.into.operation")
    assert people(READ)[0] == (1, "ann again", 31, "oslo")


def test_a_forgotten_write_operation_does_not_turn_an_insert_into_a_delete(people):
    people("SET hoodie.datasource.write.operation = delete")
    try:
        people("INSERT INTO people VALUES (4, 'dee', 64, 'oslo')")
    finally:
        people.session.conf.unset("hoodie.datasource.write.operation")
    assert len(people(READ)) == 4


def test_the_write_operation_of_the_session_is_that_of_inserts_and_new_tables_too(people):
    people("SET hoodie.datasource.write.operation = upsert")
    try:
        people("INSERT INTO people VALUES (1, 'ann again', 31, 'oslo')")
        made = "CREATE TABLE twice USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT 1 AS id, 'a' AS name UNION ALL SELECT 1, 'b'"
        assert "UPSERT" in people(f"EXPLAIN {made}")[0][0]
        people(made)
        people("INSERT INTO people WITH (`hoodie.spark.sql.insert.into.operation` = 'insert') VALUES (2, 'bob again', 1, 'oslo')")
    finally:
        people.session.conf.unset("hoodie.datasource.write.operation")
    assert people("SELECT count(*) FROM twice") == [(1,)]
    assert [row[1] for row in people(READ)] == ["ann again", "bob", "bob again", "cid"]


def test_the_write_operation_in_the_properties_of_a_table_is_none_of_later_inserts(people):
    """`saveAsTable` leaves it there; Apache Hudi does not look at it either."""
    rows = people.session.sql("SELECT 1 AS id, 'a' AS name")
    options = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.datasource.write.operation": "insert_overwrite_table"}
    rows.write.format("hudi").options(**options).saveAsTable(f"{people.database}.saved")
    key = "`hoodie.datasource.write.operation`"
    people("INSERT INTO saved VALUES (2, 'b')")
    people(f"INSERT INTO saved WITH ({key} = 'upsert') VALUES (2, 'c')")
    people(f"ALTER TABLE saved SET TBLPROPERTIES ('{key[1:-1]}' = 'upsert')")
    people("INSERT INTO saved VALUES (1, 'd')")
    assert people("SELECT id, name FROM saved ORDER BY id, name") == [(1, "a"), (1, "d"), (2, "c")]


def test_overwrite_replaces_the_whole_table(people):
    people("INSERT OVERWRITE people VALUES (9, 'zoe', 9, 'bern')")
    assert people(READ) == [(9, "zoe", 9, "bern")]


def test_overwrite_of_a_partition_leaves_the_others(people):
    people("INSERT OVERWRITE people PARTITION (city = 'oslo') VALUES (9, 'zoe', 9)")
    assert people(READ) == [(3, "cid", 53, "rome"), (9, "zoe", 9, "oslo")]


def test_dynamic_overwrite_replaces_the_partitions_of_the_input(people):
    people("INSERT OVERWRITE people PARTITION (city) VALUES (9, 'zoe', 9, 'rome')")
    assert people(READ) == [(1, "ann", 31, "oslo"), (2, "bob", 42, "oslo"), (9, "zoe", 9, "rome")]


def test_overwrite_of_a_numbered_partition_takes_the_number_in_any_spelling(sql):
    sql("CREATE TABLE t (id INT, month INT) USING hudi PARTITIONED BY (month) TBLPROPERTIES (primaryKey = 'id')")
    sql("INSERT INTO t VALUES (1, 1), (2, 2)")
    sql("INSERT OVERWRITE t PARTITION (month = '01') VALUES (3)")
    assert sql("SELECT id, month FROM t ORDER BY id") == [(2, 2), (3, 1)]


def test_an_overwrite_of_a_partition_without_rows_empties_it(people):
    people("INSERT OVERWRITE people PARTITION (city = 'oslo') SELECT id, name, age FROM people WHERE id > 99")
    assert people(READ) == [(3, "cid", 53, "rome")]


def test_overwrite_of_a_part_of_the_partition_replaces_what_the_rows_touch(sql):
    sql("CREATE TABLE t (id INT, a STRING, b INT) USING hudi PARTITIONED BY (a, b) TBLPROPERTIES (primaryKey = 'id')")
    sql("INSERT INTO t VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 1)")
    sql("INSERT OVERWRITE t PARTITION (a = 'x', b) VALUES (4, 1)")
    assert sql("SELECT id, a, b FROM t ORDER BY id") == [(2, "x", 2), (3, "y", 1), (4, "x", 1)]


def test_an_overwrite_may_read_what_it_replaces(people):
    people("INSERT OVERWRITE people SELECT id, upper(name), age, city FROM people WHERE id < 3")
    assert people(READ) == [(1, "ANN", 31, "oslo"), (2, "BOB", 42, "oslo")]


def test_many_rows_of_another_table_are_inserted(people):
    people("INSERT INTO people SELECT CAST(id AS INT) + 10, 'n', 0, IF(id % 2 = 0, 'oslo', 'rome') FROM range(1000)")
    assert people("SELECT city, COUNT(*) FROM people GROUP BY city ORDER BY city") == [("oslo", 502), ("rome", 501)]


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("INSERT INTO people VALUES (4, 'dee', 64)", "3 column"),
        ("INSERT INTO people (id, nme) VALUES (4, 'dee')", "no column nme"),
        ("INSERT INTO people VALUES (4, 'dee', 'old', 'oslo')", "age is int"),
        ("INSERT INTO people PARTITION (name = 'dee') VALUES (4, 64, 'oslo')", "not a partition column"),
        ("INSERT INTO people BY NAME SELECT 4 AS id, 'dee' AS nme, 'oslo' AS city", "nme"),
    ],
)
@pytest.mark.parametrize("people", ["cow"], indirect=True)  # what the clauses say is the same for both types
def test_what_does_not_fit_is_refused_and_nothing_is_written(people, statement, says):
    with pytest.raises(SchemaError, match=says):
        people(statement)
    assert people(READ) == STORED


def test_a_null_key_is_refused_and_nothing_is_written(people):
    with pytest.raises(HudiError, match="id"):
        people("INSERT INTO people VALUES (NULL, 'dee', 64, 'oslo')")
    assert people(READ) == STORED


def test_a_write_past_the_front_door_is_refused_by_spark(people):
    with pytest.raises(Exception, match="reached Spark without passing pyhudi"):
        people.session._jsparkSession.sql("INSERT INTO people VALUES (4, 1, 2, 3, 4, 5, 6, 7, 8)")
    assert people(READ) == STORED


def test_every_type_is_read_back_as_it_was_written(sql):
    sql("""
        CREATE TABLE t (id INT, a ARRAY<INT>, m MAP<STRING, DOUBLE>, s STRUCT<x: INT, y: STRUCT<z: STRING>>, d DECIMAL(10, 2),
          dt DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, b BINARY, bo BOOLEAN, f FLOAT) USING hudi TBLPROPERTIES (primaryKey = 'id')
    """)
    row = """1, array(1, 2, NULL), map('a', 1.5D), named_struct('x', 1, 'y', named_struct('z', 'q')), 12.34BD, DATE'2026-01-02',
      TIMESTAMP'2026-01-02 03:04:05.123456', TIMESTAMP_NTZ'2026-01-02 03:04:05', X'0102', true, 1.5F"""
    sql(f"INSERT INTO t VALUES ({row}), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
    columns = "id, a, m, s, d, dt, ts, tn, b, bo, f"
    assert sql(f"SELECT {columns} FROM t WHERE id = 1") == sql(f"SELECT {row.replace('12.34BD', 'CAST(12.34 AS DECIMAL(10, 2))')}")
    assert sql(f"SELECT {columns} FROM t WHERE id = 2") == [(2, *[None] * 10)]


def test_a_column_that_a_dataframe_write_added_is_described_and_inserted(people):
    session = people.session
    frame = session.createDataFrame([(4, "dee", 64, "oslo", 1.5)], "id INT, name STRING, age INT, city STRING, score DOUBLE")
    frame.write.format("hudi").mode("append").save(str(people.folder / "people"))
    assert ("score", "double", None) in people("DESCRIBE people")
    people("INSERT INTO people (id, city, score) VALUES (5, 'oslo', 2.5)")
    assert people("SELECT id, score FROM people WHERE score IS NOT NULL ORDER BY id") == [(4, 1.5), (5, 2.5)]


def test_insert_modes_and_options_of_the_statement_say_what_happens_to_known_keys(people):
    def ages():
        return [row[0] for row in people("SELECT age FROM people WHERE id = 1 ORDER BY age")]

    row = "VALUES (1, 'ann', {}, 'oslo')"
    people(f"INSERT INTO people WITH (`hoodie.spark.sql.insert.into.operation` = 'upsert') {row.format(50)}")
    assert ages() == [50]
    for mode, expected in (("upsert", [51]), ("non-strict", [51, 52])):
        people.session.conf.set("hoodie.sql.insert.mode", mode)
        try:
            people(f"INSERT INTO people {row.format(expected[-1])}")
        finally:
            people.session.conf.unset("hoodie.sql.insert.mode")
        assert ages() == expected
    people.session.conf.set("hoodie.sql.insert.mode", "strict")
    try:
        with pytest.raises(KeyFieldError, match="in the table already"):
            people(f"INSERT INTO people {row.format(60)}")
        people(
            "INSERT INTO people WITH (`hoodie.datasource.insert.dup.policy` = 'drop') VALUES (1, 'ann', 61, 'oslo'), (8, 'z', 1, 'oslo')"
        )
    finally:
        people.session.conf.unset("hoodie.sql.insert.mode")
    assert (ages(), people("SELECT count(*) FROM people WHERE id = 8")) == ([51, 52], [(1,)])


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_rows_of_another_hudi_table_leave_their_meta_columns_behind(people):
    people("CREATE TABLE copy USING hudi TBLPROPERTIES (primaryKey = 'id') AS SELECT * FROM people WHERE id < 3")
    people("INSERT INTO copy SELECT * FROM people WHERE id = 3")
    people("INSERT OVERWRITE people PARTITION (city = 'rome') SELECT * EXCEPT (city) FROM copy WHERE id = 1")
    assert people("SELECT id, name, age, city FROM copy ORDER BY id") == [
        (1, "ann", 31, "oslo"),
        (2, "bob", 42, "oslo"),
        (3, "cid", 53, "rome"),
    ]
    assert people("SELECT id, city FROM people ORDER BY id, city") == [(1, "oslo"), (1, "rome"), (2, "oslo")]
