"""Non-blocking jobs of Spark: DataFrames, statements and a stream that write to the same buckets at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError
from tests.spark.test_optimistic import MODE, TABLE, check_sound, settings  # noqa: F401 - a fixture

pytestmark = pytest.mark.spark

NBCC = {MODE: "NON_BLOCKING_CONCURRENCY_CONTROL", "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}


def test_jobs_of_three_threads_write_to_the_same_buckets(
    spark: SparkSession,
    tmp_path: Path,
    settings: Callable[[dict[str, str]], None],  # noqa: F811
) -> None:
    path = str(tmp_path / "t")
    settings(NBCC)
    rows = spark.range(10).selectExpr("id", "'oslo' AS city", "0L AS ts", "0L AS n")
    rows.write.format("hudi").options(**TABLE, **NBCC, **{"hoodie.datasource.write.table.type": "MERGE_ON_READ"}).save(path)
    source = tmp_path / "source"
    spark.range(5, 12).selectExpr("id", "'oslo' AS city", "id % 7 AS ts", "3L AS n").write.parquet(str(source))

    def frame() -> None:
        some = spark.range(0, 8).selectExpr("id", "'oslo' AS city", "2 + id % 3 AS ts", "1L AS n")
        some.write.format("hudi").options(**NBCC, **{"pyhudi.engine": "spark"}).mode("append").save(path)

    def statements() -> None:
        for number in range(20, 22):
            spark.sql(f"INSERT INTO hudi.`{path}` SELECT {number}L AS id, 5L AS ts, 9L AS n, 'oslo' AS city")

    def stream() -> None:
        frame = spark.readStream.schema("id long, city string, ts long, n long").parquet(str(source))
        query = (
            frame.writeStream.format("hudi").options(**NBCC).option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
        )
        query.start(path).awaitTermination()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(job) for job in (frame, statements, stream)]:
            done.result()
    result = {row["id"]: row["ts"] for row in HudiTable.open(path).to_arrow().to_pylist()}
    by_frame = {number: 2 + number % 3 for number in range(8)}
    by_stream = {number: number % 7 for number in range(5, 12)}
    expected = {number: max(by_frame.get(number, 0), by_stream.get(number, 0)) for number in range(12)}
    assert result == expected | dict.fromkeys(range(20, 22), 5)
    assert spark.read.format("hudi").load(path).count() == 14
    with pytest.raises(UnsupportedError, match="insert_overwrite"):
        spark.sql(f"INSERT OVERWRITE hudi.`{path}` SELECT 1L AS id, 5L AS ts, 9L AS n, 'oslo' AS city")
    spark.sql(f"UPDATE hudi.`{path}` SET n = n + 1 WHERE id = 0")
    spark.sql(f"DELETE FROM hudi.`{path}` WHERE id = 20")
    assert HudiTable.open(path).count() == 13
    check_sound(path)
