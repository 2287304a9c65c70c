"""Where a setting stands, and which one wins: cases that are run on Apache Hudi (tests/interop) and on pyhudi (tests/spark)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from pyhudi import HudiTable

W = "hoodie.datasource.write."
INSERT = "hoodie.spark.sql.insert.into.operation"
TYPE, KEY, ORDER, PARTITION, HIVE = (
    f"{W}{name}" for name in ("table.type", "recordkey.field", "precombine.field", "partitionpath.field", "hive_style_partitioning")
)
COLUMNS = "id INT, part STRING, v INT, ts INT, ts2 INT"
ROWS = pa.table({"id": [1], "part": ["a"], "v": [1], "ts": [1], "ts2": [2]})
Run: TypeAlias = "Callable[[Case, Engine, Path, str], None]"
TRIPS: Mapping[str, str] = {"hoodie.table.name": "trips", KEY: "id", ORDER: "ts", PARTITION: "part"}
REFUSED = "refused"


class Engine(Protocol):
    """Apache Hudi or pyhudi."""

    refusals: tuple[type[Exception], ...]

    def sql(self, statement: str) -> Any:
        """Run a statement."""

    def save(self, path: Path, rows: pa.Table, options: Mapping[str, str]) -> None:
        """`df.write.format("hudi").options(...).mode("append").save(path)`."""

    def refused(self, case: Case, error: Exception) -> None:
        """Look at what the engine raised."""

    def defaults(self, text: str) -> None:
        """Have `hudi-defaults.conf` say this from now on."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is where, and what comes of it: words about the last commit and the table, or `refused`.

    `hudi` is what Apache Hudi does where pyhudi does something else; docs/differences.md says why.
    """

    name: str
    run: Run
    outcome: str
    hudi: str | None = None
    file: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    session: Mapping[str, str] = field(default_factory=dict)
    call: Mapping[str, str] = field(default_factory=dict)


def outcome(case: Case, engine: Engine, folder: Path) -> str:
    """Run a case in an empty folder, and tell what came of it."""
    name = f"case_{case.name}"
    try:
        case.run(case, engine, folder / "t", name)
    except engine.refusals as error:
        engine.refused(case, error)
        return REFUSED
    finally:
        engine.sql(f"DROP TABLE IF EXISTS {name}")
    return words(HudiTable.open(folder / "t"))


def words(table: HudiTable) -> str:
    """Tell what the last commit did, and what the table was made as."""
    config = table.config
    done = [operation.lower() for operation in table.history()["operation"].to_pylist() if operation]
    made = (
        {"COPY_ON_WRITE": "cow", "MERGE_ON_READ": "mor"}[config.table_type],
        f"key={','.join(config.record_key_fields)}",
        f"order={','.join(config.ordering_fields)}",
        "hive" if config.hive_style else "plain",
    )
    return " ".join((*done[-1:], *made))


def create(case: Case, engine: Engine, path: Path, name: str) -> None:
    """CREATE TABLE under the settings."""
    with settings(engine, case):
        _create(engine, path, name, case.properties)


def insert(case: Case, engine: Engine, path: Path, name: str) -> None:
    """INSERT INTO a new table, which is created without the settings of file and session."""
    _create(engine, path, name, case.properties)
    with settings(engine, case):
        engine.sql(f"INSERT INTO {name} (id, v, ts, ts2, part) SELECT 1, 1, 1, 2, 'a'")


def save(case: Case, engine: Engine, path: Path, name: str) -> None:
    """Write a DataFrame into a new table."""
    del name
    with settings(engine, case):
        engine.save(path, ROWS, TRIPS | case.call)  # type: ignore[operator]


def append(case: Case, engine: Engine, path: Path, name: str) -> None:
    """Write a DataFrame into a table that stands, created without the settings."""
    _create(engine, path, name, {f"{W}hive_style_partitioning": "false"})
    with settings(engine, case):
        engine.save(path, ROWS, {PARTITION: "part", "hoodie.table.name": name} | case.call)  # type: ignore[operator]


def _create(engine: Engine, path: Path, name: str, properties: Mapping[str, str]) -> None:
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in ({"primaryKey": "id", "preCombineField": "ts"} | dict(properties)).items())
    engine.sql(f"CREATE TABLE {name} ({COLUMNS}) USING hudi PARTITIONED BY (part) LOCATION '{path}' TBLPROPERTIES ({listed})")


@contextmanager
def settings(engine: Engine, case: Case) -> Iterator[None]:
    """Have file and session say what a case wants meanwhile."""
    engine.defaults("".join(f"{key}={value}\n" for key, value in case.file.items()))
    for key, value in case.session.items():
        engine.sql(f"SET {key} = {value}")
    try:
        yield
    finally:
        for key in case.session:
            engine.sql(f"RESET {key}")
        engine.defaults("")


def _case(
    name: str, run: Callable[[Case, Engine, Path, str], None], outcome: str, hudi: str | None = None, **levels: Mapping[str, str]
) -> Case:
    return Case(name, run, outcome, hudi, **levels)


_MADE = "cow key=id order=ts hive"
_OTHERS = {TYPE: "MERGE_ON_READ", HIVE: "false", KEY: "v"}
_ENCODE, _NAME, _MERGING = f"{W}partitionpath.urlencode", "hoodie.table.name", "hoodie.record.merge.mode"
_NOT_OF_STATEMENTS = {TYPE: "MERGE_ON_READ", HIVE: "false", PARTITION: "v", _NAME: "other", _ENCODE: "true"}
CASES = (
    # The defaults file says what kind of table CREATE makes, and its properties take precedence; the session says nothing about that.
    _case("create_by_file", create, "mor key=id order=ts plain", file=_OTHERS),
    _case("create_properties_over_file", create, _MADE, file=_OTHERS, properties={"type": "cow", HIVE: "true"}),
    _case("create_without_session", create, _MADE, session=_OTHERS),
    # INSERT: file, properties, spark.hoodie.*, SET; what the table knows of itself is not asked of the session.
    _case("insert_properties_over_file", insert, f"bulk_insert {_MADE}", file={INSERT: "upsert"}, properties={INSERT: "bulk_insert"}),
    _case(
        "insert_spark_over_properties",
        insert,
        f"bulk_insert {_MADE}",
        properties={INSERT: "upsert"},
        session={f"spark.{INSERT}": "bulk_insert"},
    ),
    _case(
        "insert_session_over_spark",
        insert,
        f"bulk_insert {_MADE}",
        session={f"spark.{INSERT}": "upsert", INSERT: "bulk_insert"} | _NOT_OF_STATEMENTS,
        file={"hoodie.insert.shuffle.parallelism": "3"},
    ),
    _case("insert_other_key", insert, REFUSED, session={KEY: "v"}),
    _case("insert_other_order", insert, REFUSED, session={ORDER: "ts2"}),
    _case("insert_other_merging", insert, REFUSED, session={_MERGING: "COMMIT_TIME_ORDERING"}),
    # DataFrames: the file, then the options of the call; the session says nothing.
    _case(
        "save_file_without_session",
        save,
        "insert mor key=id order=ts hive",
        file={TYPE: "MERGE_ON_READ", HIVE: "true", KEY: "v", f"{W}operation": "insert"},
        session={TYPE: "COPY_ON_WRITE", HIVE: "false", f"{W}operation": "delete"},
        call={"hoodie.insert.shuffle.parallelism": "1"},
    ),
    _case(
        "save_call_over_file",
        save,
        "bulk_insert cow key=id order=ts plain",
        file={TYPE: "MERGE_ON_READ", HIVE: "true", KEY: "v", ORDER: "ts2", f"{W}operation": "insert"},
        call={TYPE: "COPY_ON_WRITE", HIVE: "false", f"{W}operation": "bulk_insert"},
    ),
    # What the file says of tables is for new ones; what a call says must be as the table is.
    _case(
        "append_other_file",
        append,
        "upsert cow key=id order=ts plain",
        file=_OTHERS | {HIVE: "true", PARTITION: "v", ORDER: "ts2", _MERGING: "COMMIT_TIME_ORDERING"},
    ),
    *(
        _case(f"append_other_{name}", append, REFUSED, call={key: value})
        for name, key, value in (
            ("key", KEY, "v"),
            ("order", ORDER, "ts2"),
            ("partition", PARTITION, "v"),
            ("paths", HIVE, "true"),
            ("encoding", _ENCODE, "true"),
            ("name", _NAME, "other"),
            ("merging", _MERGING, "COMMIT_TIME_ORDERING"),
        )
    ),
    # Apache Hudi takes these two where the table's file does not have them, and the table is broken or without change data.
    *(
        _case(f"append_other_{name}", append, REFUSED, "upsert cow key=id order=ts plain", call={key: value})
        for name, key, value in (
            ("meta_columns", "hoodie.populate.meta.fields", "false"),
            ("change_data", "hoodie.table.cdc.enabled", "true"),
        )
    ),
)
