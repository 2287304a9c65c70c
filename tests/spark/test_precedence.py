"""Where a setting stands decides which one wins, as in Apache Hudi; what contradicts the table is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import HudiError
from pyhudi.spec.config.config_keys import find_key
from tests.not_none import not_none
from tests.precedence import CASES, ROWS, Case, append, outcome, settings


@dataclass
class Pyhudi:
    session: SparkSession
    conf: Path
    refusals: tuple[type[Exception], ...] = (HudiError,)

    def sql(self, statement: str) -> Any:
        return self.session.sql(statement)

    def save(self, path: Path, rows: pa.Table, options: Mapping[str, str]) -> None:
        self.session.createDataFrame(rows).write.format("hudi").options(**options).mode("append").save(str(path))

    def refused(self, case: Case, error: Exception) -> None:
        assert any(
            f"{not_none(find_key(name)).name}={value} contradicts" in str(error) for name, value in {**case.session, **case.call}.items()
        )

    def defaults(self, text: str) -> None:
        self.conf.write_text(text)


@pytest.fixture
def engine(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pyhudi:
    conf = tmp_path / "hudi-defaults.conf"
    conf.touch()
    monkeypatch.setenv("HUDI_CONF_DIR", str(tmp_path))
    return Pyhudi(spark, conf)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_setting_that_wins_is_the_one_that_wins_in_apache_hudi(case: Case, engine: Pyhudi, tmp_path: Path) -> None:
    assert outcome(case, engine, tmp_path) == case.outcome


#: What a query by file, session and call sees of a merge-on-read table: its log has a 2, its base file a 1; seen with Apache Hudi 1.2.0.
TYPE, READ_OPTIMIZED = "hoodie.datasource.query.type", "read_optimized"


@pytest.mark.parametrize(
    ("file", "session", "call", "from_sql", "from_path"),
    [
        ({}, {}, {}, 2, 2),
        ({TYPE: READ_OPTIMIZED}, {}, {}, 1, 1),
        ({TYPE: READ_OPTIMIZED}, {TYPE: "snapshot"}, {}, 2, 2),
        ({}, {f"spark.{TYPE}": READ_OPTIMIZED}, {}, 1, 1),
        ({}, {f"spark.{TYPE}": READ_OPTIMIZED, TYPE: "snapshot"}, {}, 2, 2),
        ({}, {TYPE: READ_OPTIMIZED}, {TYPE: "snapshot"}, 1, 2),
    ],
)
def test_queries_take_their_type_from_file_session_and_call(
    file: Mapping[str, str],
    session: Mapping[str, str],
    call: Mapping[str, str],
    from_sql: int,
    from_path: int,
    engine: Pyhudi,
    logged: Path,
) -> None:
    with settings(engine, Case("read", append, "", file=file, session=session)):
        assert [row.v for row in engine.session.table("logged").select("v").collect()] == [from_sql]
        assert [row.v for row in engine.sql("SELECT v FROM logged").collect()] == [from_sql]
        assert [row.v for row in engine.session.read.format("hudi").options(**call).load(str(logged)).select("v").collect()] == [from_path]


def test_changes_are_no_way_in_which_sql_reads_a_table(engine: Pyhudi, logged: Path) -> None:
    with settings(engine, Case("read", append, "", session={TYPE: "incremental"})), pytest.raises(HudiError, match="hudi_table_changes"):
        engine.sql("SELECT v FROM logged")


def test_update_changes_the_latest_rows_however_queries_read(engine: Pyhudi, logged: Path) -> None:
    with settings(engine, Case("read", append, "", session={TYPE: READ_OPTIMIZED})):
        engine.sql("UPDATE logged SET v = v + 10 WHERE v = 2")
    assert HudiTable.open(logged).to_arrow(columns=["v"]).to_pylist() == [{"v": 12}]


@pytest.fixture
def logged(engine: Pyhudi, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "logged"
    table = HudiTable.create(path, ROWS.schema, name="logged", keys=["id"], table_type="MERGE_ON_READ")
    table.insert(ROWS)
    table.upsert(ROWS.set_column(2, "v", pa.array([2])))
    engine.sql(f"CREATE TABLE logged USING hudi LOCATION '{path}'")
    yield path
    engine.sql("DROP TABLE logged")


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("SET hoodie.parquet.max.file.szie = 1000", "Did you mean 'hoodie.parquet.max.file.size'"),
        ("set spark.hoodie.parquet.max.file.size=big;", "hoodie.parquet.max.file.size=big is not possible"),
        ("SET hoodie.metadata.metrics.enable=true", "metrics of the metadata table"),
    ],
)
def test_setting_that_will_be_refused_is_told_at_once(statement: str, says: str, engine: Pyhudi, caplog: pytest.LogCaptureFixture) -> None:
    engine.sql(statement)
    engine.sql(f"RESET {statement.split('=', maxsplit=1)[0].rsplit(maxsplit=1)[-1]}")
    engine.sql("SET hoodie.parquet.max.file.size=1000")
    engine.sql("RESET hoodie.parquet.max.file.size")
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING" and record.name == "pyhudi.options"]
    assert says in warning
