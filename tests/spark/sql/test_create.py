"""CREATE TABLE and DROP TABLE: what is in storage and in the catalog afterwards."""

from __future__ import annotations

import re

import pytest

from pyhudi.errors import OptionError, SchemaError, TableExists, UnsupportedError, UsageError

pytestmark = pytest.mark.spark


def columns(sql, table):
    return [name for name in sql.session.table(table).columns if not name.startswith("_hoodie_")]


def test_partition_columns_move_to_the_end(sql):
    sql("CREATE TABLE t (p STRING, id INT, v STRING) USING hudi PARTITIONED BY (p)")
    assert columns(sql, "t") == ["id", "v", "p"]


def test_paths_are_hive_style(sql):
    sql("CREATE TABLE t (id INT, p STRING) USING hudi PARTITIONED BY (p)")
    sql("INSERT INTO t VALUES (1, 'x')")
    assert (sql.folder / "t" / "p=x").is_dir()


def test_hive_style_can_be_switched_off(sql):
    sql("""
        CREATE TABLE t (id INT, p STRING) USING hudi PARTITIONED BY (p)
        TBLPROPERTIES ('hoodie.datasource.write.hive_style_partitioning' = 'false')
    """)
    sql("INSERT INTO t VALUES (1, 'x')")
    assert (sql.folder / "t" / "x").is_dir()


def test_primary_key_and_ordering_fields_become_the_tables_configuration(sql):
    sql("CREATE TABLE t (id INT, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts')")
    config = sql.table("t").config
    assert (tuple(config.record_key_fields), tuple(config.ordering_fields)) == (("id",), ("ts",))


def test_options_say_the_same_as_table_properties(sql):
    sql("CREATE TABLE t (id INT) USING hudi OPTIONS (primaryKey 'id', type 'cow')")
    assert tuple(sql.table("t").config.record_key_fields) == ("id",)


def test_a_second_create_is_refused(sql):
    sql("CREATE TABLE t (id INT) USING hudi")
    with pytest.raises(TableExists, match=r"\.t exists already"):
        sql("CREATE TABLE t (id INT) USING hudi")


def test_if_not_exists_leaves_the_table_as_it_is(sql):
    sql("CREATE TABLE t (id INT) USING hudi")
    sql("CREATE TABLE IF NOT EXISTS t (other STRING) USING hudi")
    assert columns(sql, "t") == ["id"]


def test_a_location_that_holds_a_table_brings_schema_and_rows(people):
    people(f"CREATE TABLE again USING hudi LOCATION '{people.folder}/people'")
    assert people("SELECT id, city FROM again ORDER BY id") == [(1, "oslo"), (2, "oslo"), (3, "rome")]


def test_a_create_that_contradicts_the_table_at_its_location_is_refused(people):
    with pytest.raises(OptionError, match="primaryKey"):
        people(f"CREATE TABLE again USING hudi TBLPROPERTIES (primaryKey = 'name') LOCATION '{people.folder}/people'")


def test_comments_of_table_and_columns_are_shown(sql):
    sql("CREATE TABLE t (id INT COMMENT 'the id') USING hudi COMMENT 'a table'")
    described = sql("DESCRIBE EXTENDED t")
    assert ("id", "int", "the id") in described
    assert ("Comment", "a table", "") in described


def test_comments_of_fields_inside_columns_are_stored_and_shown(sql):
    columns = "at STRUCT<lat: DOUBLE COMMENT 'north', lon: DOUBLE> COMMENT 'place', ways ARRAY<STRUCT<id: INT COMMENT 'number'>>"
    sql(f"CREATE TABLE t (id INT COMMENT 'the id', {columns}) USING hudi LOCATION '{sql.folder}/t'")
    sql("INSERT INTO t VALUES (1, named_struct('lat', 1.0D, 'lon', 2.0D), array(named_struct('id', 7)))")
    sql(f"CREATE TABLE again USING hudi LOCATION '{sql.folder}/t'")
    for name in ("t", "again"):
        text = sql(f"SHOW CREATE TABLE {name}")[0][0]
        assert "id INT COMMENT 'the id'" in text
        assert "at STRUCT<lat: DOUBLE COMMENT 'north', lon: DOUBLE> COMMENT 'place'" in text
        assert "ways ARRAY<STRUCT<id: INT COMMENT 'number'>>" in text


def test_names_are_found_in_any_case(sql):
    sql("CREATE TABLE MixedCase (`Id` INT, `Order` STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    sql("INSERT INTO MIXEDCASE VALUES (1, 'x')")
    assert sql("SELECT ID, `order` FROM mixedcase") == [(1, "x")]


def test_create_as_select_fills_the_table_in_one_commit(sql):
    sql("CREATE TABLE t USING hudi PARTITIONED BY (p) TBLPROPERTIES (primaryKey = 'id') AS SELECT id, 'x' AS p, id * 2 AS v FROM range(3)")
    assert sql("SELECT id, v, p FROM t ORDER BY id") == [(0, 0, "x"), (1, 2, "x"), (2, 4, "x")]
    assert sql.commits("t") == 1
    sql("INSERT INTO t VALUES (3, NULL, 'x')")  # the query had no nulls; the table takes them
    assert sql("SELECT v FROM t WHERE id = 3") == [(None,)]


def test_a_failed_create_as_select_leaves_nothing(sql):
    with pytest.raises(Exception, match="no such row"):
        sql("CREATE TABLE t USING hudi AS SELECT IF(id = 2, raise_error('no such row'), id) AS id FROM range(3)")
    assert sql("SHOW TABLES") == []
    assert not (sql.folder / "t").exists()


def test_dropping_a_managed_table_deletes_its_data(people):
    people("DROP TABLE people")
    assert list(people.folder.rglob("*.parquet")) == []
    assert people("SHOW TABLES") == []


def test_dropping_an_external_table_keeps_its_data(sql, tmp_path):
    sql(f"CREATE TABLE t (id INT) USING hudi LOCATION '{tmp_path}/outside'")
    sql("INSERT INTO t VALUES (1)")
    sql("DROP TABLE t")
    assert len(list((tmp_path / "outside").rglob("*.parquet"))) == 1


def test_drop_purge_deletes_an_external_tables_data(sql, tmp_path):
    sql(f"CREATE TABLE t (id INT) USING hudi LOCATION '{tmp_path}/outside'")
    sql("INSERT INTO t VALUES (1)")
    sql("DROP TABLE t PURGE")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_table_created_again_after_a_drop_is_empty_and_new(people):
    people("DROP TABLE people")
    people("CREATE TABLE people (other STRING) USING hudi")
    assert people("SELECT other FROM people") == []


@pytest.mark.parametrize(
    ("statement", "error", "says"),
    [
        ("(id INT) USING hudi TBLPROPERTIES (primaryKye = 'id')", OptionError, "Did you mean 'primaryKey'"),
        ("(id INT) USING hudi TBLPROPERTIES ('hoodie.tabel.name' = 'x')", OptionError, "hoodie.table.name"),
        ("(id INT) USING hudi TBLPROPERTIES (type = 'cow') OPTIONS (type 'mor')", OptionError, "twice"),
        ("(id INT) USING hudi TBLPROPERTIES (primaryKey = 'ids')", SchemaError, "ids"),
        ("(id INT, ID STRING) USING hudi", SchemaError, "twice"),
        ("(id INT DEFAULT 3) USING hudi", UnsupportedError, "DEFAULT"),
        ("(id INT) USING hudi PARTITIONED BY (p)", SchemaError, "no column"),
        ("(id INT) USING hudi PARTITIONED BY (bucket(4, id))", UnsupportedError, "bucket"),
        ("USING hudi", SchemaError, "no columns"),
    ],
)
def test_a_create_that_cannot_be_is_refused_and_leaves_nothing(sql, statement, error, says):
    with pytest.raises(error, match=says):
        sql(f"CREATE TABLE t {statement}")
    assert sql("SHOW TABLES") == []
    assert not (sql.folder / "t").exists()


def test_an_unknown_database_is_named(sql):
    with pytest.raises(UsageError, match="no database nowhere"):
        sql("CREATE TABLE nowhere.t (id INT) USING hudi")


def test_other_formats_are_sparks(sql):
    sql("CREATE TABLE t (id INT) USING parquet")
    sql("INSERT INTO t VALUES (1)")
    assert sql("SELECT * FROM t") == [(1,)]


@pytest.mark.parametrize("name", ["elsewhere.db.t", "`not-a-name`"])
def test_a_name_that_the_catalog_cannot_hold_is_refused(sql, name):
    with pytest.raises(UsageError):
        sql(f"CREATE TABLE {name} (id INT) USING hudi")
    assert not sql.folder.exists() or list(sql.folder.iterdir()) == []


def test_not_null_is_shown_and_kept(sql):
    sql("CREATE TABLE t (id INT NOT NULL, v STRING NOT NULL) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    with pytest.raises(SchemaError, match="'v' holds a null"):
        sql("INSERT INTO t VALUES (1, NULL)")
    assert re.search(r"v STRING( COLLATE \w+)? NOT NULL", sql("SHOW CREATE TABLE t")[0][0])  # Spark 4.3 adds the collation


@pytest.mark.parametrize("scheme", ["", "file:"])
def test_what_show_create_says_makes_the_entry_again_at_a_location_with_a_blank(sql, tmp_path, scheme):
    sql(f"CREATE TABLE again (id INT COMMENT 'it''s') USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{scheme}{tmp_path}/a b%20c'")
    sql("INSERT INTO again VALUES (1)")
    statement = sql("SHOW CREATE TABLE again")[0][0]
    sql("DROP TABLE again")
    sql(statement)
    assert sql("SELECT id FROM again") == [(1,)]
    assert (tmp_path / "a b%20c" / ".hoodie").is_dir()
    sql("DROP TABLE again")
