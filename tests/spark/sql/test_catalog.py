"""Statements about tables: SHOW, DESCRIBE, TRUNCATE; and those that are refused by name."""

from __future__ import annotations

import re

import pytest

from pyhudi.errors import UnsupportedError, UsageError

pytestmark = pytest.mark.spark


def test_show_tables_lists_the_table(people):
    assert people("SHOW TABLES") == [(people.database, "people", False)]


def test_describe_shows_columns_and_partitions(people):
    rows = people("DESCRIBE people")
    assert rows[5:9] == [("id", "int", None), ("name", "string", None), ("age", "int", None), ("city", "string", None)]
    assert rows[-1] == ("city", "string", None)


def test_describe_extended_names_the_provider_and_the_location(people):
    facts = {row[0]: row[1] for row in people("DESCRIBE EXTENDED people")}
    assert facts["Provider"] == "hudi"
    assert facts["Location"].endswith("/people")
    assert facts["Type"] == "MANAGED"


def test_show_create_table_makes_the_same_table_again(people):
    ((statement,),) = people("SHOW CREATE TABLE people")
    people("DROP TABLE people")
    people(statement)
    people("INSERT INTO people VALUES (1, 'ann', 31, 'oslo')")
    assert people("SELECT _hoodie_record_key, id, city FROM people") == [("1", 1, "oslo")]


def test_show_tblproperties_lists_what_was_stated_and_what_the_table_is(people):
    kind = "mor" if people.table("people").config.is_merge_on_read else "cow"
    expected = {"primaryKey": "id", "type": kind, "hoodie.table.version": "9"}
    assert dict(people("SHOW TBLPROPERTIES people")) == expected
    assert dict(people(f"SHOW TBLPROPERTIES hudi.`{people.folder}/people`")) == expected
    assert people("SHOW TBLPROPERTIES people ('hoodie.table.version')") == [("hoodie.table.version", "9")]
    assert "does not have" in people("SHOW TBLPROPERTIES people ('nothing')")[0][1]


@pytest.mark.parametrize("name", ["preCombineField", "orderingFields", "hoodie.datasource.write.precombine.field"])
def test_ordering_fields_are_shown_under_their_name_and_the_stated_one(people, name):
    """As Apache Hudi 1.2.0 shows them."""
    people(f"CREATE TABLE ordered (id INT, ts INT) USING hudi TBLPROPERTIES (primaryKey = 'id', `{name}` = 'ts')")
    listed = dict(people("SHOW TBLPROPERTIES ordered"))
    assert (listed["orderingFields"], listed[name]) == ("ts", "ts")
    assert people("SHOW TBLPROPERTIES ordered ('orderingFields')") == [("orderingFields", "ts")]
    assert people(f"SHOW TBLPROPERTIES ordered ('{name}')") == [(name, "ts")]


def test_table_that_is_registered_by_its_location_shows_type_and_keys(people):
    people(f"CREATE TABLE again USING hudi LOCATION '{people.folder}/people'")
    kind = "mor" if people.table("people").config.is_merge_on_read else "cow"
    listed = dict(people("SHOW TBLPROPERTIES again"))
    assert listed == {"primaryKey": "id", "type": kind, "hoodie.table.version": "9"}
    ((statement,),) = people("SHOW CREATE TABLE again")
    assert f"'type' = '{kind}'" in statement
    assert "'primaryKey' = 'id'" in statement
    people("DROP TABLE again")
    people(statement)
    people("UPDATE again SET name = 'x' WHERE id = 1")
    assert people("SELECT name FROM again WHERE id = 1") == [("x",)]


def test_show_partitions_lists_the_tables_partitions(people):
    assert people("SHOW PARTITIONS people") == [("city=oslo",), ("city=rome",)]
    assert people("SHOW PARTITIONS people PARTITION (city = 'rome')") == [("city=rome",)]


def test_show_partitions_of_a_table_without_partitions_says_so(sql):
    sql("CREATE TABLE t (id INT) USING hudi")
    with pytest.raises(UsageError, match="not partitioned"):
        sql("SHOW PARTITIONS t")


def test_truncate_empties_the_table_and_keeps_its_history(people):
    people("TRUNCATE TABLE people")
    assert people("SELECT count(*) FROM people") == [(0,)]
    people("INSERT INTO people VALUES (1, 'ann', 31, 'oslo')")
    assert people("SELECT id FROM people") == [(1,)]
    assert people.commits("people") == 3


def test_table_properties_can_be_set_afterwards(people):
    people("ALTER TABLE people SET TBLPROPERTIES ('owner.team' = 'x')")
    assert ("owner.team", "x") in people("SHOW TBLPROPERTIES people")
    assert people("SELECT count(*) FROM people") == [(3,)]


def test_sparks_catalog_functions_know_the_table(people):
    catalog = people.session.catalog
    assert catalog.tableExists("people")
    assert [table.name for table in catalog.listTables()] == ["people"]
    assert [column.name for column in catalog.listColumns("people") if column.isPartition] == ["city"]


def test_a_new_session_lists_and_describes_tables_it_never_named(people):
    other = people.session.newSession()
    other.sql(f"USE {people.database}")
    assert [table.name for table in other.catalog.listTables()] == ["people"]
    assert other.catalog.getTable("people").tableType == "MANAGED"
    assert other.table("people").count() == 3


def test_refresh_table_of_the_catalog_shows_the_current_rows(people):
    people.session.catalog.refreshTable("people")
    assert people("SELECT count(*) FROM people") == [(3,)]


def test_create_table_of_the_catalog_registers_a_table(people):
    frame = people.session.catalog.createTable("again", path=str(people.folder / "people"), source="hudi")
    assert frame.count() == 3


def test_tables_of_two_databases_do_not_meet(people):
    people("CREATE DATABASE other_database")
    try:
        people("CREATE TABLE other_database.people (id INT) USING hudi")
        people("INSERT INTO other_database.people VALUES (7)")
        assert people("SELECT id FROM other_database.people") == [(7,)]
        assert people("SELECT count(*) FROM people") == [(3,)]
    finally:
        people("DROP DATABASE other_database CASCADE")


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("BEGIN INSERT INTO people VALUES (9, 'z', 1, 'x'); END", "script"),
        ("LOAD DATA INPATH '/nowhere' INTO TABLE people", "INSERT INTO <table> SELECT"),
        ("ALTER TABLE people SET LOCATION '/nowhere'", "USING hudi LOCATION"),
        ("ALTER TABLE people CLUSTER BY (id)", "CALL run_clustering"),
        (
            "ALTER TABLE people PARTITION (city = 'x') RENAME TO PARTITION (city = 'y')",
            "moves them in one commit",
        ),
        ("SELECT * FROM hudi_nothing('people')", "There is no table function hudi_nothing"),
    ],
)
@pytest.mark.parametrize("people", ["cow"], indirect=True)  # what the clauses say is the same for both types
def test_a_statement_that_is_not_served_is_refused_by_name_with_what_to_do(people, statement, says):
    with pytest.raises(UnsupportedError, match=re.escape(says)):
        people(statement)
    assert people("SELECT count(*) FROM people") == [(3,)]
