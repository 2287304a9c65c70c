"""ALTER TABLE on a session: columns, names, properties, partitions."""

from __future__ import annotations

import pytest

from pyhudi.errors import OptionError, SchemaError, UnsupportedError, UsageError

pytestmark = pytest.mark.spark

ON = "hoodie.schema.on.read.enable"


@pytest.fixture
def on_read(people):
    people.session.conf.set(ON, "true")
    yield people
    people.session.conf.unset(ON)


def described(sql):
    return [(row[0], row[1], row[2]) for row in sql("DESCRIBE people")][5:]


def test_added_column_stands_before_the_partition_column_with_its_comment(people):
    people("ALTER TABLE people ADD COLUMNS (note STRING COMMENT 'what', tall BOOLEAN)")
    assert described(people)[3:6] == [("note", "string", "what"), ("tall", "boolean", None), ("city", "string", None)]
    people("INSERT INTO people VALUES (9, 'zoe', 20, 'n', true, 'rome')")
    assert people("SELECT id, note, tall FROM people ORDER BY id") == [(1, None, None), (2, None, None), (3, None, None), (9, "n", True)]


def test_columns_renamed_dropped_moved_and_widened_read_right_in_all_rows(on_read):
    sql = on_read
    sql("ALTER TABLE people RENAME COLUMN name TO called")
    sql("ALTER TABLE people ALTER COLUMN age TYPE STRING")
    sql("ALTER TABLE people ADD COLUMNS (name STRING FIRST)")
    sql("ALTER TABLE people ALTER COLUMN called AFTER age")
    sql("UPDATE people SET name = 'new', age = 'old' WHERE called = 'bob'")
    rows = [(1, None, "31", "ann"), (2, "new", "old", "bob"), (3, None, "53", "cid")]
    assert sql("SELECT id, name, age, called FROM people ORDER BY id") == rows
    assert [name for name, _, _ in described(sql)][:4] == ["name", "id", "age", "called"]
    sql("ALTER TABLE people DROP COLUMNS (age)")
    sql("ALTER TABLE people ADD COLUMNS (age INT)")
    assert sql("SELECT a.id, b.called, a.age FROM people a JOIN people b USING (id) WHERE b.called = 'bob'") == [(2, "bob", None)]
    assert sql("SELECT count(*) FROM people WHERE city = 'oslo'") == [(2,)]


REFUSED = [
    ("ALTER TABLE t RENAME COLUMN name TO called", UnsupportedError, "SET hoodie"),
    ("ALTER TABLE t DROP COLUMN name", UnsupportedError, "SET hoodie"),
    ("ALTER TABLE t ADD COLUMNS (NAME INT)", SchemaError, "already"),
    ("ALTER TABLE t ADD COLUMNS (tall BOOLEAN NOT NULL)", UnsupportedError, "NOT NULL"),
    ("ALTER TABLE t DROP COLUMN id", SchemaError, "record key"),
    ("ALTER TABLE t REPLACE COLUMNS (id INT)", UnsupportedError, "REPLACE COLUMNS"),
    ("ALTER TABLE t DROP PARTITION (city = 'nowhere')", UsageError, "no partition"),
    ("ALTER TABLE t DROP PARTITION (name = 'x')", UsageError, "name"),
    ("ALTER TABLE t SET TBLPROPERTIES (primaryKey = 'name')", OptionError, "recordkey"),
    ("ALTER TABLE t SET TBLPROPERTIES (hoodie.record.merge.mod = 'x')", OptionError, "unknown"),
    ("ALTER TABLE t UNSET TBLPROPERTIES (type)", OptionError, "created with"),
    ("ALTER TABLE t RENAME TO other.t", UsageError, "stays in its database"),
]


def test_what_cannot_be_altered_is_refused_and_nothing_is_written(sql):
    sql("CREATE TABLE t (id INT, name STRING, city STRING) USING hudi PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'id')")
    for statement, error, says in REFUSED:
        with pytest.raises(error, match=says):
            sql(statement)
    assert sql.commits("t") == 0


def test_renamed_table_is_written_and_read_under_its_new_name(people):
    people("ALTER TABLE people RENAME TO folk")
    people("INSERT INTO folk VALUES (9, 'zoe', 20, 'rome')")
    assert people("SELECT count(*) FROM folk") == [(4,)]
    assert people.table("folk").config.name == "folk"


def test_dropped_partition_is_missing_and_its_neighbour_stays(people):
    people("ALTER TABLE people DROP IF EXISTS PARTITION (city = 'oslo'), PARTITION (city = 'nowhere')")
    assert people("SELECT id FROM people") == [(3,)]
    people("TRUNCATE TABLE people PARTITION (city = 'rome')")
    assert people("SELECT id FROM people") == []
    people("MSCK REPAIR TABLE people")
    people("ALTER TABLE people ADD IF NOT EXISTS PARTITION (city = 'bonn')")


def test_property_of_the_table_is_an_option_of_its_writes(people):
    people("ALTER TABLE people SET TBLPROPERTIES (hoodie.spark.sql.insert.into.operation = 'upsert', mine = '1')")
    people("INSERT INTO people VALUES (1, 'ann', 99, 'oslo')")
    assert people("SELECT id, age FROM people WHERE id = 1") == [(1, 99)]
    people("ALTER TABLE people UNSET TBLPROPERTIES (mine)")
    assert "mine" not in dict(people("SHOW TBLPROPERTIES people"))
