"""Every way to name a Hudi table in Spark shows its current rows: in a session that never read it, and after each write, whoever wrote.

The ways are those of SQL, of DataFrames, of Spark's catalog, and those that pass no Python at all: the JVM's own session and a JDBC
client of Spark's Thrift server.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody does

from pyhudi.errors import OptionError, TableNotFound, UnsupportedError
from pyhudi.spark.catalog.thrift_server import thrift_server
from tests.not_none import not_none

pytestmark = pytest.mark.spark

WRITER = """
import sys
from pyhudi import HudiTable
for line in sys.stdin:
    path, number = line.split()
    HudiTable.open(path).upsert([{"id": int(number), "name": "process"}])
    print("written", flush=True)
"""
COLLECTED = "SELECT sort_array(collect_list(id)) FROM {}"


@dataclass
class Door:
    """A table of its own, in a session of its own that has not read it."""

    session: SparkSession
    name: str  # with its database
    port: int

    def ids(self, frame: DataFrame) -> list[int]:
        return sorted(row["id"] for row in frame.select("id").collect())

    def sql(self, text: str) -> list[int]:
        return self.ids(self.session.sql(text.format(self.name)))

    def java(self, java: Any) -> list[int]:
        return self.ids(DataFrame(java, self.session))

    @property
    def plain(self) -> str:
        return self.name.replace(".", "_")


def _expression(door: Door) -> list[int]:
    (row,) = door.session.range(1).selectExpr(f"({COLLECTED.format(door.name)}) AS ids").collect()
    result: list[int] = row["ids"]
    return result


def _column(door: Door) -> list[int]:
    return door.ids(door.session.range(10).alias("r").where(F.expr(f"exists(SELECT 1 FROM {door.name} t WHERE t.id = r.id)")))


def _catalog(door: Door) -> list[int]:
    catalog = door.session.catalog
    assert catalog.tableExists(door.name)
    assert catalog.getTable(door.name).name == door.name.partition(".")[2]
    assert [column.name for column in catalog.listColumns(door.name)][-2:] == ["id", "name"]
    assert door.name.partition(".")[2] in [table.name for table in catalog.listTables(door.name.partition(".")[0])]
    return door.ids(door.session.table(door.name))


def _view_made_now(door: Door) -> list[int]:
    door.sql(f"SELECT id FROM {door.name}")
    door.session.sql(f"CREATE OR REPLACE TEMP VIEW now_{door.plain} AS SELECT id FROM {door.name}")
    return door.sql(f"SELECT id FROM now_{door.plain}")


def _new_session_of_the_jvm(door: Door) -> list[int]:
    return door.java(door.session._jsparkSession.newSession().sql(f"SELECT id FROM {door.name}"))


def _used_session_of_the_jvm(door: Door) -> list[int]:
    return door.java(door.session._jsparkSession.read().table(door.name))


def _clone(door: Door) -> list[int]:
    """What a streaming query hands to `foreachBatch`."""
    return door.java(door.session._jsparkSession.cloneSession().table(door.name))


def _self_join(door: Door) -> list[int]:
    """Both sides see one snapshot, and `t TIMESTAMP AS OF` the one of its time."""
    text = "SELECT a.id FROM {0} a JOIN {0} b USING (id) LEFT JOIN {0} TIMESTAMP AS OF '2100-01-01' c USING (id) WHERE c.id IS NOT NULL"
    return door.sql(text)


def _jdbc(door: Door) -> list[int]:
    with _connected(door.session, door.port) as ids_of:
        return ids_of(door.name)


@contextlib.contextmanager
def _connected(session: SparkSession, port: int) -> Iterator[Callable[[str], list[int]]]:
    """A JDBC connection, which is a session of the Thrift server; gives the ids of a table."""
    java = not_none(session._jvm)
    connection = java.org.apache.hive.jdbc.HiveDriver().connect(f"jdbc:hive2://127.0.0.1:{port}/default", java.java.util.Properties())

    def ids_of(name: str) -> list[int]:
        rows = connection.createStatement().executeQuery(f"SELECT id FROM {name}")
        result = []
        while rows.next():
            result.append(rows.getInt(1))
        return sorted(result)

    try:
        yield ids_of
    finally:
        connection.close()


def _script(door: Door) -> list[int]:
    return door.sql("BEGIN DECLARE least INT DEFAULT 0; SELECT id FROM {} WHERE id > least; END")


def _immediate(door: Door) -> list[int]:
    return door.sql("EXECUTE IMMEDIATE 'SELECT id FROM {}'")


WAYS: dict[str, Callable[[Door], list[int]]] = {
    "selectExpr": _expression,
    "where": lambda door: door.ids(door.session.range(10).where(f"id IN (SELECT id FROM {door.name})")),
    "F.expr": _column,
    "sql": lambda door: door.sql("SELECT id FROM {}"),
    "TABLE": lambda door: door.sql("TABLE {}"),
    "subquery": lambda door: door.sql("SELECT id FROM range(10) WHERE id IN (SELECT id FROM {})"),
    "cte": lambda door: door.sql("WITH c AS (SELECT id FROM {}) SELECT a.id FROM c a JOIN c b USING (id)"),
    "self-join": _self_join,
    "identifier": lambda door: door.ids(door.session.sql("SELECT id FROM IDENTIFIER(:name)", {"name": door.name})),
    "script": _script,
    "EXECUTE IMMEDIATE": _immediate,
    "spark.table": lambda door: door.ids(door.session.table(door.name)),
    "read.table": lambda door: door.ids(door.session.read.table(door.name)),
    "spark.catalog": _catalog,
    "temporary view": lambda door: door.sql(f"SELECT id FROM temporary_{door.plain}"),
    "global view": lambda door: door.sql(f"SELECT id FROM global_temp.global_{door.plain}"),
    "permanent view": lambda door: door.sql("SELECT id FROM {}_view"),
    "view in an expression": lambda door: door.ids(door.session.range(10).where(f"id IN (SELECT id FROM {door.name}_view)")),
    "view of a view": lambda door: door.ids(door.session.table(f"{door.name}_outer")),
    "view made now": _view_made_now,
    "view in the JVM": lambda door: door.java(door.session._jsparkSession.sql(f"SELECT id FROM {door.name}_outer")),
    "SQL function": lambda door: door.session.sql(f"SELECT ids_{door.plain}() AS ids").collect()[0]["ids"],
    "cached view": lambda door: door.sql(f"SELECT id FROM cached_{door.plain}"),
    "cached view, in the JVM": lambda door: door.java(door.session._jsparkSession.table(f"cached_{door.plain}")),
    "newSession": lambda door: door.ids(door.session.newSession().sql(f"SELECT id FROM {door.name}")),
    "newSession of the JVM": _new_session_of_the_jvm,
    "session of the JVM": _used_session_of_the_jvm,
    "clone of the session": _clone,
    "sql of the JVM": lambda door: door.java(door.session._jsparkSession.sql(f"SELECT id FROM {door.name}")),
    "source of the JVM": lambda door: door.java(door.session._jsparkSession.read().format("hudi").load(_location(door))),
    "Thrift server": _jdbc,
}


def _location(door: Door) -> str:
    result: str = (
        door.session.sql(f"DESCRIBE FORMATTED {door.name}").where("col_name = 'Location'").collect()[0]["data_type"].removeprefix("file:")
    )
    return result


@pytest.fixture(scope="module")
def other_process() -> Iterator[Callable[[str, int], None]]:
    """Another process that writes a row into a table."""
    with subprocess.Popen([sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def write(path: str, number: int) -> None:
            not_none(process.stdin).write(f"{path} {number}\n")
            not_none(process.stdin).flush()
            assert not_none(process.stdout).readline() == "written\n"

        yield write
        not_none(process.stdin).close()


@pytest.fixture(scope="module")
def port(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of Spark's own Thrift server, started in this process; each connection is a session that the JVM makes."""
    folder = tmp_path_factory.mktemp("thrift")
    settings = {"thrift.port": "0", "thrift.bind.host": "127.0.0.1", "logging.operation.log.location": str(folder)}
    with thrift_server(spark, {f"hive.server2.{key}": value for key, value in settings.items()}) as number:
        yield number


def _door(session: SparkSession, name: str, port: int) -> Door:
    plain = name.replace(".", "_")
    session.sql(f"CREATE TEMP VIEW temporary_{plain} AS SELECT id FROM {name}")
    session.sql(f"CREATE TEMP VIEW cached_{plain} AS SELECT id FROM {name}")
    session.sql(f"CREATE TEMPORARY FUNCTION ids_{plain}() RETURNS ARRAY<INT> RETURN ({COLLECTED.format(name)})")
    return Door(session, name, port)


SOME_WAYS = ["selectExpr", "permanent view", "cached view", "Thrift server"]


@pytest.mark.parametrize(("kind", "ways"), [pytest.param("cow", list(WAYS), marks=pytest.mark.slow), ("mor", SOME_WAYS)])
def test_a_table_is_current_by_whatever_way_it_is_named(sql, port, other_process, kind, ways):
    name = f"{sql.database}.t"
    sql(f"CREATE TABLE {name} (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', type = '{kind}')")
    sql(f"CREATE VIEW {name}_view AS SELECT id FROM {name}")
    sql(f"CREATE VIEW {name}_outer AS SELECT id FROM {name}_view")
    sql(f"CREATE GLOBAL TEMP VIEW global_{name.replace('.', '_')} AS SELECT id FROM {name}")
    doors = {way: _door(sql.session.newSession(), name, port) for way in ways}
    for way in ways:
        if way.startswith("cached"):
            doors[way].session.sql(f"CACHE LAZY TABLE cached_{doors[way].plain}")

    def counts() -> dict[str, list[int]]:
        return {way: WAYS[way](door) for way, door in doors.items()}

    sql(f"INSERT INTO {name} VALUES (1, 'sql')")
    assert counts() == {way: [1] for way in ways}
    sql(f"INSERT INTO {name} VALUES (2, 'sql')")
    sql.table("t").upsert([{"id": 3, "name": "python"}])
    assert counts() == {way: [1, 2, 3] for way in ways}
    other_process(str(sql.folder / "t"), 4)
    assert counts() == {way: [1, 2, 3, 4] for way in ways}
    sql(f"DROP VIEW global_temp.global_{name.replace('.', '_')}")


@pytest.mark.parametrize("people", ["cow"], indirect=True)
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO people VALUES (9, 'x', 1, 'oslo')",
        "INSERT OVERWRITE people VALUES (9, 'x', 1, 'oslo')",
        "TRUNCATE TABLE people",
        "ALTER TABLE people ADD COLUMNS (more INT)",
        "CREATE TABLE made (id INT) USING hudi",
        "CREATE TABLE made USING hudi AS SELECT 1 AS id",
    ],
)
def test_what_the_jvm_alone_would_do_wrong_is_refused(people, statement):
    before = people.commits("people")
    with pytest.raises(UnsupportedError, match="without passing pyhudi"):
        people.session._jsparkSession.sql(statement)
    assert people.commits("people") == before
    assert not people.session.catalog.tableExists("made")
    assert people("SELECT count(*) FROM people") == [(3,)]


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_a_writer_of_the_jvm_is_refused(people):
    rows = people.session.table("people")._jdf
    with pytest.raises(UnsupportedError, match="DataFrameWriter"):
        rows.write().format("hudi").mode("overwrite").save(str(people.folder / "people"))
    assert people("SELECT count(*) FROM people") == [(3,)]


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_options_beside_a_name_are_served_in_the_jvm(people):
    (first,) = people.table("people").history().column("completed").to_pylist()
    people("DELETE FROM people WHERE id = 1")
    java = people.session._jsparkSession

    def count(text):
        return java.sql(f"SELECT count(*) FROM people {text}").collect()[0].getLong(0)

    assert [count(""), count(f"WITH (`as.of.instant` = '{first}')"), count("")] == [2, 3, 2]
    with pytest.raises(OptionError, match="is not a time"):
        count("WITH (`as.of.instant` = 'noon')")


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_a_table_whose_files_are_missing_is_an_error_and_not_empty(people):
    shutil.move(people.folder / "people", people.folder / "elsewhere")
    for query in (people.session._jsparkSession.sql, people.session.sql):
        with pytest.raises(TableNotFound, match="no Hudi table at"):
            query("SELECT * FROM people")
    with pytest.raises(TableNotFound, match="no Hudi table at"):
        people.session.range(1).selectExpr("(SELECT count(*) FROM people) c")
    shutil.move(people.folder / "elsewhere", people.folder / "people")


@pytest.mark.parametrize("people", ["cow"], indirect=True)
def test_a_writing_statement_sees_one_snapshot_and_leaves_nothing_behind(people):
    people("UPDATE people SET age = (SELECT max(age) FROM people) WHERE id IN (SELECT min(id) FROM people)")
    java = people.session._jsparkSession
    people.table("people").delete(where="id = 2")
    assert [row.getInt(0) for row in java.sql("SELECT id FROM people ORDER BY id").collect()] == [1, 3]


def test_sessions_of_the_thrift_server_read_side_by_side_what_is_written_meanwhile(sql, port):
    name, last, clients = f"{sql.database}.t", 6, 4
    sql(f"CREATE TABLE {name} (id INT, name STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    sql(f"INSERT INTO {name} VALUES (1, 'n')")
    committed, connected = [1], threading.Barrier(clients + 1)

    def read(_: int) -> int:
        reads = 0
        with _connected(sql.session, port) as ids_of:
            connected.wait(60)
            while True:
                before = committed[-1]
                ids = ids_of(name)
                assert ids == list(range(1, len(ids) + 1))
                assert before <= len(ids) <= committed[-1] + 1  # a write is visible a moment before the writer knows
                reads += 1
                if before == last:
                    return reads

    with ThreadPoolExecutor(clients) as threads:
        readers = [threads.submit(read, number) for number in range(clients)]
        connected.wait(60)
        for number in range(2, last + 1):
            sql(f"INSERT INTO {name} VALUES ({number}, 'n')")
            committed.append(number)
        assert all(reader.result(120) >= 1 for reader in readers)
