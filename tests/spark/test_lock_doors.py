"""Wrong options of locks and of several writers, by each door of Spark: one sentence names the option, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import HudiError, OptionError, TableNotFound, UnsupportedError
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark

LOCK, MODE = "hoodie.write.lock.", "hoodie.write.concurrency.mode"
PROVIDER, EARLY = f"{LOCK}provider", "hoodie.write.concurrency.early.conflict.detection.enable"
FILE_LOCK = "FileSystemBasedLockProvider"
#: Options, the error, what its sentence names, and whether services that write no rows refuse them, too.
WRONG: dict[str, tuple[dict[str, str], type[HudiError], str, bool]] = {
    "no such provider": ({PROVIDER: "org.mine.Lock"}, UnsupportedError, f"{PROVIDER}=org.mine.Lock is not served", True),
    "missing option": ({PROVIDER: "ZookeeperBasedLockProvider"}, OptionError, f"needs {LOCK}zookeeper.base_path", True),
    "option of another provider": ({PROVIDER: FILE_LOCK, f"{LOCK}zookeeper.url": "h:1"}, OptionError, f"{LOCK}zookeeper.url is", True),
    "no such mode": ({MODE: "both"}, OptionError, f"{MODE} is 'both'", True),
    "mode that the table cannot have": ({MODE: "NON_BLOCKING_CONCURRENCY_CONTROL"}, UnsupportedError, "is copy-on-write", True),
    "detection of conflicts with one writer": ({EARLY: "true"}, OptionError, f"{EARLY}=true needs {MODE}", False),
    "no number": ({f"{LOCK}wait_time_ms": "soon"}, OptionError, f"{LOCK}wait_time_ms=soon", True),
}
cases = pytest.mark.parametrize("kind", slow_cases(list(WRONG), set(WRONG) - {"no such provider"}))


class Doors:
    """A table of one row by its name in the catalog, and what every refusal is held against."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.path = spark, str(folder / "wares")
        self.name = f"doors_of_{folder.name.replace('-', '_')}"
        self.made = f"{self.name}_made"
        self.folder = folder

    def refuses(self, kind: str, act: Callable[[], object]) -> None:
        _, error, text, _ = WRONG[kind]
        with pytest.raises(error) as refusal:
            act()
        sentence = str(refusal.value).partition("\n")[0]
        assert text in sentence
        assert "Traceback" not in str(refusal.value)
        assert HudiTable.open(self.path).history().num_rows == 1
        assert HudiTable.open(self.path).count() == 1

    def statement(self, text: str) -> Callable[[], object]:
        return lambda: self.spark.sql(text).collect()


@pytest.fixture
def doors(spark: SparkSession, tmp_path: Path) -> Iterator[Doors]:
    doors = Doors(spark, tmp_path)
    spark.sql(f"CREATE TABLE {doors.name} (id BIGINT, n BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{doors.path}'")
    HudiTable.open(doors.path).upsert([{"id": 1, "n": 1}])
    yield doors
    spark.sql(f"DROP TABLE {doors.name}")


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[Callable[[Mapping[str, str]], None]]:
    given: list[str] = []

    def give(options: Mapping[str, str]) -> None:
        for name, value in options.items():
            spark.sql(f"SET {name}={value}")
            given.append(name)

    yield give
    for name in given:
        spark.conf.unset(name)


def listed(options: Mapping[str, str]) -> str:
    return ", ".join(f"'{name}' = '{value}'" for name, value in options.items())


@cases
def test_properties_of_a_new_table(doors: Doors, kind: str) -> None:
    properties = f"TBLPROPERTIES (primaryKey = 'id', {listed(WRONG[kind][0])})"
    new_path = doors.folder / "made"
    for text in (
        f"CREATE TABLE {doors.made} (id BIGINT, n BIGINT) USING hudi {properties} LOCATION '{new_path}'",
        f"CREATE TABLE {doors.made} USING hudi {properties} LOCATION '{new_path}' AS SELECT 1L AS id, 2L AS n",
        f"CREATE TABLE {doors.made} LIKE {doors.name} USING hudi LOCATION '{new_path}' {properties}",
    ):
        doors.refuses(kind, doors.statement(text))
        assert not doors.spark.catalog.tableExists(doors.made)
        with pytest.raises(TableNotFound):
            HudiTable.open(str(new_path))


@cases
def test_properties_of_a_table_that_exists(doors: Doors, kind: str) -> None:
    stated = listed(WRONG[kind][0])
    doors.refuses(kind, doors.statement(f"ALTER TABLE {doors.name} SET TBLPROPERTIES ({stated})"))
    properties = {row[0] for row in doors.spark.sql(f"SHOW TBLPROPERTIES {doors.name}").collect()}
    assert properties.isdisjoint(WRONG[kind][0])
    new = f"(id BIGINT, n BIGINT, m BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', {stated})"
    doors.refuses(kind, doors.statement(f"REPLACE TABLE {doors.name} {new}"))
    entry = f"CREATE TABLE {doors.made} USING hudi TBLPROPERTIES ({stated}) LOCATION '{doors.path}'"
    doors.refuses(kind, doors.statement(entry))
    assert not doors.spark.catalog.tableExists(doors.made)
    doors.spark.sql(f"INSERT INTO {doors.name} VALUES (2, 2)")
    assert HudiTable.open(doors.path).count() == 2


@cases
def test_settings_of_the_session(doors: Doors, settings: Callable[[Mapping[str, str]], None], kind: str) -> None:
    settings(WRONG[kind][0])
    doors.refuses(kind, doors.statement(f"INSERT INTO {doors.name} VALUES (2, 2)"))
    doors.refuses(kind, doors.statement(f"DELETE FROM {doors.name} WHERE id = 1"))
    if WRONG[kind][3]:
        doors.refuses(kind, doors.statement(f"CALL run_clean(table => '{doors.name}')"))


@cases
def test_options_of_dataframes_and_calls(doors: Doors, kind: str) -> None:
    options = WRONG[kind][0]
    rows = doors.spark.sql("SELECT 2L AS id, 2L AS n")
    doors.refuses(kind, lambda: rows.write.format("hudi").options(**options).mode("append").save(doors.path))
    if WRONG[kind][3]:
        text = ",".join(f"{name}={value}" for name, value in options.items())
        for call in ("run_clean(", "run_compaction(op => 'schedule', ", "run_clustering("):
            doors.refuses(kind, doors.statement(f"CALL {call}table => '{doors.name}', options => '{text}')"))


@cases
def test_defaults_file(doors: Doors, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    (doors.folder / "hudi-defaults.conf").write_text("".join(f"{name}={value}\n" for name, value in WRONG[kind][0].items()))

    def refuses(act: Callable[[], object]) -> None:
        def with_the_file() -> None:
            with monkeypatch.context() as environment:
                environment.setenv("HUDI_CONF_DIR", str(doors.folder))
                act()

        doors.refuses(kind, with_the_file)

    rows = doors.spark.sql("SELECT 2L AS id, 2L AS n")
    refuses(lambda: rows.write.format("hudi").mode("append").save(doors.path))
    refuses(doors.statement(f"INSERT INTO {doors.name} VALUES (2, 2)"))
    if WRONG[kind][3]:
        refuses(doors.statement(f"CALL run_clean(table => '{doors.name}')"))


def test_other_writers_lock_is_named(doors: Doors, settings: Callable[[Mapping[str, str]], None]) -> None:
    """The first writer's provider is the table's; whoever comes with none, or with another one, is refused."""
    doors.spark.sql(f"ALTER TABLE {doors.name} SET TBLPROPERTIES ('{PROVIDER}' = '{FILE_LOCK}')")
    doors.spark.sql(f"INSERT INTO {doors.name} VALUES (2, 2)")
    rows = doors.spark.sql("SELECT 3L AS id, 3L AS n").write.format("hudi").mode("append")
    with pytest.raises(OptionError, match=f"is written under the lock provider {FILE_LOCK} .*would take none"):
        rows.save(doors.path)
    settings({f"{LOCK}filesystem.path": str(doors.folder)})
    with pytest.raises(OptionError, match="Writers under two locks destroy a table"):
        doors.spark.sql(f"INSERT INTO {doors.name} VALUES (3, 3)")
    doors.spark.conf.unset(f"{LOCK}filesystem.path")
    rows.option(PROVIDER, FILE_LOCK).save(doors.path)
    assert HudiTable.open(doors.path).count() == 3


def test_procedures_and_indexes_take_the_lock_of_the_writers(doors: Doors) -> None:
    doors.spark.sql(f"ALTER TABLE {doors.name} SET TBLPROPERTIES ('{PROVIDER}' = '{FILE_LOCK}')")
    doors.spark.sql(f"INSERT INTO {doors.name} VALUES (2, 2)")
    for text in (
        "CALL create_savepoint(table => '{table}')",
        "CALL rollback_to_savepoint(table => '{table}')",
        "CALL delete_savepoint(table => '{table}')",
        "CREATE INDEX by_n ON {table} (n)",
        "DROP INDEX by_n ON {table}",
        "CALL init_metadata_table(table => '{table}')",
    ):
        doors.spark.sql(text.format(table=doors.name)).collect()
    assert HudiTable.open(doors.path).count() == 2


@cases
def test_procedures_and_indexes_without_options(doors: Doors, settings: Callable[[Mapping[str, str]], None], kind: str) -> None:
    settings(WRONG[kind][0])
    if WRONG[kind][3]:
        doors.refuses(kind, doors.statement(f"CREATE INDEX by_n ON {doors.name} (n)"))
        doors.refuses(kind, doors.statement(f"CALL create_savepoint(table => '{doors.name}')"))


def test_property_that_a_setting_completes_is_taken(doors: Doors, settings: Callable[[Mapping[str, str]], None]) -> None:
    settings({f"{LOCK}zookeeper.base_path": "/locks", f"{LOCK}zookeeper.url": "127.0.0.1:1"})
    doors.spark.sql(f"ALTER TABLE {doors.name} SET TBLPROPERTIES ('{PROVIDER}' = 'ZookeeperBasedLockProvider')")
    properties = dict(tuple(row) for row in doors.spark.sql(f"SHOW TBLPROPERTIES {doors.name}").collect())
    assert properties[PROVIDER] == "ZookeeperBasedLockProvider"
