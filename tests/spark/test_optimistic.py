"""Jobs of Spark that write to one table at a time: DataFrames and SQL statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark import StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi import HudiTable
from pyhudi.errors import WriteConflictError
from pyhudi.sql.write import write_target
from pyhudi.table import write_pipeline, write_table
from pyhudi.testing.invariants import garbage, timeline_faults

pytestmark = pytest.mark.spark

MODE, RETRIES = "hoodie.write.concurrency.mode", "hoodie.write.num.retries.on.conflict.failures"
OCC = {MODE: "optimistic_concurrency_control", RETRIES: "20"}
EARLY = {"hoodie.write.concurrency.early.conflict.detection.enable": "true"}
TABLE = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def path(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> str:
    frame = spark.range(20).selectExpr("id", "IF(id % 2 = 0, 'oslo', 'rome') AS city", "0L AS ts", "0L AS n")
    frame.write.format("hudi").options(**TABLE, **{"hoodie.datasource.write.table.type": request.param}).save(str(tmp_path / "t"))
    return str(tmp_path / "t")


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[Callable[[dict[str, str]], None]]:
    given: list[str] = []

    def give(options: dict[str, str]) -> None:
        for name, value in options.items():
            spark.conf.set(name, value)
            given.append(name)

    yield give
    for name in given:
        spark.conf.unset(name)


def check_sound(path: str) -> None:
    table = HudiTable.open(path)
    assert timeline_faults(table.storage) == []
    assert garbage(table.storage) == []
    assert table.inspect.health().num_rows == 0


def test_dataframes_of_two_threads_are_both_written(spark: SparkSession, path: str) -> None:
    def write(writer: int) -> None:
        for number in range(2):
            rows = spark.range(2).selectExpr(
                f"id * 2 + {writer} AS id", f"IF({writer} = 0, 'oslo', 'rome') AS city", f"{number + 1}L AS ts", "1L AS n"
            )
            both = rows.unionByName(
                spark.range(1).selectExpr(f"100L + {writer * 10 + number} AS id", "'oslo' AS city", "1L AS ts", "1L AS n")
            )
            both.write.format("hudi").options(**OCC, **EARLY, **{"pyhudi.engine": "spark"}).mode("append").save(path)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write, writer) for writer in range(2)]:
            done.result()
    rows = {row["id"]: row for row in HudiTable.open(path).to_arrow().to_pylist()}
    assert sorted(rows) == [*range(20), 100, 101, 110, 111]
    assert [rows[number]["ts"] for number in (0, 1, 2, 3, 4)] == [2, 2, 2, 2, 0]
    assert HudiTable.open(path).count() == 24
    check_sound(path)


def test_statements_of_two_threads_are_both_carried_out(spark: SparkSession, path: str, settings: Callable[[dict[str, str]], None]) -> None:
    settings(OCC)
    clauses = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    statements = [
        [f"UPDATE hudi.`{path}` SET n = n + 1 WHERE id = 0", f"DELETE FROM hudi.`{path}` WHERE id = 2"],
        [
            f"MERGE INTO hudi.`{path}` t USING (SELECT 1L AS id, 'rome' AS city, 5L AS ts, 9L AS n) s ON t.id = s.id {clauses}",
            f"INSERT INTO hudi.`{path}` SELECT 50L AS id, 5L AS ts, 9L AS n, 'rome' AS city",
        ],
    ]

    def run(statements_of_thread: list[str]) -> None:
        for text in statements_of_thread:
            spark.sql(text)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(run, statements_of_thread) for statements_of_thread in statements]:
            done.result()
    rows = {row["id"]: row["n"] for row in HudiTable.open(path).to_arrow().to_pylist()}
    assert (rows[0], rows[1], rows[50], 2 in rows, len(rows)) == (1, 9, 9, False, 20)
    check_sound(path)


@pytest.mark.parametrize("retries", [0, 20])
def test_two_statements_on_one_row_do_not_lose_an_update(
    spark: SparkSession, path: str, settings: Callable[[dict[str, str]], None], retries: int
) -> None:
    settings(OCC | {RETRIES: str(retries)})

    def run(_: int) -> bool:
        try:
            spark.sql(f"UPDATE hudi.`{path}` SET n = n + 1 WHERE id = 0")
        except WriteConflictError:
            return False
        return True

    with ThreadPoolExecutor(3) as pool:
        carried_out = sum(pool.map(run, range(3)))
    assert carried_out == 3 if retries else carried_out >= 1
    rows = {row["id"]: row["n"] for row in HudiTable.open(path).to_arrow().to_pylist()}
    assert rows[0] == carried_out
    check_sound(path)


#: A statement, and what becomes of the row of `id` 0 when another write adds 10 to its `n` between reading and writing.
STATEMENTS = {
    "UPDATE hudi.`{path}` SET n = n + 1, ts = 9 WHERE id = 0": 11,
    "DELETE FROM hudi.`{path}` WHERE id = 0": None,
    "MERGE INTO hudi.`{path}` t USING (SELECT 0L AS id, 7L AS n) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + s.n": 17,
}


@pytest.mark.parametrize("engine", ["auto", "spark"])
@pytest.mark.parametrize("text", list(STATEMENTS))
def test_a_statement_that_lost_is_repeated_on_what_the_winner_left(
    spark: SparkSession,
    path: str,
    settings: Callable[[dict[str, str]], None],
    text: str,
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a catalog of Apache Hudi the repeated UPDATE writes what its first attempt had read, and the change of the winner is lost."""
    winners: list[Any] = []

    def lose(*arguments: Any, **named: Any) -> Any:
        if not winners:
            winners.append(HudiTable.open(path).upsert([{"id": 0, "city": "oslo", "ts": 5, "n": 10}], options=OCC))
        return write_table.write(*arguments, **named)

    monkeypatch.setattr(write_target, "write", lose)
    settings(OCC | {"pyhudi.engine": engine})
    spark.sql(text.format(path=path))
    rows = {row["id"]: row["n"] for row in HudiTable.open(path).to_arrow().to_pylist()}
    assert rows.get(0) == STATEMENTS[text]
    assert len(rows) == 20 if rows.get(0) else 19
    check_sound(path)


@pytest.mark.parametrize("losses", [0, 3])
def test_source_is_computed_twice_however_often_a_write_is_repeated(
    spark: SparkSession, path: str, monkeypatch: pytest.MonkeyPatch, losses: int
) -> None:
    """The rows of a random function: what the repeated attempts write is what the second one computed."""
    carry_out, left = write_pipeline._carry_out, [losses]

    def lose(*arguments: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise WriteConflictError("another write was faster")
        return carry_out(*arguments)

    monkeypatch.setattr(write_pipeline, "_carry_out", lose)
    computed = spark.sparkContext.accumulator(0)

    @F.udf("long")
    def counted(number: int) -> int:
        computed.add(1)
        return number

    rows = spark.range(20).select("id", F.expr("IF(id % 2 = 0, 'oslo', 'rome') AS city"), F.lit(1).alias("ts"), counted("id").alias("n"))
    rows.write.format("hudi").options(**OCC, **{"pyhudi.engine": "spark"}).mode("append").save(path)
    assert computed.value == (20 if losses == 0 else 40)
    assert not rows.is_cached
    assert rows.storageLevel == StorageLevel.NONE
    assert [row["n"] for row in HudiTable.open(path).to_arrow().sort_by("id").to_pylist()] == list(range(20))
