"""A stream whose process is killed again and again, whatever its state, alone or while another process writes: every row is there once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from tests.spark.cluster.driver import faults

pytestmark = pytest.mark.spark

KILLS = 4
FILES = 30
#: The first row of the other writer.
FIRST_OF_OTHER = 100_000
OPTIMISTIC = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.num.retries.on.conflict.failures": "20",
    "hoodie.client.heartbeat.interval_in_ms": "1000",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
STREAM = """
import sys
import pyhudi
from pyspark.sql import SparkSession

folder, kind, mode = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
spark = pyhudi.enable(builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1")).getOrCreate()
source = spark.readStream.schema("id long, p string").option("maxFilesPerTrigger", 1).json(f"{folder}/in")
writer = source.writeStream.format("hudi").partitionBy("p").options(**{
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.operation": "insert",
    "hoodie.datasource.write.table.type": kind,
    "hoodie.write.concurrency.mode": mode,
    "hoodie.write.num.retries.on.conflict.failures": "20",
    "hoodie.client.heartbeat.interval_in_ms": "1000",
})
print("started", flush=True)
writer.option("checkpointLocation", f"{folder}/cp").trigger(availableNow=True).start(f"{folder}/t").awaitTermination()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_stream_that_is_killed_again_and_again_writes_every_row_once(kind: str, tmp_path: Path) -> None:
    _write_inputs(tmp_path)
    _kill_and_finish(tmp_path, kind, "single_writer")
    assert Counter(HudiTable.open(tmp_path / "t").to_arrow()["id"].to_pylist()) == Counter(range(10 * FILES))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_stream_that_is_killed_while_another_process_writes_loses_and_doubles_nothing(kind: str, tmp_path: Path) -> None:
    _write_inputs(tmp_path)
    schema = pa.schema([("id", pa.int64()), ("p", pa.string())])
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=["p"], table_type=kind)
    is_over, written = threading.Event(), list[int]()

    def write() -> None:
        while not is_over.wait(0.2):
            number = FIRST_OF_OTHER + len(written)
            table.upsert([{"id": number, "p": "xy"[number % 2]}], options=OPTIMISTIC)
            written.append(number)

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        try:
            _kill_and_finish(tmp_path, kind, OPTIMISTIC["hoodie.write.concurrency.mode"])
        finally:
            is_over.set()
        writer.result()
    time.sleep(3)  # heartbeats of the killed ones end
    table.services.clean(options=OPTIMISTIC)
    assert Counter(table.to_arrow()["id"].to_pylist()) == Counter([*range(10 * FILES), *written])
    assert len(written) > FILES
    assert faults(tmp_path / "t") == []


def _write_inputs(folder: Path) -> None:
    (folder / "in").mkdir()
    for number in range(FILES):
        lines = [json.dumps({"id": 10 * number + index, "p": "xy"[index % 2]}) for index in range(10)]
        (folder / "in" / f"{number:03}.json").write_text("\n".join(lines))


def _kill_and_finish(folder: Path, kind: str, mode: str) -> None:
    """Kill the stream some times, and let it end then."""
    pauses = random.Random(20261121)
    for _ in range(KILLS):
        with _start(folder, kind, mode) as process:
            time.sleep(pauses.uniform(0.5, 6))
            if process.poll() is not None:
                break
            os.killpg(process.pid, signal.SIGKILL)
    with _start(folder, kind, mode) as process:
        assert process.wait(timeout=300) == 0


def _start(folder: Path, kind: str, mode: str) -> subprocess.Popen[str]:
    """Start the stream as the leader of a group of processes, its JVM among them; return once Spark runs."""
    command = [sys.executable, "-c", STREAM, str(folder), kind, mode]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    assert process.stdout
    assert process.stdout.readline() == "started\n"
    return process
