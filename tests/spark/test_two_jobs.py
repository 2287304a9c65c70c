"""Two Spark jobs, each a driver process, that write to one table at the same time: two batches, and a batch concurrent with a stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.spark.cluster.driver import faults

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WRITES, REPOSITORY = 8, Path(__file__).parents[2]
OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "n",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.num.retries.on.conflict.failures": "50",
    "pyhudi.engine": "spark",
}
JOB = """
import sys, pyhudi
from pyspark.sql import SparkSession
from tests.spark.test_two_jobs import batch, stream

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1")
spark = pyhudi.enable(builder).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
print("ready", flush=True)
sys.stdin.readline()
{"batch": batch, "stream": stream}[sys.argv[1]](spark, sys.argv[2], int(sys.argv[3]))
spark.stop()
"""


def batch(spark: SparkSession, folder: str, number: int) -> None:
    """Change two rows that the other job changes, too, in each of some writes, and insert one row of its own."""
    for write in range(1, WRITES + 1):
        own = f"SELECT {1000 * (number + 1) + write}L AS id, 'rome' AS city, {write}L AS n"
        rows = spark.sql(f"SELECT id, 'oslo' AS city, {10 * write + number}L AS n FROM range(2) UNION ALL {own}")
        rows.write.format("hudi").options(**OPTIONS).mode("append").save(f"{folder}/t")


def stream(spark: SparkSession, folder: str, number: int) -> None:
    """Insert and change the rows of the files of a folder, one file in each batch."""
    source = spark.readStream.schema("id long, city string, n long").option("maxFilesPerTrigger", 1).json(f"{folder}/in{number}")
    writer = source.writeStream.format("hudi").options(**OPTIONS).option("checkpointLocation", f"{folder}/checkpoint")
    writer.trigger(availableNow=True).start(f"{folder}/t").awaitTermination()


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("second", ["batch", "stream"])
def test_jobs_that_change_the_same_rows_lose_and_double_nothing(kind: str, second: str, spark: SparkSession, tmp_path: Path) -> None:
    first_rows = spark.sql("SELECT id, 'oslo' AS city, 0L AS n FROM range(4)")
    first_rows.write.format("hudi").options(**OPTIONS, **{"hoodie.datasource.write.table.type": kind}).save(str(tmp_path / "t"))
    (tmp_path / "in1").mkdir()
    for write in range(1, WRITES + 1):  # what `batch` writes as the second job
        own = {"id": 2000 + write, "city": "rome", "n": write}
        lines = [*({"id": id_, "city": "oslo", "n": 10 * write + 1} for id_ in range(2)), own]
        (tmp_path / "in1" / f"{write:03}.json").write_text("\n".join(map(json.dumps, lines)))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", JOB, what, str(tmp_path), str(number)],
            env=environment,
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number, what in enumerate(("batch", second))
    ]
    try:
        for job in jobs:
            assert job.stdout is not None
            while "ready" not in job.stdout.readline():
                assert job.poll() is None
        for job in jobs:
            assert job.stdin is not None
            job.stdin.write("go\n")
            job.stdin.flush()
        until = time.monotonic() + 900
        assert [job.wait(timeout=max(until - time.monotonic(), 1)) for job in jobs] == [0, 0]
    finally:
        for job in jobs:
            job.kill()
            job.communicate()
    rows = sorted((row["id"], row["n"]) for row in HudiTable.open(tmp_path / "t").to_arrow(columns=["id", "n"]).to_pylist())
    last = 10 * WRITES + 1  # the greater ordering value wins, whichever job was the last to commit
    inserted = [(1000 * (number + 1) + write, write) for number in range(2) for write in range(1, WRITES + 1)]
    assert rows == [(0, last), (1, last), (2, 0), (3, 0), *inserted]
    assert faults(tmp_path / "t") == []
